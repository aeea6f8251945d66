// @ts-check
// Tells screen readers once when another player is away, and once when they are back. It is loaded when needed.
import { format, html, pageData, useEffect, useRef, useState } from "./view.js";

/** @typedef {import("./table.js").Table} Table */

const { texts } = pageData();

/** @param {{sitting: Table["sitting"]}} props */
export const Absences = ({ sitting }) => {
  const [announcement, setAnnouncement] = useState("");
  const announcedNames = useRef(/** @type {string[]} */ ([]));  // names of players announced as away
  const awayNames = sitting.filter((player) => player.away).map(({ name }) => name);
  useEffect(() => {
    const newlyAway = awayNames.filter((name) => !announcedNames.current.includes(name)), returned = announcedNames.current.filter((name) => !awayNames.includes(name));
    announcedNames.current = awayNames;
    const news = [...newlyAway.map((name) => format(texts.is_away, { name })), ...returned.map((name) => format(texts.is_back, { name }))];
    if (news.length) setAnnouncement(news.join(" "));
  }, [awayNames.join("\n")]);
  return html`<p class="unseen" role="status" id="absences">${announcement}</p>`;
};
