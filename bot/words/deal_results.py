"""A deal's result in sentences: each side's points, where they come from, and the totals after the deal."""

from __future__ import annotations

from collections.abc import Iterator

from bot.words.table_lines import capitalize
from bot.words.wording import Wording, score_line, score_unit, thirds_text
from engine import Record
from engine.declarations import COMBINATIONS


def deal_lines(words: Wording, record: Record, number: int) -> list[str]:
    """Return the result of a deal, numbered from 1: each side's points, and a line for each with where they come from.

    At Spades these lines have bids and tricks, and another one the bags.
    """
    _, entries = words.text, record.deals[number - 1].entries()
    lines = [_("Deal {number}: {points}").format(number=number, points=words.points(entries["points"], record.rules))]
    if "bids" in entries:
        for side, bid in enumerate(entries["bids"]):
            line = _("{side}: bid {bid}, tricks {tricks}")
            tricks = entries["tricks"][side]
            lines.append(capitalize(line.format(side=words.side(side), bid=words.figure(bid), tricks=tricks)))
        if any(entries["bags"]):
            lines.append(_("Bags: {sides}").format(sides=words.sides(entries["bags"])))
        return lines
    last_seat = last_taker(record, number)
    for side in (0, 1):
        is_last = last_seat is not None and last_seat & 1 == side
        lines.append(capitalize(f"{words.side(side)}: {_reckoning(words, record, number, side, is_last=is_last)}"))
    return lines


def total_line(words: Wording, record: Record, number: int) -> str:
    """Return the totals after a deal, and the target."""
    target = int(record.rules["target"]) * score_unit(record.rules)
    return score_line(words.language, words.points(record.deals[number - 1].totals, record.rules), target)


def _reckoning(words: Wording, record: Record, number: int, side: int, *, is_last: bool) -> str:
    """Return how a side's points add up, such as "points in tricks 7⅓ + last trick 1 − ⅓ left over"."""
    _, unit = words.text, score_unit(record.rules)
    thirds = record.deals[number - 1].entries()["thirds"][side]
    cards, lost_thirds = thirds - 3 * is_last, thirds % 3
    points_label, trick_label = _("points in tricks"), _("last trick")
    parts = [f"{points_label} {thirds_text(cards * unit)}", *([f"{trick_label} {unit}"] if is_last else [])]
    text = " + ".join([*parts, *_declared_by(words, record, number, side)])
    leftovers = _("− {points} left over").format(points=thirds_text(lost_thirds * unit))
    return f"{text} {leftovers}" if lost_thirds else text


def _declared_by(words: Wording, record: Record, number: int, side: int) -> Iterator[str]:
    """Yield the combinations that a side declared, each with its points."""
    moves = record.deals[number - 1].moves
    for index, (seat, move, *_rest) in enumerate(moves):
        if seat is not None and seat & 1 == side and move in COMBINATIONS:
            name = words.combination_name(move) + words.again(moves[:index], seat, move)
            yield f"{name} {COMBINATIONS[move].points * score_unit(record.rules)}"


def last_taker(record: Record, number: int) -> int | None:
    """Return the seat that took the last trick of a deal of Tressette; None if it was not played to its end."""
    index = record.kind.pack.index
    moves = [(seat, move.split(" ")) for seat, move, *_rest in record.deals[number - 1].moves]
    plays: list[tuple[str, int]] = [
        (words[1], seat) for seat, words in moves if words[0] == "play" and seat is not None
    ]
    if len(plays) < len(index):
        return None
    trick = plays[-len(record.seats) :]
    led = trick[0][0][1]
    best_card = max((card for card, _seat in trick if card[1] == led), key=index.__getitem__)
    return next(seat for card, seat in trick if card == best_card)


def declared_lines(words: Wording, record: Record, number: int) -> Iterator[str]:
    """Yield a line for each player with declarations in a deal, which is numbered from 1."""
    moves = record.deals[number - 1].moves
    for seat, name in enumerate(words.names):
        declarations = [move for player, move, *_rest in moves if player == seat and move.startswith("declare ")]
        if declarations:
            yield f"{name}: {'; '.join(map(words.combination, declarations))}"
