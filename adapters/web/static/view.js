// @ts-check
// Preact with htm's templates.
import { h } from "./vendor/preact.js";
import { useEffect, useState } from "./vendor/preact-hooks.js";
import htm from "./vendor/htm.js";

export { Fragment, render } from "./vendor/preact.js";
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/preact-hooks.js";

/** Wrap each sign of a black suit in an element, because dark styles draw these signs light. @param {any} child @returns {any} */
const markBlackSuits = (child) =>
  Array.isArray(child) ? child.map(markBlackSuits) : typeof child === "string" && /[♠♣]/.test(child) ? child.split(/([♠♣]\uFE0F?)/).map((part, index) => (index % 2 ? h("span", { class: "sign" }, part) : part)) : child;

/** A template: html`<b class=${name}>${text}</b>`. Values are escaped. */
export const html = htm.bind((/** @type {any} */ type, /** @type {any} */ props, /** @type {any[]} */ ...children) => h(type, props, ...children.map(markBlackSuits)));

/** @param {{label: string}} props */
export const DealerChip = ({ label }) => html`
  <svg class="dealer-chip" viewBox="0 0 20 20" role="img" aria-label=${label}><title>${label}</title>
    <circle cx="10" cy="10" r="9" /><path d="M6.5 6.5 12 5l2.5 9-5.5 1.5z" />
  </svg>`;

/** Let a held key press only once. Otherwise it would also press the buttons that appear. */
export const ignoreHeldKeys = () => addEventListener("keydown", (event) => {
  if (event.repeat && /^(Enter| )$/.test(event.key) && event.target instanceof HTMLButtonElement) event.preventDefault();
});

/** Fill the gaps in a text. @param {string} text @param {Record<string, any>} values */
export const format = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

/** @type {any} */
let data;

/** Return the data that the bot put into the page, or an empty object. @returns {any} */
export const pageData = () => data ||= JSON.parse(document.getElementById("page-data")?.textContent || "{}");

const RETRY_MILLISECONDS = 3000;  // pause before a file is requested again after a network failure

/** Call a function that loads something, and again after a pause until it succeeds.
 * @template Value @param {() => Promise<Value>} load @returns {Promise<Value>} */
export const retry = (load) => load().catch(async () => {
  await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
  return retry(load);
});

/** Load a module when it is needed; return null until it has loaded.
 * @template Module @param {boolean} isNeeded @param {() => Promise<Module>} load @returns {Module | null} */
export function useLater(isNeeded, load) {
  const [module, setModule] = useState(/** @type {Module | null} */ (null));
  useEffect(() => {
    if (isNeeded) retry(load).then((loaded) => setModule(() => loaded));
  }, [isNeeded]);
  return module;
}

/** Add a style sheet to the page, and wait until the sheet has loaded or failed. @param {URL} address */
export const addStyle = (address) => new Promise((resolve) => {
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = address.href;
  style.onload = style.onerror = resolve;
  document.head.append(style);
});
