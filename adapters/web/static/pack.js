// @ts-check
// The pack before a deal. The player who can cut it parts it with pointer or arrow keys; a tap or Enter cuts.
import { cardCount } from "./cards.js";
import { Face } from "./faces.js";
import { Clock } from "./clock.js";
import { newCut, rememberCut } from "./cuts.js";
import { addStyle, html, pageData, useLayoutEffect, useRef, useState } from "./view.js";

/** @typedef {import("./table.js").Table} Table */

const { texts } = pageData();
/** @type {Record<string, number>} */
const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };

/** `place` is the number of cards below the cut. @param {{deck: string, size: number, place?: number}} props */
const Cards = ({ deck, size, place = size }) => [...Array(size).keys()].map((number) => html`
  <span key=${number} class=${number < place ? "" : number > place ? "above" : "above edge"} style=${`--place: ${number}`}><${Face} deck=${deck} card="" /></span>`);

/** The pack in one pile, for players who wait for the cut. @param {{deck: string, size: number}} props */
const Pile = ({ deck, size }) => html`<div class="pack pile" style=${`--last: ${size - 1}`}><${Cards} deck=${deck} size=${size} /></div>`;

/** The pack in a row, for the player who can cut it. `onCut` takes the place of the cut, from 0 to 1. It returns
 * whether the bot accepted the cut.
 * @param {{deck: string, size: number, onCut: (place: number) => Promise<boolean>}} props */
const PackToCut = ({ deck, size, onCut }) => {
  const [place, setPlace] = useState(size / 2);
  const [isCut, setCut] = useState(false);
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const isDone = useRef(false);

  /** @param {number} wanted */
  const part = (wanted) => {
    const next = Math.min(Math.max(wanted, 1), size - 1);
    if (!isDone.current) setPlace(next);
    return next;
  };
  /** Part the pack below the pointer. @param {MouseEvent} event */
  const follow = (event) => {
    const box = /** @type {HTMLElement} */ (button.current).getBoundingClientRect();
    return part(Math.round(size * (event.clientX - box.left) / box.width));
  };
  /** @param {number} chosen */
  const cut = async (chosen) => {
    if (isDone.current) return;
    isDone.current = true;
    setCut(true);
    isDone.current = await onCut(chosen / size);
    setCut(isDone.current);
  };
  /** Cut at the end of a touch, because a finger that slid over the pack makes no click. @param {PointerEvent} event */
  const release = (event) => {
    const box = /** @type {HTMLElement} */ (button.current).getBoundingClientRect();
    if (event.pointerType !== "mouse" && event.clientY > box.top && event.clientY < box.bottom) cut(follow(event));
  };
  /** @param {KeyboardEvent} event */
  const step = (event) => {
    if (!(event.key in STEPS)) return;
    event.preventDefault();
    part(place + STEPS[event.key]);
  };
  useLayoutEffect(() => button.current?.focus({ preventScroll: true }), []);
  // Keys and screen readers make clicks without a position.
  return html`
    <button type="button" class=${`pack ${isCut ? "is-cut" : ""}`} style=${`--last: ${size - 1}; --below: ${place}; --above: ${size - place}`}
      ref=${button} aria-label=${texts.cut} aria-describedby="how-to-cut"
      onPointerMove=${follow} onPointerUp=${release} onKeyDown=${step} onClick=${(/** @type {MouseEvent} */ event) => cut(event.detail ? follow(event) : place)}>
      <${Cards} deck=${deck} size=${size} place=${place} />
    </button>
    <p id="how-to-cut">${texts.cut_here} <span class="keys">${texts.cut_keys}</span></p>
    <output class="unseen">${cardCount(place)} | ${cardCount(size - place)}</output>`;
};

/** The pack, and who can cut it. `onCut` sends the press and returns whether it was accepted.
 * @param {{table: Table, onCut: (press: string) => Promise<boolean>}} props */
export const Cut = ({ table, onCut }) => {
  /** @param {number} place from 0 to 1 */
  const cut = async (place) => {
    const text = newCut(place), isAccepted = await onCut(`${table.cut} ${text}`);
    if (isAccepted) rememberCut(table.seal, text);
    return isAccepted;
  };
  return html`<section class="cut">
    <p class=${`line ${table.is_mine ? "mine" : ""}`}>${table.line}</p>
    <${Clock} seconds=${table.clock_left || 0} left=${table.clock_left} version=${table.version} />
    ${table.cut ? html`<${PackToCut} key=${table.seal} deck=${table.deck} size=${table.pack} onCut=${cut} />` : html`<${Pile} deck=${table.deck} size=${table.pack} />`}
    <details><summary>${texts.seal}</summary><code>${table.seal}</code><p><small>${texts.seal_about}</small></p></details>
  </section>`;
};

await addStyle(new URL("pack.css", import.meta.url));
