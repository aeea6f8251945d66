"""A past day's lines side by side, with their differences and losses."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from bot import actions
from bot.features.daily.pages import add_heading
from bot.panel import LONGEST_PAYLOAD, Button, Panel, Row, Writer
from bot.solo_deals.lines import SoloLine
from bot.solo_deals.results import SEAT
from bot.solo_deals.words import fork_text, moment_text, move_text, rows_of_squares
from bot.tables.snapshot import isolate_name
from bot.words.verdicts import given_away_text, lost_text, reason_texts, scale_verdicts, short_move
from bot.words.wording import Wording, faces_of, signed_text
from engine import game_kind
from engine.robots.verdicts import Verdict, summarize

LINES_PER_PAGE = 4  # about one and a half screens of a phone


class ComparedLine(NamedTuple):
    name: str
    rank: int | None  # among the compared lines; None if the deal was given up
    line: SoloLine
    verdicts: Sequence[Verdict] | None = None  # verdicts of the line's analysis; None before it exists
    is_readable: bool = False  # whether the reader can open the replay, which names the player


@dataclass(frozen=True)
class Comparison:
    day: date
    game: str
    best: SoloLine | None  # best line of all players, even if it is not in ``lines``; None if all gave up
    lines: Sequence[ComparedLine]
    more: int = 0  # number of lines left out
    analyses_games: bool = True  # whether the bot analyses games without a request

    @property
    def is_analysis_pending(self) -> bool:
        return self.analyses_games and any(entry.verdicts is None for entry in self.lines)


def page_payload(page: str, *words: object, chat: str) -> str:
    """Return the payload for a page of the deal of the day. A group's id is left out if it does not fit."""
    payload = actions.page("daily", page, *words, *([chat] if chat else []))
    return payload if len(payload.encode()) <= LONGEST_PAYLOAD else actions.page("daily", page, *words)


def side_by_side_panel(language: str, suits: str, comparison: Comparison, number: int, chat: str = "") -> Panel:
    """Return page ``number`` of the lines, or the nearest page.

    ``chat`` is the group of the lines' players, empty for the reader's friends.
    """
    words = Wording(language, (), faces_of(game_kind(comparison.game), suits))
    _ = words.text
    page = Writer()
    add_heading(page, language, comparison.day, comparison.game)
    page.line(fork_text(words, [entry.line for entry in comparison.lines]))
    pages = max(1, -(-len(comparison.lines) // LINES_PER_PAGE))
    number = min(max(number, 1), pages)
    for entry in comparison.lines[(number - 1) * LINES_PER_PAGE : number * LINES_PER_PAGE]:
        page.gap()
        name, margin = isolate_name(entry.name), entry.line.result.margin
        if margin is None:
            page.line(_("{name}: given up"), "bold", name=name)
        else:
            page.line("{rank}. {name} {margin}", "bold", rank=entry.rank, name=name, margin=signed_text(margin))
        for row in rows_of_squares(entry.line.result):
            page.line(row)
        page.line(parting_text(words, comparison.best, entry.line))
        for text, _verdict in loss_texts(words, comparison.game, entry):
            page.line(text)
    if comparison.is_analysis_pending:
        page.gap()
        page.line(_("The analysis is on its way. Look again later."))
    targets = [(f"◀ {number - 1}", number - 1), (f"{number}/{pages}", number), (f"{number + 1} ▶", number + 1)]
    turn_row: Row = tuple(
        Button(label, page_payload("lines", target, chat=chat)) for label, target in targets if 1 <= target <= pages
    )
    return page.panel(turn_row if pages > 1 else (), (Button(_("Yesterday"), page_payload("yesterday", chat=chat)),))


def parting_text(words: Wording, best: SoloLine | None, line: SoloLine) -> str:
    _ = words.text
    if best is None:
        return _("Nobody finished it.")
    if best.game == line.game:
        return _("The best play of the day.")
    fork = line.fork_from(best)
    if fork is None:
        given_up = line.result.margin is None
        return _("Like the best play, then given up.") if given_up else _("Like the best play.")
    when, move = moment_text(words, fork.decision), move_text(words, fork.decision.move)
    if fork.decision.move != fork.other.move:
        other = move_text(words, fork.other.move)
    else:
        other = _("later") if fork.other.move_index > fork.decision.move_index else _("sooner")
    parting = _("Differs from the best play {when}: {move}, not {other}.")
    return parting.format(when=when, move=move, other=other)


def loss_texts(words: Wording, game: str, entry: ComparedLine) -> list[tuple[str, Verdict | None]]:
    """Return a line's losses as texts, each with its verdict or None. The list is empty without an analysis."""
    _ = words.text
    if entry.verdicts is None:
        return []
    summary = summarize(scale_verdicts(entry.verdicts, game), SEAT, limit=1)
    if summary.accuracy is None:
        return [(_("No decisions to judge."), None)]
    if not summary.costliest:
        return [(_("Nothing given away."), None)]
    line = _("Costliest move, {when}: {move}. Better: {other} ({points})")
    losses: list[tuple[str, Verdict | None]] = [(given_away_text(words, summary), None)]
    decisions = {decision.move_index: decision for decision in entry.line.decisions}
    # The costliest move can have several verdicts.
    for verdict in summary.costliest:
        when, points = moment_text(words, decisions[verdict.move_index]), lost_text(words, verdict)
        move, other = short_move(words, verdict.move), short_move(words, verdict.better)
        losses.append((line.format(when=when, move=move, other=other, points=points), verdict))
    return losses


# The table on a web page


class Cell(NamedTuple):
    card: str
    label: str
    href: str  # address of this move in the replay; empty if the reader cannot open it
    is_taken: bool
    is_fork: bool  # whether the line leaves the best line with this card
    is_costliest: bool  # whether it is the line's costliest move


class TableRow(NamedTuple):
    name: str
    margin: str  # in points, or "given up"
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class DayTable:
    fork: str
    tricks: int  # number of columns
    rows: tuple[TableRow, ...]
    more: int  # number of lines left out
    is_analysis_pending: bool


def day_table(language: str, suits: str, comparison: Comparison) -> DayTable:
    words = Wording(language, (), faces_of(game_kind(comparison.game), suits))
    rows = tuple(_row(words, comparison, entry) for entry in comparison.lines)
    tricks = max((len(row.cells) for row in rows), default=0)
    fork = fork_text(words, [entry.line for entry in comparison.lines])
    return DayTable(fork, tricks, rows, comparison.more, comparison.is_analysis_pending)


def _row(words: Wording, comparison: Comparison, entry: ComparedLine) -> TableRow:
    _ = words.text
    fork = entry.line.fork_from(comparison.best) if comparison.best else None
    notes, costliest = [parting_text(words, comparison.best, entry.line)], None
    for text, verdict in loss_texts(words, comparison.game, entry):
        costliest = verdict
        reason = reason_texts(words).get(verdict.why, "").rstrip(".") if verdict else ""
        notes.append(f"{text} ({reason})" if reason else text)
    cells = []
    for decision in entry.line.decisions:
        if not decision.card:
            continue
        # No player took the trick in which the deal was given up.
        is_taken = entry.line.result.tricks[decision.trick - 1 : decision.trick] == "1"
        is_fork = fork is not None and decision.move_index == fork.decision.move_index
        is_costliest = costliest is not None and decision.move_index == costliest.move_index
        label = _("Trick {trick}: {card}").format(trick=decision.trick, card=words.card(decision.card))
        notes_on_card = (
            (is_taken, _("taken")),
            (is_fork, _("differs from the best play")),
            (is_costliest, _("the costliest move")),
        )
        label += "".join(f", {note}" for is_true, note in notes_on_card if is_true)
        href = f"/g/{entry.line.game}#d1m{decision.move_index + 1}" if entry.is_readable else ""
        cells.append(Cell(words.card(decision.card), label, href, is_taken, is_fork, is_costliest))
    rank = f"{entry.rank}. " if entry.rank else ""
    margin = entry.line.result.margin
    score = _("given up") if margin is None else signed_text(margin)
    return TableRow(rank + isolate_name(entry.name), score, tuple(cells), tuple(notes))
