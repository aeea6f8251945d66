// @ts-check
// The reader's options for tables in this browser; the menu of a table changes them.
import { permanentStorage } from "./storage.js";

/** @typedef {{pace: "slow" | "normal" | "fast", single: boolean, order: "suit" | "rank" | "hand"}} Values
 * `order` is the order of the hand, and `single` is whether the only legal card is played automatically. */

const KEY = "options";
/** @type {Values} */
export const options = { pace: "normal", single: false, order: "suit", ...JSON.parse(permanentStorage.get(KEY) || "{}") };

/** @param {Partial<Values>} changes */
export function changeOptions(changes) {
  Object.assign(options, changes);
  permanentStorage.set(KEY, JSON.stringify(options));
}
