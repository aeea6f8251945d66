// @ts-check
// Playing without a network: the page of a table keeps its last state and its unanswered presses, and registers the
// service worker. All of it is loaded after the first card.
import { updateBadge } from "./badge.js";
import { dropPress, dropTable, forgetOthers, keepPress, keepTable, keptPresses, keptTable } from "./offline_storage.js";

const VERSIONED = /^1m|^1t[A-Z0-9]+:\d+:cut/;  // moves and cuts: the bot refuses them after the table has changed
const SYNC = "presses";  // name of the browser's event after it finds the network again

/** Register the service worker. Return null in a frame, without https, and in browsers that do not allow it.
 * @returns {Promise<ServiceWorkerRegistration | null>} */
export async function register() {
  const workers = /** @type {ServiceWorkerContainer | undefined} */ (navigator.serviceWorker);
  if (!workers || window.top !== window) return null;
  try {
    await workers.register("/sw.js", { type: "module" });
  } catch (error) {
    // Browsers before 2026 have workers without modules, and private windows can forbid workers.
    console.warn("no service worker", error);
    return null;
  }
  return workers.ready;
}

/** Keep a table's page for later visits without a network. */
async function keepPage() {
  const registration = await register();
  const decks = performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname).filter((path) => path.startsWith("/cards/"));
  registration?.active?.postMessage({ keep: [location.pathname, ...decks] });
}

/** Ask the browser to send the presses once it has a network, even if this page is closed. Only Chromium can do this. */
async function sendLater() {
  const registration = /** @type {any} */ (await navigator.serviceWorker?.getRegistration());
  await registration?.sync?.register(SYNC);
}

/** Keep what a table's page shows and sends, and send what an earlier page could not send.
 * @param {string} code @param {string} reader @param {import("./connection.js").Connection} connection
 * @param {{latest: {current: any}, receiveTable: (table: any) => void, sendPress: (press: string, card: any, n: string) => void}} page */
export async function keepOffline(code, reader, connection, { latest, receiveTable, sendPress }) {
  await forgetOthers(reader);
  const saved = await keptTable(code);
  const presses = (await keptPresses()).filter((press) => press.code === code);
  keepPage();
  connection.keepWith({
    keep: async (n, message) => {
      // Other presses could have an unwanted effect later, at a table that has changed.
      if (!VERSIONED.test(String(message.press))) return;
      await keepPress({ n, code, reader, press: String(message.press), at: Date.now() });
      if (!navigator.onLine) await sendLater();
    },
    drop: dropPress,
  });
  const forget = async () => { await dropTable(code); await updateBadge(); };
  /** @param {any} table */
  const save = async (table) => {
    if (/^(over|closed)$/.test(table.phase)) { await forget(); return; }
    await keepTable({ code, reader, table: { ...table, clock_left: undefined } });
    await updateBadge();
  };
  if (latest.current) save(latest.current);
  else if (saved) receiveTable(saved.table);
  const { hand = [], packets = [] } = latest.current || {};
  for (const { n, press } of presses) sendPress(press, [...hand, ...packets].find((card) => card.press === press), n);
  return { save, forget };
}
