// @ts-check
// Telegram's colours, window and haptics for our pages as a Mini App; elsewhere this does nothing.
// Events: core.telegram.org/api/web-events. Telegram's own script is not needed.
import { tabStorage } from "./storage.js";

const KEY = "telegram", FRAME = "https://web.telegram.org";
const DARKEST_LIGHT = 128;  // brightness, of 255, from which a colour counts as light

/** Send an event to the app. @param {string} type @param {object} [data] */
function sendEvent(type, data = {}) {
  if (!isInside) return;
  const proxy = /** @type {any} */ (window).TelegramWebviewProxy;
  if (proxy) proxy.postEvent(type, JSON.stringify(data));
  else if (parent !== window) parent.postMessage(JSON.stringify({ eventType: type, eventData: data }), FRAME);
}

/** Use the app's dark or light mode. @param {any} theme its colours, as "#rrggbb" */
function applyTheme(theme) {
  const found = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(theme?.bg_color);
  if (!found) return;
  const [red, green, blue] = found.slice(1).map((hex) => parseInt(hex, 16));
  const isDark = 0.299 * red + 0.587 * green + 0.114 * blue < DARKEST_LIGHT;
  tabStorage.set(KEY, JSON.stringify({ bg_color: theme.bg_color }));
  document.documentElement.style.colorScheme = isDark ? "dark" : "light";
  /** @type {HTMLLinkElement} */ (document.getElementById("dark")).media = isDark ? "all" : "not all";
}

/** Handle an event from the app. @param {string} type @param {any} data */
const handleEvent = (type, data) => { if (type === "theme_changed") applyTheme(data?.theme_params); };

function setUpWindow() {
  sendEvent("web_app_ready");
  sendEvent("web_app_expand");
  // Dragging a card down must not close the page.
  sendEvent("web_app_setup_swipe_behavior", { allow_vertical_swipe: false });
}

// In a frame without storage, only the first page knows that it is inside Telegram.
const kept = tabStorage.get(KEY);
let isInside = kept !== null;
/** @type {any} */ (window).Telegram = { WebView: { receiveEvent: handleEvent } };
addEventListener("message", (event) => {
  if (event.origin !== FRAME || event.source !== parent || typeof event.data !== "string") return;
  const { eventType, eventData } = JSON.parse(event.data);
  handleEvent(eventType, eventData);
});
if (kept !== null) {
  applyTheme(JSON.parse(kept));
  setUpWindow();
}

export const telegram = {
  /** Set up a page that the app has opened. @param {string} theme its colours, as JSON */
  start(theme) {
    isInside = true;
    tabStorage.set(KEY, "{}");
    applyTheme(JSON.parse(theme));
    setUpWindow();
  },
  card: () => sendEvent("web_app_trigger_haptic_feedback", { type: "impact", impact_style: "light" }),
  turn: () => sendEvent("web_app_trigger_haptic_feedback", { type: "impact", impact_style: "medium" }),
  refused: () => sendEvent("web_app_trigger_haptic_feedback", { type: "notification", notification_type: "error" }),
};
