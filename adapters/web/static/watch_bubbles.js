// @ts-check
// Shows for a moment at each seat what its player declares, bids, says or takes, on a spectator's page. Screen readers read
// the status instead.
import { Card } from "./position.js";
import { addStyle, format, html, useEffect, useRef, useState } from "./view.js";

/** @typedef {import("./position.js").View} View */
/** @typedef {{seat: number, text: string, cards: string[]}} WatchedEvent */
/** A declaration by its move: in words, and its cards. @typedef {Record<string, [text: string, cards: string[]]>} Combinations */

const SHOWN = 2200, SHOWN_MORE = 800;  // milliseconds for which an event is shown, and more for each further event

/** Return what happened after the `old` view of the same deal.
 * @param {View} old @param {View} view @param {string[]} names @param {number} unit @param {Combinations} combinations @param {Record<string, string>} texts
 * @returns {WatchedEvent[]} */
function eventsSince(old, view, names, unit, combinations, texts) {
  const declared = (view.declarations || []).slice((old.declarations || []).length).map(([seat, move, points]) => {
    const [text, cards] = combinations[move];
    return { seat, text: `${text} +${points * unit}`, cards };
  });
  const bids = (view.bids || []).flatMap((bid, seat) => (bid === null || bid === old.bids?.[seat] ? [] : [{ seat, text: `${texts.bid} ${bid === "nil" ? texts.nil : bid === "double nil" ? texts.double_nil : bid}`, cards: [] }]));
  const oldCards = [...old.trick, ...old.last_trick?.[0] || []].map((played) => played[1]);
  const signals = [...view.last_trick?.[0] || [], ...view.trick].flatMap(([seat, card, signal]) => (signal && !oldCards.includes(card) ? [{ seat, text: `${signal}!`, cards: [] }] : []));
  const isTaken = view.last_trick && view.last_trick[0][0][1] !== old.last_trick?.[0][0][1];
  const takers = view.last_trick && isTaken ? [{ seat: view.last_trick[1], text: format(texts.takes, { name: names[view.last_trick[1]] }), cards: [] }] : [];
  return [...declared, ...bids, ...signals, ...takers];
}

/** @param {{view: View, deal: number, names: string[], unit: number, faces: import("./position.js").Faces, combinations: Combinations, texts: Record<string, string>}} props */
export const Bubbles = ({ view, deal, names, unit, faces, combinations, texts }) => {
  const [events, setEvents] = useState(/** @type {WatchedEvent[]} */ ([]));
  const lastShown = useRef({ view, deal });
  useEffect(() => {
    const lastState = lastShown.current;
    lastShown.current = { view, deal };
    // A state can be the same as the one before.
    const fresh = lastState.deal === deal ? eventsSince(lastState.view, view, names, unit, combinations, texts) : [];
    if (fresh.length) setEvents(fresh);
  }, [view]);
  useEffect(() => {
    if (!events.length) return undefined;
    const timer = setTimeout(() => setEvents([]), SHOWN + SHOWN_MORE * (events.length - 1));
    return () => clearTimeout(timer);
  }, [events]);
  return html`<div class="bubbles" aria-hidden="true">${names.map((_, seat) => {
    const seatEvents = events.filter((event) => event.seat === seat);
    return seatEvents.length > 0 && html`<div key=${seat} class=${`bubble at${seat}of${names.length}`} data-at=${seat}>
      ${seatEvents.map(({ text, cards }) => html`${cards.length > 0 && html`<span class="declared">${cards.map((card) => html`<span class="declared-card" key=${card}><${Card} faces=${faces} code=${card} /></span>`)}</span>`}<b dir="auto" key=${text}>${text}</b>`)}
    </div>`; })}</div>`;
};

await addStyle(new URL("bubbles.css", import.meta.url));
