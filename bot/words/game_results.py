"""Results in sentences: who won, each deal's points and declarations, and the decisive deal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.words.table_lines import capitalize
from bot.words.transcript import ending_of
from bot.words.wording import Wording, score_line, score_pair, score_unit
from engine import Record
from engine.declarations import COMBINATIONS

CUT_SHORT = ("resign", "timeout")


def totals_by_deal(record: Record, upto: int | None = None) -> list[tuple[int, int]]:
    """Return each side's points after each deal up to ``upto``, in the table's unit."""
    factor = score_unit(record.rules)
    return [(deal.totals[0] * factor, deal.totals[1] * factor) for deal in record.deals[:upto]]


def decisive_deal(record: Record) -> int | None:
    """Return the first deal, from 1, after which the winners were always ahead; None if points did not decide."""
    if record.ending not in ("target", "claim") or not record.winner or len(record.deals) < 2:
        return None
    side = record.winner[0] & 1
    ahead = [totals[side] > totals[1 - side] for totals in totals_by_deal(record)]
    last_not_ahead = max((number for number, is_ahead in enumerate(ahead, 1) if not is_ahead), default=0)
    return last_not_ahead + 1 if ahead[-1] else None


def course_line(words: Wording, record: Record, upto: int | None = None) -> str:
    """Return the totals after each deal; empty for a single deal, which has only its final points."""
    _ = words.text
    totals = totals_by_deal(record, upto)
    return _("Deal by deal: {course}").format(course=course_text(totals)) if len(totals) > 1 else ""


def course_text(totals: Sequence[tuple[int, int]]) -> str:
    return " · ".join(score_pair(ours, theirs) for ours, theirs in totals)


def result_line(words: Wording, record: Record) -> str:
    """Return who won and how, with the totals after each deal in brackets, the winners' points first.

    If the last deal was not finished, the brackets have each side's points before it.
    """
    headline, totals = result_headline(words, record), _totals_for_winner(record)
    if record.ending in CUT_SHORT:
        finished = totals_by_deal(record)[:-1]
        return f"{headline} ({words.sides(finished[-1])})" if finished else headline
    return f"{headline} ({course_text(totals)})" if record.winner and len(totals) > 1 else headline


def _totals_for_winner(record: Record) -> list[tuple[int, int]]:
    """Return the totals after each deal, the winners' points first."""
    side = record.winner[0] & 1 if record.winner else 0
    return [(totals[side], totals[1 - side]) for totals in totals_by_deal(record)]


def result_headline(words: Wording, record: Record) -> str:
    if not record.winner:
        return ending_of(record, words)
    side, totals = record.winner[0] & 1, _totals_for_winner(record)
    players = len(words.names[side::2])
    if record.ending == "resign":
        sentence = words.ngettext("🏆 {winner} wins: {loser} resigned", "🏆 {winner} win: {loser} resigned", players)
    elif record.ending == "timeout":
        sentence = words.ngettext(
            "🏆 {winner} wins: {loser} ran out of time", "🏆 {winner} win: {loser} ran out of time", players
        )
    else:
        sentence = words.ngettext("🏆 {winner} beats {loser} {score}", "🏆 {winner} beat {loser} {score}", players)
    score = score_pair(*totals[-1]) if totals else ""
    return sentence.format(winner=words.side(side), loser=words.side(1 - side), score=score)


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
    """Return each side's points, such as "you 8 (cards 7, last trick 1), Gino 3"."""
    _, unit, entries = words.text, score_unit(record.rules), record.deals[number - 1].entries()
    last, sides = last_taker(record, number), []
    for side, points in enumerate(entries["points"]):
        bonus, parts = int(last is not None and last & 1 == side), dict[str, int]()
        if "thirds" in entries:
            # Leftover thirds are dropped.
            parts = {_("cards"): entries["thirds"][side] // 3 - bonus, _("last trick"): bonus}
        shown = [f"{name} {figure * unit}" for name, figure in parts.items() if figure]
        shown += _declared_by(words, record, number, side)
        # The cards alone need no explanation.
        is_sum = parts and points != parts[_("cards")]
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


def decisive_line(words: Wording, record: Record) -> str:
    _ = words.text
    deal = decisive_deal(record)
    if deal == 1 and record.winner:
        return _("{side} led from the first deal on.").format(side=words.side(record.winner[0] & 1))
    return _("Deal {deal} decided it.").format(deal=deal) if deal else ""


def declared_lines(words: Wording, record: Record, number: int) -> Iterator[str]:
    """Yield a line for each player with declarations in a deal, which is numbered from 1."""
    moves = record.deals[number - 1].moves
    for seat, name in enumerate(words.names):
        declarations = [move for player, move, *_rest in moves if player == seat and move.startswith("declare ")]
        if declarations:
            yield f"{name}: {'; '.join(map(words.combination, declarations))}"


def declared_totals(record: Record) -> tuple[int, int] | None:
    """Return each side's points for declarations in the game, in the table's unit, or None."""
    factor = score_unit(record.rules)
    declared = [deal.declared for deal in record.deals if "declared" in type(deal).model_fields]
    totals = (factor * sum(points[0] for points in declared), factor * sum(points[1] for points in declared))
    return totals if any(totals) else None


def declared_totals_line(words: Wording, record: Record) -> str:
    totals = declared_totals(record)
    return f"{capitalize(words.labels['declared'])}: {words.sides(totals)}" if totals else ""


def game_summary(words: Wording, record: Record) -> Iterator[str]:
    """Yield the ending, points, course and declarations of a finished game."""
    yield ending_of(record, words)
    if record.deals:
        yield words.sides(totals_by_deal(record)[-1])
    lines = (course_line(words, record), decisive_line(words, record), declared_totals_line(words, record))
    yield from filter(None, lines)
