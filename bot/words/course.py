"""The course of a game: totals by deal, declarations, and the decisive deal."""

from __future__ import annotations

from collections.abc import Iterator

from bot.words.phrases import capitalize
from bot.words.transcript import ending_of
from bot.words.wording import Wording, fix_minus, score_unit
from engine import Record


def totals_by_deal(record: Record, upto: int | None = None) -> list[tuple[int, int]]:
    """Return each side's points after each of the first ``upto`` deals, in the table's unit."""
    factor = score_unit(record.rules)
    return [(deal.totals[0] * factor, deal.totals[1] * factor) for deal in record.deals[:upto]]


def declarations(record: Record, number: int) -> list[tuple[int, str]]:
    """Return seat and move of each declaration in a deal, which is numbered from 1."""
    moves = (entry[:2] for entry in record.deals[number - 1].moves)
    return [(seat, move) for seat, move in moves if move.startswith("declare ")]


def decisive_deal(record: Record) -> int | None:
    """Return the deal, from 1, since which the winners were always ahead; None if points did not decide."""
    if record.ending not in ("target", "claim") or not record.winner or len(record.deals) < 2:
        return None
    side = record.winner[0] & 1
    ahead = [totals[side] > totals[1 - side] for totals in totals_by_deal(record)]
    if not ahead[-1]:
        return None
    return 1 + max((number for number, is_ahead in enumerate(ahead, 1) if not is_ahead), default=0)


def course_line(words: Wording, record: Record, upto: int | None = None) -> str:
    """Return the totals after each deal; empty for a single deal, which has only its final points."""
    totals = totals_by_deal(record, upto)
    if len(totals) < 2:
        return ""
    _ = words.text
    return _("Deal by deal: {course}").format(
        course=fix_minus(" · ".join(f"{ours}–{theirs}" for ours, theirs in totals))
    )


def decisive_line(words: Wording, record: Record) -> str:
    deal = decisive_deal(record)
    if deal is None or not record.winner:
        return ""
    _ = words.text
    if deal == 1:
        return _("{side} led from the first deal on.").format(side=words.side(record.winner[0] & 1))
    return _("Deal {deal} decided it.").format(deal=deal)


def declared_lines(words: Wording, record: Record, number: int) -> Iterator[str]:
    """Yield a line for each player with declarations in a deal."""
    found = declarations(record, number)
    for seat, name in enumerate(words.names):
        if combinations := [words.combination(move) for by, move in found if by == seat]:
            yield f"{name}: {'; '.join(combinations)}"


def declared_totals(record: Record) -> tuple[int, int] | None:
    """Return each side's points for declarations in the game, in the table's unit, or None."""
    factor = score_unit(record.rules)
    deals = [deal.declared for deal in record.deals if "declared" in type(deal).model_fields]
    sums = (factor * sum(each[0] for each in deals), factor * sum(each[1] for each in deals))
    return sums if any(sums) else None


def declared_totals_line(words: Wording, record: Record) -> str:
    sums = declared_totals(record)
    return f"{capitalize(words.labels['declared'])}: {words.sides(sums)}" if sums else ""


def game_summary(words: Wording, record: Record) -> Iterator[str]:
    """Yield the ending, points, course and declarations of a finished game."""
    yield ending_of(record, words)
    if record.deals:
        yield words.sides(totals_by_deal(record)[-1])
    yield from filter(
        None, (course_line(words, record), decisive_line(words, record), declared_totals_line(words, record))
    )
