// @ts-check
// The order of the reader's hand, and the button that hides it from people nearby.
import { changeOptions, options } from "./options.js";
import { tabStorage } from "./storage.js";
import { html, pageData, useEffect, useRef, useState } from "./view.js";

/** @typedef {import("./cards.js").TapCard} TapCard */

const { code, texts } = pageData();
const ORDER = `hand ${code}`, HIDDEN = "hidden", ORDER_CLOSED = `order ${code}`;
const SIDEWAYS = matchMedia("(orientation: landscape) and (max-height: 480px)");
const HOLD = 250;  // milliseconds; a longer press shows the hidden cards only while it lasts

/** @returns {string[]} */
const ownOrder = () => JSON.parse(tabStorage.get(ORDER) || "[]");

/** Return the hand in the reader's order; the bot sends it by suit. @param {TapCard[]} cards @returns {TapCard[]} */
export function inOrder(cards) {
  if (options.order === "rank") return [...cards].sort((one, other) => other.rank - one.rank);
  if (options.order !== "hand") return cards;
  const order = ownOrder();
  /** Return a card's place. Cards drawn since the hand was arranged come last. @param {TapCard} card */
  const place = (card) => (order.includes(card.code) ? order.indexOf(card.code) : order.length);
  return [...cards].sort((one, other) => place(one) - place(other));
}

/** Move a card of the hand to another card's place. @param {TapCard[]} cards @param {string} moved @param {string} target */
export function moveCard(cards, moved, target) {
  const order = inOrder(cards).map((card) => card.code), from = order.indexOf(moved), to = order.indexOf(target);
  if (from < 0 || to < 0) return;
  order.splice(to, 0, ...order.splice(from, 1));
  tabStorage.set(ORDER, JSON.stringify(order));
  changeOptions({ order: "hand" });
}

/** Return whether the hand is hidden, and the button that hides or shows it. A long press shows a hidden hand until the press
 * ends. @param {() => void} onHide @returns {[isHidden: boolean, button: any]} */
export function useHiddenHand(onHide) {
  const [isHidden, setHidden] = useState(() => tabStorage.get(HIDDEN) === "yes");
  const [isPeeking, setPeeking] = useState(false);
  const timer = useRef(0), hasPeeked = useRef(false);
  const toggle = () => {
    if (hasPeeked.current) { hasPeeked.current = false; return; }
    tabStorage.set(HIDDEN, isHidden ? "" : "yes");
    if (!isHidden) onHide();
    setHidden(!isHidden);
  };
  const press = () => {
    hasPeeked.current = false;
    if (isHidden) timer.current = setTimeout(() => { hasPeeked.current = true; setPeeking(true); }, HOLD);
  };
  const release = () => { clearTimeout(timer.current); setPeeking(false); };
  const button = html`<button type="button" class="icon" aria-label=${texts.hide} title=${texts.hide} aria-pressed=${String(isHidden)}
    onClick=${toggle} onPointerDown=${press} onPointerUp=${release} onPointerCancel=${release} onPointerLeave=${release} onContextMenu=${(/** @type {Event} */ event) => event.preventDefault()}>
    <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z" /><circle cx="12" cy="12" r="3" />${isHidden && html`<path d="M4 20 20 4" />`}</svg>
  </button>`;
  return [isHidden && !isPeeking, button];
}

/** The order of the cards in a first game, which the reader can fold away, and the letters on them. It folds by itself
 * where it has no room, until the reader opens it.
 * @param {{order: string[], legend: string, isHidden: boolean}} props */
export const CardOrder = ({ order, legend, isHidden }) => {
  const chosen = tabStorage.get(ORDER_CLOSED);
  const [isOpen, setOpen] = useState(chosen ? chosen === "no" : !SIDEWAYS.matches);
  useEffect(() => {
    const page = document.documentElement;
    const sizes = new ResizeObserver(() => { if (!tabStorage.get(ORDER_CLOSED) && (SIDEWAYS.matches || page.scrollHeight > innerHeight)) setOpen(false); });
    sizes.observe(/** @type {HTMLElement} */ (document.getElementById("table")));
    return () => sizes.disconnect();
  }, []);
  const toggle = () => { tabStorage.set(ORDER_CLOSED, isOpen ? "yes" : "no"); setOpen(!isOpen); };
  return html`<div class="legend">
    <div id="order" hidden=${!isOpen}>${order.map((line) => html`<p>${line}</p>`)}</div>
    <p class=${isHidden ? "letters secret" : "letters"}>${legend}</p>
    <button type="button" aria-label=${texts.card_order} title=${texts.card_order} aria-expanded=${String(isOpen)} aria-controls="order" onClick=${toggle}>${isOpen ? "✕" : "?"}</button>
  </div>`;
};

/** Turn the cards face down: they cannot be pressed. @param {TapCard[]} cards @returns {TapCard[]} */
export const faceDown = (cards) => cards.map((card) => ({ ...card, light: "", press: "", can_be_chosen: false, is_early: false, is_hidden: true }));
