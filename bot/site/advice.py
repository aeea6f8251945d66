"""Cards, packets and buttons that a hint on a page points to."""

from bot import actions
from bot.site.seat_events import declared_cards
from bot.tables.snapshot import TableSnapshot
from bot.words.verdicts import ShownHint
from bot.words.wording import Wording


def advised_parts(hint: ShownHint, snapshot: TableSnapshot, words: Wording) -> tuple[str, ...]:
    """Return what a hint points to: the payload of its move's button, and codes of cards or numbers of packets.

    The codes are those under which the page draws the cards.
    """
    if hint.found is None:
        return ()
    move = hint.found.move
    word, *arguments = move.split(" ")
    payload = actions.move(snapshot.code, snapshot.version, move)
    if word == "declare":
        return (payload, *declared_cards(words, move))
    if word in ("play", "exchange"):
        codes = snapshot.kind.pack.index
        return (payload, *(words.faces.drawn_code(part) for part in arguments if part in codes))
    return (payload, *arguments) if word in ("take", "hold", "pick") else (payload,)
