// @ts-check
// The cuts that this browser has made, by the pack's seal. The check of a shuffle compares them with the record.
import { permanentStorage } from "./storage.js";

const KEY = "cuts", KEPT = 200, RANDOM_BYTES = 16;

/** @returns {[seal: string, text: string][]} */
const cuts = () => JSON.parse(permanentStorage.get(KEY) || "[]");

/** Return the text of a new cut, in hex: the place of the cut and random bytes, so that nobody can guess it.
 * @param {number} position from 0 to 1 @returns {string} */
export function newCut(position) {
  const bytes = [Math.round(255 * Math.min(Math.max(position, 0), 1)), ...crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))];
  return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {string} seal @param {string} text */
export const rememberCut = (seal, text) => permanentStorage.set(KEY, JSON.stringify([...cuts(), [seal, text]].slice(-KEPT)));

/** Return the cut that this browser made of the pack with this seal. @param {string} seal @returns {string | undefined} */
export const ownCut = (seal) => cuts().find(([knownSeal]) => knownSeal === seal)?.[1];
