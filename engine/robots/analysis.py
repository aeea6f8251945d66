"""Verdicts on a finished deal: cards, picks, bids and declarations compared with the best ones.

Decisions near the end of a deal are compared with perfect play on open cards. Earlier ones are compared with the strong
robot's choice, given the player's knowledge; a loss within the search's error counts as 0. The move of the hint that a
player gets in that situation never counts as a loss.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from ..deal import Deal
from ..declarations import COMBINATIONS, Combination
from ..game import Game, MoveEntry
from ..packets import PICKS
from ..records import Record
from ..replay import replay
from ..search.playing import FIRST_THREE
from ..search.solver import Solver
from ..spades import SpadesDeal
from ..tressette import TressetteDeal
from ..views import SpadesView, View
from .deductions import pack_of
from .hints import find_reason, usual_hint
from .medium import useful_picks
from .perfect_play import solve_moves
from .robot import Budget
from .strong import (
    StrongRobot,
    can_declare_later,
    equal_moves,
    estimate_loss,
    lowest_alike,
    move_text,
    without_declarations,
)
from .verdicts import Verdict

BID_ERROR = 4.0  # error of a bid's expected points
BUDGET_SHARE = 0.5


def analyse_deal(record: Record, number: int, seed: int = 0) -> list[Verdict]:
    """Return verdicts on a deal's decisions, in order. The same seed gives the same verdicts.

    Deals count from 1. A card that lost points and also let a declaration expire has two verdicts. Raises FaultyRecord
    if the deal cannot be replayed.
    """
    return _Analysis(record, number, seed).verdicts()


class Opportunity(NamedTuple):
    """A combination that a seat declared or could have declared at a move of the deal, by the move's index."""

    move_index: int
    seat: int
    combination: Combination


class _Analysis:
    def __init__(self, record: Record, number: int, seed: int) -> None:
        self.record, self.number = record, number
        self.moves = [(seat, move) for seat, move, *_legal in record.deals[number - 1].moves]
        self.robot = StrongRobot(Random(f"{seed}/{number}"), Budget(share=BUDGET_SHARE))
        self.solver = Solver()

    def verdicts(self) -> list[Verdict]:
        move_verdicts: list[Verdict] = []
        opportunities: list[Opportunity] = []
        deal: Deal | None = None
        for move_index, game in enumerate(replay(self.record, self.number)):
            deal = game.current
            seat, move = self.moves[move_index] if move_index < len(self.moves) else (None, "")
            if seat is None or deal is None:
                continue
            if move.startswith("play "):
                opportunities += self._expiring_opportunities(game, move_index, seat)
            verdict = self._judge_move(game, move_index, seat, move)
            if verdict:
                move_verdicts.append(verdict)
        missed = self._missed_opportunities(opportunities, deal) if isinstance(deal, TressetteDeal) else []
        missed_moves = {verdict.move_index for verdict in missed}
        move_verdicts = [verdict for verdict in move_verdicts if verdict.lost or verdict.move_index not in missed_moves]
        return sorted([*move_verdicts, *missed], key=lambda verdict: verdict.move_index)

    def _judge_move(self, game: Game, move_index: int, seat: int, move: str) -> Verdict | None:
        if move.startswith("bid ") and isinstance(game.current, SpadesDeal):
            return self._judge_bid(game, move_index, seat, move)
        if move in COMBINATIONS:
            return self._make_verdict(game, move_index, seat, move, move, 0.0, exact=True)
        if not move.startswith(("play ", "pick ")):
            return None
        plays = {legal for legal in game.legal_moves(seat) if legal.startswith("play ") and legal.count(" ") == 1}
        picks = useful_picks(game.view(seat), game.history(seat))
        if len(plays) + len(picks) < 2 or (move.startswith("pick ") and move not in picks):
            return None
        solved = self._verdict_by_solver(game, move_index, seat, move)
        return solved or self._verdict_by_search(game, move_index, seat, move)

    def _verdict_by_solver(self, game: Game, move_index: int, seat: int, move: str) -> Verdict | None:
        deal, solution = game.current, solve_moves(game, self.solver)
        if deal is None or solution is None:
            return None
        # Name the highest of equal cards, because most players would choose it. Of cards that serve alike, name the
        # lowest.
        top = max(solution.worth.values())
        equal = [other for other, worth in solution.worth.items() if worth == top]
        best_move = max(equal, key=lambda other: (other.startswith("play "), deal.CARD_OF_PLAY.get(other, 0)))
        if best_move.startswith("play ") and isinstance(deal, TressetteDeal):
            view = game.view(seat)
            assert view.deal
            cards = [deal.CARD_OF_PLAY[other] for other in equal if other.startswith("play ")]
            best_move = move_text(view, lowest_alike(view.deal, deal.CARD_OF_PLAY[best_move], cards))
        lost_points = solution.lost_points[_without_signal(move)]
        return self._make_verdict(game, move_index, seat, move, best_move, float(lost_points), exact=True)

    def _verdict_by_search(self, game: Game, move_index: int, seat: int, move: str) -> Verdict | None:
        view = game.view(seat)
        assert view.deal
        estimates = self.robot.judge_moves(without_declarations(view), game.history(seat))
        # Declarations have separate verdicts. The search can still return one, because it picks up a packet's last
        # honour at once, which can complete a three.
        judged = {number: estimate for number, estimate in estimates.items() if number < FIRST_THREE}
        by_text = {move_text(view, number): estimate for number, estimate in judged.items()}
        made_estimate = by_text.get(_without_signal(move))
        if made_estimate is None:
            return None
        best = max(judged, key=judged.__getitem__)
        lost = estimate_loss(view.deal, judged[best], made_estimate)
        if not isinstance(view.deal, SpadesView):
            best = lowest_alike(view.deal, best, equal_moves(view.deal, judged, best))
        if lost > 0:
            # Hints search longer, so their move is the better judge.
            advised = _advised_move(game, seat)
            best = next((number for number in judged if move_text(view, number) == advised), best)
            lost = estimate_loss(view.deal, judged[best], made_estimate)
        return self._make_verdict(game, move_index, seat, move, move_text(view, best), lost, exact=False)

    def _judge_bid(self, game: Game, move_index: int, seat: int, move: str) -> Verdict | None:
        view = game.view(seat)
        assert isinstance(view.deal, SpadesView)
        made = int(move.split(" ")[1])
        worth = self.robot.judge_bids(view.deal, view, game.history(seat), made)
        best = max(worth, key=worth.__getitem__)
        lost = max(0.0, worth[best] - worth[made] - BID_ERROR)
        return self._make_verdict(game, move_index, seat, move, f"bid {best}", lost, exact=False)

    def _make_verdict(
        self, game: Game, move_index: int, seat: int, move: str, best_move: str, lost_points: float, *, exact: bool
    ) -> Verdict:
        if lost_points > 0 and _advised_move(game, seat) == _without_signal(move):
            # On the player's knowledge the move was good, even if open cards show a better one.
            lost_points, exact = 0.0, False
        if lost_points <= 0:
            return Verdict(self.number, move_index, seat, move, move, round(lost_points, 2), exact)
        why = _find_difference(game.view(seat), game.history(seat), move, best_move, exact=exact)
        return Verdict(self.number, move_index, seat, move, best_move, round(lost_points, 2), exact, why)

    def _expiring_opportunities(self, game: Game, move_index: int, seat: int) -> list[Opportunity]:
        """Return the combinations that the seat could declare before this card but not after it."""
        view = game.view(seat)
        combinations = [COMBINATIONS[move] for move in view.moves if move in COMBINATIONS]
        if combinations and view.deal and can_declare_later(view.deal, view):
            card = pack_of(view.deal).index[self.moves[move_index][1].split(" ")[1]]
            combinations = [combination for combination in combinations if combination.cards >> card & 1]
        return [Opportunity(move_index, seat, combination) for combination in combinations]

    def _missed_opportunities(self, opportunities: Sequence[Opportunity], end: TressetteDeal) -> list[Verdict]:
        """Return verdicts on expired opportunities that their seats did not use later.

        In an unfinished deal, what a seat could declare at its next turn counts as declared. If only one of several
        missed declarations could score, the verdict is on the card that cost most.
        """
        declarations = [
            Opportunity(move_index, seat, COMBINATIONS[move])
            for move_index, (seat, move) in enumerate(self.moves)
            if seat is not None and move in COMBINATIONS
        ]
        for seat in range(end.seats):
            declarations += [Opportunity(len(self.moves), seat, later) for later in _later_declarations(end, seat)]
        missed: dict[tuple[int, int], Verdict] = {}
        for move_index, seat, combination in opportunities:
            once = _scoring_bit(combination, end.reuse)
            later_points = [
                other.points
                for later_index, by, other in declarations
                if later_index > move_index and by == seat and _scoring_bit(other, end.reuse) == once
            ]
            lost = float(combination.points - max(later_points, default=0))
            largest = missed.get((seat, once))
            if lost > (largest.lost if largest else 0):
                move, better = self.moves[move_index][1], combination.move
                missed[seat, once] = Verdict(self.number, move_index, seat, move, better, lost, True, "declares")
        return [*missed.values()]


def _find_difference(view: View, history: Sequence[MoveEntry], move: str, best_move: str, *, exact: bool) -> str:
    """Return the reason for the best move, or a general reason if it is also true of the played card.

    That all cards are known is a reason of its own, although it is true of both.
    """
    reason = find_reason(view, history, best_move, exact=exact)
    if reason == "counted" or not (move.startswith("play ") and best_move.startswith("play ")):
        return reason
    reasons = {reason, find_reason(view, history, move, exact=exact)}
    is_shared = len(reasons) == 1 or reasons == {"takes", "takes_points"}
    return ("cards_open" if exact else "likely") if is_shared else reason


def _advised_move(game: Game, seat: int) -> str:
    """Return the move of the hint that the player gets here, without a signal; empty if there is none."""
    hint = usual_hint(game.view(seat), game.history(seat))
    return _without_signal(hint.move) if hint else ""


def _without_signal(move: str) -> str:
    return " ".join(move.split(" ")[:2])


def _later_declarations(deal: TressetteDeal, seat: int) -> list[Combination]:
    """Return the declarations that a seat could make at its next turn of the deal, after all picks."""
    deal = deal.copy()
    if any(other == seat for other, _card in deal.trick):
        deal.tricks_done += 1
        deal.acquired[seat] = 0
    deal.turn = seat
    while picks := [move for move in deal.legal_moves(seat) if move in PICKS]:
        deal.play(seat, picks[0])
    return [COMBINATIONS[move] for move in deal.legal_moves(seat) if move in COMBINATIONS]


def _scoring_bit(combination: Combination, reuse: bool) -> int:
    """Return the bit that scores only once a deal: the combination's own with ``reuse``, otherwise its kind's."""
    return combination.bit if reuse else combination.kind
