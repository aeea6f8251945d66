// @ts-check
// A search for an opponent. The pages of one tab follow it: the page of the search, and a table that is played at the same time.
import { fetchJson } from "./api.js";
import { tabStorage } from "./storage.js";

const POLL_MILLISECONDS = 2000;
const KEY = "searching";

/** @typedef {{state: string, text: string, code: string, looking: string}} Search */

/** Ask for the state of the search until it ends, and go to the table of a pairing once its game begins.
 * @param {{show: (search: Search) => void, fail: () => void}} view @returns {() => void} a function that accepts the pairing */
export function followSearch({ show, fail }) {
  tabStorage.set(KEY, "yes");
  let code = "", isSent = false;
  /** Sit down at the pairing's table. A redirect confirms this; after any other answer the next poll tries again. */
  const accept = async () => {
    isSent = true;
    const answer = await fetch(`/t/${code}`, { method: "POST", body: new URLSearchParams(), redirect: "manual" }).catch(() => null);
    isSent = answer?.type === "opaqueredirect";
  };
  /** @param {Search} search */
  const receive = (search) => {
    if (search.state === "playing" || search.state === "none") tabStorage.set(KEY, "no");
    if (search.state === "playing") location.assign(`/t/${search.code}`);
    if (search.state === "waiting") [code, isSent] = ["", false];
    else if (search.code) code = search.code;
    show(search);
    // A visible page accepts the pairing for its reader.
    if (search.state === "asked" && !isSent && document.visibilityState === "visible") accept();
    return search.state !== "none" && search.state !== "playing";
  };
  const poll = async () => {
    const isOngoing = await fetchJson("/find/state").then(receive, () => { fail(); return true; });
    if (isOngoing) setTimeout(poll, POLL_MILLISECONDS);
    else if (code) location.assign(`/t/${code}`);
  };
  poll();
  return accept;
}
