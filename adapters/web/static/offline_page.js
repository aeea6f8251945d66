// @ts-check
// The page shown while there is no network: which tables and puzzles are kept in this browser.
import { keptPresses, keptTables } from "./offline_storage.js";
import { html, pageData, render } from "./view.js";

const { texts } = pageData();

const pages = "caches" in window ? await (await caches.open("pages")).keys() : [];
const paths = pages.map(({ url }) => new URL(url)).map(({ pathname, search }) => pathname + search);
const puzzles = paths.filter((path) => path.startsWith("/puzzle"));
const tables = (await keptTables()).filter(({ code }) => paths.includes(`/t/${code}`));
const presses = await keptPresses();
/** @param {string} code */
const note = (code) => (presses.some((press) => press.code === code) ? html` <small>${texts.waiting}</small>` : "");

render(html`
  ${tables.length > 0 && html`<h2>${texts.tables}</h2>
    <ul class="tables">${tables.map(({ code, table }) => html`<li><a class="button" href=${`/t/${code}`}>${table.game}</a> <code>${code}</code>${note(code)}</li>`)}</ul>`}
  ${puzzles.length > 0 && html`<h2>${texts.puzzles}</h2>
    <p class="ways">${puzzles.map((path, index) => html`<a class="button" href=${path}>${texts.puzzle} ${index + 1}</a> `)}</p>`}`,
/** @type {HTMLElement} */ (document.getElementById("kept")));

let isLeaving = false;
addEventListener("beforeunload", () => { isLeaving = true; });
// With a network, the page that the reader asked for can load. A reload would cancel
// a navigation to another page that has begun.
addEventListener("online", () => { if (!isLeaving) location.reload(); });
