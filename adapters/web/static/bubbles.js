// @ts-check
// Shows what players declare, say and take, for a moment at their seats. Screen readers read the table's status instead.
import { Face } from "./faces.js";
import { html, useEffect, useRef, useState } from "./view.js";

/** @typedef {import("./table.js").SeatEvent} SeatEvent */
/** @typedef {import("./table.js").Table} Table */

const SAID_SHOWN = 4000;  // milliseconds that a phrase is shown
const SHOWN = 2200, SHOWN_MORE = 800;  // milliseconds to show the first event, and each further one

/** Return the events after `firstEvent` until they have been shown long enough. @param {Table} table @param {number[]} firstEvent deal and number */
function useNewEvents(table, firstEvent) {
  const [events, setEvents] = useState(/** @type {SeatEvent[]} */ ([]));
  const lastEvent = useRef(firstEvent);
  useEffect(() => {
    const [deal, number] = lastEvent.current;
    const fresh = table.events.filter((event) => table.deal !== deal || event.number > number);
    if (!fresh.length) return;
    lastEvent.current = [table.deal, fresh[fresh.length - 1].number];
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
  const [speakers, setSpeakers] = useState(/** @type {Table["sitting"]} */ ([]));
  const lastWords = useRef(/** @type {string[]} */ ([]));
  useEffect(() => {
    const newSpeakers = sitting.filter((player) => player.said && player.said !== lastWords.current[player.at]);
    lastWords.current = sitting.map((player) => player.said);
    if (newSpeakers.length) setSpeakers(newSpeakers);
  }, [sitting.map((player) => player.said).join("|")]);
  useEffect(() => {
    const timer = setTimeout(() => setSpeakers([]), SAID_SHOWN);
    return () => clearTimeout(timer);
  }, [speakers]);
  return speakers;
}

/** `takenTrick` is a finished trick that is still shown, `firstEvent` the last event that was there when the page opened.
 * @param {{table: Table, takenTrick: import("./cards.js").PageCard[], firstEvent: number[]}} props */
export const Bubbles = ({ table, takenTrick, firstEvent }) => {
  const events = useNewEvents(table, firstEvent), seats = table.sitting.length;
  const sayings = useSayings(table.sitting);
  const trick = takenTrick.length ? takenTrick : table.trick;
  const taker = trick.length === seats ? trick.find((card) => card.wins) : undefined;
  return html`<div class="bubbles" aria-hidden="true">${table.sitting.map(({ at }) => {
    const seatEvents = events.filter((event) => event.at === at);
    const saying = sayings.find((player) => player.at === at)?.said;
    const says = seatEvents.length || saying ? [...seatEvents.map((event) => event.text), ...(saying ? [saying] : [])] : taker?.at === at ? [table.takes] : [];
    return says.length > 0 && html`<div key=${`${at} ${says}`} class=${`bubble at${at}of${seats}`} data-at=${at}>
      ${seatEvents.map((event) => event.cards.length > 0 && html`<span class="declared" key=${event.number}>${event.cards.map((card) => html`<span class="declared-card" key=${card}><${Face} deck=${table.deck} card=${card} /></span>`)}</span>`)}
      ${says.map((text) => html`<b dir="auto" key=${text}>${text}</b>`)}
    </div>`; })}</div>`;
};
