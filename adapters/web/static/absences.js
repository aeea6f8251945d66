// @ts-check
// Tells screen readers once when another player is away, and once when they are back. It is loaded when needed.
import { format, html, pageData, useEffect, useRef, useState } from "./view.js";

/** @typedef {import("./table.js").Table} Table */

const { texts } = pageData();

/** @param {{sitting: Table["sitting"]}} props */
export const Absences = ({ sitting }) => {
  const [said, setSaid] = useState("");
  const known = useRef(/** @type {string[]} */ ([]));  // names of players announced as away
  const away = sitting.filter((player) => player.away).map(({ name }) => name);
  useEffect(() => {
    const gone = away.filter((name) => !known.current.includes(name)), back = known.current.filter((name) => !away.includes(name));
    known.current = away;
    const news = [...gone.map((name) => format(texts.is_away, { name })), ...back.map((name) => format(texts.is_back, { name }))];
    if (news.length) setSaid(news.join(" "));
  }, [away.join("\n")]);
  return html`<p class="unseen" role="status" id="absences">${said}</p>`;
};
