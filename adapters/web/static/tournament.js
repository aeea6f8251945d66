// @ts-check
// The page of a tournament: it follows the matches and standings without a reload.
import { pageData } from "./view.js";

const POLL_MILLISECONDS = 5000;
const { texts } = pageData();
let isGone = false;
const away = /** @type {HTMLElement} */ (document.getElementById("away"));

/** @param {Document} page */
const live = (page) => /** @type {HTMLElement} */ (page.getElementById("live"));

async function update() {
  const answer = await fetch(location.pathname.replace("/tournament/", "/tournament/live/"), { headers: { Accept: "text/html" } }).catch(() => null);
  // After a reload the page names the fault. More requests would use up the address's limit of wrong ids.
  if (answer?.status === 404) { isGone = true; location.reload(); return; }
  away.hidden = answer?.ok === true;
  if (!answer?.ok) { away.textContent = texts.away; return; }
  const next = live(new DOMParser().parseFromString(await answer.text(), "text/html")), shown = live(document);
  // The forms change with the phase.
  if (next.dataset.phase !== shown.dataset.phase) { location.reload(); return; }
  if (next.innerHTML === shown.innerHTML) return;
  const focused = shown.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : null;
  shown.replaceChildren(...next.childNodes);
  if (focused) /** @type {HTMLElement | null} */ (shown.querySelector(`a[href="${CSS.escape(focused)}"]`))?.focus();
}

async function follow() {
  if (document.visibilityState === "visible") await update();
  if (!isGone && ["open", "playing"].includes(live(document).dataset.phase || "")) setTimeout(follow, POLL_MILLISECONDS);
}
setTimeout(follow, POLL_MILLISECONDS);
