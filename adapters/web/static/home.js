// @ts-check
import { permanentStorage } from "./storage.js";

// Old links to the playground's chat lead here, with a key or code behind a # or a question mark.
const hash = new URLSearchParams(location.hash.slice(1)), query = new URLSearchParams(location.search);
if (hash.has("key") || hash.has("join") || query.has("key")) location.replace(`/chat${location.search}${location.hash}`);

// The last choices are restored.
const form = /** @type {HTMLFormElement} */ (document.getElementById("play"));
const choices = ["game", "robot"];
for (const name of choices) {
  const keptValue = CSS.escape(permanentStorage.get(`play.${name}`) || "-");
  const choice = form.querySelector(`[name=${name}][value=${keptValue}], [name=${name}] [value=${keptValue}]`);
  if (choice instanceof HTMLInputElement) choice.checked = true;
  if (choice instanceof HTMLOptionElement) choice.selected = true;
}

// The link to the rules and the points to win follow the chosen game.
const rules = /** @type {HTMLAnchorElement} */ (document.getElementById("rules"));
const points = /** @type {HTMLSelectElement} */ (form.elements.namedItem("target"));
/** @type {Record<string, [number, string][]>} */
const targets = JSON.parse(document.getElementById("page-data")?.textContent || "{}").targets;
const followGame = () => {
  const game = String(new FormData(form).get("game"));
  rules.href = `/rules/${game}`;
  points.replaceChildren(...targets[game].map(([target, label]) => new Option(label, String(target))));
};
form.addEventListener("change", ({ target }) => {
  const { name, value } = /** @type {HTMLInputElement} */ (target);
  if (choices.includes(name)) permanentStorage.set(`play.${name}`, value);
  if (name === "game") followGame();
});
// Keep a preset that the player accepts, too, because after a finished game the page presets another robot.
form.addEventListener("submit", () => {
  const data = new FormData(form);
  for (const name of choices) permanentStorage.set(`play.${name}`, String(data.get(name)));
});
followGame();

// The lobby is not needed at once.
setTimeout(() => import("./lobby.js"), 1000);

// On a page restored from the browser's cache, the form would lead to its earlier table again.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

// The badge of the installed site. Other pages count only the tables that this browser knows.
const turns = document.querySelectorAll(".tables b").length;
if ("setAppBadge" in navigator) (turns ? /** @type {any} */ (navigator).setAppBadge(turns) : /** @type {any} */ (navigator).clearAppBadge()).catch(ignoreRefusal);

/** A window that the browser does not trust has no badge. @param {DOMException} error */
function ignoreRefusal(error) { if (!(error instanceof DOMException)) throw error; }
