"""A table, read from its log.

A table is a pure function of its log (`bot.store.log`), so no other state can disagree with it. `bot.store.entries`
defines the entries; this module defines what each entry changes.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import Literal, Self, assert_never

from bot.identity.programs import is_web_guest
from bot.identity.pseudonyms import is_given_name, localize_name
from bot.platform import is_private, is_same_place, platform_of
from bot.store.entries import (
    Ask,
    ChangeGame,
    Clock,
    Close,
    Day,
    Deal,
    Decline,
    Entry,
    FirstDeal,
    Fixture,
    Flag,
    Host,
    Invite,
    InviteMuted,
    Late,
    Match,
    Move,
    Nudge,
    Open,
    PlayAgain,
    Progress,
    Redacted,
    Refuse,
    Rehost,
    Rule,
    Say,
    Setup,
    Sit,
    Stand,
    Stop,
    Wait,
    Withdraw,
    decode,
    encode,
)
from bot.store.log import Log, add_stamp, strip_stamp
from bot.tables.chairs import Chair, Invited
from engine import Game, View, game_kind
from engine.errors import BadRules
from engine.options import Value, resolve

TIME_TO_ACCEPT = 24 * 3600  # seconds until an open challenge expires
TIME_TO_BE_READY = 60  # seconds that matched people have to confirm that they are ready
TIME_FOR_GUESTS = 24 * 3600  # seconds of playing time until a game ends that only web guests could continue
TIME_TO_COME_BACK = 30 * 24 * 3600  # seconds without a move until a practice table ends
CLOCKS = (0, 60, 300, 1800, 86400)  # seconds for a move that a table can choose; 0 is no clock
DEFAULT_CLOCK = 300
# Words in a log that strangers say to each other; readers see them in their language
PHRASES = ("hello", "luck", "played", "thanks", "sorry", "game")
FAREWELLS = ("game", "thanks")  # phrases for the end of a game; each player can say one
PHRASES_PER_DEAL = 3  # phrases that each player can say in a deal
REFUSALS = 3  # refusals of partners by the first player of a side (docs/rules.md, tavolo)


class Table:
    """A table at one version. It does not change: `with_entries` returns the next version."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.log = Log([])
        self.game_id = ""
        self.rules: dict[str, Value] = {}
        self.opener = Chair("", "")
        self.chairs: tuple[Chair | None, ...] = ()  # by seat; None for a free chair
        self.game: Game | None = None  # None before the first deal; do not play on it
        self.terms_at = 0  # version after the last change of game, options or clock
        self.moved_at: tuple[int, ...] = ()  # by seat, the version after its last move
        self.dealt_at = 0  # version after the current deal began
        # version after the last change that boards show; they do not show an unknown card within a trick
        self.board_changed_at = 0
        self.hosts: tuple[str, ...] = ()
        self.invited: Invited | None = None
        self.matched: tuple[Chair, ...] = ()  # people for whom the table was opened; they are asked if they are ready
        # origin of the game that is played again; empty for strangers
        self.rematch_origin: Literal["", "page", "chat"] = ""
        self.declined: int | None = None  # index in `matched` of the person who declined
        self.asking: dict[int, Chair] = {}  # people who ask for a chair, by seat
        self.refusals = (0, 0)  # refusals by the first player of each side
        self.clock = DEFAULT_CLOCK  # seconds for a move; 0 for no clock
        self.strict = False
        self.alarm = ""  # "", "nudged" or "flagged": how much of the move's time is gone
        self.lates: tuple[int, ...] = ()  # by seat, moves in a row that a robot made for it
        self.timed_out: int | None = None  # the seat that lost by time
        self.phrases: tuple[tuple[str, int], ...] = ()  # by seat, its last phrase and the version after it
        self.phrase_counts: tuple[int, ...] = ()  # by seat, phrases in the current deal
        self.is_move_made_for_player = False
        self.closed = ""  # the reason why the game never began
        self.day: date | None = None  # the day, if this is its deal
        self.fixture: Fixture | None = None  # the game of a tournament that is played here
        self.secret = b""  # the secret of the current cards, if `day` is set
        self.error = ""  # the first failure to read the log; the table is then as before it

    @classmethod
    def from_log(cls, code: str, log: Log, known: Self | None = None) -> Self:
        """Read a log as far as possible; ``error`` describes the first failure.

        ``known`` is an earlier version, if available. If the log continues its log, only the rest is read.
        """
        base = known if known and log.starts_with(known.log) else cls(code)
        table = base.with_stored_entries(log.entries[base.version :])
        # The known table can come from another update.
        table.log = Log([]).with_entries(log.entries)
        return table

    @classmethod
    def unreadable(cls, code: str, why: str) -> Self:
        table = cls(code)
        table.error, table.log = why, Log([b""])
        return table

    def with_entries(self, entries: Sequence[Entry], update: str) -> Self:
        """Return the table after an update that adds entries to its log. Raise if they are not allowed."""
        if not entries:
            return self
        new = self._copy()
        new._apply_all(entries)
        new.log = self.log.with_entries([add_stamp(encode(entry), update) for entry in entries])
        return new

    def with_stored_entries(self, entries: Sequence[bytes]) -> Self:
        """Return the table with entries that other workers have added, read as by `from_log`."""
        new = self._copy()
        new._read_stored(entries)
        return new

    def _copy(self) -> Self:
        new: Self = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.rules, new.asking = dict(self.rules), dict(self.asking)
        new.game = self.game.copy() if self.game else None
        return new

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
    def is_full(self) -> bool:
        return all(self.chairs)

    @property
    def is_practice(self) -> bool:
        """True if one person plays against robots only."""
        return _is_one_person_with_robots(self.chairs)

    @property
    def is_of_guests(self) -> bool:
        """True if all people here are guests of the web pages."""
        people = [chair.person for chair in self.chairs if chair and not chair.is_robot]
        return bool(people) and all(map(is_web_guest, people))

    @property
    def feature(self) -> str:
        """The name of the feature that opened the table; empty if players opened it."""
        if self.day:
            return "daily"
        if self.fixture:
            return "tournaments"
        return "find" if self.matched else ""

    @property
    def had_challenge(self) -> bool:
        """True if people sat down on a challenge card."""
        return self.day is None and self.fixture is None

    @property
    def are_strangers(self) -> bool:
        """True if /find matched these people, and they do not replay a game of friends."""
        return bool(self.matched) and not self.rematch_origin

    @property
    def origin(self) -> Literal["", "page", "chat"]:
        """The origin of the table, or of the game that it repeats: "page", or "chat" for a private chat.

        Empty if a group sees it, and for strangers.
        """
        if self.matched or self.fixture or not all(map(is_private, self.hosts)):
            return self.rematch_origin
        return "chat" if self.hosts else "page"

    @property
    def is_duplicate(self) -> bool:
        """True if other tables play the same cards.

        Then it is a single deal, and its details stay secret until all have played it.
        """
        return self.day is not None or (self.fixture is not None and self.fixture.is_duplicate)

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
        return opposite if chair and not chair.is_robot and self.refusals[seat & 1] < REFUSALS else None

    def invites(self, person: str, handle: str) -> bool:
        """Return whether this person was matched for this table or challenged by name.

        A handle belongs to the platform on which the table was opened.
        """
        if any(chair.person == person for chair in self.matched):
            return True
        if self.invited is None or self.invited.person:
            return self.invited is not None and self.invited.person == person
        same_platform = platform_of(person) == platform_of(self.opener.person)
        return same_platform and self.invited.handle.lower() == handle.lower() != ""

    def matched_seat(self, person: str) -> int | None:
        """Return the seat reserved for a matched person.

        People take the seats in the order of their match; robots' seats are left out.
        """
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
        asking = self.asking.get(opposite) if game_kind(self.game_id).asks_partner else None
        sitting = [Sit(opposite, asking.person, asking.name)] if asking else []
        return [Stand(seat), *sitting]

    def localize(self, language: str) -> Self:
        """Return the table for drawing, with the bot's own names for people in this language."""
        people = (self.opener, self.invited, *self.chairs, *self.asking.values())
        if not any(is_given_name(named.name) for named in people if named):
            return self
        new: Self = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.opener = self.opener.localize(language)
        new.chairs = tuple(chair and chair.localize(language) for chair in self.chairs)
        new.asking = {seat: chair.localize(language) for seat, chair in self.asking.items()}
        new.invited = self.invited and self.invited._replace(name=localize_name(self.invited.name, language))
        return new

    def phrases_shown_to(self, seat: int) -> list[tuple[int, str]]:
        """Return the phrases of other seats that this seat still sees, with those seats.

        Phrases are visible until the seat's next move or the next deal.
        """
        since = min(self.moved_at[seat], self.dealt_at)
        return [
            (other, phrase)
            for other, (phrase, at) in enumerate(self.phrases)
            if other != seat and phrase in PHRASES and at > since
        ]

    def oldest_panel(self, seat: int) -> int:
        """Return the version of the oldest valid panel of a seat: after its last decision in this deal."""
        return max(self.moved_at[seat], self.dealt_at)

    def is_old(self, seat: int, version: int) -> bool:
        """Return whether a panel of this version shows a decision that this seat no longer has.

        A move of the seat itself or a new deal makes a panel old. Actions of other seats do not.
        """
        return not self.oldest_panel(seat) <= version <= self.version

    def _read_stored(self, entries: Sequence[bytes]) -> None:
        """Read stored entries. If the rules refuse one, that is the table's error: nothing is raised."""
        log = self.log.with_entries(entries)
        if not self.error:
            try:
                self._apply_all(decode(strip_stamp(entry).decode()) for entry in entries)
            except Exception as error:  # noqa: BLE001  another release can have written anything
                # Without the error's words, which can name a card.
                self.error = f"entry {self.version + 1} or one after it: {type(error).__name__}"
        self.log = log

    def _apply_all(self, entries: Iterable[Entry]) -> None:
        for number, entry in enumerate(entries, self.version + 1):
            if isinstance(entry, Move):
                self._apply_move(entry.seat, entry.move, number)
            else:
                self._apply(entry, number)
                if not isinstance(entry, Say):
                    self.board_changed_at = number

    def _apply(self, entry: Setup | Progress, number: int) -> None:
        match entry:
            case FirstDeal(secret, release, rules):
                self._begin(release, rules)
                self._deal(secret, number)
            case Deal(secret):
                self._deal(secret, number)
            case Late(seat):
                self._set_lates(seat, self.lates[seat] + 1)
                self.is_move_made_for_player = True
            case Nudge():
                self.alarm = "nudged"
            case Flag():
                self.alarm = "flagged"
            case Wait():
                self.alarm = ""
            case Say(seat, phrase):
                self.phrases = (*self.phrases[:seat], (phrase, number), *self.phrases[seat + 1 :])
                count = self.phrase_counts[seat] + 1
                self.phrase_counts = (*self.phrase_counts[:seat], count, *self.phrase_counts[seat + 1 :])
            case Redacted():
                pass  # only the log's version changes
            case Stop(ending, side):
                assert self.game
                if ending == "timeout":
                    self.timed_out = self.game.turn
                self.game.stop(ending, side)
            case _:
                self._apply_setup(entry)
                if isinstance(entry, Open | ChangeGame | Rule | Clock):
                    self.terms_at = number

    def _apply_setup(self, entry: Setup) -> None:
        match entry:
            case Open(game, person, name):
                self.opener = Chair(person, name)
                self._choose_game(game)
            case ChangeGame(game):
                self._choose_game(game)
            case Rule(name, value):
                resolve(game_kind(self.game_id).rules, {name: value})
                self.rules[name] = value
            case Sit(seat, person, name):
                self._set_chair(seat, Chair(person, name))
                self.asking.pop(seat, None)
            case Stand(seat):
                self._set_chair(seat, None)
            case Host(place):
                self.hosts = (*self.hosts, place)
            case Rehost(number, place):
                self.hosts = (*self.hosts[:number], place, *self.hosts[number + 1 :])
            case Clock(seconds, strict):
                self.clock, self.strict = seconds, strict
            case Invite(person, handle, name):
                self.invited = Invited(person, handle, name)
            case InviteMuted():
                self.invited = self.invited and self.invited._replace(is_notified=False)
            case Match(person, name):
                self.matched = (*self.matched, Chair(person, name))
            case PlayAgain(origin):
                self.rematch_origin = origin
            case Decline(number):
                self.declined = number
            case Ask(seat, person, name):
                self.asking[seat] = Chair(person, name)
            case Withdraw(seat):
                del self.asking[seat]
            case Refuse(seat):
                del self.asking[seat]
                ours, theirs = self.refusals
                self.refusals = (ours, theirs + 1) if seat & 1 else (ours + 1, theirs)
            case Day(day):
                self.day = day
            case Fixture():
                self.fixture = entry
            case Close(why):
                self.closed = why
            case _:
                assert_never(entry)

    def _apply_move(self, seat: int, move: str, number: int) -> None:
        assert self.game
        before = self.game.turn
        is_told = not move.startswith("play ") or self._is_card_known(seat, move)
        self.game.play(seat, move)
        self.moved_at = (*self.moved_at[:seat], number, *self.moved_at[seat + 1 :])
        if is_told or not (self.game.current and self.game.current.trick):
            self.board_changed_at = number
        if not self.is_move_made_for_player and self.lates[seat]:
            # Boards show that a robot has moved for this seat.
            self.board_changed_at = number
            self._set_lates(seat, 0)
        self.is_move_made_for_player = self.is_move_made_for_player and not is_turn_over(self.game, seat, move)
        if before == seat or self.game.turn != before:
            self.alarm = ""

    def _is_card_known(self, seat: int, move: str) -> bool:
        """Return whether the played card was known to be in that hand. Boards show such cards."""
        current = self.game.current if self.game else None
        return bool(current and current.has_shown(seat, move.split(" ")[1]))

    def _set_lates(self, seat: int, count: int) -> None:
        self.lates = (*self.lates[:seat], count, *self.lates[seat + 1 :])

    def _choose_game(self, game: str) -> None:
        """Choose a game, with its defaults. People keep their chairs."""
        self.game_id, self.rules = game, {}
        seats = game_kind(game).seats
        self.chairs = (*self.chairs, *(None,) * seats)[:seats]
        self.moved_at = self.lates = self.phrase_counts = (0,) * seats
        self.phrases = (("", 0),) * seats
        self.asking, self.refusals = {}, (0, 0)

    def _set_chair(self, seat: int, chair: Chair | None) -> None:
        self.chairs = (*self.chairs[:seat], chair, *self.chairs[seat + 1 :])

    def _deal(self, secret: bytes, number: int) -> None:
        assert self.game
        self.game.deal(secret)
        self.secret = secret if self.day else b""
        self.dealt_at = number
        self.phrase_counts = (0,) * len(self.chairs)
        self.alarm = ""

    def _begin(self, release: int, rules: Mapping[str, Value]) -> None:
        """Begin the game with the release and options of the log. Later defaults do not count."""
        assert self.game is None
        kind = game_kind(self.game_id).rules
        resolve(kind, rules)
        if missing := kind.choices().keys() - rules.keys():
            raise BadRules(problem=f"the rules do not say: {', '.join(sorted(missing))}")
        self.rules = dict(rules)
        names = [chair.name if chair else "?" for chair in self.chairs]
        self.game = Game(self.game_id, self.rules, names, release=release)


def is_turn_over(game: Game, seat: int, move: str) -> bool:
    """Return whether this move ends a seat's turn. Declarations, pick-ups and draws before it are part of the turn."""
    return move.startswith("play ") or game.turn != seat


@lru_cache(maxsize=10_000)
def _is_one_person_with_robots(chairs: tuple[Chair | None, ...]) -> bool:
    return all(chairs) and sum(1 for chair in chairs if chair and not chair.is_robot) == 1
