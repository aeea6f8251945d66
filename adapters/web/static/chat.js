// @ts-check
// The playground's page: a small chat client. All text is set as text, never as markup.
import { guard, Outbox } from "./connection.js";
import { forThisTab } from "./storage.js";

/** @typedef {{id: string, name: string, handle: string, closed: boolean, token: string}} Person */
/** @typedef {{id: string, title: string}} Chat */
/** @typedef {{label: string, payload: string, style: string, kind: string}} Button */
/** @typedef {[text: string, style: string, person: string]} Span */
/** @typedef {{name: string, alt: string, width: number, height: number}} Picture */
/** @typedef {{id: number, by: string, text: string, spans: Span[], fold?: number | null, rows?: Button[][], picture?: Picture, file?: string, reply_to?: number | null, edited?: boolean}} Message */
/** @typedef {{word: string, about: string, takes: Record<string, string>, people: boolean}} Command */
/** @typedef {{texts: Record<string, string>, people: Person[], chats: Chat[], messages: Record<string, Map<number, Message>>, commands: Command[], me: string | null, host: boolean, switching: boolean, chat: string, replyTo: number | null, unread: Record<string, number>}} State */
/** @typedef {{full: Record<string, unknown>, resolve: (done: boolean) => void}} Waiting */

// Behind a # the key stays here: no proxy on the way sees it, nor writes it into a log.
const hash = new URLSearchParams(location.hash.slice(1));
const key = hash.get("key") || new URLSearchParams(location.search).get("key") || "";
window.onhashchange = () => location.reload();
/** @param {string} id @returns {HTMLElement} */
const el = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const field = /** @type {HTMLInputElement} */ (el("text"));
/** @type {State} */
const state = { texts: {}, people: [], chats: [], messages: {}, commands: [], me: null, host: false, switching: false, chat: "", replyTo: null, unread: {} };
let askForLife = () => {};
let isLate = false;
/** @type {Outbox<Waiting>} */
const pending = new Outbox({ ask: () => askForLife(), late: (is) => { isLate = is; drawTrouble(); } });
/** Addresses by the pictures' names. @type {Map<string, string>} */
const pictures = new Map();
const PICTURES_KEPT = 60;
const unfolded = new Set();
/** @type {WebSocket | null} */
let line = null;
let pause = 250;
/** Why there is no connection; empty while there is one. */
let away = "Connecting…";
const TICKET_WITHIN = 8000;
// The code of a table to which an address has invited the reader.
let invited = /^[A-Za-z0-9]{4,8}$/.exec(hash.get("join") || "")?.[0] || "";

async function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  let answer, said;
  try {
    answer = await askTicket();
    said = await answer.text();
  } catch {
    return again();
  }
  if (answer.status === 403) return shut(said);
  if (!answer.ok) return again(said);
  line = new WebSocket(`${scheme}://${location.host}/ws?ticket=${encodeURIComponent(said)}`);
  askForLife = guard(line, { lost: () => { pending.lost(); again(); }, alive: () => pending.arrived() });
  line.onmessage = (event) => hear(JSON.parse(event.data));
  line.onopen = () => { pause = 250; away = ""; drawTrouble(); };
  return undefined;
}

// The key goes in a body, for proxies log addresses and headers; a WebSocket has an address only, so it has a ticket good for once.
const askTicket = () => fetch("/ticket", { method: "POST", body: key, signal: AbortSignal.timeout(TICKET_WITHIN) });

/** Nothing opens with this link: trying on would change nothing. @param {string} why */
function shut(why) {
  el("messages").replaceChildren(make("div", { class: "message bot", role: "alert" }, make("div", { class: "bubble" }, why)));
  for (const part of ["offline", "links", "composer", "about"]) el(part).hidden = true;
  el("people").replaceChildren();
  el("chats").replaceChildren();
}

/** Show the trouble with the connection, if any. */
function drawTrouble() {
  const trouble = [isLate && state.texts.unsent, away].filter(Boolean).join(" ");
  el("offline").textContent = trouble;
  el("offline").hidden = !trouble;
}

/** @param {string} [why] */
function again(why) {
  away = why || state.texts.connecting || "Connecting…";
  drawTrouble();
  setTimeout(connect, pause);
  pause = Math.min(pause * 2, 5000);
}

/** Ask the bot for something; it says whether that was done. @param {Record<string, unknown>} wish @returns {Promise<boolean>} */
function ask(wish) {
  const full = { ...wish, as: state.me };
  return new Promise((resolve) => {
    const n = pending.add({ full, resolve });
    if (line && line.readyState === WebSocket.OPEN) line.send(JSON.stringify({ ...full, n }));
  });
}

/** @param {any} word */
function hear(word) {
  if (word.beat) return undefined;
  if (word.type === "hello") return hello(word);
  if (word.type === "people") { state.people = word.people; state.chats = word.chats; drawHeads(); return drawLinks(); }
  if (word.type === "message") return message(word.chat, word.message);
  if (word.type === "deleted") return deleted(word.chat, word.id);
  if (word.type === "file") { if (pending.get(word.n)) save(word.name, word.text); return undefined; }
  if (word.type === "picture") { const asked = pending.get(word.n); if (asked) showPicture(String(asked.full.name), word.png); return undefined; }
  if (word.type === "go") { if (word.to === state.me) go(word.chat); return undefined; }
  const waiting = pending.answered(word.n);
  if (word.text || word.toast) toast(word.text || word.toast);
  if (waiting) waiting.resolve(word.type === "done");
  return undefined;
}

/** @param {any} word */
function hello(word) {
  Object.assign(state, { texts: word.texts, people: word.people, chats: word.chats, commands: word.commands, host: word.host, switching: word.switching });
  state.messages = {};
  for (const [chat, list] of Object.entries(word.messages)) state.messages[chat] = new Map(list.map((/** @type {Message} */ m) => [m.id, m]));
  const kept = forThisTab.get("me");
  if (word.me) state.me = word.me;
  else if (!state.people.some((p) => p.id === state.me)) state.me = state.people.some((p) => p.id === kept) ? kept : word.host ? null : state.people[0].id;
  if (!visible().some((c) => c.id === state.chat)) {
    const last = forThisTab.get("chat");
    state.chat = last && visible().some((c) => c.id === last) ? last : group();
  }
  label();
  draw();
  // Whoever began to write before the commands were known is offered them.
  if (document.activeElement === field) complete();
  // Unfolded for who has not said anything yet.
  /** @type {HTMLDetailsElement} */ (el("what")).open ||= Object.values(word.messages).every((list) => !list.length);
  for (const [n, { full }] of pending.all()) line?.send(JSON.stringify({ ...full, n }));
  if (invited && state.me) joinInvited();
}

// Once: who loads the page again has sat down already.
function joinInvited() {
  const code = invited;
  invited = "";
  history.replaceState(null, "", location.pathname);
  go(`@${state.me}`);
  ask({ do: "say", chat: state.chat, text: `/join ${code}`, reply_to: null });
}

// What stands in the page from the beginning is in English until the bot says what the reader speaks.
function label() {
  document.documentElement.lang = state.texts.language;
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", state.texts[node.getAttribute("data-label") || ""]);
  field.placeholder = state.texts.message_or_command;
}

const visible = () => [...state.chats.filter((c) => c.id === `@${state.me}`), ...state.chats.filter((c) => !c.id.startsWith("@"))];

/** The first group. */
const group = () => state.chats.find((c) => !c.id.startsWith("@"))?.id || "";

/** @param {string} chat @param {Message} one */
function message(chat, one) {
  if (!state.messages[chat]) state.messages[chat] = new Map();
  const isNew = !state.messages[chat].has(one.id);
  state.messages[chat].set(one.id, one);
  if (chat === state.chat) {
    const below = atBottom();
    const old = el("messages").querySelector(`[data-id="${one.id}"]`);
    const node = drawMessage(one);
    if (el("greeting")) el("greeting").remove();
    if (old) replace(/** @type {HTMLElement} */ (old), node); else el("messages").append(node);
    if (below || (isNew && one.by === state.me)) toBottom();
  } else if (isNew && one.by !== state.me) {
    state.unread[chat] = (state.unread[chat] || 0) + 1;
    drawHeads();
  }
}

/** Who presses by keys goes on from there: the same button has the focus, or the first one of the message.
 * @param {HTMLElement} old @param {HTMLElement} node */
function replace(old, node) {
  const had = /** @type {HTMLElement | null} */ (old.querySelector(":focus-visible"));
  old.replaceWith(node);
  if (!had) return;
  const buttons = /** @type {HTMLElement[]} */ ([...node.querySelectorAll(".rows button")]);
  const other = /** @type {HTMLElement | null} */ (node.querySelector(had.dataset.payload ? ".rows button" : had.className ? `.${had.classList[0]}` : had.localName));
  (buttons.find((button) => button.dataset.payload === had.dataset.payload) || other)?.focus({ preventScroll: true });
}

/** @param {string} chat @param {number} id */
function deleted(chat, id) {
  if (state.messages[chat]) state.messages[chat].delete(id);
  if (chat === state.chat) { const node = el("messages").querySelector(`[data-id="${id}"]`); if (node) node.remove(); }
}

/** @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Record<string, any>} attributes handlers by names that begin with "on" @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[T]} */
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flatMap((child) => (typeof child === "string" ? signed(child) : [child])));
  return node;
}

/** A text in nodes, the signs of the black suits in elements of their own: on a dark ground they are drawn light.
 * @param {string} text @returns {Node[]} */
const signed = (text) =>
  text.split(/([♠♣]\uFE0F?)/).map((part, at) => (at % 2 ? make("span", { class: "sign" }, document.createTextNode(part)) : document.createTextNode(part)));

const atBottom = () => { const m = el("messages"); return m.scrollHeight - m.scrollTop - m.clientHeight < 80; };
const toBottom = () => { const m = el("messages"); m.scrollTop = m.scrollHeight; };

function draw() {
  forThisTab.set("me", state.me || "");
  forThisTab.set("chat", state.chat || "");
  state.unread[state.chat] = 0;
  drawHeads();
  drawLinks();
  const list = state.messages[state.chat] || new Map();
  el("messages").replaceChildren(...(list.size || state.host ? [] : [greeting()]), ...Array.from(list.values(), drawMessage));
  el("composer").hidden = el("about").hidden = state.host;
  toBottom();
}

function drawHeads() {
  const texts = state.texts;
  const people = tabs(texts.people, state.people.filter((p) => state.switching || p.id === state.me).map((p) =>
    make("button", { role: "tab", type: "button", "aria-selected": String(p.id === state.me), "data-person": p.id, onclick: () => become(p.id) },
      p.name, p.closed ? " 🔕" : "", ...badge(state.switching && p.id !== state.me ? state.unread[`@${p.id}`] : 0))));
  const me = state.people.find((p) => p.id === state.me);
  /** @type {HTMLElement[]} */
  const closed = [];
  if (state.switching || state.host) people.push(make("button", { type: "button", class: "add", id: "add-person", "aria-label": texts.add_person, onclick: () => add("add_person", texts.name_of_person) }, "+", make("span", { class: "what" }, ` ${texts.person}`)));
  if (me) {
    const box = make("input", { type: "checkbox", id: "closed", onchange: () => { if (box.checked) toast(texts.closed_about); ask({ do: "close", closed: box.checked }); } });
    box.checked = me.closed;
    closed.push(make("label", { title: texts.closed_about }, box, `🔕 ${texts.closed}`));
  }
  el("people").replaceChildren(make("span", { class: state.switching ? "mark act-as" : "mark" }, state.switching ? texts.act_as : state.host ? texts.host : texts.you), ...people, ...closed);
  const acting = el("people").querySelector("[aria-selected=true]");
  if (acting) acting.scrollIntoView({ block: "nearest", inline: "center" });
  const chats = tabs(texts.chats, visible().map((c) =>
    make("button", { role: "tab", type: "button", "aria-selected": String(c.id === state.chat), "data-chat": c.id, onclick: () => go(c.id) },
      c.id.startsWith("@") ? "🃏 Buongioco" : `👥 ${c.title}`, ...badge(state.unread[c.id]))));
  if (state.switching || state.host) chats.push(make("button", { type: "button", class: "add", "aria-label": texts.add_group, onclick: () => add("add_chat", texts.name_of_group) }, "+", make("span", { class: "what" }, ` ${texts.group}`)));
  el("chats").replaceChildren(...chats);
}

/** Tabs in a list of their own, for what else stands beside them is none. Where there are none there is no list.
 * @param {string} label @param {HTMLElement[]} all */
const tabs = (label, all) => (all.length ? [make("span", { role: "tablist", class: "tabs", "aria-label": label }, ...all)] : []);

/** @param {number} count */
const badge = (count) => (count ? [make("span", { class: "badge" }, String(count))] : []);

function drawLinks() {
  el("links").hidden = !state.host;
  if (!state.host) return;
  const before = el("links").querySelectorAll("a").length;
  const links = state.people.map((p) => {
    const url = `${location.origin}/chat#key=${p.token}`;
    return make("div", {}, `${p.name}: `, make("a", { href: url }, url));
  });
  el("links").replaceChildren(state.texts.links, ...links);
  if (before && links.length > before) links[links.length - 1].scrollIntoView({ block: "nearest" });
}

/** @param {Message} one */
function drawMessage(one) {
  const own = one.by === state.me, bot = one.by === "bot";
  const who = bot ? "Buongioco" : (state.people.find((p) => p.id === one.by) || { name: "?" }).name;
  const bubble = make("div", { class: "bubble", dir: "auto" });
  if (!own) bubble.append(make("button", { type: "button", class: "who", title: state.texts.reply, onclick: () => replyTo(one.id) }, who));
  const quoted = one.reply_to && (state.messages[state.chat] || new Map()).get(one.reply_to);
  if (quoted) bubble.append(make("span", { class: "quote" }, plain(quoted)));
  if (one.picture) bubble.append(drawPicture(one.id, one.picture));
  const edited = one.edited ? [make("span", { class: "edited" }, state.texts.edited)] : [];
  if (bot) bubble.append(...drawText(one, edited)); else bubble.append(...signed(one.text));
  if (one.file) bubble.append(make("button", { type: "button", class: "file", onclick: () => ask({ do: "file", chat: state.chat, message: one.id }) }, `📎 ${one.file}`));
  const node = make("div", { class: `message ${own ? "own" : ""} ${bot ? "bot" : ""}`, "data-id": one.id }, bubble);
  if (one.rows && one.rows.length) {
    node.append(make("div", { class: "rows" }, ...one.rows.flatMap(split).map((row) =>
      make("div", { class: "row" }, ...row.map((button) => button.kind === "link" ? make("a", { href: button.payload, target: "_blank", rel: "noopener" }, button.label) : make("button", { type: "button", class: button.style, "data-payload": button.payload, onclick: (/** @type {Event} */ e) => press(one, button, /** @type {HTMLElement} */ (e.currentTarget)) }, button.label))))));
  }
  return node;
}

// A picture is asked for when it comes into view; whoever changes a message meanwhile puts another image in its place.
const inView = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting) continue;
    inView.unobserve(target);
    const { message, picture } = /** @type {HTMLElement} */ (target).dataset;
    ask({ do: "picture", chat: state.chat, message: Number(message), name: picture });
  }
});

/** @param {number} message @param {Picture} picture */
function drawPicture(message, { name, alt, width, height }) {
  const node = make("img", { class: "picture", alt, width, height, "data-picture": name, "data-message": message });
  const address = pictures.get(name);
  if (address) node.src = address; else inView.observe(node);
  return node;
}

/** @param {string} name @param {string} png in base64 */
function showPicture(name, png) {
  if (!png) return;
  const bytes = Uint8Array.from(atob(png), (char) => char.charCodeAt(0));
  const address = URL.createObjectURL(new Blob([bytes], { type: "image/png" }));
  pictures.set(name, address);
  for (const node of document.querySelectorAll(`[data-picture="${name}"]`)) /** @type {HTMLImageElement} */ (node).src = address;
  const [[oldest, old]] = pictures;
  if (pictures.size > PICTURES_KEPT) { URL.revokeObjectURL(old); pictures.delete(oldest); }
}

// Where nothing has been said yet; the first message takes its place.
const greeting = () => make("div", { class: "message bot", id: "greeting" }, make("div", { class: "bubble" }, make("span", { class: "who" }, "Buongioco"), state.texts.greeting));

/** Eight buttons a row are still readable on a phone, fewer if their labels are long. @param {Button[]} row */
function split(row) {
  const longest = Math.max(...row.map((b) => Array.from(b.label).length));
  const most = longest > 14 ? 2 : longest > 8 ? 3 : longest > 4 ? 5 : 8;
  const rows = Math.ceil(row.length / most), each = Math.ceil(row.length / rows);
  return Array.from({ length: rows }, (_, at) => row.slice(at * each, (at + 1) * each));
}

/** What a picture says too is folded up beside it, for who wants to read it; whoever has opened it keeps it open.
 * @param {Message} one @param {HTMLElement[]} edited */
function drawText(one, edited) {
  const open = one.fold === null || one.fold === undefined ? one.spans.length : one.fold;
  const said = one.spans.slice(0, open).map(drawSpan), folded = one.spans.slice(open);
  if (!folded.length) return [...said, ...edited];
  const name = `${state.chat} ${one.id}`;
  const words = make("details", { class: "words", open: unfolded.has(name), ontoggle: () => { if (words.open) unfolded.add(name); else unfolded.delete(name); } },
    make("summary", {}, state.texts.in_words), ...folded.map(drawSpan));
  return [...said, ...edited, words];
}

/** A press copies it, but where the browser lets no page do that. @param {string} text */
function drawCode(text) {
  const code = make("code", {}, text), clipboard = /** @type {Clipboard | undefined} */ (navigator.clipboard);
  return clipboard ? make("button", { type: "button", class: "copy", title: state.texts.copy, onclick: () => clipboard.writeText(text) }, code) : code;
}

/** @param {Span} span @returns {Node} */
function drawSpan([text, style, person]) {
  if (style === "bold") return make("b", {}, text);
  if (style === "italic") return make("i", {}, text);
  if (style === "small") return make("small", {}, text);
  if (style === "code") return drawCode(text);
  if (["mention", "call", "quiet"].includes(style)) return make("span", { class: "mention", "data-person": person }, text);
  return make("span", {}, text);
}

/** @param {Message} one */
const plain = (one) => one.text || one.spans.map((s) => s[0]).join("");

/** @param {Message} one @param {Button} button @param {HTMLElement} node */
async function press(one, button, node) {
  node.setAttribute("aria-busy", "true");
  await (button.kind === "private" ? ask({ do: "private", code: button.payload }) : ask({ do: "press", chat: state.chat, message: one.id, payload: button.payload }));
  node.removeAttribute("aria-busy");
}

/** @param {string} person */
function become(person) {
  const inPrivate = state.chat.startsWith("@");
  state.me = person;
  if (inPrivate) state.chat = `@${person}`;
  draw();
}

/** @param {string} chat */
function go(chat) { state.chat = chat; replyTo(null); draw(); }

/** @param {string} name @param {string} text */
function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** @param {string} what @param {string} question */
function add(what, question) {
  const name = prompt(question);
  if (name && name.trim()) ask({ do: what, name });
}

/** @param {number | null} id */
function replyTo(id) {
  state.replyTo = id;
  el("replying").hidden = id === null;
  const one = id === null ? null : state.messages[state.chat].get(id);
  if (!one) return;
  const [said] = el("replying").childNodes;
  said.textContent = `${state.texts.reply}: ${plain(one).slice(0, 60)}`;
  field.focus();
}

/** @param {string} text */
function toast(text) {
  const node = make("div", { class: "toast" }, text);
  el("toasts").append(node);
  // Time to look there, and to read it: some fifteen letters a second.
  setTimeout(() => node.remove(), 3000 + 65 * text.length);
}

// Completion: commands first, then people and games.
/** @type {[full: string, label: string, about: string][]} */
let offered = [];
let chosen = 0;

function complete() {
  const text = field.value, last = text.split(" ").pop() || "";
  offered = [];
  if (/^\/\S*$/.test(text)) offered = state.commands.filter((c) => `/${c.word}`.startsWith(text)).map((c) => /** @type {[string, string, string]} */ ([`/${c.word} `, `/${c.word}`, c.about]));
  else if (text.startsWith("/")) {
    const command = state.commands.find((c) => text.startsWith(`/${c.word} `)) || { takes: {}, people: false };
    const people = state.people.filter((p) => p.id !== state.me).map((p) => [`@${p.handle}`, p.name]);
    const words = last.startsWith("@") ? people : [...Object.entries(command.takes), ...(command.people ? people : [])];
    offered = words.filter(([w]) => w.startsWith(last) && w !== last).map(([w, about]) => [text.slice(0, text.length - last.length) + w, w, about]);
  }
  chosen = Math.min(chosen, Math.max(0, offered.length - 1));
  el("completions").hidden = !offered.length;
  el("completions").replaceChildren(...offered.map(([full, label, about], at) =>
    make("li", { "aria-selected": String(at === chosen), onmousedown: (/** @type {Event} */ e) => { e.preventDefault(); take(full); } }, make("b", {}, label), about)));
}

/** @param {string} full */
function take(full) { field.value = full; chosen = 0; field.focus(); complete(); }

field.oninput = () => { chosen = 0; complete(); };
field.onblur = () => setTimeout(() => { el("completions").hidden = true; }, 150);
field.addEventListener("keydown", (e) => {
  if (!offered.length || el("completions").hidden) return;
  if (e.key === "ArrowDown" || e.key === "ArrowUp") { chosen = (chosen + (e.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length; complete(); e.preventDefault(); }
  if (e.key === "Tab") { take(offered[chosen][0]); e.preventDefault(); }
  if (e.key === "Escape") el("completions").hidden = true;
});
// A key that is held presses once: each press shows other buttons, where it would press on.
addEventListener("keydown", (event) => { if (event.repeat && /^(Enter| )$/.test(event.key) && event.target instanceof HTMLButtonElement) event.preventDefault(); });
// The field keeps the focus, and with it the list of commands.
el("slash").onmousedown = (e) => e.preventDefault();
el("slash").onclick = () => { field.value = "/"; field.focus(); complete(); };
// In the group that is shown, or the first one: in private nobody would see the challenge.
el("begin").onclick = () => {
  if (!state.chat || state.host) return;
  if (state.chat.startsWith("@")) go(group());
  ask({ do: "say", chat: state.chat, text: el("begin").dataset.command, reply_to: null });
};
el("replying").lastElementChild?.addEventListener("click", () => replyTo(null));
el("composer").onsubmit = async (e) => {
  e.preventDefault();
  const text = field.value.trim();
  if (!text) return;
  field.value = "";
  el("completions").hidden = true;
  ask({ do: "say", chat: state.chat, text, reply_to: state.replyTo });
  replyTo(null);
};
connect();
