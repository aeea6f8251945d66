// @ts-check
// Names what happens at the table, for the script of an app around the page (telegram_app.js).

/** @param {"card" | "turn" | "rest" | "refused" | "over"} moment a card was played, the reader's turn began or ended, a
 * press was refused, the game ended */
export const tell = (moment) => { dispatchEvent(new CustomEvent("moment", { detail: moment })); };
