// @ts-check
// Our pages inside Telegram: its colours, its window and its haptics. Without Telegram nothing here does anything.
// core.telegram.org/api/web-events says what page and app tell one another; no script of Telegram's is needed for that.
import { forThisTab } from "./storage.js";

const KEY = "telegram", FRAME = "https://web.telegram.org";
const DARKEST_LIGHT = 128;

/** Tell the app something. @param {string} type @param {object} [data] */
function tell(type, data = {}) {
  if (!isInside) return;
  const proxy = /** @type {any} */ (window).TelegramWebviewProxy;
  if (proxy) proxy.postEvent(type, JSON.stringify(data));
  else if (parent !== window) parent.postMessage(JSON.stringify({ eventType: type, eventData: data }), FRAME);
}

/** Be as dark as the app. @param {any} theme its colours, as "#rrggbb" */
function wear(theme) {
  const found = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(theme?.bg_color);
  if (!found) return;
  const [red, green, blue] = found.slice(1).map((hex) => parseInt(hex, 16));
  const isDark = 0.299 * red + 0.587 * green + 0.114 * blue < DARKEST_LIGHT;
  forThisTab.set(KEY, JSON.stringify({ bg_color: theme.bg_color }));
  document.documentElement.style.colorScheme = isDark ? "dark" : "light";
  /** @type {HTMLLinkElement} */ (document.getElementById("dark")).media = isDark ? "all" : "not all";
}

/** What the app tells. @param {string} type @param {any} data */
function heard(type, data) {
  if (type === "theme_changed") wear(data?.theme_params);
}

function open() {
  tell("web_app_ready");
  tell("web_app_expand");
  // A card that is drawn down onto nothing must not close the page.
  tell("web_app_setup_swipe_behavior", { allow_vertical_swipe: false });
}

// Where a frame may keep nothing, only the page that the app has opened knows that it is one of Telegram's.
const kept = forThisTab.get(KEY);
let isInside = kept !== null;
/** @type {any} */ (window).Telegram = { WebView: { receiveEvent: heard } };
addEventListener("message", (event) => {
  if (event.origin !== FRAME || event.source !== parent || typeof event.data !== "string") return;
  const word = JSON.parse(event.data);
  heard(word.eventType, word.eventData);
});
if (kept !== null) {
  wear(JSON.parse(kept));
  open();
}

export const telegram = {
  /** The app has opened this page. @param {string} theme its colours, as JSON */
  begin(theme) {
    isInside = true;
    forThisTab.set(KEY, "{}");
    wear(JSON.parse(theme));
    open();
  },
  card: () => tell("web_app_trigger_haptic_feedback", { type: "impact", impact_style: "light" }),
  turn: () => tell("web_app_trigger_haptic_feedback", { type: "impact", impact_style: "medium" }),
  refused: () => tell("web_app_trigger_haptic_feedback", { type: "notification", notification_type: "error" }),
};
