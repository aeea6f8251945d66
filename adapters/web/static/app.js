// @ts-check
// Removes the app's signed data from the address at once and posts it.
import { start } from "./telegram.js";

const params = new URLSearchParams(location.hash.slice(1));
history.replaceState(null, "", location.pathname + location.search);

const data = params.get("tgWebAppData");
if (data) {
  /** @type {HTMLElement} */ (document.getElementById("empty")).hidden = true;
  start(params);
  const form = /** @type {HTMLFormElement} */ (document.getElementById("enter"));
  /** @type {HTMLInputElement} */ (form.elements.namedItem("data")).value = data;
  // Outside the app, a stranger might have sent the link to make the reader play as them, so ask before signing in.
  if ("TelegramWebviewProxy" in window || parent !== window) form.submit();
  else form.hidden = false;
}
