// @ts-check
// The log of a deal: takers of tricks, declarations, and the cards that may be shown.
import { addStyle, html, useState } from "./view.js";

/** A card of a trick: the code to draw, its name, its player and what they said. @typedef {{code: string, name: string, by: string, said: string, wins: boolean}} TrickCard */
/** @typedef {{number: number, entries: {text: string, cards: TrickCard[]}[]}} Log */

/** `face` draws a card. @param {{cards: TrickCard[], face: (card: TrickCard) => any}} props */
export const TrickCards = ({ cards, face }) => html`<ul class="trick-cards">${cards.map((card) => html`
  <li key=${card.code} class=${card.wins ? "wins" : ""}>${face(card)}<small dir="auto">${card.by}${card.said && html` <q>${card.said}!</q>`}</small></li>`)}</ul>`;

/** @param {{log: Log, face: (card: TrickCard) => any, texts: Record<string, string>}} props */
export const DealLog = ({ log, face, texts }) => html`<div class="log">
  <p>${texts.deal} ${log.number}</p>
  ${log.entries.length ? html`<ol>${log.entries.map(({ text, cards }, index) => html`
    <li key=${index}><span dir="auto">${text}</span>${cards.length > 0 && html`<${TrickCards} cards=${cards} face=${face} />`}</li>`)}</ol>` : html`<p>${texts.log_empty}</p>`}
</div>`;

/** A log that is drawn only while it is open. @param {{log: Log, face: (card: TrickCard) => any, texts: Record<string, string>}} props */
export const FoldedLog = (props) => {
  const [isOpen, setOpen] = useState(false);
  return html`<details class="opens-log" onToggle=${(/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)}>
    <summary>${props.texts.log}</summary>
    ${isOpen && html`<${DealLog} ...${props} />`}
  </details>`;
};

await addStyle(new URL("deal_log.css", import.meta.url));
