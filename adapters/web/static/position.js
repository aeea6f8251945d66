// @ts-check
// Draws a table in replays and for watching, without knowing the rules.
import { permanentStorage } from "./storage.js";
import { DealerChip, html, useState } from "./view.js";

const SUITS_KEY = "buongioco-suits";

/** @typedef {[seat: number, card: string, signal: string | null]} Played */
/** @typedef {[number: number, owner: number | null, place: string, top: string | null, left: number]} Packet */
/** @typedef {{phase: string, turn: number | null, dealer: number, counts: number[], known: string[][], trick: Played[], last_trick: [Played[], number] | null, tricks: number[], declared?: number[], declarations?: [seat: number, move: string, points: number][], packets?: Packet[], stock?: number, drawn?: Played[] | string | null, discards?: number, bids?: (number | string | null)[]}} View */
/** @typedef {{hand: string[], packets: Packet[] | null, drawn: string | null, discarded: string[] | null}} Own */

/** @type {Record<string, string>} */
const RANKS = { R: "K", C: "Q", F: "J" };
/** @type {Record<string, string>} */
const SUITS = { D: "D", C: "H", S: "S", B: "C" };

/** The symbol of a card. An Italian pack can be drawn with French suits. @param {string} code @param {boolean} asFrench */
const symbol = (code, asFrench) => (code && asFrench ? (RANKS[code[0]] || code[0]) + SUITS[code[1]] : code) || "back";

/** A card, face down without a code; `label` is its name for screen readers.
 * @param {{faces: Faces, code?: string, label?: string}} props */
export const Card = ({ faces, code = "", label = "" }) => html`
  <svg class="face" viewBox="0 0 250 400" ...${label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" }} data-card=${code || "back"}>
    <use href=${`${faces.url}#${symbol(code, faces.asFrench)}`} />
  </svg>`;

/** @typedef {{url: string, asFrench: boolean, names: Record<string, string>}} Faces */

/** Return the packets. With an open hand, its owner's packets show the tops that only the owner knows.
 * @param {View} view @param {(Own | null)[]} open */
function packets(view, open) {
  return (view.packets || []).map((packet, index) => {
    const owner = packet[1];
    return (owner !== null && open[owner]?.packets?.[index]) || packet;
  });
}

/** @param {number | string} bid @param {Record<string, string>} texts */
const bidText = (bid, texts) => ({ nil: texts.nil, "double nil": texts.double_nil })[bid] || String(bid);

/** Notes on a side. A line never breaks within a note. @param {{notes: any[]}} props */
const Notes = ({ notes }) => notes.filter(Boolean).map((note, index, shown) => html`<span key=${note}>${note}${index < shown.length - 1 && " ·"}</span> `);

/** The score of each side. `taken` has the points of its tricks, if they are known.
 * @param {{view: View, turn: number | null, names: string[], totals: number[], unit: number, taken?: string[] | null, texts: Record<string, string>}} props */
export const Score = ({ view, turn, names, totals, unit, taken, texts }) => html`<dl class="score">${[0, 1].map((side) => html`
    <div key=${side} class=${turn !== null && turn % 2 === side ? "to-move" : ""}>
      <dt><bdi>${names.filter((_, seat) => seat % 2 === side).join(" + ")}</bdi></dt>
      <dd><b>${totals[side] * unit}</b> <small><${Notes} notes=${[
        `${texts.tricks} ${view.tricks[side]}`,
        view.bids && view.bids[side] !== null && `${texts.bid} ${bidText(/** @type {number | string} */ (view.bids[side]), texts)}`,
        view.declared?.[side] && `${texts.declared} ${view.declared[side] * unit}`,
        taken && `${texts.taken} ${taken[side]}`,
      ]} /></small></dd>
    </div>`)}</dl>`;

/** Return the reader's choice of suits for Italian packs, and the control to change it.
 * @param {Record<string, string>} texts @returns {[suits: string, choice: any]} */
export function useSuits(texts) {
  const [suits, setSuits] = useState(() => (permanentStorage.get(SUITS_KEY) === "french" ? "french" : "italian"));
  /** @param {Event} event */
  const choose = (event) => {
    const chosen = /** @type {HTMLSelectElement} */ (event.target).value;
    permanentStorage.set(SUITS_KEY, chosen);
    setSuits(chosen);
  };
  return [suits, html`<label>${texts.suits} <select value=${suits} onChange=${choose} id="suits">
    <option value="italian">${texts.italian}</option><option value="french">${texts.french}</option>
  </select></label>`];
}

/** `open` has each seat's own view if it is shown; `bottom` is the seat drawn below. With `isTaken` an empty table shows the
 * last trick.
 * @param {{view: View, open: (Own | null)[], names: string[], faces: Faces, bottom: number, isTaken: boolean, texts: Record<string, string>}} props */
export const Position = ({ view, open, names, faces, bottom, isTaken, texts }) => {
  const seats = names.length, allPackets = packets(view, open);
  const [cards, winner] = isTaken && !view.trick.length && view.last_trick || [view.trick, null];
  const middle = allPackets.filter((packet) => packet[1] === null);
  /** @param {number} seat */
  const direction = (seat) => (seats === 2 ? ["south", "north"] : ["south", "east", "north", "west"])[(seat - bottom + seats) % seats];
  const drawn = Array.isArray(view.drawn) ? view.drawn : [];
  return html`
    <div class=${`position of${seats}`}>
      ${names.map((name, seat) => html`
        <div class=${`seat ${direction(seat)} ${view.turn === seat ? "to-move" : ""}`} key=${seat} data-seat=${seat}>
          <span class="who"><bdi>${name}</bdi>${view.dealer === seat ? html` <${DealerChip} label=${view.bids ? texts.draws_first : texts.dealer} />` : ""}</span>
          <${Hand} view=${view} own=${open[seat]} seat=${seat} faces=${faces} packets=${allPackets.filter((packet) => packet[1] === seat && packet[4] > 0)} texts=${texts} />
        </div>`)}
      <div class="middle">
        ${middle.length > 0 && html`<div class="packets">${middle.map((packet) => html`<${Pile} key=${packet[0]} faces=${faces} packet=${packet} />`)}</div>`}
        <div class=${`trick of${seats}`} role="group" aria-label=${texts.on_the_table}>
          ${cards.map(([seat, card, signal]) => html`
            <figure key=${card} class=${`${direction(seat)} ${winner === seat ? "wins" : ""}`} data-lying=${card}>
              <${Card} faces=${faces} code=${card} label=${`${names[seat]}: ${faces.names[card]}`} />
              ${signal && html`<figcaption>${signal}!</figcaption>`}
            </figure>`)}
        </div>
      </div>
      ${(view.stock || 0) > 0 && html`<div class="stock"><${Card} faces=${faces} /><small>${texts.stock}: ${view.stock}</small></div>`}
      ${drawn.length > 0 && html`<div class="drawn"><small>${texts.drawn}</small>${drawn.map(([seat, card]) => html`<${Card} key=${card} faces=${faces} code=${card} label=${faces.names[card]} /><small><bdi>${names[seat]}</bdi></small>`)}</div>`}
    </div>`;
};

/** @param {{view: View, own: Own | null, seat: number, faces: Faces, packets: Packet[], texts: Record<string, string>}} props */
const Hand = ({ view, own, seat, faces, packets: piles, texts }) => {
  const cards = own ? own.hand : [...view.known[seat], ...Array(Math.max(0, view.counts[seat] - view.known[seat].length)).fill("")];
  const known = (own ? own.hand : view.known[seat]).map((card) => faces.names[card]).join(" ");
  const label = own ? known : `${view.counts[seat]} ${known}`;
  return html`
    <div class=${`hand ${cards.length > 10 ? "many" : ""}`} role="img" aria-label=${`${texts.hand}: ${label}`}>
      ${cards.map((card, index) => html`<${Card} key=${card || index} faces=${faces} code=${card} />`)}
      ${own?.drawn && html`<span class="looked-at"><${Card} faces=${faces} code=${own.drawn} /></span>`}
    </div>
    ${piles.length > 0 && html`<div class="packets">${piles.map((packet) => html`<${Pile} key=${packet[0]} faces=${faces} packet=${packet} />`)}</div>`}`;
};

/** @param {{faces: Faces, packet: Packet}} props */
const Pile = ({ faces, packet: [number, , place, top, left] }) => html`
  <span class="pile"><${Card} faces=${faces} code=${top || ""} label=${top ? faces.names[top] : ""} />${place !== "table" && html`<b class="number">${number}</b>`}${left > 1 && html`<b class="left">${left}</b>`}</span>`;
