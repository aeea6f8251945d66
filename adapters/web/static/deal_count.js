// @ts-check
// The count of a deal: line by line, and then the totals on their way to the target.
import { Face } from "./faces.js";
import { FoldedLog } from "./deal_log.js";
import { html, pageData, useEffect, useState } from "./view.js";

/** @typedef {import("./table.js").Table} Table */

const { texts } = pageData();
const LINE = 420, COUNTING = 700;  // milliseconds for each line, and for the totals

/** Return a number that grows from 0 to `end` by 1 in `pace` milliseconds.
 * If `isWhole`, or if the reader wants no motion, return `end`.
 * @param {number} end @param {number} pace @param {boolean} isWhole */
function useProgress(end, pace, isWhole) {
  const isStill = isWhole || matchMedia("(prefers-reduced-motion: reduce)").matches;
  const [place, setPlace] = useState(isStill ? end : 0);
  useEffect(() => {
    if (isStill) return undefined;
    const start = performance.now();
    let frame = requestAnimationFrame(function next(now) {
      const reached = Math.min(end, Math.max(0, now - start) / pace);
      setPlace(reached);
      if (reached < end) frame = requestAnimationFrame(next);
    });
    return () => cancelAnimationFrame(frame);
  }, []);
  return place;
}

/** @param {number} points */
const shownPoints = (points) => String(points).replace("-", "−");

/** @param {HTMLElement | null} node */
const focus = (node) => node?.focus();

/** The score of a deal. With `isWhole` all lines appear at once. @param {{table: Table, isWhole?: boolean, onClose?: () => void}} props */
export const DealCount = ({ table, isWhole = false, onClose }) => {
  const count = /** @type {NonNullable<Table["count"]>} */ (table.count), { lines, before, after, target } = count;
  const end = lines.length + COUNTING / LINE, place = useProgress(end, LINE, isWhole);
  const share = Math.min(1, Math.max(0, (place - lines.length) / (end - lines.length)));
  const totals = after.map((total, side) => before[side] + Math.round((total - before[side]) * share));
  return html`<section class=${`tally ${place < end ? "counting" : ""}`} role="group" aria-label=${table.tally_title}>
    <table>
      <caption>${table.tally_title}</caption>
      <thead><tr><td></td>${table.sides.map((side) => html`<th scope="col" dir="auto">${side.name}</th>`)}</tr></thead>
      <tbody>${lines.map(([label, first, second], index) => html`
        <tr class=${`${index < place ? "" : "later"} ${index === lines.length - 1 ? "sum" : ""}`}><th scope="row">${label}</th><td>${first}</td><td>${second}</td></tr>`)}</tbody>
      <tfoot><tr class=${place >= lines.length ? "" : "later"}><th scope="row">${count.label}${target > 0 && html` <small>${table.target}</small>`}</th>${totals.map((total) => html`<td>${shownPoints(total)}</td>`)}</tr></tfoot>
    </table>
    <p class="how"><a href=${`${table.rules}#points`} target="_blank">${texts.how_points}</a></p>
    ${target > 0 && html`<div class="way">${totals.map((total, side) => html`
      <progress class=${total >= target ? "reached" : ""} max=${target} value=${Math.max(0, total)} aria-label=${table.sides[side].name}></progress>`)}</div>`}
    ${table.finished_log && html`<${FoldedLog} log=${table.finished_log} texts=${texts} face=${(/** @type {import("./deal_log.js").TrickCard} */ card) => html`<${Face} deck=${table.deck} card=${card.code} name=${card.name} />`} />`}
    ${onClose && html`<button type="button" class="good" ref=${focus} onClick=${onClose}>${texts.go_on}</button>`}
  </section>`;
};
