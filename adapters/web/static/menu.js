// @ts-check
// What the menu of a table contains. It is loaded after the first card.
import { Face } from "./faces.js";
import { FoldedLog } from "./deal_log.js";
import { changeOptions, options } from "./options.js";
import { html, pageData } from "./view.js";

/** @typedef {import("./table.js").Table} Table */

const { code, texts } = pageData();

/** @param {{label: string, value: string, choices: Record<string, string>, onChoose: (choice: string) => void}} props */
const Choice = ({ label, value, choices, onChoose }) => html`
  <label>${label} <select value=${value} onChange=${(/** @type {Event} */ event) => onChoose(/** @type {HTMLSelectElement} */ (event.target).value)}>
    ${Object.entries(choices).map(([key, name]) => html`<option key=${key} value=${key}>${name}</option>`)}
  </select></label>`;

/** The reader's options in this browser. @param {{onChange: () => void}} props */
const Options = ({ onChange }) => {
  /** @param {any} changes */
  const change = (changes) => { changeOptions(changes); onChange(); };
  return html`<div class="options">
    <${Choice} label=${texts.pace} value=${options.pace} choices=${{ slow: texts.pace_slow, normal: texts.pace_normal, fast: texts.pace_fast }} onChoose=${(/** @type {string} */ pace) => change({ pace })} />
    <${Choice} label=${texts.order} value=${options.order} choices=${{ suit: texts.by_suit, rank: texts.by_rank, hand: texts.by_hand }} onChoose=${(/** @type {string} */ order) => change({ order })} />
    ${options.order === "hand" && html`<small>${texts.by_hand_about}</small>`}
    <label>${texts.single} <input type="checkbox" checked=${options.single} onChange=${() => change({ single: !options.single })} /></label>
  </div>`;
};

/** `children` are the panel, `onChange` is called after a change of the options.
 * @param {{table: Table, onPress: (press: string) => void, onChange: () => void, onClose: () => void, children: any}} props */
export const Menu = ({ table, onPress, onChange, onClose, children }) => html`<div>
  <p class="ways">
    <a class="button" href=${`${table.rules}?t=${code}`}>${texts.rules}</a>
    <a class="button" href=${`/settings?t=${code}`}>${texts.settings}</a>
    ${table.resign && html`<button type="button" class="danger" onClick=${() => onPress(table.resign)}>${texts.resign}</button>`}
    <button type="button" class="shuts" aria-label=${texts.shut} onClick=${onClose}>✕</button>
  </p>
  ${table.log && html`<${FoldedLog} log=${table.log} texts=${texts} face=${(/** @type {import("./deal_log.js").TrickCard} */ card) => html`<${Face} deck=${table.deck} card=${card.code} name=${card.name} />`} />`}
  <${Options} onChange=${onChange} />
  ${children}
</div>`;
