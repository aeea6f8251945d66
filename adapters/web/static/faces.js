// @ts-check
// The faces of cards. A deck is one drawing, and a card of it has up to 140 elements. As an image of its own, a card is drawn
// once and adds one element to the page.
import { html, pageData, retry, useLayoutEffect, useState } from "./view.js";

/** The addresses of images by card, filled when a card is first needed, and their drawings.
 * @typedef {{drawings: Map<string, string>, addresses: Map<string, string>}} Deck */

const { decks } = pageData();
const SYMBOL = /<symbol id="(\w+)"[^>]*>(.*?)<\/symbol>/gs;
const OPENING = '<svg xmlns="http://www.w3.org/2000/svg" width="250" height="400" viewBox="0 0 250 400">';
const PREPARE_AFTER = 1000;  // milliseconds
const whenIdle = window.requestIdleCallback || setTimeout;

/** @type {Map<string, Deck>} */
const loaded = new Map();
/** @type {Map<string, Promise<void>>} */
const loading = new Map();
/** @type {HTMLImageElement[]} */
const kept = [];  // browsers keep the drawing of an image while it is in use

/** @param {string} name */
async function fetchDeck(name) {
  const response = await fetch(decks[name]);
  if (!response.ok) throw new Error(response.statusText);
  const drawings = new Map(Array.from((await response.text()).matchAll(SYMBOL), ([, card, drawing]) => [card, drawing]));
  if (!drawings.size) throw new Error("no deck");
  loaded.set(name, { drawings, addresses: new Map() });
  setTimeout(() => whenIdle(() => prepare(name, [...drawings.keys()])), PREPARE_AFTER);
}

/** Draw cards before they are played, one at a time. @param {string} deck @param {string[]} cards */
function prepare(deck, [card, ...others]) {
  address(deck, card);
  if (others.length) whenIdle(() => prepare(deck, others));
}

/** Return the address of a card's image, and keep the image drawn. Return "" before the deck has loaded. @param {string} deck @param {string} card */
function address(deck, card) {
  const { drawings, addresses } = loaded.get(deck) || {};
  const drawing = drawings?.get(card);
  if (!addresses || !drawing) return "";
  let found = addresses.get(card);
  if (!found) {
    addresses.set(card, found = URL.createObjectURL(new Blob([`${OPENING}${drawing}</svg>`], { type: "image/svg+xml" })));
    const image = new Image();
    image.src = found;
    kept.push(image);
  }
  return found;
}

/** A card, face down without a code. Without a name it is hidden from screen readers, because the element around it has one.
 * @param {{deck: string, card: string, name?: string}} props */
export const Face = ({ deck, card, name = "" }) => {
  const [, redraw] = useState({}), isLoaded = loaded.has(deck);
  useLayoutEffect(() => {
    if (isLoaded) return undefined;
    let isShown = true;
    if (!loading.has(deck)) loading.set(deck, retry(() => fetchDeck(deck)));
    loading.get(deck)?.then(() => { if (isShown) redraw({}); });
    return () => { isShown = false; };
  }, [deck]);
  if (!isLoaded) return html`<svg class="face" viewBox="0 0 250 400" role=${name ? "img" : "none"} aria-label=${name || null} />`;
  return html`<img class="face" src=${address(deck, card || "back")} alt=${name} draggable=${false} data-face=${card || "back"} />`;
};
