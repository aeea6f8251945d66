"""A table, read from its log.

A table is a pure function of its log (`bot.store.log`), so no other state can disagree with it. `bot.store.entries`
defines the entries; this module defines what each entry changes.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Self, TypeVar, assert_never

from bot.identity.programs import is_program
from bot.identity.pseudonyms import is_name_from_bot, localize_name
from bot.store.entries import (
    AnyoneCanSit,
    Ask,
    ChangeGame,
    Clock,
    Close,
    CutOption,
    CutPack,
    Day,
    Deal,
    Decline,
    Duel,
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
    Redacted,
    Refuse,
    Rehost,
    Rule,
    Say,
    SayTo,
    Seal,
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
from bot.tables.cutting import find_cutter, possible_cutters
from bot.tables.table_state import EVERY_SEAT, TableState
from engine import Game, game_kind
from engine.errors import BadDeal, BadRules
from engine.options import Value, resolve
from engine.shuffle import Cut

T = TypeVar("T")


class Table(TableState):
    """A table at one version. It does not change: `with_entries` returns the next version."""

    @classmethod
    def from_log(cls, code: str, log: Log, earlier: Self | None = None) -> Self:
        """Read a log as far as possible; ``error`` describes the first failure.

        ``earlier`` is an earlier version of the table, if available. Only the entries after its log are then read.
        """
        base = earlier if earlier and log.starts_with(earlier.log) else cls(code)
        table = base.with_stored_entries(log.entries[base.version :])
        # Take all stamps from this log: those of ``earlier`` can differ.
        table.log = Log([]).with_entries(log.entries)
        return table

    @classmethod
    def unreadable(cls, code: str, reason: str) -> Self:
        table = cls(code)
        table.error, table.log = reason, Log([b""])
        return table

    def with_entries(self, entries: Sequence[Entry], update: str) -> Self:
        """Return the table after an update that adds entries to its log.

        Raise the engine's error if an entry is not allowed.
        """
        if not entries:
            return self
        new_table = self._copy()
        for version, entry in enumerate(entries, self.version + 1):
            new_table.apply(entry, version)
        new_table.log = self.log.with_entries([add_stamp(encode(entry), update) for entry in entries])
        return new_table

    def with_stored_entries(self, entries: Sequence[bytes]) -> Self:
        """Return the table with entries of other workers. If the rules refuse one, ``error`` says so."""
        new_table = self._copy()
        new_table.log = self.log.with_entries(entries)
        if not self.error:
            try:
                for version, entry in enumerate(entries, self.version + 1):
                    new_table.apply(decode(strip_stamp(entry).decode()), version)
            except Exception as error:  # noqa: BLE001  another release might have written anything
                # The error's text is left out because it can name a card.
                new_table.error = f"entry {self.version + 1} or one after it: {type(error).__name__}"
        return new_table

    def _copy(self) -> Self:
        new_table = copy(self)
        new_table.rules, new_table.asking = dict(self.rules), dict(self.asking)
        new_table.game = self.game.copy() if self.game else None
        return new_table

    def localize(self, language: str) -> Self:
        """Return the table for drawing. Names that the bot gave to people are translated into this language."""
        people = (self.opener, self.invited, *self.chairs, *self.asking.values())
        if not any(is_name_from_bot(chair.name) for chair in people if chair):
            return self
        new_table = copy(self)
        new_table.opener = self.opener.localize(language)
        new_table.chairs = tuple(chair and chair.localize(language) for chair in self.chairs)
        new_table.asking = {seat: chair.localize(language) for seat, chair in self.asking.items()}
        new_table.invited = self.invited and self.invited._replace(name=localize_name(self.invited.name, language))
        return new_table

    def apply(self, entry: Entry, version: int) -> None:
        """Apply an entry, after which the table has this version."""
        if isinstance(entry, Move):
            self._apply_move(entry.seat, entry.move, version)
            return
        match entry:
            case Seal() | CutPack() | FirstDeal() | Deal():
                self._apply_dealing(entry, version)
            case Late(seat):
                self.late_counts = _with_item(self.late_counts, seat, self.late_counts[seat] + 1)
                self.is_move_made_for_player = True
            case Nudge():
                self.alarm = "nudged"
            case Flag():
                self.alarm = "flagged"
            case Wait():
                self.alarm = ""
            case Say(seat, phrase):
                readers = entry.readers if isinstance(entry, SayTo) else EVERY_SEAT
                self.phrases = _with_item(self.phrases, seat, (phrase, version, readers))
                self.phrase_counts = _with_item(self.phrase_counts, seat, self.phrase_counts[seat] + 1)
            case Redacted():
                pass  # only the log's version changes
            case Stop(ending, side):
                assert self.game
                if ending == "timeout":
                    self.timed_out = self.game.turn
                self.game.stop(ending, side)
            case _:
                self._apply_setup(entry)
                if isinstance(entry, Open | ChangeGame | Rule | Clock | CutOption):
                    self.terms_at = version
        if not isinstance(entry, Say):
            self.board_changed_at = version

    def _apply_dealing(self, entry: Seal | CutPack | FirstDeal | Deal, version: int) -> None:
        match entry:
            case Seal(secret):
                self.sealed, self.sealed_at, self.cutter = secret, version, find_cutter(self, secret)
            case CutPack(seat, text):
                if not self.awaits_cut or self.cut or seat not in possible_cutters(self, self.sealed):
                    raise BadDeal(problem=f"seat {seat} cannot cut now")
                self.cut = Cut(text, seat)
            case FirstDeal(secret, release, rules):
                self._begin(release, rules)
                self._deal(secret, version)
            case Deal(secret):
                self._deal(secret, version)

    def _apply_setup(self, entry: Setup) -> None:
        match entry:
            case Open(game, person, name):
                self.opener = Chair(person, name)
                self._choose_game(game)
            case ChangeGame(game):
                self._choose_game(game)
            case Rule() | Clock() | CutOption() | AnyoneCanSit():
                self._apply_option(entry)
            case Sit(seat, person, name):
                self.chairs = _with_item(self.chairs, seat, Chair(person, name))
                self.asking.pop(seat, None)
                is_opener = person == self.opener.person and not self.matched
                self.was_opened_full = all(self.chairs) if is_opener else self.was_opened_full
            case Stand(seat):
                self.chairs = _with_item(self.chairs, seat, None)
                self.sealed = b""
            case Host(place):
                self.hosts = (*self.hosts, place)
            case Rehost(number, place):
                self.hosts = _with_item(self.hosts, number, place)
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
                self.refusals = _with_item(self.refusals, seat & 1, self.refusals[seat & 1] + 1)
            case Day(day):
                self.day = day
            case Duel():
                self.duel = entry
            case Fixture():
                self.fixture = entry
            case Close(reason):
                self.closed = reason
            case _:
                assert_never(entry)

    def _apply_option(self, entry: Rule | Clock | CutOption | AnyoneCanSit) -> None:
        match entry:
            case Rule(name, value):
                resolve(game_kind(self.game_id).rules, {name: value})
                self.rules[name] = value
            case Clock(seconds, strict):
                self.clock, self.strict = seconds, strict
            case CutOption(is_on):
                self.has_cuts = is_on
            case AnyoneCanSit():
                self.was_listed = True

    def _apply_move(self, seat: int, move: str, version: int) -> None:
        assert self.game
        turn, current = self.game.turn, self.game.current
        # Boards show a card within a trick only if it was known to be in that hand.
        is_public = not move.startswith("play ") or bool(current and current.has_shown(seat, move.split(" ")[1]))
        self.game.play(seat, move)
        self.moved_at = _with_item(self.moved_at, seat, version)
        if is_public or not (self.game.current and self.game.current.trick):
            self.board_changed_at = version
        if not self.is_move_made_for_player and self.late_counts[seat]:
            # Boards show that a robot has moved for this seat.
            self.board_changed_at = version
            self.late_counts = _with_item(self.late_counts, seat, 0)
        self.is_move_made_for_player = self.is_move_made_for_player and not is_turn_over(self.game, seat, move)
        if turn == seat or self.game.turn != turn:
            self.alarm = ""

    def _choose_game(self, game: str) -> None:
        """Choose a game, with its defaults. People keep their chairs."""
        self.game_id, self.rules = game, {}
        seats = game_kind(game).seats
        self.chairs = (*self.chairs, *(None,) * seats)[:seats]
        self.moved_at = self.late_counts = self.phrase_counts = (0,) * seats
        self.phrases = (("", 0, ""),) * seats
        self.asking, self.refusals = {}, (0, 0)

    def _deal(self, secret: bytes, version: int) -> None:
        assert self.game
        if self.sealed not in (b"", secret):
            raise BadDeal(problem="another secret was sealed")
        self.is_uncut = bool(self.sealed) and self.cut is None
        self.cut_by = self.cut.seat if self.cut else None
        seat = self.cutter
        if self.is_uncut and seat is not None and (chair := self.chairs[seat]) and is_program(chair.person):
            self.never_cut |= {seat}
        self.game.deal(secret, self.cut)
        self.sealed, self.cut, self.cutter = b"", None, None
        self.secret = secret if self.is_solo_deal else b""
        self.dealt_at = version
        self.phrase_counts = (0,) * len(self.chairs)
        self.alarm = ""

    def _begin(self, release: int, rules: Mapping[str, Value]) -> None:
        """Begin the game with the release and options of the log. Defaults that changed later do not apply."""
        assert self.game is None
        kind = game_kind(self.game_id).rules
        rules = kind.complete(rules)
        resolve(kind, rules)
        if missing_rules := kind.choices().keys() - rules.keys():
            raise BadRules(problem=f"the rules do not say: {', '.join(sorted(missing_rules))}")
        self.rules = rules
        names = [chair.name if chair else "?" for chair in self.chairs]
        self.game = Game(self.game_id, self.rules, names, release=release)


def is_turn_over(game: Game, seat: int, move: str) -> bool:
    """Return whether this move ends a seat's turn. Declarations, pick-ups and draws before it are part of the turn."""
    return move.startswith("play ") or game.turn != seat


def _with_item(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    return (*items[:index], item, *items[index + 1 :])
