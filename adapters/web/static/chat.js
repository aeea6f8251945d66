// @ts-check
// The playground's page: a small chat client.
import { Connection } from "./connection.js";
import { tabStorage } from "./storage.js";
import { Fragment, html, ignoreHeldKeys, render } from "./view.js";

/** @typedef {{id: string, name: string, handle: string, closed: boolean, token: string}} Person */
/** @typedef {{id: string, title: string}} Chat */
/** @typedef {{label: string, payload: string, style: string, kind: string}} Button */
/** @typedef {[text: string, style: string, person: string]} Span */
/** @typedef {{name: string, alt: string, width: number, height: number}} Picture */
/** @typedef {{id: number, by: string, text: string, spans: Span[], fold?: number | null, rows?: Button[][], picture?: Picture, file?: string, reply_to?: number | null, edited?: boolean}} Message */
/** @typedef {{word: string, about: string, takes: Record<string, string>, people: boolean}} Command */
/** @typedef {{texts: Record<string, string>, people: Person[], chats: Chat[], messages: Record<string, Map<number, Message>>, commands: Command[], me: string | null, host: boolean, switching: boolean, chat: string, replyTo: number | null, unread: Record<string, number>, added: string}} State */

// Browsers do not send what follows a #, so no proxy sees or logs the key.
const hash = new URLSearchParams(location.hash.slice(1));
const key = hash.get("key") || new URLSearchParams(location.search).get("key") || "";
window.onhashchange = () => location.reload();
/** @param {string} id @returns {HTMLElement} */
const el = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const field = /** @type {HTMLInputElement} */ (el("text"));
/** @type {State} */
const state = { texts: {}, people: [], chats: [], messages: {}, commands: [], me: null, host: false, switching: false, chat: "", replyTo: null, unread: {}, added: "" };
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

/** Show why the link does not open the chat, and hide the rest of the page. @param {string} why */
function showRefusal(why) {
  render(html`<div class="message bot" role="alert"><div class="bubble">${why}</div></div>`, el("messages"));
  for (const part of ["offline", "links", "composer", "about"]) el(part).hidden = true;
  for (const part of ["people", "chats"]) render(null, el(part));
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
    case "people": state.people = message.people; state.chats = message.chats; return showPeople();
    case "message": return showMessage(message.chat, message.message);
    case "deleted":
      state.messages[message.chat]?.delete(message.id);
      return message.chat === state.chat && drawMessages();
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
  const keptPerson = tabStorage.get("me");
  if (hello.me) state.me = hello.me;
  else if (!people.some((/** @type {Person} */ p) => p.id === state.me)) state.me = people.some((/** @type {Person} */ p) => p.id === keptPerson) ? keptPerson : host ? null : people[0].id;
  if (!visible().some((c) => c.id === state.chat)) {
    const lastChat = tabStorage.get("chat");
    state.chat = lastChat && visible().some((c) => c.id === lastChat) ? lastChat : firstGroup();
  }
  // The page is in English until the bot sends texts in the reader's language.
  document.documentElement.lang = texts.language;
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", texts[node.getAttribute("data-label") || ""]);
  field.placeholder = texts.message_or_command;
  // Before this moment nobody knows who speaks, or where.
  for (const button of ["begin", "send"]) /** @type {HTMLButtonElement} */ (el(button)).disabled = false;
  draw();
  // Complete a command that was typed before the list arrived.
  if (document.activeElement === field) complete();
  // The introduction is open until there is a message.
  /** @type {HTMLDetailsElement} */ (el("what")).open ||= Object.values(hello.messages).every((list) => !list.length);
  if (inviteCode && state.me) joinTable();
}

// Joins the table of an invitation. The code leaves the address, because after a reload the player already sits there.
function joinTable() {
  const code = inviteCode;
  inviteCode = "";
  history.replaceState(null, "", location.pathname);
  openChat(`@${state.me}`);
  ask({ do: "say", chat: state.chat, text: `/start ${code}`, reply_to: null });
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
    drawMessages();
    if (wasAtBottom || (isNew && message.by === state.me)) toBottom();
  } else if (isNew && message.by !== state.me) {
    state.unread[chat] = (state.unread[chat] || 0) + 1;
    drawHeads();
  }
}

const isAtBottom = () => { const m = el("messages"); return m.scrollHeight - m.scrollTop - m.clientHeight < 80; };
const toBottom = () => { const m = el("messages"); m.scrollTop = m.scrollHeight; };

function draw() {
  tabStorage.set("me", state.me || "");
  tabStorage.set("chat", state.chat || "");
  state.unread[state.chat] = 0;
  drawHeads();
  drawLinks();
  drawMessages();
  el("composer").hidden = el("about").hidden = state.host;
  toBottom();
}

function drawHeads() {
  const { texts, people, switching, host } = state, canAdd = switching || host, me = people.find((p) => p.id === state.me);
  /** @param {Event} event */
  const close = ({ target }) => {
    const { checked } = /** @type {HTMLInputElement} */ (target);
    if (checked) showToast(texts.closed_about);
    ask({ do: "close", closed: checked });
  };
  render(html`
    <span class=${switching ? "mark act-as" : "mark"}>${switching ? texts.act_as : host ? texts.host : texts.you}</span>
    ${tabList(texts.people, people.filter((p) => switching || p === me).map((p) =>
      tab({ "data-person": p.id }, p === me, () => switchPerson(p.id), `${p.name}${p.closed ? " 🔕" : ""}`, switching && p !== me ? state.unread[`@${p.id}`] : 0)))}
    ${canAdd && html`<button type="button" class="add" id="add-person" aria-label=${texts.add_person} title=${texts.add_person} onClick=${() => promptForName("add_person", texts.name_of_person)}>+ 👤</button>`}`, el("people"));
  render(me ? html`<label title=${texts.closed_about}><input type="checkbox" id="closed" checked=${me.closed} onChange=${close} />${`🔕 ${texts.closed}`}</label>` : "", el("closes"));
  el("people").querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest", inline: "center" });
  render(html`
    ${tabList(texts.chats, visible().map((c) => tab({ "data-chat": c.id }, c.id === state.chat, () => openChat(c.id), c.id.startsWith("@") ? "🃏 Buongioco" : `👥 ${c.title}`, state.unread[c.id])))}
    ${canAdd && html`<button type="button" class="add" aria-label=${texts.add_group} title=${texts.add_group} onClick=${() => promptForName("add_chat", texts.name_of_group)}>+ 👥</button>`}`, el("chats"));
}

/** Wrap tabs in a list of their own; empty without tabs. @param {string} label @param {any[]} tabs */
const tabList = (label, tabs) => tabs.length > 0 && html`<span role="tablist" class="tabs" aria-label=${label}>${tabs}</span>`;

/** @param {Record<string, string>} data @param {boolean} isSelected @param {() => void} open @param {string} name @param {number} unread */
const tab = (data, isSelected, open, name, unread) => html`
  <button role="tab" type="button" aria-selected=${String(isSelected)} ...${data} onClick=${open}>${name}${unread > 0 && html`<span class="badge">${unread}</span>`}</button>`;

function drawLinks() {
  el("links").hidden = !state.host;
  if (!state.host) return;
  const linkCount = el("links").childElementCount;
  render(html`${state.texts.links}${state.people.map((p) => {
    const url = `${location.origin}/chat#key=${p.token}`;
    return html`<div>${p.name}: <a href=${url}>${url}</a></div>`;
  })}`, el("links"));
  if (linkCount && state.people.length > linkCount) el("links").lastElementChild?.scrollIntoView({ block: "nearest" });
}

/** Draw the open chat. The keyboard focus stays on the same button, or moves to the first button of its message. */
function drawMessages() {
  const focused = /** @type {HTMLElement | null} */ (el("messages").querySelector(":focus-visible"));
  const payload = focused?.dataset.payload, message = focused?.closest(".message");
  const messages = [...(state.messages[state.chat] || new Map()).values()];
  render(messages.length || state.host ? messages.map(drawMessage) : greeting(), el("messages"));
  if (!message || (focused?.isConnected && focused.dataset.payload === payload)) return;
  const buttons = /** @type {HTMLElement[]} */ ([...message.querySelectorAll(".rows button")]);
  (buttons.find((button) => button.dataset.payload === payload) || buttons[0])?.focus({ preventScroll: true });
}

/** @param {Message} message */
function drawMessage(message) {
  const { id, by, picture, file } = message, isBot = by === "bot", isOwn = by === state.me;
  const author = isBot ? "Buongioco" : state.people.find((p) => p.id === by)?.name || "?";
  const quoted = message.reply_to && state.messages[state.chat].get(message.reply_to);
  return html`
    <div key=${`${state.chat} ${id}`} class=${`message ${isOwn ? "own" : ""} ${isBot ? "bot" : ""}`} data-id=${id}>
      <div class="bubble" dir="auto">
        ${!isOwn && html`<button type="button" class="who" title=${state.texts.reply} onClick=${() => replyTo(id)}>${author}</button>`}
        ${quoted && html`<span class="quote">${plainText(quoted)}</span>`}
        ${picture && html`<img key=${picture.name} class="picture" alt=${picture.alt} width=${picture.width} height=${picture.height} data-picture=${picture.name} data-message=${id} ref=${watchPicture} />`}
        ${isBot ? drawText(message) : message.text}
        ${file && html`<button type="button" class="file" onClick=${() => ask({ do: "file", chat: state.chat, message: id })}>${`📎 ${file}`}</button>`}
      </div>
      ${message.rows && message.rows.length > 0 && html`<div class="rows">${message.rows.flatMap(splitRow).map((row) => html`
        <div class="row">${row.map((button) => (button.kind === "link" ? html`<a href=${button.payload} target="_blank" rel="noopener">${button.label}</a>` : html`
          <button type="button" class=${button.style} data-payload=${button.payload} onClick=${(/** @type {Event} */ e) => press(message, button, /** @type {HTMLElement} */ (e.currentTarget))}>${button.label}</button>`))}
        </div>`)}</div>`}
    </div>`;
}

/** Split a row of buttons so that it is readable on a phone: at most eight, fewer with long labels. @param {Button[]} row */
function splitRow(row) {
  const longest = Math.max(...row.map((b) => Array.from(b.label).length));
  const most = longest > 14 ? 2 : longest > 8 ? 3 : longest > 4 ? 5 : 8;
  const rows = Math.ceil(row.length / most), each = Math.ceil(row.length / rows);
  return Array.from({ length: rows }, (_, index) => row.slice(index * each, (index + 1) * each));
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

/** Show a new picture if it is loaded, otherwise load it later. @param {HTMLImageElement | null} node */
const watchPicture = (node) => {
  const address = pictures.get(node?.dataset.picture || "");
  if (node && address) node.src = address; else if (node) pictureObserver.observe(node);
};

/** @param {string} name @param {string} png in base64 */
function showPicture(name, png) {
  if (!png) return;
  const bytes = Uint8Array.from(atob(png), (char) => char.charCodeAt(0));
  const address = URL.createObjectURL(new Blob([bytes], { type: "image/png" }));
  pictures.set(name, address);
  for (const node of document.querySelectorAll(`[data-picture="${name}"]`)) /** @type {HTMLImageElement} */ (node).src = address;
  const [[oldest, oldAddress]] = pictures;
  if (pictures.size > PICTURES_KEPT) { URL.revokeObjectURL(oldAddress); pictures.delete(oldest); }
}

// Shown in an empty chat; the first message replaces it.
const greeting = () => html`<div class="message bot" id="greeting"><div class="bubble"><span class="who">Buongioco</span>${state.texts.greeting}</div></div>`;

/** Draw a text. The part that a picture also shows is folded up, and stays open once the reader has opened it.
 * @param {Message} message */
function drawText({ id, spans, fold, edited }) {
  const nodes = spans.map(drawSpan), folded = nodes.splice(fold ?? nodes.length), name = `${state.chat} ${id}`;
  /** @param {Event} event */
  const toggle = ({ target }) => { if (/** @type {HTMLDetailsElement} */ (target).open) openTexts.add(name); else openTexts.delete(name); };
  return [...nodes, edited && html`<span class="edited">${state.texts.edited}</span>`,
    folded.length > 0 && html`<details class="words" open=${openTexts.has(name)} onToggle=${toggle}><summary>${state.texts.in_words}</summary>${folded}</details>`];
}

/** @type {Record<string, "b" | "i" | "small">} */
const TAGS = { bold: "b", italic: "i", small: "small" };

/** Draw a part of a text. A press copies code, if the browser allows copying. @param {Span} span */
function drawSpan([text, style, person]) {
  const clipboard = /** @type {Clipboard | undefined} */ (navigator.clipboard);
  if (["mention", "call", "quiet"].includes(style)) return html`<span class="mention" data-person=${person}>${text}</span>`;
  if (style !== "code") return html`<${TAGS[style] || "span"}>${text}<//>`;
  const code = html`<code>${text}</code>`;
  return clipboard ? html`<button type="button" class="copy" title=${state.texts.copy} onClick=${() => clipboard.writeText(text)}>${code}</button>` : code;
}

/** @param {string} name @param {string} text */
function saveFile(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
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

/** Draw new people and groups, and choose a person who was added on this page. */
function showPeople() {
  const newPerson = state.switching && state.people.find((p) => p.name === state.added);
  if (newPerson) {
    state.added = "";
    switchPerson(newPerson.id);
  }
  drawHeads();
  drawLinks();
}

/** @param {string} chat */
function openChat(chat) { state.chat = chat; replyTo(null); draw(); }

/** @param {string} action @param {string} question */
function promptForName(action, question) {
  const name = prompt(question)?.trim();
  if (!name) return;
  if (action === "add_person") state.added = name;
  ask({ do: action, name });
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
  const node = Object.assign(document.createElement("div"), { className: "toast" });
  render(html`<${Fragment}>${text}<//>`, node);
  el("toasts").append(node);
  // Three seconds, and one more for every fifteen letters.
  setTimeout(() => node.remove(), 3000 + 65 * text.length);
}

// Completion of commands, people and arguments.
/** @type {[full: string, label: string, about: string][]} */
let completions = [];
let selected = 0;

function complete() {
  const text = field.value, lastWord = text.split(" ").pop() || "";
  completions = [];
  if (/^\/\S*$/.test(text)) completions = state.commands.filter((c) => `/${c.word}`.startsWith(text)).map((c) => /** @type {[string, string, string]} */ ([`/${c.word} `, `/${c.word}`, c.about]));
  else if (text.startsWith("/")) {
    const command = state.commands.find((c) => text.startsWith(`/${c.word} `)) || { takes: {}, people: false };
    const people = state.people.filter((p) => p.id !== state.me).map((p) => [`@${p.handle}`, p.name]);
    const words = lastWord.startsWith("@") ? people : [...Object.entries(command.takes), ...(command.people ? people : [])];
    completions = words.filter(([w]) => w.startsWith(lastWord) && w !== lastWord).map(([w, about]) => [text.slice(0, text.length - lastWord.length) + w, w, about]);
  }
  selected = Math.min(selected, Math.max(0, completions.length - 1));
  el("completions").hidden = !completions.length;
  render(completions.map(([full, label, about], index) => html`
    <li aria-selected=${String(index === selected)} onMouseDown=${(/** @type {Event} */ e) => { e.preventDefault(); accept(full); }}><b>${label}</b>${about}</li>`), el("completions"));
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
ignoreHeldKeys();
// The field keeps the focus, so the list of commands stays open.
el("slash").onmousedown = (e) => e.preventDefault();
el("slash").onclick = () => { field.value = "/"; field.focus(); complete(); };
// On a phone the open introduction covers half of a hand's picture.
function foldIntroduction() {
  /** @type {HTMLDetailsElement} */ (el("what")).open = false;
}

// The challenge goes to the open group or the first one, because in private no other player would see it.
el("begin").onclick = () => {
  if (!state.chat || state.host) return;
  if (state.chat.startsWith("@")) openChat(firstGroup());
  foldIntroduction();
  ask({ do: "say", chat: state.chat, text: el("begin").dataset.command, reply_to: null });
};
el("replying").lastElementChild?.addEventListener("click", () => replyTo(null));
el("composer").onsubmit = async (e) => {
  e.preventDefault();
  const text = field.value.trim();
  if (!text) return;
  field.value = "";
  el("completions").hidden = true;
  foldIntroduction();
  ask({ do: "say", chat: state.chat, text, reply_to: state.replyTo });
  replyTo(null);
};
