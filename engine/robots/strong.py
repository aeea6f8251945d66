"""The strong robot. It searches many possible deals of the unseen cards, or solves the deal if only one is possible.

The search also covers optional moves (`engine.search.playing`): picking up an honour, and declaring a three that can
become a four.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from random import Random
from typing import NamedTuple

from ..cards import cards
from ..declarations import COMBINATIONS
from ..game import Game, MoveEntry
from ..position import FIRST_PICK, picked_card
from ..search import bidding, playing, simple_players, tree
from ..search.compiled import COMPILED, Ints, int_array, zeros
from ..search.playing import PRIME, new_board
from ..search.solver import Solver
from ..search.worlds import Worlds, draw_world, only_position
from ..spades import NOT_SPADES
from ..tressette import THIRDS
from ..views import DealView, PacketsView, SpadesView, TressetteView, View
from .deductions import pack_of, weigh_worlds, worlds_of
from .medium import MediumRobot, can_become_four, has_won, useful_picks
from .memory import remember
from .robot import Budget, act
from .signals import signal_of
from .spades import choose_draft
from .verdicts import MIN_LOSS, MIN_LOSS_AT_SPADES

SLOWNESS = 1 if COMPILED else 8  # divides the rounds of searches that are not compiled
BATCH = 500 if COMPILED else 25  # rounds between two checks of the budget
BID_ROUNDS = 400
MIN_VISIT_SHARE = 0.1  # share of the best card's visits that another card needs for a comparison
WORLD_ERROR, SPADES_ERROR = 9.0, 60.0  # standard deviation of one playout's outcome, in thirds and in points
ADVICE_LEEWAY = 1 / 3  # points by which the search can underrate a lower card of the same suit, which it tries less
SIGNAL_COST = 2.0  # thirds by which the sides' difference can fall to follow a partner's signal


class FamilySearch(NamedTuple):
    """Search settings of a family of games.

    ``rounds`` are for compiled searches. ``pool`` is the number of weighed worlds. Cards whose
    `MoveEstimate.mean` is at most ``leeway`` below the best count as equal. Of these the robot plays the card that
    looks best to a simple player, so that its partner understands it. The others are settings of
    `engine.search.tree.search`. docs/performance.md has measurements.
    """

    rounds: int
    explore: float
    wild: int
    pool: int = 0
    leeway: float = 0.0
    lonely: bool = False
    deepest: int = tree.LONGEST_PATH


class SearchSettings(NamedTuple):
    two_hands: FamilySearch = FamilySearch(rounds=4000, explore=16.0, wild=100)
    four_hands: FamilySearch = FamilySearch(rounds=6000, explore=16.0, wild=100, pool=1000, leeway=0.4, lonely=True)
    spades: FamilySearch = FamilySearch(rounds=5000, explore=100.0, wild=400, pool=1000)

    def for_deal(self, deal: DealView) -> FamilySearch:
        if isinstance(deal, SpadesView):
            return self.spades
        return self.four_hands if len(deal.counts) == 4 else self.two_hands


DEFAULT_SEARCH = SearchSettings()


def _batches(budget: Budget, rounds: int) -> Iterator[int]:
    """Yield the rounds to search in batches; the first is always searched."""
    rounds_left = max(1, round(rounds * budget.share / SLOWNESS))
    while rounds_left > 0:
        yield min(rounds_left, BATCH)
        rounds_left -= BATCH
        if not budget.more():
            return


class MoveEstimate(NamedTuple):
    """The search's result for a move: its number of visits and its mean outcome.

    The outcome is this side's result minus the other's, in thirds of a point, or points at Spades. ``appeal`` says how
    good the move looks to a simple player. It is set only in games for four.
    """

    visits: int
    mean: float
    appeal: int = 0


def _node_estimate(nodes: Ints, base: int, appeal: int = 0) -> MoveEstimate:
    visits = int(nodes[base + tree.VISITS])
    return MoveEstimate(visits, float(nodes[base + tree.SUM]) / max(1, visits), appeal)


class StrongRobot:
    """The strong robot. With ``advises`` it chooses the lowest of cards that serve alike, as people usually do."""

    _solver: Solver | None = None

    def __init__(
        self,
        random: Random,
        budget: Budget | None = None,
        search: SearchSettings = DEFAULT_SEARCH,
        *,
        advises: bool = False,
    ) -> None:
        self.random, self.budget, self.search, self.advises = random, budget or Budget(), search, advises
        self._medium = MediumRobot(random)

    def choose(self, view: View, history: Sequence[MoveEntry]) -> str | None:
        deal, seat = view.deal, view.seat
        if deal is None or seat is None or view.turn != seat:
            # Declaring out of turn gains nothing and gives information away early.
            return None
        if isinstance(deal, SpadesView):
            return self._choose_at_spades(deal, view, history)
        if deal.phase != "play":
            return self._medium.choose(view, history)
        if "claim" in view.moves and has_won(view, remember(deal, history, seat)):
            return "claim"
        declarable = [COMBINATIONS[move] for move in view.moves if move in COMBINATIONS]
        if not can_declare_later(deal, view) or "claim" in view.moves:
            at_once = [combination for combination in declarable if not can_become_four(view, history, combination)]
            if at_once:
                return max(at_once, key=lambda combination: combination.points).move
        if free := picks_of_last_cards(view, history):
            return free[0]
        move = self._choose_move(deal, view, history)
        if not move.startswith("play "):
            return move
        card = pack_of(deal).index[move.split(" ")[1]]
        broken = [combination for combination in declarable if combination.cards >> card & 1]
        return max(broken, key=lambda combination: combination.points).move if broken else move

    # Playing a card

    def _choose_move(self, deal: DealView, view: View, history: Sequence[MoveEntry]) -> str:
        judged = self.judge_moves(view, history)
        if not judged:
            move = self._medium.choose(without_declarations(view), history)
            assert move
            return move
        if (requested := _requested_card(deal, judged)) is not None:
            return f"play {pack_of(deal).codes[requested]}"
        settings = self.search.for_deal(deal)
        # Without a tree all cards are tried equally, so the mean decides. A tree tries the best card most.
        card = max(judged, key=lambda move: judged[move].mean if settings.deepest == 1 else judged[move])
        if settings.leeway:
            mean, visits = judged[card].mean - settings.leeway, judged[card].visits * MIN_VISIT_SHARE
            equal = [move for move in judged if judged[move].mean >= mean and judged[move].visits >= visits]
            card = max(equal, key=lambda move: judged[move].appeal)
        if self.advises and not isinstance(deal, SpadesView):
            card = lowest_alike(deal, card, equal_moves(deal, judged, card, leeway=ADVICE_LEEWAY))
        move = move_text(view, card)
        return f"{move}{signal_of(deal, view, card)}" if move.startswith("play ") else move

    def judge_moves(self, view: View, history: Sequence[MoveEntry]) -> dict[int, MoveEstimate]:
        """Return the estimate of each move; empty if no world fits. With open cards only the best moves have visits."""
        deal = view.deal
        assert deal is not None
        pack = pack_of(deal)
        playable = sorted({pack.index[move.split(" ")[1]] for move in view.moves if move.startswith("play ")})
        if len(playable) < 2 and not useful_picks(view, history):
            return {card: MoveEstimate(1, 0.0) for card in playable}
        settings = self.search.for_deal(deal)
        for believing in (True, False):
            worlds = worlds_of(view, history, pool=settings.pool // SLOWNESS, believing=believing)
            judged = self._search(settings, worlds, view, history, playable)
            if judged:
                break
        if not len(worlds.unseen) and isinstance(deal, TressetteView):
            return self._solve_exactly(worlds, judged)
        return judged

    def _search(
        self, settings: FamilySearch, worlds: Worlds, view: View, history: Sequence[MoveEntry], playable: Sequence[int]
    ) -> dict[int, MoveEstimate]:
        board = new_board(self.random.randrange(1, PRIME))
        worlds = weigh_worlds(worlds, view, history, board) if settings.pool else worlds
        # Search one tree for playing a card at once, and one for each pick or declaration.
        firsts = [tree.CARDS_ONLY]
        if worlds.start[playing.PACKETS] and draw_world(worlds, board):
            firsts += cards(int(playing.legal_moves(board)) & ~playing.CARDS)
        trees = [zeros((2 + round(settings.rounds * self.budget.share)) * tree.FIELDS) for _ in firsts]
        path, nodes = zeros(tree.LONGEST_PATH), [1] * len(firsts)
        for rounds in _batches(self.budget, settings.rounds):
            for number, (first, grown) in enumerate(zip(firsts, trees, strict=True)):
                nodes[number] = tree.search(
                    grown, nodes[number], path, worlds, board, rounds,
                    settings.explore, settings.wild, settings.deepest, settings.lonely, first,
                )  # fmt: skip
        judged: dict[int, MoveEstimate] = {}
        grown = trees[0]
        child = grown[tree.FIRST]
        needs_appeal = settings.leeway > 0 and draw_world(worlds, board)
        if len(playable) == 1:
            # A forced card is not in the tree, which begins with the moves after it.
            judged[playable[0]] = _node_estimate(grown, 0)
            child = 0
        while child:
            base = child * tree.FIELDS
            move = int(grown[base + tree.MOVE])
            judged[move] = _node_estimate(grown, base, int(simple_players.appeal(board, move)) if needs_appeal else 0)
            child = grown[base + tree.NEXT]
        if judged:
            best = max(judged.values())
            for first, other in zip(firsts[1:], trees[1:], strict=True):
                # Compare the means of whole trees: trying bad cards costs each about the same.
                gain = _node_estimate(other, 0).mean - _node_estimate(grown, 0).mean
                visits = best.visits + 1 if gain > 0 else max(1, best.visits - 1)
                judged[first] = MoveEstimate(visits, best.mean + gain)
        return judged

    def _solve_exactly(self, worlds: Worlds, judged: dict[int, MoveEstimate]) -> dict[int, MoveEstimate]:
        """Return exact values of the moves in the only possible world, without the cards already taken.

        Only the best moves keep their visits, so that the search decides among them. If the position is too long to be
        solved, return ``judged``.
        """
        if StrongRobot._solver is None:
            StrongRobot._solver = Solver()
        position = only_position(worlds)
        solved = StrongRobot._solver.solve(position)
        if solved is None:
            return judged
        sign = 1 if position.turn & 1 == 0 else -1
        top = max(sign * value for value in solved.values())
        estimates: dict[int, MoveEstimate] = {}
        for card, value in solved.items():
            estimate = judged.get(card, MoveEstimate(0, 0.0))
            visits = estimate.visits if sign * value == top else 0
            estimates[card] = estimate._replace(visits=visits, mean=2.0 * sign * value)
        return estimates

    # Spades

    def _choose_at_spades(self, deal: SpadesView, view: View, history: Sequence[MoveEntry]) -> str | None:
        if deal.phase == "play":
            return self._choose_move(deal, view, history)
        if deal.phase == "bid":
            points = self.judge_bids(deal, view, history)
            return f"bid {max(points, key=points.__getitem__)}"
        if deal.drawn:
            unseen = worlds_of(view, history).unseen
            worth = sum(simple_players.TRICK_WORTH[card] for card in unseen) / len(unseen)
            drawn_worth = simple_players.TRICK_WORTH[pack_of(deal).index[deal.drawn]]
            return choose_draft(drawn_worth, worth, blind=deal.bids[deal.seat or 0] == "double nil")
        return self._medium.choose(view, history)

    def judge_bids(
        self, deal: SpadesView, view: View, history: Sequence[MoveEntry], made_bid: int = 0
    ) -> dict[int, float]:
        """Return the expected result of plausible bids and of ``made_bid``: this side's points minus the other's."""
        seat = view.seat or 0
        worlds = worlds_of(view, history)
        start = zeros(playing.SIZE)
        for index in (playing.SEATS, playing.SPADES, playing.BLIND + seat, playing.BLIND + 1 - seat):
            start[index] = worlds.start[index]
        start[playing.TURN], start[playing.CARDS_LEFT] = 1 - deal.dealer, 26
        start[playing.ALLOWED_CARDS] = NOT_SPADES
        opponent_bid = deal.bids[1 - seat]
        bid_number = opponent_bid if isinstance(opponent_bid, int) else -1 if opponent_bid is None else 0
        own_hand = int(worlds.known_cards[seat])
        guess = int(simple_players.expected_tricks(own_hand)) // 100
        bids = sorted({0, made_bid, *range(max(1, guess - 3), min(13, guess + 3) + 1)})
        points, board, rounds_done = zeros(14), new_board(self.random.randrange(1, PRIME)), 0
        wild = self.search.spades.wild
        for rounds in _batches(self.budget, BID_ROUNDS):
            bidding.try_bids(
                points, board, start, worlds.unseen, own_hand, seat, bid_number, int_array(bids), rounds, wild
            )
            rounds_done += rounds
        return {bid: float(points[bid]) / rounds_done for bid in bids}


def _requested_card(deal: DealView, judged: dict[int, MoveEstimate]) -> int | None:
    """Return the highest card of the suit if the partner led it with busso, unless that costs too much."""
    if not deal.trick or deal.trick[0].signal != "busso" or (deal.trick[0].seat ^ (deal.seat or 0)) & 1:
        return None
    pack = pack_of(deal)
    suit = [card for card in judged if pack.codes[card][1] == deal.trick[0].card[1]]
    if not suit:
        return None
    best_mean = max(estimate.mean for estimate in judged.values())
    return max(suit) if best_mean - judged[max(suit)].mean <= SIGNAL_COST else None


def estimate_loss(deal: DealView, best_estimate: MoveEstimate, other_estimate: MoveEstimate) -> float:
    """Return the points that a move loses against the best one; 0.0 within the search's error."""
    in_spades = isinstance(deal, SpadesView)
    error = (SPADES_ERROR if in_spades else WORLD_ERROR) / sqrt(max(1, other_estimate.visits))
    difference = best_estimate.mean - other_estimate.mean - error
    if not in_spades:
        difference /= 6  # a difference between the sides counts each third twice
    return difference if difference >= (MIN_LOSS_AT_SPADES if in_spades else MIN_LOSS) else 0.0


def equal_moves(deal: DealView, judged: Mapping[int, MoveEstimate], best: int, *, leeway: float = 0.0) -> list[int]:
    """Return the moves that the search finds as good as the best one.

    Without a ``leeway`` in points, they must be tried often.
    """
    visits = 1.0 if leeway else max(1.0, judged[best].visits * MIN_VISIT_SHARE)
    tried = [(move, estimate) for move, estimate in judged.items() if estimate.visits >= visits]
    return [move for move, estimate in tried if estimate_loss(deal, judged[best], estimate) <= leeway]


def lowest_alike(deal: DealView, card: int, equal: Collection[int]) -> int:
    """Return the lowest of the ``equal`` cards that serves like ``card``.

    It is of the same suit, wins the trick so far exactly if ``card`` does, and is worth nothing. If no such card is
    worthless and later players cannot change who takes the trick, it is worth the same as ``card``. Return ``card`` if
    it leads an honour or a figure: such a lead has a purpose.
    """
    if card >= FIRST_PICK or (not deal.trick and THIRDS[card]):
        return card
    pack = pack_of(deal)
    trick_cards = [pack.index[played.card] for played in deal.trick]
    best_card = max((other for other in trick_cards if 1 << other & pack.suit_of[trick_cards[0]]), default=-1)
    # A card of another suit cannot win, and a card that is led wins so far.
    same_suit = [other for other in equal if other < FIRST_PICK and pack.suit_of[other] == pack.suit_of[card]]
    alike = [other for other in same_suit if (other > best_card) == (card > best_card)]
    worthless = [other for other in alike if not THIRDS[other]]
    is_settled = card < best_card or len(trick_cards) == len(deal.counts) - 1
    same_worth = [other for other in alike if is_settled and THIRDS[other] == THIRDS[card]]
    return min(worthless or same_worth, default=card)


def can_declare_later(deal: DealView, view: View) -> bool:
    """Return whether a combination can still be declared at a later turn. Waiting keeps it secret."""
    window = view.rules["declare"]
    return window == "any_turn" or (window == "three_tricks" and sum(deal.tricks) < 3)


def picks_of_last_cards(view: View, history: Sequence[MoveEntry]) -> list[str]:
    """Return the picks of a packet's last card that can serve a declaration. Such a pick has no disadvantage."""
    if not isinstance(view.deal, PacketsView):
        return []
    single_card_picks = {f"pick {packet.number}" for packet in view.deal.packets if packet.left == 1}
    return [move for move in useful_picks(view, history) if move in single_card_picks]


def move_text(view: View, number: int) -> str:
    """Return a move of the search (`engine.search.playing`) in the record's notation."""
    deal = view.deal
    assert deal is not None
    if isinstance(deal, SpadesView) or number < FIRST_PICK:
        return f"play {pack_of(deal).codes[number]}"
    if number >= playing.FIRST_THREE:
        kind = 1 << number - playing.FIRST_THREE
        return next(move for move in view.moves if move in COMBINATIONS and COMBINATIONS[move].kind == kind)
    assert isinstance(deal, PacketsView)
    top = pack_of(deal).codes[picked_card(number)]
    return next(f"pick {packet.number}" for packet in deal.packets if packet.owner == view.seat and packet.top == top)


def without_declarations(view: View) -> View:
    """Return the view without declarations, because some robots would make them at once."""
    return replace(view, moves=tuple(move for move in view.moves if move not in COMBINATIONS))


def compile_searches() -> None:
    """Compile all functions that strong robots use. This takes up to a minute, or a second if they are cached."""
    for game_id in ("metamazzo", "pizzichino", "tressette", "spades"):
        game = Game(game_id, dealer=0)
        game.deal(bytes(32))
        robot = StrongRobot(Random(1), Budget(share=1 / BATCH))
        while game.turn is not None:
            act(game, game.turn, robot)
