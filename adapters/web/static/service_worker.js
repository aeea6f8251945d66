// @ts-check
// The service worker: pages without a network, and presses that are sent once there is one again.
import { openTable } from "./connection.js";
import { noteTurn } from "./badge.js";
import { dropPress, dropTable, forgetAll, forgetOthers, forgetReader, forgetSeen, keepPress, keptPresses, PAGES } from "./offline_storage.js";

const worker = /** @type {any} */ (self);
const FILES = "files", OFFLINE = "/offline";
const LOADED = /\/(static|cards)\/[0-9a-f]+\/[\w./-]+/g;  // addresses of files in a page
const FIRST_STATE = /<script [^>]*id="first-state">.*?<\/script>/s;
const MAX_PUZZLES = 20;
const ANSWER_MILLISECONDS = 10_000;  // time to send a table's presses
const LONGEST_PAUSE = 60_000;  // milliseconds; a file that needs a longer pause is given up
const FILE = /^\/(static|cards)\//, TABLE = /^\/t\/[A-Z0-9]+$/, SIGN_IN = /^\/(in$|app\/)/, COMMON = /^\/(rules(\/.*)?|how-to-play)$/;

/** Listen to the browser. `files` and `pages` are kept from the start; a new release has other files and `decks`.
 * @param {string[]} files @param {string[]} pages @param {string[]} decks */
export function start(files, pages, decks) {
  worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(install(files, pages)));
  worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(activate([...files, ...decks])));
  worker.addEventListener("fetch", handleFetch);
  worker.addEventListener("sync", (/** @type {any} */ event) => event.waitUntil(sendPresses()));
  worker.addEventListener("push", (/** @type {any} */ event) => event.waitUntil(notify(event.data.json())));
  worker.addEventListener("notificationclick", (/** @type {any} */ event) => { event.notification.close(); event.waitUntil(openPage(event.notification.tag)); });
  worker.addEventListener("message", (/** @type {any} */ event) => event.waitUntil(keepAll(event.data.keep)));
}

/** Fetch everything one by one. If something is missing, the browser installs the worker at a later visit.
 * @param {string[]} files @param {string[]} pages */
async function install(files, pages) {
  const cache = await caches.open(FILES);
  for (const path of files) {
    if (!(await cache.match(path, { ignoreVary: true }))) await cache.put(path, await fetchPatiently(path));
  }
  for (const path of pages) await keepPage(new URL(path, location.href), await fetchPatiently(path));
  await worker.skipWaiting();
}

/** Fetch a file or page; try again later while the bot is too busy. @param {string} path */
async function fetchPatiently(path) {
  for (let pause = 1000; ; pause *= 2) {
    const response = await fetch(path);
    if (response.ok) return response;
    if (![429, 503].includes(response.status) || pause > LONGEST_PAUSE) throw new Error(`${path}: ${response.status}`);
    await new Promise((resolve) => setTimeout(resolve, pause * (1 + Math.random())));
  }
}

/** Delete the files of earlier releases, and replace pages that load them. @param {string[]} files of this release */
async function activate(files) {
  const kept = await caches.open(FILES), pages = await caches.open(PAGES);
  for (const request of await pages.keys()) {
    const text = await (await pages.match(request, { ignoreVary: true }))?.text() || "";
    if ([...text.matchAll(LOADED)].every(([path]) => files.includes(path))) continue;
    await pages.delete(request, { ignoreVary: true });
    // Without a network, the page is kept at its next visit.
    const response = await fetch(request.url).catch(() => null);
    if (!response?.ok) continue;
    await noteReader(response);
    await keepPage(new URL(request.url), response);
  }
  for (const request of await kept.keys()) if (!files.includes(new URL(request.url).pathname)) await kept.delete(request);
  await worker.clients.claim();
}

/** @param {any} event */
function handleFetch(event) {
  const { request } = event, url = new URL(request.url);
  if (url.origin !== location.origin) return;
  if (request.mode === "navigate") event.respondWith(navigate(event, url));
  else if (request.method === "GET" && FILE.test(url.pathname)) event.respondWith(file(url.pathname));
}

/** Return a file, whose address changes with its content. @param {string} path */
async function file(path) {
  const cache = await caches.open(FILES), kept = await cache.match(path, { ignoreVary: true });
  if (kept) return kept;
  const response = await fetch(path);
  if (response.ok) await cache.put(path, response.clone());
  return response;
}

/** Return a page from the network, otherwise from the cache. @param {any} event @param {URL} url */
async function navigate(event, url) {
  const { request } = event;
  let response;
  if (request.method === "POST" && SIGN_IN.test(url.pathname)) await forgetSeen();
  try { response = await fetch(request); } catch (error) {
    // Without a network, fetch throws a TypeError.
    if (!(error instanceof TypeError)) throw error;
    return offlinePage(request, url);
  }
  if (request.method === "POST" && url.pathname === "/out") await forgetAll();
  await noteReader(response);
  if (request.method === "GET") event.waitUntil(Promise.all([keepPage(url, response.clone()), sendPresses()]));
  return response;
}

/** If a page names its reader, forget what other people left, before the page is shown. @param {Response} response */
async function noteReader(response) {
  if (!response.headers.get("Content-Type")?.startsWith("text/html")) return;
  const named = /<html [^>]*data-reader="([^"]*)"/.exec(await response.clone().text());
  if (named) await forgetOthers(named[1]);
}

/** @param {Request} request @param {URL} url */
async function offlinePage(request, url) {
  const cache = await caches.open(PAGES);
  const address = url.pathname === "/puzzle" && !url.search ? (await keptPuzzles(cache)).at(-1) : COMMON.test(url.pathname) ? url.pathname : url.href;
  const page = request.method === "GET" && address ? await cache.match(address, { ignoreVary: true }) : undefined;
  return page || (await cache.match(OFFLINE, { ignoreVary: true })) || Response.error();
}

/** Keep a page that is useful without a network. A table's last state is kept apart, so its first one is left out. @param {URL} url @param {Response} response */
async function keepPage(url, response) {
  const path = url.pathname;
  // Rules opened at a table lead back to that table.
  if (!response.ok || !(path === OFFLINE || path === "/puzzle" || COMMON.test(path) && !url.search || TABLE.test(path))) return;
  const text = await response.clone().text();
  let address = path;
  if (path === "/puzzle") {
    const id = /name="id" value="([^"]+)"/.exec(text);
    if (!id) return;
    address = `/puzzle?id=${encodeURIComponent(id[1])}`;
  } else if (TABLE.test(path) && !text.includes("/table.bundle.js")) return;  // an invitation
  const cache = await caches.open(PAGES);
  await cache.delete(address, { ignoreVary: true });
  await cache.put(address, TABLE.test(path) ? new Response(text.replace(FIRST_STATE, ""), response) : response);
  for (const old of (await keptPuzzles(cache)).slice(0, -MAX_PUZZLES)) await cache.delete(old, { ignoreVary: true });
  for (const [deck] of text.matchAll(/\/cards\/[0-9a-f]+\/[a-z-]+\.svg(?=#)/g)) await file(deck);
}

/** Return the addresses of kept puzzles, the latest last. @param {Cache} cache */
const keptPuzzles = async (cache) => (await cache.keys()).map(({ url }) => url).filter((url) => new URL(url).pathname === "/puzzle");

/** Keep a page and the files that it loaded before this worker was active. @param {string[]} paths */
async function keepAll(paths) {
  for (const path of paths) {
    if (FILE.test(path)) await file(path);
    else {
      const response = await fetch(path);
      await noteReader(response);
      await keepPage(new URL(path, location.href), response);
    }
  }
}

/** Send all kept presses, table by table. The bot counts a press once, even if a page sends it too. */
async function sendPresses() {
  const presses = (await keptPresses()).filter((press) => !press.refused);
  for (const code of new Set(presses.map((press) => press.code))) {
    const waiting = presses.filter((press) => press.code === code);
    await sendTo(code, waiting[0].reader, waiting.filter((press) => press.reader === waiting[0].reader));
  }
}

/** Send a table's presses in order. Presses without an answer are kept.
 * @param {string} code @param {string} reader @param {import("./offline_storage.js").KeptPress[]} presses @returns {Promise<void>} */
function sendTo(code, reader, presses) {
  const waiting = [...presses];
  const socket = openTable(code, reader);
  const timer = setTimeout(() => socket.close(), ANSWER_MILLISECONDS);
  const send = () => { if (waiting.length) socket.send(JSON.stringify({ n: waiting[0].n, press: waiting[0].press })); else socket.close(); };
  /** @param {any} message */
  const receive = async (message) => {
    if (message.stranger) {
      waiting.length = 0;
      await forgetReader(reader);
      socket.close();
    } else if (message.gone) {
      // The table is over or the person has left, so no press can count any more.
      for (const { n } of waiting.splice(0)) await dropPress(n);
      await dropTable(code);
      socket.close();
    } else if (message.again) {
      // The bot is busy or its store is away: the next page tries again.
      socket.close();
    } else if (message.n === waiting[0]?.n) {
      const press = /** @type {import("./offline_storage.js").KeptPress} */ (waiting.shift());
      // A refused press stays for the page, which sends it again and shows why.
      if (message.refused) await keepPress({ ...press, refused: true });
      else await dropPress(press.n);
      send();
    }
  };
  return new Promise((resolve) => {
    socket.onopen = send;
    socket.onmessage = (event) => receive(JSON.parse(event.data));
    socket.onclose = () => { clearTimeout(timer); resolve(); };
  });
}

/** Show the bot's message as a notification, and close it at once if its page is in view. Browsers can end a subscription
 * whose messages show no notification. A repeated message replaces the first.
 * @param {{kind: string, text: string, path: string}} message */
async function notify({ kind, text, path }) {
  const pages = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const isSeen = pages.some((/** @type {any} */ page) => page.visibilityState === "visible" && new URL(page.url).pathname === path);
  if (kind === "turn" && !isSeen) await noteTurn(path.slice(path.lastIndexOf("/") + 1));
  await worker.registration.showNotification("Buongioco", { body: text, tag: path, icon: "/icon/192.png", silent: isSeen });
  if (!isSeen) return;
  for (const shown of await worker.registration.getNotifications({ tag: path })) shown.close();
}

/** Open the page of a notification, in its window if it has one. @param {string} path */
async function openPage(path) {
  const pages = await worker.clients.matchAll({ type: "window" });
  const page = pages.find((/** @type {any} */ one) => new URL(one.url).pathname === path);
  await (page ? page.focus() : worker.clients.openWindow(path));
}
