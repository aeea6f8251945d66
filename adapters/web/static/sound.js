// @ts-check
// The table's sounds. `synth.js` makes them; it is loaded at the reader's first tap, because browsers allow none before.
import { permanentStorage } from "./storage.js";
import { html, pageData, useState } from "./view.js";

/** @typedef {"card" | "sweep" | "knock" | "turn"} Sound */

const KEY = "sounds";
let isOn = permanentStorage.get(KEY) !== "off";
/** @type {AudioContext | null} */
let context = null;
/** @type {((context: BaseAudioContext, name: Sound) => void) | null} */
let play = null;

/** Get ready in a tap: later Safari would refuse. It also stops the sounds of a phone that was locked. */
async function wake() {
  if (!isOn) return;
  context ||= new AudioContext();
  if (context.state !== "running") context.resume();
  if (!play) ({ play } = await import("./synth.js"));
}
for (const type of ["click", "keydown"]) addEventListener(type, wake, { capture: true });

export const sound = {
  isOn: () => isOn,
  /** @param {boolean} isWanted */
  async turnOn(isWanted) {
    isOn = isWanted;
    permanentStorage.set(KEY, isWanted ? "on" : "off");
    await wake();
    sound.play("card");
  },
  /** @param {Sound} name */
  play(name) { if (isOn && context && play) play(context, name); },
};

/** The button in the bar that mutes the table. */
export const SoundButton = () => {
  const [isPressed, setPressed] = useState(isOn), { sounds } = pageData().texts;
  const toggle = () => { setPressed(!isPressed); sound.turnOn(!isPressed); };
  return html`<button type="button" class="icon" aria-label=${sounds} title=${sounds} aria-pressed=${String(isPressed)} onClick=${toggle}>
    <svg viewBox="0 0 24 24" aria-hidden="true"><path class="solid" d="M4 9h4l5-4v14l-5-4H4z" />${isPressed ? html`<path d="M16 8.5a5 5 0 0 1 0 7M18.5 6a8.5 8.5 0 0 1 0 12" />` : html`<path d="m16.5 9.5 5 5m0-5-5 5" />`}</svg>
  </button>`;
};
