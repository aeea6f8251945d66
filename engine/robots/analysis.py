"""What a finished deal could have been: cards, picks, bids and declarations beside the best ones.

Where the rest of the deal can be solved with open cards, a decision is held against perfect play. Before that it is
held against what the strong robot would have chosen with what the player knew, and small differences, which lie within
the search's own error, count as nothing.
"""

from collections.abc import Sequence
from math import sqrt
from random import Random
from typing import NamedTuple

from engine.cards import mask_of
from engine.deal import Deal
from engine.declarations import COMBINATIONS, Combination, still_to_come
from engine.game import Game
from engine.packets import PICKS, PacketsDeal
from engine.position import SpadesPosition, search_position
from engine.records import Record
from engine.replay import replay
from engine.robots.findings import Verdict
from engine.robots.greedy import useful_picks
from engine.robots.hints import reason
from engine.robots.knowledge import pack_of
from engine.robots.robot import Budget
from engine.robots.strong import StrongRobot, can_wait, move_of, undeclared
from engine.search.compiled import COMPILED
from engine.search.playing import FIRST_THREE
from engine.search.solver import Solver
from engine.spades import SpadesDeal
from engine.tressette import TressetteDeal
from engine.views import SpadesView

SOLVED_TWO, SOLVED_FOUR, SOLVED_SPADES = (20, 24, 18) if COMPILED else (14, 16, 12)
"""So many cards before the end a deal is solved, by its family."""

ERROR = 9.0
"""Thirds by which one world played out differs from the next, about; a mean of n differs by that over the root of n."""

SPADES_ERROR = 60.0
BID_ERROR = 4.0
LEAST, LEAST_AT_SPADES = 0.1, 2.0
"""Points below which a judgement is silent."""

SHARE = 0.5


def analyse_deal(record: Record, number: int, seed: int = 0) -> list[Verdict]:
    """Verdicts on a deal's cards, bids and declarations, in their order; the same seed gives the same ones.

    ``number`` is the deal's, from 1. A card that gave points away and let something pass that could have been declared
    has a verdict on each; none says then that nothing was given away. FaultyRecord if the deal cannot be replayed.
    """
    return _Analysis(record, number, seed).verdicts()


class Chance(NamedTuple):
    """A combination that a seat declared, or could have declared, at a place among the deal's moves."""

    place: int
    seat: int
    combination: Combination


class _Analysis:
    def __init__(self, record: Record, number: int, seed: int) -> None:
        self.record, self.number = record, number
        self.moves = [(seat, move) for seat, move, *_legal in record.deals[number - 1].moves]
        self.robot = StrongRobot(Random(f"{seed}/{number}"), Budget(share=SHARE))
        self.solver = Solver()

    def verdicts(self) -> list[Verdict]:
        found: list[Verdict] = []
        passed: list[Chance] = []
        deal: Deal | None = None
        for place, game in enumerate(replay(self.record, self.number)):
            deal = game.current
            seat, move = self.moves[place] if place < len(self.moves) else (None, "")
            if seat is None or deal is None:
                continue
            if move.startswith("play "):
                passed += self._passing(game, place, seat)
            verdict = self._of(game, place, seat, move)
            if verdict:
                found.append(verdict)
        missed = self._missed(passed, deal) if isinstance(deal, TressetteDeal) else []
        passed_at = {one.place for one in missed}
        found = [one for one in found if one.lost or one.place not in passed_at]
        return sorted([*found, *missed], key=lambda one: one.place)

    def _of(self, game: Game, place: int, seat: int, move: str) -> Verdict | None:
        if move.startswith("bid ") and isinstance(game.current, SpadesDeal):
            return self._bid(game, place, seat, move)
        if move in COMBINATIONS:
            return self._verdict(game, place, seat, move, move, 0.0, exact=True)
        if not move.startswith(("play ", "pick ")):
            return None
        plays = {one for one in game.legal_moves(seat) if one.startswith("play ") and one.count(" ") == 1}
        picks = useful_picks(game.view(seat), game.history(seat))
        if len(plays) + len(picks) < 2 or (move.startswith("pick ") and move not in picks):
            return None
        return self._solved(game, place, seat, move) or self._judged(game, place, seat, move)

    def _solved(self, game: Game, place: int, seat: int, move: str) -> Verdict | None:
        deal = game.current
        assert deal
        here = search_position(deal)
        most = (
            SOLVED_SPADES if isinstance(here, SpadesPosition) else SOLVED_TWO if len(here.hands) == 2 else SOLVED_FOUR
        )
        if here.left > most or (isinstance(deal, PacketsDeal) and _may_complete(deal)):
            return None
        points = _spades_points(deal) if isinstance(deal, SpadesDeal) else ()
        values = self.solver.solve(here, points)
        if values is None:
            return None
        sign, view = (1 if seat & 1 == 0 else -1), game.view(seat)
        worth = {move_of(view, number): sign * value for number, value in values.items()}
        top, made = max(worth.values()), worth[_bare(move)]
        # The highest of equal cards is what most players would have thought of.
        equal = [one for one in worth if worth[one] == top]
        best = max(equal, key=lambda one: (one.startswith("play "), deal.CARD_OF_PLAY.get(one, 0)))
        lost = top - made
        if isinstance(deal, TressetteDeal):
            # Thirds are rounded down, so a third less need not be a point less.
            lost = _points(deal, top, sign) - _points(deal, made, sign)
        return self._verdict(game, place, seat, move, best, float(lost), exact=True)

    def _judged(self, game: Game, place: int, seat: int, move: str) -> Verdict | None:
        view = game.view(seat)
        assert view.deal
        found = self.robot.judge(undeclared(view), game.history(seat))
        # Declarations have verdicts of their own. The search may still offer one: it picks up a packet's last honour at
        # once, and that can complete a three.
        judged = {move_of(view, number): one for number, one in found.items() if number < FIRST_THREE}
        made = judged.get(_bare(move))
        if made is None:
            return None
        best = max(judged, key=lambda one: judged[one])
        in_spades = isinstance(view.deal, SpadesView)
        error = (SPADES_ERROR if in_spades else ERROR) / sqrt(max(1, made.visits))
        lost = judged[best].mean - made.mean - error
        # What one side takes of a deal's thirds the other does not, so their difference counts it twice.
        lost = lost if in_spades else lost / 6
        lost = lost if lost >= (LEAST_AT_SPADES if in_spades else LEAST) else 0.0
        return self._verdict(game, place, seat, move, best, lost, exact=False)

    def _bid(self, game: Game, place: int, seat: int, move: str) -> Verdict | None:
        view = game.view(seat)
        assert isinstance(view.deal, SpadesView)
        made = int(move.split(" ")[1])
        worth = self.robot.judge_bids(view.deal, view, game.history(seat), made)
        best = max(worth, key=worth.__getitem__)
        lost = max(0.0, worth[best] - worth[made] - BID_ERROR)
        return self._verdict(game, place, seat, move, f"bid {best}", lost, exact=False)

    def _verdict(self, game: Game, place: int, seat: int, move: str, best: str, lost: float, *, exact: bool) -> Verdict:
        if lost <= 0:
            return Verdict(self.number, place, seat, move, move, round(lost, 2), exact)
        why = reason(game.view(seat), game.history(seat), best, exact=exact)
        return Verdict(self.number, place, seat, move, best, round(lost, 2), exact, why)

    def _passing(self, game: Game, place: int, seat: int) -> list[Chance]:
        """What could be declared before this card, and no longer can after it."""
        view = game.view(seat)
        combinations = [COMBINATIONS[move] for move in view.moves if move in COMBINATIONS]
        if combinations and view.deal and can_wait(view.deal, view):
            card = pack_of(view.deal).index[self.moves[place][1].split(" ")[1]]
            combinations = [one for one in combinations if one.cards >> card & 1]
        return [Chance(place, seat, one) for one in combinations]

    def _missed(self, passed: Sequence[Chance], end: TressetteDeal) -> list[Verdict]:
        """What passed and was not declared in all the rest of the deal, nor could have been if that was cut short.

        What counts once a deal is missed once, by the card that cost most.
        """
        said = [
            Chance(place, seat, COMBINATIONS[move])
            for place, (seat, move) in enumerate(self.moves)
            if seat is not None and move in COMBINATIONS
        ]
        for seat in range(end.seats):
            said += [Chance(len(self.moves), seat, one) for one in _may_still_declare(end, seat)]
        missed: dict[tuple[int, int], Verdict] = {}
        for place, seat, one in passed:
            once = _once(one, end.reuse)
            later = [
                other.points for at, by, other in said if at > place and by == seat and _once(other, end.reuse) == once
            ]
            lost = float(one.points - max(later, default=0))
            known = missed.get((seat, once))
            if lost > (known.lost if known else 0):
                move = self.moves[place][1]
                missed[seat, once] = Verdict(self.number, place, seat, move, one.move, lost, True, "declares")
        return [*missed.values()]


def _bare(move: str) -> str:
    """Return a move without what is said with it."""
    return " ".join(move.split(" ")[:2])


def _may_still_declare(deal: TressetteDeal, seat: int) -> list[Combination]:
    """What a seat could have declared at its next turn, of what it holds or may pick up there; nothing when the deal is
    over.
    """
    deal = deal.copy()
    if any(other == seat for other, _card in deal.trick):
        deal.tricks_done += 1
        deal.acquired[seat] = 0
    deal.turn = seat
    while picks := [move for move in deal.legal_moves(seat) if move in PICKS]:
        deal.play(seat, picks[0])
    return [COMBINATIONS[move] for move in deal.legal_moves(seat) if move in COMBINATIONS]


def _once(one: Combination, reuse: bool) -> int:
    """What of a combination counts once a deal."""
    return one.bit if reuse else one.kind


def _may_complete(deal: PacketsDeal) -> bool:
    """Whether a packet's card may complete something to declare, of which perfect play knows nothing."""
    if deal.window != "acquired":
        return False
    for seat in (0, 1):
        on_table = mask_of(card for number in deal.on_table[seat] for card in deal.packets[number])
        if still_to_come(on_table, deal.cards[seat] | on_table, 0 if deal.reuse else deal.scored[seat]):
            return True
    return False


def _points(deal: TressetteDeal, thirds: int, sign: int) -> int:
    """A side's whole points of thirds as the solver has them: those of side 0, or their opposite."""
    total = sum(deal.WORTH) + deal.LAST_TRICK
    return (thirds if sign > 0 else total + thirds) // 3


def _spades_points(deal: SpadesDeal) -> list[int]:
    """What the hand counts for side 0 and not for side 1, by the tricks of side 0's."""
    counted = []
    for tricks in range(deal.LENGTH + 1):
        end = deal.copy()
        end.tricks, end.tricks_done = [tricks, deal.LENGTH - tricks], deal.LENGTH
        ours, theirs = end.score().points
        counted.append(ours - theirs)
    return counted
