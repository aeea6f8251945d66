// @ts-check
// What this browser stores for use without a network: the last state of each table, and presses without an answer. The
// page and the service worker share it.

/** What a reader's page shows. `reader` is no secret (`WebPerson.tag`). @typedef {{code: string, reader: string, table: any}} KeptTable */
/** A press by its name, which makes repeats count once. `refused`: the bot refused it, and the page must say so.
 * @typedef {{n: string, code: string, reader: string, press: string, at: number, refused?: boolean}} KeptPress */

const NAME = "buongioco", TABLES = "tables", PRESSES = "presses";
export const PAGES = "pages";
const OWNER = "/reader";  // address under which the reader of the kept pages is stored
const PERSONAL = /^\/(t\/[A-Z0-9]+|puzzle)$/;

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

/** Run one operation. Return the fallback if the browser blocks storage.
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
export async function dropTable(code) {
  await run(TABLES, "readwrite", (store) => store.delete(code), undefined);
  await (await openPages())?.delete(`/t/${code}`, { ignoreVary: true });
}

/** Return all presses, the oldest first. @returns {Promise<KeptPress[]>} */
export const keptPresses = async () => (await run(PRESSES, "readonly", (store) => store.getAll(), [])).sort((one, other) => one.at - other.at);
/** @param {KeptPress} press */
export const keepPress = (press) => run(PRESSES, "readwrite", (store) => store.put(press), "");
/** @param {string} n */
export const dropPress = (n) => run(PRESSES, "readwrite", (store) => store.delete(n), undefined);

/** Forget what other people left in this browser. `reader` is "" for a stranger. @param {string} reader */
export async function forgetOthers(reader) {
  await Promise.all([dropTables((entry) => entry.reader !== reader), dropPresses((entry) => entry.reader !== reader)]);
  const pages = await openPages(), owner = await (await pages?.match(OWNER))?.text();
  if (owner === reader) return;
  if (owner) await forgetPages();
  await pages?.put(OWNER, new Response(reader));
}

/** Delete one reader's tables, presses and pages. @param {string} reader */
export const forgetReader = (reader) => Promise.all([dropTables((entry) => entry.reader === reader), dropPresses((entry) => entry.reader === reader), forgetPages()]);

/** Forget what can be seen of a person who might have left this browser. Their presses stay until a page names another
 * reader, because the bot accepts them only from the person who made them. */
export const forgetSeen = () => Promise.all([dropTables(() => true), forgetPages()]);

/** Delete every reader's tables, presses and pages. */
export const forgetAll = () => Promise.all([forgetSeen(), dropPresses(() => true)]);

/** @param {(table: KeptTable) => boolean} isDropped */
async function dropTables(isDropped) {
  for (const { code } of (await keptTables()).filter(isDropped)) await dropTable(code);
}

/** @param {(press: KeptPress) => boolean} isDropped */
async function dropPresses(isDropped) {
  for (const { n } of (await keptPresses()).filter(isDropped)) await dropPress(n);
}

async function forgetPages() {
  const pages = await openPages();
  for (const request of (await pages?.keys()) || []) {
    if (PERSONAL.test(new URL(request.url).pathname)) await pages?.delete(request, { ignoreVary: true });
  }
}

/** Open the cache of pages. Browsers have caches only with https. */
const openPages = async () => ("caches" in globalThis ? caches.open(PAGES) : undefined);
