"""The medium robot's rules of thumb, each in a position with a worse alternative."""

from collections import Counter
from random import Random

import pytest

from engine import Game
from engine.cards import FRENCH
from engine.errors import ClaimNeedsLead
from engine.robots import make_robot
from engine.robots.medium import MediumRobot, has_won
from engine.robots.memory import remember
from tests.engine.tables import (
    draft,
    full_table,
    last_packet_card_table,
    packets_table,
    play,
    play_any_card,
    play_cards,
    playable_cards,
    remaining_cards,
    spades_table,
    stock_table,
    tie_break_game,
)


def choose_move(table: Game, seat: int | None = None) -> str | None:
    """Return the medium robot's move for a seat, by default the seat to move."""
    seat = table.turn if seat is None else seat
    assert seat is not None
    return make_robot("greedy", Random(0)).choose(table.view(seat), table.history(seat))


# Tressette


def test_robot_waits_out_of_turn() -> None:
    table = full_table("tressette", ["", "", "", ""])
    assert choose_move(table, 2) is None


def test_robot_declares_the_combination_worth_most() -> None:
    table = stock_table("metamazzo", "3C 2C AC 3D 3S 3B", "")
    assert {"declare napoletana C", "declare four 3"} <= set(table.legal_moves(1))
    assert choose_move(table) == "declare four 3"


FOLLOWING = {
    "takes an ace with the cheapest winner": ("AD", "3D 2D 4D", "play 2D"),
    "plays its ace if it wins": ("5D", "AD 6D 4D", "play AD"),
    "keeps its ace if it would be lost": ("3D", "AD 6D 4D", "play 4D"),
    "throws away a worthless card if void": ("3D", "AC RC 4C 3S 2B 7B RS FS CS 5C", "play 4C"),
    "keeps honours if little can be won": ("4D", "3D 5D", "play 5D"),
}


@pytest.mark.parametrize(("led_card", "hand", "played"), FOLLOWING.values(), ids=FOLLOWING)
def test_robot_follows_by_rules_of_thumb(led_card: str, hand: str, played: str) -> None:
    table = stock_table("metamazzo", led_card, hand)
    play_cards(table, led_card)
    assert choose_move(table) == played


def test_ace_goes_to_a_partner_who_cannot_be_beaten() -> None:
    table = full_table("tressette", ["7D 6S", "3D", "5D", "AD 4D"])
    play_cards(table, "3D 5D")
    assert choose_move(table) == "play AD"


def test_ace_is_not_given_to_winning_rivals() -> None:
    table = full_table("tressette", ["7D 6D 3D", "RD", "2D 5D", "AD 4D"])
    play_cards(table, "RD 2D")
    assert choose_move(table) == "play 4D"


def test_high_card_of_another_suit_does_not_win() -> None:
    no_coins = "4B 4C 5C 6C 7C FC 4S 5S 6S 7S"
    table = full_table("tressette", ["AD 4D", "7D", "6D", no_coins])
    play_cards(table, "7D 6D 4B")
    assert choose_move(table) == "play AD"
    table = full_table("tressette", ["AD 4D", "2D", no_coins, "6D"])
    play_cards(table, "2D 4B 6D")
    assert choose_move(table) == "play 4D"


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
def test_losing_card_is_of_the_least_useful_rank(rank: str, hand: str) -> None:
    """Ranks go from the four up to the king, and honours are last."""
    table = full_table("tressette", [hand, "4C", "5C", "6C"])
    play_cards(table, "4C 5C 6C")
    assert choose_move(table) == f"play {rank}D"


@pytest.mark.parametrize("winner", ["7D", "FD", "2D"])
def test_pointless_trick_is_won_for_the_lead(winner: str) -> None:
    table = stock_table("metamazzo", "6D", f"{winner} 4D")
    play_cards(table, "6D")
    assert choose_move(table) == f"play {winner}"


def test_ace_goes_to_a_partner_whose_lead_will_hold() -> None:
    """One rival still has to play, but is unlikely to hold the three."""
    table = full_table("tressette", ["4B", "2D", "6D", "AD 4D"])
    play_cards(table, "2D 6D")
    assert choose_move(table) == "play AD"


def second_trick_table(declaring: int, led: str) -> Game:
    """Return a table with the three of coins shown by ``declaring``; seat 1 leads the second trick."""
    hands = ["4C 7D 4S 5S 5D", "3B 7B 6D RD 4B", "6C AD 4D 6S 7S", "7C FD CD FS CS"]
    threes = {0: "4C 7D 3D 3C 3S", 3: "7C FD 3D 3C 3S"}
    hands[declaring] = threes[declaring]
    table = full_table("tressette", hands)
    play_cards(table, "3B")
    for _ in range(3):
        assert table.turn is not None
        batons = [card for card in playable_cards(table, table.turn) if card[1] == "B"]
        play_cards(table, min(batons or playable_cards(table, table.turn) & {"4C", "6C", "7C"}))
    table.play(declaring, "declare three 3 missing B")
    play_cards(table, led)
    return table


def test_ace_is_kept_from_a_rival_known_to_hold_the_three() -> None:
    assert choose_move(second_trick_table(3, "RD")) == "play 4D"


def test_ace_is_played_if_the_partner_holds_the_three() -> None:
    assert choose_move(second_trick_table(0, "RD")) == "play AD"


def test_robot_leads_a_card_that_cannot_be_beaten() -> None:
    table = stock_table("metamazzo", "3D 2C AB 4S 4B 4C 5S 5B 5C 6S", "")
    assert choose_move(table) == "play 3D"


def test_robot_holds_the_packets_with_the_cheapest_tops() -> None:
    """The more valuable cards can be picked up from the table later."""
    packets = ["AD", "4S", "3C", "5S", "4B", "5B", "6B", "7B"]
    table = packets_table("pizzichino", packets, {"packets": "peek"}, are_chosen=False)
    play(table, "1: take 1 2 3 4")
    assert choose_move(table) == "hold 2 4"


def test_robot_picks_up_an_honour() -> None:
    table = packets_table("pizzichino", ["", "", "AD", "4S"])
    assert choose_move(table) == "pick 3"


@pytest.mark.parametrize(
    ("declare", "hand", "picks"),
    [("acquired", "2D AD", True), ("acquired", "", False), ("none", "2D AD", False), ("dealt", "2D AD", False)],
)
def test_last_packet_card_is_picked_up_only_to_declare(declare: str, hand: str, picks: bool) -> None:
    assert (choose_move(last_packet_card_table(declare, hand)) == "pick 3") == picks


def test_claim_count_includes_declarations_and_tricks() -> None:
    table = stock_table("metamazzo", "3D 3C 3S 3B AD AC AS AB 2D 2C", "4D 4C 4S 4B 5D", rules={"target": 21})
    play(table, "1: declare four 3", "1: declare four A")
    assert not has_won_by_count(table, 1)
    play_cards(table, "3D 4D AD 5D AC 4C")
    # Seven thirds are two points.
    table.totals = (0, 21 - 8 - 2)
    assert has_won_by_count(table, 1)
    table.totals = (0, 21 - 8 - 3)
    assert not has_won_by_count(table, 1)


def test_robots_claim_a_tie_break_only_with_a_lead() -> None:
    table = tie_break_game()
    assert not any(has_won_by_count(table, seat) for seat in range(4))
    while table.turn is not None:
        for seat in range(4):
            if has_won_by_count(table, seat):
                table.play(seat, "claim")
                return
        with pytest.raises(ClaimNeedsLead):
            table.play(table.turn, "claim")
        play_any_card(table)
    pytest.fail("neither side had a lead before the deal was over")


def has_won_by_count(table: Game, seat: int) -> bool:
    """Return whether a seat has won by its own count."""
    view = table.view(seat)
    assert view.deal
    return has_won(view, remember(view.deal, table.history(seat), seat))


# Spades

HAND = "AS KS 5S AH 7H 3H KD 9D 4D QC 8C 6C 2C"


@pytest.mark.parametrize(
    ("card", "answer"),
    [("AH", "keep"), ("QD", "keep"), ("2S", "keep"), ("JH", "pass"), ("9C", "pass")],
)
def test_robot_drafts_high_cards_and_spades(card: str, answer: str) -> None:
    table = spades_table(card, "", drafted=False)
    assert choose_move(table) == "draw"
    play(table, "0: draw")
    assert choose_move(table) == answer


@pytest.mark.parametrize(
    ("card", "answer"),
    [("AH", "pass"), ("QD", "pass"), ("2S", "pass"), ("JH", "keep"), ("9C", "keep")],
)
def test_robot_drafts_low_cards_after_a_double_nil(card: str, answer: str) -> None:
    table = spades_table(card, "", drafted=False)
    play(table, "0: blind")
    assert choose_move(table) == "draw"
    play(table, "0: draw")
    assert choose_move(table) == answer


@pytest.mark.parametrize(
    ("hand", "bid"),
    [
        (HAND, "bid 4"),
        ("9H 8H 7H 6H 5H 4D 3D 2D 9C 8C 7C 3C 2S", "bid 0"),
        ("9H 8H 7H 6H 5H 4D 3D 2D 9C 8C 7C 3C 5S", "bid 1"),
        ("AS KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S", "bid 9"),
    ],
)
def test_robot_bids_the_tricks_its_hand_is_likely_to_win(hand: str, bid: str) -> None:
    assert choose_move(spades_table("", hand)) == bid


@pytest.mark.parametrize(
    ("hand", "exchange"),
    [
        (HAND, "exchange AH AS KS"),
        ("KH 8H 7H 6H 5H 4D 3D 2D 9C 8C 7C 3C 2S", "exchange 2S KH"),
        ("JH 8H 7H 6H 5H 4D 3D 2D 9C 8C 7C 3C 2C", "exchange"),
    ],
)
def test_double_nil_exchanges_cards_above_the_mean(hand: str, exchange: str) -> None:
    table = spades_table("", hand, drafted=False)
    play(table, "0: draw", "0: keep", "1: blind")
    draft(table)
    assert choose_move(table) == exchange


@pytest.mark.parametrize(
    ("thrown", "exchange"),
    [("AS KS QS JS TS 9S 8S 7S 6S 5S AH AD", "exchange"), ("2H 3H 4H 9H TH 5D 6D 7D 4C 5C 6C TC", "exchange QH")],
)
def test_exchange_expects_its_own_discards_back(thrown: str, exchange: str) -> None:
    """The robot's discards decide whether a queen is above the mean of the cards that it can get."""
    hand = "QH JH 8H 7H 6H 4D 3D 2D 9C 8C 7C 3C 2C".split()
    table = Game("spades", dealer=1)
    discards = thrown.split()
    undealt_cards = remaining_cards(FRENCH, hand, discards)
    pack: list[str] = []
    for turn, card in enumerate(hand):
        pack += [discards[turn], card] if turn < len(discards) else [card, undealt_cards.pop()]
        pack += [undealt_cards.pop(), undealt_cards.pop()]
    table.lay_out(pack)
    play(table, "1: blind")
    while table.current and table.current.phase == "draft" and table.turn is not None:
        has_drawn = "keep" in table.legal_moves(table.turn)
        passes = table.turn == 1 and table.view(1).deal.drawn in discards  # type: ignore[union-attr]
        table.play(table.turn, "draw" if not has_drawn else "pass" if passes else "keep")
    assert choose_move(table) == exchange


def bid_table(first: int, second: int, lead: str = "") -> Game:
    """Return a table with HAND in seat 0 and these bids; seat 1 has led unless ``lead`` is empty."""
    table = spades_table(HAND, "QS 4S 2S KH 8H 2H AD 7D 3D KC JC 5C 3C")
    play(table, f"1: bid {second}", f"0: bid {first}")
    if lead:
        play_cards(table, lead)
    return table


def test_robot_that_wants_tricks_wins_them_cheaply() -> None:
    assert choose_move(bid_table(4, 4, "8H")) == "play AH"
    assert choose_move(bid_table(4, 4, "3C")) == "play 6C"
    assert choose_move(bid_table(4, 4, "KC")) == "play 2C"


def test_robot_with_its_bid_made_throws_high_cards_under_others() -> None:
    assert choose_move(bid_table(0, 4, "KC")) == "play QC"
    assert choose_move(bid_table(0, 4, "AD")) == "play KD"


def test_robot_that_wants_tricks_leads_its_likeliest_winner() -> None:
    assert choose_move(bid_table(4, 4)) == "play AD"


def test_robot_keeps_the_dearer_of_two_sure_winners() -> None:
    table = spades_table(HAND.replace("KD", "TD"), "QS 4S 2S KH 8H 2H AD KD 3D KC JC 5C 3C")
    play(table, "1: bid 4", "0: bid 4")
    assert choose_move(table) == "play KD"


def test_nil_leads_the_highest_card_likely_to_be_beaten() -> None:
    assert choose_move(bid_table(4, 0)) == "play 5C"


def clubs_led_table(hand: str, bid: int) -> Game:
    """Return a table with a club led and no clubs in seat 0's hand."""
    table = spades_table(hand, "QS 4S 2S KH 8H TH AD 7D 3D KC JC 5C 3C")
    play(table, "1: bid 4", f"0: bid {bid}")
    play_cards(table, "3C")
    return table


def test_void_player_wins_with_the_lowest_spade() -> None:
    assert choose_move(clubs_led_table("AS KS 5S AH 7H 3H KD 9D 4D QD TD JD 2D", 4)) == "play 5S"


def test_led_spade_is_won_with_a_higher_one() -> None:
    table = clubs_led_table("AS KS 5S AH 7H 3H KD 9D 4D QD TD JD 2D", 4)
    play_cards(table, "AS 5S")
    assert choose_move(table) == "play QS"


def test_robot_with_its_bid_made_avoids_more_tricks() -> None:
    table = bid_table(1, 4, "3C")
    play_cards(table, "6C")
    assert choose_move(table) == "play 4D"


@pytest.mark.parametrize(("bid", "played"), [(4, "2D"), (0, "AH")])
def test_losing_card_is_low_or_high_depending_on_the_bid(bid: int, played: str) -> None:
    assert choose_move(clubs_led_table("AH 7H 3H KD 9D 4D QD TD JD 2D 6H 5H 4H", bid)) == f"play {played}"


def test_nil_forced_to_win_plays_its_dearest_card() -> None:
    table = spades_table("AS KS 5S AH KH QH KD 9D 4D QC 8C 6C 2C", "QS 4S 2S 3H 8H 2H AD 7D 3D KC JC 5C 3C")
    play(table, "1: bid 4", "0: bid 0")
    play_cards(table, "2H")
    assert choose_move(table) == "play AH"


def test_medium_robot_signals_truthfully_with_its_leads() -> None:
    said = Counter[str]()
    for number in range(40):
        game = Game("tressette", dealer=0)
        game.deal(Random(f"signals {number}").randbytes(32))
        robot = MediumRobot(Random(number))
        while game.turn is not None and game.current is not None:
            seat, leads = game.turn, not game.current.trick
            view = game.view(seat)
            move = robot.choose(view, game.history(seat))
            assert move
            assert view.deal
            game.play(seat, move)
            word, *arguments = move.split(" ")
            if word != "play":
                continue
            card, *signals = arguments
            others = [code for code in view.deal.hand or () if code[1] == card[1] and code != card]
            honours = [code for code in others if code[0] in "32A"]
            expected = "volo" if not others else "busso" if len(honours) >= 2 else ""
            assert signals == ([expected] if leads and expected else [])
            said.update(signals)
    assert said["volo"]
    assert said["busso"]
    table = full_table("tavolo", ["", "", "", ""])
    assert " " not in str(MediumRobot(Random(0)).choose(table.view(1), [])).removeprefix("play ")
