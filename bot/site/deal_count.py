"""The points of a finished deal, line by line, and the totals on their way to the target."""

from dataclasses import dataclass

from bot.pictures.scene import TallyLine
from bot.pictures.scene_builder import tally_lines
from bot.tables.snapshot import TableSnapshot
from bot.words.wording import Wording, score_unit, thirds_text


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


def deal_count(seen: TableSnapshot, words: Wording) -> DealCount | None:
    """Return the count of the last finished deal. None before any, or if the game was cut short during the last one."""
    view, _ = seen.view, words.text
    if view is None or view.result is None or seen.is_cut_short:
        return None
    entries, unit = view.result.entries, score_unit(seen.rules)
    lines = [*_tricks(seen, words), *tally_lines(words, entries, seen.rules)]
    one, other = (0, 1) if seen.seat is None else (seen.seat % 2, 1 - seen.seat % 2)
    before = [total - points for total, points in zip(view.totals, entries["points"], strict=True)]
    return DealCount(
        lines=tuple((line.label, line.figures[one], line.figures[other]) for line in lines),
        label=words.labels["totals"],
        before=(before[one] * unit, before[other] * unit),
        after=(view.totals[one] * unit, view.totals[other] * unit),
        target=0 if seen.is_duplicate else int(seen.rules["target"]) * unit,
    )


def _tricks(seen: TableSnapshot, words: Wording) -> list[TallyLine]:
    """Return the lines of the cards taken and of the last trick. A claim ends a deal without a last trick."""
    _, unit = words.text, score_unit(seen.rules)
    assert seen.view
    assert seen.view.result
    thirds, last = seen.view.result.entries.get("thirds"), seen.view.result.last_trick
    if thirds is None:
        return []
    if last is None or seen.view.ending == "claim":
        return [TallyLine(_("cards taken"), (thirds_text(thirds[0] * unit), thirds_text(thirds[1] * unit)))]
    bonus = (1, 0) if last.winner % 2 == 0 else (0, 1)
    one, other = (thirds_text((thirds[side] - 3 * bonus[side]) * unit) for side in (0, 1))
    return [
        TallyLine(_("cards taken"), (one, other)),
        TallyLine(_("the last trick"), (str(bonus[0] * unit), str(bonus[1] * unit))),
    ]
