// @ts-check
// Dragging a card of the hand with a finger or the mouse.

const DRAG_DISTANCE = 12, DOWN_DISTANCE = 40;  // pixels

/** Play a card that is dropped on the table, move one that is dropped on another card, or pick up one that is dragged down.
 * @param {PointerEvent} event @param {{play: () => void, moveTo?: (target: string) => void, take?: () => void}} uses */
export function startDrag(event, { play, moveTo, take }) {
  if (event.button) return;
  const card = /** @type {HTMLElement} */ (event.currentTarget), from = { x: event.clientX, y: event.clientY };
  let isDragged = false;
  /** @param {PointerEvent} next */
  const move = (next) => {
    const x = next.clientX - from.x, y = next.clientY - from.y;
    if (!isDragged && Math.hypot(x, y) < DRAG_DISTANCE) return;
    isDragged = true;
    card.classList.add("dragged");
    card.style.transform = `translate(${x}px, ${y}px)`;
  };
  const stop = new AbortController(), { signal } = stop;
  /** @param {PointerEvent} last */
  const end = (last) => {
    stop.abort();
    if (!isDragged) return;
    // A dragged card lets the pointer through, so this finds the card below.
    const target = /** @type {HTMLElement | null | undefined} */ (document.elementFromPoint(last.clientX, last.clientY)?.closest(".fan .tap"));
    card.classList.remove("dragged");
    card.style.transform = "";
    // The click after a drag must not press the card, because the drop has decided.
    addEventListener("click", cancelEvent, { capture: true, once: true });
    setTimeout(() => removeEventListener("click", cancelEvent, { capture: true }));
    const felt = document.querySelector(".felt")?.getBoundingClientRect();
    if (last.type === "pointerup" && felt && last.clientY < felt.bottom && last.clientY > felt.top) play();
    else if (last.type === "pointerup" && target?.dataset.card && target.closest(".fan") === card.closest(".fan")) moveTo?.(target.dataset.card);
    else if (last.type === "pointerup" && last.clientY - from.y > DOWN_DISTANCE) take?.();
  };
  addEventListener("pointermove", move, { signal });
  addEventListener("pointerup", end, { signal });
  addEventListener("pointercancel", end, { signal });
}

/** @param {Event} event */
const cancelEvent = (event) => { event.stopPropagation(); event.preventDefault(); };
