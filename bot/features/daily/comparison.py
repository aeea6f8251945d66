"""How a day that is over was played: everybody's lines side by side, where they part, and what each gave away."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from bot import actions
from bot.features.daily.deal import SEAT
from bot.features.daily.lines import Branch, DayLine, Decision, first_fork
from bot.features.daily.pages import add_heading
from bot.panel import LONGEST_PAYLOAD, Button, Panel, Row, Writer
from bot.tables.snapshot import isolated
from bot.words.verdicts import advice_text, lost_text, points_text, reason_texts, scale_verdicts, short_move
from bot.words.wording import Wording, faces_of, signed_text
from engine import game_kind
from engine.robots.findings import Summary, Verdict, summarize

LINES_PER_PAGE = 4
"""So many lines stand in one message: a phone's screen and a half."""

SQUARES_PER_ROW = 10
"""So many squares fit beside one another on a narrow phone."""


class ComparedLine(NamedTuple):
    """A line, whose it is, and its rank among all that are compared, None for who gave up. ``verdicts`` are what its
    analysis says; None as long as there is none. ``may_be_read`` is whether the reader may look at its replay: a record
    names who played it.
    """

    name: str
    rank: int | None
    line: DayLine
    verdicts: Sequence[Verdict] | None = None
    is_readable: bool = False


@dataclass(frozen=True)
class Comparison:
    """A day's lines, the best first. ``best`` is the best of everybody's, whether or not it stands among them; None if
    all gave up. ``more`` is how many others there are, ``is_analysed`` whether an analysis that is not there will come.
    """

    day: date
    game: str
    best: DayLine | None
    lines: Sequence[ComparedLine]
    more: int = 0
    is_analysed: bool = True

    @property
    def is_analysis_pending(self) -> bool:
        """Whether the analysis of a line is yet to come."""
        return self.is_analysed and any(one.verdicts is None for one in self.lines)


def page_payload(page: str, *words: object, chat: str = "") -> str:
    """The payload that leads to a page of the deal of the day, about a group's lines if that fits."""
    payload = actions.page("daily", page, *words, *([chat] if chat else []))
    return payload if len(payload.encode()) <= LONGEST_PAYLOAD else actions.page("daily", page, *words)


def side_by_side_panel(language: str, suits: str, compared: Comparison, number: int, chat: str = "") -> Panel:
    """Some of the lines: ``number`` counts such pages from 1, and stands for the nearest if it is none. ``chat`` is the
    group whose lines they are, empty for the reader's friends.
    """
    words = _wording(language, suits, compared)
    _ = words.text
    page = Writer()
    add_heading(page, language, compared.day, compared.game)
    page.line(fork_text(words, compared))
    pages = max(1, -(-len(compared.lines) // LINES_PER_PAGE))
    number = min(max(number, 1), pages)
    for one in compared.lines[(number - 1) * LINES_PER_PAGE : number * LINES_PER_PAGE]:
        page.gap()
        page.line(_title(words, one), "bold")
        for row in rows_of_squares(one.line):
            page.line(row)
        for line in _notes(words, compared, one):
            page.line(line)
    if compared.is_analysis_pending:
        page.gap()
        page.line(_("The analysis comes: look again in a while."))
    around = [(f"◀ {number - 1}", number - 1), (f"{number}/{pages}", number), (f"{number + 1} ▶", number + 1)]
    turning: Row = tuple(
        Button(label, page_payload("lines", there, chat=chat)) for label, there in around if 1 <= there <= pages
    )
    return page.panel(turning if pages > 1 else (), (Button(_("Yesterday"), page_payload("yesterday", chat=chat)),))


def fork_text(words: Wording, compared: Comparison) -> str:
    """Where the lines first part, and how many went which way."""
    _ = words.text
    if len(compared.lines) < 2:
        return _("Trick by trick: green where it was taken.")
    fork = first_fork([one.line for one in compared.lines])
    if fork is None:
        return _("All played the same.")
    ways = " · ".join(f"{_branch_text(words, way)} ×{way.times}" for way in fork.branches)
    return _("The lines first part {when}: {ways}").format(when=_moment_text(words, fork.decision), ways=ways)


def _branch_text(words: Wording, way: Branch) -> str:
    _ = words.text
    move = move_text(words, way.move)
    return _("{move}, later").format(move=move) if way.is_later else move


def _moment_text(words: Wording, decision: Decision) -> str:
    _ = words.text
    return (_("at trick {trick}") if decision.card else _("before trick {trick}")).format(trick=decision.trick)


def rows_of_squares(line: DayLine) -> list[str]:
    """The tricks as squares, in rows as long as one another that a phone does not break."""
    squares = line.result.squares
    rows = max(1, -(-len(squares) // SQUARES_PER_ROW))
    each = max(1, -(-len(squares) // rows))
    return [squares[at : at + each] for at in range(0, len(squares), each)]


def _title(words: Wording, one: ComparedLine) -> str:
    _ = words.text
    margin = one.line.result.margin
    if one.rank is None or margin is None:
        return _("{name}: given up").format(name=isolated(one.name))
    return f"{one.rank}. {isolated(one.name)} {signed_text(margin)}"


def _notes(words: Wording, compared: Comparison, one: ComparedLine) -> list[str]:
    """Where a line parts from the best one, and what it gave away."""
    return [
        parting_text(words, compared.best, one.line),
        *(text for text, _verdict in loss_texts(words, compared.game, one)),
    ]


def parting_text(words: Wording, best: DayLine | None, line: DayLine) -> str:
    """How a line stands to the best one."""
    _ = words.text
    if best is None:
        return _("Nobody played it to its end.")
    if best.game == line.game:
        return _("The best line that was found.")
    fork = line.fork_from(best)
    if fork is None:
        given_up = line.result.margin is None
        return _("As the best line, until it was given up.") if given_up else _("As the best line.")
    when, move = _moment_text(words, fork.decision), move_text(words, fork.decision.move)
    if fork.decision.move != fork.other.move:
        other = move_text(words, fork.other.move)
    else:
        other = _("later") if fork.other.place > fork.decision.place else _("sooner")
    return _("Parts from the best line {when}: {move}, there {other}.").format(when=when, move=move, other=other)


def loss_texts(words: Wording, game: str, one: ComparedLine) -> list[tuple[str, Verdict | None]]:
    """What a line gave away, and all that its costliest move did, each with the verdict that it is about; empty without
    analysis.
    """
    _ = words.text
    if one.verdicts is None:
        return []
    found: Summary = summarize(scale_verdicts(one.verdicts, game), SEAT, most=1)
    if found.accuracy is None:
        return [(_("No decisions to judge."), None)]
    if not found.costliest:
        return [(_("Nothing given away."), None)]
    given = _("Points given away: {exact} for certain, about {judged} by judgement.")
    costliest = _("The costliest, {when}: {move}, better {other} ({points})")
    return [
        (given.format(exact=points_text(found.lost_exactly), judged=points_text(found.lost_by_judgement)), None),
        *(
            (
                costliest.format(
                    when=_moment_text(words, one.line.decision_at(worst.place)),
                    move=short_move(words, worst.move),
                    other=short_move(words, worst.better),
                    points=lost_text(worst),
                ),
                worst,
            )
            for worst in found.costliest
        ),
    ]


def move_text(words: Wording, move: str) -> str:
    """A move without who made it: a card as it is, everything else in words."""
    word, *rest = move.split(" ")
    if word == "play":
        return words.card(rest[0]) + (f" ({rest[1]}!)" if len(rest) > 1 else "")
    return short_move(words, move) if word in ("declare", "bid") else f"“{advice_text(words, move)}”"


def _wording(language: str, suits: str, compared: Comparison) -> Wording:
    return Wording(language, (), faces_of(game_kind(compared.game), suits))


# The same as a table, for a page


class Cell(NamedTuple):
    """A trick of a line: the card that was played, and where its replay shows that; empty if it may not be read.
    ``parts`` is whether the line parts from the best one by this card, ``costs`` whether it was its costliest move.
    """

    card: str
    label: str
    href: str
    is_taken: bool
    is_fork: bool
    is_costliest: bool


class TableRow(NamedTuple):
    """A line of the table, and what is said about it below. ``margin`` is in points, or says that it was given up."""

    name: str
    margin: str
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class DayTable:
    """Everybody's lines, for a page: ``tricks`` is how many there are, ``more`` how many lines are left out, ``waits``
    whether the analysis of one is yet to come.
    """

    fork: str
    tricks: int
    rows: tuple[TableRow, ...]
    more: int
    is_analysis_pending: bool


def day_table(language: str, suits: str, compared: Comparison) -> DayTable:
    """The lines as a table, a column a trick."""
    words = _wording(language, suits, compared)
    rows = tuple(_row(words, compared, one) for one in compared.lines)
    tricks = max((len(row.cells) for row in rows), default=0)
    return DayTable(fork_text(words, compared), tricks, rows, compared.more, compared.is_analysis_pending)


def _row(words: Wording, compared: Comparison, one: ComparedLine) -> TableRow:
    _ = words.text
    fork = one.line.fork_from(compared.best) if compared.best else None
    found = loss_texts(words, compared.game, one)
    worst = next((verdict for _text, verdict in found if verdict), None)
    parts_at = fork.decision.place if fork else None
    costs_at = worst.place if worst else None
    said = [parting_text(words, compared.best, one.line)]
    for text, verdict in found:
        why = reason_texts(words).get(verdict.why, "").rstrip(".") if verdict else ""
        said.append(f"{text} ({why})" if why else text)
    cells = tuple(
        _cell(words, one, decision, decision.place == parts_at, decision.place == costs_at)
        for decision in one.line.decisions
        if decision.card
    )
    rank = f"{one.rank}. " if one.rank else ""
    margin = one.line.result.margin
    return TableRow(
        rank + isolated(one.name), _("given up") if margin is None else signed_text(margin), cells, tuple(said)
    )


def _cell(words: Wording, one: ComparedLine, decision: Decision, parts: bool, costs: bool) -> Cell:
    _ = words.text
    tricks, number = one.line.result.tricks, decision.trick
    # A trick that was under way when the deal was given up is nobody's.
    is_taken = tricks[number - 1 : number] == "1"
    label = _("Trick {trick}: {card}").format(trick=number, card=words.card(decision.card))
    for holds, text in (
        (is_taken, _("taken")),
        (parts, _("parts from the best line")),
        (costs, _("the costliest move")),
    ):
        if holds:
            label += f", {text}"
    href = f"/g/{one.line.game}#d1m{decision.place + 1}" if one.is_readable else ""
    return Cell(words.card(decision.card), label, href, is_taken, parts, costs)
