"""A table as its log tells it.

A table is a pure function of its log (`bot.store.log`): there is no other state to drift from it. The entries:

| entry | meaning |
|---|---|
| ``open <game> <person> <name>`` | a table was opened by this person |
| ``game <id>`` | another game was chosen, at its default options |
| ``rule <name> <value>`` | an option was set |
| ``sit <seat> <person> <name>`` | somebody took a chair |
| ``stand <seat>`` | and gave it back |
| ``host <place>`` | a board stands in this chat |
| ``rehost <number> <place>`` | the chat of that number, from 0, is called so from now on |
| ``clock <seconds> <manner>`` | a move may take so long, 0 is no clock; ``lax`` or ``strict`` |
| ``invite <person> <handle> <name>`` | somebody was challenged by name; ``-`` is what is not known |
| ``ask <seat> <person> <name>`` | somebody asks for the chair opposite the first at a side |
| ``withdraw <seat>`` | and does so no more |
| ``refuse <seat>`` | and is refused; accepted, there is a ``sit`` |
| ``close <why>`` | no game came of it: ``cancelled``, ``declined`` or ``expired`` |
| ``deal <secret>`` | a deal began, by its secret in hex |
| ``deal <secret> <release> <name=value> …`` | the first one, which begins the game: by which rules, with every option |
| ``<seat> <move>`` | a move, in the notation of docs/records.md |
| ``late <seat>`` | the move that follows was made for the player, whose time was up |
| ``nudge``, ``flag``, ``wait`` | half of a move's time is gone; all of it; the others give more |
| ``redacted`` | the entries before this one name somebody in place of a person who was forgotten |
| ``stop <ending> <side>`` | the game was ended from outside; ``-`` is no side |

A person is ``platform:id``, a robot ``robot:level``; a handle is one of the opener's platform; a name is the last field
and may hold spaces.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar, Self

from bot.platform import platform_of
from bot.somebody import NAME, spoken
from bot.store.log import Log, stamped, unstamped
from bot.tables.chairs import Chair, Invited
from engine import Game, game_kind
from engine.errors import BadRules
from engine.rules import RELEASE, Rules, Value, parse, spelled

TIME_TO_ACCEPT = 24 * 3600
"""Seconds that a challenge stands."""

CLOCKS = (0, 60, 300, 1800, 86400)
"""Seconds that a move may take, as a table may choose; 0 is no clock."""

USUAL_CLOCK = 300
REFUSALS = 3
"""How often the first at a side may refuse who asks for the chair opposite (docs/rules.md, tavolo)."""


def deal_entry(secret: bytes, rules: Rules | None = None) -> str:
    """The entry of a deal; that of a game's first says by which rules it is played."""
    deal = f"deal {secret.hex()}"
    return f"{deal} {RELEASE} {spelled(rules)}" if rules else deal


class Table:
    """A table at one version. It does not change: `after` makes the next one.

    ``chairs`` are by seat, None where nobody sits. ``game`` is None before the first deal; do not play on it.
    ``moved_at`` is the version after each seat's last move, ``dealt_at`` that after the running deal began,
    ``told_at`` that after the last thing that boards tell: all but a card of a trick under way
    that nobody knew of.
    ``asking`` are those who ask for a chair, by seat, ``refusals`` how often each side's first has refused.
    ``clock`` is the seconds that a move may take; ``alarm`` is "", "nudged" or "flagged", how much of it is gone;
    ``lates`` counts the moves in a row that were made for a seat. ``closed`` is why no game came of it.
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
        self.moved_at: tuple[int, ...] = ()
        self.dealt_at = 0
        self.told_at = 0
        self.hosts: tuple[str, ...] = ()
        self.invited: Invited | None = None
        self.asking: dict[int, Chair] = {}
        self.refusals = (0, 0)
        self.clock = USUAL_CLOCK
        self.strict = False
        self.alarm = ""
        self.lates: tuple[int, ...] = ()
        self.made_for = False
        self.closed = ""
        self.error = ""

    @classmethod
    def from_log(cls, code: str, log: Log, known: Self | None = None) -> Self:
        """The table that a log tells of; as far as it can be read, with a `error` where it cannot.

        ``known`` is the table as it was once, perhaps: where the log begins like its, only the rest is read.
        """
        begun = known if known and log.begins_like(known.log) else cls(code)
        table = begun.caught_up(log.entries[begun.version :])
        # Of what is known another update may be the cause.
        table.log = Log([]).after(log.entries)
        return table

    @classmethod
    def unreadable(cls, code: str, why: str) -> Self:
        """A table of whose log nothing can be read."""
        table = cls(code)
        table.error, table.log = why, Log([b""])
        return table

    def after(self, entries: Sequence[str], update: str) -> Self:
        """The table once this update has added entries to its log; raises what is wrong with them."""
        if not entries:
            return self
        new = self._copy()
        new._read_on(entries)
        new.log = self.log.after([stamped(text, update) for text in entries])
        return new

    def caught_up(self, entries: Sequence[bytes]) -> Self:
        """The table with entries that others have added, read as `of` reads them."""
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
        return self.log.version

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
        return "over" if self.game.over else "playing"

    @property
    def is_full(self) -> bool:
        return all(self.chairs)

    @property
    def is_rated(self) -> bool:
        """Whether people alone play: games with a robot are not rated."""
        return not any(chair.is_robot for chair in self.chairs if chair)

    @property
    def is_practice(self) -> bool:
        """Whether one person plays, against robots alone."""
        return sum(1 for chair in self.chairs if chair and not chair.is_robot) == 1 and self.is_full

    @property
    def to_move(self) -> Chair | None:
        """Who sits where the turn is."""
        turn = self.game.turn if self.game else None
        return None if turn is None else self.chairs[turn]

    def ruler_of(self, seat: int) -> int | None:
        """The seat whose player says who may take this one: at a `tavolo` the chair opposite, if a person has it."""
        if self.game_id != "tavolo":
            return None
        opposite = (seat + 2) % 4
        chair = self.chairs[opposite]
        return opposite if chair and not chair.is_robot and self.refusals[seat & 1] < REFUSALS else None

    def invites(self, person: str, handle: str) -> bool:
        """Whether this person was challenged by name; a handle is one of the platform on which the table was opened."""
        if self.invited is None or self.invited.person:
            return self.invited is not None and self.invited.person == person
        same_platform = platform_of(person) == platform_of(self.opener.person)
        return same_platform and self.invited.handle.lower() == handle.lower() != ""

    @property
    def people(self) -> set[str]:
        """Who sits at the table or asks for a chair there."""
        return {chair.person for chair in (*self.chairs, *self.asking.values()) if chair}

    def seat_of(self, person: str) -> int | None:
        """Where a person sits, if at all."""
        return next((seat for seat, chair in enumerate(self.chairs) if chair and chair.person == person), None)

    def standing(self, seat: int) -> list[str]:
        """The entries by which a chair is given back, before the game begins."""
        # Who asks this player for the chair opposite need not ask any more.
        opposite = (seat + 2) % len(self.chairs)
        asking = self.asking.get(opposite) if self.game_id == "tavolo" else None
        sitting = [f"sit {opposite} {asking.person} {asking.name}"] if asking else []
        return [f"stand {seat}", *sitting]

    def spoken(self, language: str) -> Self:
        """The table as it is drawn in a language: somebody who has been forgotten is called so in that."""
        if self.opener.name != NAME and not any(chair and chair.name == NAME for chair in self.chairs):
            return self
        new: Self = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.opener = self.opener.spoken(language)
        new.chairs = tuple(chair and chair.spoken(language) for chair in self.chairs)
        new.asking = {seat: chair.spoken(language) for seat, chair in self.asking.items()}
        new.invited = self.invited and self.invited._replace(name=spoken(self.invited.name, language))
        return new

    def is_old(self, seat: int, version: int) -> bool:
        """Whether a panel of this version shows a seat a decision that is no longer open.

        What others do out of turn does not make a panel old; the seat's own move does, and a new deal.
        """
        return not max(self.moved_at[seat], self.dealt_at) <= version <= self.version

    def _read_stored(self, entries: Sequence[bytes]) -> None:
        """Read entries that stand in the store; what the rules refuse is the table's fault, and nobody else's."""
        log = self.log.after(entries)
        if not self.error:
            try:
                self._read_on([unstamped(entry).decode() for entry in entries])
            except Exception as error:  # noqa: BLE001  whatever a log may hold: another release wrote it
                # Without the error's words, which may name a card.
                self.error = f"entry {self.version + 1} or one after it: {type(error).__name__}"
        self.log = log

    def _read_on(self, entries: Sequence[str]) -> None:
        for number, entry in enumerate(entries, self.version + 1):
            word, _, rest = entry.partition(" ")
            if word.isdigit():
                self._move(int(word), rest, number)
            else:
                self._READ[word](self, rest, number)
                self.told_at = number

    def _move(self, seat: int, move: str, number: int) -> None:
        assert self.game
        before = self.game.turn
        is_told = not move.startswith("play ") or self._has_shown(seat, move)
        self.game.play(seat, move)
        self.moved_at = (*self.moved_at[:seat], number, *self.moved_at[seat + 1 :])
        if is_told or not (self.game.current and self.game.current.trick):
            self.told_at = number
        if not self.made_for:
            self._count_late(seat, 0)
        self.made_for = False
        if before == seat or self.game.turn != before:
            self.alarm = ""

    def _has_shown(self, seat: int, move: str) -> bool:
        """Whether a card that is played was known to be in that hand, which boards tell."""
        current = self.game.current if self.game else None
        return bool(current and current.has_shown(seat, move.split(" ")[1]))

    def _count_late(self, seat: int, count: int) -> None:
        self.lates = (*self.lates[:seat], count, *self.lates[seat + 1 :])

    def _read_open(self, rest: str, number: int) -> None:
        game, person, name = rest.split(" ", 2)
        self.opener = Chair(person, name)
        self._read_game(game, number)

    def _read_game(self, game: str, _number: int) -> None:
        self.game_id, self.rules = game, {}
        seats = game_kind(game).seats
        self.chairs = (*self.chairs, *(None,) * seats)[:seats]
        self.moved_at = self.lates = (0,) * seats
        self.asking, self.refusals = {}, (0, 0)

    def _read_rule(self, rest: str, _number: int) -> None:
        name, value = rest.split(" ")
        self.rules |= parse(game_kind(self.game_id).rules, [f"{name}={value}"])

    def _read_sit(self, rest: str, _number: int) -> None:
        seat, person, name = rest.split(" ", 2)
        self._seat(int(seat), Chair(person, name))
        self.asking.pop(int(seat), None)

    def _read_stand(self, rest: str, _number: int) -> None:
        self._seat(int(rest), None)

    def _seat(self, seat: int, chair: Chair | None) -> None:
        self.chairs = (*self.chairs[:seat], chair, *self.chairs[seat + 1 :])

    def _read_host(self, rest: str, _number: int) -> None:
        self.hosts = (*self.hosts, rest)

    def _read_rehost(self, rest: str, _number: int) -> None:
        number, place = rest.split(" ")
        self.hosts = (*self.hosts[: int(number)], place, *self.hosts[int(number) + 1 :])

    def _read_clock(self, rest: str, _number: int) -> None:
        seconds, manner = rest.split(" ")
        self.clock, self.strict = int(seconds), manner == "strict"

    def _read_invite(self, rest: str, _number: int) -> None:
        person, handle, name = rest.split(" ", 2)
        self.invited = Invited("" if person == "-" else person, "" if handle == "-" else handle, name)

    def _read_ask(self, rest: str, _number: int) -> None:
        seat, person, name = rest.split(" ", 2)
        self.asking[int(seat)] = Chair(person, name)

    def _read_withdraw(self, rest: str, _number: int) -> None:
        del self.asking[int(rest)]

    def _read_redacted(self, _rest: str, _number: int) -> None:
        """Nothing but the log's version changes."""

    def _read_refuse(self, rest: str, _number: int) -> None:
        seat = int(rest)
        del self.asking[seat]
        ours, theirs = self.refusals
        self.refusals = (ours, theirs + 1) if seat & 1 else (ours + 1, theirs)

    def _read_close(self, rest: str, _number: int) -> None:
        self.closed = rest

    def _read_late(self, rest: str, _number: int) -> None:
        seat = int(rest)
        self._count_late(seat, self.lates[seat] + 1)
        self.made_for = True

    def _read_nudge(self, _rest: str, _number: int) -> None:
        self.alarm = "nudged"

    def _read_flag(self, _rest: str, _number: int) -> None:
        self.alarm = "flagged"

    def _read_wait(self, _rest: str, _number: int) -> None:
        self.alarm = ""

    def _read_deal(self, rest: str, number: int) -> None:
        secret, _, rules = rest.partition(" ")
        if self.game is None:
            self._read_rules(rules)
            names = [chair.name if chair else "?" for chair in self.chairs]
            self.game = Game(self.game_id, self.rules, names)
        self.game.deal(bytes.fromhex(secret))
        self.dealt_at = number
        self.alarm = ""

    def _read_rules(self, rest: str) -> None:
        """The rules that the game is played by: all of them are named, so that no default of today counts."""
        release, *words = rest.split(" ")
        kind = game_kind(self.game_id).rules
        if int(release) != RELEASE:
            raise BadRules(problem=f"the game is played by release {int(release)} of the rules, and this is {RELEASE}")
        rules = parse(kind, words)
        if missing := kind.choices().keys() - rules.keys():
            raise BadRules(problem=f"the rules do not say: {', '.join(sorted(missing))}")
        self.rules = rules

    def _read_stop(self, rest: str, _number: int) -> None:
        assert self.game
        ending, side = rest.split(" ")
        self.game.stop("timeout" if ending == "timeout" else "cancelled", None if side == "-" else int(side))

    _READ: ClassVar[dict[str, Callable[["Table", str, int], None]]] = {
        "open": _read_open,
        "game": _read_game,
        "rule": _read_rule,
        "sit": _read_sit,
        "stand": _read_stand,
        "host": _read_host,
        "rehost": _read_rehost,
        "clock": _read_clock,
        "invite": _read_invite,
        "ask": _read_ask,
        "withdraw": _read_withdraw,
        "redacted": _read_redacted,
        "refuse": _read_refuse,
        "close": _read_close,
        "late": _read_late,
        "nudge": _read_nudge,
        "flag": _read_flag,
        "wait": _read_wait,
        "deal": _read_deal,
        "stop": _read_stop,
    }
