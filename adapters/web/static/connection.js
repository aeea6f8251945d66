// @ts-check
// WebSockets that notice a dead network, and words that are kept until the bot has answered them.

/** What the page says to ask whether the bot is there; the bot says the same at once, whatever else it is doing. */
const BEAT = JSON.stringify({ beat: true });
const ASK = 1000, LATE = 2000;
const QUIET = 5000, DEAD = 4000, OPENING = 8000, LOOK = 1000;

/** Watch over a socket. `lost` is called once: when the socket closes, does not open in time, or brings no sign of life
 * after it was asked for one. `alive` is called when it does.
 * @param {WebSocket} socket @param {{lost: () => void, alive: () => void}} told @returns {() => void} asks for a sign of life */
export function guard(socket, { lost, alive }) {
  let heardAt = Date.now(), askedAt = 0;
  const begunAt = heardAt;
  const isOpen = () => socket.readyState === WebSocket.OPEN;
  const end = () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", look);
    removeEventListener("online", ask);
    socket.onopen = socket.onmessage = socket.onclose = null;
    // On a dead network this takes a minute; nobody waits for it.
    socket.close();
    lost();
  };
  const ask = () => {
    if (!isOpen() || askedAt) return;
    askedAt = Date.now();
    socket.send(BEAT);
  };
  const look = () => {
    const now = Date.now();
    if (!isOpen()) { if (now - begunAt > OPENING) end(); }
    else if (askedAt) { if (now - askedAt > DEAD) end(); }
    else if (now - heardAt > QUIET) ask();
  };
  const timer = setInterval(look, LOOK);
  socket.addEventListener("message", () => {
    heardAt = Date.now();
    if (askedAt) { askedAt = 0; alive(); }
  });
  socket.onclose = end;
  // A phone that wakes up or finds a network again asks at once.
  document.addEventListener("visibilitychange", look);
  addEventListener("online", ask);
  return ask;
}

/** What was said and is not answered yet. It is sent again on each new connection, by the same name: so it counts once.
 * @template Word */
export class Outbox {
  /** @param {{ask: () => void, late: (isLate: boolean) => void}} told `ask` is to bring a sign of life, and `late` hears
   * whether a word has been on its way for so long that it may not have arrived */
  constructor(told) {
    this.told = told;
    /** @type {Map<unknown, {word: Word, timers: number[], isLate: boolean}>} */
    this.waiting = new Map();
  }

  /** Keep a word. @param {Word} word @returns {string} its name */
  add(word) {
    const n = Array.from(crypto.getRandomValues(new Uint8Array(5)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    const timers = [setTimeout(this.told.ask, ASK), setTimeout(() => this.mark(n, true), LATE)];
    this.waiting.set(n, { word, timers, isLate: false });
    return n;
  }

  /** @param {unknown} n */
  get(n) { return this.waiting.get(n)?.word; }

  /** The names and words that wait. */
  all() { return [...this.waiting].map(([n, one]) => /** @type {[string, Word]} */ ([n, one.word])); }

  /** A word was answered. @param {unknown} n @returns {Word | undefined} */
  answered(n) {
    const word = this.get(n);
    this.mark(n, false);
    this.waiting.delete(n);
    return word;
  }

  /** The bot is there: it has what was sent to it, and answers when it can. */
  arrived() { for (const n of this.waiting.keys()) this.mark(n, false); }

  /** The connection is gone, and what it carried with it. */
  lost() { for (const n of this.waiting.keys()) this.mark(n, true); }

  /** @param {unknown} n @param {boolean} isLate */
  mark(n, isLate) {
    const one = this.waiting.get(n);
    if (!one) return;
    one.timers.forEach(clearTimeout);
    one.isLate = isLate;
    this.told.late([...this.waiting.values()].some((other) => other.isLate));
  }
}
