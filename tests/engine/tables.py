"""Deals laid out by hand, and helpers to play them."""

from collections.abc import Iterable, Sequence
from random import Random

from engine import GAMES, Game, legal_moves_for_record
from engine.cards import FRENCH, ITALIAN, Pack
from engine.options import RELEASE
from engine.position import search_position

DEALER, ELDEST = 0, 1  # seats at the tables for two


def remaining_cards(pack: Pack, *used: Iterable[str]) -> list[str]:
    """Return the unused cards, threes, twos and aces first, so that cards from the end cannot be declared."""
    used_codes = {code for codes in used for code in codes}
    return sorted((code for code in pack.new if code not in used_codes), key=lambda code: code[0] not in "32A")


def stock_table(game: str, eldest: str, dealer: str, stock: str = "", rules: dict[str, object] | None = None) -> Game:
    """Return a two-handed table with a stock; unnamed cards fill the hands and the stock."""
    first, second, drawn = eldest.split(), dealer.split(), stock.split()
    spare = remaining_cards(ITALIAN, first, second, drawn)
    while len(first) < 10:
        first.append(spare.pop())
    while len(second) < 10:
        second.append(spare.pop())
    drawn += spare
    table = Game(game, rules, dealer=DEALER)
    table.lay_out([*first[:5], *second[:5], *first[5:], *second[5:], *drawn])
    return table


def packets_table(
    game: str, packets: Sequence[str], rules: dict[str, object] | None = None, *, are_chosen: bool = True
) -> Game:
    """Return a table with packets, the first card of each on top.

    If ``are_chosen``, the eldest takes packets 1 to 4 and both hold their first two. Packets 3 and 4 then lie open for seat
    1, packets 7 and 8 for seat 0.
    """
    packet_codes = [packet.split() for packet in [*packets, *[""] * (8 - len(packets))]]
    spare = remaining_cards(ITALIAN, *packet_codes)
    for packet in packet_codes:
        while len(packet) < 5:
            packet.append(spare.pop())
    table = Game(game, rules, dealer=DEALER)
    table.lay_out([card for packet in packet_codes for card in packet])
    if are_chosen:
        play(table, "1: take 1 2 3 4", "1: hold 1 2", "0: hold 5 6")
    return table


def last_packet_card_table(declare: str, hand: str = "2D AD") -> Game:
    """Return a Pizzichino table: seat 1 moves, and its last packet card is the three of coins.

    In hand the card completes a napoletana if the two others are ``hand``, and nothing otherwise.
    """
    table = packets_table("pizzichino", [hand, "", "4D 5D 6D 7D 3D", "4C 5C 6C 7C FC"], {"declare": declare})
    while "pick 3" not in table.legal_moves(1):
        assert table.turn is not None
        legal = [move for move in table.legal_moves(table.turn) if move.startswith("play ")]
        from_packets = [move for move in (f"play {rank}{suit}" for suit in "CD" for rank in "4567F") if move in legal]
        table.play(table.turn, [*from_packets, legal[-1]][0])
    return table


def stacked_pack(hands: Sequence[str], dealer: int) -> list[str]:
    """Return a pack that deals these hands by seat; unnamed cards fill them."""
    hand_codes = [hand.split() for hand in hands]
    spare = remaining_cards(ITALIAN, *hand_codes)
    for hand in hand_codes:
        while len(hand) < 10:
            hand.append(spare.pop())
    order = [(dealer + 1 + step) % 4 for step in range(4)]
    return [card for half in (0, 5) for seat in order for card in hand_codes[seat][half : half + 5]]


def full_table(game: str, hands: Sequence[str], rules: dict[str, object] | None = None, dealer: int = 0) -> Game:
    """Return a four-handed table with these hands by seat."""
    table = Game(game, rules, dealer=dealer)
    table.lay_out(stacked_pack(hands, dealer))
    return table


def spades_table(first: str, second: str, rules: dict[str, object] | None = None, *, drafted: bool = True) -> Game:
    """Return a Spades table where the players draw these cards. If ``drafted``, they have drawn and kept them all."""
    hands = [first.split(), second.split()]
    spare = remaining_cards(FRENCH, *hands)
    for hand in hands:
        while len(hand) < 13:
            hand.append(spare.pop(0))
    order = [card for pair in zip(*hands, strict=True) for card in pair]
    table = Game("spades", rules, dealer=DEALER)
    table.lay_out(
        [card for drawn_card, discarded_card in zip(order, spare, strict=True) for card in (drawn_card, discarded_card)]
    )
    if drafted:
        draft(table)
    return table


def draft(table: Game) -> None:
    """Draw and keep every card."""
    while table.current and table.current.phase == "draft" and table.turn is not None:
        legal = table.legal_moves(table.turn)
        table.play(table.turn, "keep" if "keep" in legal else "draw")


def play(table: Game, *moves: str) -> None:
    """Play moves written as ``"0: play 3D"``."""
    for move in moves:
        seat, _, text = move.partition(": ")
        table.play(int(seat), text)


def play_cards(table: Game, order: str) -> None:
    """Play cards one after the other, each by the seat to move."""
    for card in order.split():
        assert table.turn is not None
        table.play(table.turn, f"play {card}")


def legal_declarations(table: Game, seat: int) -> list[str]:
    """Return the seat's legal declarations, without the word "declare"."""
    return [move.removeprefix("declare ") for move in table.legal_moves(seat) if move.startswith("declare ")]


def play_any_card(table: Game) -> None:
    """Play the first legal card of the seat to move."""
    assert table.turn is not None
    table.play(table.turn, next(move for move in table.legal_moves(table.turn) if move.startswith("play ")))


def play_out(table: Game) -> None:
    """Play the first legal card until the deal ends, without declaring."""
    while table.turn is not None:
        play_any_card(table)


def playable_cards(table: Game, seat: int) -> set[str]:
    """Return the cards that the seat can play."""
    return {move.split(" ")[1] for move in table.legal_moves(seat) if move.startswith("play ")}


def random_game(game: str, random: Random, rules: dict[str, object] | None = None, deals: int | None = None) -> Game:
    """Play random legal moves, in and out of turn, until the game or this many deals are over."""
    table = Game(game, rules)
    while not table.is_over and (deals is None or not table.needs_deal or table.deal_number < deals):
        play_random_step(table, random)
    return table


def tie_break_game(release: int = RELEASE) -> Game:
    """Return a game of Tressette in Quattro at 22:22, with the tie-break deal just dealt."""
    random = Random(14)
    table = Game("tressette", release=release)
    while table.turn is not None or min(table.totals) < table.rules.target:
        if table.needs_deal:
            table.deal(random.randbytes(32))
        assert table.turn is not None
        moves = [move for move in table.legal_moves(table.turn) if move not in ("claim", "resign")]
        table.play(table.turn, random.choice(moves))
    table.deal(random.randbytes(32))
    return table


def play_random_step(table: Game, random: Random) -> None:
    """Deal if a deal is due, or play a random legal move of any seat, including declarations out of turn."""
    if table.needs_deal:
        table.deal(random.randbytes(32))
        return
    seats = [seat for seat in range(table.kind.seats) if legal_moves_for_record(table, seat)]
    seat = random.choice(seats)
    moves = legal_moves_for_record(table, seat)
    other_moves = [move for move in moves if not move.startswith(("play ", "bid ", "exchange", "blind"))]
    if moves[0].startswith("bid "):
        moves = ["bid 4", "bid 5"]  # games with random bids hardly ever end
    elif "blind" in moves and random.random() < 0.9:
        moves = ["draw"]
    elif other_moves and random.random() < 0.5:
        moves = other_moves
    table.play(seat, random.choice(moves))


def random_rules(game: str, random: Random) -> dict[str, object]:
    """Return random values for a game's options."""
    return {name: random.choice(values) for name, values in GAMES[game].rules.choices().items()}


def game_in_play(game_id: str, random: Random, cards_left: int = 99) -> Game:
    """Return a game whose first deal is being played, with at most this many cards left."""
    while True:
        game = Game(game_id, dealer=random.randrange(GAMES[game_id].seats))
        game.deal(random.randbytes(32))
        while game.turn is not None and game.current is not None:
            if game.current.phase == "play" and search_position(game.current).cards_left <= cards_left:
                return game
            moves = [move for move in game.legal_moves(game.turn) if move not in ("claim", "resign", "blind")]
            game.play(game.turn, random.choice(moves))
