"""A strong player: it lays the cards that it cannot see in the ways that they may lie, and searches; where there is one
way only it plays exactly.

It searches what is optional, too (`engine.search.playing`): whether to pick up an honour, and whether to declare a
three that may become a four.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from engine.cards import cards
from engine.declarations import COMBINATIONS, HONOUR_RANKS
from engine.game import Game, MoveEntry
from engine.position import FIRST_PICK, SearchPosition, picked_by
from engine.robots.greedy import GreedyRobot, has_won, may_become_four, useful_picks
from engine.robots.knowledge import is_open, pack_of, weigh, worlds_of
from engine.robots.memory import remember
from engine.robots.robot import Budget, act
from engine.robots.spades import draft
from engine.search import bidding, playing, tree
from engine.search.compiled import COMPILED, Ints, ints, zeros
from engine.search.playing import PRIME, Board, new_board
from engine.search.solver import Solver
from engine.search.worlds import Worlds, draw_world
from engine.spades import NOT_SPADES
from engine.views import DealView, PacketsView, SpadesView, TressetteView, View

SLOWNESS = 1 if COMPILED else 8
"""Without compiled searches so many times fewer rounds; the clock ends most of them before."""

BATCH = 500 if COMPILED else 25
"""Rounds between two looks at the clock."""

BID_ROUNDS = 400
EVENLY = 10_000.0
"""Tries all cards alike, whatever they have brought."""

FAMILIAR = 0.1
"""The share of the best card's visits that a card's mean must rest on to be held against it."""

TRUST = 2.0
"""Thirds, of one side's and less the other's, that a partner's word may cost."""


class Way(NamedTuple):
    """How a family of games is searched: ``rounds`` with compiled searches, how many worlds are weighed in a ``pool``,
    and the settings of `engine.search.tree.search`. Of cards that bring as much but for ``leeway`` thirds the one is
    played that a simple player would play: a partner understands it. Measured: docs/robots.md.
    """

    rounds: int
    explore: float
    wild: int
    pool: int = 0
    leeway: float = 0.0
    lonely: bool = False
    deepest: int = tree.LONGEST_PATH


class Search(NamedTuple):
    """The ways of all families."""

    two_hands: Way = Way(rounds=4000, explore=16.0, wild=100)
    four_hands: Way = Way(rounds=6000, explore=16.0, wild=100, pool=1000, leeway=0.4, lonely=True)
    spades: Way = Way(rounds=5000, explore=100.0, wild=400, pool=1000)

    def of(self, deal: DealView) -> Way:
        if isinstance(deal, SpadesView):
            return self.spades
        return self.four_hands if len(deal.counts) == 4 else self.two_hands

    def flat(self) -> "Search":
        """Plain determinized Monte Carlo with the same work: no tree, and all worlds alike."""
        return Search(*(way._replace(pool=0, leeway=0.0, explore=EVENLY, deepest=1) for way in self))


SEARCH_AS_USUAL = Search()


def _batches(budget: Budget, rounds: int) -> Iterator[int]:
    """The rounds to do, in portions; the first is always done."""
    left = max(1, round(rounds * budget.share / SLOWNESS))
    while left > 0:
        yield min(left, BATCH)
        left -= BATCH
        if not budget.more():
            return


class Judged(NamedTuple):
    """What the search found for a move: how often it was tried, and what it brought this side and not the other on
    average, in thirds of a point, or points at Spades. ``appeal`` is how well it looks to a simple player, with
    four at a table.
    """

    visits: int
    mean: float
    appeal: int = 0


def _judged(grown: Ints, at: int, appeal: int = 0) -> Judged:
    """What a tree says of the node at a place."""
    visits = int(grown[at + tree.VISITS])
    return Judged(visits, float(grown[at + tree.SUM]) / max(1, visits), appeal)


def _optional_moves(worlds: Worlds, board: Board) -> list[int]:
    """Return the picks and declarations that the seat to move can choose from."""
    if not worlds.start[playing.PACKETS] or not draw_world(worlds, board):
        return []
    return [*cards(int(playing.moves(board)) & ~playing.CARDS)]


class StrongRobot:
    """Knows what its view proves, deals the rest by chance and by what the others have shown, and searches."""

    _solver: Solver | None = None

    def __init__(self, random: Random, budget: Budget | None = None, search: Search = SEARCH_AS_USUAL) -> None:
        self.random, self.budget, self.search = random, budget or Budget(), search
        self._greedy = GreedyRobot(random)

    def choose(self, view: View, history: Sequence[MoveEntry]) -> str | None:
        deal, seat = view.deal, view.seat
        if deal is None or seat is None or view.turn != seat:
            # Nothing is lost by waiting for one's turn: what is declared then has told the others nothing before.
            return None
        if isinstance(deal, SpadesView):
            return self._at_spades(deal, view, history)
        if deal.phase != "play":
            return self._greedy.choose(view, history)
        if "claim" in view.moves and has_won(view, remember(deal, history, seat)):
            return "claim"
        declarable = [COMBINATIONS[move] for move in view.moves if move in COMBINATIONS]
        if not can_wait(deal, view) or "claim" in view.moves:
            at_once = [one for one in declarable if not may_become_four(view, history, one)]
            if at_once:
                return max(at_once, key=lambda one: one.points).move
        if free := picks_of_last_cards(view, history):
            return free[0]
        move = self._move(deal, view, history)
        if not move.startswith("play "):
            return move
        card = pack_of(deal).index[move.split(" ")[1]]
        broken = [one for one in declarable if one.cards >> card & 1]
        return max(broken, key=lambda one: one.points).move if broken else move

    # Playing a card

    def _move(self, deal: DealView, view: View, history: Sequence[MoveEntry]) -> str:
        judged = self.judge(view, history)
        if not judged:
            move = self._greedy.choose(undeclared(view), history)
            assert move
            return move
        if (asked := _asked_for(deal, judged)) is not None:
            return f"play {pack_of(deal).codes[asked]}"
        way = self.search.of(deal)
        # Without a tree all cards are tried alike, and what they brought decides; with one the best is tried most.
        card = max(judged, key=lambda one: judged[one].mean if way.deepest == 1 else judged[one])
        if way.leeway:
            mean, visits = judged[card].mean - way.leeway, judged[card].visits * FAMILIAR
            near = [one for one in judged if judged[one].mean >= mean and judged[one].visits >= visits]
            card = max(near, key=lambda one: judged[one].appeal)
        move = move_of(view, card)
        return f"{move}{self._signal(deal, view, card)}" if move.startswith("play ") else move

    def judge(self, view: View, history: Sequence[MoveEntry]) -> dict[int, Judged]:
        """What the search makes of each move (`engine.search.playing`); empty if it could make nothing of them.

        With open cards only those that are best by exact play have visits.
        """
        deal = view.deal
        assert deal is not None
        pack = pack_of(deal)
        playable = sorted({pack.index[move.split(" ")[1]] for move in view.moves if move.startswith("play ")})
        if len(playable) < 2 and not useful_picks(view, history):
            return {card: Judged(1, 0.0) for card in playable}
        way = self.search.of(deal)
        for believing in (True, False):
            worlds = worlds_of(view, history, pool=way.pool // SLOWNESS, believing=believing)
            judged = self._search(way, worlds, view, history, playable)
            if judged:
                break
        if is_open(worlds) and isinstance(deal, TressetteView):
            return self._exactly(worlds, judged)
        return judged

    def _search(
        self, way: Way, worlds: Worlds, view: View, history: Sequence[MoveEntry], playable: Sequence[int]
    ) -> dict[int, Judged]:
        board = new_board(self.random.randrange(1, PRIME))
        worlds = weigh(worlds, view, history, board) if way.pool else worlds
        # A tree for playing a card at once, and one for each pick or declaration.
        firsts = [tree.CARDS_ONLY, *_optional_moves(worlds, board)]
        trees = [zeros((2 + round(way.rounds * self.budget.share)) * tree.FIELDS) for _ in firsts]
        path, nodes = zeros(tree.LONGEST_PATH), [1] * len(firsts)
        for rounds in _batches(self.budget, way.rounds):
            for number, (first, grown) in enumerate(zip(firsts, trees, strict=True)):
                nodes[number] = tree.search(
                    grown, nodes[number], path, worlds, board, rounds,
                    way.explore, way.wild, way.deepest, way.lonely, first,
                )  # fmt: skip
        judged: dict[int, Judged] = {}
        grown = trees[0]
        child = grown[tree.FIRST]
        understood = way.leeway > 0 and draw_world(worlds, board)
        if len(playable) == 1:
            # The tree has the moves that follow.
            judged[playable[0]] = _judged(grown, 0)
            child = 0
        while child:
            at = child * tree.FIELDS
            move = int(grown[at + tree.MOVE])
            judged[move] = _judged(grown, at, int(playing.appeal(board, move)) if understood else 0)
            child = grown[at + tree.NEXT]
        if judged:
            best = max(judged.values())
            for first, other in zip(firsts[1:], trees[1:], strict=True):
                # Trees are compared as a whole: by trying bad cards they lose alike.
                gain = _judged(other, 0).mean - _judged(grown, 0).mean
                visits = best.visits + 1 if gain > 0 else max(1, best.visits - 1)
                judged[first] = Judged(visits, best.mean + gain)
        return judged

    def _exactly(self, worlds: Worlds, judged: dict[int, Judged]) -> dict[int, Judged]:
        """The same with exact values; among the best the search's favourite, for the others may err."""
        if StrongRobot._solver is None:
            StrongRobot._solver = Solver()
        here = open_position(worlds)
        solved = StrongRobot._solver.solve(here)
        if solved is None:
            return judged
        sign = 1 if here.turn & 1 == 0 else -1
        top = max(sign * value for value in solved.values())
        found: dict[int, Judged] = {}
        for card, value in solved.items():
            tried = judged.get(card, Judged(0, 0.0))
            found[card] = tried._replace(visits=tried.visits if sign * value == top else 0, mean=2.0 * sign * value)
        return found

    def _signal(self, deal: DealView, view: View, card: int) -> str:
        """What is said with a card led, where the table has signals, and always the truth: volo with a suit's last
        card; busso where two of the suit's three honours stay behind, so that a partner's high card is not lost.
        """
        if deal.trick or not view.rules.get("signals"):
            return ""
        code = pack_of(deal).codes[card]
        behind = [one for one in deal.hand or () if one[1] == code[1] and one != code]
        if not behind:
            return " volo"
        return " busso" if sum(one[0] in HONOUR_RANKS for one in behind) >= 2 else ""

    # Spades

    def _at_spades(self, deal: SpadesView, view: View, history: Sequence[MoveEntry]) -> str | None:
        if deal.phase == "play":
            return self._move(deal, view, history)
        if deal.phase == "bid":
            points = self.judge_bids(deal, view, history)
            return f"bid {max(points, key=points.__getitem__)}"
        if deal.drawn:
            unseen = worlds_of(view, history).unseen
            worth = sum(playing.TRICK_WORTH[card] for card in unseen) / len(unseen)
            drawn = playing.TRICK_WORTH[pack_of(deal).index[deal.drawn]]
            return draft(drawn, worth, blind=deal.bids[deal.seat or 0] == "double nil")
        return self._greedy.choose(view, history)

    def judge_bids(self, deal: SpadesView, view: View, history: Sequence[MoveEntry], made: int = 0) -> dict[int, float]:
        """What each bid worth a thought, and one that was ``made``, is likely to bring this side and not the other, in
        points.
        """
        seat = view.seat or 0
        worlds = worlds_of(view, history)
        start = zeros(playing.SIZE)
        for place in (playing.SEATS, playing.SPADES, playing.BLIND + seat, playing.BLIND + 1 - seat):
            start[place] = worlds.start[place]
        start[playing.TURN], start[playing.LEFT] = 1 - deal.dealer, 26
        start[playing.WANTED] = NOT_SPADES
        other = deal.bids[1 - seat]
        theirs = other if isinstance(other, int) else -1 if other is None else 0
        mine = int(worlds.known[seat])
        guess = int(playing.likely(mine)) // 100
        bids = sorted({0, made, *range(max(1, guess - 3), min(13, guess + 3) + 1)})
        points, board, done = zeros(14), new_board(self.random.randrange(1, PRIME)), 0
        for rounds in _batches(self.budget, BID_ROUNDS):
            bidding.try_bids(
                points,
                board,
                start,
                worlds.unseen,
                mine,
                seat,
                theirs,
                ints(bids),
                rounds,
                self.search.spades.wild,
            )
            done += rounds
        return {bid: float(points[bid]) / done for bid in bids}


def _asked_for(deal: DealView, judged: dict[int, Judged]) -> int | None:
    """The highest card of the suit when one's partner has led it with busso, unless that costs too much."""
    if not deal.trick or deal.trick[0].signal != "busso" or (deal.trick[0].seat ^ (deal.seat or 0)) & 1:
        return None
    pack = pack_of(deal)
    suit = [card for card in judged if pack.codes[card][1] == deal.trick[0].card[1]]
    if not suit:
        return None
    best = max(one.mean for one in judged.values())
    return max(suit) if best - judged[max(suit)].mean <= TRUST else None


def can_wait(deal: DealView, view: View) -> bool:
    """Whether a combination may still be declared at a later turn: what is not declared tells the others nothing."""
    window = view.rules["declare"]
    return window == "any_turn" or (window == "three_tricks" and sum(deal.tricks) < 3)


def picks_of_last_cards(view: View, history: Sequence[MoveEntry]) -> list[str]:
    """Return the picks of honours with no card below that may serve for a declaration: they take nothing away."""
    if not isinstance(view.deal, PacketsView):
        return []
    alone = {f"pick {packet.number}" for packet in view.deal.packets if packet.left == 1}
    return [move for move in useful_picks(view, history) if move in alone]


def move_of(view: View, number: int) -> str:
    """Return a move of the search (`engine.search.playing`) in the record's notation."""
    deal = view.deal
    assert deal is not None
    if isinstance(deal, SpadesView) or number < FIRST_PICK:
        return f"play {pack_of(deal).codes[number]}"
    if number >= playing.FIRST_THREE:
        kind = 1 << number - playing.FIRST_THREE
        return next(move for move in view.moves if move in COMBINATIONS and COMBINATIONS[move].kind == kind)
    assert isinstance(deal, PacketsView)
    top = pack_of(deal).codes[picked_by(number)]
    return next(f"pick {packet.number}" for packet in deal.packets if packet.owner == view.seat and packet.top == top)


def undeclared(view: View) -> View:
    """The view without its declarations, for a robot that would make them at once."""
    return view.__class__(**{**view.__dict__, "moves": tuple(one for one in view.moves if one not in COMBINATIONS)})


def open_position(worlds: Worlds) -> SearchPosition:
    """The position of the one world that is left, counting from here."""
    start = worlds.start
    here: SearchPosition = object.__new__(SearchPosition)
    here.hands = [int(worlds.known[seat]) for seat in range(start[playing.SEATS])]
    here.turn, here.left, here.laid = int(start[playing.TURN]), int(start[playing.LEFT]), int(start[playing.LAID])
    here.wanted, here.pot = int(start[playing.WANTED]), int(start[playing.POT])
    here.best, here.winner = (int(start[playing.BEST]), int(start[playing.WINNER])) if here.laid else (-1, -1)
    here.taken = [0, 0]
    return here


def get_ready() -> None:
    """Have everything compiled that a strong robot may need: a second if it was before, most of a minute if not."""
    for game_id in ("metamazzo", "pizzichino", "tressette", "spades"):
        game = Game(game_id, dealer=0)
        game.deal(bytes(32))
        robot = StrongRobot(Random(1), Budget(share=1 / BATCH))
        while game.turn is not None:
            act(game, game.turn, robot)
