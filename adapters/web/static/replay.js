// @ts-check
// The page of a finished game: its moves, its analysis, and a check of its shuffles.
import { fetchJson } from "./api.js";
import { BackLink } from "./back.js";
import { BetterArrow } from "./better_arrow.js";
import { ownCut } from "./cuts.js";
import { checkDeal, firstDealer, NoWebCrypto } from "./fairness.js";
import { Notes, useKept } from "./notes.js";
import { PointsGraph } from "./points_graph.js";
import { Position, Score, useSuits } from "./position.js";
import { permanentStorage } from "./storage.js";
import { format, html, pageData, render, useEffect, useMemo, useRef, useState } from "./view.js";
import { parseLine, useLine, WhatIf, formatLine } from "./what_if.js";

/** @typedef {{seat: number | null, text: string, move: string, view: View, taken: number[] | null, seats: Own[]}} Step A position of a deal. */
/** @typedef {{seat: number, deal: number, place: number, move: string, lost: number, exact: boolean, unseen: boolean, better: string, text: string}} Judgement The verdict on a move. */
/** @typedef {{is_begun: boolean, deals: number, deals_done: number, players: {seat: number, accuracy: number | null, lost: number}[], judgements: Judgement[], costliest: Judgement[]}} AnalysisState */
/** @typedef {{steps: [text: string, isRight: boolean][], pack: string[], wrongPlaces: number[], proof: {commitment: string, secret: string, cut?: string} | null}} ShuffleCheck The check of a deal's shuffle. */
/** @typedef {import("./position.js").View} View */
/** @typedef {import("./position.js").Own} Own */

const { id, game: overview, seat: ownSeat, decks, texts, language } = pageData();
const API = `/api/v1/games/${id}`;
const STEP_MILLISECONDS = 900, POLL_MILLISECONDS = 1500;
const SPOILERS_KEY = "buongioco-spoilers";
const seats = overview ? overview.seats.length : 0;
const unit = overview ? Number(overview.rules.score_unit || 1) : 1;  // shown points per point of the game
const EVERYBODY = "public", OPEN = "open";
/** @type {string[]} */
const names = overview ? overview.seats.map((/** @type {string} */ name, /** @type {number} */ seat) => (seat === ownSeat ? texts.you : name)) : [];

/** Add "(you)" to the reader's name in the text of a move. @param {string} text */
const markReader = (text) => text.replace(overview.seats[ownSeat], (name) => `${name} (${texts.you})`);

/** @param {Step} step */
const stepText = ({ text, seat, view }) => ((seat ?? view.dealer) === ownSeat ? markReader(text) : text);

/** Return the deal, the step and the line in the address.
 * @returns {{deal: number, step: number, line: import("./what_if.js").Line | null}} */
function readHash() {
  const [, deal, step, lineText] = /^#d(\d{1,4})(?:m(\d{1,4}))?(~.*)?$/.exec(location.hash) || [];
  const number = Math.min(Math.max(1, Number(deal || 1)), overview.deals.length);
  const place = Math.min(Number(step || 0), overview.deals[number - 1].moves);
  return { deal: number, step: place, line: parseLine(lineText || "", place) };
}

/** @param {number} deal @param {number} step @param {import("./what_if.js").Line | null} [line] */
const link = (deal, step, line = null) => `#d${deal}m${step}${line ? formatLine(line) : ""}`;

/** Format points as whole points and thirds if they are (nearly) that; estimates to a tenth. @param {number} points @param {boolean} [isExact] */
const formatPoints = (points, isExact = Math.abs(points * 3 - Math.round(points * 3)) < .05) =>
  isExact ? formatThirds(Math.round(points * 3)) : points.toLocaleString(language, { maximumFractionDigits: 1 });

/** Load a deal, once for each choice of suits. @param {number} deal @param {string} suits */
function useDeal(deal, suits) {
  const [deals, setDeals] = useState(/** @type {Record<string, any>} */ ({}));
  const [failed, setFailed] = useState("");
  const key = `${deal} ${suits}`;
  useEffect(() => {
    if (deals[key]) return;
    fetchJson(`${API}/deals/${deal}?language=${language}&suits=${suits}`)
      .then((state) => { setFailed(""); setDeals((old) => ({ ...old, [key]: state })); }, (error) => setFailed(String(error.message)));
  }, [key]);
  return { steps: deals[key]?.steps, score: deals[key]?.score || [], failed };
}

/** Load the analysis, and poll it while it is being made. @param {string} suits */
function useAnalysis(suits) {
  const [analysis, setAnalysis] = useState(/** @type {AnalysisState | null} */ (null));
  const [failed, setFailed] = useState("");
  const path = `${API}/analysis?language=${language}&suits=${suits}`;
  const loader = useRef((/** @type {RequestInit} */ _options) => {});
  useEffect(() => {
    // The request is aborted when the reader chooses other suits, because the texts depend on the suits.
    const stop = new AbortController();
    let timer = 0;
    /** @param {RequestInit} [options] */
    const load = (options) => {
      fetchJson(path, { ...options, signal: stop.signal }).then((state) => {
        setFailed("");
        setAnalysis(state);
        clearTimeout(timer);
        if (state.is_begun && state.deals_done < state.deals) timer = setTimeout(() => load({ method: "POST" }), POLL_MILLISECONDS);
      }, (error) => { if (!stop.signal.aborted) setFailed(String(error.message)); });
    };
    loader.current = load;
    load();
    return () => { stop.abort(); clearTimeout(timer); };
  }, [path]);
  return { analysis, failed, begin: () => loader.current({ method: "POST" }) };
}

const Replay = () => {
  const [position, setPosition] = useState(readHash);
  const [viewer, setViewer] = useState(OPEN);
  const [suits, suitsChoice] = useSuits(texts);
  const [isPlaying, setPlaying] = useState(false);
  const [isSpoilerFree, setSpoilerFree] = useState(permanentStorage.get(SPOILERS_KEY) === "hide");
  const [kept, keep] = useKept(id);
  const table = useRef(/** @type {HTMLElement | null} */ (null));
  const { steps, score, failed } = useDeal(position.deal, suits);
  const { analysis, failed: analysisFailed, begin } = useAnalysis(suits);
  const lastStep = overview.deals[position.deal - 1].moves;
  const recordedStep = steps?.[position.step];

  // Keys can come faster than the page is drawn, so each continues from the position that the previous key reached.
  const currentPosition = useRef(position);
  /** @param {number} deal @param {number} number @param {import("./what_if.js").Line | null} [line] */
  const go = (deal, number, line = null) => {
    history.replaceState(null, "", link(deal, number, line));
    currentPosition.current = { deal, step: number, line };
    setPosition(currentPosition.current);
  };
  /** @param {import("./what_if.js").Line | null} line */
  const setLine = (line) => go(currentPosition.current.deal, currentPosition.current.step, line);
  /** Let the reader play one seat, whose cards they see, or all seats. @param {number | null} seat */
  const beginLine = (seat) => {
    setPlaying(false);
    setViewer(seat === null ? OPEN : String(seat));
    setLine({ place: currentPosition.current.step, moves: [], seat });
  };
  const { loaded, losses, error: lineError } = useLine({
    api: `${API}/deals/${position.deal}`, query: `language=${language}&suits=${suits}`, line: position.line, showsVerdicts: viewer === OPEN,
    onMoves: (moves) => { if (currentPosition.current.line) setLine({ ...currentPosition.current.line, moves }); },
  });
  const step = position.line && loaded?.steps.length ? loaded.steps[loaded.steps.length - 1] : recordedStep;

  /** @param {number} deal */
  const end = (deal) => overview.deals[deal - 1].moves;
  const forward = () => {
    const { deal, step: number } = currentPosition.current;
    if (number < end(deal)) go(deal, number + 1);
    else if (deal < overview.deals.length) go(deal + 1, 0);
    else setPlaying(false);
  };
  const back = () => {
    const { deal, step: number } = currentPosition.current;
    if (number > 0) go(deal, number - 1);
    else if (deal > 1) go(deal - 1, end(deal - 1));
  };

  useEffect(() => {
    const follow = () => { currentPosition.current = readHash(); setPosition(currentPosition.current); };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const press = (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      // Other uses of these keys take precedence.
      if (event.altKey || event.ctrlKey || event.metaKey || /^(SELECT|TEXTAREA)$/.test(target.tagName)) return;
      if (currentPosition.current.line || (event.key === " " && /^(BUTTON|SUMMARY|A)$/.test(target.tagName))) return;
      const action = { ArrowRight: forward, ArrowLeft: back, Home: () => go(currentPosition.current.deal, 0), End: () => go(currentPosition.current.deal, end(currentPosition.current.deal)), " ": () => setPlaying((playing) => !playing) }[event.key];
      if (!action) return;
      event.preventDefault();
      if (event.key !== " ") setPlaying(false);
      action();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  useEffect(() => {
    if (!isPlaying || !steps) return undefined;
    const timer = setTimeout(forward, STEP_MILLISECONDS);
    return () => clearTimeout(timer);
  });

  const isFrench = overview.is_french;
  const faces = { url: decks[isFrench || suits === "french" ? "french-classic" : "italian-classic"], asFrench: !isFrench && suits === "french", names: overview.cards };
  const open = useMemo(() => step ? step.seats.map((/** @type {Own} */ own, /** @type {number} */ seat) => (viewer === OPEN || Number(viewer) === seat ? own : null)) : [], [step, viewer]);
  const judgements = useMemo(
    () => groupBy((analysis?.judgements || []).filter(({ deal }) => deal === position.deal), ({ place }) => place + 1),
    [analysis, position.deal],
  );
  const before = position.deal > 1 ? overview.deals[position.deal - 2].totals : [0, 0];
  const isAtEnd = position.step === lastStep;
  const says = step ? stepText(step) : "";
  const address = link(position.deal, position.step);
  /** @type {Judgement[]} */
  const stepJudgements = position.line ? [] : judgements.get(position.step) || [];
  const costlyMove = stepJudgements.find(({ lost, better, move }) => lost > 0 && better.startsWith("play ") && move.startsWith("play "));
  const hideSpoilers = () => {
    permanentStorage.set(SPOILERS_KEY, isSpoilerFree ? "show" : "hide");
    setSpoilerFree(!isSpoilerFree);
  };

  return html`
    <header class="bar"><${BackLink} texts=${texts} /><div><h1>${overview.title} <small>${id.split("-")[0]}</small></h1>${!isSpoilerFree && html`<p class="result">${overview.result}</p>`}${overview.fixture && html`<p class="result">${overview.fixture}</p>`}</div></header>
    <div class="columns">
      <section class="board" aria-label=${texts.table}>
        <div class=${position.line ? "" : "stage"}>${step ? html`
          <${Score} view=${step.view} turn=${step.view.turn} names=${names} totals=${isAtEnd ? overview.deals[position.deal - 1].totals : before} unit=${unit}
            taken=${viewer === OPEN && step.taken?.map((/** @type {number} */ points) => formatThirds(points * unit))} texts=${texts} />
          <p class="says" aria-live=${isPlaying ? "off" : "polite"}>${says}</p>
          <div class="arrowed" ref=${table}>
            <${Position} view=${step.view} open=${open} names=${names} faces=${faces} bottom=${/^\d$/.test(viewer) ? Number(viewer) : ownSeat ?? 0}
              isTaken=${step.move.startsWith("play ")} texts=${texts} />
            ${costlyMove && html`<${BetterArrow} table=${table} played=${costlyMove.move.split(" ")[1]} better=${costlyMove.better.split(" ")[1]} seat=${costlyMove.seat} />`}
          </div>
          ${stepJudgements.map((judgement) => html`<p key=${judgement.better} class=${judgement.lost > 0 ? "judgement bad" : "judgement good"}>${judgement.lost > 0 ? `${lostPoints(judgement)}. ${judgement.text} ${judgement.unseen ? texts.open_hands : ""}` : texts.nothing_lost}</p>`)}
          ${isAtEnd && !position.line && score.length > 0 && html`<p class="scored">${score.join("\n")}</p>`}
        ` : html`<p class="waiting" role="status">${failed || texts.loading}</p>`}</div>
        ${position.line ? html`<${WhatIf} line=${position.line} loaded=${loaded} losses=${losses} error=${lineError} unit=${unit} names=${overview.seats} faces=${faces} score=${isSpoilerFree ? [] : score} isKept=${link(position.deal, position.step, position.line) in kept.lines} texts=${texts}
          onLine=${setLine} onKeep=${() => keep("lines", link(position.deal, position.step, position.line), format(texts.line_at, { deal: position.deal, move: position.step, text: loaded?.steps[0] ? stepText(loaded.steps[0]) : "" }))} />` : html`
        <div class="controls">
          <input type="range" min="0" max=${lastStep} value=${position.step} aria-label=${texts.move} aria-valuetext=${says}
            onInput=${(/** @type {Event} */ event) => { setPlaying(false); go(position.deal, Number(valueOf(event))); }} />
          ${steps && html`<${PointsGraph} steps=${steps} at=${position.step} until=${isSpoilerFree ? position.step : lastStep} label=${texts.graph} names=${names} />`}
          <div class="keys">
            <button type="button" aria-label=${texts.first} onClick=${() => go(position.deal, 0)}>«</button>
            <button type="button" aria-label=${texts.previous} onClick=${() => { setPlaying(false); back(); }}>‹</button>
            <button type="button" aria-label=${isPlaying ? texts.pause : texts.play} aria-pressed=${isPlaying} class="main" id="play" onClick=${() => setPlaying(!isPlaying)}>${isPlaying ? "❚❚" : "▶"}</button>
            <button type="button" aria-label=${texts.next} onClick=${() => { setPlaying(false); forward(); }}>›</button>
            <button type="button" aria-label=${texts.last} onClick=${() => go(position.deal, lastStep)}>»</button>
          </div>
          <div class="branches">
            <button type="button" id="try" disabled=${step?.view.turn === null} onClick=${() => beginLine(null)}>${texts.what_if}</button>
            <button type="button" id="play-on" disabled=${step?.view.turn === null} onClick=${() => beginLine(/^\d$/.test(viewer) ? Number(viewer) : step?.view.turn ?? 0)}>${texts.play_on}</button>
          </div>
        </div>`}
        <div class="deals">
          <label class="short">${texts.deal} <select value=${position.deal} onChange=${(/** @type {Event} */ event) => go(Number(valueOf(event)), 0)}>
            ${overview.deals.map((/** @type {{number: number}} */ deal) => html`<option key=${deal.number} value=${deal.number}>${deal.number}/${overview.deals.length}</option>`)}
          </select></label>
          <label>${texts.who} <select value=${viewer} onChange=${(/** @type {Event} */ event) => setViewer(valueOf(event))} id="who">
            <option value=${OPEN}>${texts.all_open}</option>
            <option value=${EVERYBODY}>${texts.everybody}</option>
            ${names.map((name, seat) => html`<option key=${seat} value=${String(seat)}>${name}</option>`)}
          </select></label>
          ${!isFrench && suitsChoice}
          <label class="check"><input type="checkbox" id="spoilers" checked=${isSpoilerFree} onChange=${hideSpoilers} /> ${texts.spoiler_free}</label>
        </div>
      </section>
      <section class="side">
        ${!isSpoilerFree && html`<${Analysis} analysis=${analysis} failed=${analysisFailed} begin=${begin} />`}
        <h2>${texts.moves}</h2>
        <${Moves} steps=${isSpoilerFree ? steps?.slice(0, position.step + 1) : steps} position=${position} judgements=${judgements} notes=${kept.notes} />
        <${Notes} address=${address} kept=${kept} change=${keep} texts=${texts} />
        <${Shuffle} />
        <p><a class="button" href=${`${API}/record`} download=${`buongioco-${id}.json`}>${texts.download}</a></p>
      </section>
    </div>`;
};

/** @param {Event} event of a field */
const valueOf = (event) => /** @type {HTMLInputElement | HTMLSelectElement} */ (event.target).value;

/** @param {Judgement} judgement */
const lostPoints = ({ lost, exact }) => {
  const points = formatPoints(lost * unit, exact);
  if (points === "1") return exact ? texts.lost_one : texts.lost_about_one;
  return format(exact ? texts.lost : texts.lost_about, { points });
};

/** Format thirds of a point. @param {number} value */
const formatThirds = (value) => `${Math.floor(value / 3) || (value % 3 ? "" : 0)}${["", "⅓", "⅔"][value % 3]}`;

/** The moves of a deal, each a link to the position after it.
 * @param {{steps: Step[] | undefined, position: {deal: number, step: number}, judgements: Map<number, Judgement[]>, notes: Record<string, string>}} props */
const Moves = ({ steps, position, judgements, notes }) => {
  const list = useRef(/** @type {HTMLOListElement | null} */ (null));
  useEffect(() => {
    const current = /** @type {HTMLElement | null} */ (list.current?.querySelector("[aria-current]"));
    if (current && list.current) list.current.scrollTop = current.offsetTop - list.current.clientHeight / 2;
  }, [position, steps]);
  if (!steps) return html`<p class="moves">${texts.loading}</p>`;
  return html`<ol class="moves" start="0" ref=${list} tabindex="0" aria-label=${texts.moves}>${steps.map((step, number) => {
    const costlyMoves = (judgements.get(number) || []).filter((judgement) => judgement.lost > 0);
    return html`<li key=${number} class=${costlyMoves.length ? "bad" : judgements.has(number) ? "good" : ""}>
      <a href=${link(position.deal, number)} aria-current=${number === position.step ? "step" : undefined}>${stepText(step)}</a>
      ${notes[link(position.deal, number)] && html`<small class="note">✎ ${notes[link(position.deal, number)]}</small>`}
      ${costlyMoves.map((judgement) => html`<small key=${judgement.better}>${lostPoints(judgement)}. ${judgement.text}</small>`)}
    </li>`;
  })}</ol>`;
};

/** Group judgements, keeping their order.
 * @template Key @param {Judgement[]} judgements @param {(judgement: Judgement) => Key} keyOf @returns {Map<Key, Judgement[]>} */
function groupBy(judgements, keyOf) {
  const groups = new Map();
  for (const judgement of judgements) groups.set(keyOf(judgement), [...(groups.get(keyOf(judgement)) || []), judgement]);
  return groups;
}

/** @param {{analysis: AnalysisState | null, failed: string, begin: () => void}} props */
const Analysis = ({ analysis, failed, begin }) => {
  if (failed) return html`<section class="analysis"><p role="alert">${failed}</p><button type="button" onClick=${begin}>${texts.again}</button></section>`;
  if (!analysis) return html`<section class="analysis"></section>`;
  if (!analysis.is_begun) return html`<section class="analysis"><p>${texts.not_analysed}</p><button type="button" id="analyse" onClick=${begin}>${texts.analyse}</button></section>`;
  if (analysis.deals_done < analysis.deals) return html`<section class="analysis"><p role="status">${format(texts.analysing, { done: analysis.deals_done, deals: analysis.deals })}</p></section>`;
  return html`<section class="analysis" aria-label=${texts.analysis}>
    <h2>${texts.analysis}</h2>
    <ul class="players">${analysis.players.map(({ seat, accuracy, lost }) => html`<li key=${seat}><bdi>${names[seat]}</bdi> ${accuracy === null ? html`<small>${texts.no_decisions}</small>` : html`<b>${accuracy} %</b> <small>${format(texts.given_away, { points: formatPoints(lost * unit, false) })}</small>`}</li>`)}</ul>
    ${analysis.costliest.length > 0 && html`<h3>${texts.costliest}</h3>
      <ol class="costliest">${[...groupBy(analysis.costliest, ({ deal, place }) => `${deal} ${place}`)].map(([key, judgements]) => {
        const [{ deal, place, seat }] = judgements;
        return html`<li key=${key}>
        <a href=${link(deal, place + 1)}>${format(texts.where, { deal, move: place + 1 })}</a>: <bdi>${names[seat]}</bdi>. ${judgements.map((judgement) => `${lostPoints(judgement)}. ${judgement.text}`).join(" · ")}</li>`; })}</ol>`}
  </section>`;
};

/** The check of every shuffle: each pack in the record must follow from the deal's secret. */
const Shuffle = () => {
  const [checks, setChecks] = useState(/** @type {ShuffleCheck[] | null} */ (null));
  const [failure, setFailure] = useState("");
  const check = async () => {
    setFailure("");
    setChecks([]);
    try {
      const record = await fetchJson(`${API}/record`);
      for (const [index, deal] of record.deals.entries()) {
        const check = await checkShuffle(deal, index, record.seats.length);
        setChecks((old) => [...(old || []), check]);
      }
    } catch (error) {
      setChecks(null);
      setFailure(error instanceof NoWebCrypto ? texts.no_crypto : String(/** @type {Error} */ (error).message));
    }
  };
  const isComplete = checks?.length === overview.deals.length;
  /** @param {ShuffleCheck} deal */
  const isRightDeal = (deal) => deal.steps.every(([, isRight]) => isRight);
  const isFair = isComplete && checks?.every(isRightDeal);
  return html`<section class="shuffle">
    <h2>${texts.fair}</h2>
    <p>${texts.fair_about}</p>
    <button type="button" id="check" onClick=${check}>${texts.check}</button>
    ${failure && html`<p role="alert">${failure}</p>`}
    ${isComplete && html`<p role="status" id="verdict" class=${isFair ? "fair" : "unfair"}>${isFair ? `✓ ${texts.is_fair}` : `✗ ${texts.is_unfair}`}</p>`}
    ${(checks || []).map((deal, index) => html`<details key=${index} class=${isRightDeal(deal) ? "fair" : "unfair"} open=${!isRightDeal(deal)}>
      <summary>${isRightDeal(deal) ? "✓" : "✗"} ${texts.deal} ${index + 1}</summary>
      <ol>${deal.steps.map(([text, isRight]) => html`<li key=${text} class=${isRight ? "fair" : "unfair"}>${isRight ? "✓" : "✗"} ${text}</li>`)}</ol>
      ${deal.proof && html`<p><small>${texts.seal}: <code>${deal.proof.commitment}</code><br />${texts.secret}: <code>${deal.proof.secret}</code>${deal.proof.cut && html`<br />${texts.cut}: <code>${deal.proof.cut}</code>`}</small></p>`}
      <p class="pack"><small>${texts.pack}: ${deal.pack.map((card, index) => html`<span key=${index} class=${deal.wrongPlaces.includes(index) ? "wrong" : ""}>${overview.cards[card] || card} </span>`)}</small></p>
    </details>`)}
  </section>`;
};

/** @param {any} deal @param {number} index @param {number} count of seats @returns {Promise<ShuffleCheck>} */
async function checkShuffle(deal, index, count) {
  if (!deal.proof) return { steps: [[texts.no_proof, false]], pack: deal.pack, wrongPlaces: [], proof: null };
  const { commitment, pack, wrongPlaces } = await checkDeal(deal);
  /** @type {ShuffleCheck["steps"]} */
  const steps = [[texts.step_seal, commitment]];
  const { cut, cut_by } = deal.proof;
  const own = ownCut(deal.proof.commitment);
  if (own) steps.push([own === cut ? texts.step_own_cut : texts.step_other_cut, own === cut]);
  if (cut) steps.push([format(texts.step_cut, { name: overview.seats[cut_by] }), cut_by % 2 !== deal.dealer % 2]);
  const packFollows = cut ? texts.step_pack_cut : texts.step_pack;
  steps.push([wrongPlaces.length ? format(texts.step_pack_wrong, { count: wrongPlaces.length }) : packFollows, pack]);
  if (index === 0) steps.push([texts.step_dealer, (await firstDealer(deal.proof.secret, count)) === deal.dealer]);
  return { steps, pack: deal.pack, wrongPlaces, proof: deal.proof };
}

const main = /** @type {HTMLElement} */ (document.getElementById("replay"));
render(overview ? html`<${Replay} />` : html`<p class="waiting">${texts.no_game}</p><p class="waiting"><a class="button" href="/">${texts.home}</a></p>`, main);
