// The hand of a player in a Telegram widget. The bot sends its state as JSON (`adapters.telegram.widget.state`).

// The signs of suits, in a square of 24: Italian suits by small letters, French suits by capital letters.
const SIGNS = {
  d: ["#d97706", "M12 2a10 10 0 1 0 .1 0zM12 7a5 5 0 1 1-.1 0z"],
  c: ["#dc2626", "M4 2h16c0 7-2 10-6 11v5h4v4H6v-4h4v-5C6 12 4 9 4 2z"],
  s: ["#2563eb", "M11 1h2l1 13h5v3h-5v6h-4v-6H5v-3h5z"],
  b: ["#15803d", "M16 1l5 4-4 4 2 1-3 3-2-1L6 23H3v-3L12 9l-1-2 3-2z"],
  D: ["#dc2626", "M12 1l9 11-9 11L3 12z"],
  H: ["#dc2626", "M12 22C5 16 2 12 2 8a5 5 0 0 1 10-2 5 5 0 0 1 10 2c0 4-3 8-10 14z"],
  S: ["#111", "M12 1c6 6 9 9 9 13a5 5 0 0 1-8 4l2 5H9l2-5a5 5 0 0 1-8-4c0-4 3-7 9-13z"],
  C: ["#111", "M12 1a5 5 0 0 1 4 8 5 5 0 1 1-3 8l2 6H9l2-6a5 5 0 1 1-3-8 5 5 0 0 1 4-8z"],
};
const SHOW = "show";
let shown = "";
let isWaiting = false;

// The bridge: everything that is uncertain about Telegram's widgets is here.
const widget = typeof TelegramWidget === "undefined" ? {} : TelegramWidget;
function readState() {
  for (const name of ["chatData", "chat_data", "data"]) if (typeof widget[name] === "string") return widget[name];
  return "";
}
function watchState() {
  for (const name of ["onChatData", "onchatdata", "onchange"]) try { widget[name] = refresh; } catch (error) { continue; }
  if (widget.addEventListener) for (const name of ["chatData", "chat_data", "change"]) widget.addEventListener(name, refresh);
}
async function ask(data) {
  const answer = await widget.request(data);
  return (answer && answer.result) || "";
}

// Count the time left for a move down. Each of three clocks can be missing or wrong: the phone's, the timer's, the bot's.
const canCount = typeof setInterval === "function" && typeof Date === "function";
let timed = [];
function showTime() {
  const [element, name, seconds, end] = timed;
  if (!element) return;
  const left = Math.max(0, Math.min(seconds, Math.ceil(end - Date.now() / 1000)));
  const parts = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60].slice(left < 3600 ? 1 : 0);
  element.textContent = name + " · " + parts.map((part, i) => (i && part < 10 ? "0" : "") + part).join(":");
  element.className = left < 11 ? "clock late" : "clock";
}
function addClock([name, seconds, end]) {
  timed = [];
  if (!name) return;
  const element = add(felt, "div", "clock", name);
  if (end && canCount) timed = [element, name, seconds, end];
  showTime();
}

function add(parent, kind, classes, text) {
  const element = document.createElement(kind);
  element.className = classes;
  if (text) element.textContent = text;
  parent.appendChild(element);
  return element;
}
function addRow(classes) {
  return add(felt, "div", "row " + (classes || ""));
}

// A card is its code, or "." for a back, and letters: p playable, d dim, c chosen, n new, w wins.
function addCard(row, code, caption, payload) {
  const names = { p: " can", d: " dim", c: " wins", n: " new", w: " wins" };
  const isBack = code[0] === ".";
  let classes = "card" + (isBack ? " back" : "");
  for (const letter of code.slice(isBack ? 1 : 2)) classes += names[letter] || "";
  const place = caption ? add(row, "div", "seat") : row;
  const card = add(place, payload ? "button" : "div", classes);
  if (caption) add(place, "div", "quiet", caption);
  if (payload) card.onclick = () => press(payload, card);
  if (isBack) return;
  add(card, "span", "", code[0] === "T" ? "10" : code[0]);
  const [colour, path] = SIGNS[code[1]];
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  const sign = document.createElementNS("http://www.w3.org/2000/svg", "path");
  sign.setAttribute("d", path);
  sign.setAttribute("fill", colour);
  svg.appendChild(sign);
  card.appendChild(svg);
}

function addTrick(place, title, cards, names, classes) {
  const group = add(place, "div", "group");
  if (title) add(group, "div", "quiet", title);
  const row = add(group, "div", "row " + classes);
  for (const [code, by, said] of cards) addCard(row, code, names[by] + (said ? " “" + said + "”" : ""));
}

function addPiles(row, piles, prefix) {
  for (const [code, size, label, move] of piles) {
    addCard(row, code, label ? label + " · " + size : "× " + size, move && prefix + move);
  }
}

// Draw a state and return true. Return false and draw nothing if the state cannot be read.
function draw(text) {
  const state = parse(text);
  if (!state.hand) return false;
  shown = text;
  felt.textContent = "";
  felt.className = state.look;
  const [firstLine, ...otherLines] = state.text.split("\n");
  add(felt, "div", "line", firstLine);
  for (const otherLine of otherLines) add(felt, "div", "quiet", otherLine);
  if (state.toast) add(felt, "div", "toast", state.toast);
  const sides = addRow();
  for (const [name, points, notes, moves] of state.sides) {
    const side = add(sides, "div", "side" + (moves ? " moves" : ""));
    add(side, "div", "quiet", name);
    add(side, "div", "points", points);
    if (notes) add(side, "div", "quiet", notes);
  }
  add(felt, "div", "quiet", state.target);
  addClock(state.clock);
  for (const [name, codes] of state.others) {
    const row = addRow("small");
    if (name) add(row, "span", "quiet", name);
    for (const code of codes) addCard(row, code);
  }
  if (state.trick.length) addTrick(felt, "", state.trick, state.names, "");
  const middle = addRow("small");
  for (const [title, cards] of state.more) addTrick(middle, title, cards, state.names, "");
  addPiles(middle, state.middle, state.prefix);
  for (const [label, first, second] of state.tally) add(felt, "div", "quiet", label + ": " + first + " – " + second);
  const hand = addRow("hand");
  for (const [code, move] of state.hand) addCard(hand, code, "", move && state.prefix + move);
  addPiles(addRow("packets"), state.packets, state.prefix);
  for (const buttons of state.rows) {
    const row = addRow();
    for (const [label, move, style] of buttons) {
      const button = add(row, "button", "button " + (style || ""), label);
      button.onclick = () => press(state.prefix + move, button);
    }
  }
  add(felt, "div", "quiet", state.foot);
}

function parse(text) {
  try { return (text && JSON.parse(text)) || {}; } catch (error) { return {}; }
}

function refresh() {
  const text = readState();
  if (text !== shown) draw(text);
}

// Press a card or button. The answer has the state after the press, so a refused card comes back. An answer that is lost
// or cannot be read gives the card back, too.
async function press(payload, element) {
  if (isWaiting) return;
  isWaiting = true;
  const before = element.className;
  element.className += " gone";
  const text = await Promise.race([ask(payload), late()]).catch(() => "");
  isWaiting = false;
  element.className = before;
  if (draw(text)) return;
  refresh();
  add(felt, "div", "toast", parse(text).toast || "⚠️ Try again · Riprova");
}

// Telegram gives an answer 15 seconds. Without timers, only Telegram ends the wait.
function late() {
  return new Promise((resolve) => { if (typeof setTimeout === "function") setTimeout(() => resolve(""), 16000); });
}

if (canCount) setInterval(showTime, 500);
watchState();
refresh();
if (!shown) {
  start.hidden = false;
  start.onclick = () => press(SHOW, start);
}
