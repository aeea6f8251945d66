// @ts-check
// The link that invites to a table, with the ways to send it.
import { html, pageData, useState } from "./view.js";

const { code, texts } = pageData();

/** The link is in a field, so it can be selected if the browser allows no copying. */
export const SendLink = () => {
  const [copied, setCopied] = useState(false);
  const address = `${location.origin}/t/${code}`;
  // Both need https, and few desktop browsers can share.
  const clipboard = /** @type {Clipboard | undefined} */ (navigator.clipboard), canShare = "share" in navigator;
  // An AbortError means that the player cancelled.
  const share = () => navigator.share({ url: address }).catch((error) => { if (error.name !== "AbortError") throw error; });
  const isOnlyHere = /^(localhost|127\.|\[::1\])/.test(location.hostname);
  return html`<div class="link">
    <label>${texts.send_link}<input readonly value=${address} onFocus=${(/** @type {FocusEvent} */ event) => /** @type {HTMLInputElement} */ (event.target).select()} /></label>
    ${clipboard && html`<button type="button" class=${canShare ? "" : "main"} onClick=${() => clipboard.writeText(address).then(() => setCopied(true))}>${copied ? texts.copied : texts.copy}</button>`}
    ${canShare && html`<button type="button" class="main" onClick=${share}>${texts.share}</button>`}
    ${isOnlyHere && html`<p>${texts.only_here}</p>`}
  </div>`;
};
