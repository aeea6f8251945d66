// @ts-check
// The ends of a deal and of a game, with their style.
import { addStyle } from "./view.js";

export { DealCount } from "./deal_count.js";
export { GameEnd } from "./game_end.js";

await addStyle(new URL("endings.css", import.meta.url));
