// @ts-check
// The reader's options for tables in this browser, in the menu of a table.
import { permanentStorage } from "./storage.js";
import { html, pageData } from "./view.js";

/** @typedef {{pace: "slow" | "normal" | "fast", single: boolean, order: "suit" | "rank" | "hand"}} Values
 * `order` is the order of the hand, and `single` is whether the only legal card is played automatically. */

const KEY = "options", { texts } = pageData();
/** @type {Readonly<Values>} */
export let options = { pace: "normal", single: false, order: "suit", ...JSON.parse(permanentStorage.get(KEY) || "{}") };

/** @param {Partial<Values>} changes */
export function changeOptions(changes) {
  options = { ...options, ...changes };
  permanentStorage.set(KEY, JSON.stringify(options));
}

/** @param {{label: string, value: string, choices: Record<string, string>, onChoose: (choice: string) => void}} props */
const Choice = ({ label, value, choices, onChoose }) => html`
  <label>${label} <select value=${value} onChange=${(/** @type {Event} */ event) => onChoose(/** @type {HTMLSelectElement} */ (event.target).value)}>
    ${Object.entries(choices).map(([key, name]) => html`<option key=${key} value=${key}>${name}</option>`)}
  </select></label>`;

/** @param {{onChange: () => void}} props */
export const Options = ({ onChange }) => {
  /** @param {any} changes */
  const change = (changes) => { changeOptions(changes); onChange(); };
  return html`<div class="options">
    <${Choice} label=${texts.pace} value=${options.pace} choices=${{ slow: texts.pace_slow, normal: texts.pace_normal, fast: texts.pace_fast }} onChoose=${(/** @type {string} */ pace) => change({ pace })} />
    <${Choice} label=${texts.order} value=${options.order} choices=${{ suit: texts.by_suit, rank: texts.by_rank, hand: texts.by_hand }} onChoose=${(/** @type {string} */ order) => change({ order })} />
    ${options.order === "hand" && html`<small>${texts.by_hand_about}</small>`}
    <label>${texts.single} <input type="checkbox" checked=${options.single} onChange=${() => change({ single: !options.single })} /></label>
  </div>`;
};
