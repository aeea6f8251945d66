"""A table as one viewer may see it, from which panels and pictures are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from bot.store.entries import Fixture
from bot.tables.chairs import Chair
from bot.tables.table import PHRASES_PER_DEAL, Table
from engine import GameKind, Record, View, game_kind
from engine.game import MoveEntry
from engine.rules import Value, resolve

CUT_SHORT = ("resign", "timeout", "cancelled")
"""Endings that leave a deal unfinished."""

FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"


def isolate_name(name: str) -> str:
    """A name that cannot turn the line around it, whichever way it is written."""
    return f"{FIRST_STRONG_ISOLATE}{name}{POP_ISOLATE}"


@lru_cache(maxsize=500)
def _names(chairs: tuple[Chair | None, ...]) -> tuple[str, ...]:
    """What those who sit in these chairs are called; each table's are drawn again and again."""
    return tuple(isolate_name(chair.name) if chair else "…" for chair in chairs)


@dataclass(frozen=True)
class FinishedDeal:
    """A deal that is over, for all to see: ``entries`` are its score, by side, as the record has them.

    ``record`` is of the deals of the game that are over.
    """

    number: int
    dealer: int
    entries: dict[str, Sequence[object]]
    totals: tuple[int, int]
    commitment: str
    secret: str
    record: Record


class OwnTexts(NamedTuple):
    """What is said differently at a feature's tables, as message ids; empty for the usual words."""

    confirm_resign: str = ""
    target: str = ""


DEFAULT_TEXTS = OwnTexts()


class TableSnapshot(NamedTuple):
    """A table as ``seat`` sees it; None is the public.

    ``version`` is of the seat's last decision: a press from a panel of this look is good until the next one.
    ``since`` is where in ``history`` (the moves of the deal as the seat saw them) its own last move stands, plus one.
    ``asking`` is who asks this viewer for the chair opposite, and which chair. ``practice`` is whether one person
    plays, against robots; ``is_duplicate`` is `Table.is_duplicate`; ``fixture`` is what it is of a tournament;
    ``strangers`` whether its people were found for each other.
    ``heard`` is what the others have said lately, by seat, and ``may_say`` whether this seat may still say something in
    this deal.
    """

    code: str
    phase: str
    kind: GameKind
    rules: dict[str, Value]
    chairs: tuple[Chair | None, ...]
    seat: int | None
    version: int
    view: View | None
    history: tuple[MoveEntry, ...]
    since: int
    alarm: str
    lates: tuple[int, ...]
    strict: bool
    clock: int
    asking: tuple[int, Chair] | None
    is_practice: bool
    is_duplicate: bool
    fixture: Fixture | None
    are_strangers: bool
    phrases: tuple[tuple[int, str], ...]
    can_say: bool
    own_texts: OwnTexts

    @property
    def others(self) -> list[tuple[int, Chair]]:
        """The people in the other chairs."""
        return [
            (seat, chair)
            for seat, chair in enumerate(self.chairs)
            if chair and not chair.is_robot and seat != self.seat
        ]

    @property
    def turn(self) -> int | None:
        return self.view.turn if self.view else None

    @property
    def is_my_turn(self) -> bool:
        return self.seat is not None and self.turn == self.seat

    @property
    def is_only_deal_played(self) -> bool:
        """Whether it is one deal, and that was played to its end: the game stops there."""
        deal = self.view.deal if self.view else None
        return self.is_duplicate and deal is not None and deal.phase == "over"

    @property
    def is_cut_short(self) -> bool:
        """Whether the game ended before its last deal did: what that counted decided nothing."""
        return self.view is not None and self.view.ending in CUT_SHORT and not self.is_only_deal_played

    @property
    def has_opponents(self) -> bool:
        """Whether any of the seats against this one is a person's."""
        against = self.chairs[(self.seat + 1) % 2 :: 2] if self.seat is not None else self.chairs
        return any(chair is not None and not chair.is_robot for chair in against)

    def name(self, seat: int) -> str:
        return _names(self.chairs)[seat]

    @property
    def names(self) -> tuple[str, ...]:
        """By seat, what those who sit there are called."""
        return _names(self.chairs)


def snapshot(table: Table, seat: int | None, own_texts: OwnTexts = DEFAULT_TEXTS) -> TableSnapshot:
    """Return the table as a seat may see it. ``own_texts`` are from its policy (`bot.table_policy`)."""
    game = table.game
    view = table.view(seat)
    history = tuple(game.history(seat)) if game else ()
    since = 0
    if seat is not None:
        since = next((place for place in range(len(history), 0, -1) if history[place - 1][0] == seat), 0)
    asked = [(chair, who) for chair, who in table.asking.items() if seat is not None and table.ruler_of(chair) == seat]
    return TableSnapshot(
        code=table.code,
        phase=table.phase,
        kind=game_kind(table.game_id),
        rules=view.rules if view else resolve(game_kind(table.game_id).rules, table.rules).model_dump(),
        chairs=table.chairs,
        seat=seat,
        version=table.oldest_panel(seat) if seat is not None else 0,
        view=view,
        history=history,
        since=since,
        alarm=table.alarm,
        lates=table.lates,
        strict=table.strict,
        clock=table.clock,
        asking=asked[0] if asked else None,
        is_practice=table.is_practice,
        is_duplicate=table.is_duplicate,
        fixture=table.fixture,
        are_strangers=table.are_strangers,
        phrases=tuple(table.phrases_shown_to(seat)) if seat is not None and game else (),
        can_say=seat is not None and table.phrase_counts[seat] < PHRASES_PER_DEAL,
        own_texts=own_texts,
    )


def finished_deal(table: Table, number: int) -> FinishedDeal:
    """A deal that is over, by its number from 1."""
    assert table.game
    record = table.game.record(live=False)
    deal = record.deals[number - 1]
    return FinishedDeal(
        number=number,
        dealer=deal.dealer,
        entries=deal.entries(),
        totals=deal.totals,
        commitment=deal.proof.commitment if deal.proof else "",
        secret=deal.proof.secret if deal.proof else "",
        record=record,
    )
