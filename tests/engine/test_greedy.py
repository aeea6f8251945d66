"""The greedy robot's rules of thumb, each in a position where the other choice would be worse."""

from random import Random

import pytest

from engine import Game
from engine.cards import FRENCH
from engine.errors import ClaimNeedsLead
from engine.robots import make_robot
from engine.robots.greedy import has_won
from engine.robots.memory import remember
from tests.engine.tables import (
    cards,
    draft,
    full_table,
    last_on_its_packet,
    packets_table,
    play,
    play_any,
    playable,
    rest_of,
    spades_table,
    stock_table,
    tie_break,
)


def choice(table: Game, seat: int | None = None) -> str | None:
    """What the greedy robot does in a seat, by default where the turn is."""
    seat = table.turn if seat is None else seat
    assert seat is not None
    return make_robot("greedy", Random(0)).choose(table.view(seat), table.history(seat))


# Tressette


def test_out_of_turn_it_waits() -> None:
    table = full_table("tressette", ["", "", "", ""])
    assert choice(table, 2) is None


def test_of_what_it_may_declare_it_takes_the_most() -> None:
    table = stock_table("metamazzo", "3C 2C AC 3D 3S 3B", "")
    assert {"declare napoletana C", "declare four 3"} <= set(table.legal_moves(1))
    assert choice(table) == "declare four 3"


FOLLOWING = {
    "an ace is taken, with the cheapest card that takes it": ("AD", "3D 2D 4D", "play 2D"),
    "its own ace goes home where it wins": ("5D", "AD 6D 4D", "play AD"),
    "and is kept where it would be lost": ("3D", "AD 6D 4D", "play 4D"),
    "who cannot follow throws away what is worth nothing": ("3D", "AC RC 4C 3S 2B 7B RS FS CS 5C", "play 4C"),
    "honours are kept where there is little to win": ("4D", "3D 5D", "play 5D"),
}


@pytest.mark.parametrize(("led", "hand", "played"), FOLLOWING.values(), ids=FOLLOWING)
def test_following(led: str, hand: str, played: str) -> None:
    table = stock_table("metamazzo", led, hand)
    cards(table, led)
    assert choice(table) == played


def test_an_ace_goes_to_a_partner_who_cannot_be_beaten() -> None:
    table = full_table("tressette", ["7D 6S", "3D", "5D", "AD 4D"])
    cards(table, "3D 5D")
    assert choice(table) == "play AD"


def test_an_ace_is_not_given_to_rivals_who_lead() -> None:
    table = full_table("tressette", ["7D 6D 3D", "RD", "2D 5D", "AD 4D"])
    cards(table, "RD 2D")
    assert choice(table) == "play 4D"


def test_who_did_not_follow_has_not_won_however_high_the_card() -> None:
    no_coins = "4B 4C 5C 6C 7C FC 4S 5S 6S 7S"
    table = full_table("tressette", ["AD 4D", "7D", "6D", no_coins])
    cards(table, "7D 6D 4B")
    assert choice(table) == "play AD"
    table = full_table("tressette", ["AD 4D", "2D", no_coins, "6D"])
    cards(table, "2D 4B 6D")
    assert choice(table) == "play 4D"


THROWN = {
    "4": "4D 5D 6D 7D FD CD RD 5S 6S 7S",
    "5": "5D 6D 7D FD CD RD 6S 7S FS CS",
    "6": "6D 7D FD CD RD 7S FS CS RS 7B",
    "7": "7D FD CD RD FS CS RS FB CB RB",
    "F": "FD CD RD CS RS CB RB 2D 2S 2B",
    "C": "CD RD RS RB 2D 2S 2B 3D AS AB",
    "R": "RD 2D 2S 2B 3D 3S 3B AD AS AB",
}


@pytest.mark.parametrize(("rank", "hand"), THROWN.items(), ids=THROWN)
def test_what_is_lost_is_of_the_rank_that_is_of_least_use(rank: str, hand: str) -> None:
    """The four, then card by card up to the king, and honours last of all."""
    table = full_table("tressette", [hand, "4C", "5C", "6C"])
    cards(table, "4C 5C 6C")
    assert choice(table) == f"play {rank}D"


@pytest.mark.parametrize("winner", ["7D", "FD", "2D"])
def test_a_trick_without_points_is_won_for_the_lead(winner: str) -> None:
    table = stock_table("metamazzo", "6D", f"{winner} 4D")
    cards(table, "6D")
    assert choice(table) == f"play {winner}"


def test_an_ace_goes_to_a_partner_whose_lead_will_hold() -> None:
    """One rival is still to come: it may hold the three, but hardly will."""
    table = full_table("tressette", ["4B", "2D", "6D", "AD 4D"])
    cards(table, "2D 6D")
    assert choice(table) == "play AD"


def second_trick(declaring: int, led: str) -> Game:
    """Seat 1 leads the second trick with this, after a seat has shown that it holds the three of coins."""
    hands = ["4C 7D 4S 5S 5D", "3B 7B 6D RD 4B", "6C AD 4D 6S 7S", "7C FD CD FS CS"]
    threes = {0: "4C 7D 3D 3C 3S", 3: "7C FD 3D 3C 3S"}
    hands[declaring] = threes[declaring]
    table = full_table("tressette", hands)
    cards(table, "3B")
    for _ in range(3):
        assert table.turn is not None
        batons = [card for card in playable(table, table.turn) if card[1] == "B"]
        cards(table, min(batons or playable(table, table.turn) & {"4C", "6C", "7C"}))
    table.play(declaring, "declare three 3 missing B")
    cards(table, led)
    return table


def test_an_ace_is_kept_from_a_rival_who_is_known_to_hold_the_three_and_still_to_play() -> None:
    assert choice(second_trick(3, "RD")) == "play 4D"


def test_an_ace_goes_home_where_the_three_is_known_to_be_the_partners() -> None:
    assert choice(second_trick(0, "RD")) == "play AD"


def test_it_leads_what_cannot_be_beaten() -> None:
    table = stock_table("metamazzo", "3D 2C AB 4S 4B 4C 5S 5B 5C 6S", "")
    assert choice(table) == "play 3D"


def test_of_the_packets_it_holds_those_whose_tops_are_worth_least() -> None:
    """What is worth something can be picked up from the table later."""
    packets = ["AD", "4S", "3C", "5S", "4B", "5B", "6B", "7B"]
    table = packets_table("pizzichino", packets, {"packets": "peek"}, chosen=False)
    play(table, "1: take 1 2 3 4")
    assert choice(table) == "hold 2 4"


def test_it_picks_up_an_honour() -> None:
    table = packets_table("pizzichino", ["", "", "AD", "4S"])
    assert choice(table) == "pick 3"


@pytest.mark.parametrize(
    ("declare", "held", "picks"),
    [("acquired", "2D AD", True), ("acquired", "", False), ("none", "2D AD", False), ("dealt", "2D AD", False)],
)
def test_it_picks_up_a_packets_last_card_only_where_that_may_be_declared(declare: str, held: str, picks: bool) -> None:
    assert (choice(last_on_its_packet(declare, held)) == "pick 3") == picks


def test_it_counts_what_was_declared_and_taken_before_it_claims() -> None:
    table = stock_table("metamazzo", "3D 3C 3S 3B AD AC AS AB 2D 2C", "4D 4C 4S 4B 5D", rules={"target": 21})
    play(table, "1: declare four 3", "1: declare four A")
    assert not won(table, 1)
    cards(table, "3D 4D AD 5D AC 4C")
    # Seven thirds are two points.
    table.totals = (0, 21 - 8 - 2)
    assert won(table, 1)
    table.totals = (0, 21 - 8 - 3)
    assert not won(table, 1)


def test_robots_claim_a_tie_break_only_with_a_lead() -> None:
    table = tie_break()
    assert not any(won(table, seat) for seat in range(4))
    while table.turn is not None:
        for seat in range(4):
            if won(table, seat):
                table.play(seat, "claim")
                return
        with pytest.raises(ClaimNeedsLead):
            table.play(table.turn, "claim")
        play_any(table)
    pytest.fail("nobody led before the deal was over")


def won(table: Game, seat: int) -> bool:
    """Whether a seat has won by its own count."""
    view = table.view(seat)
    assert view.deal
    return has_won(view, remember(view.deal, table.history(seat), seat))


# Spades

HAND = "AS KS 5S AH 7H 3H KD 9D 4D QC 8C 6C 2C"


@pytest.mark.parametrize(
    ("card", "answer"),
    [("AH", "keep"), ("QD", "keep"), ("2S", "keep"), ("JH", "pass"), ("9C", "pass")],
)
def test_it_drafts_high_cards_and_spades(card: str, answer: str) -> None:
    table = spades_table(card, "", drafted=False)
    assert choice(table) == "draw"
    play(table, "0: draw")
    assert choice(table) == answer


@pytest.mark.parametrize(
    ("card", "answer"),
    [("AH", "pass"), ("QD", "pass"), ("2S", "pass"), ("JH", "keep"), ("9C", "keep")],
)
def test_after_a_double_nil_it_drafts_what_wins_nothing(card: str, answer: str) -> None:
    table = spades_table(card, "", drafted=False)
    play(table, "0: blind")
    assert choice(table) == "draw"
    play(table, "0: draw")
    assert choice(table) == answer


@pytest.mark.parametrize(
    ("hand", "bid"),
    [
        (HAND, "bid 4"),
        ("9H 8H 7H 6H 5H 4D 3D 2D 9C 8C 7C 3C 2S", "bid 0"),
        ("9H 8H 7H 6H 5H 4D 3D 2D 9C 8C 7C 3C 5S", "bid 1"),
        ("AS KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S", "bid 9"),
    ],
)
def test_it_bids_the_tricks_that_its_hand_is_likely_to_win(hand: str, bid: str) -> None:
    assert choice(spades_table("", hand)) == bid


@pytest.mark.parametrize(
    ("hand", "exchange"),
    [
        (HAND, "exchange AH AS KS"),
        ("KH 8H 7H 6H 5H 4D 3D 2D 9C 8C 7C 3C 2S", "exchange 2S KH"),
        ("JH 8H 7H 6H 5H 4D 3D 2D 9C 8C 7C 3C 2C", "exchange"),
    ],
)
def test_after_a_double_nil_it_gives_away_what_is_worth_more_than_what_comes(hand: str, exchange: str) -> None:
    table = spades_table("", hand, drafted=False)
    play(table, "0: draw", "0: keep", "1: blind")
    draft(table)
    assert choice(table) == exchange


@pytest.mark.parametrize(
    ("thrown", "exchange"),
    [("AS KS QS JS TS 9S 8S 7S 6S 5S AH AD", "exchange"), ("2H 3H 4H 9H TH 5D 6D 7D 4C 5C 6C TC", "exchange QH")],
)
def test_what_it_threw_away_itself_may_come_back(thrown: str, exchange: str) -> None:
    """Whether a queen is more than the mean depends on it."""
    hand = "QH JH 8H 7H 6H 4D 3D 2D 9C 8C 7C 3C 2C".split()
    table = Game("spades", dealer=1)
    gone = thrown.split()
    rest = rest_of(FRENCH, hand, gone)
    pack: list[str] = []
    for turn, card in enumerate(hand):
        pack += [gone[turn], card] if turn < len(gone) else [card, rest.pop()]
        pack += [rest.pop(), rest.pop()]
    table.lay_out(pack)
    play(table, "1: blind")
    while table.current and table.current.phase == "draft" and table.turn is not None:
        looks = "keep" in table.legal_moves(table.turn)
        passes = table.turn == 1 and table.view(1).deal.drawn in gone  # type: ignore[union-attr]
        table.play(table.turn, "draw" if not looks else "pass" if passes else "keep")
    assert choice(table) == exchange


def bidding(first: int, second: int, lead: str = "") -> Game:
    """Seat 0 holds HAND and has bid ``first``; seat 1 holds most of what is below it, and may have led."""
    table = spades_table(HAND, "QS 4S 2S KH 8H 2H AD 7D 3D KC JC 5C 3C")
    play(table, f"1: bid {second}", f"0: bid {first}")
    if lead:
        cards(table, lead)
    return table


def test_while_it_wants_tricks_it_wins_them_cheaply() -> None:
    assert choice(bidding(4, 4, "8H")) == "play AH"
    assert choice(bidding(4, 4, "3C")) == "play 6C"
    assert choice(bidding(4, 4, "KC")) == "play 2C"


def test_with_its_bid_made_it_throws_high_cards_under_others() -> None:
    assert choice(bidding(0, 4, "KC")) == "play QC"
    assert choice(bidding(0, 4, "AD")) == "play KD"


def test_while_it_wants_tricks_it_leads_the_card_likeliest_to_win() -> None:
    assert choice(bidding(4, 4)) == "play AD"


def test_of_two_leads_that_win_for_certain_it_keeps_the_dearer() -> None:
    table = spades_table(HAND.replace("KD", "TD"), "QS 4S 2S KH 8H 2H AD KD 3D KC JC 5C 3C")
    play(table, "1: bid 4", "0: bid 4")
    assert choice(table) == "play KD"


def test_who_wants_no_trick_leads_the_highest_of_those_likely_to_be_beaten() -> None:
    assert choice(bidding(4, 0)) == "play 5C"


def without_clubs(hand: str, bid: int) -> Game:
    """Seat 0 has no club in its hand, and clubs are led."""
    table = spades_table(hand, "QS 4S 2S KH 8H TH AD 7D 3D KC JC 5C 3C")
    play(table, "1: bid 4", f"0: bid {bid}")
    cards(table, "3C")
    return table


def test_who_cannot_follow_wins_with_the_lowest_spade_and_with_no_other_suit() -> None:
    assert choice(without_clubs("AS KS 5S AH 7H 3H KD 9D 4D QD TD JD 2D", 4)) == "play 5S"


def test_a_spade_led_is_won_with_a_higher_one() -> None:
    table = without_clubs("AS KS 5S AH 7H 3H KD 9D 4D QD TD JD 2D", 4)
    cards(table, "AS 5S")
    assert choice(table) == "play QS"


def test_with_as_many_tricks_as_bid_it_wants_no_more() -> None:
    table = bidding(1, 4, "3C")
    cards(table, "6C")
    assert choice(table) == "play 4D"


@pytest.mark.parametrize(("bid", "played"), [(4, "2D"), (0, "AH")])
def test_who_can_only_lose_throws_the_lowest_while_it_wants_tricks_and_else_the_highest(bid: int, played: str) -> None:
    assert choice(without_clubs("AH 7H 3H KD 9D 4D QD TD JD 2D 6H 5H 4H", bid)) == f"play {played}"


def test_who_wants_no_trick_and_must_win_one_lets_the_dearest_card_go() -> None:
    table = spades_table("AS KS 5S AH KH QH KD 9D 4D QC 8C 6C 2C", "QS 4S 2S 3H 8H 2H AD 7D 3D KC JC 5C 3C")
    play(table, "1: bid 4", "0: bid 0")
    cards(table, "2H")
    assert choice(table) == "play AH"
