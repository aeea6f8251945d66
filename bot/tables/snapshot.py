"""A table as one viewer can see it. Panels and pictures are drawn from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from bot.store.entries import Fixture
from bot.tables.chairs import Chair
from bot.tables.limits import PHRASES_PER_DEAL
from bot.tables.table import Table
from engine import GameKind, Record, View, game_kind
from engine.deal import pair
from engine.game import MoveEntry
from engine.options import Value, resolve
from engine.records import Proof
from engine.shuffle import commitment
from engine.views import LastTrick, TressetteView

TRICKS_WITH_REPORT = 2  # tricks of a deal during which hands show the score of the previous deal
CUT_SHORT = ("resign", "timeout", "cancelled")  # endings that leave a deal unfinished
FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"


def isolate_name(name: str) -> str:
    """Isolate a name, so that its writing direction does not affect the line around it."""
    return f"{FIRST_STRONG_ISOLATE}{name}{POP_ISOLATE}"


@lru_cache(maxsize=500)
def _names(chairs: tuple[Chair | None, ...]) -> tuple[str, ...]:
    """Return the names in these chairs. Cached, because each table is drawn again and again."""
    return tuple(isolate_name(chair.name) if chair else "…" for chair in chairs)


@dataclass(frozen=True)
class FinishedDeal:
    """A deal that is over and public."""

    number: int
    dealer: int
    entries: dict[str, Sequence[object]]  # the score, by side, as in the record
    totals: tuple[int, int]
    proof: Proof | None
    record: Record  # the game's finished deals


class OwnTexts(NamedTuple):
    """A feature's own texts for its tables, as message ids; empty for the usual texts.

    ``is_won_by_deal``: the points of the only deal decide who wins.
    """

    confirm_resign: str = ""
    target: str = ""
    is_won_by_deal: bool = False


DEFAULT_TEXTS = OwnTexts()


class Cutting(NamedTuple):
    """Cuts of packs at a table. ``is_on`` is whether its packs are cut at all.

    While a pack waits for a cut, ``seat`` can cut it, ``seal`` is its commitment, and ``sealed_at`` the version after
    it was sealed. ``cut_by`` is the seat that cut the current deal's pack. ``is_uncut`` is whether that pack waited and
    nobody cut it.
    """

    is_on: bool = False
    seat: int | None = None
    seal: str = ""
    sealed_at: int = 0
    cut_by: int | None = None
    is_uncut: bool = False


class TableSnapshot(NamedTuple):
    """A table as ``seat`` sees it, or as the public sees it if ``seat`` is None."""

    code: str
    phase: str
    kind: GameKind
    rules: dict[str, Value]
    chairs: tuple[Chair | None, ...]
    seat: int | None
    version: int  # of the seat's last decision; presses on panels since then are valid until its next decision
    view: View | None
    history: tuple[MoveEntry, ...]  # moves of the deal as the seat saw them
    since: int  # index in `history` after the seat's own last move
    alarm: str
    late_counts: tuple[int, ...]
    strict: bool
    clock: int
    asking: tuple[int, Chair] | None  # the seat opposite, and the person who asks this viewer for it
    is_practice: bool  # whether one person plays against robots
    is_duplicate: bool  # as `Table.is_duplicate`
    fixture: Fixture | None  # the tournament's game that is played here
    are_strangers: bool  # `TableState.are_strangers`
    phrases: tuple[tuple[int, str], ...]  # what others have said recently, by seat
    can_say: bool  # whether this seat can still say something in this deal
    own_texts: OwnTexts
    cutting: Cutting = Cutting()
    taken: tuple[int, int] = (0, 0)  # by side, thirds of a point in the tricks of this deal

    @property
    def others(self) -> list[tuple[int, Chair]]:
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
    def can_have_hint(self) -> bool:
        return self.is_practice and self.is_my_turn and not self.is_duplicate

    @property
    def is_only_deal_played(self) -> bool:
        """True if the table has a single deal that was played to its end. The game stops there."""
        deal = self.view.deal if self.view else None
        return self.is_duplicate and deal is not None and deal.phase == "over"

    @property
    def is_cut_short(self) -> bool:
        """True if the game ended during its last deal, so that the points of that deal decided nothing."""
        return self.view is not None and self.view.ending in CUT_SHORT and not self.is_only_deal_played

    @property
    def running_thirds(self) -> tuple[int, int] | None:
        """Thirds of a point of each side in this deal, tricks and declarations, as anyone can count them.

        None unless cards are being played, and at Spades.
        """
        deal = self.view.deal if self.view and not self.view.ending else None
        if not isinstance(deal, TressetteView) or deal.phase != "play":
            return None
        return self.taken[0] + 3 * deal.declared[0], self.taken[1] + 3 * deal.declared[1]

    @property
    def has_opponents(self) -> bool:
        """True if a person plays against this seat."""
        against = self.chairs[(self.seat + 1) % 2 :: 2] if self.seat is not None else self.chairs
        return any(chair is not None and not chair.is_robot for chair in against)

    def name(self, seat: int) -> str:
        return _names(self.chairs)[seat]

    @property
    def names(self) -> tuple[str, ...]:
        return _names(self.chairs)


def take_snapshot(table: Table, seat: int | None, own_texts: OwnTexts = DEFAULT_TEXTS) -> TableSnapshot:
    """Return the table as a seat can see it. ``own_texts`` are from its policy (`bot.table_policy`)."""
    game = table.game
    view = table.view(seat)
    history = tuple(game.history(seat)) if game else ()
    own_index = 0
    if seat is not None:
        own_index = next((number for number in range(len(history), 0, -1) if history[number - 1][0] == seat), 0)
    requests = [
        (chair, who) for chair, who in table.asking.items() if seat is not None and table.ruler_of(chair) == seat
    ]
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
        since=own_index,
        alarm=table.alarm,
        late_counts=table.late_counts,
        strict=table.strict,
        clock=table.clock,
        asking=requests[0] if requests else None,
        is_practice=table.is_practice,
        is_duplicate=table.is_duplicate,
        fixture=table.fixture,
        are_strangers=table.are_strangers,
        phrases=tuple(table.phrases_shown_to(seat)) if seat is not None and game else (),
        can_say=seat is not None and table.has_phrases and table.phrase_counts[seat] < PHRASES_PER_DEAL,
        own_texts=own_texts,
        cutting=_cutting(table),
        taken=pair(game.current.taken) if game and game.current else (0, 0),
    )


def _cutting(table: Table) -> Cutting:
    if table.awaits_cut:
        return Cutting(table.has_cuts, table.cutter, commitment(table.sealed), table.sealed_at)
    return Cutting(table.has_cuts, cut_by=table.cut_by, is_uncut=table.is_uncut)


def deal_to_report(table: Table, snapshot: TableSnapshot) -> FinishedDeal | None:
    """Return the deal whose score a hand shows: the last finished one, until two tricks of the next deal are over."""
    view = snapshot.view
    if view is None or view.deal is None or view.result is None or snapshot.is_cut_short:
        return None
    is_new = view.result.deal < view.deal_number and sum(view.deal.tricks) < TRICKS_WITH_REPORT
    return finished_deal(table, view.result.deal) if view.ending or is_new or table.awaits_cut else None


def is_new_practice_deal(snapshot: TableSnapshot) -> bool:
    """Return whether a player against robots has not moved yet in a deal after the first."""
    view = snapshot.view
    if view is None or view.result is None or view.ending or not snapshot.is_practice:
        return False
    return view.result.deal < view.deal_number and not snapshot.since


def counted_totals(snapshot: TableSnapshot) -> tuple[int, int]:
    """Return each side's points. Unlike the engine's totals, they exclude a deal that was cut short."""
    view = snapshot.view
    assert view
    if not (snapshot.is_cut_short and view.result and view.deal and view.deal.phase != "over"):
        return view.totals
    first_points, second_points = view.result.entries["points"]
    return view.totals[0] - first_points, view.totals[1] - second_points


def final_trick(snapshot: TableSnapshot) -> LastTrick | None:
    """Return the last trick of the previous deal, until the viewer has moved or a trick is over in the new deal.

    After the game, return the last trick of its last deal.
    """
    view = snapshot.view
    if view is None or view.deal is None or view.result is None or snapshot.is_cut_short or view.ending == "claim":
        return None
    is_new = view.result.deal == view.deal_number or not (snapshot.since or sum(view.deal.tricks))
    return view.result.last_trick if is_new else None


def last_trick_taker(snapshot: TableSnapshot) -> int | None:
    """Return who took the last trick of the last finished deal; None if that was not played to its end."""
    view = snapshot.view
    if view is None or view.result is None or view.result.last_trick is None or view.ending == "claim":
        return None
    return view.result.last_trick.winner


def finished_deal(table: Table, number: int) -> FinishedDeal:
    """Return a finished deal by its number, from 1."""
    assert table.game
    record = table.game.record(live=False)
    deal = record.deals[number - 1]
    return FinishedDeal(number, deal.dealer, deal.entries(), deal.totals, deal.proof, record)
