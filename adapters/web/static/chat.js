// @ts-check
// The playground's page: a small chat client.
import { Connection } from "./connection.js";
import { drawSpan, el, make, markBlackSuits, saveFile, splitRow } from "./dom.js";
import { tabStorage } from "./storage.js";

/** @typedef {{id: string, name: string, handle: string, closed: boolean, token: string}} Person */
/** @typedef {{id: string, title: string}} Chat */
/** @typedef {import("./dom.js").Button} Button */
/** @typedef {{name: string, alt: string, width: number, height: number}} Picture */
/** @typedef {{id: number, by: string, text: string, spans: import("./dom.js").Span[], fold?: number | null, rows?: Button[][], picture?: Picture, file?: string, reply_to?: number | null, edited?: boolean}} Message */
/** @typedef {{word: string, about: string, takes: Record<string, string>, people: boolean}} Command */
/** @typedef {{texts: Record<string, string>, people: Person[], chats: Chat[], messages: Record<string, Map<number, Message>>, commands: Command[], me: string | null, host: boolean, switching: boolean, chat: string, replyTo: number | null, unread: Record<string, number>}} State */

// Browsers do not send what follows a #, so no proxy sees or logs the key.
const hash = new URLSearchParams(location.hash.slice(1));
const key = hash.get("key") || new URLSearchParams(location.search).get("key") || "";
window.onhashchange = () => location.reload();
const field = /** @type {HTMLInputElement} */ (el("text"));
/** @type {State} */
const state = { texts: {}, people: [], chats: [], messages: {}, commands: [], me: null, host: false, switching: false, chat: "", replyTo: null, unread: {} };
let isLate = false;
/** Object URLs of pictures by name. @type {Map<string, string>} */
const pictures = new Map();
const PICTURES_KEPT = 60;
const openTexts = new Set();
let trouble = "Connecting…";  // the reason why there is no connection, or ""
const TICKET_TIMEOUT = 8000;
let inviteCode = /^[A-Za-z0-9]{4,8}$/.exec(hash.get("join") || "")?.[0] || "";

/** @returns {Promise<WebSocket | string>} */
async function openSocket() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  let answer, text;
  try {
    // Proxies log addresses and headers, and a WebSocket has no body. So the key is exchanged for a ticket that works once.
    answer = await fetch("/ticket", { method: "POST", body: key, signal: AbortSignal.timeout(TICKET_TIMEOUT) });
    text = await answer.text();
  } catch {
    return "";
  }
  if (answer.ok) return new WebSocket(`${scheme}://${location.host}/ws?ticket=${encodeURIComponent(text)}`);
  if (answer.status === 403) { connection.isOver = true; showRefusal(text); }
  return text;
}

/** Show why the link does not open the chat, without a retry. @param {string} why */
function showRefusal(why) {
  el("messages").replaceChildren(make("div", { class: "message bot", role: "alert" }, make("div", { class: "bubble" }, why)));
  for (const part of ["offline", "links", "composer", "about"]) el(part).hidden = true;
  for (const part of ["people", "chats"]) el(part).replaceChildren();
}

function drawTrouble() {
  const text = [isLate && state.texts.unsent, trouble].filter(Boolean).join(" ");
  el("offline").textContent = text;
  el("offline").hidden = !text;
}

const connection = new Connection({
  open: openSocket,
  receive,
  state: (isOpen, why) => { trouble = isOpen ? "" : why || state.texts.connecting || "Connecting…"; drawTrouble(); },
  late: (value) => { isLate = value; drawTrouble(); },
});

/** Send a request; resolves to its answer. @param {Record<string, unknown>} fields */
const ask = (fields) => connection.send({ ...fields, as: state.me });

/** @param {any} message */
function receive(message) {
  const request = connection.pending.get(message.n)?.message;
  switch (message.type) {
    case "hello": return start(message);
    case "people": state.people = message.people; state.chats = message.chats; drawHeads(); return drawLinks();
    case "message": return showMessage(message.chat, message.message);
    case "deleted": return removeMessage(message.chat, message.id);
    case "file": return request && saveFile(message.name, message.text);
    case "picture": return request && showPicture(String(request.name), message.png);
    case "go": return message.to === state.me && openChat(message.chat);
    case "done": case "refused":
      if (message.text || message.toast) showToast(message.text || message.toast);
      return connection.answer(message);
    default: return undefined;  // a beat
  }
}

/** @param {any} hello */
function start(hello) {
  const { texts, people, chats, commands, host, switching } = hello;
  Object.assign(state, { texts, people, chats, commands, host, switching });
  state.messages = {};
  for (const [chat, list] of Object.entries(hello.messages)) state.messages[chat] = new Map(list.map((/** @type {Message} */ m) => [m.id, m]));
  const kept = tabStorage.get("me");
  if (hello.me) state.me = hello.me;
  else if (!people.some((/** @type {Person} */ p) => p.id === state.me)) state.me = people.some((/** @type {Person} */ p) => p.id === kept) ? kept : host ? null : people[0].id;
  if (!visible().some((c) => c.id === state.chat)) {
    const last = tabStorage.get("chat");
    state.chat = last && visible().some((c) => c.id === last) ? last : firstGroup();
  }
  applyTexts();
  draw();
  // Complete a command that was typed before the list arrived.
  if (document.activeElement === field) complete();
  // The introduction is open until there is a message.
  /** @type {HTMLDetailsElement} */ (el("what")).open ||= Object.values(hello.messages).every((list) => !list.length);
  if (inviteCode && state.me) joinTable();
}

// The address loses its code, because after a reload the player already sits at the table.
function joinTable() {
  const code = inviteCode;
  inviteCode = "";
  history.replaceState(null, "", location.pathname);
  openChat(`@${state.me}`);
  ask({ do: "say", chat: state.chat, text: `/join ${code}`, reply_to: null });
}

// The page is in English until the bot sends texts in the reader's language.
function applyTexts() {
  document.documentElement.lang = state.texts.language;
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", state.texts[node.getAttribute("data-label") || ""]);
  field.placeholder = state.texts.message_or_command;
}

const groups = () => state.chats.filter((c) => !c.id.startsWith("@"));
const visible = () => [...state.chats.filter((c) => c.id === `@${state.me}`), ...groups()];
const firstGroup = () => groups()[0]?.id || "";

/** @param {string} chat @param {Message} message */
function showMessage(chat, message) {
  const messages = (state.messages[chat] ||= new Map()), isNew = !messages.has(message.id);
  messages.set(message.id, message);
  if (chat === state.chat) {
    const wasAtBottom = isAtBottom();
    const old = el("messages").querySelector(`[data-id="${message.id}"]`);
    const node = drawMessage(message);
    document.getElementById("greeting")?.remove();
    if (old) replaceMessage(/** @type {HTMLElement} */ (old), node); else el("messages").append(node);
    if (wasAtBottom || (isNew && message.by === state.me)) toBottom();
  } else if (isNew && message.by !== state.me) {
    state.unread[chat] = (state.unread[chat] || 0) + 1;
    drawHeads();
  }
}

/** Replace a message and keep the keyboard focus, on the same button or the message's first.
 * @param {HTMLElement} old @param {HTMLElement} node */
function replaceMessage(old, node) {
  const focused = /** @type {HTMLElement | null} */ (old.querySelector(":focus-visible"));
  old.replaceWith(node);
  if (!focused) return;
  const buttons = /** @type {HTMLElement[]} */ ([...node.querySelectorAll(".rows button")]);
  const other = /** @type {HTMLElement | null} */ (node.querySelector(focused.dataset.payload ? ".rows button" : focused.className ? `.${focused.classList[0]}` : focused.localName));
  (buttons.find((button) => button.dataset.payload === focused.dataset.payload) || other)?.focus({ preventScroll: true });
}

/** @param {string} chat @param {number} id */
function removeMessage(chat, id) {
  state.messages[chat]?.delete(id);
  if (chat === state.chat) el("messages").querySelector(`[data-id="${id}"]`)?.remove();
}

const isAtBottom = () => { const m = el("messages"); return m.scrollHeight - m.scrollTop - m.clientHeight < 80; };
const toBottom = () => { const m = el("messages"); m.scrollTop = m.scrollHeight; };

function draw() {
  tabStorage.set("me", state.me || "");
  tabStorage.set("chat", state.chat || "");
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
  const people = tabList(texts.people, state.people.filter((p) => state.switching || p.id === state.me).map((p) =>
    make("button", { role: "tab", type: "button", "aria-selected": String(p.id === state.me), "data-person": p.id, onclick: () => switchPerson(p.id) },
      p.name, p.closed ? " 🔕" : "", ...badge(state.switching && p.id !== state.me ? state.unread[`@${p.id}`] : 0))));
  const me = state.people.find((p) => p.id === state.me);
  /** @type {HTMLElement[]} */
  const closed = [];
  if (state.switching || state.host) people.push(make("button", { type: "button", class: "add", id: "add-person", "aria-label": texts.add_person, onclick: () => promptForName("add_person", texts.name_of_person) }, "+", make("span", { class: "what" }, ` ${texts.person}`)));
  if (me) {
    const box = make("input", { type: "checkbox", id: "closed", onchange: () => { if (box.checked) showToast(texts.closed_about); ask({ do: "close", closed: box.checked }); } });
    box.checked = me.closed;
    closed.push(make("label", { title: texts.closed_about }, box, `🔕 ${texts.closed}`));
  }
  el("people").replaceChildren(make("span", { class: state.switching ? "mark act-as" : "mark" }, state.switching ? texts.act_as : state.host ? texts.host : texts.you), ...people, ...closed);
  el("people").querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest", inline: "center" });
  const chats = tabList(texts.chats, visible().map((c) =>
    make("button", { role: "tab", type: "button", "aria-selected": String(c.id === state.chat), "data-chat": c.id, onclick: () => openChat(c.id) },
      c.id.startsWith("@") ? "🃏 Buongioco" : `👥 ${c.title}`, ...badge(state.unread[c.id]))));
  if (state.switching || state.host) chats.push(make("button", { type: "button", class: "add", "aria-label": texts.add_group, onclick: () => promptForName("add_chat", texts.name_of_group) }, "+", make("span", { class: "what" }, ` ${texts.group}`)));
  el("chats").replaceChildren(...chats);
}

/** Wrap tabs in a list of their own; empty without tabs. @param {string} label @param {HTMLElement[]} tabs */
const tabList = (label, tabs) => (tabs.length ? [make("span", { role: "tablist", class: "tabs", "aria-label": label }, ...tabs)] : []);

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

/** @param {Message} message */
function drawMessage(message) {
  const own = message.by === state.me, bot = message.by === "bot";
  const author = bot ? "Buongioco" : (state.people.find((p) => p.id === message.by) || { name: "?" }).name;
  const bubble = make("div", { class: "bubble", dir: "auto" });
  if (!own) bubble.append(make("button", { type: "button", class: "who", title: state.texts.reply, onclick: () => replyTo(message.id) }, author));
  const quoted = message.reply_to && (state.messages[state.chat] || new Map()).get(message.reply_to);
  if (quoted) bubble.append(make("span", { class: "quote" }, plainText(quoted)));
  if (message.picture) bubble.append(drawPicture(message.id, message.picture));
  const edited = message.edited ? [make("span", { class: "edited" }, state.texts.edited)] : [];
  if (bot) bubble.append(...drawText(message, edited)); else bubble.append(...markBlackSuits(message.text));
  if (message.file) bubble.append(make("button", { type: "button", class: "file", onclick: () => ask({ do: "file", chat: state.chat, message: message.id }) }, `📎 ${message.file}`));
  const node = make("div", { class: `message ${own ? "own" : ""} ${bot ? "bot" : ""}`, "data-id": message.id }, bubble);
  if (message.rows?.length) {
    node.append(make("div", { class: "rows" }, ...message.rows.flatMap(splitRow).map((row) =>
      make("div", { class: "row" }, ...row.map((button) => button.kind === "link" ? make("a", { href: button.payload, target: "_blank", rel: "noopener" }, button.label) : make("button", { type: "button", class: button.style, "data-payload": button.payload, onclick: (/** @type {Event} */ e) => press(message, button, /** @type {HTMLElement} */ (e.currentTarget)) }, button.label))))));
  }
  return node;
}

// Loads a picture when it scrolls into view.
const pictureObserver = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    pictureObserver.unobserve(target);
    const { message, picture } = /** @type {HTMLElement} */ (target).dataset;
    ask({ do: "picture", chat: state.chat, message: Number(message), name: picture });
  }
});

/** @param {number} message @param {Picture} picture */
function drawPicture(message, { name, alt, width, height }) {
  const node = make("img", { class: "picture", alt, width, height, "data-picture": name, "data-message": message });
  const address = pictures.get(name);
  if (address) node.src = address; else pictureObserver.observe(node);
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

// Shown in an empty chat; the first message replaces it.
const greeting = () => make("div", { class: "message bot", id: "greeting" }, make("div", { class: "bubble" }, make("span", { class: "who" }, "Buongioco"), state.texts.greeting));

/** Draw a text. The part that a picture also shows is folded up, and stays open once the reader has opened it.
 * @param {Message} message @param {HTMLElement[]} edited */
function drawText({ id, spans, fold }, edited) {
  const nodes = spans.map((span) => drawSpan(span, state.texts.copy)), folded = nodes.splice(fold ?? nodes.length);
  if (!folded.length) return [...nodes, ...edited];
  const name = `${state.chat} ${id}`;
  const words = make("details", { class: "words", open: openTexts.has(name), ontoggle: () => { if (words.open) openTexts.add(name); else openTexts.delete(name); } },
    make("summary", {}, state.texts.in_words), ...folded);
  return [...nodes, ...edited, words];
}

/** @param {Message} message */
const plainText = (message) => message.text || message.spans.map((s) => s[0]).join("");

/** @param {Message} message @param {Button} button @param {HTMLElement} node */
async function press(message, button, node) {
  node.setAttribute("aria-busy", "true");
  await (button.kind === "private" ? ask({ do: "private", code: button.payload }) : ask({ do: "press", chat: state.chat, message: message.id, payload: button.payload }));
  node.removeAttribute("aria-busy");
}

/** @param {string} person */
function switchPerson(person) {
  state.me = person;
  if (state.chat.startsWith("@")) state.chat = `@${person}`;
  draw();
}

/** @param {string} chat */
function openChat(chat) { state.chat = chat; replyTo(null); draw(); }

/** @param {string} action @param {string} question */
function promptForName(action, question) {
  const name = prompt(question)?.trim();
  if (name) ask({ do: action, name });
}

/** @param {number | null} id */
function replyTo(id) {
  state.replyTo = id;
  el("replying").hidden = id === null;
  const message = id === null ? null : state.messages[state.chat].get(id);
  if (!message) return;
  el("replying").childNodes[0].textContent = `${state.texts.reply}: ${plainText(message).slice(0, 60)}`;
  field.focus();
}

/** @param {string} text */
function showToast(text) {
  const node = make("div", { class: "toast" }, text);
  el("toasts").append(node);
  // Three seconds, and one for every fifteen letters.
  setTimeout(() => node.remove(), 3000 + 65 * text.length);
}

// Completion of commands, people and arguments.
/** @type {[full: string, label: string, about: string][]} */
let completions = [];
let selected = 0;

function complete() {
  const text = field.value, last = text.split(" ").pop() || "";
  completions = [];
  if (/^\/\S*$/.test(text)) completions = state.commands.filter((c) => `/${c.word}`.startsWith(text)).map((c) => /** @type {[string, string, string]} */ ([`/${c.word} `, `/${c.word}`, c.about]));
  else if (text.startsWith("/")) {
    const command = state.commands.find((c) => text.startsWith(`/${c.word} `)) || { takes: {}, people: false };
    const people = state.people.filter((p) => p.id !== state.me).map((p) => [`@${p.handle}`, p.name]);
    const words = last.startsWith("@") ? people : [...Object.entries(command.takes), ...(command.people ? people : [])];
    completions = words.filter(([w]) => w.startsWith(last) && w !== last).map(([w, about]) => [text.slice(0, text.length - last.length) + w, w, about]);
  }
  selected = Math.min(selected, Math.max(0, completions.length - 1));
  el("completions").hidden = !completions.length;
  el("completions").replaceChildren(...completions.map(([full, label, about], index) =>
    make("li", { "aria-selected": String(index === selected), onmousedown: (/** @type {Event} */ e) => { e.preventDefault(); accept(full); } }, make("b", {}, label), about)));
}

/** @param {string} full */
function accept(full) { field.value = full; selected = 0; field.focus(); complete(); }

field.oninput = () => { selected = 0; complete(); };
field.onblur = () => setTimeout(() => { el("completions").hidden = true; }, 150);
field.addEventListener("keydown", (e) => {
  if (!completions.length || el("completions").hidden) return;
  if (e.key === "ArrowDown" || e.key === "ArrowUp") { selected = (selected + (e.key === "ArrowDown" ? 1 : completions.length - 1)) % completions.length; complete(); e.preventDefault(); }
  if (e.key === "Tab") { accept(completions[selected][0]); e.preventDefault(); }
  if (e.key === "Escape") el("completions").hidden = true;
});
// A held key presses only once. Otherwise it would also press the buttons that appear.
addEventListener("keydown", (event) => { if (event.repeat && /^(Enter| )$/.test(event.key) && event.target instanceof HTMLButtonElement) event.preventDefault(); });
// The field keeps the focus, so the list of commands stays open.
el("slash").onmousedown = (e) => e.preventDefault();
el("slash").onclick = () => { field.value = "/"; field.focus(); complete(); };
// Posted in the open group or the first one, because in private no other player would see the challenge.
el("begin").onclick = () => {
  if (!state.chat || state.host) return;
  if (state.chat.startsWith("@")) openChat(firstGroup());
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
