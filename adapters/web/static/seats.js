// @ts-check
// The players around a table: portraits, names, cards that they hold and tricks that they have won.
import { cardCount, cardLabel } from "./cards.js";
import { Face } from "./faces.js";
import { DealerChip, html, pageData } from "./view.js";

/** @typedef {{at: number, name: string, face: string, is_robot: boolean, is_to_move: boolean, dealing: string, away: string, said: string, hidden: number, shown: import("./cards.js").TapCard[], packets: import("./cards.js").TapCard[]}} PagePlayer */

const { texts } = pageData();
const FACES = new URL("faces.svg", import.meta.url).pathname;
const HIGHEST_PILE = 5;  // most cards drawn of a pile

/** @param {{face: string}} props */
export const Portrait = ({ face }) => html`<svg class="portrait" viewBox="0 0 64 64" aria-hidden="true"><use href=${`${FACES}#${face}`} /></svg>`;

/** Another player, with the cards that are known and the backs of the others.
 * @param {{deck: string, player: PagePlayer, seats: number}} props */
export const Seat = ({ deck, player, seats }) => html`
  <div class=${`other at${player.at}of${seats} ${player.is_to_move ? "to-move" : ""} ${player.away ? "gone" : ""}`} data-seat=${player.at}>
    <${Portrait} face=${player.face} />
    <span class="who" dir="auto">${player.name}${player.dealing ? html` <${DealerChip} label=${player.dealing} />` : ""}${seats === 4 && player.at === 2 && html` <small class="partner">${texts.partner}</small>`}${player.away && html` <small class="away-mark">${player.away}</small>`}</span>
    <div class="backs">
      ${player.packets.map((card) => html`<span class="small top" role="img" aria-label=${cardLabel(card)}><${Face} deck=${deck} card=${card.code} />${card.size > 1 && html`<span class="size" data-says=${card.size}></span>`}</span>`)}
      ${player.shown.map((card) => html`<span class="small shown" role="img" aria-label=${card.name}><${Face} deck=${deck} card=${card.code} /></span>`)}
      ${Array.from({ length: Math.min(player.hidden, 20) }, (_, index) => html`<span class="small back" key=${index}><${Face} deck=${deck} card="" /></span>`)}
    </div>
    <span class="unseen">${player.hidden ? cardCount(player.hidden) : ""}</span>
  </div>`;

/** A pile of cards, face down, and their number. The score says the number in words.
 * @param {{deck: string, count: number, name: string}} props */
export const Pile = ({ deck, count, name }) => count > 0 && html`
  <div class=${`heap ${name}`} aria-hidden="true">
    ${Array.from({ length: Math.min(Math.ceil(count / 2), HIGHEST_PILE) }, (_, index) => html`<span key=${index}><${Face} deck=${deck} card="" /></span>`)}
    <b data-says=${count}></b>
  </div>`;
