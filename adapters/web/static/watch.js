// @ts-check
// The page of a table for those who do not sit there: what everybody may see, as it comes to be.
import { inWords, Notes, Position } from "./position.js";
import { forEver } from "./storage.js";
import { html, pageData, render, useEffect, useState } from "./view.js";

const { id, table: first, titles, decks, cards, texts } = pageData();
const FIRST_PAUSE = 500, LONGEST_PAUSE = 10000;
/** The stream has an empty line every ten seconds where there is no news: after so long without one it is dead. */
const SILENCE = 25000;
const HELD = "buongioco-suits";

/** @param {string} text @param {Record<string, any>} values */
const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

/** @param {any} table */
const isOver = (table) => table.phase === "over" || table.phase === "closed";

/** The card that was played last, which may have ended a trick.
 * @param {import("./position.js").View | null} view @returns {import("./position.js").Played | undefined} */
const playedLast = (view) => (view?.trick.length ? view.trick : view?.last_trick?.[0] || []).at(-1);

/** Read the stream, line by line, and again whenever it breaks off, until the table is over or there is none.
 * @param {(table: any) => void} show @param {(state: string) => void} tell */
function follow(show, tell) {
  let pause = FIRST_PAUSE, isDone = false;
  const stop = new AbortController();
  const read = async () => {
    const one = new AbortController(), end = () => one.abort();
    stop.signal.addEventListener("abort", end);
    let timer = setTimeout(end, SILENCE);
    const heard = () => { clearTimeout(timer); timer = setTimeout(end, SILENCE); };
    try { await readLines(one.signal, heard); } finally { clearTimeout(timer); stop.signal.removeEventListener("abort", end); }
  };
  /** @param {AbortSignal} signal @param {() => void} heard */
  const readLines = async (signal, heard) => {
    const answer = await fetch(`/api/v1/tables/${id}/stream`, { signal });
    if (answer.status === 404) { isDone = true; tell("gone"); return; }
    if (!answer.ok || !answer.body) throw new Error(String(answer.status));
    tell("live");
    const lines = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      const { value, done } = await lines.read();
      if (done) return;
      heard();
      const parts = (rest + value).split("\n");
      rest = parts.pop() || "";
      const last = parts.filter(Boolean).pop();
      if (!last) continue;
      pause = FIRST_PAUSE;
      const table = JSON.parse(last);
      isDone = isOver(table);
      show(table);
    }
  };
  const again = () => read().catch(() => {}).finally(() => {
    if (isDone || stop.signal.aborted) return;
    tell("away");
    setTimeout(again, pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  });
  again();
  return () => stop.abort();
}

/** A name that the bot has given, in the reader's language; anybody else's as it is. @param {string} name */
const spoken = (name) => (name === "somebody" ? texts.somebody : name.replace(/^Guest (?=\d{3}$)/, filled(texts.guest, { number: "" })));

const Watch = () => {
  const [table, setTable] = useState(first);
  const [state, setState] = useState("live");
  const [suits, setSuits] = useState(() => (forEver.get(HELD) === "french" ? "french" : "italian"));
  useEffect(() => (isOver(first) ? undefined : follow(setTable, setState)), []);
  const isFrench = table.is_french, unit = Number(table.rules.score_unit || 1);
  const faces = { url: decks[isFrench || suits === "french" ? "french-classic" : "italian-classic"], isWorn: !isFrench && suits === "french", names: cards[isFrench ? "french_pack" : suits] };
  const names = table.seats.map((/** @type {{name: string} | null} */ seat) => (seat ? spoken(seat.name) : "…"));
  /** @param {number} side */
  const players = (side) => names.filter((/** @type {string} */ _, /** @type {number} */ seat) => seat % 2 === side).join(" + ");
  /** @param {Event} event */
  const chooseSuits = (event) => {
    const chosen = /** @type {HTMLSelectElement} */ (event.target).value;
    forEver.set(HELD, chosen);
    setSuits(chosen);
  };
  const won = table.winner?.length ? filled(texts.won, { side: players(table.winner[0] % 2) }) : texts.cancelled;
  const last = playedLast(table.view), card = last ? faces.names[last[1]] : "";
  const played = last ? filled(last[2] ? texts.signalled : texts.played, { name: names[last[0]], card, rest: card, signal: last[2] }) : "";
  const toMove = table.turn === null ? "" : filled(table.is_late ? texts.late : texts.to_move, { name: names[table.turn] });
  const says = table.phase === "over" ? won : table.phase === "open" ? texts.open : table.phase === "closed" ? texts.closed
    : [played && `${played}.`, toMove].join(" ");
  return html`
    <header class="bar"><a href="/" aria-label=${texts.home}>←</a><h1>${titles[table.game]} <small>${table.code}</small></h1></header>
    ${state === "away" && html`<p class="away" role="alert">${texts.away}</p>`}
    ${state === "gone" && html`<p class="away" role="alert">${texts.gone}</p>`}
    ${table.view && html`
      <dl class="score">${[0, 1].map((side) => html`
        <div key=${side} class=${table.turn !== null && table.turn % 2 === side ? "to-move" : ""}>
          <dt><bdi>${players(side)}</bdi></dt>
          <dd><b>${table.totals[side] * unit}</b> <small><${Notes} notes=${[
            `${texts.tricks} ${table.view.tricks[side]}`,
            table.view.bids && table.view.bids[side] !== null && `${texts.bid} ${inWords(table.view.bids[side], texts)}`,
            table.view.declared?.[side] && `${texts.declared} ${table.view.declared[side] * unit}`,
          ]} /></small></dd>
        </div>`)}</dl>
      <${Position} view=${table.view} open=${names.map(() => null)} names=${names} faces=${faces} bottom=${0} isTaken=${true} texts=${texts} />`}
    <p class="says" role="status">${says}</p>
    ${!table.view && html`<p><bdi>${names.join(" · ")}</bdi></p>`}
    ${table.replay && html`<p><a class="button main" id="replay-link" href=${`/g/${table.replay}`}>${texts.replay}</a></p>`}
    <div class="deals">
      <span>${table.deal > 0 && `${texts.deal} ${table.deal} · ${filled(texts.target, { target: table.rules.target * unit })}`}</span>
      ${!isFrench && html`<label>${texts.suits} <select value=${suits} onChange=${chooseSuits}>
        <option value="italian">${texts.italian}</option><option value="french">${texts.french}</option>
      </select></label>`}
    </div>
    ${table.seal && html`<p class="sealed"><small>🔒 ${texts.seal}: <code>${table.seal}</code></small></p>`}`;
};

const main = /** @type {HTMLElement} */ (document.getElementById("replay"));
render(first ? html`<${Watch} />` : html`<p class="waiting">${texts.gone}</p><p class="waiting"><a class="button" href="/">${texts.home}</a></p>`, main);
