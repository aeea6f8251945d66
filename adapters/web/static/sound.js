// @ts-check
// Two synthesised sounds: a card is played, and the reader's turn begins. They are off by default.
import { permanentStorage } from "./storage.js";

const KEY = "sounds";
let isOn = permanentStorage.get(KEY) === "on";

/** @type {AudioContext | null} */
let context = null;

/** Play a tone. @param {number} hertz @param {number} after seconds @param {number} length seconds @param {OscillatorType} shape */
function tone(hertz, after, length, shape) {
  if (!isOn) return;
  context ||= new AudioContext();
  const begin = context.currentTime + after, volume = context.createGain(), voice = context.createOscillator();
  voice.type = shape;
  voice.frequency.value = hertz;
  volume.gain.setValueAtTime(.12, begin);
  volume.gain.exponentialRampToValueAtTime(.001, begin + length);
  voice.connect(volume).connect(context.destination);
  voice.start(begin);
  voice.stop(begin + length);
}

export const sound = {
  isOn: () => isOn,
  /** @param {boolean} isWanted */
  turnOn(isWanted) {
    isOn = isWanted;
    permanentStorage.set(KEY, isWanted ? "on" : "off");
    sound.card();
    return isWanted;
  },
  card: () => tone(160, 0, .09, "triangle"),
  turn: () => { tone(660, 0, .12, "sine"); tone(880, .12, .2, "sine"); },
};
