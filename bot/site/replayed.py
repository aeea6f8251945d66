"""What a reader is told of a finished game, as JSON has it: every position from the record, by the engine.

A finished game has no secrets: each step says what everybody saw, and what each seat saw beside it. Whoever shows "all
hands open" shows both. Cards, moves and views are as in `engine.views` and docs/records.md.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from bot.finished.analysis_pool import Analysis
from bot.finished.game import FinishedGame
from bot.pseudonyms import localize_name
from bot.words.phrases import fixture_line
from bot.words.transcript import ending_of, plain
from bot.words.verdicts import reasons, short_move
from bot.words.wording import Wording, faces_of
from engine import Game, GameKind, Record, replay
from engine.records import SpadesRecord, TressetteRecord
from engine.robots.findings import Verdict, costliest, summary
from engine.tressette import TressetteDeal
from engine.views import DealView, Packet, PacketsView, SpadesView, StockView, TressetteView

OpenView = PacketsView | StockView | SpadesView | TressetteView | DealView
RECORD_TYPES = (TressetteRecord, SpadesRecord)
"""What records are, by their games' family."""

COSTLIEST = 3


class ApiModel(BaseModel):
    """Something that is told to programs and pages: it does not change, and all of it is documented."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SeatView(ApiModel):
    """What one seat saw otherwise than everybody did; null what its game does not know."""

    hand: list[str]
    packets: list[Packet] | None = None
    drawn: str | None = Field(None, description="Spades: the card that it looked at, to keep or to throw away.")
    discarded: list[str] | None = Field(None, description="Spades: what it had thrown away.")


class Step(ApiModel):
    """A position, and the move that led to it."""

    seat: int | None = Field(description="Who moved; null for chance, and where the cards were dealt.")
    move: str = Field(description="In the notation of a record; empty where the cards were dealt.")
    text: str = Field(description="The move in words, in the reader's language.")
    view: OpenView = Field(description="What everybody saw.", union_mode="left_to_right")
    seats: list[SeatView] = Field(description="What each seat saw otherwise.")
    taken: tuple[int, int] | None = Field(
        description="Thirds of a point that each side had taken in tricks, which nobody may look up during a deal."
    )


class ReplayedDeal(ApiModel):
    """A deal, step by step: the first step is the deal as it was dealt, each other one stands after a move."""

    number: int
    steps: list[Step]
    score: list[str] = Field(description="What it counted, in words.")


class DealHead(ApiModel):
    """A deal in a game's overview. ``entries`` are its score by side, as the record has them."""

    number: int
    dealer: int
    moves: int
    entries: dict[str, tuple[int | str | None, int | str | None]]
    totals: tuple[int, int]


class ReplayedGame(ApiModel):
    """A finished game's overview."""

    id: str
    game: str
    title: str = Field(description="What the game is called in the reader's language.")
    is_french: bool = Field(description="Whether it is played with a French pack.")
    rules: dict[str, int | str | bool]
    seats: list[str] = Field(description="What the players were called, by seat; seats 0 and 2 are side 0.")
    ended: int = Field(description="Unix seconds.")
    winner: list[int] | None
    ending: str | None
    result: str = Field(description="Who won, and how, in words.")
    fixture: str = Field(description="Which game of a tournament it was, in words; empty for any other.")
    cards: dict[str, str] = Field(description="What each card is called with the reader's suits, by its code.")
    deals: list[DealHead]


class Judgement(ApiModel):
    """What a decision was worth; a move that gave several things away has a judgement on each. ``place`` is the move's
    place among the deal's, from 0.
    """

    deal: int
    place: int
    seat: int
    move: str
    better: str
    lost: float = Field(description="Points given away; people are shown them times `score_unit`.")
    exact: bool = Field(description="Whether perfect play with open cards says so, or the strong robot's judgement.")
    text: str = Field(description="What would have been better and why, in words; empty if nothing was given away.")


class Played(ApiModel):
    """How well one seat played, in all."""

    seat: int
    decisions: int
    accuracy: int | None = Field(description="How many decisions of a hundred gave nothing away; null of none.")
    lost: float = Field(description="The same, by either measure.")


class ReplayedAnalysis(ApiModel):
    """The analysis of a game, as far as it has come: done when ``deals_done`` is ``deals``."""

    deals: int
    deals_done: int
    is_begun: bool = Field(description="Whether it has been made, or is being made.")
    judgements: list[Judgement]
    players: list[Played] = Field(description="By seat; empty before the analysis is done.")
    costliest: list[Judgement] = Field(
        description="All that the three moves gave away that cost most, of all players, the costliest move first."
    )


def replayed_game(game: FinishedGame, language: str, suits: str) -> ReplayedGame:
    """A game's overview, in a language."""
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
    """A deal, by its number from 1. FaultyRecord where a move cannot be."""
    record, words = game.record, _wording(game.record, language, suits)
    deal = record.deals[number - 1]
    return ReplayedDeal.model_construct(
        number=number,
        steps=list(_steps(record, number, words)),
        score=[line[:1].upper() + line[1:] for line in words.score(deal.entries(), deal.totals, record.rules)],
    )


def replayed_analysis(game: FinishedGame, known: Analysis | None, language: str, suits: str) -> ReplayedAnalysis:
    """What is known of a game; None if nothing is, and nobody has asked."""
    record, deals = game.record, len(game.record.deals)
    words = _wording(record, language, suits)
    verdicts = known.verdicts if known else []
    is_done = known is not None and known.deals == deals
    seats = range(len(record.seats)) if is_done else range(0)
    return ReplayedAnalysis(
        deals=deals,
        deals_done=known.deals if known else 0,
        is_begun=known is not None,
        judgements=[_judgement(words, one) for one in verdicts],
        players=[_player_summary(verdicts, seat) for seat in seats],
        costliest=[_judgement(words, one) for one in costliest(verdicts, COSTLIEST)],
    )


def _wording(record: Record, language: str, suits: str) -> Wording:
    names = [plain(localize_name(name, language)) for name in record.seats]
    return Wording(language, names, faces_of(record.kind, suits))


def _steps(record: Record, number: int, words: Wording) -> Iterator[Step]:
    game: Game
    for place, game in enumerate(replay(record, number)):
        # Chance's moves come with those that they follow from: the game may be ahead of its record by one.
        seat, move = record.deals[number - 1].moves[place - 1][:2] if place else (None, "")
        view = game.view(None).deal
        assert view
        current = game.current
        yield Step.model_construct(
            seat=seat,
            move=move,
            text=words.move(seat, move) if place else _dealt_text(words, game.kind, view),
            view=view,
            seats=[_seat_view(game.view(one).deal) for one in range(len(record.seats))],
            taken=(current.taken[0], current.taken[1]) if isinstance(current, TressetteDeal) else None,
        )


def _dealt_text(words: Wording, kind: GameKind, view: DealView) -> str:
    _ = words.text
    begins = _("{name} deals") if kind.has_dealer else _("{name} draws first")
    return begins.format(name=words.names[view.dealer])


def _seat_view(view: DealView | None) -> SeatView:
    assert view
    fields: dict[str, Any] = {"hand": list(view.hand or ())}
    if isinstance(view, PacketsView):
        fields["packets"] = list(view.packets)
    if isinstance(view, SpadesView):
        fields |= {"drawn": view.drawn, "discarded": list(view.discarded)}
    return SeatView.model_construct(**fields)


def _judgement(words: Wording, verdict: Verdict) -> Judgement:
    _ = words.text
    text = ""
    if verdict.lost > 0:
        better = short_move(words, verdict.better)
        why = reasons(words).get(verdict.why, "").rstrip(".")
        text = (
            _("Better: {move} ({why})").format(move=better, why=why) if why else _("Better: {move}").format(move=better)
        )
    return Judgement(
        deal=verdict.deal,
        place=verdict.place,
        seat=verdict.seat,
        move=verdict.move,
        better=verdict.better,
        lost=verdict.lost,
        exact=verdict.exact,
        text=text,
    )


def _player_summary(verdicts: Sequence[Verdict], seat: int) -> Played:
    one = summary(verdicts, seat)
    lost = round(one.lost_exactly + one.lost_by_judgement, 2)
    return Played(seat=seat, decisions=one.decisions, accuracy=one.accuracy, lost=lost)
