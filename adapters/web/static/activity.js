// @ts-check
// Signs in the person in a Discord Activity. Messages: docs.discord.com/developers/activities/how-activities-work and
// github.com/discord/embedded-app-sdk (src/Discord.ts, 2.5.0). Our pages need only its handshake and authorize.
import { pageData } from "./view.js";

const HANDSHAKE = 0, FRAME = 1, CLOSE = 2, NONCE = "authorize", SDK_VERSION = "2.5.0";
const ANSWER_WITHIN = 20_000;  // milliseconds for the handshake; the person's consent can take longer
const ORIGINS = ["https://discord.com", "https://ptb.discord.com", "https://canary.discord.com"];

const query = new URLSearchParams(location.search);
const { client_id, scope, state } = pageData();
const [client, origin] = [parent.opener ?? parent, document.referrer ? new URL(document.referrer).origin : "*"];

const stop = new AbortController(), { signal } = stop;
let timer = 0;

/** @param {number} opcode @param {object} payload */
const send = (opcode, payload) => client.postMessage([opcode, payload], origin);

/** @param {string} id of the only paragraph to show */
function show(id) {
  for (const line of document.querySelectorAll("[role=alert]")) /** @type {HTMLElement} */ (line).hidden = line.id !== id;
}

/** Stop listening to Discord, and say why. @param {string} id */
function end(id) {
  if (signal.aborted) return;
  stop.abort();
  show(id);
}

/** Give the bot the code that stands for the person's consent, and open the table. @param {string} code */
async function enter(code) {
  const data = new URLSearchParams({ code, state, instance_id: query.get("instance_id") ?? "" });
  const body = new URLSearchParams({ data: String(data) });
  const answer = await fetch("/app/discord", { method: "POST", body, headers: { Accept: "application/json" } });
  if (signal.aborted) return;
  if (answer.ok) location.replace((await answer.json()).to);
  else end(answer.status === 503 ? "away" : "refused");
}

addEventListener("message", ({ origin: from, source, data }) => {
  if (!ORIGINS.includes(from) || source !== client || !Array.isArray(data)) return;
  if (data[0] === CLOSE) end("closed");
  if (data[0] !== FRAME) return;
  const { cmd, evt, nonce, data: content } = data[1];
  if (cmd === "DISPATCH" && evt === "READY") {
    clearTimeout(timer);
    const args = { client_id, response_type: "code", state, prompt: "none", scope: [scope] };
    send(FRAME, { cmd: "AUTHORIZE", args, nonce: NONCE });
  } else if (nonce === NONCE && evt === "ERROR") end("refused");
  else if (nonce === NONCE) enter(content.code).catch(() => end("away"));
}, { signal });

if (parent !== window) {
  show("opening");
  timer = setTimeout(() => end("away"), ANSWER_WITHIN);
  const frame_id = query.get("frame_id"), major = parseInt(query.get("mobile_app_version") ?? "");
  // Older Discord apps on phones refuse a handshake with a version.
  const version = query.get("platform") === "desktop" || major >= 250 ? { sdk_version: SDK_VERSION } : {};
  send(HANDSHAKE, { v: 1, encoding: "json", client_id, frame_id, ...version });
}
