"""The state of a table at one version, and the facts that follow from it."""

from datetime import date
from functools import lru_cache
from typing import Literal

from bot.identity.programs import is_web_guest
from bot.platform import is_private, is_same_place, platform_of
from bot.store.entries import DEFAULT_CLOCK_SECONDS, Duel, Entry, Fixture, Sit, Stand
from bot.store.log import Log
from bot.tables.chairs import Chair, Invited
from bot.tables.limits import MAX_REFUSALS
from engine import Game, View, game_kind
from engine.options import Value
from engine.shuffle import Cut

# Phrases that strangers say to each other, by their names in logs; readers see them in their language.
PHRASES = ("hello", "luck", "played", "thanks", "sorry", "game", "clap", "laugh", "wow", "oops")
EVERY_SEAT = "0123"  # the readers of a phrase that is not limited
FAREWELLS = ("game", "thanks")  # phrases for the end of a game, of which each player can say one


class TableState:
    """The fields of a table, which its log determines, and the facts that follow from them."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.log = Log([])
        self.game_id = ""
        self.rules: dict[str, Value] = {}
        self.opener = Chair("", "")
        self.chairs: tuple[Chair | None, ...] = ()  # by seat; None for a free chair
        self.game: Game | None = None  # None before the first deal; read-only, so never make moves on it
        self.terms_at = 0  # version after the last change of game, options or clock
        self.moved_at: tuple[int, ...] = ()  # by seat, the version after its last move
        self.dealt_at = 0  # version after the current deal began
        # version after the last change that boards show; they do not show an unknown card within a trick
        self.board_changed_at = 0
        self.has_cuts = False  # whether an opponent of the dealer is asked to cut each pack
        self.sealed = b""  # the secret of the next pack, while it waits for a cut
        self.sealed_at = 0  # version after that pack was sealed
        self.cutter: int | None = None  # the seat that can cut it
        self.cut: Cut | None = None  # its cut, until it is dealt
        self.cut_by: int | None = None  # the seat that cut the current deal's pack
        self.is_uncut = False  # whether that pack waited for a cut and nobody made one
        self.never_cut: frozenset[int] = frozenset()  # seats of programs that did not cut in time
        self.hosts: tuple[str, ...] = ()
        self.invited: Invited | None = None
        # people for whom the table was opened, and who are asked whether they are ready
        self.matched: tuple[Chair, ...] = ()
        self.was_listed = False  # whether the table was open to anyone, so that strangers can sit here
        # origin of the game that is played again; empty for strangers
        self.rematch_origin: Literal["", "page", "chat"] = ""
        self.declined: int | None = None  # index in `matched` of the person who declined
        self.was_opened_full = False  # True if the opener began with robots in all other chairs
        self.asking: dict[int, Chair] = {}  # people who ask for a chair, by seat
        self.refusals: tuple[int, ...] = (0, 0)  # refusals by the first player of each side
        self.clock = DEFAULT_CLOCK_SECONDS  # seconds for a move; 0 for no clock
        self.strict = False
        self.alarm = ""  # "", "nudged" or "flagged": how much of the move's time is gone
        self.late_counts: tuple[int, ...] = ()  # by seat, moves in a row that a robot made for it
        self.timed_out: int | None = None  # the seat that lost on time
        # by seat, its last phrase, the version after it, and the seats that read it
        self.phrases: tuple[tuple[str, int, str], ...] = ()
        self.phrase_counts: tuple[int, ...] = ()  # by seat, phrases in the current deal
        self.is_move_made_for_player = False
        self.closed = ""  # the reason why the game never began
        self.day: date | None = None  # the day, if this is its deal
        self.duel: Duel | None = None  # the duel of which a deal is played here
        self.fixture: Fixture | None = None  # the game of a tournament that is played here
        self.secret = b""  # the secret of the current cards, if each player plays them alone
        self.error = ""  # the first failure to read the log; the table then has the state before it

    @property
    def version(self) -> int:
        return len(self.log.entries)

    @property
    def exists(self) -> bool:
        return self.version > 0

    @property
    def phase(self) -> str:
        """ "open" while chairs are free, "closed" if the game never began, "playing", "over" or "unreadable"."""
        if self.error:
            return "unreadable"
        if self.game is None:
            return "closed" if self.closed else "open"
        return "over" if self.game.ending else "playing"

    @property
    def is_unfinished(self) -> bool:
        return self.phase in ("open", "playing")

    @property
    def awaits_cut(self) -> bool:
        """True if the next pack is sealed and a player can cut it. Before the first deal the phase is still open."""
        return bool(self.sealed) and self.is_unfinished

    @property
    def is_full(self) -> bool:
        return all(self.chairs)

    @property
    def is_practice(self) -> bool:
        """True if one person plays against robots only."""
        return _is_one_person_with_robots(self.chairs)

    @property
    def has_only_guests(self) -> bool:
        """True if all people here are guests of the web pages."""
        people = [chair.person for chair in self.chairs if chair and not chair.is_robot]
        return bool(people) and all(map(is_web_guest, people))

    @property
    def feature(self) -> str:
        """The name of the feature that opened the table; empty if players opened it."""
        if self.day:
            return "daily"
        if self.duel:
            return "duels"
        if self.fixture:
            return "tournaments"
        return "find" if self.matched else ""

    @property
    def had_challenge(self) -> bool:
        """True if people sat down on a challenge card."""
        return not (self.is_solo_deal or self.fixture or self.was_opened_full)

    @property
    def are_strangers(self) -> bool:
        """True if /find matched these people or anyone could sit down, and this is not a rematch of friends."""
        is_open = self.was_listed and not self.is_practice
        return (bool(self.matched) or is_open) and not self.rematch_origin

    @property
    def has_phrases(self) -> bool:
        """True if players can say phrases to each other: strangers, and people who play on pages."""
        on_pages = self.origin == "page" or self.has_only_guests
        return self.are_strangers or (on_pages and not (self.is_practice or self.is_duplicate))

    @property
    def origin(self) -> Literal["", "page", "chat"]:
        """The origin of the table, or of the game that it repeats: "page", or "chat" for a private chat.

        Empty if a group sees it, and for strangers.
        """
        if self.matched or self.are_strangers or self.fixture or not all(map(is_private, self.hosts)):
            return self.rematch_origin
        return "chat" if self.hosts else "page"

    @property
    def is_duplicate(self) -> bool:
        """True if other tables play the same single deal. Its details stay secret until all have played it."""
        return self.is_solo_deal or (self.fixture is not None and self.fixture.is_duplicate)

    @property
    def is_solo_deal(self) -> bool:
        """True if each player plays these cards alone, with robots that play alike."""
        return self.day is not None or self.duel is not None

    def view(self, seat: int | None) -> View | None:
        """Return the game as a seat, or the public, can see and play it; None before it begins.

        A duplicate allows no claims. It is compared with other tables, and cards that were not played would not
        count for any side.
        """
        view = self.game.view(seat) if self.game else None
        return view.without_claims() if view and self.is_duplicate else view

    @property
    def to_move(self) -> Chair | None:
        turn = self.game.turn if self.game else None
        return None if turn is None else self.chairs[turn]

    def ruler_of(self, seat: int) -> int | None:
        """Return the seat that decides about this chair: the opposite one, if a person has it."""
        # Matched strangers were invited to their chairs.
        if not game_kind(self.game_id).asks_partner or self.matched:
            return None
        opposite = (seat + 2) % 4
        chair = self.chairs[opposite]
        return opposite if chair and not chair.is_robot and self.refusals[seat & 1] < MAX_REFUSALS else None

    def invites(self, person: str, handle: str) -> bool:
        """Return whether this person was matched or challenged by name. Handles are of the opener's platform."""
        if any(chair.person == person for chair in self.matched):
            return True
        if self.invited is None or self.invited.person:
            return self.invited is not None and self.invited.person == person
        same_platform = platform_of(person) == platform_of(self.opener.person)
        return same_platform and self.invited.handle.lower() == handle.lower() != ""

    def matched_seat(self, person: str) -> int | None:
        """Return the seat reserved for a matched person: in the order of their match, without robots' seats."""
        seats = (seat for seat, chair in enumerate(self.chairs) if not (chair and chair.is_robot))
        return next((seat for seat, chair in zip(seats, self.matched, strict=False) if chair.person == person), None)

    @property
    def people(self) -> set[str]:
        """People and robots in chairs, and people who ask for one."""
        return {chair.person for chair in (*self.chairs, *self.asking.values()) if chair}

    def seat_of(self, person: str) -> int | None:
        return next((seat for seat, chair in enumerate(self.chairs) if chair and chair.person == person), None)

    def is_shown_at(self, place: str) -> bool:
        return any(is_same_place(place, host) for host in self.hosts)

    def stand_entries(self, seat: int) -> list[Entry]:
        # A person who asks this player for the chair opposite gets it without an answer.
        opposite = (seat + 2) % len(self.chairs)
        asker = self.asking.get(opposite) if game_kind(self.game_id).asks_partner else None
        sitting = [Sit(opposite, asker.person, asker.name)] if asker else []
        return [Stand(seat), *sitting]

    def phrases_shown_to(self, seat: int) -> list[tuple[int, str]]:
        """Return what other seats said, with the seats.

        A phrase is visible until another deal has begun and this seat has moved after it.
        """
        start_version = min(self.moved_at[seat], self.dealt_at)
        return [
            (other, phrase)
            for other, (phrase, said_at, readers) in enumerate(self.phrases)
            if other != seat and phrase in PHRASES and said_at > start_version and str(seat) in readers
        ]

    def oldest_panel(self, seat: int) -> int:
        """Return the version of the oldest valid panel of a seat: after its last decision in this deal."""
        return max(self.moved_at[seat], self.dealt_at)

    def is_old(self, seat: int, version: int) -> bool:
        """Return whether a panel of this version shows a decision that this seat no longer has.

        A move of the seat itself or a new deal makes a panel old. Actions of other seats do not.
        """
        return not self.oldest_panel(seat) <= version <= self.version


@lru_cache(maxsize=10_000)
def _is_one_person_with_robots(chairs: tuple[Chair | None, ...]) -> bool:
    return all(chairs) and sum(1 for chair in chairs if chair and not chair.is_robot) == 1
