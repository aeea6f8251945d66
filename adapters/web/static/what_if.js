// @ts-check
// Moves that differ from the record. The reader tries them for all seats, or plays one seat against the strong robot.
import { postJson } from "./api.js";
import { Card } from "./position.js";
import { format, html, useEffect, useState } from "./view.js";

/** @typedef {{place: number, moves: string[], seat: number | null}} Line Moves tried after the deal's first `place` moves. `seat` is the reader's, or null if the reader moves for all seats. */
/** @typedef {{moves: string[], steps: import("./replay.js").Step[], choices: {move: string, text: string}[]}} LoadedLine */

const ROBOT_MILLISECONDS = 600;  // pause between the robot's moves, so that each can be seen

/** Return a line's text for the end of an address. @param {Line} line */
export const formatLine = ({ moves, seat }) =>
  `~${moves.map((move) => encodeURIComponent(move).replaceAll("%20", "+")).join(",")}${seat === null ? "" : `@${seat}`}`;

/** Return the line at the end of an address; null if there is none. @param {string} text @param {number} place @returns {Line | null} */
export function parseLine(text, place) {
  const [, moves, seat] = /^~([\w%+,.-]*)(?:@(\d))?$/.exec(text) || [];
  if (moves === undefined) return null;
  return { place, moves: moves ? moves.split(",").map((move) => decodeURIComponent(move.replaceAll("+", " "))) : [], seat: seat ? Number(seat) : null };
}

/** Load the positions of a line and the robot's answers, and, if `showsVerdicts`, the points that each choice loses.
 * @param {{api: string, query: string, line: Line | null, showsVerdicts: boolean, onMoves: (moves: string[]) => void}} options */
export function useLine({ api, query, line, showsVerdicts, onMoves }) {
  const [loaded, setLoaded] = useState(/** @type {LoadedLine | null} */ (null));
  const [losses, setLosses] = useState(/** @type {Record<string, number> | null} */ (null));
  const [error, setError] = useState("");
  const key = line && `${api} ${query} ${line.place}${formatLine(line)}`;
  useEffect(() => {
    if (!line) { setLoaded(null); return undefined; }
    const stop = new AbortController();
    let timer = 0;
    const { place, moves, seat } = line;
    postJson(`${api}/line?${query}`, { place, moves, seat }, stop.signal).then((/** @type {LoadedLine} */ found) => {
      setError("");
      setLoaded(found);
      if (found.moves.length > moves.length) timer = setTimeout(() => onMoves(found.moves), ROBOT_MILLISECONDS);
    }, (reason) => { if (!stop.signal.aborted) setError(String(reason.message)); });
    return () => { stop.abort(); clearTimeout(timer); };
  }, [key]);
  useEffect(() => {
    setLosses(null);
    if (!line || !showsVerdicts) return undefined;
    const stop = new AbortController();
    postJson(`${api}/line/verdicts`, { place: line.place, moves: line.moves }, stop.signal).then((found) => setLosses(found.lost), (reason) => { if (!stop.signal.aborted) setError(String(reason.message)); });
    return () => stop.abort();
  }, [key, showsVerdicts]);
  return { loaded, losses, error };
}

/** The moves of a line, and the choices at its end.
 * @param {{line: Line, loaded: LoadedLine | null, losses: Record<string, number> | null, error: string, unit: number, names: string[], faces: import("./position.js").Faces, score: string[], isKept: boolean, texts: Record<string, string>, onLine: (line: Line | null) => void, onKeep: () => void}} props */
export const WhatIf = ({ line, loaded, losses, error, unit, names, faces, score, isKept, texts, onLine, onKeep }) => {
  const turn = loaded?.steps.length ? loaded.steps[loaded.steps.length - 1].view.turn : undefined;
  const isRobotsTurn = line.seat !== null && turn !== undefined && turn !== null && turn !== line.seat;
  const choices = isRobotsTurn ? [] : loaded?.choices || [];
  /** @param {string} move */
  const choose = (move) => onLine({ ...line, moves: [...(loaded?.moves || line.moves), move] });
  // Against the robot, take back its answers too.
  const undo = () => {
    const own = (loaded?.steps || []).map(({ seat }) => line.seat === null || seat === line.seat);
    onLine({ ...line, moves: line.moves.slice(0, Math.max(0, own.lastIndexOf(true))) });
  };
  return html`<section class="what-if" aria-label=${texts.what_if}>
    <h2>${format(line.seat === null ? texts.trying : texts.playing_on, { move: line.place, name: line.seat === null ? "" : names[line.seat] })}</h2>
    ${error && html`<p role="alert">${error}</p>`}
    <p role="status" class="tried">${!loaded ? texts.loading : isRobotsTurn ? texts.robot_thinks : loaded.choices.length ? "" : [texts.deal_over, texts.in_the_game, ...score].join(" ")}</p>
    <div class="choices" role="group" aria-label=${texts.choices}>${choices.map(({ move, text }) => html`
      <button type="button" key=${move} data-move=${move} class=${losses ? (losses[move] ? "bad" : move in losses ? "good" : "") : ""} onClick=${() => choose(move)}>
        <${Choice} move=${move} text=${text} faces=${faces} /><${Loss} lost=${losses?.[move]} unit=${unit} texts=${texts} />
      </button>`)}</div>
    <ol class="line" start=${line.place + 1}>${(loaded?.steps || []).map((step, index) => html`<li key=${index}>${step.text}</li>`)}</ol>
    <p class="ways">
      <button type="button" disabled=${!line.moves.length} onClick=${undo}>${texts.undo}</button>
      <button type="button" disabled=${!line.moves.length || isKept} id="keep" onClick=${onKeep}>${isKept ? texts.kept : texts.keep_line}</button>
      <button type="button" class="main" onClick=${() => onLine(null)}>${texts.back_to_game}</button>
    </p>
  </section>`;
};

/** A move to choose: a card with its name for screen readers, or words. @param {{move: string, text: string, faces: import("./position.js").Faces}} props */
const Choice = ({ move, text, faces }) => {
  const [word, card, signal] = move.split(" ");
  if (word !== "play") return text;
  return html`<${Card} faces=${faces} code=${card} label=${faces.names[card]} />${signal ? html`<small>${signal}!</small>` : ""}`;
};

/** The points that a move costs. @param {{lost: number | undefined, unit: number, texts: Record<string, string>}} props */
const Loss = ({ lost, unit, texts }) => {
  if (lost === undefined) return null;
  return html`<small aria-label=${lost ? format(texts.lost, { points: lost * unit }) : texts.nothing_lost}>${lost ? `−${lost * unit}` : "✓"}</small>`;
};
