"""Sheets of results: a deal's score, or a whole game."""

from __future__ import annotations

import time
from collections.abc import Sequence

from bot.pictures.lettering import drawable_names, drawable_text
from bot.pictures.scene import TallyLine
from bot.pictures.sheet import Curve, Ink, Part, Plot, Row, Rows, Score, Sheet, Tally, Words
from bot.words.course import course_line, decisive_line, declared_lines, declared_totals, totals_by_deal
from bot.words.transcript import ending_of
from bot.words.wording import Wording, fix_minus, score_unit
from engine import Record
from engine.robots.findings import Summary

BOT = "Buongioco"

INKS: tuple[Ink, Ink] = ("gold", "sky")  # each side's colour: name, curve and win
MOST_DECLARED = 6  # lines of declarations in a picture; the text has all


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
    results = _ResultParts(record, names, language, suits)
    _ = results.words.text
    lines = list(declared_lines(results.words, record, number))[:MOST_DECLARED]
    return Sheet(
        title=_(record.kind.name),
        note=_("after deal {number}").format(number=number),
        parts=(
            results.scores(number),
            results.tally(number),
            *([Words(line) for line in lines]),
            *results.plot(number),
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

    ``ended`` is in Unix seconds, 0 if unknown. ``group`` is as for `deal_sheet`. ``summaries`` are of each player's
    decisions, if analysed. Players without decisions are left out.
    """
    results = _ResultParts(record, names, language)
    _ = results.words.text
    winner = ending_of(record, results.words)
    day = [time.strftime("%Y-%m-%d", time.gmtime(ended))] if ended else []
    decided = decisive_line(results.words, record)
    return Sheet(
        title=_(record.kind.name),
        note=results.deals_played(),
        parts=(
            Words(winner, INKS[record.winner[0] % 2] if record.winner else None),
            *([results.scores(len(record.deals))] if record.deals else []),
            *results.plot(len(record.deals)),
            *([Words(decided)] if decided else []),
            *results.declared(),
            *results.accuracy(summaries),
        ),
        small=small_print(group, *day, code),
    )


def small_print(group: str, *words: str) -> str:
    """Return the foot of a sheet: the bot, where and when the game was played, and the table."""
    name = drawable_text(group).strip()
    short = name if len(name) <= LONGEST_GROUP else f"{name[: LONGEST_GROUP - 1].rstrip()}…"
    return " · ".join([BOT, *([short] if short else []), *words])


class _ResultParts:
    def __init__(self, record: Record, names: Sequence[str], language: str, suits: str = "italian") -> None:
        self.record = record
        self.words = Wording(language, drawable_names(names, language), suits)

    def deals_played(self) -> str:
        deals = len(self.record.deals)
        return self.words.ngettext("{count} deal", "{count} deals", deals).format(count=deals)

    def scores(self, number: int) -> tuple[Score, Score]:
        totals = totals_by_deal(self.record, number)[-1]
        one, other = (fix_minus(str(total)) for total in totals)
        names = self.words.names
        return Score(tuple(names[0::2]), one, INKS[0]), Score(tuple(names[1::2]), other, INKS[1])

    def plot(self, number: int) -> tuple[Plot, ...]:
        """Return the totals over the deals, from zero. A single deal has no plot."""
        if not course_line(self.words, self.record, number):
            return ()
        totals = [(0, 0), *totals_by_deal(self.record, number)]
        _ = self.words.text
        marks = (False, *([True] * (len(totals) - 1)))
        one, other = (tuple(total[side] for total in totals) for side in (0, 1))
        target = int(self.record.rules["target"]) * score_unit(self.record.rules)
        return (
            Plot(
                (Curve(one, INKS[0], marks), Curve(other, INKS[1], marks)),
                target=target,
                begin=_("start"),
                end=_("deal {number}").format(number=number),
            ),
        )

    def tally(self, number: int) -> Tally:
        deal = self.record.deals[number - 1]
        lines = []
        for name, figures in deal.entries().items():
            if name == "thirds":
                continue
            is_counted = name in ("declared", "points")
            one, other = (figure * score_unit(self.record.rules) if is_counted else figure for figure in figures)
            lines.append(
                TallyLine(
                    self.words.entry_name(name, deal.entries()),
                    (self.words.figure(one), self.words.figure(other)),
                )
            )
        return Tally(tuple(lines))

    def accuracy(self, summaries: Sequence[Summary]) -> tuple[Rows, ...]:
        _ = self.words.text
        rows = tuple(
            Row(
                name,
                self.words.ngettext(
                    "{good} of {count} decisions good", "{good} of {count} decisions good", summary.good
                ).format(good=summary.good, count=summary.decisions),
                f"{summary.accuracy} %",
                share=summary.accuracy / 100,
            )
            for name, summary in zip(self.words.names, summaries, strict=False)
            if summary.accuracy is not None
        )
        return (Rows(rows),) if rows else ()

    def declared(self) -> tuple[Part, ...]:
        sums = declared_totals(self.record)
        if not sums:
            return ()
        return (Tally((TallyLine(self.words.labels["declared"], (str(sums[0]), str(sums[1]))),)),)
