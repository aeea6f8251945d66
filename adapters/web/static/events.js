// @ts-check
// The parts of a table's page that are not needed for the first card, with their style.
export { Bubbles } from "./bubbles.js";
export { DealCount } from "./deal_count.js";
export { GameEnd } from "./game_end.js";

await new Promise((resolve) => {
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = new URL("events.css", import.meta.url).href;
  style.onload = resolve;
  document.head.append(style);
});
