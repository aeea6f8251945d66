// @ts-check

// A button that sends a text to friends, or copies it. Both need https, and few desktop browsers can share.
const button = /** @type {HTMLButtonElement | null} */ (document.getElementById("share"));
const clipboard = /** @type {Clipboard | undefined} */ (navigator.clipboard), canShare = "share" in navigator;
if (button && (canShare || clipboard)) {
  const { text = "", copied = "" } = button.dataset;
  button.hidden = false;
  button.addEventListener("click", async () => {
    if (!canShare) {
      await clipboard?.writeText(text);
      button.textContent = copied;
      return;
    }
    // An AbortError means that the player cancelled.
    await navigator.share({ text }).catch((error) => { if (error.name !== "AbortError") throw error; });
  });
}
