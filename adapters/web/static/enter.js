// @ts-check
// Removes a link's key from the address at once, so that the screen and the history do not show it.
const params = new URLSearchParams(location.hash.slice(1));
history.replaceState(null, "", location.pathname + location.search);

const form = /** @type {HTMLFormElement} */ (document.getElementById("enter"));
const key = params.get("key");
if (key) {
  /** @type {HTMLInputElement} */ (form.elements.namedItem("key")).value = key;
  form.hidden = false;
  /** @type {HTMLElement} */ (document.getElementById("empty")).hidden = true;
}
