// @ts-check
// The page of a search: it asks for the state, takes part in the ready check, and goes to the table.
import { fetchJson } from "./api.js";
import { pageData } from "./view.js";

const POLL = 2000;  // milliseconds
const search = /** @type {HTMLElement} */ (document.getElementById("search"));
const looking = /** @type {HTMLElement} */ (document.getElementById("looking"));
const ready = /** @type {HTMLFormElement} */ (document.getElementById("ready"));
const title = document.title, { texts } = pageData();
let code = search.dataset.code || "", isSent = false;

/** Sit down at the table of the match. */
async function accept() {
  isSent = true;
  await fetch(`/t/${code}`, { method: "POST", body: new URLSearchParams(), redirect: "manual" });
}

/** @param {{state: string, text: string, code: string, looking: string}} found */
function show(found) {
  // The search is over without a table known here, for example after half an hour.
  if (found.state === "none") location.assign(code ? `/t/${code}` : "/");
  if (found.state === "playing") location.assign(`/t/${found.code}`);
  if (found.state === "waiting") [code, isSent] = ["", false];
  else if (found.code) code = found.code;
  if (search.textContent !== found.text) search.textContent = found.text;
  looking.textContent = found.looking;
  ready.hidden = found.state !== "asked";
  document.title = found.state === "asked" ? `● ${texts.found}` : title;
  // A visible page shows that its reader is there.
  if (found.state === "asked" && !isSent && document.visibilityState === "visible") accept();
}

async function poll() {
  await fetchJson("/find/state").then(show, () => { search.textContent = texts.away; });
  setTimeout(poll, POLL);
}

ready.addEventListener("submit", (event) => { event.preventDefault(); accept(); });
poll();
