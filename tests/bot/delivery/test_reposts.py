"""The urgency of each seat and surface, and when it needs a new message."""

from types import SimpleNamespace

import pytest

from bot.delivery.message_state import MessageState
from bot.delivery.reposts import LowestHands, RepostPolicy, seat_urgency, surface_urgency
from bot.delivery.surface import Surface
from bot.delivery.surface_names import Board, ChallengeCard, Hand, Result, SurfaceName
from bot.delivery.surfaces import tag_of
from bot.delivery.table_sync import TableSync
from bot.platform import private_place
from bot.store.entries import Entry, Flag, Move, Nudge, Stop
from bot.tables import Table
from tests.bot.tables.test_table import ADA, open_table, play_cards, start_game

NOW, RING_SECONDS = 1000, 45.0
JUST_NOW, LONG_AGO = NOW - 45, NOW - 46
HOME, CHAT = private_place(ADA), "paper:100"
SEATS = range(4)


def urgencies_of(table: Table) -> list[int]:
    """Return the urgency of each seat, starting with the player to move."""
    assert table.game
    turn = table.game.turn or 0
    return [seat_urgency(table, (turn + step) % 4) for step in SEATS]


def tavolo_table(*entries: Entry) -> Table:
    return start_game("tavolo", *entries)


def test_without_a_readable_game_every_seat_has_urgency() -> None:
    assert seat_urgency(open_table("tavolo"), 0) == 1
    unreadable = tavolo_table().with_stored_entries([b"what is this"])
    assert unreadable.game
    assert [seat_urgency(unreadable, seat) for seat in SEATS] == [1, 1, 1, 1]


@pytest.mark.parametrize("cards", range(4))
def test_urgency_grows_and_opponents_decide_after_the_flag(cards: int) -> None:
    table = play_cards(tavolo_table(), cards)
    assert urgencies_of(table) == [1, 0, 0, 0]
    nudged = table.with_entries([Nudge()], "u2")
    assert urgencies_of(nudged) == [2, 0, 0, 0]
    assert urgencies_of(nudged.with_entries([Flag()], "u3")) == [3, 1, 0, 1]


def test_finished_game_has_no_urgency() -> None:
    table = tavolo_table(Nudge(), Flag(), Stop("timeout", 1))
    assert [seat_urgency(table, seat) for seat in SEATS] == [0, 0, 0, 0]


def test_only_the_open_board_calls_a_player() -> None:
    table = tavolo_table(Nudge())
    assert table.game
    turn = table.game.turn
    assert turn is not None
    player_to_call = ("paper:9", "Somebody")
    assert surface_urgency(table, Surface(Board(1, 0)), player_to_call) == 1 + turn
    assert surface_urgency(table, Surface(Board(1, 0)), None) == 0
    for name in (ChallengeCard(0), Result(0)):
        assert surface_urgency(table, Surface(name), player_to_call) == 0
    assert [surface_urgency(table, Surface(Hand(seat)), player_to_call) for seat in (turn, (turn + 1) % 4)] == [2, 0]
    assert surface_urgency(open_table("tavolo"), Surface(Board(1, 0)), player_to_call) == 0
    resigned = table.with_entries([Move(0, "resign")], "u2")
    assert surface_urgency(resigned, Surface(Board(1, 0)), player_to_call) == 0


class Surfaces:
    """The surfaces of a table, and the lowest hand of each private chat."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("bot.delivery.reposts.time", SimpleNamespace(time=lambda: float(NOW)))
        self.lowest = LowestHands()
        self.known: dict[SurfaceName, MessageState] = {}

    def add(self, name: SurfaceName, home: str, *, seen_at: int, urgency: int = 0, message: str = "7") -> None:
        """Add a surface with its urgency and the time when its message was last sent or pressed."""
        self.known[name] = MessageState(message, "digest", tag_of(home), 1, seen_at, "", urgency)

    def is_reposted(self, name: SurfaceName, place: str, urgency: int) -> bool:
        """Return whether a surface is reposted at its new urgency."""
        sync = TableSync("CODE")
        sync.load(self.known, inherited=False)
        surface = sync.get(name)
        assert surface
        return RepostPolicy(self.lowest, RING_SECONDS).needs_repost(sync, surface, place, urgency)


@pytest.fixture
def surfaces(monkeypatch: pytest.MonkeyPatch) -> Surfaces:
    return Surfaces(monkeypatch)


@pytest.mark.parametrize(
    ("before", "urgency", "seen_at", "lowest", "is_reposted"),
    [
        (0, 1, JUST_NOW, "CODE", False),
        (0, 1, LONG_AGO, "CODE", True),
        (0, 1, NOW + 46, "CODE", True),
        (0, 1, JUST_NOW, "OTHER", True),
        (0, 1, JUST_NOW, "", False),
        (0, 2, JUST_NOW, "CODE", True),
        (1, 2, JUST_NOW, "CODE", True),
        (2, 3, JUST_NOW, "CODE", True),
        (0, 0, LONG_AGO, "OTHER", False),
        (1, 1, LONG_AGO, "OTHER", False),
        (3, 3, LONG_AGO, "OTHER", False),
        (2, 1, LONG_AGO, "OTHER", False),
        (3, 2, LONG_AGO, "OTHER", False),
    ],
)
def test_hand_is_reposted_if_urgency_grows_and_it_is_unseen(
    surfaces: Surfaces, before: int, urgency: int, seen_at: int, lowest: str, is_reposted: bool
) -> None:
    surfaces.add(Hand(0), HOME, seen_at=seen_at, urgency=before)
    if lowest:
        surfaces.lowest.record(HOME, lowest)
    assert surfaces.is_reposted(Hand(0), HOME, urgency) is is_reposted


def test_absent_or_ephemeral_hand_is_not_reposted(surfaces: Surfaces) -> None:
    surfaces.add(Hand(0), HOME, seen_at=LONG_AGO)
    surfaces.add(Hand(1), HOME, seen_at=LONG_AGO, message="")
    assert surfaces.is_reposted(Hand(0), HOME, 3)
    assert not surfaces.is_reposted(Hand(0), f"{HOME}~100!token", 3)
    assert not surfaces.is_reposted(Hand(1), HOME, 3)


@pytest.mark.parametrize(
    ("before", "urgency", "hand_seen_at", "is_reposted"),
    [
        (0, 2, LONG_AGO, True),
        (0, 2, JUST_NOW, False),
        (1, 2, LONG_AGO, True),
        (3, 2, LONG_AGO, True),
        (2, 2, LONG_AGO, False),
        (2, 0, LONG_AGO, False),
    ],
)
def test_board_is_reposted_once_a_turn_if_the_hand_is_unseen(
    surfaces: Surfaces, before: int, urgency: int, hand_seen_at: int, is_reposted: bool
) -> None:
    surfaces.add(Board(1, 0), CHAT, seen_at=JUST_NOW, urgency=before)
    surfaces.add(Hand(0), HOME, seen_at=JUST_NOW)
    surfaces.add(Hand(1), HOME, seen_at=hand_seen_at)
    surfaces.add(Hand(2), HOME, seen_at=JUST_NOW)
    assert surfaces.is_reposted(Board(1, 0), CHAT, urgency) is is_reposted


@pytest.mark.parametrize(("seen_at", "is_reposted"), [(LONG_AGO, True), (JUST_NOW, False)])
def test_board_seen_time_counts_without_a_hand(surfaces: Surfaces, seen_at: int, is_reposted: bool) -> None:
    surfaces.add(Board(1, 0), CHAT, seen_at=seen_at)
    assert surfaces.is_reposted(Board(1, 0), CHAT, 2) is is_reposted


def test_only_hands_sent_here_are_announced_as_lowest() -> None:
    announced = list[tuple[str, str]]()
    lowest = LowestHands(lambda place, code: announced.append((place, code)))
    assert lowest.is_lowest(HOME, "CODE"), "a hand must be the lowest without other hands"
    lowest.record(HOME, "OTHER")
    assert not lowest.is_lowest(HOME, "CODE")
    lowest.record_sent(HOME, "CODE")
    assert lowest.is_lowest(HOME, "CODE")
    assert not lowest.is_lowest(HOME, "OTHER")
    assert announced == [(HOME, "CODE")]
