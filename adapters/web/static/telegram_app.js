// @ts-check
// Our pages inside Telegram: full screen, back button, haptics, question before closing, home screen and sharing.
import { permanentStorage } from "./storage.js";
import { fillScreen, isPhone, knows, listen, send, setUp } from "./telegram.js";

const OFFERED = "telegram-home-screen";
/** Pages below another page. From all others the way back leads to the first page. */
const BELOW = /^\/(rules|learn|duel)\/./;

setUp();
fillScreen();

send("web_app_setup_back_button", { is_visible: location.pathname !== "/" });
listen("back_button_pressed", () => {
  const dialog = /** @type {HTMLDialogElement | null} */ (document.querySelector("dialog[open]"));
  const arrow = /** @type {HTMLAnchorElement | null} */ (document.querySelector(".bar > a, header > a[href^=\"/t/\"]"));
  if (dialog) dialog.close();
  else location.assign(arrow?.href || `/${BELOW.exec(location.pathname)?.[1] || ""}`);
});

/** @param {object} kind of the vibration */
const vibrate = (kind) => send("web_app_trigger_haptic_feedback", kind);
/** @param {boolean} isAsking */
const askBeforeClosing = (isAsking) => send("web_app_setup_closing_behavior", { need_confirmation: isAsking });
askBeforeClosing(false);

/** What follows each moment of the table (moments.js). @type {Record<string, () => void>} */
const moments = {
  card: () => vibrate({ type: "impact", impact_style: "light" }),
  turn: () => { vibrate({ type: "impact", impact_style: "medium" }); askBeforeClosing(true); },
  rest: () => askBeforeClosing(false),
  refused: () => vibrate({ type: "notification", notification_type: "error" }),
  over: () => { if (isPhone() && !permanentStorage.get(OFFERED)) send("web_app_check_home_screen"); },
};
addEventListener("moment", (event) => moments[/** @type {CustomEvent} */ (event).detail]());

// Offer a shortcut on the home screen once, after a game.
listen("home_screen_checked", (data) => {
  const offer = /** @type {HTMLTemplateElement | null} */ (document.getElementById("home-screen"))?.content.cloneNode(true);
  if (!offer || !/^(missed|unknown)$/.test(data?.status)) return;
  permanentStorage.set(OFFERED, "yes");
  // Without storage the offer would come after each game.
  if (!permanentStorage.get(OFFERED)) return;
  document.body.append(offer);
  for (const button of document.querySelectorAll(".home-screen button")) button.addEventListener("click", () => {
    if (/** @type {HTMLElement} */ (button).dataset.add) send("web_app_add_to_home_screen");
    document.querySelector(".home-screen")?.remove();
  });
});

/** Answers the question whether the open dialog has sent or cancelled the message. @type {(isDone: boolean) => void} */
let finishSharing = () => undefined;
listen("prepared_message_sent", () => finishSharing(true));
listen("prepared_message_failed", (data) => finishSharing(data?.error === "USER_DECLINED"));

/** Let the reader send a result to a chat; return whether they sent or cancelled it (share.js).
 * @param {string} text a result, with its page's link at the end if this page is another. The bot writes it itself. */
async function shareInApp(text) {
  const [, page = location.pathname] = /https?:\/\/[^\s/]+(\/\S*)$/.exec(text) || [];
  const body = new URLSearchParams({ page });
  const answer = await fetch("/app/telegram/share", { method: "POST", body }).catch(() => null);
  if (!answer?.ok) return false;
  const { id } = await answer.json();
  return new Promise((resolve) => { finishSharing = resolve; send("web_app_send_prepared_message", { id }); });
}
if (knows("web_app_send_prepared_message")) Object.assign(window, { shareInApp });
