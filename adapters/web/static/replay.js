// @ts-check
// The page of a finished game: step by step, with its analysis, and with a check of the shuffle by this browser.
import { checkDeal, firstDealer, NoWebCrypto } from "./fairness.js";
import { inWords, Notes, Position } from "./position.js";
import { forEver } from "./storage.js";
import { html, pageData, render, useEffect, useMemo, useRef, useState } from "./view.js";

/** @typedef {{text: string, move: string, view: View, taken: number[] | null, seats: Own[]}} Step a moment of a deal */
/** @typedef {{seat: number, deal: number, place: number, lost: number, exact: boolean, better: string, text: string}} Judgement of a move */
/** @typedef {{is_begun: boolean, deals: number, deals_done: number, players: {seat: number, accuracy: number | null, lost: number}[], judgements: Judgement[], costliest: Judgement[]}} Found by the analysis */
/** @typedef {{steps: [text: string, is: boolean][], pack: string[], wrong: number[], proof: {commitment: string, secret: string} | null}} Checked deal's shuffle */
/** @typedef {import("./position.js").View} View */
/** @typedef {import("./position.js").Own} Own */

const { id, game: overview, decks, texts, language } = pageData();
const API = `/api/v1/games/${id}`;
const STEP_MILLISECONDS = 900, POLL_MILLISECONDS = 1500, HELD = "buongioco-suits";
const seats = overview ? overview.seats.length : 0;
/** How many points a table shows for one that is counted. */
const unit = overview ? Number(overview.rules.score_unit || 1) : 1;
const EVERYBODY = "public", OPEN = "open";

/** @param {string} path @param {RequestInit} [how] */
async function ask(path, how) {
  const answer = await fetch(path, how);
  if (!answer.ok) throw new Error((await answer.json()).detail);
  return answer.json();
}

/** Where a link leads: a deal, and how many of its moves were made.
 * @returns {{deal: number, step: number}} */
function place() {
  const [, deal, step] = /^#d(\d{1,4})(?:m(\d{1,4}))?$/.exec(location.hash) || [];
  const number = Math.min(Math.max(1, Number(deal || 1)), overview.deals.length);
  return { deal: number, step: Math.min(Number(step || 0), overview.deals[number - 1].moves) };
}

/** @param {number} deal @param {number} step */
const link = (deal, step) => `#d${deal}m${step}`;

/** Points to a tenth. @param {number} points */
const short = (points) => points.toLocaleString(language, { maximumFractionDigits: 1 });

/** @param {string} text @param {Record<string, any>} values */
const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

/** A deal, fetched once for each choice of suits. @param {number} deal @param {string} suits */
function useDeal(deal, suits) {
  const [deals, setDeals] = useState(/** @type {Record<string, any>} */ ({}));
  const [failed, setFailed] = useState("");
  const key = `${deal} ${suits}`;
  useEffect(() => {
    if (deals[key]) return;
    ask(`${API}/deals/${deal}?language=${language}&suits=${suits}`)
      .then((found) => { setFailed(""); setDeals((old) => ({ ...old, [key]: found })); }, (error) => setFailed(String(error.message)));
  }, [key]);
  return { steps: deals[key]?.steps, score: deals[key]?.score || [], failed };
}

/** What is known of how well it was played, followed while it is being made. @param {string} suits */
function useAnalysis(suits) {
  const [analysis, setAnalysis] = useState(/** @type {Found | null} */ (null));
  const [failed, setFailed] = useState("");
  const path = `${API}/analysis?language=${language}&suits=${suits}`;
  const latest = useRef((/** @type {RequestInit} */ _how) => {});
  useEffect(() => {
    // Whoever chooses other suits meanwhile is not to be told in these.
    const stop = new AbortController();
    let timer = 0;
    /** @param {RequestInit} [how] */
    const look = (how) => {
      ask(path, { ...how, signal: stop.signal }).then((found) => {
        setFailed("");
        setAnalysis(found);
        clearTimeout(timer);
        if (found.is_begun && found.deals_done < found.deals) timer = setTimeout(() => look({ method: "POST" }), POLL_MILLISECONDS);
      }, (error) => { if (!stop.signal.aborted) setFailed(String(error.message)); });
    };
    latest.current = look;
    look();
    return () => { stop.abort(); clearTimeout(timer); };
  }, [path]);
  return { analysis, failed, begin: () => latest.current({ method: "POST" }) };
}

const Replay = () => {
  const [at, setAt] = useState(place);
  const [who, setWho] = useState(OPEN);
  const [suits, setSuits] = useState(() => (forEver.get(HELD) === "french" ? "french" : "italian"));
  const [isPlaying, setPlaying] = useState(false);
  const { steps, score, failed } = useDeal(at.deal, suits);
  const { analysis, failed: notAnalysed, begin } = useAnalysis(suits);
  const last = overview.deals[at.deal - 1].moves;
  const step = steps?.[at.step];

  // Keys may come faster than the page is drawn: each goes on from where the one before has led.
  const here = useRef(at);
  /** @param {number} deal @param {number} number */
  const go = (deal, number) => {
    history.replaceState(null, "", link(deal, number));
    here.current = { deal, step: number };
    setAt(here.current);
  };
  /** @param {number} deal */
  const end = (deal) => overview.deals[deal - 1].moves;
  const forward = () => {
    const { deal, step: number } = here.current;
    if (number < end(deal)) go(deal, number + 1);
    else if (deal < overview.deals.length) go(deal + 1, 0);
    else setPlaying(false);
  };
  const back = () => {
    const { deal, step: number } = here.current;
    if (number > 0) go(deal, number - 1);
    else if (deal > 1) go(deal - 1, end(deal - 1));
  };

  useEffect(() => {
    const follow = () => { here.current = place(); setAt(here.current); };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const press = (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      // Where keys mean something else they keep it.
      if (event.altKey || event.ctrlKey || event.metaKey || /^(SELECT|TEXTAREA)$/.test(target.tagName)) return;
      if (event.key === " " && /^(BUTTON|SUMMARY|A)$/.test(target.tagName)) return;
      const todo = { ArrowRight: forward, ArrowLeft: back, Home: () => go(here.current.deal, 0), End: () => go(here.current.deal, end(here.current.deal)), " ": () => setPlaying((is) => !is) }[event.key];
      if (!todo) return;
      event.preventDefault();
      if (event.key !== " ") setPlaying(false);
      todo();
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
  const faces = { url: decks[isFrench || suits === "french" ? "french-classic" : "italian-classic"], isWorn: !isFrench && suits === "french", names: overview.cards };
  const open = useMemo(() => step ? step.seats.map((/** @type {Own} */ own, /** @type {number} */ seat) => (who === OPEN || Number(who) === seat ? own : null)) : [], [step, who]);
  const judged = useMemo(() => {
    const found = new Map();
    for (const one of analysis?.judgements || []) if (one.deal === at.deal) found.set(one.place + 1, [...(found.get(one.place + 1) || []), one]);
    return found;
  }, [analysis, at.deal]);
  const before = at.deal > 1 ? overview.deals[at.deal - 2].totals : [0, 0];
  const isAtEnd = at.step === last;
  /** @param {string} choose */
  const chooseSuits = (choose) => { forEver.set(HELD, choose); setSuits(choose); };
  const says = step ? step.text : "";

  return html`
    <header class="bar"><a href="/" aria-label=${texts.home}>←</a><div><h1>${overview.title} <small>${id.split("-")[0]}</small></h1><p class="result">${overview.result}</p>${overview.fixture && html`<p class="result">${overview.fixture}</p>`}</div></header>
    <div class="columns">
      <section class="board" aria-label=${texts.table}>
        ${step ? html`
          <${Score} step=${step} totals=${isAtEnd ? overview.deals[at.deal - 1].totals : before} showsTaken=${who === OPEN} />
          <p class="says" aria-live=${isPlaying ? "off" : "polite"}>${says}</p>
          <${Position} view=${step.view} open=${open} names=${overview.seats} faces=${faces} bottom=${/^\d$/.test(who) ? Number(who) : 0}
            isTaken=${step.move.startsWith("play ")} texts=${texts} />
          ${(judged.get(at.step) || []).map((/** @type {Judgement} */ one) => html`<p key=${one.better} class=${one.lost > 0 ? "judgement bad" : "judgement good"}>${one.lost > 0 ? `${lostPoints(one)}. ${one.text}` : texts.nothing_lost}</p>`)}
          ${isAtEnd && score.length > 0 && html`<p class="scored">${score.join("\n")}</p>`}
        ` : html`<p class="waiting" role="status">${failed || texts.loading}</p>`}
        <div class="controls">
          <input type="range" min="0" max=${last} value=${at.step} aria-label=${texts.move} aria-valuetext=${says}
            onInput=${(/** @type {Event} */ event) => { setPlaying(false); go(at.deal, Number(valueOf(event))); }} />
          <div class="keys">
            <button type="button" aria-label=${texts.first} onClick=${() => go(at.deal, 0)}>«</button>
            <button type="button" aria-label=${texts.previous} onClick=${() => { setPlaying(false); back(); }}>‹</button>
            <button type="button" aria-label=${isPlaying ? texts.pause : texts.play} aria-pressed=${isPlaying} class="main" id="play" onClick=${() => setPlaying(!isPlaying)}>${isPlaying ? "❚❚" : "▶"}</button>
            <button type="button" aria-label=${texts.next} onClick=${() => { setPlaying(false); forward(); }}>›</button>
            <button type="button" aria-label=${texts.last} onClick=${() => go(at.deal, last)}>»</button>
          </div>
        </div>
        <div class="deals">
          <label class="short">${texts.deal} <select value=${at.deal} onChange=${(/** @type {Event} */ event) => go(Number(valueOf(event)), 0)}>
            ${overview.deals.map((/** @type {{number: number}} */ deal) => html`<option key=${deal.number} value=${deal.number}>${deal.number}/${overview.deals.length}</option>`)}
          </select></label>
          <label>${texts.who} <select value=${who} onChange=${(/** @type {Event} */ event) => setWho(valueOf(event))} id="who">
            <option value=${OPEN}>${texts.all_open}</option>
            <option value=${EVERYBODY}>${texts.everybody}</option>
            ${overview.seats.map((/** @type {string} */ name, /** @type {number} */ seat) => html`<option key=${seat} value=${String(seat)}>${name}</option>`)}
          </select></label>
          ${!isFrench && html`<label>${texts.suits} <select value=${suits} onChange=${(/** @type {Event} */ event) => chooseSuits(valueOf(event))} id="suits">
            <option value="italian">${texts.italian}</option><option value="french">${texts.french}</option>
          </select></label>`}
        </div>
      </section>
      <section class="side">
        <${Analysis} analysis=${analysis} failed=${notAnalysed} begin=${begin} />
        <h2>${texts.moves}</h2>
        <${Moves} steps=${steps} at=${at} judged=${judged} />
        <${Shuffle} />
        <p><a class="button" href=${`${API}/record`} download=${`buongioco-${id}.json`}>${texts.download}</a></p>
      </section>
    </div>`;
};

/** @param {Event} event of a field */
const valueOf = (event) => /** @type {HTMLInputElement | HTMLSelectElement} */ (event.target).value;

/** @param {Judgement} one */
const lostPoints = (one) => {
  const points = short(one.lost * unit);
  if (points === "1") return one.exact ? texts.lost_one : texts.lost_about_one;
  return filled(one.exact ? texts.lost : texts.lost_about, { points });
};

/** What each side has. Whoever sees all may also know the points in the tricks taken.
 * @param {{step: Step, totals: number[], showsTaken: boolean}} given */
const Score = ({ step, totals, showsTaken }) => html`<dl class="score">${[0, 1].map((side) => html`
    <div key=${side} class=${step.view.turn !== null && step.view.turn % 2 === side ? "to-move" : ""}>
      <dt><bdi>${overview.seats.filter((/** @type {string} */ _, /** @type {number} */ seat) => seat % 2 === side).join(" + ")}</bdi></dt>
      <dd><b>${totals[side] * unit}</b> <small><${Notes} notes=${[
        `${texts.tricks} ${step.view.tricks[side]}`,
        step.view.bids && step.view.bids[side] !== null && `${texts.bid} ${inWords(step.view.bids[side], texts)}`,
        step.view.declared?.[side] && `${texts.declared} ${step.view.declared[side] * unit}`,
        showsTaken && step.taken && `${texts.taken} ${thirds(step.taken[side] * unit)}`,
      ]} /></small></dd>
    </div>`)}</dl>`;

/** Thirds of a point as points. @param {number} value */
const thirds = (value) => `${Math.floor(value / 3) || (value % 3 ? "" : 0)}${["", "⅓", "⅔"][value % 3]}`;

/** The moves of a deal, each a link to the moment after it.
 * @param {{steps: Step[] | undefined, at: {deal: number, step: number}, judged: Map<number, Judgement[]>}} given */
const Moves = ({ steps, at, judged }) => {
  const list = useRef(/** @type {HTMLOListElement | null} */ (null));
  useEffect(() => {
    const current = /** @type {HTMLElement | null} */ (list.current?.querySelector("[aria-current]"));
    if (current && list.current) list.current.scrollTop = current.offsetTop - list.current.clientHeight / 2;
  }, [at, steps]);
  if (!steps) return html`<p class="moves">${texts.loading}</p>`;
  return html`<ol class="moves" start="0" ref=${list} tabindex="0" aria-label=${texts.moves}>${steps.map((step, number) => {
    const lost = (judged.get(number) || []).filter((one) => one.lost > 0);
    return html`<li key=${number} class=${lost.length ? "bad" : judged.has(number) ? "good" : ""}>
      <a href=${link(at.deal, number)} aria-current=${number === at.step ? "step" : undefined}>${step.text}</a>
      ${lost.map((one) => html`<small key=${one.better}>${lostPoints(one)}. ${one.text}</small>`)}
    </li>`;
  })}</ol>`;
};

/** @param {Judgement[]} judgements @returns {Judgement[][]} in the same order, those on one move together */
function byMove(judgements) {
  const moves = new Map();
  for (const one of judgements) {
    const move = `${one.deal} ${one.place}`;
    moves.set(move, [...(moves.get(move) || []), one]);
  }
  return [...moves.values()];
}

/** @param {{analysis: Found | null, failed: string, begin: () => void}} given */
const Analysis = ({ analysis, failed, begin }) => {
  if (failed) return html`<section class="analysis"><p role="alert">${failed}</p><button type="button" onClick=${begin}>${texts.again}</button></section>`;
  if (!analysis) return html`<section class="analysis"></section>`;
  if (!analysis.is_begun) return html`<section class="analysis"><p>${texts.not_analysed}</p><button type="button" id="analyse" onClick=${begin}>${texts.analyse}</button></section>`;
  if (analysis.deals_done < analysis.deals) return html`<section class="analysis"><p role="status">${filled(texts.analysing, { done: analysis.deals_done, deals: analysis.deals })}</p></section>`;
  return html`<section class="analysis" aria-label=${texts.analysis}>
    <h2>${texts.analysis}</h2>
    <ul class="players">${analysis.players.map((one) => html`<li key=${one.seat}><bdi>${overview.seats[one.seat]}</bdi> ${one.accuracy === null ? html`<small>${texts.no_decisions}</small>` : html`<b>${one.accuracy} %</b> <small>${filled(texts.given_away, { points: short(one.lost * unit) })}</small>`}</li>`)}</ul>
    ${analysis.costliest.length > 0 && html`<h3>${texts.costliest}</h3>
      <ol class="costliest">${byMove(analysis.costliest).map(([one, ...others]) => html`<li key=${`${one.deal} ${one.place}`}>
        <a href=${link(one.deal, one.place + 1)}>${filled(texts.where, { deal: one.deal, move: one.place + 1 })}</a>: <bdi>${overview.seats[one.seat]}</bdi>. ${[one, ...others].map((about) => `${lostPoints(about)}. ${about.text}`).join(" · ")}</li>`)}</ol>`}
  </section>`;
};

/** The check of every deal's shuffle, by this browser alone: the record says what was dealt, the secret what should be. */
const Shuffle = () => {
  const [found, setFound] = useState(/** @type {Checked[] | null} */ (null));
  const [why, setWhy] = useState("");
  const check = async () => {
    setWhy("");
    setFound([]);
    try {
      const record = await ask(`${API}/record`);
      for (const [place, deal] of record.deals.entries()) {
        const checked = await checked_deal(deal, place, record.seats.length);
        setFound((old) => [...(old || []), checked]);
      }
    } catch (error) {
      setFound(null);
      setWhy(error instanceof NoWebCrypto ? texts.no_crypto : String(/** @type {Error} */ (error).message));
    }
  };
  const isWhole = found?.length === overview.deals.length;
  const isFair = isWhole && found?.every((deal) => deal.steps.every(([, is]) => is));
  return html`<section class="shuffle">
    <h2>${texts.fair}</h2>
    <p>${texts.fair_about}</p>
    <button type="button" id="check" onClick=${check}>${texts.check}</button>
    ${why && html`<p role="alert">${why}</p>`}
    ${isWhole && html`<p role="status" id="verdict" class=${isFair ? "fair" : "unfair"}>${isFair ? `✓ ${texts.is_fair}` : `✗ ${texts.is_unfair}`}</p>`}
    ${(found || []).map((deal, place) => html`<details key=${place} class=${deal.steps.every(([, is]) => is) ? "fair" : "unfair"} open=${!deal.steps.every(([, is]) => is)}>
      <summary>${deal.steps.every(([, is]) => is) ? "✓" : "✗"} ${texts.deal} ${place + 1}</summary>
      <ol>${deal.steps.map(([text, is]) => html`<li key=${text} class=${is ? "fair" : "unfair"}>${is ? "✓" : "✗"} ${text}</li>`)}</ol>
      ${deal.proof && html`<p><small>${texts.seal}: <code>${deal.proof.commitment}</code><br />${texts.secret}: <code>${deal.proof.secret}</code></small></p>`}
      <p class="pack"><small>${texts.pack}: ${deal.pack.map((card, at) => html`<span key=${at} class=${deal.wrong.includes(at) ? "wrong" : ""}>${overview.cards[card] || card} </span>`)}</small></p>
    </details>`)}
  </section>`;
};

/** @param {any} deal @param {number} place @param {number} count of seats @returns {Promise<Checked>} */
async function checked_deal(deal, place, count) {
  if (!deal.proof) return { steps: [[texts.no_proof, false]], pack: deal.pack, wrong: [], proof: null };
  const { commitment, pack, wrong } = await checkDeal(deal);
  /** @type {Checked["steps"]} */
  const steps = [[texts.step_seal, commitment], [wrong.length ? filled(texts.step_pack_wrong, { count: wrong.length }) : texts.step_pack, pack]];
  if (place === 0) steps.push([texts.step_dealer, (await firstDealer(deal.proof.secret, count)) === deal.dealer]);
  return { steps, pack: deal.pack, wrong, proof: deal.proof };
}

const main = /** @type {HTMLElement} */ (document.getElementById("replay"));
render(overview ? html`<${Replay} />` : html`<p class="waiting">${texts.no_game}</p><p class="waiting"><a class="button" href="/">${texts.home}</a></p>`, main);
