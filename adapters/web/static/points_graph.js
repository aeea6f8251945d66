// @ts-check
// A graph of a deal's points, or of its tricks at Spades, below the slider of a replay.
import { html } from "./view.js";

/** `at` is the current step, `until` the last step to show. Below the graph, names explain the line of each side.
 * @param {{steps: import("./replay.js").Step[], at: number, until: number, label: string, names: string[]}} props */
export const PointsGraph = ({ steps, at, until, label, names }) => {
  const values = steps.map((step) => step.taken || step.view.tricks), last = Math.max(1, steps.length - 1);
  const top = Math.max(1, ...values.flat());
  /** @param {number} side */
  const points = (side) => values.slice(0, until + 1).map((value, step) => `${step},${top - value[side]}`).join(" ");
  return html`<svg class="graph" viewBox=${`0 0 ${last} ${top}`} preserveAspectRatio="none" role="img" aria-label=${label}>
    <line class="here" x1=${at} x2=${at} y1="0" y2=${top} />
    <polyline class="side0" points=${points(0)} /><polyline class="side1" points=${points(1)} />
  </svg>
  <p class="lines">${[0, 1].map((side) => html`<span key=${side} class=${`side${side}`}><bdi>${names.filter((_, seat) => seat % 2 === side).join(" + ")}</bdi></span>`)}</p>`;
};
