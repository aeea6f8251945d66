// @ts-check
// The cards on a table's page.
import { startDrag } from "./drag.js";
import { Face } from "./faces.js";
import { tabStorage } from "./storage.js";
import { html, pageData, useEffect, useLayoutEffect, useRef, useState } from "./view.js";

/** @typedef {{code: string, name: string, light: string, press: string, size: number, label: string, role: string, rank: number, pick: string, is_early?: boolean, can_be_chosen?: boolean, is_hidden?: boolean}} TapCard
 * A card with `can_be_chosen` can be chosen before the reader's turn; one with `is_early` is chosen. `is_hidden` cards are face down. */
/** @typedef {{code: string, name: string, by: string, at: number, said: string, wins: boolean}} PageCard */

const { texts } = pageData();
const SLIDING = { duration: 200, easing: "ease-out" };

/** A text whose cards screen readers hear in words. @param {{text: string, spoken: Record<string, string>}} props */
export const Spoken = ({ text, spoken }) => (text in spoken ? html`<span aria-hidden="true">${text}</span><span class="unseen">${spoken[text]}</span>` : text);

/** A card or packet; it is a button even if it cannot be pressed.
 * @param {{deck: string, card: TapCard, advised?: string[], onPress: (press: string, card: TapCard) => void, onMove?: (moved: string, target: string) => void, onDrop?: () => void, onTake?: () => void, isOpen?: boolean}} props */
export const Tap = ({ deck, card, advised = [], onPress, onMove, onDrop, onTake, isOpen }) => html`
  <button type="button" class=${`tap ${card.light} ${advised.includes(card.label || card.code) ? "hinted" : ""} ${card.is_early ? "early" : ""}`} data-card=${card.code} data-press=${card.press}
    aria-disabled=${(card.press && card.light !== "dim") || card.can_be_chosen ? undefined : "true"} aria-pressed=${card.light === "chosen" || card.is_early ? "true" : undefined}
    aria-label=${cardLabel(card)} onClick=${() => (card.press || card.can_be_chosen) && onPress(card.press, card)}
    onPointerDown=${!card.is_hidden && (card.light === "playable" || onMove || onTake) && ((/** @type {PointerEvent} */ event) => startDrag(event, {
      play: onDrop || (() => { if (card.press || card.can_be_chosen) onPress(card.press, card); }), moveTo: onMove && ((target) => onMove(card.code, target)), take: onTake,
    }))} aria-expanded=${isOpen === undefined ? undefined : String(isOpen)} data-pick=${card.pick || undefined}>
    <${Face} deck=${deck} card=${card.is_hidden ? "" : card.code} />
    ${card.label && html`<span class="number" data-says=${card.label}></span>`}
    ${card.size > 1 && html`<span class="size" data-says=${card.size}></span>`}
  </button>`;

/** @param {HTMLElement | null} button */
const focusFirst = (button) => button?.focus({ preventScroll: true });

/** A packet. A tap on an honour that can be picked up asks what to do with it.
 * @param {{deck: string, card: TapCard, advised?: string[], onPress: (press: string, card?: TapCard) => void}} props */
const PacketTap = ({ deck, card, advised, onPress }) => {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [card.pick]);
  if (!card.pick) return html`<span class="packet"><${Tap} deck=${deck} card=${card} advised=${advised} onPress=${onPress} /></span>`;
  const play = () => { setOpen(false); onPress(card.press, card); }, take = () => { setOpen(false); onPress(card.pick); };
  /** @param {KeyboardEvent} event */
  const close = (event) => {
    if (event.key !== "Escape") return;
    /** @type {HTMLElement} */ (event.currentTarget).querySelector("button")?.focus();
    setOpen(false);
  };
  return html`<span class="packet" onKeyDown=${close}>
    <${Tap} deck=${deck} card=${{ ...card, can_be_chosen: true }} advised=${advised} onPress=${() => setOpen(!isOpen)} onDrop=${play} onTake=${take} isOpen=${isOpen} />
    ${isOpen && html`<span class="uses" role="group" aria-label=${card.name}>
      ${card.light === "playable" && html`<button type="button" class="good" ref=${focusFirst} onClick=${play}>${texts.play}</button>`}
      <button type="button" ref=${card.light === "playable" ? null : focusFirst} onClick=${take}>${texts.pick_up}</button>
    </span>`}
  </span>`;
};

/** @param {number} count */
export const cardCount = (count) => (count === 1 ? texts.one_card : texts.cards.replace("{count}", String(count)));

/** Return a card's name for screen readers. @param {TapCard} card */
export const cardLabel = (card) => [card.label && texts.packet.replace("{number}", card.label), card.name, card.size > 1 && cardCount(card.size)].filter(Boolean).join(", ");

/** The trick; `to` is the seat that is taking it.
 * @param {{deck: string, cards: PageCard[], seats: number, to: number | null}} props */
export const Trick = ({ deck, cards, seats, to }) => html`
  <div class=${`trick of${seats} ${to === null ? "" : `to${to}of${seats}`}`} aria-label=${texts.on_the_table} role="group">
    ${cards.map((card) => html`
      <figure key=${card.code} class=${`lying at${card.at}of${seats} ${card.wins && cards.length > 1 ? "wins" : ""}`} data-lying=${card.code}>
        <${Face} deck=${deck} card=${card.code} name=${card.name} />
        <figcaption dir="auto"><span class="unseen">${card.by}</span>${card.said ? html` <q>${card.said}!</q>` : ""}</figcaption>
      </figure>`)}
  </div>`;

/** The last trick, whose cards are drawn only while they are open. @param {{table: import("./table.js").Table}} props */
export const LastTrick = ({ table: { deck, last_title: title, last_trick: trick } }) => {
  const [isOpen, setOpen] = useState(false);
  return html`<details class="last" onToggle=${(/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)}>
    <summary>${title}</summary>
    ${isOpen && trick.map((card) => html`<span class=${`small ${card.wins ? "wins" : ""}`} key=${card.code}><${Face} deck=${deck} card=${card.code} name=${card.name} /><small dir="auto">${card.by}</small></span>`)}
  </details>`;
};

/** @type {Map<string, string[]>} */
const places = new Map();

/** Return whether a hand had cards in this deal. @param {string} name */
export const wasPlaced = (name) => places.has(name);

/** Return the cards in their places. A played card leaves its place empty until the others fit into fewer rows. New cards are
 * sorted in. Cards that come in another order change places.
 * @param {string} name of the hand @param {TapCard[]} cards @param {number} maxInRow cards in a row @returns {(TapCard | null)[]} */
export function placeCards(name, cards, maxInRow) {
  const ids = cards.map((card) => card.label || card.code);
  const oldSlots = places.get(name) || (tabStorage.get(name) || "").split(" ").filter(Boolean);
  const remainingIds = oldSlots.filter((id) => ids.includes(id));
  let nextId = 0, slots = oldSlots;
  if (remainingIds.length < ids.length) slots = [...ids, ...oldSlots.slice(ids.length).fill("-")];
  else if (remainingIds.join() !== ids.join()) slots = oldSlots.map((id) => (ids.includes(id) ? ids[nextId++] : "-"));
  const rows = Math.ceil(slots.length / maxInRow);
  if (rows > 1 && ids.length <= Math.ceil(slots.length / rows) * (rows - 1)) slots = ids;
  places.set(name, slots);
  if (slots !== oldSlots) tabStorage.set(name, slots.join(" "));
  return slots.map((slot) => cards[ids.indexOf(slot)] || null);
}

/** Let the cards of a hand slide when `order` changes. @param {string} order */
function useSliding(order) {
  const hand = useRef(/** @type {HTMLElement | null} */ (null)), oldPlaces = useRef(/** @type {Record<string, [x: number, y: number]>} */ ({})), oldWidth = useRef(0);
  const slide = () => {
    if (!hand.current) return;
    const { offsetLeft, offsetTop, offsetWidth } = hand.current, isResized = oldWidth.current !== offsetWidth, from = oldPlaces.current;
    const cards = /** @type {HTMLElement[]} */ ([...hand.current.querySelectorAll("[data-card]")]);
    // All places are read before the first animation, which would make the next read compute all styles again.
    oldPlaces.current = Object.fromEntries(cards.map((card) => [card.dataset.card, [card.offsetLeft - offsetLeft, card.offsetTop - offsetTop]]));
    oldWidth.current = offsetWidth;
    if (isResized || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const card of cards) {
      const code = card.dataset.card || "", [x, y] = oldPlaces.current[code], [fromX, fromY] = from[code] || [x, y];
      if (fromX !== x || fromY !== y) card.animate({ translate: [`${fromX - x}px ${fromY - y}px`, "0 0"] }, SLIDING);
    }
  };
  // Places are read at the start of a frame, which needs the layout anyway. Read earlier, they would lengthen the current task.
  useLayoutEffect(() => { requestAnimationFrame(slide); }, [order]);
  return hand;
}

/** The player's cards, in rows wide enough for thumbs. Arrow keys move from card to card, and with Shift they move the card.
 * @param {{deck: string, cards: TapCard[], name: string, label: string, advised?: string[], onPress: (press: string, card: TapCard) => void, onMove?: (moved: string, target: string) => void}} props */
export const Fan = ({ deck, cards, name, label, advised = [], onPress, onMove }) => {
  const isNarrow = () => innerWidth < 560;
  const [hasRows, setRows] = useState(isNarrow);
  useEffect(() => {
    const measure = () => setRows(isNarrow);
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, []);
  const maxInRow = hasRows ? 7 : 20, placed = placeCards(name, cards, maxInRow), rows = Math.ceil(placed.length / maxInRow), cardsPerRow = Math.ceil(placed.length / (rows || 1));
  // The hand keeps its height during a deal, so that nothing around it moves.
  const highest = useRef({ maxInRow, rows });
  if (highest.current.maxInRow !== maxInRow || highest.current.rows < rows) highest.current = { maxInRow, rows };
  /** @param {KeyboardEvent} event */
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: cardsPerRow, ArrowUp: -cardsPerRow }[event.key];
    if (!step) return;
    // Empty places are skipped.
    const slots = /** @type {HTMLElement[]} */ ([.../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll(".tap, .gap")]);
    let index = slots.indexOf(/** @type {HTMLElement} */ (document.activeElement)) + step;
    while (slots[index]?.matches(".gap")) index += Math.sign(step);
    if (!slots[index]) return;
    event.preventDefault();
    const movedCard = /** @type {HTMLElement} */ (document.activeElement).dataset.card, target = slots[index].dataset.card;
    if (event.shiftKey && onMove && movedCard && target) onMove(movedCard, target);
    else slots[index].focus();
  };
  const sliding = useSliding(`${cardsPerRow} ${places.get(name)}`);
  return html`<div ref=${sliding} class=${`fan rows${highest.current.rows} ${deck.endsWith("easy") ? "easy" : ""}`} role="group" aria-label=${label} onKeyDown=${move}>
    ${Array.from({ length: highest.current.rows - rows }, (_, row) => html`<div class="row" key=${`spare${row}`}><span class="gap"></span></div>`)}
    ${Array.from({ length: rows }, (_, row) => html`
      <div class="row" key=${row - rows}>${placed.slice(row * cardsPerRow, (row + 1) * cardsPerRow).map((card, index) => (card ? html`<${card.label ? PacketTap : Tap} key=${card.label || card.code || index} deck=${deck} card=${card} advised=${advised} onPress=${onPress} onMove=${onMove} />` : html`<span class="gap" key=${`gap${index}`}></span>`))}</div>`)}
  </div>`;
};
