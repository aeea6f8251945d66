// @ts-check
// What every script draws with: Preact, by htm's templates.
import { h } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

export { Fragment, render } from "./vendor/preact.js";
export { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "./vendor/preact-hooks.js";

/** Markup as a template: html`<b class=${name}>${text}</b>`. What stands in the gaps is escaped. */
export const html = htm.bind(h);

/** What the page was given by the bot, or an empty object.
 * @returns {any} */
export function pageData() {
  const node = document.getElementById("page-data");
  return node ? JSON.parse(node.textContent || "{}") : {};
}
