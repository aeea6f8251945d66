// @ts-check
// The browser's storage. In a frame it can be blocked: then reads return null and writes do nothing.

/** @template T @param {() => T} use @returns {T | null} */
function ignoreBlocked(use) {
  try { return use(); } catch (error) {
    if (error instanceof DOMException) return null;
    throw error;
  }
}

/** @param {() => Storage} storage a getter, because even reading window.localStorage can throw */
const wrap = (storage) => ({
  /** @param {string} key */
  get: (key) => ignoreBlocked(() => storage().getItem(key)),
  /** @param {string} key @param {string} value */
  set(key, value) { ignoreBlocked(() => storage().setItem(key, value)); },
});

export const permanentStorage = wrap(() => localStorage);
export const tabStorage = wrap(() => sessionStorage);
