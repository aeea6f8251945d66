// @ts-check
// The host's announcement above each page, until the host withdraws it or the reader closes it.
import { tabStorage } from "./storage.js";

const POLL_MILLISECONDS = 15_000;  // pause between two requests
const bar = /** @type {HTMLElement} */ (document.getElementById("notice"));
const words = /** @type {HTMLElement} */ (bar.querySelector("p"));

/** @param {string} text */
function show(text) {
  if (words.textContent !== text) words.textContent = text;
  bar.hidden = !text || tabStorage.get("notice.closed") === text;
}

async function ask() {
  if (document.visibilityState === "hidden") return;
  // Without a network, the next request tries again.
  const answer = await fetch(`/notice?language=${document.documentElement.lang}`).catch(() => null);
  if (answer?.ok) show((await answer.json()).text);
}

bar.querySelector("button")?.addEventListener("click", () => {
  tabStorage.set("notice.closed", words.textContent);
  bar.hidden = true;
});
show(words.textContent);
setInterval(ask, POLL_MILLISECONDS);
document.addEventListener("visibilitychange", ask);
