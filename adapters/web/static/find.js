// @ts-check
// The page of a search for an opponent.
import { followSearch } from "./searching.js";
import { pageData } from "./view.js";

const search = /** @type {HTMLElement} */ (document.getElementById("search"));
const looking = /** @type {HTMLElement} */ (document.getElementById("looking"));
const ready = /** @type {HTMLFormElement} */ (document.getElementById("ready"));
const title = document.title, { texts } = pageData();

const accept = followSearch({
  show(found) {
    // The search is over, for example after half an hour.
    if (found.state === "none" && !found.code) location.assign("/");
    if (search.textContent !== found.text) search.textContent = found.text;
    looking.textContent = found.looking;
    ready.hidden = found.state !== "asked";
    document.title = found.state === "asked" ? `● ${texts.found}` : title;
  },
  fail() { search.textContent = texts.away; },
});
ready.addEventListener("submit", (event) => { event.preventDefault(); accept(); });
