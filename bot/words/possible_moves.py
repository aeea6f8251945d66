"""What a player can do now, in words: the answer to "what now?"."""

from bot.tables.snapshot import TableSnapshot
from bot.words.table_lines import turn_line
from bot.words.wording import Wording
from engine.views import PacketsView


def possible_moves(snapshot: TableSnapshot, words: Wording) -> list[str]:
    """Return the viewer's possible moves, one line for each kind of move."""
    _, view = words.text, snapshot.view
    if view is None or view.deal is None or not view.moves:
        return []
    packets = view.deal.packets if isinstance(view.deal, PacketsView) else ()
    tops = {str(packet.number): packet.top or "?" for packet in packets}
    declarations = [words.combination(move) for move in view.moves if move.startswith("declare ")]
    picked = [tops[move.split(" ")[1]] for move in view.moves if move.startswith("pick ")]
    # Moves with a signal name a card again.
    played = dict.fromkeys(move.split(" ")[1] for move in view.moves if move.startswith("play "))
    lines = []
    if declarations:
        lines.append(_("You can declare: {combinations}").format(combinations="; ".join(declarations)))
    if picked:
        lines.append(_("You can pick up: {cards}").format(cards=words.cards(picked)))
    if played:
        lines.append(_("You can play: {cards}").format(cards=words.cards(played)))
    if not lines:
        lines.append(turn_line(snapshot, words))
    return lines
