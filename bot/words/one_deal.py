"""What came of a game of one deal: a day's, or a duplicate's of a tournament."""

from dataclasses import dataclass
from typing import Literal

from bot.words.wording import score_unit
from engine import Record
from engine.replay import replay


@dataclass(frozen=True)
class DealResult:
    """``points`` are each side's, as large as the table counts them; (0, 0) of a deal that was not played to its end.

    ``tricks`` says who took each trick, in order: ``0`` side 0, ``1`` side 1. ``winner`` is the side that has more
    points, or to which the other resigned or lost on time; None where neither did. ``how`` is "void" of a deal that
    was stopped.
    """

    points: tuple[int, int]
    tricks: str
    winner: int | None
    how: Literal["played", "resign", "timeout", "void"]


def deal_result(record: Record) -> DealResult:
    """What came of a game of one deal. One that was played to its end is stopped there, before there is another; what
    was stopped before has come to nothing.
    """
    tricks, is_whole = "", False
    for game in replay(record, 1):
        deal = game.view(None).deal
        assert deal
        if sum(deal.tricks) > len(tricks):
            tricks += "0" if deal.tricks[0] > tricks.count("0") else "1"
        is_whole = deal.phase == "over" and record.ending in ("cancelled", "target")
    if is_whole:
        factor = score_unit(record.rules)
        ours, theirs = record.deals[0].totals
        winner = None if ours == theirs else int(ours < theirs)
        return DealResult((ours * factor, theirs * factor), tricks, winner, "played")
    if record.ending in ("resign", "timeout") and record.winner:
        return DealResult((0, 0), tricks, record.winner[0] & 1, record.ending)
    return DealResult((0, 0), tricks, None, "void")
