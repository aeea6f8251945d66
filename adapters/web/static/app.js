// @ts-check
// What the app says of who opened the page is taken out of the address at once, and sent.
import { telegram } from "./telegram.js";

const said = new URLSearchParams(location.hash.slice(1));
history.replaceState(null, "", location.pathname + location.search);

const data = said.get("tgWebAppData");
if (data) {
  /** @type {HTMLElement} */ (document.getElementById("empty")).hidden = true;
  telegram.begin(said.get("tgWebAppThemeParams") || "{}");
  const form = /** @type {HTMLFormElement} */ (document.getElementById("enter"));
  /** @type {HTMLInputElement} */ (form.elements.namedItem("data")).value = data;
  // Elsewhere than in the app somebody else may have sent the link, to have us play as them: then a press says so.
  if ("TelegramWebviewProxy" in window || parent !== window) form.submit();
  else form.hidden = false;
}
