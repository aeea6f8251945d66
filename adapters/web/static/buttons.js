// @ts-check
// The rows of buttons above the hand and in the menu.
import { html } from "./view.js";

/** @typedef {import("./table.js").Button} Button */

/** @param {{rows: Button[][], spoken: Record<string, string>, advised?: string[], onPress: (press: string) => void}} props */
export const Buttons = ({ rows, spoken, advised = [], onPress }) => html`
  <div class="buttons">${rows.map((row) => html`
    <div class="row">${row.filter(([, , , kind]) => kind === "press").map(([label, payload, style]) => html`
      <button type="button" key=${payload} class=${`${style} ${advised.includes(payload) ? "hinted" : ""}`} data-payload=${payload} aria-label=${spoken[label]} onClick=${() => onPress(payload)}>${label}</button>`)}
    </div>`)}
  </div>`;

/** Return rows of one button each as rows of two, which need less room. Other rows stay as they are. @param {Button[][]} rows */
export function inPairs(rows) {
  if (rows.some((row) => row.length > 1)) return rows;
  const buttons = rows.flat();
  return Array.from({ length: Math.ceil(buttons.length / 2) }, (_, row) => buttons.slice(2 * row, 2 * row + 2));
}
