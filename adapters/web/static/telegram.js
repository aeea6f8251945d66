// @ts-check
// The bridge to Telegram's app around our pages. Pages outside Telegram do not load it.
// Events: core.telegram.org/api/web-events and core.telegram.org/api/bots/webapps. Telegram's own script is not needed.
import { tabStorage } from "./storage.js";

const KEY = "telegram", NAME = "telegram ", FRAME = "https://web.telegram.org";
const DARKEST_LIGHT = 128;  // brightness, of 255, from which a colour counts as light
const SIDES = ["top", "right", "bottom", "left"];

/** The version of the app in which each event came. Older apps do not get it. @type {Record<string, [number, number]>} */
const SINCE = {
  web_app_setup_back_button: [6, 1],
  web_app_trigger_haptic_feedback: [6, 1],
  web_app_setup_closing_behavior: [6, 2],
  web_app_setup_swipe_behavior: [7, 7],
  web_app_request_fullscreen: [8, 0],
  web_app_request_safe_area: [8, 0],
  web_app_request_content_safe_area: [8, 0],
  web_app_check_home_screen: [8, 0],
  web_app_add_to_home_screen: [8, 0],
  web_app_send_prepared_message: [8, 0],
};

/** Return what an earlier page kept. A frame's storage can be blocked; its name is kept, too. */
const restore = () => JSON.parse(tabStorage.get(KEY) || (window.name.startsWith(NAME) ? window.name.slice(NAME.length) : "{}"));

/** What the app said, kept for the tab's next page. `edges` are the device's, and `controls` those of the app's buttons
 * inside them.
 * @type {{version: string, platform: string, theme: any, edges: any, controls: any, isFullscreen: boolean}} */
const known = { version: "", platform: "", theme: {}, edges: {}, controls: {}, isFullscreen: false, ...restore() };

function keep() {
  const text = JSON.stringify(known);
  tabStorage.set(KEY, text);
  if (tabStorage.get(KEY) !== text) window.name = NAME + text;
}

/** Return whether the app knows an event. @param {string} type */
export function knows(type) {
  const [major = 0, minor = 0] = known.version.split(".").map(Number), [wanted, wantedMinor] = SINCE[type] || [0, 0];
  return major > wanted || (major === wanted && minor >= wantedMinor);
}

/** Send an event to the app. @param {string} type @param {object} [data] */
export function send(type, data = {}) {
  if (!knows(type)) return;
  const proxy = /** @type {any} */ (window).TelegramWebviewProxy;
  if (proxy) proxy.postEvent(type, JSON.stringify(data));
  else if (parent !== window) parent.postMessage(JSON.stringify({ eventType: type, eventData: data }), FRAME);
}

export const isPhone = () => /^(android|ios)$/.test(known.platform);

/** Use the app's dark or light mode. */
function applyTheme() {
  const found = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(known.theme?.bg_color);
  if (!found) return;
  const [red, green, blue] = found.slice(1).map((hex) => parseInt(hex, 16));
  const isDark = 0.299 * red + 0.587 * green + 0.114 * blue < DARKEST_LIGHT;
  document.documentElement.style.colorScheme = isDark ? "dark" : "light";
  const dark = /** @type {HTMLLinkElement | null} */ (document.getElementById("dark"));
  if (dark) dark.media = isDark ? "all" : "not all";
}

/** Give the styles (telegram.css) the edges that are covered: by the device, and next to that by the app's buttons. */
function applyEdges() {
  for (const side of SIDES) {
    const covered = (known.edges?.[side] || 0) + (known.controls?.[side] || 0);
    document.documentElement.style.setProperty(`--safe-${side}`, `${covered}px`);
  }
}

/** Handlers of events from the app. @type {Record<string, (data: any) => void>} */
const handlers = {
  theme_changed: (data) => { known.theme = { bg_color: data?.theme_params?.bg_color }; applyTheme(); },
  safe_area_changed: (data) => { known.edges = data; applyEdges(); },
  content_safe_area_changed: (data) => { known.controls = data; applyEdges(); },
  fullscreen_changed: (data) => { known.isFullscreen = Boolean(data?.is_fullscreen); },
};

/** Call a handler at each event of a type. @param {string} type @param {(data: any) => void} handler */
export const listen = (type, handler) => { handlers[type] = handler; };

/** Handle an event from the app. @param {string} type @param {any} data */
function receiveEvent(type, data) {
  handlers[type]?.(data);
  keep();
}

// Android calls the first, the apps for iOS and desktops the second.
Object.assign(window, { Telegram: { WebView: { receiveEvent } }, TelegramGameProxy: { receiveEvent } });
addEventListener("message", (event) => {
  if (event.origin !== FRAME || event.source !== parent || typeof event.data !== "string") return;
  const { eventType, eventData } = JSON.parse(event.data);
  receiveEvent(eventType, eventData);
});

/** Set up the window for a page. */
export function setUp() {
  applyTheme();
  applyEdges();
  send("web_app_ready");
  send("web_app_expand");
  // Dragging a card down must not close the page.
  send("web_app_setup_swipe_behavior", { allow_vertical_swipe: false });
  send("web_app_request_theme");
  send("web_app_request_safe_area");
  send("web_app_request_content_safe_area");
}

/** Fill a phone's screen, once after each launch. */
export function fillScreen() {
  if (!isPhone() || known.isFullscreen || !knows("web_app_request_fullscreen")) return;
  // If the app refuses, asking again on the next page would not help.
  known.isFullscreen = true;
  keep();
  send("web_app_request_fullscreen");
}

/** Set up the launch page. @param {URLSearchParams} params the launch parameters
 * (docs.telegram-mini-apps.com/platform/launch-parameters) */
export function start(params) {
  known.version = params.get("tgWebAppVersion") || "";
  known.platform = params.get("tgWebAppPlatform") || "";
  known.theme = { bg_color: JSON.parse(params.get("tgWebAppThemeParams") || "{}").bg_color };
  known.edges = known.controls = {};
  known.isFullscreen = Boolean(params.get("tgWebAppFullscreen"));
  keep();
  setUp();
}
