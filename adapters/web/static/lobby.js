// @ts-check
// The challenges, opponents and open tables on the first page, which change while it is open.

const POLL_MILLISECONDS = 4000;  // pause between two requests
const lobby = /** @type {HTMLElement} */ (document.getElementById("lobby"));
const challenged = /** @type {HTMLElement} */ (document.getElementById("challenged"));

/** Show the answer. The keyboard's focus stays on the same link or button. @param {string} answer */
function show(answer) {
  if (lobby.dataset.shown === answer) return;
  const focused = [lobby, challenged].some((part) => part.contains(document.activeElement)) && document.activeElement?.id;
  lobby.innerHTML = lobby.dataset.shown = answer;
  // People who wait for the reader come first on the page.
  challenged.replaceChildren(...lobby.querySelectorAll("#challenges"));
  if (focused) document.getElementById(focused)?.focus();
}

async function ask() {
  if (document.visibilityState === "hidden") return;
  // Without a network, the next request tries again.
  const answer = await fetch("/lobby").catch(() => null);
  if (answer?.ok) show(await answer.text());
}

ask();
setInterval(ask, POLL_MILLISECONDS);
document.addEventListener("visibilitychange", ask);
