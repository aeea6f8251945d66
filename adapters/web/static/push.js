// @ts-check
// The notifications that this browser wants. Only a choice here asks the browser for its permission.
import { register } from "./offline.js";
import { pageData } from "./view.js";

const { key, texts } = pageData();
const form = /** @type {HTMLFormElement} */ (document.getElementById("push"));
const status = /** @type {HTMLElement} */ (form.querySelector("[role=status]"));
const boxes = /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("[name=kind]")]);
const hour = /** @type {HTMLSelectElement} */ (form.querySelector("[name=hour]"));

/** The bot's key. A subscription belongs to one key. */
const keyBytes = Uint8Array.from(atob(key.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));

/** Return whether a subscription has the bot's key, which differs for each store. @param {PushSubscription} subscription */
const isOurs = (subscription) => String(new Uint8Array(subscription.options.applicationServerKey || new ArrayBuffer(0))) === String(keyBytes);

/** Tell the bot which kinds of notifications this browser wants; without `kinds`, ask. Return the stored kinds.
 * @param {PushSubscription} subscription @param {string[]} [kinds] @returns {Promise<string[]>} */
async function post(subscription, kinds) {
  const { endpoint, keys } = subscription.toJSON();
  const choice = kinds ? { kinds, hour: kinds.includes("daily") ? Number(hour.value) : null } : {};
  const answer = await fetch("/push", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ endpoint, keys, ...choice }) });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return (await answer.json()).kinds;
}

/** @param {string[]} kinds */
function show(kinds) {
  for (const box of boxes) box.checked = kinds.includes(box.value);
  /** @type {HTMLElement} */ (hour.parentElement).hidden = !kinds.includes("daily");
  status.textContent = kinds.length ? texts.on : texts.off;
}

/** @param {PushManager} manager */
async function choose(manager) {
  const kinds = boxes.filter((box) => box.checked).map((box) => box.value);
  let subscription = await manager.getSubscription();
  if (!kinds.length) {
    if (subscription) { await post(subscription, []); await subscription.unsubscribe(); }
    show([]);
    return;
  }
  if (await Notification.requestPermission() !== "granted") {
    show([]);
    status.textContent = texts.blocked;
    return;
  }
  if (subscription && !isOurs(subscription)) { await subscription.unsubscribe(); subscription = null; }
  subscription ||= await manager.subscribe({ userVisibleOnly: true, applicationServerKey: keyBytes });
  show(await post(subscription, kinds));
}

const registration = "Notification" in window ? await register() : null;
// A frame, an old browser or a phone on which the site is not installed yet cannot notify.
if (registration?.pushManager) {
  const subscription = await registration.pushManager.getSubscription();
  show(subscription && isOurs(subscription) ? await post(subscription) : []);
  form.hidden = false;
  form.addEventListener("change", () => choose(registration.pushManager).catch((error) => {
    // The browser's push service or the network failed.
    console.warn("not subscribed", error);
    show([]);
    status.textContent = texts.failed;
  }));
}
