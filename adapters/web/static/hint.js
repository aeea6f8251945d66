// @ts-check
// A hint above the line of text. It covers a part of the felt, so nothing moves when it comes. Its bubble points at the card.
import { Spoken } from "./cards.js";
import { html, useLayoutEffect, useRef } from "./view.js";

/** @typedef {import("./table.js").Table} Table */

/** Return the horizontal middle of an element. Unlike its box, it ignores transforms, such as those of a card being dealt.
 * @param {HTMLElement} element */
function middleOf(element) {
  let left = element.offsetWidth / 2;
  for (let outer = /** @type {Element | null} */ (element); outer instanceof HTMLElement; outer = outer.offsetParent) left += outer.offsetLeft;
  return left;
}

/** @param {{table: Table}} props */
export const Hint = ({ table }) => {
  const bubble = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const point = () => {
      const node = bubble.current, card = /** @type {HTMLElement | null} */ (document.querySelector(".fan .hinted"));
      node?.classList.toggle("points", Boolean(card));
      if (node && card) node.style.setProperty("--tail", `${middleOf(card) - middleOf(node) + node.offsetWidth / 2}px`);
    };
    point();
    addEventListener("resize", point);
    return () => removeEventListener("resize", point);
  });
  // Another text gets a new bubble: one that grows would count as a layout shift.
  return html`<p class="hint advice" key=${table.hint} ref=${bubble}><${Spoken} text=${table.hint} spoken=${table.spoken} /></p>`;
};
