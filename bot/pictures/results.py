"""Sheets of results: a deal's score, or a whole game."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from bot.pictures.lettering import drawable_names, drawable_text
from bot.pictures.scene import TallyLine
from bot.pictures.scene_builder import tally_lines
from bot.pictures.sheet import Curve, Ink, Part, Plot, Row, Rows, Score, Sheet, Tally, Words
from bot.texts import day_of
from bot.words.deal_results import declared_lines, last_taker
from bot.words.game_results import (
    CUT_SHORT,
    course_line,
    decisive_line,
    declared_totals,
    result_headline,
    totals_by_deal,
)
from bot.words.wording import Wording, fix_minus, score_unit
from engine import Record
from engine.robots.verdicts import Summary

BOT = "Buongioco"

INKS: tuple[Ink, Ink] = ("gold", "sky")  # each side's colour: name, curve and win
MAX_DECLARED = 6  # maximum of lines with declarations in a picture; the text has them all
LONGEST_GROUP = 24  # characters of a group's name that fit at the foot of a picture


def deal_sheet(
    record: Record,
    number: int,
    code: str,
    names: Sequence[str],
    language: str,
    *,
    suits: str = "italian",
    group: str = "",
) -> Sheet:
    """Return a deal's score, by its number from 1, and the game's totals after it.

    ``names`` are by seat. ``suits`` are the suits on the cards of an Italian pack. ``group`` is the chat's
    name.
    """
    words = Wording(language, drawable_names(names, language), suits)
    _, entries = words.text, record.deals[number - 1].entries()
    return Sheet(
        title=_(record.kind.name),
        note=_("after deal {number}").format(number=number),
        parts=(
            _scores(words, record, number),
            Tally(tally_lines(words, entries, record.rules, last_taker(record, number))),
            *[Words(line) for line in islice(declared_lines(words, record, number), MAX_DECLARED)],
            *_plot(words, record, number),
        ),
        small=small_print(group, code),
    )


def game_sheet(
    record: Record,
    code: str,
    names: Sequence[str],
    language: str,
    *,
    ended: int = 0,
    summaries: Sequence[Summary] = (),
    group: str = "",
) -> Sheet:
    """Return the course of a game.

    ``ended`` is in Unix seconds, 0 if unknown. ``group`` is as for `deal_sheet`. ``summaries`` has one for each
    player's decisions, if analysed. Players without decisions are left out.
    """
    words = Wording(language, drawable_names(names, language), "italian")
    _, deals = words.text, len(record.deals)
    ink = INKS[record.winner[0] % 2] if record.winner else None
    parts: list[Part] = [Words(drawable_text(result_headline(words, record)), ink)]
    if counted_deals := deals - (record.ending in CUT_SHORT):
        # An unfinished deal does not count.
        parts.append(_scores(words, record, counted_deals))
    parts += _plot(words, record, counted_deals)
    if decided := decisive_line(words, record):
        parts.append(Words(decided))
    if declared_points := declared_totals(record):
        parts.append(Tally((TallyLine(words.labels["declared"], (str(declared_points[0]), str(declared_points[1]))),)))
    if rows := _accuracy_rows(words, summaries):
        parts.append(Rows(rows))
    day = [day_of(ended, language)] if ended else []
    return Sheet(
        title=_(record.kind.name),
        note=words.ngettext("{count} deal", "{count} deals", deals).format(count=deals),
        parts=tuple(parts),
        small=small_print(group, *day, code),
    )


def small_print(group: str, *words: str) -> str:
    """Return the foot of a sheet: the bot, where and when the game was played, and the table."""
    name = drawable_text(group).strip()
    short_name = name if len(name) <= LONGEST_GROUP else f"{name[: LONGEST_GROUP - 1].rstrip()}…"
    return " · ".join([BOT, *([short_name] if short_name else []), *words])


def _scores(words: Wording, record: Record, number: int) -> tuple[Score, Score]:
    totals = totals_by_deal(record, number)[-1]
    first, second = (Score(tuple(words.names[side::2]), fix_minus(str(totals[side])), INKS[side]) for side in (0, 1))
    return first, second


def _plot(words: Wording, record: Record, number: int) -> tuple[Plot, ...]:
    """Return the totals over the deals, from zero. A single deal has no plot."""
    if not course_line(words, record, number):
        return ()
    _, totals = words.text, [(0, 0), *totals_by_deal(record, number)]
    marks = (False, *([True] * (len(totals) - 1)))
    first_curve, second_curve = (Curve(tuple(total[side] for total in totals), INKS[side], marks) for side in (0, 1))
    target = int(record.rules["target"]) * score_unit(record.rules)
    end = _("deal {number}").format(number=number)
    return (Plot((first_curve, second_curve), target=target, begin=_("start"), end=end),)


def _accuracy_rows(words: Wording, summaries: Sequence[Summary]) -> tuple[Row, ...]:
    rows = []
    for name, summary in zip(words.names, summaries, strict=False):
        if summary.accuracy is not None:
            good, count = summary.good, summary.decisions
            text = words.ngettext("{good} of {count} decisions good", "{good} of {count} decisions good", good)
            note = text.format(good=good, count=count)
            rows.append(Row(name, note, f"{summary.accuracy} %", share=summary.accuracy / 100))
    return tuple(rows)
