// @ts-check
// What a link holds is taken out of the address at once: nobody who sees the screen or the history has it.
const held = new URLSearchParams(location.hash.slice(1));
history.replaceState(null, "", location.pathname + location.search);

const form = /** @type {HTMLFormElement} */ (document.getElementById("enter"));
const key = held.get("key");
if (key) {
  /** @type {HTMLInputElement} */ (form.elements.namedItem("key")).value = key;
  form.hidden = false;
  /** @type {HTMLElement} */ (document.getElementById("empty")).hidden = true;
}
