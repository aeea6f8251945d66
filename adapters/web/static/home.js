// @ts-check
import { forEver } from "./storage.js";

// Links to the playground's chat once led here, with what they are for behind a # or a question mark.
const behind = new URLSearchParams(location.hash.slice(1)), query = new URLSearchParams(location.search);
if (behind.has("key") || behind.has("join") || query.has("key")) location.replace(`/chat${location.search}${location.hash}`);

// The link to the rules leads to those of the game that is chosen.
const game = /** @type {HTMLSelectElement} */ (document.querySelector("[name=game]"));
const rules = /** @type {HTMLAnchorElement} */ (document.getElementById("rules"));
const lead = () => { rules.href = `/rules/${game.value}`; };

// What was chosen last is chosen again.
for (const select of document.querySelectorAll("select")) {
  const kept = forEver.get(`play.${select.name}`);
  if (kept && [...select.options].some((option) => option.value === kept)) select.value = kept;
  select.addEventListener("change", () => forEver.set(`play.${select.name}`, select.value));
}
game.addEventListener("change", lead);
lead();

// A page that the browser has kept would ask for the same table once more, which may be over.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
