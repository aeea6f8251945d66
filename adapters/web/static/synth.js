// @ts-check
// Synthesised sounds. Wood and card are short noise through a filter, and the chime is two soft bells.

/** A sound's part: `from` and `to` in hertz, `after`, `rise` and `fall` in seconds. A part without a shape is noise.
 * @typedef {{shape?: OscillatorType, filter?: BiquadFilterType, from: number, to: number, after?: number, rise?: number, fall: number, volume: number}} Part */

const SILENT = .0005, NOISE_SECONDS = .3;  // as long as the longest part
/** @type {WeakMap<BaseAudioContext, AudioBuffer>} */
const noises = new WeakMap();

/** Return the noise of all parts without a shape. Making it is slow on a phone. @param {BaseAudioContext} context */
export function noise(context) {
  const known = noises.get(context);
  if (known) return known;
  const made = context.createBuffer(1, NOISE_SECONDS * context.sampleRate, context.sampleRate);
  const samples = made.getChannelData(0);
  for (let index = 0; index < samples.length; index++) samples[index] = 2 * Math.random() - 1;
  noises.set(context, made);
  return made;
}

/** @param {BaseAudioContext} context @param {Part} part */
function playPart(context, { shape, filter = "bandpass", from, to, after = 0, rise = .002, fall, volume }) {
  const begin = context.currentTime + after, end = begin + rise + fall, loudness = context.createGain();
  const voice = shape ? new OscillatorNode(context, { type: shape }) : new AudioBufferSourceNode(context, { buffer: noise(context) });
  const sieve = shape ? null : new BiquadFilterNode(context, { type: filter, Q: .8 });
  const pitch = voice instanceof OscillatorNode ? voice.frequency : /** @type {BiquadFilterNode} */ (sieve).frequency;
  pitch.setValueAtTime(from, begin);
  pitch.exponentialRampToValueAtTime(to, end);
  loudness.gain.setValueAtTime(SILENT, begin);
  loudness.gain.exponentialRampToValueAtTime(volume, begin + rise);
  loudness.gain.exponentialRampToValueAtTime(SILENT, end);
  (sieve ? voice.connect(sieve) : voice).connect(loudness).connect(context.destination);
  voice.start(begin);
  voice.stop(end);
}

/** @param {number} after @returns {Part[]} */
const knuckles = (after) => [
  { shape: "sine", from: 230, to: 110, after, fall: .09, volume: .4 },
  { filter: "lowpass", from: 1100, to: 500, after, fall: .03, volume: .3 },
];
/** @param {number} hertz @param {number} after @returns {Part[]} */
const bell = (hertz, after) => [
  { shape: "sine", from: hertz, to: hertz, after, rise: .008, fall: .42, volume: .09 },
  { shape: "sine", from: 2 * hertz, to: 2 * hertz, after, rise: .004, fall: .16, volume: .03 },
];

/** @type {Record<import("./sound.js").Sound, Part[]>} */
const SOUNDS = {
  card: [
    { from: 2400, to: 900, fall: .055, volume: .38 },
    { shape: "triangle", from: 150, to: 75, fall: .07, volume: .2 },
  ],
  sweep: [{ from: 500, to: 2600, rise: .09, fall: .2, volume: .14 }],
  knock: [...knuckles(0), ...knuckles(.15)],
  // Begins after the sound of the card that gave the reader the turn.
  turn: [...bell(659, .12), ...bell(988, .24)],
};

/** @param {BaseAudioContext} context @param {import("./sound.js").Sound} name */
export const play = (context, name) => SOUNDS[name].forEach((part) => playPart(context, part));
