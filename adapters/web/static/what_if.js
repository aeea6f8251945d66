// @ts-check
// Moves that differ from the record. The reader tries them for all seats, or plays one seat against the strong robot.
import { postJson } from "./api.js";
import { Card } from "./position.js";
import { format, html, useEffect, useState } from "./view.js";

/** @typedef {{place: number, moves: string[], seat: number | null}} Line After the deal's first `place` moves; `seat` is the reader's, null for all seats. */
/** @typedef {{moves: string[], steps: import("./replay.js").Step[], choices: {move: string, text: string}[]}} Tried */

const ROBOT_MILLISECONDS = 600;  // pause between the robot's moves, so that each can be seen

/** Return a line as the end of an address. @param {Line} line */
export const writeLine = ({ moves, seat }) =>
  `~${moves.map((move) => encodeURIComponent(move).replaceAll("%20", "+")).join(",")}${seat === null ? "" : `@${seat}`}`;

/** Return the line at the end of an address; null if there is none. @param {string} text @param {number} place @returns {Line | null} */
export function readLine(text, place) {
  const [, moves, seat] = /^~([\w%+,.-]*)(?:@(\d))?$/.exec(text) || [];
  if (moves === undefined) return null;
  return { place, moves: moves ? moves.split(",").map((move) => decodeURIComponent(move.replaceAll("+", " "))) : [], seat: seat ? Number(seat) : null };
}

/** Load the positions of a line, the robot's answers, and the solver's verdicts if `isOpen`.
 * @param {{api: string, query: string, line: Line | null, isOpen: boolean, onMoves: (moves: string[]) => void}} options */
export function useLine({ api, query, line, isOpen, onMoves }) {
  const [tried, setTried] = useState(/** @type {Tried | null} */ (null));
  const [lost, setLost] = useState(/** @type {Record<string, number> | null} */ (null));
  const [failed, setFailed] = useState("");
  const key = line && `${api} ${query} ${line.place}${writeLine(line)}`;
  useEffect(() => {
    if (!line) { setTried(null); return undefined; }
    const stop = new AbortController();
    let timer = 0;
    const { place, moves, seat } = line;
    postJson(`${api}/line?${query}`, { place, moves, seat }, stop.signal).then((/** @type {Tried} */ found) => {
      setFailed("");
      setTried(found);
      if (found.moves.length > moves.length) timer = setTimeout(() => onMoves(found.moves), ROBOT_MILLISECONDS);
    }, (error) => { if (!stop.signal.aborted) setFailed(String(error.message)); });
    return () => { stop.abort(); clearTimeout(timer); };
  }, [key]);
  useEffect(() => {
    setLost(null);
    if (!line || !isOpen) return undefined;
    const stop = new AbortController();
    postJson(`${api}/line/verdicts`, { place: line.place, moves: line.moves }, stop.signal).then((found) => setLost(found.lost), (error) => { if (!stop.signal.aborted) setFailed(String(error.message)); });
    return () => stop.abort();
  }, [key, isOpen]);
  return { tried, lost, failed };
}

/** The moves of a line, and the choices at its end.
 * @param {{line: Line, tried: Tried | null, lost: Record<string, number> | null, failed: string, unit: number, names: string[], faces: import("./position.js").Faces, score: string[], isKept: boolean, texts: Record<string, string>, onLine: (line: Line | null) => void, onKeep: () => void}} props */
export const WhatIf = ({ line, tried, lost, failed, unit, names, faces, score, isKept, texts, onLine, onKeep }) => {
  const turn = tried?.steps.length ? tried.steps[tried.steps.length - 1].view.turn : undefined;
  const isRobots = line.seat !== null && turn !== undefined && turn !== null && turn !== line.seat;
  const choices = isRobots ? [] : tried?.choices || [];
  /** @param {string} move */
  const choose = (move) => onLine({ ...line, moves: [...(tried?.moves || line.moves), move] });
  // Against the robot, take back its answers too.
  const undo = () => {
    const own = (tried?.steps || []).map(({ seat }) => line.seat === null || seat === line.seat);
    onLine({ ...line, moves: line.moves.slice(0, Math.max(0, own.lastIndexOf(true))) });
  };
  return html`<section class="what-if" aria-label=${texts.what_if}>
    <h2>${format(line.seat === null ? texts.trying : texts.playing_on, { move: line.place, name: line.seat === null ? "" : names[line.seat] })}</h2>
    ${failed && html`<p role="alert">${failed}</p>`}
    <p role="status" class="tried">${!tried ? texts.loading : isRobots ? texts.robot_thinks : tried.choices.length ? "" : [texts.deal_over, texts.in_the_game, ...score].join(" ")}</p>
    <div class="choices" role="group" aria-label=${texts.choices}>${choices.map(({ move, text }) => html`
      <button type="button" key=${move} data-move=${move} class=${lost ? (lost[move] ? "bad" : move in lost ? "good" : "") : ""} onClick=${() => choose(move)}>
        <${Choice} move=${move} text=${text} faces=${faces} /><${Loss} lost=${lost?.[move]} unit=${unit} texts=${texts} />
      </button>`)}</div>
    <ol class="line" start=${line.place + 1}>${(tried?.steps || []).map((step, index) => html`<li key=${index}>${step.text}</li>`)}</ol>
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
