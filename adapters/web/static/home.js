// @ts-check
import { permanentStorage } from "./storage.js";

// Old links to the playground's chat lead here, with a key or code behind a # or a question mark.
const hash = new URLSearchParams(location.hash.slice(1)), query = new URLSearchParams(location.search);
if (hash.has("key") || hash.has("join") || query.has("key")) location.replace(`/chat${location.search}${location.hash}`);

// The link to the rules follows the chosen game.
const game = /** @type {HTMLSelectElement} */ (document.querySelector("[name=game]"));
const rules = /** @type {HTMLAnchorElement} */ (document.getElementById("rules"));
const updateRulesLink = () => { rules.href = `/rules/${game.value}`; };

// The last choices are restored.
for (const select of document.querySelectorAll("select")) {
  const kept = permanentStorage.get(`play.${select.name}`);
  if (kept && [...select.options].some((option) => option.value === kept)) select.value = kept;
  select.addEventListener("change", () => permanentStorage.set(`play.${select.name}`, select.value));
}
game.addEventListener("change", updateRulesLink);
updateRulesLink();

// The form of a page restored from the browser's cache would lead to its earlier table again.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
