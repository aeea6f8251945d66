// @ts-check
// The cards on a table's page, to tap or to drag onto the table.
import { DealerChip, html, pageData, useEffect, useState } from "./view.js";

/** @typedef {{code: string, name: string, light: string, press: string, size: number, label: string, role: string, rank: number, is_early?: boolean, can_wait?: boolean, is_hidden?: boolean}} TapCard
 * A card with `can_wait` can be chosen before the reader's turn, and `is_early` is chosen. `is_hidden` turns it face down. */
/** @typedef {{code: string, name: string, by: string, at: number, said: string, wins: boolean}} PageCard */
/** @typedef {{at: number, name: string, is_robot: boolean, is_to_move: boolean, dealing: string, hidden: number, shown: TapCard[], packets: TapCard[]}} PagePlayer */

const { decks, texts } = pageData();
const DRAG_DISTANCE = 12;  // pixels

/** A card, face down without a code. Without a name it is hidden from screen readers, because the element around it has one.
 * @param {{deck: string, card: string, name?: string}} props */
export const Face = ({ deck, card, name }) =>
  html`<svg class="face" viewBox="0 0 250 400" ...${name ? { role: "img", "aria-label": name } : { "aria-hidden": "true" }}><use href=${`${decks[deck]}#${card || "back"}`} /></svg>`;

/** A text whose cards screen readers hear in words. @param {{text: string, spoken: Record<string, string>}} props */
export const Spoken = ({ text, spoken }) => (text in spoken ? html`<span aria-hidden="true">${text}</span><span class="unseen">${spoken[text]}</span>` : text);

/** Play a card when it is dragged onto the table, or move it to the place of another card.
 * @param {PointerEvent} event @param {() => void} play @param {(target: string) => void} [moveTo] */
function startDrag(event, play, moveTo) {
  if (event.button) return;
  const card = /** @type {HTMLElement} */ (event.currentTarget), from = { x: event.clientX, y: event.clientY };
  let isDragged = false;
  /** @param {PointerEvent} next */
  const move = (next) => {
    const x = next.clientX - from.x, y = next.clientY - from.y;
    if (!isDragged && Math.hypot(x, y) < DRAG_DISTANCE) return;
    isDragged = true;
    card.classList.add("dragged");
    card.style.transform = `translate(${x}px, ${y}px)`;
  };
  const stop = new AbortController(), { signal } = stop;
  /** @param {PointerEvent} last */
  const end = (last) => {
    stop.abort();
    if (!isDragged) return;
    // While it is dragged, the pointer goes through the card.
    const target = /** @type {HTMLElement | null | undefined} */ (document.elementFromPoint(last.clientX, last.clientY)?.closest(".fan .tap"));
    card.classList.remove("dragged");
    card.style.transform = "";
    // The click after a drag must not press the card: the drop decided.
    addEventListener("click", cancelEvent, { capture: true, once: true });
    setTimeout(() => removeEventListener("click", cancelEvent, { capture: true }));
    const felt = document.querySelector(".felt")?.getBoundingClientRect();
    if (last.type === "pointerup" && felt && last.clientY < felt.bottom && last.clientY > felt.top) play();
    else if (last.type === "pointerup" && target?.dataset.card && target.closest(".fan") === card.closest(".fan")) moveTo?.(target.dataset.card);
  };
  addEventListener("pointermove", move, { signal });
  addEventListener("pointerup", end, { signal });
  addEventListener("pointercancel", end, { signal });
}

/** @param {Event} event */
const cancelEvent = (event) => { event.stopPropagation(); event.preventDefault(); };

/** A card or packet; it is a button even if it cannot be pressed.
 * @param {{deck: string, card: TapCard, onPress: (press: string, card: TapCard) => void, onMove?: (moved: string, target: string) => void}} props */
export const Tap = ({ deck, card, onPress, onMove }) => html`
  <button type="button" class=${`tap ${card.light} ${card.is_early ? "early" : ""}`} data-card=${card.code} data-press=${card.press}
    aria-disabled=${(card.press && card.light !== "dim") || card.can_wait ? undefined : "true"} aria-pressed=${card.light === "chosen" || card.is_early ? "true" : undefined}
    aria-label=${cardLabel(card)} onClick=${() => (card.press || card.can_wait) && onPress(card.press, card)}
    onPointerDown=${!card.is_hidden && (card.light === "playable" || onMove) && ((/** @type {PointerEvent} */ event) => startDrag(event, () => (card.press || card.can_wait) && onPress(card.press, card), (target) => onMove?.(card.code, target)))}>
    <${Face} deck=${deck} card=${card.is_hidden ? "" : card.code} />
    ${card.label && html`<span class="number" data-says=${card.label}></span>`}
    ${card.size > 1 && html`<span class="size" data-says=${card.size}></span>`}
  </button>`;

/** @param {number} count */
export const cardCount = (count) => (count === 1 ? texts.one_card : texts.cards.replace("{count}", String(count)));

/** Return a card's name for screen readers. @param {TapCard} card */
const cardLabel = (card) => [card.label && texts.packet.replace("{number}", card.label), card.name, card.size > 1 && cardCount(card.size)].filter(Boolean).join(", ");

/** Another player: known cards, and the backs of the others.
 * @param {{deck: string, player: PagePlayer, seats: number}} props */
export const Other = ({ deck, player, seats }) => html`
  <div class=${`other at${player.at}of${seats} ${player.is_to_move ? "to-move" : ""}`}>
    <span class="who" dir="auto">${player.name}${player.dealing ? html` <${DealerChip} label=${player.dealing} />` : ""}</span>
    <div class="backs">
      ${player.shown.map((card) => html`<span class="small" role="img" aria-label=${card.name}><${Face} deck=${deck} card=${card.code} /></span>`)}
      ${player.packets.map((card) => html`<span class="small top" role="img" aria-label=${cardLabel(card)}><${Face} deck=${deck} card=${card.code} />${card.size > 1 && html`<span class="size" data-says=${card.size}></span>`}</span>`)}
      ${Array.from({ length: Math.min(player.hidden, 20) }, (_, index) => html`<span class="small back" key=${index}><${Face} deck=${deck} card="" /></span>`)}
    </div>
    <span class="unseen">${player.hidden ? cardCount(player.hidden) : ""}</span>
  </div>`;

/** The trick; `to` is the seat that is taking it.
 * @param {{deck: string, cards: PageCard[], seats: number, to: number | null}} props */
export const Trick = ({ deck, cards, seats, to }) => html`
  <div class=${`trick of${seats} ${to === null ? "" : `to${to}of${seats}`}`} aria-label=${texts.on_the_table} role="group">
    ${cards.map((card) => html`
      <figure key=${card.code} class=${`lying at${card.at}of${seats} ${card.wins && cards.length > 1 ? "wins" : ""}`} data-lying=${card.code}>
        <${Face} deck=${deck} card=${card.code} name=${card.name} />
        <figcaption dir="auto"><span>${card.by}</span>${card.said ? html` <q>${card.said}!</q>` : ""}</figcaption>
      </figure>`)}
  </div>`;

/** The player's cards, in rows wide enough for thumbs. Arrow keys move from card to card, and with Shift they move the card.
 * @param {{deck: string, cards: TapCard[], label: string, onPress: (press: string, card: TapCard) => void, onMove?: (moved: string, target: string) => void}} props */
export const Fan = ({ deck, cards, label, onPress, onMove }) => {
  // A phone held sideways has half its width for cards.
  const cardsPerRow = () => (innerWidth < 560 || innerHeight <= 480 ? 7 : innerWidth < 900 ? 10 : 20);
  const [most, setMost] = useState(cardsPerRow);
  useEffect(() => {
    const measure = () => setMost(cardsPerRow);
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, []);
  const rows = Math.ceil(cards.length / most), each = Math.ceil(cards.length / (rows || 1));
  /** @param {KeyboardEvent} event */
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: each, ArrowUp: -each }[event.key];
    if (!step) return;
    const buttons = [.../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll("button")];
    const next = buttons[buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement)) + step];
    if (!next) return;
    event.preventDefault();
    const moved = /** @type {HTMLElement} */ (document.activeElement).dataset.card;
    if (event.shiftKey && onMove && moved && next.dataset.card) onMove(moved, next.dataset.card);
    else next.focus();
  };
  return html`<div class=${`fan rows${rows} ${deck.endsWith("easy") ? "easy" : ""}`} role="group" aria-label=${label} onKeyDown=${move}>
    ${Array.from({ length: rows }, (_, row) => html`
      <div class="row" key=${row}>${cards.slice(row * each, (row + 1) * each).map((card, index) => html`<${Tap} key=${card.code || index} deck=${deck} card=${card} onPress=${onPress} onMove=${onMove} />`)}</div>`)}
  </div>`;
};
