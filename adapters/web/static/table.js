// @ts-check
// The page of a table, for who sits there: cards to tap, and beside them the panel's text and buttons. It knows no
// rules: what a card or a button presses came with it.
import { guard, Outbox } from "./connection.js";
import { sound } from "./sound.js";
import { telegram } from "./telegram.js";
import { DealerChip, html, pageData, render, useEffect, useLayoutEffect, useRef, useState } from "./view.js";

/** @typedef {{code: string, name: string, light: string, press: string, size: number, label: string, role: string}} TapCard */
/** @typedef {{code: string, by: string, at: number, said: string, wins: boolean}} LyingCard */
/** @typedef {[label: string, payload: string, style: string, kind: string, role: string]} Button */
/** @typedef {{at: number, name: string, is_robot: boolean, is_to_move: boolean, dealing: string, hidden: number, shown: TapCard[], packets: TapCard[]}} Sitting */
/** @typedef {{code: string, phase: string, game: string, rules: string, deck: string, version: number, says: string, text: [string, string][], rows: Button[][], extra: Button[][], clock: number, clock_left?: number, alarm: string, is_mine: boolean, line: string, target: string, deal: number, sides: {name: string, points: string, notes: string[], is_to_move: boolean}[], sitting: Sitting[], trick: LyingCard[], last_trick: LyingCard[], last_title: string, stock: number, drawn: LyingCard[], drawn_title: string, middle: TapCard[], hand: TapCard[], packets: TapCard[], tally: [string, string, string][], tally_title: string, end_trick: LyingCard[], replay: string, results: string, resign: string, by_link: boolean}} Table */

const { code, decks, texts } = pageData();
const TAKEN_SHOWN = 1500, TAKING = 260;
const DRAGGED = 12;
const FIRST_PAUSE = 250, LONGEST_PAUSE = 5000;

/** What the bot and this page say to one another. */
class Line {
  /** @param {{table: (table: Table) => void, answer: (press: string, word: any) => void, gone: (go: string, why: string) => void, state: (state: string) => void, late: (isLate: boolean) => void}} heard */
  constructor(heard) {
    this.heard = heard;
    /** @type {Outbox<string>} */
    this.presses = new Outbox({ ask: () => this.ask(), late: heard.late });
    this.ask = () => {};
    this.pause = FIRST_PAUSE;
    this.isOver = false;
    this.connect();
  }

  connect() {
    const address = new URL(`/t/${code}/live`, location.href);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = this.socket = new WebSocket(address);
    this.ask = guard(socket, { lost: () => this.lost(), alive: () => this.presses.arrived() });
    socket.onopen = () => {
      this.pause = FIRST_PAUSE;
      this.heard.state("open");
      for (const [n, press] of this.presses.all()) this.send(n, press);
    };
    socket.onmessage = (event) => this.hear(JSON.parse(event.data));
  }

  lost() {
    if (this.isOver) return;
    this.presses.lost();
    this.heard.state("away");
    setTimeout(() => this.connect(), this.pause);
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
  }

  /** @param {any} word */
  hear(word) {
    if (word.table) this.heard.table(word.table);
    else if (word.gone) { this.isOver = true; this.heard.gone(word.go || "", word.why || texts.gone); }
    else {
      const press = this.presses.answered(word.n);
      if (press) this.heard.answer(press, word);
    }
  }

  /** @param {string} press */
  press(press) {
    const n = this.presses.add(press);
    if (this.socket?.readyState === WebSocket.OPEN) this.send(n, press);
  }

  /** @param {string} n @param {string} press */
  send(n, press) { this.socket?.send(JSON.stringify({ n, press })); }
}

/** A card of the table's deck; face down without a code. Names are for who hears them, so the drawing says nothing.
 * @param {{deck: string, card: string}} given */
const Face = ({ deck, card }) =>
  html`<svg class="face" viewBox="0 0 250 400" aria-hidden="true"><use href=${`${decks[deck]}#${card || "back"}`} /></svg>`;

/** Handlers with which a card may be drawn onto the table: where it is let go there, it is played.
 * @param {() => void} play */
function dragging(play) {
  return {
    /** @param {PointerEvent} event */
    onPointerDown(event) {
      if (event.button) return;
      const card = /** @type {HTMLElement} */ (event.currentTarget), from = { x: event.clientX, y: event.clientY };
      let isDragged = false;
      /** @param {PointerEvent} next */
      const move = (next) => {
        const x = next.clientX - from.x, y = next.clientY - from.y;
        if (!isDragged && Math.hypot(x, y) < DRAGGED) return;
        isDragged = true;
        card.classList.add("dragged");
        card.style.transform = `translate(${x}px, ${y}px)`;
      };
      /** @param {PointerEvent} last */
      const end = (last) => {
        removeEventListener("pointermove", move);
        removeEventListener("pointerup", end);
        removeEventListener("pointercancel", end);
        if (!isDragged) return;
        card.classList.remove("dragged");
        card.style.transform = "";
        // The click that follows a drag presses nothing: what it means was said by where the card was let go.
        addEventListener("click", swallow, { capture: true, once: true });
        setTimeout(() => removeEventListener("click", swallow, { capture: true }));
        const felt = document.querySelector(".felt")?.getBoundingClientRect();
        if (last.type === "pointerup" && felt && last.clientY < felt.bottom && last.clientY > felt.top) play();
      };
      addEventListener("pointermove", move);
      addEventListener("pointerup", end);
      addEventListener("pointercancel", end);
    },
  };
}

/** @param {Event} event */
const swallow = (event) => { event.stopPropagation(); event.preventDefault(); };

/** A card or packet that may be pressed.
 * @param {{deck: string, card: TapCard, onPress: (press: string, card: TapCard) => void}} given */
const Tap = ({ deck, card, onPress }) => html`
  <button type="button" class=${`tap ${card.light}`} data-card=${card.code} data-press=${card.press}
    aria-disabled=${card.press ? undefined : "true"} aria-pressed=${card.light === "chosen" ? "true" : undefined}
    aria-label=${spoken(card)} onClick=${() => card.press && onPress(card.press, card)} ...${card.light === "playable" ? dragging(() => onPress(card.press, card)) : {}}>
    <${Face} deck=${deck} card=${card.code} />
    ${card.label && html`<span class="number" data-says=${card.label}></span>`}
    ${card.size > 1 && html`<span class="size" data-says=${card.size}></span>`}
  </button>`;

/** So many cards, in words. @param {number} count */
const counted = (count) => (count === 1 ? texts.one_card : texts.cards.replace("{count}", String(count)));

/** @param {TapCard} card */
const spoken = (card) => [card.label && texts.packet.replace("{number}", card.label), card.name, card.size > 1 && counted(card.size)].filter(Boolean).join(", ");

/** @param {{sides: Table["sides"]}} given */
const Score = ({ sides }) => html`
  <div class="score">${sides.map((side) => html`
    <div class=${`side ${side.is_to_move ? "to-move" : ""}`}>
      <b dir="auto">${side.name}</b> <span class="points">${side.points}</span>
      <small>${side.notes.join(" · ")}</small>
    </div>`)}
  </div>`;

/** Somebody else: the backs of their cards, and what of them is known.
 * @param {{deck: string, one: Sitting, seats: number}} given */
const Other = ({ deck, one, seats }) => html`
  <div class=${`other at${one.at}of${seats} ${one.is_to_move ? "to-move" : ""}`}>
    <span class="who" dir="auto">${one.name}${one.dealing ? html` <${DealerChip} label=${one.dealing} />` : ""}</span>
    <div class="backs">
      ${one.shown.map((card) => html`<span class="small" role="img" aria-label=${card.name}><${Face} deck=${deck} card=${card.code} /></span>`)}
      ${one.packets.map((card) => html`<span class="small top" role="img" aria-label=${spoken(card)}><${Face} deck=${deck} card=${card.code} />${card.size > 1 && html`<span class="size" data-says=${card.size}></span>`}</span>`)}
      ${Array.from({ length: Math.min(one.hidden, 20) }, (_, at) => html`<span class="small back" key=${at}><${Face} deck=${deck} card="" /></span>`)}
    </div>
    <span class="unseen">${one.hidden ? counted(one.hidden) : ""}</span>
  </div>`;

/** The trick; ``to`` is where it goes as it is taken, as a seat.
 * @param {{deck: string, cards: LyingCard[], seats: number, to: number | null}} given */
const Trick = ({ deck, cards, seats, to }) => html`
  <div class=${`trick of${seats} ${to === null ? "" : `to${to}of${seats}`}`} aria-label=${texts.on_the_table} role="group">
    ${cards.map((card) => html`
      <figure key=${card.code} class=${`lying at${card.at}of${seats} ${card.wins && cards.length > 1 ? "wins" : ""}`} data-lying=${card.code}>
        <${Face} deck=${deck} card=${card.code} />
        <figcaption dir="auto"><span>${card.by}</span>${card.said ? html` <q>${card.said}!</q>` : ""}</figcaption>
      </figure>`)}
  </div>`;

/** One's own cards, in rows that a thumb can hit. Arrows go from card to card.
 * @param {{deck: string, cards: TapCard[], label: string, onPress: (press: string, card: TapCard) => void}} given */
const Fan = ({ deck, cards, label, onPress }) => {
  // A phone held sideways has half its width for cards.
  const roomFor = () => (innerWidth < 560 || innerHeight <= 480 ? 7 : innerWidth < 900 ? 10 : 20);
  const [most, setMost] = useState(roomFor);
  useEffect(() => {
    const measure = () => setMost(roomFor);
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, []);
  const rows = Math.ceil(cards.length / most), each = Math.ceil(cards.length / (rows || 1));
  /** @param {KeyboardEvent} event */
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: each, ArrowUp: -each }[event.key];
    if (!step) return;
    const all = [.../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll("button")];
    const next = all[all.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement)) + step];
    if (next) { next.focus(); event.preventDefault(); }
  };
  return html`<div class=${`fan rows${rows} ${deck.endsWith("easy") ? "easy" : ""}`} role="group" aria-label=${label} onKeyDown=${move}>
    ${Array.from({ length: rows }, (_, row) => html`
      <div class="row" key=${row}>${cards.slice(row * each, (row + 1) * each).map((card, at) => html`<${Tap} key=${card.code || at} deck=${deck} card=${card} onPress=${onPress} />`)}</div>`)}
  </div>`;
};

/** @param {{rows: Button[][], onPress: (press: string) => void}} given */
const Buttons = ({ rows, onPress }) => html`
  <div class="buttons">${rows.map((row) => html`
    <div class="row">${row.filter(([, , , kind]) => kind === "press").map(([label, payload, style]) => html`
      <button type="button" key=${payload} class=${style} data-payload=${payload} onClick=${() => onPress(payload)}>${label}</button>`)}
    </div>`)}
  </div>`;

/** The panel's text, as it stands in a chat. @param {{text: [string, string][]}} given */
const Words = ({ text }) => html`<div class="words" dir="auto">${text.map(([words, style]) =>
  style === "bold" ? html`<b>${words}</b>` : style === "italic" ? html`<i>${words}</i>` : style === "small" ? html`<small>${words}</small>` : style === "code" ? html`<code>${words}</code>` : words)}</div>`;

/** A tap beside a dialog shuts it: only what lies around its content is the dialog itself. @param {MouseEvent} event */
const shutOutside = (event) => { if (event.target === event.currentTarget) /** @type {HTMLDialogElement} */ (event.target).close(); };

/** Puts the focus there as soon as it is to be seen. @param {HTMLElement | null} node */
const focused = (node) => node?.focus();

/** Time that is left for the move, by the page's own clock.
 * @param {{seconds: number, left?: number, version: number}} given */
const Clock = ({ seconds, left, version }) => {
  const [now, setNow] = useState(0);
  useEffect(() => {
    setNow(0);
    if (left === undefined) return undefined;
    const begun = Date.now();
    const timer = setInterval(() => setNow((Date.now() - begun) / 1000), 500);
    return () => clearInterval(timer);
  }, [left, version]);
  const shown = left === undefined ? seconds : Math.max(0, Math.ceil(left - now));
  return html`<small class=${`clock ${left !== undefined && shown <= 10 ? "late" : ""}`} role="timer" aria-live="off">⏱ ${inMinutes(shown)}</small>`;
};

/** @param {number} seconds */
const inMinutes = (seconds) =>
  seconds >= 86400 ? `${Math.floor(seconds / 86400)} ${texts.days}` : seconds >= 3600 ? `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}` : `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;

/** @param {number} number */
const two = (number) => String(number).padStart(2, "0");

/** How a deal counted. @param {{table: Table, onClose?: () => void}} given */
const Tally = ({ table, onClose }) => html`<section class="tally" role="group" aria-label=${table.tally_title}>
    <table>
      <caption>${table.tally_title}</caption>
      <thead><tr><td></td>${table.sides.map((side) => html`<th scope="col" dir="auto">${side.name}</th>`)}</tr></thead>
      <tbody>${table.tally.map(([label, one, other]) => html`<tr><th scope="row">${label}</th><td>${one}</td><td>${other}</td></tr>`)}</tbody>
    </table>
    ${onClose && html`
      <p class=${`line ${table.is_mine ? "mine" : ""}`}>${table.line}</p>
      <button type="button" class="good" ref=${focused} onClick=${onClose}>${texts.go_on}</button>`}
  </section>`;

/** What is sent to a friend. The address stands in a field, so that it can be marked where no button may copy it. */
const Link = () => {
  const [copied, setCopied] = useState(false);
  const address = `${location.origin}/t/${code}`;
  // Not everywhere: a browser has neither on a page without https, and few on a desktop share.
  const clipboard = /** @type {Clipboard | undefined} */ (navigator.clipboard), canShare = "share" in navigator;
  // Whoever calls the sharing off has done nothing wrong.
  const share = () => navigator.share({ url: address }).catch((error) => { if (error.name !== "AbortError") throw error; });
  const isOnlyHere = /^(localhost|127\.|\[::1\])/.test(location.hostname);
  return html`<div class="link">
    <label>${texts.send_link}<input readonly value=${address} onFocus=${(/** @type {FocusEvent} */ event) => /** @type {HTMLInputElement} */ (event.target).select()} /></label>
    ${clipboard && html`<button type="button" class=${canShare ? "" : "main"} onClick=${() => clipboard.writeText(address).then(() => setCopied(true))}>${copied ? texts.copied : texts.copy}</button>`}
    ${canShare && html`<button type="button" class="main" onClick=${share}>${texts.share}</button>`}
    ${isOnlyHere && html`<p>${texts.only_here}</p>`}
  </div>`;
};

/** The end of a deal: its last trick lies there, and nothing is to be done.
 * @param {Table} table @param {LyingCard[]} trick @returns {Table} */
function lastMoment(table, trick) {
  /** @param {TapCard} card */
  const isLeft = (card) => !trick.some((one) => one.code === card.code);
  return {
    ...table, trick, last_trick: [], drawn: [], extra: [], line: "", is_mine: false,
    hand: table.hand.filter(isLeft), packets: table.packets.filter(isLeft),
  };
}

/** A trick that was taken still lies there: what was led since is not seen yet, nor is it the reader's turn before it is.
 * @param {Table} table @param {string} says @returns {Table} */
function beforeLead(table, says) {
  /** @param {TapCard} card @returns {TapCard} */
  const asleep = (card) => ({ ...card, light: "", press: "" });
  return { ...table, trick: [], extra: [], line: "", is_mine: false, says, hand: table.hand.map(asleep), packets: table.packets.map(asleep) };
}

/** That it is the reader's turn. */
const tellTurn = () => { sound.turn(); telegram.turn(); };

/** @param {LyingCard[]} lying */
const cards = (lying) => lying.map((one) => one.code).join(" ");

/** Who presses by keys goes on from there: where the button that had the focus is gone, what stands in its place has
 * it; a card's is the card that follows, and where there is none yet, the first that comes. */
function useFocusHandedOn() {
  const held = useRef(/** @type {{button: HTMLElement, at: number} | null} */ (null));
  const cards = () => /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#table .fan .tap")]);
  const now = /** @type {HTMLElement} */ (document.activeElement || document.body);
  if (now !== document.body || held.current?.button.isConnected) held.current = now.matches("#table button:focus-visible") ? { button: now, at: cards().indexOf(now) } : null;
  useLayoutEffect(() => {
    if (!held.current || held.current.button.isConnected || document.activeElement !== document.body) return;
    const { button, at } = held.current, all = cards();
    const choice = /** @type {HTMLElement | null} */ (document.querySelector("#table > .buttons button")) || all.find((card) => card.classList.contains("playable"));
    // Where nothing is to be chosen yet it waits for what comes.
    const other = button.dataset.payload ? choice : all[Math.min(Math.max(at, 0), all.length - 1)];
    const next = all.find((card) => card.dataset.card && card.dataset.card === button.dataset.card) || other;
    next?.focus({ preventScroll: true });
  });
}

const App = () => {
  const [table, setTable] = useState(/** @type {Table | null} */ (null));
  const [state, setState] = useState("connecting");
  const [isLate, setLate] = useState(false);
  const [why, setWhy] = useState("");
  const [toast, setToast] = useState("");
  // One's own card lies on the table at once; the bot's next state or its refusal ends that.
  const [moving, setMoving] = useState(/** @type {{press: string, card: TapCard, version: number} | null} */ (null));
  const [busy, setBusy] = useState("");
  const [seenDeal, setSeenDeal] = useState(0);
  // A trick that was just taken lies there for a moment, so that one sees what fell last.
  const [taken, setTaken] = useState(/** @type {LyingCard[]} */ ([]));
  const [isGoing, setGoing] = useState(false);
  const [isHeard, setHeard] = useState(sound.isOn());
  const line = useRef(/** @type {Line | null} */ (null));
  const menu = useRef(/** @type {HTMLDialogElement | null} */ (null));
  // What the bot said last, and what is shown of it.
  const latest = useRef(/** @type {Table | null} */ (null));
  const shown = useRef(/** @type {Table | null} */ (null));
  // What the page waits with: the score of a deal, or a card that was led, until the trick before was seen.
  const waits = useRef(/** @type {"" | "deal" | "lead"} */ (""));
  const waiting = useRef(0);

  /** @param {"deal" | "lead"} what */
  const wait = (what) => {
    waits.current = what;
    clearTimeout(waiting.current);
    waiting.current = setTimeout(goOn, TAKEN_SHOWN);
  };
  const goOn = () => {
    clearTimeout(waiting.current);
    waits.current = "";
    setTaken([]);
    if (latest.current) show(latest.current);
  };
  /** @param {Table} next */
  const show = (next) => {
    const old = shown.current;
    if (old === next) return;
    if (old && old.phase === "playing" && next.end_trick.length && (old.deal !== next.deal || next.phase === "over")) {
      shown.current = null;
      setTable(lastMoment(old, next.end_trick));
      setMoving(null);
      setTaken([]);
      wait("deal");
      return;
    }
    const isTaken = old && old.deal === next.deal && next.last_trick.length && cards(old.last_trick) !== cards(next.last_trick);
    const seen = isTaken && next.trick.length ? beforeLead(next, old.says) : next;
    shown.current = seen;
    if (isTaken) { setTaken(next.last_trick); wait("lead"); }
    if (seen.is_mine && !old?.is_mine) tellTurn();
    else if (old && cards(old.trick) !== cards(seen.trick)) sound.card();
    setTable(seen);
    setMoving((one) => (one && next.version > one.version ? null : one));
  };

  useEffect(() => {
    line.current = new Line({
      table: (next) => {
        latest.current = next;
        setBusy("");
        if (waits.current === "deal" || (waits.current === "lead" && next.trick.length)) return;
        show(next);
      },
      answer: (press, word) => {
        setBusy((old) => (old === press ? "" : old));
        if (word.toast) setToast(word.toast);
        if (word.refused) telegram.refused();
        if (word.refused) setMoving((old) => (old && old.press === press ? null : old));
        if (word.go) location.assign(word.go);
      },
      gone: (go, why) => {
        // A table goes when its game is over: the result stays to be read, and who missed it is led to the game.
        if (/^(over|closed)$/.test(latest.current?.phase || "")) setState("open");
        else if (go) location.replace(go);
        else { setWhy(why); setState("gone"); }
      },
      state: setState,
      late: setLate,
    });
  }, []);
  useEffect(() => {
    if (!toast) return undefined;
    const timer = setTimeout(() => setToast(""), 6000);
    return () => clearTimeout(timer);
  }, [toast]);
  useEffect(() => {
    if (!taken.length) return undefined;
    const going = setTimeout(() => setGoing(true), TAKEN_SHOWN - TAKING);
    return () => { clearTimeout(going); setGoing(false); };
  }, [taken]);
  // What has changed, once, for who hears the page.
  useLayoutEffect(() => {
    const says = /** @type {HTMLElement} */ (document.getElementById("says"));
    if (table && says.textContent !== table.says) says.textContent = table.says;
  }, [table?.says]);

  /** @param {string} press @param {TapCard} [card] */
  const onPress = (press, card) => {
    // Nobody listens there any more: the page is loaded anew, and leads to the game.
    if (line.current?.isOver) { location.reload(); return; }
    setToast("");
    if (waits.current === "lead") goOn();
    // What a press from the menu asks is not to lie hidden under the deal's score.
    setSeenDeal(table?.deal || 0);
    if (card && card.light === "playable" && card.role === "play" && table) {
      if (moving) return;
      sound.card();
      telegram.card();
      setMoving({ press, card, version: table.version });
    } else setBusy(press);
    line.current?.press(press);
  };

  /** A press in the menu shuts it, so that one sees what came of it. @param {string} press */
  const onChoice = (press) => { menu.current?.close(); onPress(press); };

  useFocusHandedOn();

  if (state === "gone") return html`<div class="waiting"><p role="alert">${why}</p><a class="button" href="/">${texts.home}</a></div>`;
  if (!table) return html`<p class="waiting">${texts.connecting}</p>`;
  const isPlaying = table.sides.length > 0 && table.phase === "playing";
  const isOver = table.phase === "over";
  const seats = table.sitting.length;
  const me = { at: 0, by: table.sitting[0]?.name || "", said: "", wins: false };
  const trick = taken.length ? taken : moving && !table.trick.some((one) => one.code === moving.card.code) ? [...table.trick, { ...me, code: moving.card.code }] : table.trick;
  const hand = moving ? table.hand.filter((card) => card !== moving.card && card.code !== moving.card.code) : table.hand;
  // What may be pressed at every move stands beside what there is to be done, so that the cards keep their place.
  const isBeside = /** @param {Button} button */ ([, , , , role]) => role === "hint" || role === "claim";
  const beside = table.extra.flat().filter(isBeside);
  const extra = table.extra.map((row) => row.filter((button) => !isBeside(button))).filter((row) => row.length);
  const trouble = [isLate && texts.unsent, state === "away" && texts.connecting].filter(Boolean).join(" ");
  const showsTally = table.tally.length > 0 && !isOver && seenDeal !== table.deal;
  return html`
    <header class="bar">
      <a href="/" aria-label=${texts.home}>←</a>
      <h1 class="title">${table.game} ${table.target && html`<small>${table.target}</small>`}</h1>
      ${table.clock > 0 && isPlaying && html`<${Clock} seconds=${table.clock} left=${table.clock_left} version=${table.version} />`}
      <button type="button" class="opens-menu" aria-label=${texts.menu} aria-haspopup="dialog" onClick=${() => menu.current?.showModal()}>☰</button>
      <dialog class="menu" ref=${menu} aria-label=${texts.menu} onClick=${shutOutside}>
        <div>
          <p class="ways">
            <a class="button" href=${table.rules}>${texts.rules}</a>
            <a class="button" href=${`/settings?t=${code}`}>${texts.settings}</a>
            <button type="button" aria-pressed=${String(isHeard)} onClick=${() => setHeard(sound.turnOn(!isHeard))}>${isHeard ? texts.sounds_on : texts.sounds_off}</button>
            ${table.resign && html`<button type="button" class="danger" onClick=${() => onChoice(table.resign)}>${texts.resign}</button>`}
            <button type="button" class="shuts" aria-label=${texts.shut} onClick=${() => menu.current?.close()}>✕</button>
          </p>
          <${Words} text=${table.text} />
          <${Buttons} rows=${table.rows} onPress=${onChoice} />
        </div>
      </dialog>
    </header>
    ${trouble && html`<p class="away" role="alert">${trouble}</p>`}
    ${table.sides.length > 0 && html`<${Score} sides=${table.sides} />`}
    ${isPlaying && showsTally ? html`
      <section class="felt"><${Tally} table=${table} onClose=${() => setSeenDeal(table.deal)} /></section>
    ` : isPlaying ? html`
      <section class=${`felt of${seats}`}>
        ${table.sitting.slice(1).map((one) => html`<${Other} key=${one.at} deck=${table.deck} one=${one} seats=${seats} />`)}
        ${table.middle.length > 0 && html`<div class="middle">${table.middle.map((card) => html`<${Tap} key=${card.label} deck=${table.deck} card=${card} onPress=${onPress} />`)}</div>`}
        <${Trick} deck=${table.deck} cards=${trick} seats=${seats} to=${taken.length && isGoing ? taken.find((one) => one.wins)?.at ?? null : null} />
        ${table.stock > 0 && html`<div class="stock"><span class="small"><${Face} deck=${table.deck} card="" /></span><small>${counted(table.stock)}</small></div>`}
        ${table.drawn.length > 0 && html`<div class=${`drawn ${table.drawn.every((card) => !card.by) ? "looked-at" : ""}`}><small>${table.drawn_title}</small>${table.drawn.map((card) => html`<span class="small" key=${card.code}><${Face} deck=${table.deck} card=${card.code} /><small dir="auto">${card.by}</small></span>`)}</div>`}
        ${table.last_trick.length > 0 && html`<details class="last"><summary>${table.last_title}</summary>${table.last_trick.map((card) => html`<span class=${`small ${card.wins ? "wins" : ""}`} key=${card.code}><${Face} deck=${table.deck} card=${card.code} /><small dir="auto">${card.by}</small></span>`)}</details>`}
      </section>
      <div class="todo">
        <p class=${`line ${table.is_mine && !moving ? "mine" : ""}`}>${moving ? "" : table.line}</p>
        ${beside.map(([label, payload]) => html`<button type="button" class="beside" data-payload=${payload} onClick=${() => onPress(payload)}>${label}</button>`)}
      </div>
      ${extra.length > 0 && html`<${Buttons} rows=${extra} onPress=${onPress} />`}
      ${table.packets.length > 0 && html`<${Fan} key=${`packets${table.deal}`} deck=${table.deck} cards=${table.packets} label=${texts.your_packets} onPress=${onPress} />`}
      ${hand.length > 0 && html`<${Fan} key=${`hand${table.deal}`} deck=${table.deck} cards=${hand} label=${texts.your_hand} onPress=${onPress} />`}
    ` : html`
      <section class="card-text">
        ${isOver && html`<p class="line mine">${table.line}</p>`}
        ${isOver && table.tally.length > 0 && html`<${Tally} table=${table} />`}
        ${table.by_link && html`<${Link} />`}
        ${!isOver && html`<${Words} text=${table.text} />`}
        <${Buttons} rows=${table.extra} onPress=${onPress} />
        ${isOver && html`<details><summary>${texts.in_words}</summary><${Words} text=${table.text} /></details>`}
        ${/^(over|closed|unreadable)$/.test(table.phase) && html`<p class="ways">${table.replay && html`<a class="button" href=${`/g/${table.replay}`}>${texts.replay}</a> `}${table.results && html`<a class="button" href=${table.results}>${texts.results}</a> `}<a class="button" href="/">${texts.new_game}</a></p>`}
      </section>`}
    <div class="toast" role="alert" hidden=${!toast} onClick=${() => setToast("")}>${toast}</div>
    <div class="busy" hidden=${!busy}></div>`;
};

// A key that is held presses once: each press shows other buttons, where it would press on.
addEventListener("keydown", (event) => { if (event.repeat && /^(Enter| )$/.test(event.key) && event.target instanceof HTMLButtonElement) event.preventDefault(); });

render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("table")));
