"""The points of a finished deal, line by line, and the totals before and after it."""

from dataclasses import dataclass

from bot.pictures.scene_builder import tally_lines
from bot.tables.snapshot import TableSnapshot, last_trick_taker
from bot.words.wording import Wording, score_unit


@dataclass(frozen=True, slots=True)
class DealCount:
    """``lines`` are labels with each side's figure; the last one is the deal's sum.

    ``before`` and ``after`` are the totals, ``target`` the points that win, 0 for a single deal. The reader's side is
    first. ``label`` names the totals.
    """

    lines: tuple[tuple[str, str, str], ...]
    label: str
    before: tuple[int, int]
    after: tuple[int, int]
    target: int


def deal_count(snapshot: TableSnapshot, words: Wording) -> DealCount | None:
    """Return the count of the last finished deal.

    Return None before any deal has ended, or if the game was cut short during its last deal.
    """
    view = snapshot.view
    if view is None or view.result is None or snapshot.is_cut_short:
        return None
    entries, unit = view.result.entries, score_unit(snapshot.rules)
    lines = tally_lines(words, entries, snapshot.rules, last_trick_taker(snapshot))
    own_side, other_side = (0, 1) if snapshot.seat is None else (snapshot.seat % 2, 1 - snapshot.seat % 2)
    earlier_totals = [total - points for total, points in zip(view.totals, entries["points"], strict=True)]
    return DealCount(
        lines=tuple((line.label, line.figures[own_side], line.figures[other_side]) for line in lines),
        label=words.labels["totals"],
        before=(earlier_totals[own_side] * unit, earlier_totals[other_side] * unit),
        after=(view.totals[own_side] * unit, view.totals[other_side] * unit),
        target=0 if snapshot.is_duplicate else int(snapshot.rules["target"]) * unit,
    )
