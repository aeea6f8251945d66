// @ts-check
// The reader's notes on the moves of a game, and the lines that they keep. Both stay in this browser.
import { permanentStorage } from "./storage.js";
import { html, useState } from "./view.js";

/** @typedef {{notes: Record<string, string>, lines: Record<string, string>}} Kept Notes by address of the position; texts of lines by address. */

/** Return what the reader keeps about a game, and a function to change it.
 * @param {string} id @returns {[kept: Kept, change: (part: "notes" | "lines", address: string, text: string) => void]} */
export function useKept(id) {
  const key = `buongioco-notes-${id}`;
  const [kept, setKept] = useState(() => /** @type {Kept} */ ({ notes: {}, lines: {}, ...JSON.parse(permanentStorage.get(key) || "{}") }));
  return [kept, (part, address, text) => {
    const { [address]: _, ...others } = kept[part];
    const changed = { ...kept, [part]: text ? { ...others, [address]: text } : others };
    permanentStorage.set(key, JSON.stringify(changed));
    setKept(changed);
  }];
}

/** @param {{address: string, kept: Kept, change: (part: "notes" | "lines", address: string, text: string) => void, texts: Record<string, string>}} props */
export const Notes = ({ address, kept, change, texts }) => html`<section class="notes">
  <label>${texts.note}<textarea key=${address} rows="2" maxlength="500" value=${kept.notes[address] || ""} placeholder=${texts.note_about}
    onInput=${(/** @type {Event} */ event) => change("notes", address, /** @type {HTMLTextAreaElement} */ (event.target).value)}></textarea></label>
  ${Object.keys(kept.lines).length > 0 && html`<h3>${texts.kept_lines}</h3>
    <ul>${Object.entries(kept.lines).map(([line, text]) => html`<li key=${line}><a href=${line}>${text}</a> <button type="button" aria-label=${texts.remove} onClick=${() => change("lines", line, "")}>✕</button></li>`)}</ul>`}
</section>`;
