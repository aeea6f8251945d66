// @ts-check
// An arrow on the table of a replay, from the card that was played to the better one.
import { html, useEffect, useLayoutEffect, useRef, useState } from "./view.js";

/** Draw the arrow if both cards are visible. `table` refers to the element with the cards.
 * @param {{table: {current: HTMLElement | null}, played: string, better: string, seat: number}} props */
export const BetterArrow = ({ table, played, better, seat }) => {
  const [ends, setEnds] = useState(/** @type {number[] | null} */ (null));
  const drawn = useRef("");
  const measure = () => {
    const from = table.current?.querySelector(`[data-lying="${played}"] .face`), to = table.current?.querySelector(`[data-seat="${seat}"] .face[data-card="${better}"]`);
    const origin = table.current?.getBoundingClientRect();
    const found = from && to && origin ? [from, to].flatMap((card) => {
      const { x, y, width, height } = card.getBoundingClientRect();
      return [Math.round(x + width / 2 - origin.x), Math.round(y + height / 2 - origin.y)];
    }) : null;
    if (String(found) === drawn.current) return;
    drawn.current = String(found);
    setEnds(found);
  };
  useLayoutEffect(measure);
  useEffect(() => {
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, []);
  if (!ends) return null;
  const [x, y, toX, toY] = ends;
  return html`<svg class="better" aria-hidden="true">
    <defs><marker id="tip" viewBox="0 0 10 10" refX="7" refY="5" markerWidth="5" markerHeight="5" orient="auto"><path d="M0 0 10 5 0 10z" /></marker></defs>
    <line x1=${x} y1=${y} x2=${toX} y2=${toY} marker-end="url(#tip)" />
  </svg>`;
};
