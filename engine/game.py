"""A game: deals until a side has won."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Self

from . import errors, shuffle
from .deal import Carry, Deal, Score, unknown_move
from .errors import quote
from .games import game_kind
from .options import CLAIMS_NEED_A_LEAD, RELEASE, Spades, resolve
from .records import (
    DealRecord,
    Ending,
    Record,
    SpadesDealRecord,
    SpadesRecord,
    TressetteDealRecord,
    TressetteRecord,
    make_proof,
)
from .spades import SpadesDeal
from .views import DealView, LastTrick, Result, View

MoveEntry = tuple[int | None, str]  # a move as a record stores it: the seat (None for chance) and the text

ENDING_MOVES = frozenset({"resign", "claim"})
EXTERNAL_ENDINGS = ("timeout", "cancelled")
SEAT_NAMES = {2: ("South", "North"), 4: ("South", "East", "North", "West")}


@lru_cache(maxsize=4096)
def _shared_entry(seat: int | None, move: str) -> MoveEntry:
    """Return the same object for equal moves, which saves memory when many games are loaded."""
    return seat, move


class Game:
    """A game of one of the seven kinds, in progress or finished.

    >>> game = Game("metamazzo", {"target": 21}, seats=["Ada", "Bea"], dealer=0)
    >>> game.deal(bytes(32))
    >>> game.turn
    1
    >>> game.legal_moves(1)[:3]
    ['play 2D', 'play 6D', 'play 5D']
    >>> game.play(1, "play 6D")
    >>> game.view(None).deal.trick
    (ShownCard(seat=1, card='6D', signal=None),)

    A game has no clock and no source of chance. When `needs_deal` is true, the caller passes a secret of 32 random
    bytes to `deal`. ``dealer`` deals first; if it is None, the first secret decides. ``release`` is the release of the
    rules by which moves are judged: see `engine.options.RELEASE`. ``totals`` are each side's whole points, not
    multiplied by ``score_unit``. Seats 0 and 2 are side 0, seats 1 and 3 side 1.
    """

    def __init__(
        self,
        game: str,
        rules: Mapping[str, object] | None = None,
        seats: Sequence[str] | None = None,
        dealer: int | None = None,
        release: int = RELEASE,
    ) -> None:
        self.kind = game_kind(game)
        self.release = release
        self.rules = resolve(self.kind.rules, rules or {})
        self._rule_values = self.rules.model_dump()
        self.names = tuple(seats or SEAT_NAMES[self.kind.seats])
        if len(self.names) != self.kind.seats:
            raise errors.BadRules(problem=f"{game} has {self.kind.seats} seats, but {len(self.names)} names were given")
        if dealer is not None and dealer not in range(self.kind.seats):
            raise errors.BadRules(problem=f"there is no seat {dealer} to deal first")
        if release not in range(1, RELEASE + 1):
            raise errors.BadRules(
                problem=f"the game is played by release {release} of the rules; this version knows 1 to {RELEASE}"
            )
        self.totals = (0, 0)
        self.bags = (0, 0)
        self.ending: Ending | None = None
        self.winner: tuple[int, ...] | None = None
        self.current: Deal | None = None
        self.moves: list[MoveEntry] = []
        self._seats = tuple(range(self.kind.seats))
        self._ending_moves = ["claim", "resign"] if self.rules.allows_claims else ["resign"]
        self._dealer = dealer
        self._carry = Carry()
        self._past: list[DealRecord] = []
        self._pack: tuple[str, ...] = ()
        self._secret: bytes | None = None
        self._cut: shuffle.Cut | None = None
        self._commitment: str | None = None
        self._cached_fields: tuple[tuple[int, int], dict[str, Any]] = ((0, 0), {})
        self._playing: Deal | None = None
        self._score: Score | None = None
        self._last_trick: LastTrick | None = None
        self._cached_result: Result | None = None

    @property
    def turn(self) -> int | None:
        """The seat to move; None if the game needs a deal, waits for chance, or is over."""
        return self._playing.turn if self._playing else None

    @property
    def is_over(self) -> bool:
        return self.ending is not None

    @property
    def needs_deal(self) -> bool:
        """True if the game waits for the secret of its next deal."""
        return self._playing is None and not self.is_over

    @property
    def deal_number(self) -> int:
        """The number of the current deal, from 1; 0 before the first."""
        return len(self._past) + (self.current is not None)

    @property
    def first_commitment(self) -> str | None:
        """The commitment of the first deal's shuffle; None before that deal, or if it has no secret."""
        if self._past:
            return self._past[0].proof.commitment if self._past[0].proof else None
        return self._commitment

    @property
    def next_dealer(self) -> int | None:
        """The seat that deals next; None until the first dealer is decided."""
        if self._dealer is None:
            return None
        return (self._dealer + self.deal_number) % self.kind.seats

    def dealer_for(self, secret: bytes) -> int:
        """Return the seat that deals next, if ``secret`` is the secret of that deal."""
        dealer = self.next_dealer
        return shuffle.first_dealer(self.kind.seats, secret) if dealer is None else dealer

    def copy(self) -> Self:
        new_game: Self = object.__new__(type(self))
        new_game.__dict__.update(self.__dict__)
        new_game.moves, new_game._past = self.moves.copy(), self._past.copy()
        new_game.current = self.current.copy() if self.current else None
        new_game._playing = new_game.current if self._playing else None
        return new_game

    # Dealing

    def deal(self, secret: bytes, cut: shuffle.Cut | None = None) -> None:
        """Shuffle with a secret of 32 random bytes and deal.

        Raises BadDeal for a wrong secret or cut, or if no deal is needed.

        ``cut`` is what an opponent of the dealer (`dealer_for`) contributed after seeing the commitment.
        """
        if len(secret) != shuffle.SECRET_BYTES:
            raise errors.BadDeal(problem=f"a secret is {shuffle.SECRET_BYTES} bytes")
        if cut and not re.fullmatch(shuffle.CUT_PATTERN, cut.text):
            raise errors.BadDeal(problem="a cut is 1 to 64 characters of 0-9a-f")
        self._lay_out(shuffle.shuffle_pack(self.kind.pack, secret, cut), secret, cut)

    def lay_out(self, pack: Sequence[str], secret: bytes | None = None, cut: shuffle.Cut | None = None) -> None:
        """Deal a pack without shuffling, first card first.

        Raises BadDeal for a wrong pack or cut, if nobody is known to deal first, or if no deal is needed.

        A pack laid out without a secret has no proof in the record. Then the caller must also make the moves of chance,
        as moves of seat None.
        """
        if sorted(pack) != sorted(self.kind.pack.new):
            raise errors.BadDeal(problem=f"a pack of this game has {self.kind.pack.size} cards, each once")
        self._lay_out(tuple(pack), secret, cut)

    def _lay_out(self, pack: tuple[str, ...], secret: bytes | None, cut: shuffle.Cut | None) -> None:
        if not self.needs_deal:
            raise errors.BadDeal(problem="this game is over" if self.is_over else "the deal on the table is not over")
        if self._dealer is None and secret is None:
            raise errors.BadDeal(problem="say who deals first: pass dealer to Game, or a secret")
        dealer = self.dealer_for(secret or b"")
        if cut and (cut.seat not in self._seats or cut.seat & 1 == dealer & 1):
            raise errors.BadDeal(problem=f"seat {cut.seat} cannot cut: seat {dealer} deals, and an opponent cuts")
        if self._dealer is None:
            self._dealer = dealer
        if self.current:
            self._carry = Carry(self.current.leader, self.bags)
            self._past.append(self._deal_record(self.current))
        index = self.kind.pack.index
        cards = [index[code] for code in pack]
        self.current = self._playing = self.kind.new_deal(self.rules, dealer, cards, self._carry)
        self.moves = []
        self._pack, self._secret, self._cut = pack, secret, cut
        self._score = self._cached_result = None
        self._commitment = shuffle.commitment(secret) if secret else None

    # Moves

    def legal_moves(self, seat: int) -> list[str]:
        """Return every move that this seat can make now, in or out of turn; claims and resignations come last."""
        deal = self._playing
        if seat not in self._seats:
            raise errors.UnknownSeat(seat=quote(seat))
        if deal is None:
            return ["resign"] if self.current and not self.is_over else []
        moves = deal.legal_moves(seat)
        moves += self._ending_moves
        return moves

    def play(self, seat: int | None, move: str) -> None:
        """Make a move. IllegalMove says why the move is refused; then nothing has changed.

        A claim can always be made; a wrong one raises ClaimRefused and is not recorded. Seat None is chance, which
        moves automatically if the deal has a secret.
        """
        deal = self._playing
        if deal is None or seat not in self._seats or move in ENDING_MOVES:
            self._play_other(seat, move)
            return
        deal.play(seat, move)
        self.moves.append((seat, move))
        if deal.turn is not None:
            return
        if deal.is_over:
            self._count_deal(deal)
            first_total, second_total = self.totals
            if max(first_total, second_total) >= self.rules.target and first_total != second_total:
                self._end("target", 0 if first_total > second_total else 1)
        elif isinstance(deal, SpadesDeal) and self._secret is not None:
            given_cards = shuffle.draw_cards(
                deal.available_discards(), deal.cards_owed, self._secret, f"exchange {deal.owed_to}"
            )
            self._play_chance(deal, f"gives {' '.join(given_cards)}")

    def _play_other(self, seat: int | None, move: str) -> None:
        if self.is_over:
            raise errors.GameIsOver()
        if self.current is None or (self._playing is None and move != "resign"):
            raise errors.NoDeal()
        if seat is None:
            self._play_chance(self.current, move)
        elif seat not in self._seats:
            raise errors.UnknownSeat(seat=quote(seat))
        elif move == "resign":
            self.moves.append((seat, move))
            self._end("resign", 1 - (seat & 1))
        else:
            self._claim(self.current, seat)

    def _claim(self, deal: Deal, seat: int) -> None:
        if not self.rules.allows_claims:
            raise errors.NoClaims()
        side, target, points = seat & 1, self.rules.target, deal.score().points
        own_total, other_total = self.totals[side] + points[side], self.totals[1 - side] + points[1 - side]
        if own_total < target:
            raise errors.ClaimRefused()
        is_tie_break = min(self.totals) >= target
        if is_tie_break and own_total <= other_total and self.release >= CLAIMS_NEED_A_LEAD:
            raise errors.ClaimNeedsLead()
        self.moves.append((seat, "claim"))
        self._end("claim", side)

    def _play_chance(self, deal: Deal, move: str) -> None:
        words = move.split(" ")
        if words[0] != "gives" or not isinstance(deal, SpadesDeal):
            raise unknown_move(move)
        deal.give_cards(words[1:])
        self.moves.append((None, move))

    def stop(self, ending: Ending, winner: int | None = None) -> None:
        """End the game from outside, as a "timeout" won by side ``winner``, or as "cancelled" without a winner."""
        if self.is_over:
            raise errors.GameIsOver()
        if ending not in EXTERNAL_ENDINGS or (ending == "timeout") != (winner in (0, 1)):
            raise errors.BadDeal(problem="a timeout needs a winning side, 0 or 1, and a cancelled game must have none")
        self._end(ending, winner)

    def _count_deal(self, deal: Deal) -> None:
        self._score = score = deal.score()
        self._cached_result = None
        self._last_trick = deal.last_trick
        self.totals = (self.totals[0] + score.points[0], self.totals[1] + score.points[1])
        self.bags = score.entries.get("bags", (0, 0))
        self._playing = None

    def _end(self, ending: Ending, side: int | None) -> None:
        if self._playing:
            self._count_deal(self._playing)
        self.ending = ending
        self.winner = () if side is None else tuple(seat for seat in self._seats if seat & 1 == side)

    # Views and records

    def view(self, seat: int | None) -> View:
        """Return this seat's view, or the public's for None."""
        deal = self.current
        return View(
            game=self.kind.id,
            rules=self._rule_values.copy(),
            names=self.names,
            seat=seat,
            deal_number=self.deal_number,
            commitment=self._commitment,
            deal=self._deal_view(deal, seat) if deal else None,
            turn=self.turn,
            moves=() if seat is None else tuple(self.legal_moves(seat)),
            totals=self.totals,
            bags=self.bags,
            result=self._result,
            winner=self.winner,
            ending=self.ending,
        )

    def _deal_view(self, deal: Deal, seat: int | None) -> DealView:
        """Return this seat's view of the deal. The public fields are cached until the next move."""
        moment = (self.deal_number, len(self.moves))
        if self._cached_fields[0] != moment:
            self._cached_fields = (moment, deal.public_fields())
        public = self._cached_fields[1]
        return deal.VIEW(**public) if seat is None else deal.VIEW(**(public | deal.seat_fields(seat)))

    @property
    def _result(self) -> Result | None:
        if self._cached_result is None and (self._score or self._past):
            if self._score:
                number, entries = self.deal_number, self._score.entries
                secret = self._secret.hex() if self._secret else None
            else:
                number, last = len(self._past), self._past[-1]
                entries, secret = last.entries(), last.proof.secret if last.proof else None
            self._cached_result = Result(deal=number, entries=entries, secret=secret, last_trick=self._last_trick)
        return self._cached_result

    def history(self, seat: int | None) -> list[MoveEntry]:
        """Return the current deal's moves as this seat saw them; other seats' exchanged cards show as ``?``."""
        if self.current is None or not self.current.HAS_HIDDEN_MOVES:
            return self.moves.copy()
        visible_moves: list[MoveEntry] = []
        exchanger: int | None = None
        for by, move in self.moves:
            word, *codes = move.split(" ")
            if word == "exchange":
                exchanger = by
            hidden = word in ("exchange", "gives") and exchanger != seat
            visible_moves.append((by, " ".join([word, *("?" for _ in codes)]) if hidden else move))
        return visible_moves

    def record(self, *, live: bool = True) -> Record:
        """Return the record so far. It includes the deal in play and its secret, unless ``live`` is False."""
        deals = list(self._past)
        if self.current and (live or self._score):
            deals.append(self._deal_record(self.current))
        record_class: type[Record] = SpadesRecord if self.kind.rules is Spades else TressetteRecord
        return record_class.model_construct(
            format="buongioco/1",
            game=self.kind.id,
            rules=self.rules.model_dump(),
            seats=list(self.names),
            deals=deals,
            winner=None if self.winner is None else list(self.winner),
            ending=self.ending,
        )

    def _deal_record(self, deal: Deal) -> DealRecord:
        score = self._score or deal.score()
        earlier_totals = self._past[-1].totals if self._past else (0, 0)
        proof = None
        if self._secret and self._commitment:
            proof = make_proof(self._commitment, self._secret, self._cut)
        entries: dict[str, Any] = {
            "dealer": deal.dealer,
            "pack": list(self._pack),
            "proof": proof,
            "moves": [_shared_entry(*move) for move in self.moves],
            **score.entries,
            "totals": (earlier_totals[0] + score.points[0], earlier_totals[1] + score.points[1]),
        }
        deal_class: type[DealRecord] = SpadesDealRecord if self.kind.rules is Spades else TressetteDealRecord
        return deal_class.model_construct(**entries)

    @classmethod
    def resume(cls, record: Record, deal_number: int) -> Self:
        """Return the game of a record at the start of one of its deals. Earlier deals are not checked.

        ``deal_number`` counts from 1; 0 is before the first deal. Raises BadDeal if the deal cannot be laid out.
        """
        deals: list[DealRecord] = record.deals
        game = cls(record.game, record.rules, record.seats, deals[0].dealer if deals else None)
        if deal_number == 0:
            return game
        game._past = deals[: deal_number - 1]
        if game._past:
            last = game._past[-1]
            game.totals, game.bags = last.totals, getattr(last, "bags", (0, 0))
            game._carry = Carry(last.leader(), game.bags)
        deal = deals[deal_number - 1]
        secret, cut = (bytes.fromhex(deal.proof.secret), deal.proof.made_cut) if deal.proof else (None, None)
        game.lay_out(deal.pack, secret, cut)
        return game
