// @ts-check
// The parts of a table's page that are not needed for the first card, with their style.
import { addStyle } from "./view.js";

export { Bubbles } from "./bubbles.js";
export { DealCount } from "./deal_count.js";
export { GameEnd } from "./game_end.js";

await addStyle(new URL("events.css", import.meta.url));
