// @ts-check
// The clock of a table.
import { html, pageData, useEffect, useState } from "./view.js";

const { texts } = pageData();

/** The time left for the move, counted by the page.
 * @param {{seconds: number, left?: number, version: number}} props */
export const Clock = ({ seconds, left, version }) => {
  const [now, setNow] = useState(0);
  useEffect(() => {
    setNow(0);
    if (left === undefined) return undefined;
    const start = Date.now();
    const timer = setInterval(() => setNow((Date.now() - start) / 1000), 500);
    return () => clearInterval(timer);
  }, [left, version]);
  const shown = left === undefined ? seconds : Math.max(0, Math.ceil(left - now));
  return html`<small class=${`clock ${left !== undefined && shown <= 10 ? "late" : ""}`} role="timer" aria-live="off">⏱ ${formatTime(shown)}</small>`;
};

/** @param {number} seconds */
const formatTime = (seconds) =>
  seconds >= 86400 ? `${Math.floor(seconds / 86400)} ${texts.days}` : seconds >= 3600 ? `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}` : `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;

/** @param {number} number */
const two = (number) => String(number).padStart(2, "0");
