// @ts-check
// What the browser keeps for our pages. In a frame it may keep nothing: then nothing is found, and the page goes on.

/** @template T @param {() => T} use @returns {T | null} */
function tried(use) {
  try { return use(); } catch (error) {
    if (error instanceof DOMException) return null;
    throw error;
  }
}

/** @param {() => Storage} storage which may be refused already when it is asked for */
const guarded = (storage) => ({
  /** @param {string} key */
  get: (key) => tried(() => storage().getItem(key)),
  /** @param {string} key @param {string} value */
  set(key, value) { tried(() => storage().setItem(key, value)); },
});

export const forEver = guarded(() => localStorage), forThisTab = guarded(() => sessionStorage);
