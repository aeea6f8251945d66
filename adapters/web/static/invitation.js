// @ts-check
// The invitation to a table: its link, and whether anyone may sit down.
import { html, pageData, useState } from "./view.js";

const { code, texts, anyone } = pageData();

/** Whether anyone may sit down, which only the opener chooses. */
const Anyone = () => {
  const [isOpen, setOpen] = useState(anyone);
  const [why, setWhy] = useState("");
  const choose = async () => {
    const body = new URLSearchParams({ anyone: isOpen ? "" : "1" });
    setOpen(!isOpen);
    const answer = await fetch(`/t/${code}/anyone`, { method: "POST", body }).catch(() => null);
    const refused = answer?.ok ? (await answer.json()).why : texts.unsent;
    setWhy(refused);
    if (refused) setOpen(isOpen);
  };
  return html`<label class="anyone"><input type="checkbox" checked=${isOpen} onChange=${choose} /> <span>${texts.anyone} <small>${texts.anyone_about}</small></span></label>
    ${why && html`<p role="alert">${why}</p>`}`;
};

/** The invitation link. It is in a field, so it can be selected if the browser allows no copying. */
export const Invitation = () => {
  const [copied, setCopied] = useState(false);
  const address = `${location.origin}/t/${code}`;
  // Copying and sharing need https, and few desktop browsers can share.
  const clipboard = /** @type {Clipboard | undefined} */ (navigator.clipboard), canShare = "share" in navigator;
  // An AbortError means that the player cancelled.
  const share = () => navigator.share({ url: address }).catch((error) => { if (error.name !== "AbortError") throw error; });
  const isOnlyHere = /^(localhost|127\.|\[::1\])/.test(location.hostname);
  return html`<div class="link">
    <label>${texts.send_link}<input readonly value=${address} onFocus=${(/** @type {FocusEvent} */ event) => /** @type {HTMLInputElement} */ (event.target).select()} /></label>
    ${clipboard && html`<button type="button" class=${canShare ? "" : "main"} onClick=${() => clipboard.writeText(address).then(() => setCopied(true))}>${copied ? texts.copied : texts.copy}</button>`}
    ${canShare && html`<button type="button" class="main" onClick=${share}>${texts.share}</button>`}
    ${isOnlyHere && html`<p>${texts.only_here}</p>`}
  </div>
  ${anyone !== null && html`<${Anyone} />`}`;
};
