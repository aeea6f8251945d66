// @ts-check
// What every script draws with: Preact, by htm's templates.
import { h } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

export { Fragment, render } from "./vendor/preact.js";
export { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "./vendor/preact-hooks.js";

/** A text with the signs of the black suits in elements of their own, for on a dark ground they are drawn light; anything
 * else as it is. @param {any} child @returns {any} */
const signed = (child) =>
  Array.isArray(child) ? child.map(signed) : typeof child === "string" && /[♠♣]/.test(child) ? child.split(/([♠♣]\uFE0F?)/).map((part, at) => (at % 2 ? h("span", { class: "sign" }, part) : part)) : child;

/** Markup as a template: html`<b class=${name}>${text}</b>`. What stands in the gaps is escaped. */
export const html = htm.bind((/** @type {any} */ type, /** @type {any} */ props, /** @type {any[]} */ ...children) => h(type, props, ...children.map(signed)));

/** Who deals. @param {{label: string}} given */
export const DealerChip = ({ label }) => html`
  <svg class="dealer-chip" viewBox="0 0 20 20" role="img" aria-label=${label}><title>${label}</title>
    <circle cx="10" cy="10" r="9" /><path d="M6.5 6.5 12 5l2.5 9-5.5 1.5z" />
  </svg>`;

/** What the page was given by the bot, or an empty object.
 * @returns {any} */
export function pageData() {
  const node = document.getElementById("page-data");
  return node ? JSON.parse(node.textContent || "{}") : {};
}
