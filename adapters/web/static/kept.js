// @ts-check
// What this browser keeps for when the network is away: the last look of each table, and presses without an answer. The
// page and the service worker share it.

/** @typedef {{code: string, table: any}} KeptTable */
/** A press by its name, which makes repeats count once. `refused`: the bot refused it, and the page must say so.
 * @typedef {{n: string, code: string, press: string, at: number, refused?: boolean}} KeptPress */

const NAME = "buongioco", TABLES = "tables", PRESSES = "presses";

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const result = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

/** @returns {Promise<IDBDatabase>} */
function open() {
  const opening = indexedDB.open(NAME, 1);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore(TABLES, { keyPath: "code" });
    opening.result.createObjectStore(PRESSES, { keyPath: "n" });
  };
  return result(opening);
}

/** @type {Promise<IDBDatabase> | null} */
let database = null;

/** Run one operation. A browser that blocks storage keeps nothing: then it returns the fallback.
 * @template T @param {string} name @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest<T>} use @param {T} fallback @returns {Promise<T>} */
async function run(name, mode, use, fallback) {
  try {
    database ||= open();
    return await result(use((await database).transaction(name, mode).objectStore(name)));
  } catch (error) {
    database = null;
    if (error instanceof DOMException) return fallback;
    throw error;
  }
}

/** @param {string} code @returns {Promise<KeptTable | undefined>} */
export const keptTable = (code) => run(TABLES, "readonly", (store) => store.get(code), undefined);
/** @returns {Promise<KeptTable[]>} */
export const keptTables = () => run(TABLES, "readonly", (store) => store.getAll(), []);
/** @param {KeptTable} table */
export const keepTable = (table) => run(TABLES, "readwrite", (store) => store.put(table), "");
/** @param {string} code */
export const dropTable = (code) => run(TABLES, "readwrite", (store) => store.delete(code), undefined);

/** Return all presses, the oldest first. @returns {Promise<KeptPress[]>} */
export const keptPresses = async () => (await run(PRESSES, "readonly", (store) => store.getAll(), [])).sort((one, other) => one.at - other.at);
/** @param {KeptPress} press */
export const keepPress = (press) => run(PRESSES, "readwrite", (store) => store.put(press), "");
/** @param {string} n */
export const dropPress = (n) => run(PRESSES, "readwrite", (store) => store.delete(n), undefined);

/** Forget everything, because the person has left this browser. */
export const forgetAll = () => Promise.all([TABLES, PRESSES].map((name) => run(name, "readwrite", (store) => store.clear(), undefined)));
