// @ts-check
// Sending a result to friends, or copying it. Both need https, and few desktop browsers can share.

const clipboard = /** @type {Clipboard | undefined} */ (navigator.clipboard), canShare = "share" in navigator;

/** Share data; a cancelled dialog is no error. @param {ShareData} data */
const send = (data) => navigator.share(data).catch((error) => { if (error.name !== "AbortError") throw error; });

/** Share a result with its picture if the browser can, otherwise copy it. Return whether it was copied.
 * @param {string} text @param {string} picture address */
export async function shareResult(text, picture) {
  if (canShare) {
    const answer = await fetch(picture);
    const files = answer.ok ? [new File([await answer.blob()], "buongioco.png", { type: "image/png" })] : [];
    await send(files.length && navigator.canShare?.({ files }) ? { text, files } : { text });
    return false;
  }
  if (clipboard) await clipboard.writeText(text);
  else prompt("", text);
  return true;
}

// The button of a page without its own script.
const button = /** @type {HTMLButtonElement | null} */ (document.getElementById("share"));
if (button && (canShare || clipboard)) {
  const { text = "", copied = "" } = button.dataset;
  button.hidden = false;
  button.addEventListener("click", async () => {
    if (canShare) await send({ text });
    else await clipboard?.writeText(text).then(() => { button.textContent = copied; });
  });
}
