// @ts-check
// A player's page of a table: cards to tap, and the panel's text and buttons. It knows no rules: the bot sends each card
// and button with its payload.
import { Buttons, inPairs } from "./buttons.js";
import { cardCount, Fan, LastTrick, Spoken, Tap, Trick, wasPlaced } from "./cards.js";
import { Clock } from "./clock.js";
import { Connection, openTable } from "./connection.js";
import { useEarlyCard } from "./early_card.js";
import { Face } from "./faces.js";
import { CardOrder, faceDown, inOrder, moveCard, useHiddenHand } from "./hand.js";
import { tell } from "./moments.js";
import { options } from "./options.js";
import { onOtherReader } from "./reader.js";
import { Pile, Portrait, Seat } from "./seats.js";
import { sound, SoundButton } from "./sound.js";
import { tabStorage } from "./storage.js";
import { DealerChip, html, ignoreHeldKeys, pageData, render, useEffect, useLater, useLayoutEffect, useRef, useState } from "./view.js";

/** @typedef {import("./cards.js").TapCard} TapCard */
/** @typedef {import("./cards.js").PageCard} PageCard */
/** @typedef {{number: number, at: number, text: string, cards: string[]}} SeatEvent */
/** @typedef {[label: string, payload: string, style: string, kind: string, role: string, about: string]} Button */
/** @typedef {{code: string, phase: string, game: string, rules: string, deck: string, version: number, says: string, text: [string, string][], rows: Button[][], extra: Button[][], clock: number, clock_left?: number, alarm: string, is_mine: boolean, line: string, hint: string, advised: string[], legend: string, order: string[], target: string, deal: number, sides: {name: string, points: string, notes: string[], is_to_move: boolean, tricks: number}[], sitting: import("./seats.js").PagePlayer[], trick: PageCard[], last_trick: PageCard[], last_title: string, stock: number, drawn: PageCard[], drawn_title: string, middle: TapCard[], hand: TapCard[], packets: TapCard[], count: {lines: [string, string, string][], label: string, before: number[], after: number[], target: number} | null, tally_title: string, end_trick: PageCard[], replay: string, results: string, results_label: string, resign: string, by_link: boolean, seal: string, cut: string, pack: number, news: string, spoken: Record<string, string>, has_row: boolean, target_about: string, events: SeatEvent[], takes: string, end: import("./game_end.js").End | null, log: import("./deal_log.js").Log | null, finished_log: import("./deal_log.js").Log | null}} Table */

const { code, ended, texts } = pageData(), reader = document.documentElement.dataset.reader || "";
const END = `end ${code} ${reader}`;  // where this tab keeps the end of the game, for the way back from its replay
const TAKEN_SHOWN = { slow: 3000, normal: 1500, fast: 700 };  // milliseconds that a taken trick is shown, by the pace of robots
const TAKING = 260;  // the last milliseconds of that time, in which the trick moves to its winner
const TITLE = document.title;
const KEEP_AFTER = 5000;  // milliseconds until the page is stored for use without a network; earlier it would delay the game
const TOAST_SHOWN = 6000, TOAST_LETTER = 90;  // milliseconds that an answer is shown: at least, and for each letter
const CUTTING = 500;  // milliseconds that a cut is shown

/** @param {{sides: Table["sides"]}} props */
const Score = ({ sides }) => html`
  <div class="score">${sides.map((side) => html`
    <div class=${`side ${side.is_to_move ? "to-move" : ""}`}>
      <b dir="auto">${side.name}</b> <span class="points">${side.points}</span>
      <small>${side.notes.map((note, index) => html`<span key=${index}>${note}${index < side.notes.length - 1 && " ·"}</span> `)}</small>
    </div>`)}
  </div>`;

/** @type {Record<string, string>} */
const TAGS = { bold: "b", italic: "i", small: "small", code: "code" };

/** The panel's text, as in a chat. @param {{table: Table}} props */
const Words = ({ table: { text, spoken } }) => html`<div class="words" dir="auto">${text.map(([words, style]) => {
  const content = html`<${Spoken} text=${words} spoken=${spoken} />`;
  return style in TAGS ? html`<${TAGS[style]}>${content}<//>` : content;
})}</div>`;

/** Close a dialog on a tap outside its content. Only such taps have the dialog itself as target. @param {MouseEvent} event */
const closeOutside = (event) => { if (event.target === event.currentTarget) /** @type {HTMLDialogElement} */ (event.target).close(); };

/** Return the table at the end of a deal, with its last trick and nothing to press.
 * @param {Table} table @param {Table} next @returns {Table} */
function endOfDeal(table, { end_trick: trick, takes }) {
  /** @param {TapCard} card */
  const isLeft = (card) => !trick.some((played) => played.code === card.code);
  return {
    ...table, trick, takes, last_trick: [], drawn: [], extra: [], line: "", is_mine: false,
    hand: table.hand.filter(isLeft), packets: table.packets.filter(isLeft),
  };
}

/** Return the table while a taken trick is still shown: the next lead and the reader's turn are hidden.
 * @param {Table} table @param {string} says @returns {Table} */
function beforeLead(table, says) {
  /** @param {TapCard} card @returns {TapCard} */
  const disable = (card) => ({ ...card, light: "", press: "" });
  return { ...table, trick: [], extra: [], events: [], line: "", is_mine: false, says, hand: table.hand.map(disable), packets: table.packets.map(disable) };
}

/** Play a sound for the cards that other players have added to the trick. @param {Table} old @param {PageCard[]} trick */
function playCardSounds(old, trick) {
  const played = trick.filter((card) => card.at && !old.trick.some((oldCard) => oldCard.code === card.code));
  if (played.length) sound.play(played.some((card) => card.said === "busso") ? "knock" : "card");
}

/** Return the deal and number of the last event. @param {Table} table */
const lastEvent = (table) => [table.deal, table.events.at(-1)?.number ?? -1];

/** @param {PageCard[]} cards */
const codes = (cards) => cards.map((card) => card.code).join(" ");

/** Return for how long a taken trick is shown, in milliseconds. With a clock, a slow pace counts as normal.
 * @param {Table | null} table */
const timeShown = (table) => Math.min(TAKEN_SHOWN[options.pace], table?.clock ? TAKEN_SHOWN.normal : Infinity);

/** Keep the keyboard focus when its button disappears: it moves to the same card, the next card, or the first choice. */
function useKeptFocus() {
  const held = useRef(/** @type {{button: HTMLElement, index: number} | null} */ (null));
  const cards = () => /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#table .fan .tap")]);
  const focused = /** @type {HTMLElement} */ (document.activeElement || document.body);
  if (focused !== document.body || held.current?.button.isConnected) held.current = focused.matches("#table button:focus-visible") ? { button: focused, index: cards().indexOf(focused) } : null;
  useLayoutEffect(() => {
    if (!held.current || held.current.button.isConnected || document.activeElement !== document.body) return;
    const { button, index } = held.current, allCards = cards();
    const choice = /** @type {HTMLElement | null} */ (document.querySelector("#table > .buttons button:enabled")) || allCards.find((card) => card.classList.contains("playable"));
    // If there is nothing to choose yet, the focus waits for the next state.
    const fallback = button.dataset.payload ? choice : allCards[Math.min(Math.max(index, 0), allCards.length - 1)];
    const target = allCards.find((card) => card.dataset.card && card.dataset.card === button.dataset.card) || fallback;
    target?.focus({ preventScroll: true });
  });
}

const App = () => {
  const [table, setTable] = useState(/** @type {Table | null} */ (null));
  const [state, setState] = useState("connecting");
  const [isLate, setLate] = useState(false);
  const [reason, setReason] = useState("");
  const [toast, setToast] = useState("");
  // The player's own card is shown on the table at once, until the bot sends the next state or refuses it.
  const [movingCard, setMovingCard] = useState(/** @type {{press: string, card: TapCard, version: number} | null} */ (null));
  const [busy, setBusy] = useState("");
  const [seenDeal, setSeenDeal] = useState(0);
  // A taken trick stays for a moment, so that its last card can be seen.
  const [takenTrick, setTakenTrick] = useState(/** @type {PageCard[]} */ ([]));
  const [isLeaving, setLeaving] = useState(false);
  const [, redraw] = useState({});
  const [hasPressed, setPressed] = useState(false);
  const connection = useRef(/** @type {Connection | null} */ (null));
  const menu = useRef(/** @type {HTMLDialogElement | null} */ (null));
  // The last state from the bot, and the one shown.
  const latestTable = useRef(/** @type {Table | null} */ (null));
  const shownTable = useRef(/** @type {Table | null} */ (null));
  // The score of a deal or the next lead, held back until the player has seen the last trick; or the cards after a cut.
  const heldBack = useRef(/** @type {"" | "deal" | "lead" | "cut"} */ (""));
  const timer = useRef(0);
  const highest = useRef({ deal: 0, rows: 0 });  // the most rows of buttons above the hand in this deal, which keep their places
  const firstEvent = useRef([0, -1]);  // the last event before the page opened
  // What this browser stores for use without a network, loaded after the first card.
  const offlineCopy = useRef(/** @type {ReturnType<typeof import("./offline.js").keepOffline> | null} */ (null));

  /** @param {"deal" | "lead" | "cut"} reason */
  const holdBack = (reason) => {
    heldBack.current = reason;
    clearTimeout(timer.current);
    timer.current = setTimeout(showLatest, reason === "cut" ? CUTTING : timeShown(latestTable.current));
  };
  const showLatest = () => {
    clearTimeout(timer.current);
    heldBack.current = "";
    setTakenTrick([]);
    if (latestTable.current) show(latestTable.current);
  };
  /** @param {Table} next */
  const show = (next) => {
    const old = shownTable.current;
    if (old === next) return;
    if (old && old.phase === "playing" && next.end_trick.length && (old.deal !== next.deal || next.phase === "over")) {
      shownTable.current = null;
      playCardSounds(old, next.end_trick);
      setTable(endOfDeal(old, next));
      setMovingCard(null);
      setTakenTrick([]);
      holdBack("deal");
      return;
    }
    const isTaken = old && old.deal === next.deal && next.last_trick.length && codes(old.last_trick) !== codes(next.last_trick);
    const visible = isTaken && next.trick.length ? beforeLead(next, old.says) : next;
    shownTable.current = visible;
    if (isTaken) { setTakenTrick(next.last_trick); holdBack("lead"); }
    if (old) playCardSounds(old, isTaken ? next.last_trick : visible.trick);
    if (visible.is_mine && !old?.is_mine) sound.play("turn");
    setTable(visible);
    setMovingCard((current) => (current && next.version > current.version ? null : current));
  };

  /** @param {Table} next */
  const receiveTable = (next) => {
    if (!latestTable.current) firstEvent.current = lastEvent(next);
    if (next.phase === "over" && next.replay) {
      tabStorage.set(END, JSON.stringify(next));
      history.replaceState(null, "", "?ended");
    }
    latestTable.current = next;
    setBusy("");
    offlineCopy.current?.then(({ save }) => save(next));
    if (heldBack.current === "deal" || heldBack.current === "cut" || (heldBack.current === "lead" && next.trick.length)) return;
    show(next);
  };
  /** A table is removed after its game. A shown result stays; a reader who missed it goes to the replay.
   * @param {string} go @param {string} why */
  const leave = (go, why) => {
    if (/^(over|closed)$/.test(latestTable.current?.phase || "")) setState("open");
    else if (go) location.replace(go);
    else { setReason(why); setState("gone"); }
  };

  useEffect(() => {
    const end = ended && tabStorage.get(END);
    if (ended && !end) { location.replace(ended); return; }
    const first = end || document.getElementById("first-state")?.textContent;
    if (first) receiveTable(JSON.parse(first));
    /** @param {any} message */
    const receive = (message) => {
      if (message.table) receiveTable(message.table);
      else if (message.gone) { newConnection.isOver = true; forget(message.stranger); leave(message.go || "", message.why || texts.gone); }
      else newConnection.answer(message);
    };
    const newConnection = connection.current = new Connection({
      open: async () => openTable(code, reader, latestTable.current?.phase === "over"), receive, state: (isOpen) => { setState(isOpen ? "open" : "away"); if (isOpen) sendPace(); else keep(); }, late: setLate,
    });
    onOtherReader(() => newConnection.renew());
    /** Delete the stored table, or everything of this page's reader. @param {boolean} [isStranger] */
    const forget = (isStranger) => (isStranger ? import("./offline_storage.js").then(({ forgetReader }) => forgetReader(reader)) : offlineCopy.current?.then((offline) => offline.forget()));
    const keep = () => { offlineCopy.current ||= import("./offline.js").then(({ keepOffline }) => keepOffline(code, reader, newConnection, { latest: latestTable, receiveTable, sendPress })); };
    setTimeout(keep, KEEP_AFTER);
    // A search for an opponent continues while the reader plays at a table.
    if (tabStorage.get("searching") === "yes") import("./searching.js").then(({ followSearch }) => followSearch({ show: ({ text, state: search }) => { if (search !== "waiting") setToast(text); }, fail: () => undefined }));
  }, []);
  useEffect(() => {
    if (!toast) return undefined;
    const timer = setTimeout(() => setToast(""), Math.max(TOAST_SHOWN, TOAST_LETTER * toast.length));
    return () => clearTimeout(timer);
  }, [toast]);
  useEffect(() => {
    if (!takenTrick.length) return undefined;
    const leaving = setTimeout(() => { setLeaving(true); sound.play("sweep"); }, timeShown(latestTable.current) - TAKING);
    return () => { clearTimeout(leaving); setLeaving(false); };
  }, [takenTrick]);
  // Announce each change once to screen readers.
  useLayoutEffect(() => {
    const says = /** @type {HTMLElement} */ (document.getElementById("says"));
    if (table && says.textContent !== table.says) says.textContent = table.says;
  }, [table?.says]);

  /** Return whether the press was accepted. @param {string} press @param {TapCard} [card] @param {string} [note] */
  const onPress = async (press, card, note = "") => {
    if (card && (!press || movingCard)) { earlyCard.choose(card); return false; }
    // The table is gone: reloading redirects to the replay.
    if (connection.current?.isOver) { location.reload(); return false; }
    setToast("");
    if (heldBack.current === "lead") showLatest();
    // The deal's score must not cover the answer to a press from the menu.
    setSeenDeal(table?.deal || 0);
    if (card && card.light === "playable" && card.role === "play") {
      sound.play(press.endsWith(" busso") ? "knock" : "card");
      tell("card");
    } else setBusy(press);
    return sendPress(press, card, undefined, note);
  };
  /** Send a press and show its card as played; return whether it was accepted.
   * @param {string} press @param {TapCard} [card] @param {string} [n] the name of a press that an earlier page sent
   * @param {string} [note] goes before a refusal's reason */
  const sendPress = async (press, card, n, note = "") => {
    if (card && card.light === "playable" && card.role === "play" && latestTable.current) setMovingCard({ press, card, version: latestTable.current.version });
    const answer = await connection.current?.send({ press }, n);
    setPressed(true);
    setBusy((old) => (old === press ? "" : old));
    if (answer.toast) setToast(`${note} ${answer.toast}`.trim());
    if (answer.refused) {
      earlyCard.forget();
      tell("refused");
      setMovingCard((old) => (old && old.press === press ? null : old));
    }
    if (answer.go) location.assign(answer.go);
    return !answer.refused;
  };

  /** Return whether the cut was accepted. @param {string} press */
  const onCut = (press) => { sound.play("card"); holdBack("cut"); return onPress(press); };

  const sendPace = () => connection.current?.tell({ pace: options.pace });
  const changeOption = () => { sendPace(); redraw({}); };

  /** @param {string} moved @param {string} target */
  const onMove = (moved, target) => { if (table) moveCard(table.hand, moved, target); redraw({}); };

  /** Send a taken trick away at a tap on the table. @param {MouseEvent} event */
  const onFelt = (event) => {
    const chip = /** @type {Element} */ (event.target).closest(".dealer-chip");
    if (chip) setToast(chip.parentElement?.textContent?.trim() || "");
    if (heldBack.current && heldBack.current !== "cut" && !/** @type {Element} */ (event.target).closest("button, details")) showLatest();
  };

  /** Press a button of the menu, and close the menu to show the result. @param {string} press */
  const onChoice = (press) => { menu.current?.close(); onPress(press); };

  // The score is shown with the pack to cut, and not again after it.
  useEffect(() => { if (table?.seal) setSeenDeal(table.deal); }, [table?.seal]);

  const showsTally = Boolean(table?.count) && table?.phase !== "over" && seenDeal !== table?.deal;
  const earlyCard = useEarlyCard({ table, isReady: table?.phase === "playing" && !table.seal && !showsTally && !movingCard && !takenTrick.length && !heldBack.current, onPress });
  const [isHidden, hideButton] = useHiddenHand(() => setToast(texts.hidden_about));
  useKeptFocus();
  useEffect(() => {
    document.title = table?.is_mine ? `● ${texts.your_turn} · ${TITLE}` : TITLE;
    tell(table?.is_mine ? "turn" : "rest");
  }, [table?.is_mine]);
  // The table's other parts are not loaded before the first card.
  const hints = useLater(Boolean(table?.hint), () => import("./hint.js"));
  const menuPart = useLater(hasPressed, () => import("./menu.js"));
  const cutting = useLater(Boolean(table?.seal), () => import("./pack.js"));
  const bubbles = useLater(hasPressed || Boolean(table && (table.sitting.some(({ said }) => said) || String(lastEvent(table)) !== String(firstEvent.current))), () => import("./bubbles.js"));
  const endings = useLater(hasPressed || Boolean(table && (table.count || table.phase === "over")), () => import("./endings.js"));
  const absences = useLater(Boolean(table?.sitting.some(({ away }) => away)), () => import("./absences.js"));
  const invitation = useLater(Boolean(table?.by_link), () => import("./invitation.js"));

  if (state === "gone") return html`<div class="waiting"><p role="alert">${reason}</p><a class="button" href="/">${texts.home}</a></div>`;
  if (!table) return html`<p class="waiting">${texts.connecting}</p>`;
  // A hint on a card would name it while the hand is hidden.
  const isHinted = table.hint && !movingCard && !(isHidden && table.hand.some((card) => table.advised.includes(card.code)));
  const isPlaying = table.sides.length > 0 && table.phase === "playing";
  const isOver = table.phase === "over";
  const seats = table.sitting.length;
  const me = { at: 0, by: table.sitting[0]?.name || "", said: "", wins: false };
  const trick = takenTrick.length ? takenTrick : movingCard && !table.trick.some((card) => card.code === movingCard.card.code) ? [...table.trick, { ...me, code: movingCard.card.code }] : table.trick;
  const ownCards = earlyCard.mark(inOrder(movingCard ? table.hand.filter((card) => card.code !== movingCard.card.code) : table.hand));
  const hand = isHidden ? faceDown(ownCards) : ownCards;
  const handName = `${code} hand ${table.deal}`;
  // Buttons that come with every move are next to the line of text, so that the cards do not move.
  const isInline = /** @param {Button} button */ ([, , , , role]) => /^(hint|claim|say)$/.test(role);
  const inlineButtons = table.extra.flat().filter(isInline);
  /** @param {Button[]} row */
  const hasPhrases = (row) => row.some(([, , , , role]) => role === "phrase");
  const phrases = table.extra.filter(hasPhrases);
  const extra = inPairs(table.extra.filter((row) => !hasPhrases(row)).map((row) => row.filter((button) => !isInline(button))).filter((row) => row.length));
  if (highest.current.deal !== table.deal) highest.current = { deal: table.deal, rows: Number(table.has_row) };
  highest.current.rows = Math.max(highest.current.rows, extra.length);
  // Cards are tapped, so the menu does not repeat them.
  const rows = table.rows.map((row) => row.filter(([, , , , , about]) => !about)).filter((row) => row.length);
  const trouble = [isLate && texts.unsent, state === "away" && (navigator.onLine ? texts.connecting : texts.offline)].filter(Boolean).join(" ");
  return html`
    <header class="bar">
      <a href="/" aria-label=${texts.home}>←</a>
      <h1 class="title">${table.game} ${table.target && (table.target_about ? html`<button type="button" class="target" onClick=${() => setToast(table.target_about)}>${table.target}</button>` : html`<small>${table.target}</small>`)}</h1>
      ${table.clock > 0 && isPlaying && !table.seal && html`<${Clock} seconds=${table.clock} left=${table.clock_left} version=${table.version} />`}
      ${table.sides.length > 0 && !isOver && html`<${Score} sides=${table.sides} />`}
      <${SoundButton} />
      <button type="button" class="opens-menu" aria-label=${texts.menu} aria-haspopup="dialog" onClick=${() => { setPressed(true); menu.current?.showModal(); }}>☰</button>
      <dialog class="menu" ref=${menu} aria-label=${texts.menu} onClick=${closeOutside}>
        ${menuPart && html`<${menuPart.Menu} table=${table} onPress=${onChoice} onChange=${changeOption} onClose=${() => menu.current?.close()}>
          <details><summary>${texts.in_words}</summary><${Words} table=${table} /></details>
          <${Buttons} rows=${rows} spoken=${table.spoken} onPress=${onChoice} />
        <//>`}
      </dialog>
    </header>
    ${trouble && html`<p class="away" role="alert">${trouble}</p>`}
    ${table.seal ? html`
      <section class="felt cutting">
        ${endings && table.count && html`<${endings.DealCount} table=${table} />`}
        ${cutting && html`<${cutting.Cut} table=${table} onCut=${onCut} />`}
      </section>
      ${isPlaying && extra.length > 0 && html`<${Buttons} rows=${extra} spoken=${table.spoken} onPress=${onPress} />`}
    ` : isPlaying && showsTally ? html`
      <section class="felt">${endings && html`<${endings.DealCount} table=${table} onClose=${() => setSeenDeal(table.deal)} />`}</section>
    ` : isPlaying ? html`
      <section class=${`felt of${seats}`} onClick=${onFelt}>
        ${table.sitting.slice(1).map((player) => html`<${Seat} key=${player.at} deck=${table.deck} player=${player} seats=${seats} />`)}
        ${table.middle.length > 0 && html`<div class="middle">${table.middle.map((card) => html`<${Tap} key=${card.label} deck=${table.deck} card=${card} advised=${table.advised} onPress=${onPress} />`)}</div>`}
        <${Trick} deck=${table.deck} cards=${trick} seats=${seats} to=${takenTrick.length && isLeaving ? takenTrick.find((card) => card.wins)?.at ?? null : null} />
        ${table.sides.map((side, number) => html`<${Pile} key=${number} deck=${table.deck} count=${side.tricks} name=${`won${number}`} />`)}
        ${table.stock > 0 && html`<div class="stock"><${Pile} deck=${table.deck} count=${table.stock} name="" /><small class="unseen">${cardCount(table.stock)}</small></div>`}
        ${table.drawn.length > 0 && html`<div class=${`drawn ${table.drawn.every((card) => !card.by) ? "looked-at" : ""}`}><small>${table.drawn_title}</small>${table.drawn.map((card) => html`<span class="small" key=${card.code}><${Face} deck=${table.deck} card=${card.code} name=${card.name} /><small dir="auto">${card.by}</small></span>`)}</div>`}
        ${table.last_trick.length > 0 && html`<${LastTrick} table=${table} />`}
        ${isHinted ? hints && html`<${hints.Hint} table=${table} />` : table.news && html`<p class="hint advice">${table.news}</p>`}
        ${bubbles && html`<${bubbles.Bubbles} table=${table} takenTrick=${takenTrick} firstEvent=${firstEvent.current} />`}
      </section>
      <div class="todo">
        <span class=${table.is_mine && !movingCard ? "me to-move" : "me"} onClick=${onFelt}><${Portrait} face=${table.sitting[0]?.face} />${table.sitting[0]?.dealing && html`<${DealerChip} label=${table.sitting[0].dealing} />`}</span>
        ${hand.length > 0 && hideButton}
        <p class=${`line ${table.is_mine && !movingCard ? "mine" : ""}`}>${movingCard ? "" : html`<${Spoken} text=${earlyCard.line} spoken=${table.spoken} />`}</p>
        ${inlineButtons.map(([label, payload]) => html`<button type="button" class="beside" data-payload=${payload} onClick=${() => onPress(payload)}>${label}</button>`)}
      </div>
      ${phrases.length > 0 && html`<div class="phrases"><${Buttons} rows=${phrases} spoken=${table.spoken} onPress=${onPress} /></div>`}
      ${extra.length > 0 && html`<${Buttons} rows=${extra} spoken=${table.spoken} advised=${table.advised} onPress=${onPress} />`}
      ${highest.current.rows > extra.length && html`<div class="buttons spare" aria-hidden="true">${Array.from({ length: highest.current.rows - extra.length }, (_, row) => html`<div class="row" key=${row}><button type="button" disabled>…</button></div>`)}</div>`}
      ${table.packets.length > 0 && html`<${Fan} key=${`packets${table.deal}`} name=${`${code} packets ${table.deal} ${hand.length > 0}`} deck=${table.deck} cards=${earlyCard.mark(table.packets)} label=${texts.your_packets} advised=${table.advised} onPress=${onPress} />`}
      ${(hand.length > 0 || wasPlaced(handName) && !table.packets.length) && html`<${Fan} key=${`hand${table.deal}`} name=${handName} deck=${table.deck} cards=${hand} label=${texts.your_hand} advised=${movingCard || isHidden ? [] : table.advised} onPress=${onPress} onMove=${isHidden ? undefined : onMove} />`}
      ${table.order?.length > 0 && html`<${CardOrder} order=${table.order} legend=${table.legend} isHidden=${isHidden} />`}
    ` : isOver && table.sides.length > 0 && endings ? html`
      <${endings.GameEnd} table=${table}><${Buttons} rows=${table.extra} spoken=${table.spoken} onPress=${onPress} /><//>
      <details class="card-text"><summary>${texts.in_words}</summary><${Words} table=${table} /></details>
    ` : html`
      <section class="card-text">
        ${isOver && html`<p class="line mine">${table.line}</p>`}
        ${invitation && html`<${invitation.Invitation} />`}
        ${!isOver && html`<${Words} table=${table} />`}
        <${Buttons} rows=${table.extra} spoken=${table.spoken} onPress=${onPress} />
        ${isOver && html`<details><summary>${texts.in_words}</summary><${Words} table=${table} /></details>`}
        ${/^(over|closed|unreadable)$/.test(table.phase) && html`<p class="ways">${table.replay && html`<a class="button" href=${`/g/${table.replay}`}>${texts.replay}</a> `}${table.results && html`<a class="button" href=${table.results}>${table.results_label}</a> `}<a class="button" href="/">${texts.new_game}</a></p>`}
      </section>`}
    ${absences && html`<${absences.Absences} sitting=${table.sitting} />`}
    <div class="toast" role="alert" hidden=${!toast} onClick=${() => setToast("")}>${toast}</div>
    <div class="busy" hidden=${!busy}></div>`;
};

ignoreHeldKeys();
render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("table")));
