// @ts-check
// A connection to the bot that notices a dead network, reconnects, and keeps messages until the bot answers them.

/** A heartbeat. The bot echoes it at once, even while it is busy. */
const BEAT = JSON.stringify({ beat: true });
// Milliseconds without an answer until the page probes the connection, and until it shows the message as unsent.
const PROBE_AFTER = 1000, LATE_AFTER = 2000;
// Milliseconds between two probes, which also tell other players that this one is here; time to answer a probe, time to
// open, interval of checks.
const BEAT_EVERY = 2500, DEAD = 4000, OPENING = 8000, CHECK_EVERY = 1000;
// Milliseconds before a new attempt to connect.
const FIRST_PAUSE = 250, LONGEST_PAUSE = 5000;
// Attempts to send a message that the bot cannot handle now, and milliseconds after the first; later pauses are longer.
const ATTEMPTS = 6, AGAIN_AFTER = 500;

/** Monitor a socket. `lost` is called once, when the socket closes, does not open in time, or does not answer a probe;
 * `alive` is called after each answered probe.
 * @param {WebSocket} socket @param {{lost: () => void, alive: () => void}} handlers @returns {() => void} sends a probe */
function monitor(socket, { lost, alive }) {
  const startedAt = Date.now();
  let probedAt = 0, lastProbe = startedAt;
  const isOpen = () => socket.readyState === WebSocket.OPEN;
  const end = () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", check);
    removeEventListener("online", probe);
    socket.onopen = socket.onmessage = socket.onclose = null;
    // On a dead network closing takes a minute, so nothing waits for it.
    socket.close();
    lost();
  };
  const probe = () => {
    if (!isOpen() || probedAt) return;
    probedAt = lastProbe = Date.now();
    socket.send(BEAT);
  };
  const check = () => {
    const now = Date.now();
    if (!isOpen()) { if (now - startedAt > OPENING) end(); }
    else if (probedAt) { if (now - probedAt > DEAD) end(); }
    else if (now - lastProbe > BEAT_EVERY) probe();
  };
  const timer = setInterval(check, CHECK_EVERY);
  socket.addEventListener("message", () => {
    if (probedAt) { probedAt = 0; alive(); }
  });
  socket.onclose = end;
  // A phone that wakes up, or finds its network again, probes at once.
  document.addEventListener("visibilitychange", check);
  addEventListener("online", probe);
  return probe;
}

/** Open the socket of a table's page for its reader. `isOver`: the page already shows the end of the game.
 * @param {string} code @param {string} reader @param {boolean} [isOver] */
export function openTable(code, reader, isOver) {
  const address = new URL(`/t/${code}/live?reader=${reader}${isOver ? "&ended" : ""}`, location.href);
  address.protocol = address.protocol.replace("http", "ws");
  return new WebSocket(address);
}

/** Return a random name for a message. */
const newName = () => Array.from(crypto.getRandomValues(new Uint8Array(5)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Keeps messages without an answer in case the page is closed. @typedef {{keep: (n: string, message: Record<string, unknown>) => void, drop: (n: string) => void}} Keeper */

/** Sends messages to the bot until it answers them. Each new socket repeats unanswered ones under the same name, so the
 * bot counts them once. */
export class Connection {
  /** @param {{open: () => Promise<WebSocket | string>, receive: (message: any) => void, state: (isOpen: boolean, why: string) => void, late: (isLate: boolean) => void}} handlers
   * `open` returns a socket, or why it failed: "" for a network failure. `late(true)` reports that a message waits too
   * long for its answer and can be lost. `late(false)` reports that all messages are answered again. */
  constructor(handlers) {
    this.handlers = handlers;
    /** Messages without an answer, by name.
     * @type {Map<string, {message: Record<string, unknown>, resolve: (answer: any) => void, timers: number[], isLate: boolean, attempts: number}>} */
    this.pending = new Map();
    /** @type {WebSocket | null} */
    this.socket = null;
    this.probe = () => {};
    this.pause = FIRST_PAUSE;
    this.isOver = false;  // the page does not reconnect
    /** @type {Keeper | null} */
    this.keeper = null;
    this.connect();
  }

  async connect() {
    const socket = await this.handlers.open();
    if (typeof socket === "string") { this.reconnect(socket); return; }
    this.socket = socket;
    this.probe = monitor(socket, { lost: () => this.reconnect(""), alive: () => this.markAll(false) });
    socket.onopen = () => {
      this.pause = FIRST_PAUSE;
      this.handlers.state(true, "");
      for (const n of this.pending.keys()) this.transmit(n);
    };
    socket.onmessage = (event) => this.handlers.receive(JSON.parse(event.data));
  }

  /** @param {string} why */
  reconnect(why) {
    if (this.isOver) return;
    this.markAll(true);
    this.handlers.state(false, why);
    setTimeout(() => this.connect(), this.pause);
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
  }

  /** Connect again, for example because another person might use the browser now. */
  renew() { this.socket?.close(); }

  /** @param {Keeper} keeper */
  keepWith(keeper) {
    this.keeper = keeper;
    for (const [n, { message }] of this.pending) keeper.keep(n, message);
  }

  /** Send a message; resolves to its answer. `n` is the name of a message that an earlier page sent.
   * @param {Record<string, unknown>} message @param {string} n @returns {Promise<any>} */
  send(message, n = newName()) {
    const timers = [setTimeout(() => this.probe(), PROBE_AFTER), setTimeout(() => this.mark(n, true), LATE_AFTER)];
    return new Promise((resolve) => {
      this.pending.set(n, { message, resolve, timers, isLate: false, attempts: 1 });
      this.keeper?.keep(n, message);
      this.transmit(n);
    });
  }

  /** Send a message without an answer, if the connection is open. @param {Record<string, unknown>} message */
  tell(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Send a message that still has no answer. @param {string} n */
  transmit(n) {
    const entry = this.pending.get(n);
    if (entry) this.tell({ n, ...entry.message });
  }

  /** Pass the answer to the sender of the message `n`. If the bot says that the message can succeed later, send it again.
   * @param {{n: string, again?: boolean}} answer */
  answer(answer) {
    const entry = this.pending.get(answer.n);
    if (entry && answer.again && entry.attempts < ATTEMPTS) {
      this.mark(answer.n, true);
      setTimeout(() => this.transmit(answer.n), AGAIN_AFTER * entry.attempts++);
      return;
    }
    this.mark(answer.n, false);
    this.pending.delete(answer.n);
    this.keeper?.drop(answer.n);
    entry?.resolve(answer);
  }

  /** Mark all messages as arrived after an answered probe, or as late after a broken connection.
   * @param {boolean} isLate */
  markAll(isLate) { for (const n of this.pending.keys()) this.mark(n, isLate); }

  /** @param {string} n @param {boolean} isLate */
  mark(n, isLate) {
    const entry = this.pending.get(n);
    if (!entry) return;
    entry.timers.forEach(clearTimeout);
    entry.isLate = isLate;
    this.handlers.late([...this.pending.values()].some((other) => other.isLate));
  }
}
