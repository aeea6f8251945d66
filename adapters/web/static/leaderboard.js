// @ts-check
// What is chosen is shown at once; the button is for who has no scripts.
const form = /** @type {HTMLFormElement} */ (document.getElementById("choice"));
for (const button of form.querySelectorAll("button")) button.hidden = true;
form.addEventListener("change", () => form.requestSubmit());
