// @ts-check
// Cards that the page plays for its reader: a card chosen before the turn, and the only legal card if the reader wants that.
import { options } from "./options.js";
import { format, pageData, useEffect, useRef, useState } from "./view.js";

/** @typedef {import("./cards.js").TapCard} TapCard */
/** @typedef {{version: number, deal: number, is_mine: boolean, line: string, extra: import("./table.js").Button[][], hand: TapCard[], packets: TapCard[]}} TableView */

const { texts } = pageData();
const LOOK_MILLISECONDS = 600;  // pause before the only legal card is played, so that the reader sees it

/** Return whether the reader can make a move that plays no card, such as a declaration or a bid.
 * @param {TableView} table @param {string[]} roles roles of those moves' buttons */
const hasOtherMove = (table, ...roles) => table.extra.flat().some(([, , , , role]) => roles.includes(role));

/** @param {TableView} table @returns {TapCard[]} */
const cardsOf = (table) => [...table.hand, ...table.packets];

/** Keep the card that the reader has chosen early, and play it at their turn; a reload forgets it. Also play the only legal card, if the reader wants that.
 * @param {{table: TableView | null, isReady: boolean, onPress: (press: string, card: TapCard, note?: string) => void}} props
 * `isReady`: the reader could press a card now, because nothing is covered or moving. */
export function useEarlyCard({ table, isReady, onPress }) {
  const [chosenCard, setChosenCard] = useState(/** @type {{code: string, deal: number} | null} */ (null));
  const playedAt = useRef(-1);  // the version at which the page played a card, so that it never plays twice
  const card = table && chosenCard?.deal === table.deal ? cardsOf(table).find(({ code }) => code === chosenCard.code) : undefined;
  const mustWait = Boolean(table && hasOtherMove(table, "move"));
  const canPlay = table !== null && table.is_mine && isReady && playedAt.current !== table.version;

  useEffect(() => {
    if (chosenCard && table && !card) setChosenCard(null);
    if (!card || !canPlay || mustWait || card.role !== "play") return;
    playedAt.current = table.version;
    setChosenCard(null);
    onPress(card.press, card, format(texts.early_back, { card: card.name }));
  }, [card, canPlay, mustWait]);
  useEffect(() => {
    const canPick = table !== null && cardsOf(table).some(({ pick }) => pick);
    if (!options.single || chosenCard || !canPlay || canPick || hasOtherMove(table, "move", "choose")) return undefined;
    const legal = cardsOf(table).filter(({ light, role }) => light === "playable" && role === "play");
    if (legal.length !== 1) return undefined;
    const timer = setTimeout(() => {
      playedAt.current = table.version;
      onPress(legal[0].press, legal[0]);
    }, LOOK_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [table, canPlay, chosenCard, options.single]);

  return {
    line: card && table ? (!table.is_mine ? format(texts.early, { card: card.name }) : mustWait ? texts.early_waits : table.line) : table?.line,
    /** Choose a card, or take the chosen card back. @param {TapCard} tapped */
    choose({ code }) { if (table) setChosenCard(code && code !== chosenCard?.code ? { code, deal: table.deal } : null); },
    forget() { setChosenCard(null); },
    /** Mark the chosen card, and the cards that can be chosen. @param {TapCard[]} cards @returns {TapCard[]} */
    mark: (cards) => cards.map((handCard) => ({ ...handCard, is_early: handCard.code !== "" && handCard.code === card?.code, can_be_chosen: !handCard.press && handCard.code !== "" })),
  };
}
