// @ts-check
// The table's sounds, from the reader's first tap on. They can be muted.
import { permanentStorage } from "./storage.js";
import { noise, play } from "./synth.js";
import { html, pageData, useState } from "./view.js";

/** @typedef {"card" | "sweep" | "knock" | "turn"} Sound */

const KEY = "sounds", { texts } = pageData();
let isOn = permanentStorage.get(KEY) !== "off";
/** @type {AudioContext | null} */
let context = null;

const PREPARE_AFTER = 500;  // milliseconds
const whenIdle = window.requestIdleCallback || setTimeout;

/** Prepare the sound, which takes a slow phone a tenth of a second, before the first tap. */
function prepare() {
  if (!isOn || context) return;
  context = new AudioContext();
  noise(context);
}
setTimeout(() => whenIdle(prepare), PREPARE_AFTER);

/** Start or resume the sound. Call this in a tap, because browsers allow no sound without one. A locked phone suspends it. */
function wake() {
  prepare();
  if (isOn && context?.state !== "running") context?.resume();
}
for (const type of ["click", "keydown"]) addEventListener(type, wake, { capture: true });

export const sound = {
  /** @param {boolean} isWanted */
  turnOn(isWanted) {
    isOn = isWanted;
    permanentStorage.set(KEY, isWanted ? "on" : "off");
    wake();
    sound.play("card");
  },
  /** @param {Sound} name */
  play(name) { if (isOn && context) play(context, name); },
};

/** The button in the bar that mutes the table. */
export const SoundButton = () => {
  const [isPressed, setPressed] = useState(isOn), { sounds } = texts;
  const toggle = () => { setPressed(!isPressed); sound.turnOn(!isPressed); };
  return html`<button type="button" class="icon" aria-label=${sounds} title=${sounds} aria-pressed=${String(isPressed)} onClick=${toggle}>
    <svg viewBox="0 0 24 24" aria-hidden="true"><path class="solid" d="M4 9h4l5-4v14l-5-4H4z" />${isPressed ? html`<path d="M16 8.5a5 5 0 0 1 0 7M18.5 6a8.5 8.5 0 0 1 0 12" />` : html`<path d="m16.5 9.5 5 5m0-5-5 5" />`}</svg>
  </button>`;
};
