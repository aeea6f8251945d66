// @ts-check
// Builds the elements of the playground's chat. Text is never set as markup.

/** @typedef {{label: string, payload: string, style: string, kind: string}} Button */
/** @typedef {[text: string, style: string, person: string]} Span */

/** @param {string} id @returns {HTMLElement} */
export const el = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Record<string, any>} attributes names in "on…" are handlers @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[T]} */
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flatMap((child) => (typeof child === "string" ? markBlackSuits(child) : [child])));
  return node;
}

/** Wrap the signs of black suits in elements, which dark styles draw light. @param {string} text @returns {Node[]} */
export const markBlackSuits = (text) =>
  text.split(/([♠♣]\uFE0F?)/).map((part, index) => (index % 2 ? make("span", { class: "sign" }, document.createTextNode(part)) : document.createTextNode(part)));

/** Split a row of buttons so that it is readable on a phone: at most eight, fewer with long labels. @param {Button[]} row */
export function splitRow(row) {
  const longest = Math.max(...row.map((b) => Array.from(b.label).length));
  const most = longest > 14 ? 2 : longest > 8 ? 3 : longest > 4 ? 5 : 8;
  const rows = Math.ceil(row.length / most), each = Math.ceil(row.length / rows);
  return Array.from({ length: rows }, (_, index) => row.slice(index * each, (index + 1) * each));
}

/** Draw text that a press copies, if the browser allows copying. @param {string} text @param {string} title of the button */
function drawCode(text, title) {
  const code = make("code", {}, text), clipboard = /** @type {Clipboard | undefined} */ (navigator.clipboard);
  return clipboard ? make("button", { type: "button", class: "copy", title, onclick: () => clipboard.writeText(text) }, code) : code;
}

/** @type {Record<string, "b" | "i" | "small">} */
const TAGS = { bold: "b", italic: "i", small: "small" };

/** @param {Span} span @param {string} copy title of the button that copies code @returns {Node} */
export function drawSpan([text, style, person], copy) {
  if (style === "code") return drawCode(text, copy);
  if (["mention", "call", "quiet"].includes(style)) return make("span", { class: "mention", "data-person": person }, text);
  return make(TAGS[style] || "span", {}, text);
}

/** @param {string} name @param {string} text */
export function saveFile(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
