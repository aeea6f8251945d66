// @ts-check
// The end of a game: who won, the best trick, the new rating, and what to do next.
import { Face } from "./cards.js";
import { DealCount } from "./deal_count.js";
import { TrickCards } from "./deal_log.js";
import { shareResult } from "./share.js";
import { html, pageData, useState } from "./view.js";

/** @typedef {import("./table.js").Table} Table */
/** @typedef {import("./deal_log.js").TrickCard} TrickCard */
/** @typedef {{is_won: boolean, best: TrickCard[], about: string, rating: string, share: string}} End */

const { texts } = pageData();

/** @param {{table: Table, text: string}} props */
const Share = ({ table, text }) => {
  const [done, setDone] = useState("");
  const picture = `/picture/${document.documentElement.lang}/game/${table.replay}.png`;
  const share = async () => { if (await shareResult(`${text}\n${location.origin}/g/${table.replay}`, picture)) setDone(texts.copied); };
  return html`<button type="button" class="button" onClick=${share}>${done || texts.share}</button>
    ${done && html`<a class="button" href=${picture} download=${`buongioco-${table.replay}.png`}>${texts.picture}</a>`}`;
};

/** `children` are the buttons of the panel, such as the rematch.
 * @param {{table: Table, children: any}} props */
export const GameEnd = ({ table, children }) => {
  const end = /** @type {End | null} */ (table.end);
  return html`<section class=${`game-end ${end?.is_won ? "won" : ""}`}>
    <div class="outcome">
      <p class="line mine">${table.line}</p>
      <div class="result">${table.sides.map((side) => html`<div><b class="points">${side.points}</b><span dir="auto">${side.name}</span></div>`)}</div>
      ${end?.rating && html`<p class="rating">${end.rating}</p>`}
    </div>
    <div class="next">${children}</div>
    <p class="ways">
      ${table.replay && end && html`<${Share} table=${table} text=${end.share} />`}
      ${table.replay && html`<a class="button" href=${`/g/${table.replay}`}>${texts.replay}</a>`}
      ${table.results && html`<a class="button" href=${table.results}>${table.results_label}</a>`}
      <a class="button" href="/">${texts.new_game}</a>
    </p>
    ${end && end.best.length > 0 && html`<section class="best"><p>${end.about}</p><${TrickCards} cards=${end.best} face=${(/** @type {TrickCard} */ card) => html`<${Face} deck=${table.deck} card=${card.code} name=${card.name} />`} /></section>`}
    ${table.replay && html`<p class="costliest">${texts.costliest_about} <a class="button" href=${`/g/${table.replay}`}>${texts.analysis}</a></p>`}
    ${table.count && html`<${DealCount} table=${table} />`}
  </section>`;
};
