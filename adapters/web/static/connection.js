// @ts-check
// WebSockets that notice a dead network, and messages that are kept until the bot answers them.

/** The question whether the bot is there. The bot echoes it at once, even while it does other work. */
const BEAT = JSON.stringify({ beat: true });
// Milliseconds without an answer until the page probes the connection, and until it shows the message as unsent.
const PROBE_AFTER = 1000, LATE_AFTER = 2000;
// Milliseconds: silence before a probe, time to answer it, time to open, interval of checks.
const QUIET = 5000, DEAD = 4000, OPENING = 8000, CHECK_EVERY = 1000;

/** Monitor a socket. `lost` is called once, when the socket closes, does not open in time, or does not answer a probe;
 * `alive` is called after each answered probe.
 * @param {WebSocket} socket @param {{lost: () => void, alive: () => void}} handlers @returns {() => void} sends a probe */
export function monitor(socket, { lost, alive }) {
  let receivedAt = Date.now(), probedAt = 0;
  const startedAt = receivedAt;
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
    probedAt = Date.now();
    socket.send(BEAT);
  };
  const check = () => {
    const now = Date.now();
    if (!isOpen()) { if (now - startedAt > OPENING) end(); }
    else if (probedAt) { if (now - probedAt > DEAD) end(); }
    else if (now - receivedAt > QUIET) probe();
  };
  const timer = setInterval(check, CHECK_EVERY);
  socket.addEventListener("message", () => {
    receivedAt = Date.now();
    if (probedAt) { probedAt = 0; alive(); }
  });
  socket.onclose = end;
  // A phone that wakes up, or finds its network again, probes at once.
  document.addEventListener("visibilitychange", check);
  addEventListener("online", probe);
  return probe;
}

/** Messages without an answer. Each new connection sends them again under the same name, so the bot counts them once.
 * @template Message */
export class Outbox {
  /** @param {{probe: () => void, late: (isLate: boolean) => void}} handlers `late` is called with whether any message may be
   * lost, because it has had no answer for too long */
  constructor(handlers) {
    this.handlers = handlers;
    /** @type {Map<unknown, {message: Message, timers: number[], isLate: boolean}>} */
    this.pending = new Map();
  }

  /** @param {Message} message @returns {string} its name */
  add(message) {
    const n = Array.from(crypto.getRandomValues(new Uint8Array(5)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    const timers = [setTimeout(this.handlers.probe, PROBE_AFTER), setTimeout(() => this.mark(n, true), LATE_AFTER)];
    this.pending.set(n, { message, timers, isLate: false });
    return n;
  }

  /** @param {unknown} n */
  get(n) { return this.pending.get(n)?.message; }

  /** The names and messages without an answer. */
  all() { return [...this.pending].map(([n, { message }]) => /** @type {[string, Message]} */ ([n, message])); }

  /** Remove an answered message. @param {unknown} n @returns {Message | undefined} */
  remove(n) {
    const message = this.get(n);
    this.mark(n, false);
    this.pending.delete(n);
    return message;
  }

  /** Mark all messages as arrived, since the bot answered a probe, or as late, since the connection broke.
   * @param {boolean} isLate */
  markAll(isLate) { for (const n of this.pending.keys()) this.mark(n, isLate); }

  /** @param {unknown} n @param {boolean} isLate */
  mark(n, isLate) {
    const entry = this.pending.get(n);
    if (!entry) return;
    entry.timers.forEach(clearTimeout);
    entry.isLate = isLate;
    this.handlers.late([...this.pending.values()].some((other) => other.isLate));
  }
}
