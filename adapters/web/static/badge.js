// @ts-check
// The badge on the installed site's icon: the number of tables where it is the player's turn.
import { keepTable, keptTable, keptTables } from "./offline_storage.js";

/** Show the number of kept tables where it is the player's turn. */
export async function updateBadge() {
  const badge = /** @type {any} */ (navigator);
  if (!badge.setAppBadge) return;
  const turns = (await keptTables()).filter(({ table }) => table.is_mine).length;
  try {
    await (turns ? badge.setAppBadge(turns) : badge.clearAppBadge());
  } catch (error) {
    // A window that the browser does not trust has no badge.
    if (!(error instanceof DOMException)) throw error;
  }
}

/** Note that it is the player's turn at a table whose page is closed. @param {string} code */
export async function noteTurn(code) {
  const kept = await keptTable(code);
  if (kept) await keepTable({ ...kept, table: { ...kept.table, is_mine: true } });
  await updateBadge();
}
