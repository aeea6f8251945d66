// @ts-check
// A spectator's page: shows a table's public state live.
import { BackLink } from "./back.js";
import { Card, Position, Score, useSuits } from "./position.js";
import { format, html, pageData, render, useEffect, useLater, useState } from "./view.js";

const { id, table: first, titles, decks, cards, combinations, texts } = pageData();
const FIRST_PAUSE = 500, LONGEST_PAUSE = 10000;
// The stream sends a line at least every ten seconds. It is dead after this silence, in milliseconds.
const SILENCE = 25000;
// Milliseconds between two requests for the rematch, and until the last request.
const REMATCH_EVERY = 5000, REMATCH_WAIT = 600_000;

/** @param {any} table */
const isOver = (table) => table.phase === "over" || table.phase === "closed";

/** Return the card played last, even if it ended a trick.
 * @param {import("./position.js").View | null} view @returns {import("./position.js").Played | undefined} */
const playedLast = (view) => (view?.trick.length ? view.trick : view?.last_trick?.[0] || []).at(-1);

/** Follow the stream and reconnect when it breaks, until the game is over or the table is missing.
 * @param {(table: any) => void} show @param {(state: string) => void} setState */
function followTable(show, setState) {
  let pause = FIRST_PAUSE, isDone = false;
  const stop = new AbortController();
  const read = async () => {
    const attempt = new AbortController(), end = () => attempt.abort();
    stop.signal.addEventListener("abort", end);
    let timer = setTimeout(end, SILENCE);
    const restart = () => { clearTimeout(timer); timer = setTimeout(end, SILENCE); };
    try { await readLines(attempt.signal, restart); } finally { clearTimeout(timer); stop.signal.removeEventListener("abort", end); }
  };
  /** @param {AbortSignal} signal @param {() => void} received */
  const readLines = async (signal, received) => {
    const answer = await fetch(`/api/v1/tables/${id}/stream`, { signal });
    if (answer.status === 404) { isDone = true; setState("gone"); return; }
    if (!answer.ok || !answer.body) throw new Error(String(answer.status));
    setState("live");
    const lines = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let unfinishedLine = ""; ;) {
      const { value, done } = await lines.read();
      if (done) return;
      received();
      const receivedLines = (unfinishedLine + value).split("\n");
      unfinishedLine = receivedLines.pop() || "";
      const lastLine = receivedLines.filter(Boolean).pop();
      if (!lastLine) continue;
      pause = FIRST_PAUSE;
      const table = JSON.parse(lastLine);
      isDone = isOver(table);
      show(table);
    }
  };
  const follow = () => read().catch(() => {}).finally(() => {
    if (isDone || stop.signal.aborted) return;
    setState("away");
    setTimeout(follow, pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  });
  follow();
  return () => stop.abort();
}

/** Return the watch id of the game's rematch once it can be watched; empty until then. @param {any} table */
function useRematch(table) {
  const [rematch, setRematch] = useState("");
  const isAsking = isOver(table) && table.replay && !rematch;
  useEffect(() => {
    if (!isAsking) return undefined;
    const end = Date.now() + REMATCH_WAIT;
    const timer = setInterval(async () => {
      if (Date.now() > end) clearInterval(timer);
      if (document.visibilityState === "hidden") return;
      // Without a network, the next request tries again.
      const answer = await fetch(`/t/${id}/rematch?game=${table.replay}`).catch(() => null);
      if (answer?.ok) setRematch((await answer.json()).rematch);
    }, REMATCH_EVERY);
    return () => clearInterval(timer);
  }, [isAsking]);
  return rematch;
}

/** Translate names that the bot has given to guests and forgotten people. @param {string} name */
const localName = (name) => (name === "somebody" ? texts.somebody : name.replace(/^Guest (?=\d{3}$)/, format(texts.guest, { number: "" })));

/** The log of the deal, loaded while it is open. @param {{version: number, suits: string, faces: import("./position.js").Faces}} props */
const Log = ({ version, suits, faces }) => {
  const [isOpen, setOpen] = useState(false);
  const [log, setLog] = useState(/** @type {import("./deal_log.js").Log | null} */ (null));
  const part = useLater(isOpen, () => import("./deal_log.js"));
  useEffect(() => {
    if (!isOpen) return undefined;
    let isLatest = true;
    // Without a network, the next state of the table asks again.
    fetch(`/t/${id}/log?suits=${suits}`).then(async (answer) => { if (answer.ok) { const answerBody = await answer.json(); if (isLatest) setLog(answerBody.log); } }, () => undefined);
    return () => { isLatest = false; };
  }, [isOpen, version, suits]);
  // The codes of the log are already in the chosen suits.
  const drawn = { ...faces, asFrench: false };
  return html`<details class="opens-log" onToggle=${(/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)}>
    <summary>${texts.log}</summary>
    ${isOpen && part && log && html`<${part.DealLog} log=${log} texts=${texts} face=${(/** @type {import("./deal_log.js").TrickCard} */ card) => html`<${Card} faces=${drawn} code=${card.code} label=${card.name} />`} />`}
  </details>`;
};

const Watch = () => {
  const [table, setTable] = useState(first);
  const [state, setState] = useState("live");
  const [suits, suitsChoice] = useSuits(texts);
  useEffect(() => (isOver(first) ? undefined : followTable(setTable, setState)), []);
  const bubbles = useLater(!isOver(first), () => import("./watch_bubbles.js"));
  const rematch = useRematch(table);
  const isFrench = table.is_french, unit = Number(table.rules.score_unit || 1);
  const faces = { url: decks[isFrench || suits === "french" ? "french-classic" : "italian-classic"], asFrench: !isFrench && suits === "french", names: cards[isFrench ? "french_pack" : suits] };
  const names = table.seats.map((/** @type {{name: string} | null} */ seat) => (seat ? localName(seat.name) : "…"));
  /** @param {number} side */
  const players = (side) => names.filter((/** @type {string} */ _, /** @type {number} */ seat) => seat % 2 === side).join(" + ");
  const resultLine = table.winner?.length ? format(texts.won, { side: players(table.winner[0] % 2) }) : texts.cancelled;
  const last = playedLast(table.view), card = last ? faces.names[last[1]] : "";
  const playedLine = last ? format(last[2] ? texts.signalled : texts.played, { name: names[last[0]], card, rest: card, signal: last[2] }) : "";
  const toMove = table.turn === null ? "" : format(table.is_late ? texts.late : texts.to_move, { name: names[table.turn] });
  const cutting = table.cutter === null ? "" : format(texts.cutting, { name: names[table.cutter] });
  const status = cutting || (table.phase === "over" ? resultLine : table.phase === "open" ? texts.open : table.phase === "closed" ? texts.closed
    : [playedLine && `${playedLine}.`, toMove].join(" "));
  return html`
    <header class="bar"><${BackLink} texts=${texts} /><h1>${titles[table.game]} <small>${table.code}</small></h1></header>
    ${state === "away" && html`<p class="away" role="alert">${texts.away}</p>`}
    ${state === "gone" && html`<p class="away" role="alert">${texts.gone}</p>`}
    ${table.view && html`
      <${Score} view=${table.view} turn=${table.turn} names=${names} totals=${table.totals} unit=${unit} texts=${texts} />
      <div class="board">
        <${Position} view=${table.view} open=${names.map(() => null)} names=${names} faces=${faces} bottom=${0} isTaken=${true} texts=${texts} />
        ${bubbles && html`<${bubbles.Bubbles} view=${table.view} deal=${table.deal} names=${names} unit=${unit} faces=${faces} combinations=${combinations[suits]} texts=${texts} />`}
      </div>`}
    <p class="says" role="status">${status}</p>
    ${!table.view && html`<p><bdi>${names.join(" · ")}</bdi></p>`}
    ${rematch && html`<p><a class="button main" href=${`/t/${rematch}`}>${texts.rematch}</a></p>`}
    ${table.replay && html`<p><a class="button main" id="replay-link" href=${`/g/${table.replay}`}>${texts.replay}</a></p>`}
    <div class="deals">
      <span>${table.deal > 0 && `${texts.deal} ${table.deal} · ${format(texts.target, { target: table.rules.target * unit })}`}</span>
      ${!isFrench && suitsChoice}
    </div>
    ${table.deal > 0 && html`<${Log} version=${table.version} suits=${suits} faces=${faces} />`}
    ${table.seal && html`<details class="sealed"><summary>🔒 ${texts.seal}: ${table.seal.slice(0, 12)}…</summary><code>${table.seal}</code></details>`}`;
};

const main = /** @type {HTMLElement} */ (document.getElementById("replay"));
render(first ? html`<${Watch} />` : html`<p class="waiting">${texts.gone}</p><p class="waiting"><a class="button" href="/">${texts.home}</a></p>`, main);
