// @ts-check
// The end of a game: who won, the best trick, the new rating, and what to do next.
import { Face } from "./faces.js";
import { DealCount } from "./deal_count.js";
import { TrickCards } from "./deal_log.js";
import { tell } from "./moments.js";
import { shareResult } from "./share.js";
import { html, pageData, useEffect, useState } from "./view.js";

/** @typedef {import("./table.js").Table} Table */
/** @typedef {import("./deal_log.js").TrickCard} TrickCard */
/** @typedef {{is_won: boolean, best: TrickCard[], about: string, rating: string, share: string}} End */

const { texts } = pageData();
const POLL_MILLISECONDS = 1500;  // pause between two requests for the analysis

/** @param {{table: Table, text: string}} props */
const Share = ({ table, text }) => {
  const [done, setDone] = useState("");
  const picture = `/picture/${document.documentElement.lang}/game/${table.replay}.png`;
  const share = async () => { if (await shareResult(`${text}\n${location.origin}/g/${table.replay}`, picture)) setDone(texts.copied); };
  return html`<button type="button" class="button" onClick=${share}>${done || texts.share}</button>
    ${done && html`<a class="button" href=${picture} download=${`buongioco-${table.replay}.png`}>${texts.picture}</a>`}`;
};

/** The cards that cost the reader most, once the game is analysed. @param {{table: Table}} props */
const Costliest = ({ table }) => {
  const [costliest, setCostliest] = useState(/** @type {{state: string, title: string, cards: {code: string, name: string, text: string, step: string}[]} | null} */ (null));
  const [failed, setFailed] = useState(false);
  /** @param {string} method */
  const ask = async (method) => {
    setFailed(false);
    const answer = await fetch(`/g/${table.replay}/costliest`, { method }).catch(() => null);
    if (answer?.ok) setCostliest(await answer.json());
    else if (method === "POST") { setCostliest(null); setFailed(true); }
  };
  useEffect(() => { ask("GET"); }, []);
  useEffect(() => {
    if (costliest?.state !== "running") return undefined;
    const timer = setTimeout(() => ask("POST"), POLL_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [costliest]);
  const begin = () => { setCostliest({ state: "running", title: "", cards: [] }); ask("POST"); };
  return html`<section class="costliest">
    <p role="status">${failed ? texts.not_analysed : costliest?.state === "running" ? texts.analysing : costliest?.title || texts.costliest_about}</p>
    ${costliest && costliest.cards.length > 0 && html`<ol>${costliest.cards.map(({ code, name, text, step }) => html`<li key=${step}>
      <a href=${`/g/${table.replay}${step}`}><${Face} deck=${table.deck} card=${code} name=${name} /><span>${text}</span></a>
    </li>`)}</ol>`}
    <div class="ways">
      ${costliest?.state !== "done" && html`<button type="button" class="button" disabled=${costliest?.state === "running"} onClick=${begin}>${texts.costliest}</button>`}
      <a class="button" href=${`/g/${table.replay}`}>${texts.analysis}</a>
    </div>
  </section>`;
};

/** `children` are the buttons of the panel, such as the rematch.
 * @param {{table: Table, children: any}} props */
export const GameEnd = ({ table, children }) => {
  const end = /** @type {End | null} */ (table.end);
  useEffect(() => tell("over"), []);
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
    ${table.replay && html`<${Costliest} table=${table} />`}
    ${table.count && html`<${DealCount} table=${table} isWhole=${true} />`}
  </section>`;
};
