// @ts-check
// Shows what players declare, say and take, for a moment at their seats. Screen readers read the table's status instead.
import { Face } from "./cards.js";
import { html, useEffect, useRef, useState } from "./view.js";

/** @typedef {import("./table.js").SeatEvent} SeatEvent */
/** @typedef {import("./table.js").Table} Table */

const SAID_SHOWN = 4000;  // milliseconds that a phrase is shown
const SHOWN = 2200, SHOWN_MORE = 800;  // milliseconds to show the first event, and each further one

/** Return the events after `old` until they have been shown long enough. @param {Table} table @param {number[]} old deal and number */
function useNewEvents(table, old) {
  const [events, setEvents] = useState(/** @type {SeatEvent[]} */ ([]));
  const last = useRef(old);
  useEffect(() => {
    const [deal, number] = last.current;
    const fresh = table.events.filter((event) => table.deal !== deal || event.number > number);
    if (!fresh.length) return;
    last.current = [table.deal, fresh[fresh.length - 1].number];
    setEvents(fresh);
  }, [table]);
  useEffect(() => {
    if (!events.length) return undefined;
    const timer = setTimeout(() => setEvents([]), SHOWN + SHOWN_MORE * (events.length - 1));
    return () => clearTimeout(timer);
  }, [events]);
  return events;
}

/** Return the players whose words are new, until `SAID_SHOWN` has passed. @param {Table["sitting"]} sitting */
function useSayings(sitting) {
  const [fresh, setFresh] = useState(/** @type {Table["sitting"]} */ ([]));
  const last = useRef(/** @type {string[]} */ ([]));
  useEffect(() => {
    const said = sitting.filter((player) => player.said && player.said !== last.current[player.at]);
    last.current = sitting.map((player) => player.said);
    if (said.length) setFresh(said);
  }, [sitting.map((player) => player.said).join("|")]);
  useEffect(() => {
    const timer = setTimeout(() => setFresh([]), SAID_SHOWN);
    return () => clearTimeout(timer);
  }, [fresh]);
  return fresh;
}

/** `taken` is a finished trick that is still shown, `old` the last event that was there when the page opened.
 * @param {{table: Table, taken: import("./cards.js").PageCard[], old: number[]}} props */
export const Bubbles = ({ table, taken, old }) => {
  const events = useNewEvents(table, old), seats = table.sitting.length;
  const sayings = useSayings(table.sitting);
  const trick = taken.length ? taken : table.trick;
  const taker = trick.length === seats ? trick.find((card) => card.wins) : undefined;
  return html`<div class="bubbles" aria-hidden="true">${table.sitting.map(({ at }) => {
    const own = events.filter((event) => event.at === at);
    const saying = sayings.find((player) => player.at === at)?.said;
    const says = own.length || saying ? [...own.map((event) => event.text), ...(saying ? [saying] : [])] : taker?.at === at ? [table.takes] : [];
    return says.length > 0 && html`<div key=${`${at} ${says}`} class=${`bubble at${at}of${seats}`} data-at=${at}>
      ${own.map((event) => event.cards.length > 0 && html`<span class="declared" key=${event.number}>${event.cards.map((card) => html`<span class="declared-card" key=${card}><${Face} deck=${table.deck} card=${card} /></span>`)}</span>`)}
      ${says.map((text) => html`<b dir="auto" key=${text}>${text}</b>`)}
    </div>`; })}</div>`;
};
