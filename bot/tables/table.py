"""A table as its log tells it.

A table is a pure function of its log (`bot.store.log`): there is no other state to drift from it. The entries stand in
`bot.store.entries`; what each of them changes stands here.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import Literal, Self, assert_never

from bot.guests import is_web_guest
from bot.platform import is_private, is_same_place, platform_of
from bot.pseudonyms import is_given_name, localize_name
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
from engine.rules import Value, resolve

TIME_TO_ACCEPT = 24 * 3600
"""Seconds that a challenge stands."""

TIME_TO_BE_READY = 60
"""Seconds that people who were matched have to say that they are ready."""

TIME_FOR_GUESTS = 24 * 3600
"""Seconds of playing time after which a game ends that only guests of the web pages could go on with."""

TIME_TO_COME_BACK = 30 * 24 * 3600
"""Seconds without a move after which a table ends where robots alone wait for one person."""

CLOCKS = (0, 60, 300, 1800, 86400)
"""Seconds that a move may take, as a table may choose; 0 is no clock."""

DEFAULT_CLOCK = 300
PHRASES = ("hello", "luck", "played", "thanks", "sorry", "game")
"""What strangers may say to each other: words of a log, which each reader reads in their own language."""

FAREWELLS = ("game", "thanks")
"""Those that they may say when the game is over: each of them one."""

PHRASES_PER_DEAL = 3
"""How often each may say something in a deal."""

REFUSALS = 3
"""How often the first at a side may refuse who asks for the chair opposite (docs/rules.md, tavolo)."""


class Table:
    """A table at one version. It does not change: `after` makes the next one.

    ``chairs`` are by seat, None where nobody sits. ``game`` is None before the first deal; do not play on it.
    ``terms_at`` is the version after game, options or clock were chosen last.
    ``moved_at`` is the version after each seat's last move, ``dealt_at`` that after the running deal began,
    ``told_at`` that after the last thing that boards tell: all but a card of a trick under way
    that nobody knew of.
    ``matched`` are the people who are asked whether they are ready, at a table that was opened for them alone, and
    ``declined`` is which of them does not want to play, from 0. ``again`` is where what they play again was opened,
    "page" or "chat"; empty for strangers.
    ``asking`` are those who ask for a chair, by seat, ``refusals`` how often each side's first has refused.
    ``clock`` is the seconds that a move may take; ``alarm`` is "", "nudged" or "flagged", how much of it is gone;
    ``lates`` counts the moves in a row that were made for a seat, ``timed_out`` is the one that lost by time.
    ``closed`` is why no game came of it.
    ``said`` is by seat the phrase that was said there last, with the version after it, and ``said_in_deal`` how many
    in the running deal.
    ``day`` is the day whose deal it is, None at any other table; ``secret`` is then that of the cards on the table.
    ``fixture`` is what it is played for in a tournament, None at any other table.
    ``error`` is what of the log cannot be read, empty if all can: then the table stands as it was before.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        self.log = Log([])
        self.game_id = ""
        self.rules: dict[str, Value] = {}
        self.opener = Chair("", "")
        self.chairs: tuple[Chair | None, ...] = ()
        self.game: Game | None = None
        self.terms_at = 0
        self.moved_at: tuple[int, ...] = ()
        self.dealt_at = 0
        self.board_changed_at = 0
        self.hosts: tuple[str, ...] = ()
        self.invited: Invited | None = None
        self.matched: tuple[Chair, ...] = ()
        self.rematch_origin: Literal["", "page", "chat"] = ""
        self.declined: int | None = None
        self.asking: dict[int, Chair] = {}
        self.refusals = (0, 0)
        self.clock = DEFAULT_CLOCK
        self.strict = False
        self.alarm = ""
        self.lates: tuple[int, ...] = ()
        self.timed_out: int | None = None
        self.phrases: tuple[tuple[str, int], ...] = ()
        self.phrase_counts: tuple[int, ...] = ()
        self.is_move_made_for_player = False
        self.closed = ""
        self.day: date | None = None
        self.fixture: Fixture | None = None
        self.secret = b""
        self.error = ""

    @classmethod
    def from_log(cls, code: str, log: Log, known: Self | None = None) -> Self:
        """The table that a log tells of; as far as it can be read, with a `error` where it cannot.

        ``known`` is the table as it was once, perhaps: where the log begins like its, only the rest is read.
        """
        begun = known if known and log.starts_with(known.log) else cls(code)
        table = begun.with_stored_entries(log.entries[begun.version :])
        # Of what is known another update may be the cause.
        table.log = Log([]).with_entries(log.entries)
        return table

    @classmethod
    def unreadable(cls, code: str, why: str) -> Self:
        """A table of whose log nothing can be read."""
        table = cls(code)
        table.error, table.log = why, Log([b""])
        return table

    def with_entries(self, entries: Sequence[Entry], update: str) -> Self:
        """The table once this update has added entries to its log; raises what is wrong with them."""
        if not entries:
            return self
        new = self._copy()
        new._apply_all(entries)
        new.log = self.log.with_entries([add_stamp(encode(entry), update) for entry in entries])
        return new

    def with_stored_entries(self, entries: Sequence[bytes]) -> Self:
        """The table with entries that others have added, read as `from_log` reads them."""
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
        """ "open" while chairs are being taken, "closed" when no game came of it, "playing", "over" or "unreadable"."""
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
        """Whether one person plays, against robots alone."""
        return _is_one_person_with_robots(self.chairs)

    @property
    def is_of_guests(self) -> bool:
        """Whether only guests of the web pages sit here, perhaps with robots."""
        people = [chair.person for chair in self.chairs if chair and not chair.is_robot]
        return bool(people) and all(map(is_web_guest, people))

    @property
    def feature(self) -> str:
        """The name of the feature that opened the table; empty if players opened it themselves."""
        if self.day:
            return "daily"
        if self.fixture:
            return "tournaments"
        return "find" if self.matched else ""

    @property
    def had_challenge(self) -> bool:
        """Whether people sat down on a challenge card."""
        return self.day is None and self.fixture is None

    @property
    def are_strangers(self) -> bool:
        """Whether its people were found for each other by /find, or play such a game again."""
        return bool(self.matched) and not self.rematch_origin

    @property
    def origin(self) -> Literal["", "page", "chat"]:
        """Where it was opened, or what is played again here: "page" or "chat", a private one; empty where a group sees
        it, and for strangers.
        """
        if self.matched or self.fixture or not all(map(is_private, self.hosts)):
            return self.rematch_origin
        return "chat" if self.hosts else "page"

    @property
    def is_duplicate(self) -> bool:
        """Whether others have the same cards elsewhere: then it is one deal, and nothing of it is told before all have
        played it.
        """
        return self.day is not None or (self.fixture is not None and self.fixture.is_duplicate)

    def view(self, seat: int | None) -> View | None:
        """What a seat, or the public, may see and do; None before there is a game.

        Nobody may claim a duplicate: it is compared with others', and what is not played of it would count for nobody.
        """
        view = self.game.view(seat) if self.game else None
        return view.without_claims() if view and self.is_duplicate else view

    @property
    def to_move(self) -> Chair | None:
        """Who sits where the turn is."""
        turn = self.game.turn if self.game else None
        return None if turn is None else self.chairs[turn]

    def ruler_of(self, seat: int) -> int | None:
        """The seat whose player says who may take this one: the chair opposite, if a person has it."""
        # Nobody decides about strangers who were asked for all chairs.
        if not game_kind(self.game_id).asks_partner or self.matched:
            return None
        opposite = (seat + 2) % 4
        chair = self.chairs[opposite]
        return opposite if chair and not chair.is_robot and self.refusals[seat & 1] < REFUSALS else None

    def invites(self, person: str, handle: str) -> bool:
        """Whether this person was matched for this table, or challenged by name; a handle is one of the platform on
        which the table was opened.
        """
        if any(one.person == person for one in self.matched):
            return True
        if self.invited is None or self.invited.person:
            return self.invited is not None and self.invited.person == person
        same_platform = platform_of(person) == platform_of(self.opener.person)
        return same_platform and self.invited.handle.lower() == handle.lower() != ""

    def matched_seat(self, person: str) -> int | None:
        """The chair that stands there for somebody who was matched for this table: by their number among those, robots'
        chairs left out.
        """
        seats = (seat for seat, chair in enumerate(self.chairs) if not (chair and chair.is_robot))
        return next((seat for seat, one in zip(seats, self.matched, strict=False) if one.person == person), None)

    @property
    def people(self) -> set[str]:
        """Who sits at the table or asks for a chair there."""
        return {chair.person for chair in (*self.chairs, *self.asking.values()) if chair}

    def seat_of(self, person: str) -> int | None:
        """Where a person sits, if at all."""
        return next((seat for seat, chair in enumerate(self.chairs) if chair and chair.person == person), None)

    def is_shown_at(self, place: str) -> bool:
        """Whether it has a board or card there."""
        return any(is_same_place(place, host) for host in self.hosts)

    def stand_entries(self, seat: int) -> list[Entry]:
        """The entries by which a chair is given back, before the game begins."""
        # Who asks this player for the chair opposite need not ask any more.
        opposite = (seat + 2) % len(self.chairs)
        asking = self.asking.get(opposite) if game_kind(self.game_id).asks_partner else None
        sitting = [Sit(opposite, asking.person, asking.name)] if asking else []
        return [Stand(seat), *sitting]

    def localize(self, language: str) -> Self:
        """The table as it is drawn in a language: names that we have given are in that."""
        named = (self.opener, self.invited, *self.chairs, *self.asking.values())
        if not any(is_given_name(one.name) for one in named if one):
            return self
        new: Self = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.opener = self.opener.localize(language)
        new.chairs = tuple(chair and chair.localize(language) for chair in self.chairs)
        new.asking = {seat: chair.localize(language) for seat, chair in self.asking.items()}
        new.invited = self.invited and self.invited._replace(name=localize_name(self.invited.name, language))
        return new

    def phrases_shown_to(self, seat: int) -> list[tuple[int, str]]:
        """What the others have said that a seat is shown, with who said it: while the deal lasts, and until its next
        move.
        """
        since = min(self.moved_at[seat], self.dealt_at)
        return [
            (other, phrase)
            for other, (phrase, at) in enumerate(self.phrases)
            if other != seat and phrase in PHRASES and at > since
        ]

    def oldest_panel(self, seat: int) -> int:
        """The version of the oldest panel of a seat that is still good: it has decided nothing since, in this deal."""
        return max(self.moved_at[seat], self.dealt_at)

    def is_old(self, seat: int, version: int) -> bool:
        """Whether a panel of this version shows a seat a decision that is no longer open.

        What others do out of turn does not make a panel old; the seat's own move does, and a new deal.
        """
        return not self.oldest_panel(seat) <= version <= self.version

    def _read_stored(self, entries: Sequence[bytes]) -> None:
        """Read entries that stand in the store; what the rules refuse is the table's fault, and nobody else's."""
        log = self.log.with_entries(entries)
        if not self.error:
            try:
                self._apply_all(decode(strip_stamp(entry).decode()) for entry in entries)
            except Exception as error:  # noqa: BLE001  whatever a log may hold: another release wrote it
                # Without the error's words, which may name a card.
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
                """Nothing but the log's version changes."""
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
            # Boards tell for whom a robot has moved.
            self.board_changed_at = number
            self._set_lates(seat, 0)
        self.is_move_made_for_player = self.is_move_made_for_player and not is_turn_over(self.game, seat, move)
        if before == seat or self.game.turn != before:
            self.alarm = ""

    def _is_card_known(self, seat: int, move: str) -> bool:
        """Whether a card that is played was known to be in that hand, which boards tell."""
        current = self.game.current if self.game else None
        return bool(current and current.has_shown(seat, move.split(" ")[1]))

    def _set_lates(self, seat: int, count: int) -> None:
        self.lates = (*self.lates[:seat], count, *self.lates[seat + 1 :])

    def _choose_game(self, game: str) -> None:
        """A game, at its defaults; who sits keeps their chair."""
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
        """Begin the game by the release and the options that the log names. Later defaults do not count."""
        assert self.game is None
        kind = game_kind(self.game_id).rules
        resolve(kind, rules)
        if missing := kind.choices().keys() - rules.keys():
            raise BadRules(problem=f"the rules do not say: {', '.join(sorted(missing))}")
        self.rules = dict(rules)
        names = [chair.name if chair else "?" for chair in self.chairs]
        self.game = Game(self.game_id, self.rules, names, release=release)


def is_turn_over(game: Game, seat: int, move: str) -> bool:
    """Whether a seat is done by this move, once made. What it declares, picks up or takes before belongs to it."""
    return move.startswith("play ") or game.turn != seat


@lru_cache(maxsize=10_000)
def _is_one_person_with_robots(chairs: tuple[Chair | None, ...]) -> bool:
    """Whether one person sits there, and robots in all other chairs."""
    return all(chairs) and sum(1 for chair in chairs if chair and not chair.is_robot) == 1
