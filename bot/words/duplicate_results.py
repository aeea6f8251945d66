"""Results of duplicates: games with one deal, which several tables play with the same cards."""

from dataclasses import dataclass
from typing import Literal

from bot.words.wording import score_unit
from engine import Record
from engine.replay import replay


@dataclass(frozen=True)
class DealResult:
    """The result of a deal. ``points`` are each side's, in the table's unit.

    They are (0, 0) for a deal that was not played to its end.

    ``tricks`` has the side that took each trick, in order: ``0`` or ``1``. ``winner`` is the side with more points, or
    the opponents of a side that resigned or lost on time, or None. ``ending`` is "void" for a deal that was stopped.
    """

    points: tuple[int, int]
    tricks: str
    winner: int | None
    ending: Literal["played", "resign", "timeout", "void"]


def deal_result(record: Record) -> DealResult:
    tricks, is_finished = "", False
    for game in replay(record, 1):
        deal = game.view(None).deal
        assert deal
        if sum(deal.tricks) > len(tricks):
            tricks += "0" if deal.tricks[0] > tricks.count("0") else "1"
        is_finished = deal.phase == "over" and record.ending in ("cancelled", "target")
    if is_finished:
        factor = score_unit(record.rules)
        first_points, second_points = record.deals[0].totals
        winner = None if first_points == second_points else int(first_points < second_points)
        return DealResult((first_points * factor, second_points * factor), tricks, winner, "played")
    if record.ending in ("resign", "timeout") and record.winner:
        return DealResult((0, 0), tricks, record.winner[0] & 1, record.ending)
    return DealResult((0, 0), tricks, None, "void")
