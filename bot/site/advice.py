"""Cards, packets and buttons that a hint on a page points to."""

from bot import actions
from bot.tables.snapshot import TableSnapshot
from bot.words.verdicts import ShownHint
from bot.words.wording import Wording
from engine.cards import ITALIAN
from engine.declarations import COMBINATIONS


def advised_parts(hint: ShownHint, snapshot: TableSnapshot, words: Wording) -> tuple[str, ...]:
    """Return what a hint points to: the payload of its move's button, and codes of cards or numbers of packets.

    The codes are those under which the page draws the cards.
    """
    if hint.found is None:
        return ()
    move = hint.found.move
    word, *arguments = move.split(" ")
    payload = actions.move(snapshot.code, snapshot.version, move)
    if combination := COMBINATIONS.get(move):
        return (payload, *map(words.faces.drawn_code, ITALIAN.names(combination.cards)))
    if word in ("play", "exchange"):
        codes = snapshot.kind.pack.index
        return (payload, *(words.faces.drawn_code(part) for part in arguments if part in codes))
    return (payload, *arguments) if word in ("take", "hold", "pick") else (payload,)
