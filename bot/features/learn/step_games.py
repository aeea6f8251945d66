"""The tables of a course as games of the engine. The learner is in seat 0, the bot in seat 1."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import chain
from random import Random

from bot.actions import BadPayload
from bot.features.learn.courses import Course, Step
from bot.tables.chairs import Chair
from bot.tables.snapshot import OwnTexts, TableSnapshot
from bot.texts import gettext_noop as _
from bot.texts import texts
from engine import Game
from engine.packets import PacketsDeal
from engine.robots import act, make_robot
from engine.spades import NOT_SPADES, SpadesDeal
from engine.stock import StockDeal
from engine.tressette import TressetteDeal

CARD_LENGTH = 2  # characters of a card's code
NAME = "Buongioco"  # name of the bot at these tables
LEVEL = "medium"  # level of the bot in the last step
LESSON = OwnTexts(target=_("lesson"))


def step_table(game_id: str, step: Step) -> Game:
    """Return a game in which only the step's cards are left."""
    game = Game(game_id, dealer=0 if step.stock else 1)
    pack = game.kind.pack
    hand, stock, bot_cards = step.hand.split(), step.stock.split(), [*step.led.split(), *step.shown.split()]
    ours_open, theirs_open = ([pile.split() for pile in piles] for piles in (step.packets, step.other_packets))
    open_cards, other_open_cards = [*chain(*ours_open)], [*chain(*theirs_open)]
    known_cards = {*hand, *stock, *bot_cards, *open_cards, *other_open_cards}
    unseen_cards = [code for code in pack.new if code not in known_cards]
    count = len(hand) + len(open_cards)
    # Unseen cards fill the bot's hand up to the learner's number of cards.
    while len(bot_cards) + len(other_open_cards) < count:
        bot_cards.append(unseen_cards.pop())
    game.lay_out(pack.new)
    deal = game.current
    assert deal
    deal.cards = [pack.mask(hand), pack.mask(bot_cards)]
    deal.tricks = [*step.tricks]
    deal.tricks_done = deal.LENGTH - count
    deal.turn = 1 if step.led else 0
    if isinstance(deal, TressetteDeal):
        deal.acquired = [pack.mask(step.new.split()), 0]
        deal.shown_cards = [0, pack.mask(step.shown.split())]
    if isinstance(deal, StockDeal):
        deal.stock = ()
    if isinstance(deal, PacketsDeal):
        _lay_packets(deal, ours_open, theirs_open)
    if isinstance(deal, SpadesDeal):
        deal.stock = tuple(pack.index[code] for code in (*stock, *unseen_cards))
        _set_phase(deal, step)
    if step.led:
        game.play(1, f"play {step.led}")
    return game


def _lay_packets(deal: PacketsDeal, *piles: Sequence[Sequence[str]]) -> None:
    """Lay out the open packets: 3 and 4 of the first seat, 7 and 8 of the second. The other four are in the hands."""
    deal.phase = "play"
    deal.packets = [()] * 9
    deal.owned_packets = [frozenset({1, 2, 3, 4}), frozenset({5, 6, 7, 8})]
    deal.packets_in_hand = [frozenset({1, 2}), frozenset({5, 6})]
    deal.on_table = [(3, 4), (7, 8)]
    for seat, own_piles in enumerate(piles):
        for number, pile in zip(deal.on_table[seat], own_piles, strict=False):
            deal.packets[number] = cards = tuple(deal.PACK.index[code] for code in pile)
            deal.tops[seat] |= 1 << cards[0]
        deal.cards[seat] |= deal.tops[seat]


def _set_phase(deal: SpadesDeal, step: Step) -> None:
    if step.stock:
        deal.has_drawn, deal.drawn_card = [True, True], deal.stock[0]
    elif step.right.startswith("bid "):
        deal.phase = "bid"
    else:
        deal.phase, deal.bids = "play", [*(step.bids or (None, None))]
        deal.broken = bool(step.led)
        deal.allowed_cards = 0 if step.led else NOT_SPADES


def step_moves(game: Game, step: Step) -> list[str]:
    """Return the moves that a step offers, including cards that cannot be played."""
    if step.moves:
        return [*step.moves]
    legal, deal = game.legal_moves(0)[:-1], game.current
    assert deal
    # Most steps leave out picking up, which would only delay the right move.
    omitted_verbs = ("play ",) if step.right.startswith("pick ") else ("play ", "pick ")
    other_moves = [move for move in legal if not move.startswith(omitted_verbs)]
    if deal.phase != "play":
        return other_moves
    packet_tops = deal.cards[0] & ~deal.hand(0)
    return [*other_moves, *(f"play {code}" for mask in (deal.hand(0), packet_tops) for code in deal.PACK.names(mask))]


def ending_table(course: Course, taps: str) -> Game:
    """Return the last five tricks of the course's deal after the learner's moves.

    ``taps`` has a digit for each of these moves. The game is cached, so callers must not change it.
    """
    game, taps_so_far = _ending_game(course.game, course.dealer, course.deal, course.played, ""), ""
    for number in map(int, taps):
        if number >= len(ending_moves(game)):
            raise BadPayload()
        taps_so_far += str(number)
        game = _ending_game(course.game, course.dealer, course.deal, course.played, taps_so_far)
    return game


@lru_cache(1024)
def _ending_game(game_id: str, dealer: int, deal: str, played: str, taps: str) -> Game:
    """Return the game of `ending_table`. Cached: only a few hundred exist, and a robot's move takes up to 0.1 s."""
    if taps:
        game = _ending_game(game_id, dealer, deal, played, taps[:-1]).copy()
        game.play(0, ending_moves(game)[int(taps[-1])])
        while game.turn == 1:
            act(game, 1, make_robot(LEVEL, Random(0)))
        return game
    game = Game(game_id, dealer=dealer)
    game.deal(sha256(deal.encode()).digest())
    for move in played.split(","):
        game.play(game.turn, f"play {move}" if len(move) == CARD_LENGTH else move)
    return game


def ending_moves(game: Game) -> list[str]:
    """Return the learner's moves in the last step; none once the deal is over."""
    return game.legal_moves(0)[:-1] if game.turn == 0 else []


def table_snapshot(game: Game, language: str) -> TableSnapshot:
    view, history = game.view(0), tuple(game.history(0))
    _ = texts(language).gettext
    return TableSnapshot(
        code="",
        phase="playing",
        kind=game.kind,
        rules=view.rules,
        chairs=(Chair("", _("you")), Chair("", NAME)),
        seat=0,
        version=0,
        view=view,
        history=history,
        since=next((number for number in range(len(history), 0, -1) if history[number - 1][0] == 0), 0),
        alarm="",
        late_counts=(0, 0),
        strict=False,
        clock=0,
        asking=None,
        is_practice=False,
        is_duplicate=True,
        fixture=None,
        are_strangers=False,
        phrases=(),
        can_say=False,
        own_texts=LESSON,
    )
