"""The models of the API's answers, made from tables and finished games.

The engine replays each position of a finished game from its record. A finished game has no secrets: each step has what
everyone saw, and what each seat saw in addition. A page with all hands open shows both. Cards, moves and views are
described in `engine.views` and docs/records.md.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from bot.finished.analysis_pool import Analysis
from bot.finished.archive import game_id
from bot.finished.game import FinishedGame
from bot.identity.programs import is_program
from bot.identity.pseudonyms import localize_name
from bot.tables.table import Table
from bot.words.table_lines import fixture_line
from bot.words.transcript import ending_of, printable_name
from bot.words.verdicts import better_text, rests_on_unseen_cards
from bot.words.wording import Wording, faces_of
from engine import Game, Record, game_kind, replay
from engine.game import ENDING_MOVES
from engine.records import SpadesRecord, TressetteRecord
from engine.replay import continue_record
from engine.robots.verdicts import Verdict, costliest_moves, summarize
from engine.shuffle import commitment
from engine.tressette import TressetteDeal
from engine.views import (
    DealView,
    Declaration,
    LastTrick,
    Packet,
    PacketsView,
    ShownCard,
    SpadesView,
    StockView,
    TressetteView,
)

OpenView = PacketsView | StockView | SpadesView | TressetteView | DealView
RECORD_TYPES = (TressetteRecord, SpadesRecord)  # record types, one per family of games
TUPLE_TYPES = (Declaration, LastTrick, Packet, ShownCard)  # arrays in JSON; pydantic leaves out their docstrings
MAX_COSTLIEST = 3


class ApiModel(BaseModel):
    """A model of the public API. It is immutable and fully documented."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SeatView(ApiModel):
    """A seat's own view, in addition to the public one. Fields that do not exist in its game are null."""

    hand: list[str]
    packets: list[Packet] | None = None
    drawn: str | None = Field(None, description="Spades: the card drawn, to keep or to discard.")
    discarded: list[str] | None = Field(None, description="Spades: the discarded cards.")


class Step(ApiModel):
    seat: int | None = Field(description="The seat that moved; null for chance and for the deal itself.")
    move: str = Field(description="In the notation of a record; empty for the deal itself.")
    text: str = Field(description="The move in words, in the reader's language.")
    view: OpenView = Field(description="The public view.", union_mode="left_to_right")
    seats: list[SeatView] = Field(description="The private part of each seat's view.")
    taken: tuple[int, int] | None = Field(
        description="Thirds of a point that each side has taken in tricks. Players cannot see them during a deal."
    )


class ReplayedDeal(ApiModel):
    """A deal step by step. The first step shows the cards as dealt, each later one the position after a move."""

    number: int
    steps: list[Step]
    score: list[str] = Field(description="The score in words.")


class Choice(ApiModel):
    """A legal move of the seat to move."""

    move: str = Field(description="In the notation of a record.")
    text: str = Field(description="The move in words, in the reader's language.")


class ReplayedLine(ApiModel):
    """Moves that differ from the record. ``steps`` are the positions after each of them."""

    moves: list[str] = Field(description="The line's moves, with the robot's last one.")
    steps: list[Step]
    choices: list[Choice] = Field(description="The legal moves at the end of the line; none once the deal is over.")


class LineVerdicts(ApiModel):
    lost: dict[str, int] | None = Field(
        description=(
            "By move, the points that it gives away if all seats then play perfectly with open cards; shown to people "
            "times `score_unit`. Null if too many cards are left, or cards are still to be drawn or declared."
        )
    )


class DealHead(ApiModel):
    """A deal in a game's overview. ``entries`` are its score by side, as in the record."""

    number: int
    dealer: int
    moves: int
    entries: dict[str, tuple[int | str | None, int | str | None]]
    totals: tuple[int, int]


class ReplayedGame(ApiModel):
    id: str
    game: str
    title: str = Field(description="The game's name in the reader's language.")
    is_french: bool = Field(description="True for a game with a French pack.")
    rules: dict[str, int | str | bool]
    seats: list[str] = Field(description="The players' names by seat; seats 0 and 2 are side 0.")
    ended: int = Field(description="Unix seconds.")
    winner: list[int] | None
    ending: str | None
    result: str = Field(description="The winner and the ending in words.")
    fixture: str = Field(description="The tournament's fixture in words; empty for other games.")
    cards: dict[str, str] = Field(description="Each card's name with the reader's suits, by code.")
    deals: list[DealHead]


class Judgement(ApiModel):
    """The value of a decision. A move with several mistakes has a judgement for each.

    ``place`` is the move's number in the deal, from 0.
    """

    deal: int
    place: int
    seat: int
    move: str
    better: str
    lost: float = Field(description="Points given away; shown to people times `score_unit`.")
    exact: bool = Field(
        description="True if perfect play with open cards says so, false if it is the strong robot's judgement."
    )
    unseen: bool = Field(description="True if this rests on cards that the player could not see.")
    text: str = Field(description="The better move and the reason in words; empty if nothing was given away.")


class Played(ApiModel):
    """The quality of one seat's play."""

    seat: int
    decisions: int
    accuracy: int | None = Field(description="Percentage of decisions that gave nothing away; null without decisions.")
    lost: float = Field(description="Points given away in total, by either measure.")


class ReplayedAnalysis(ApiModel):
    """The analysis of a game so far. It is done when ``deals_done`` equals ``deals``."""

    deals: int
    deals_done: int
    is_begun: bool = Field(description="True once the analysis has started.")
    judgements: list[Judgement]
    players: list[Played] = Field(description="By seat; empty before the analysis is done.")
    costliest: list[Judgement] = Field(
        description="All judgements on the three costliest moves of all players, the costliest move first."
    )


class PublicSeat(ApiModel):
    """A player at a table."""

    name: str
    is_robot: bool = Field(description="True for one of the bot's robots and for a program.")


class PublicTable(ApiModel):
    """A table as everyone sees it. The version increases with every change."""

    code: str
    version: int
    game: str
    rules: dict[str, int | str | bool]
    is_french: bool = Field(description="True for a game with a French pack.")
    phase: str = Field(description="open while seats are free, closed if no game began, playing, over, or unreadable.")
    seats: list[PublicSeat | None] = Field(description="By seat; null for an empty seat. Seats 0 and 2 are side 0.")
    clock: int = Field(description="Seconds per move; 0 without a clock.")
    is_late: bool = Field(description="True if the player to move has run out of time.")
    deal: int = Field(description="The number of the current deal, from 1; 0 before the first.")
    seal: str | None = Field(
        description="The commitment to the current deal's shuffle, or to the next one's while a pack waits for a cut."
    )
    cutter: int | None = Field(
        description="The seat that can cut the next pack; null if none waits. After 20 seconds it is dealt uncut."
    )
    view: OpenView | None
    turn: int | None
    totals: tuple[int, int] = Field(description="Whole points by side; shown to people times `score_unit`.")
    bags: tuple[int, int]
    winner: list[int] | None
    ending: str | None
    replay: str | None = Field(
        description="The id of the finished game; null before the end, and for a deal that others still have to play."
    )


class OwnTable(PublicTable):
    """A table as a player sees it. ``view`` includes the player's hand."""

    seat: int | None = Field(description="This program's seat; null while it asks for one.")
    moves: list[str] = Field(description="The legal moves now, in or out of turn, in a record's notation.")


def replayed_game(game: FinishedGame, language: str, suits: str) -> ReplayedGame:
    record, words = game.record, _wording(game.record, language, suits)
    return ReplayedGame(
        id=game.id,
        game=record.game,
        title=words.text(record.kind.name),
        is_french=record.kind.pack.is_french,
        rules=record.rules,
        seats=list(words.names),
        ended=game.ended,
        winner=record.winner,
        ending=record.ending,
        result=ending_of(record, words),
        fixture=fixture_line(words, game.fixture_name) if game.fixture_name else "",
        cards={code: words.card(code) for code in record.kind.pack.codes},
        deals=[
            DealHead(
                number=number,
                dealer=deal.dealer,
                moves=len(deal.moves),
                entries={name: tuple(value) for name, value in deal.entries().items()},
                totals=deal.totals,
            )
            for number, deal in enumerate(record.deals, 1)
        ],
    )


def replayed_deal(game: FinishedGame, number: int, language: str, suits: str) -> ReplayedDeal:
    """Return a deal by its number from 1. Raises FaultyRecord for an impossible move."""
    record, words = game.record, _wording(game.record, language, suits)
    deal = record.deals[number - 1]
    return ReplayedDeal.model_construct(
        number=number,
        steps=list(_steps(record, number, words)),
        score=[line[:1].upper() + line[1:] for line in words.score(deal.entries(), deal.totals, record.rules)],
    )


def replayed_line(
    game: FinishedGame, deal: int, place: int, moves: Sequence[str], language: str, suits: str
) -> ReplayedLine:
    """Return the positions after each of ``moves``, made after the first ``place`` moves of a deal."""
    words, steps = _wording(game.record, language, suits), []
    positions = continue_record(game.record, deal, place, moves)
    position = next(positions)
    for move in moves:
        seat, position = position.turn, next(positions)
        steps.append(_step(position, seat, move, words))
    legal_moves = [] if position.turn is None else position.legal_moves(position.turn)
    choices = [
        Choice(move=move, text=words.move(position.turn, move)) for move in legal_moves if move not in ENDING_MOVES
    ]
    return ReplayedLine.model_construct(moves=list(moves), steps=steps, choices=choices)


def replayed_analysis(game: FinishedGame, analysis: Analysis | None, language: str, suits: str) -> ReplayedAnalysis:
    """Return the analysis so far. ``analysis`` is None if it has not begun."""
    record, deals = game.record, len(game.record.deals)
    words = _wording(record, language, suits)
    verdicts = analysis.verdicts if analysis else []
    is_done = analysis is not None and analysis.deals == deals
    seats = range(len(record.seats)) if is_done else range(0)
    return ReplayedAnalysis(
        deals=deals,
        deals_done=analysis.deals if analysis else 0,
        is_begun=analysis is not None,
        judgements=[_judgement(words, verdict) for verdict in verdicts],
        players=[_player_summary(verdicts, seat) for seat in seats],
        costliest=[_judgement(words, verdict) for verdict in costliest_moves(verdicts, MAX_COSTLIEST)],
    )


def _wording(record: Record, language: str, suits: str) -> Wording:
    names = [printable_name(localize_name(name, language)) for name in record.seats]
    return Wording(language, names, faces_of(record.kind, suits))


def _steps(record: Record, number: int, words: Wording) -> Iterator[Step]:
    for moves_made, game in enumerate(replay(record, number)):
        # Moves of chance are replayed together with the move before them, so the game can be one move ahead of its
        # record.
        seat, move = record.deals[number - 1].moves[moves_made - 1][:2] if moves_made else (None, "")
        yield _step(game, seat, move, words)


def _step(game: Game, seat: int | None, move: str, words: Wording) -> Step:
    """Return the position after a move; an empty move is the deal itself."""
    _, current_deal, view = words.text, game.current, game.view(None).deal
    assert view
    dealing = _("{name} deals") if game.kind.has_dealer else _("{name} draws first")
    return Step.model_construct(
        seat=seat,
        move=move,
        text=words.move(seat, move) if move else dealing.format(name=words.names[view.dealer]),
        view=view,
        seats=[_seat_view(game.view(viewer).deal) for viewer in range(game.kind.seats)],
        taken=(current_deal.taken[0], current_deal.taken[1]) if isinstance(current_deal, TressetteDeal) else None,
    )


def _seat_view(view: DealView | None) -> SeatView:
    assert view
    fields: dict[str, Any] = {"hand": list(view.hand or ())}
    if isinstance(view, PacketsView):
        fields["packets"] = list(view.packets)
    if isinstance(view, SpadesView):
        fields |= {"drawn": view.drawn, "discarded": list(view.discarded)}
    return SeatView.model_construct(**fields)


def _judgement(words: Wording, verdict: Verdict) -> Judgement:
    names = Judgement.model_fields.keys() - {"place", "unseen", "text"}
    return Judgement(
        **{name: getattr(verdict, name) for name in names},
        place=verdict.move_index,
        unseen=rests_on_unseen_cards(verdict),
        text=better_text(words, verdict),
    )


def _player_summary(verdicts: Sequence[Verdict], seat: int) -> Played:
    summary = summarize(verdicts, seat)
    lost_points = round(summary.lost_exactly + summary.lost_by_judgement, 2)
    return Played(seat=seat, decisions=summary.decisions, accuracy=summary.accuracy, lost=lost_points)


def public_table(table: Table) -> PublicTable:
    """Return the table as everyone sees it, using only the public view."""
    view = table.view(None)
    deal = view.deal if view else None
    return PublicTable.model_construct(
        code=table.code,
        version=table.version,
        game=table.game_id,
        is_french=game_kind(table.game_id).pack.is_french,
        rules=view.rules if view else table.rules,
        phase=table.phase,
        seats=[
            chair and PublicSeat(name=chair.name, is_robot=chair.is_robot or is_program(chair.person))
            for chair in table.chairs
        ],
        clock=table.clock,
        is_late=table.alarm == "flagged",
        deal=view.deal_number if view else 0,
        seal=commitment(table.sealed) if table.awaits_cut else view.commitment if view else None,
        cutter=table.cutter if table.awaits_cut else None,
        view=deal,
        turn=view.turn if view else None,
        totals=view.totals if view else (0, 0),
        bags=view.bags if view else (0, 0),
        winner=list(view.winner) if view and view.winner is not None else None,
        ending=view.ending if view else None,
        replay=game_id(table) if table.phase == "over" and not table.is_duplicate else None,
    )


def own_table(table: Table, person: str) -> OwnTable:
    """Return the table as a person sees it, using only the view of their seat."""
    seat = table.seat_of(person)
    view = table.view(seat) if seat is not None else None
    fields = dict(public_table(table)) | {"seat": seat, "moves": []}
    if view:
        fields["view"] = view.deal or fields["view"]
        fields["moves"] = list(view.moves) if table.phase == "playing" else []
    return OwnTable.model_construct(**fields)
