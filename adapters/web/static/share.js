// @ts-check
// Sending a result to friends, or copying it. Both need https, and few desktop browsers can share.

const clipboard = /** @type {Clipboard | undefined} */ (navigator.clipboard), canShare = "share" in navigator;

/** Share data; a cancelled dialog is no error. @param {ShareData} data */
const send = (data) => navigator.share(data).catch((error) => { if (error.name !== "AbortError") throw error; });

/** Send a result by the app around the page, such as Telegram (telegram_app.js); return whether that is done.
 * @param {string} text */
const shareInApp = async (text) => Boolean(await /** @type {any} */ (window).shareInApp?.(text));

/** Share a result, by the app around the page, with its picture if the browser can, otherwise copy it. Return whether it was copied.
 * @param {string} text @param {string} picture address */
export async function shareResult(text, picture) {
  if (await shareInApp(text)) return false;
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
if (button && (canShare || clipboard || "shareInApp" in window)) {
  const { text = "", copied = "" } = button.dataset;
  button.hidden = false;
  button.addEventListener("click", async () => {
    if (await shareInApp(text)) return;
    if (canShare) await send({ text });
    else await clipboard?.writeText(text).then(() => { button.textContent = copied; });
  });
}
