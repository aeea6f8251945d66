"""What a hint on a page points to: cards, packets and buttons."""

from bot import actions
from bot.tables.snapshot import TableSnapshot
from bot.words.verdicts import ShownHint
from bot.words.wording import Wording
from engine.cards import ITALIAN
from engine.declarations import COMBINATIONS


def advised_parts(hint: ShownHint, seen: TableSnapshot, words: Wording) -> tuple[str, ...]:
    """Return what a hint's move needs: drawn codes of cards, numbers of packets, and the payload of its button."""
    if hint.found is None:
        return ()
    move = hint.found.move
    word, *rest = move.split(" ")
    press = actions.move(seen.code, seen.version, move)
    if combination := COMBINATIONS.get(move):
        return (press, *map(words.faces.drawn_code, ITALIAN.names(combination.cards)))
    if word in ("play", "exchange"):
        codes = seen.kind.pack.index
        return (press, *(words.faces.drawn_code(part) for part in rest if part in codes))
    return (press, *rest) if word in ("take", "hold", "pick") else (press,)
