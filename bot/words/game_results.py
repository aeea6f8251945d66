"""A game's result in sentences: who won, the totals after each deal, and the decisive deal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.words.table_lines import capitalize
from bot.words.transcript import ending_of
from bot.words.wording import Wording, score_pair, score_unit
from engine import Record
from engine.records import SpadesDealRecord
from engine.spades import SpadesDeal

CUT_SHORT = ("resign", "timeout")


def totals_by_deal(record: Record, last_deal: int | None = None) -> list[tuple[int, int]]:
    """Return each side's points after each deal up to ``last_deal``, in the table's unit."""
    factor = score_unit(record.rules)
    return [(deal.totals[0] * factor, deal.totals[1] * factor) for deal in record.deals[:last_deal]]


def decisive_deal(record: Record) -> int | None:
    """Return the first deal, from 1, after which the winners were always ahead; None if points did not decide."""
    if record.ending not in ("target", "claim") or not record.winner or len(record.deals) < 2:
        return None
    side = record.winner[0] & 1
    leads = [totals[side] > totals[1 - side] for totals in totals_by_deal(record)]
    last_not_ahead = max((number for number, is_ahead in enumerate(leads, 1) if not is_ahead), default=0)
    return last_not_ahead + 1 if leads[-1] else None


def course_line(words: Wording, record: Record, last_deal: int | None = None) -> str:
    """Return the totals after each deal; empty for a single deal, which has only its final points."""
    _ = words.text
    totals = totals_by_deal(record, last_deal)
    return _("Deal by deal: {course}").format(course=course_text(totals)) if len(totals) > 1 else ""


def course_text(totals: Sequence[tuple[int, int]]) -> str:
    return " · ".join(score_pair(own_points, other_points) for own_points, other_points in totals)


def result_line(words: Wording, record: Record) -> str:
    """Return who won and how. After several deals, brackets have the totals after each one, the winners' points first.

    If the last deal was not finished, the brackets have only each side's points before it.
    """
    return with_course(result_headline(words, record), words, record, _winning_side(record))


def with_course(headline: str, words: Wording, record: Record, side: int) -> str:
    """Return the headline with the course of the game in brackets, as `result_line`, the points of ``side`` first."""
    totals = _totals_for(record, side)
    if record.ending in CUT_SHORT:
        finished = totals_by_deal(record, len(record.deals) if _is_last_deal_finished(record) else -1)
        return f"{headline} ({words.sides(finished[-1])})" if finished else headline
    return f"{headline} ({course_text(totals)})" if record.winner and len(totals) > 1 else headline


def _is_last_deal_finished(record: Record) -> bool:
    """Return whether all cards of the last deal were played: players can resign while the next pack waits for a cut."""
    deal = record.deals[-1]
    plays: int = sum(move.startswith("play ") for _seat, move, *_rest in deal.moves)
    cards: int = 2 * SpadesDeal.LENGTH if isinstance(deal, SpadesDealRecord) else len(deal.pack)
    return plays == cards


def _winning_side(record: Record) -> int:
    return record.winner[0] & 1 if record.winner else 0


def _totals_for(record: Record, side: int) -> list[tuple[int, int]]:
    """Return the totals after each deal, the points of ``side`` first."""
    return [(totals[side], totals[1 - side]) for totals in totals_by_deal(record)]


def result_headline(words: Wording, record: Record) -> str:
    if not record.winner:
        return ending_of(record, words)
    side = _winning_side(record)
    totals = _totals_for(record, side)
    players = len(words.names[side::2])
    if record.ending == "resign":
        sentence = words.ngettext("🏆 {winner} wins: {loser} resigned", "🏆 {winner} win: {loser} resigned", players)
        resigned = record.deals[-1].moves[-1][0]
        assert resigned is not None
        return sentence.format(winner=words.side(side), loser=words.names[resigned])
    if record.ending == "timeout":
        sentence = words.ngettext(
            "🏆 {winner} wins: {loser} ran out of time", "🏆 {winner} win: {loser} ran out of time", players
        )
    else:
        sentence = words.ngettext("🏆 {winner} beats {loser} {score}", "🏆 {winner} beat {loser} {score}", players)
    score = score_pair(*totals[-1]) if totals else ""
    return sentence.format(winner=words.side(side), loser=words.side(1 - side), score=score)


def decisive_line(words: Wording, record: Record) -> str:
    _ = words.text
    deal = decisive_deal(record)
    if deal == 1 and record.winner:
        return _("{side} led from the first deal on.").format(side=words.side(record.winner[0] & 1))
    return _("Deal {deal} decided it.").format(deal=deal) if deal else ""


def declared_totals(record: Record) -> tuple[int, int] | None:
    """Return each side's points for declarations in the game, in the table's unit, or None."""
    factor = score_unit(record.rules)
    declared = [deal.declared for deal in record.deals if "declared" in type(deal).model_fields]
    totals = factor * sum(first for first, _ in declared), factor * sum(second for _, second in declared)
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
