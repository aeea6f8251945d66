"""A deal's result in sentences: each side's points, where they come from, and the totals after the deal."""

from __future__ import annotations

from collections.abc import Iterator

from bot.words.table_lines import capitalize
from bot.words.wording import Wording, lost_text, score_line, score_unit, thirds_text
from engine import Record
from engine.declarations import COMBINATIONS


def deal_line(words: Wording, record: Record, number: int) -> str:
    """Return the score of a deal, numbered from 1, in sentences, and the totals after it."""
    unit = score_unit(record.rules)
    totals = words.sides([total * unit for total in record.deals[number - 1].totals])
    score = score_line(words.language, totals, int(record.rules["target"]) * unit)
    return f"{deal_points_line(words, record, number)} {score}."


def deal_points_line(words: Wording, record: Record, number: int) -> str:
    """Return each side's points in a deal and where they come from; at Spades their bids, tricks and bags."""
    _, entries = words.text, record.deals[number - 1].entries()
    sentences = [_("Deal {number}: {points}.").format(number=number, points=_counted_points(words, record, number))]
    if "bids" in entries:
        for side, bid in enumerate(entries["bids"]):
            sentence = _("{side} bid {bid} and took {tricks}.").format(
                side=words.side(side), bid=words.figure(bid), tricks=entries["tricks"][side]
            )
            sentences.append(capitalize(sentence))
        if any(entries["bags"]):
            sentences.append(_("Bags: {sides}.").format(sides=words.sides(entries["bags"])))
    return " ".join(sentences)


def _counted_points(words: Wording, record: Record, number: int) -> str:
    """Return each side's points, such as "you 8 (cards 7⅓, last trick 1, lost thirds −⅓), Gino 3"."""
    _, unit, entries = words.text, score_unit(record.rules), record.deals[number - 1].entries()
    last, sides = last_taker(record, number), []
    for side, points in enumerate(entries["points"]):
        shown = list(_declared_by(words, record, number, side))
        is_sum = bool(shown)
        if "thirds" in entries:
            bonus, lost = int(last is not None and last & 1 == side), entries["thirds"][side] % 3
            cards = entries["thirds"][side] - 3 * bonus
            parts = [(_("cards"), cards, thirds_text(cards * unit)), (_("last trick"), bonus, str(bonus * unit))]
            shown = [f"{name} {text}" for name, figure, text in parts if figure] + shown
            shown += [f"{_('lost thirds')} {lost_text(lost * unit)}"] if lost else []
            # The cards alone need no explanation.
            is_sum = points != cards // 3
        sides.append(f"{words.side(side)} {words.figure(points * unit)}" + (f" ({', '.join(shown)})" if is_sum else ""))
    return ", ".join(sides)


def _declared_by(words: Wording, record: Record, number: int, side: int) -> Iterator[str]:
    """Yield the combinations that a side declared, each with its points."""
    for seat, move, *_rest in record.deals[number - 1].moves:
        if seat is not None and seat & 1 == side and move in COMBINATIONS:
            yield f"{words.combination_name(move)} {COMBINATIONS[move].points * score_unit(record.rules)}"


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
    winning = max((card for card, _seat in trick if card[1] == led), key=index.__getitem__)
    return next(seat for card, seat in trick if card == winning)


def declared_lines(words: Wording, record: Record, number: int) -> Iterator[str]:
    """Yield a line for each player with declarations in a deal, which is numbered from 1."""
    moves = record.deals[number - 1].moves
    for seat, name in enumerate(words.names):
        declarations = [move for player, move, *_rest in moves if player == seat and move.startswith("declare ")]
        if declarations:
            yield f"{name}: {'; '.join(map(words.combination, declarations))}"
