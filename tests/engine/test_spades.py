"""Spades for two."""

import pytest

from engine import Game
from engine.cards import FRENCH
from engine.deal import Carry
from engine.errors import (
    AlreadyBid,
    AlreadyBlind,
    MustFollow,
    NotForChanceToGive,
    NotInHand,
    NotNow,
    NotYourTurn,
    SpadesNotBroken,
    TooLateForBlind,
    UnknownMove,
)
from engine.options import Spades
from engine.spades import SpadesDeal
from engine.views import SpadesView
from tests.engine.tables import draft, play, play_any_card, play_cards, play_out, playable_cards, spades_table

FIRST = "2C 3C 4C 5C 6C 7C 8C 9C 2H 3H 4H 2S 3S"
SECOND = "TC JC QC KC AC 2D 3D 4D 5D 5H 6H AS KS"


def view_spades(table: Game, seat: int | None) -> SpadesView:
    view = table.view(seat).deal
    assert isinstance(view, SpadesView)
    return view


# The draft


def test_draft_keeping_discards_the_next_card_unseen() -> None:
    table = Game("spades", dealer=0)
    table.lay_out(FRENCH.new)
    assert table.turn == 0
    assert view_spades(table, 0).drawn is None
    table.play(0, "draw")
    assert view_spades(table, 0).drawn == "2C"
    assert view_spades(table, 1).drawn is None
    table.play(0, "keep")
    view = view_spades(table, 0)
    assert (view.hand, view.discarded, view.discards, view.stock) == (("2C",), (), 1, 50)
    assert table.turn == 1


def test_draft_passing_keeps_the_next_card() -> None:
    table = Game("spades", dealer=0)
    table.lay_out(FRENCH.new)
    play(table, "0: draw", "0: pass")
    view = view_spades(table, 0)
    assert (view.hand, view.discarded, view.discards) == (("3C",), ("2C",), 1)
    assert view_spades(table, 1).discarded == ()


def test_draft_alternates_to_13_each_and_26_discarded() -> None:
    table = Game("spades", dealer=0)
    table.lay_out(FRENCH.new)
    keepers = []
    while table.current and table.current.phase == "draft" and table.turn is not None:
        if "draw" in table.legal_moves(table.turn):
            table.play(table.turn, "draw")
        keepers.append(table.turn)
        table.play(table.turn, "pass")
    assert keepers == [0, 1] * 13
    view = view_spades(table, None)
    assert (view.counts, view.discards, view.stock) == ((13, 13), 26, 0)


def test_draft_later_draws_are_automatic() -> None:
    table = Game("spades", dealer=0)
    table.lay_out(FRENCH.new)
    play(table, "0: draw", "0: keep", "1: draw", "1: keep")
    assert table.legal_moves(0) == ["keep", "pass", "resign"]
    assert view_spades(table, 0).drawn == "6C"
    with pytest.raises(NotNow):
        table.play(0, "draw")


def test_draft_shows_only_the_drawn_card() -> None:
    table = spades_table(FIRST, SECOND, drafted=False)
    assert view_spades(table, 0).drawn is None
    play(table, "0: draw")
    assert (view_spades(table, 0).drawn, view_spades(table, 1).drawn) == ("2C", None)
    play(table, "0: keep")
    assert (view_spades(table, 0).drawn, view_spades(table, 1).drawn) == (None, None)
    draft(table)
    assert table.turn == 1
    assert (view_spades(table, 0).drawn, view_spades(table, 1).drawn) == (None, None)


def test_draft_card_must_be_drawn_before_it_is_kept() -> None:
    table = Game("spades", dealer=0)
    table.lay_out(FRENCH.new)
    with pytest.raises(NotNow):
        table.play(0, "keep")
    with pytest.raises(NotYourTurn):
        table.play(1, "draw")


# Double nil


def test_double_nil_is_legal_only_before_the_first_draw() -> None:
    table = Game("spades", dealer=0)
    table.lay_out(FRENCH.new)
    assert table.legal_moves(0) == ["blind", "draw", "resign"]
    table.play(0, "blind")
    assert table.legal_moves(0) == ["draw", "resign"]
    with pytest.raises(AlreadyBlind):
        table.play(0, "blind")
    play(table, "0: draw", "0: keep", "1: draw")
    with pytest.raises(TooLateForBlind):
        table.play(1, "blind")
    assert view_spades(table, 1).bids == ("double nil", None)


def blind_table(*seats: int) -> Game:
    table = spades_table(FIRST, SECOND, drafted=False)
    for seat in (0, 1):
        if seat in seats:
            table.play(seat, "blind")
        play(table, f"{seat}: draw", f"{seat}: keep")
    draft(table)
    return table


def test_double_nil_exchanges_up_to_three_before_bids() -> None:
    table = blind_table(0)
    assert table.turn == 0
    moves = [move for move in table.legal_moves(0) if move != "resign"]
    assert len(moves) == 1 + 13 + 78 + 286
    assert moves[0] == "exchange"
    assert "exchange 2C 2H 2S" in moves
    with pytest.raises(NotYourTurn):
        table.play(1, "exchange")
    with pytest.raises(NotNow):
        table.play(1, "bid 3")
    table.play(0, "exchange 2C 2H 2S")
    assert table.turn is None
    table.play(None, "gives AD AH KD")
    view = view_spades(table, 0)
    assert {"AD", "AH", "KD"} <= set(view.hand or ())
    assert view.counts == (13, 13)
    assert view.discarded == ("2C", "2H", "2S")
    assert table.turn == 1


def test_double_nil_has_no_other_bid() -> None:
    table = blind_table(0)
    play(table, "0: exchange", "1: bid 6")
    assert view_spades(table, None).bids == ("double nil", 6)
    assert view_spades(table, None).phase == "play"


def test_double_nil_second_player_exchanges_first() -> None:
    table = blind_table(0, 1)
    assert table.turn == 1
    play(table, "1: exchange 2D")
    table.play(None, "gives AD")
    assert table.turn == 0
    # Chance gives no card that was exchanged away or already given.
    play(table, "0: exchange 2C")
    for card in ("2D", "AD", "2C", "3C"):
        with pytest.raises(NotForChanceToGive):
            table.play(None, f"gives {card}")
    table.play(None, "gives KD")
    assert view_spades(table, None).phase == "play"


def test_double_nil_exchange_is_visible_only_to_its_player() -> None:
    table = blind_table(0, 1)
    play(table, "1: exchange 2D")
    table.play(None, "gives AD")
    play(table, "0: exchange 2C 3C")
    table.play(None, "gives KD QD")
    by_second = [(1, "exchange 2D"), (None, "gives AD")]
    by_first = [(0, "exchange 2C 3C"), (None, "gives KD QD")]
    second_hidden = [(1, "exchange ?"), (None, "gives ?")]
    first_hidden = [(0, "exchange ? ?"), (None, "gives ? ?")]
    assert table.history(0)[-4:] == second_hidden + by_first
    assert table.history(1)[-4:] == by_second + first_hidden
    assert table.history(None)[-4:] == second_hidden + first_hidden


def test_double_nil_gift_follows_from_the_secret() -> None:
    for number in range(5):
        tables = [Game("spades", dealer=0) for _ in range(2)]
        for table in tables:
            table.deal(bytes([number]) * 32)
            table.play(0, "blind")
            draft(table)
            hand = sorted(view_spades(table, 0).hand or ())
            table.play(0, f"exchange {hand[0]} {hand[1]}")
        gift = tables[0].moves[-1]
        assert gift[0] is None
        assert gift[1].startswith("gives ")
        assert len(gift[1].split()) == 3
        assert tables[1].moves == tables[0].moves


@pytest.mark.parametrize(
    "move", ["exchange 2C 2C", "exchange 3C 2C", "exchange 2C 2H 2S 3C", "exchange XX", "exchange "]
)
def test_double_nil_exchange_needs_distinct_ordered_cards(move: str) -> None:
    with pytest.raises(UnknownMove):
        blind_table(0).play(0, move)


def test_double_nil_exchanges_only_held_cards() -> None:
    with pytest.raises(NotInHand):
        blind_table(0).play(0, "exchange AS")


# Bids


def test_second_player_bids_first_from_0_to_13() -> None:
    table = spades_table(FIRST, SECOND)
    assert table.turn == 1
    assert table.legal_moves(1) == [*(f"bid {number}" for number in range(14)), "resign"]
    with pytest.raises(NotYourTurn):
        table.play(0, "bid 3")
    table.play(1, "bid 0")
    with pytest.raises(AlreadyBid):
        table.play(1, "bid 4")
    table.play(0, "bid 13")
    assert view_spades(table, None).bids == (13, "nil")


# Play


def bid_table(first: str = FIRST, second: str = SECOND, bids: tuple[int, int] = (3, 6)) -> Game:
    table = spades_table(first, second)
    play(table, f"1: bid {bids[1]}", f"0: bid {bids[0]}")
    return table


def test_second_player_leads() -> None:
    assert bid_table().turn == 1


def test_suit_must_be_followed() -> None:
    table = bid_table()
    table.play(1, "play TC")
    assert playable_cards(table, 0) == set("2C 3C 4C 5C 6C 7C 8C 9C".split())
    with pytest.raises(MustFollow, match="play clubs"):
        table.play(0, "play 2S")


def test_spades_are_trumps_and_aces_are_high() -> None:
    table = bid_table()
    play_cards(table, "2D 2S")
    assert table.turn == 0
    table = bid_table("KC", "AC 2C")
    play_cards(table, "2C KC")
    assert table.turn == 0
    table = bid_table("KC", "AC 2C")
    play_cards(table, "AC KC")
    assert table.turn == 1


def test_spades_cannot_be_led_until_broken() -> None:
    table = bid_table()
    assert not {"AS", "KS"} & playable_cards(table, 1)
    with pytest.raises(SpadesNotBroken):
        table.play(1, "play AS")


def test_missing_card_is_reported_before_unbroken_spades() -> None:
    table = bid_table()
    for card in ("2C", "2S"):
        with pytest.raises(NotInHand):
            table.play(1, f"play {card}")


def test_discarded_spade_breaks_spades() -> None:
    table = bid_table()
    assert not view_spades(table, None).broken
    play_cards(table, "2D 2S")
    assert view_spades(table, None).broken
    assert "3S" in playable_cards(table, 0)


def test_forced_lead_breaks_spades() -> None:
    table = bid_table("2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AH", "2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AS")
    assert len(playable_cards(table, 1)) == 13
    table.play(1, "play 2S")
    assert view_spades(table, None).broken


# Scores


def hand_score(bids: tuple[object, object], tricks: int, bags: int = 0, *, nil_bags: bool = True) -> tuple[int, int]:
    """Return seat 0's points and bags after a hand in which it won ``tricks``."""
    deal = SpadesDeal(Spades(nil_bags=nil_bags), 0, range(52), Carry(bags=(bags, 0)))
    deal.bids = [bid if isinstance(bid, int) else 0 for bid in bids]
    deal.blind = [bid == "double nil" for bid in bids]
    deal.tricks, deal.tricks_done = [tricks, 13 - tricks], 13
    entries = deal.score().entries
    return entries["points"][0], entries["bags"][0]


def test_score_made_bid_is_10_a_trick_and_1_a_bag() -> None:
    assert hand_score((4, 6), 4) == (40, 0)
    assert hand_score((4, 6), 7) == (43, 3)
    assert hand_score((13, 0), 13) == (130, 0)


def test_score_missed_bid_is_minus_10_a_trick() -> None:
    assert hand_score((4, 6), 3) == (-40, 0)
    assert hand_score((13, 0), 12) == (-130, 0)


def test_score_nil_is_plus_or_minus_100() -> None:
    assert hand_score(("nil", 6), 0) == (100, 0)
    assert hand_score(("nil", 6), 2) == (-100, 2)


def test_score_double_nil_is_plus_or_minus_200() -> None:
    assert hand_score(("double nil", 6), 0) == (200, 0)
    assert hand_score(("double nil", 6), 1) == (-200, 1)


def test_score_failed_nil_has_no_bags_without_nil_bags() -> None:
    assert hand_score(("nil", 6), 2, nil_bags=False) == (-100, 0)
    assert hand_score(("double nil", 6), 2, nil_bags=False) == (-200, 0)
    assert hand_score((1, 6), 3, nil_bags=False) == (12, 2)


def test_score_every_tenth_bag_costs_100() -> None:
    assert hand_score((4, 6), 6, bags=7) == (42, 9)
    assert hand_score((4, 6), 6, bags=8) == (42 - 100, 0)
    assert hand_score((4, 6), 7, bags=8) == (43 - 100, 1)
    assert hand_score(("nil", 6), 11, bags=9) == (-300, 0)  # 9 + 11 bags reach ten twice


def test_bags_carry_over_between_hands() -> None:
    table = bid_table(bids=(1, 1))
    play_out(table)
    bags = table.bags
    won = table.record().deals[-1].tricks
    assert bags == tuple(max(tricks - 1, 0) % 10 for tricks in won)
    assert table.view(None).bags == bags
    table.deal(bytes(32))
    draft(table)
    play(table, "0: bid 1", "1: bid 1")
    play_out(table)
    for seat in (0, 1):
        won = table.record().deals[-1].tricks[seat]
        assert table.bags[seat] == (bags[seat] + max(won - 1, 0)) % 10


def test_players_swap_roles_after_each_hand() -> None:
    table = bid_table()
    play_out(table)
    table.deal(bytes(32))
    assert table.turn == 1
    assert table.current
    assert table.current.dealer == 1


def test_hand_cut_short_scores_0_for_both() -> None:
    table = bid_table(bids=(3, 6))
    for _ in range(6):
        play_any_card(table)
    table.play(0, "resign")
    deal = table.record().deals[0]
    assert deal.points == (0, 0)
    assert deal.totals == (0, 0)
    assert deal.bids == (3, 6)
    assert sum(deal.tricks) == 3
    assert deal.bags == (0, 0)
    early = spades_table(FIRST, SECOND)
    early.play(1, "bid 2")
    early.play(1, "resign")
    assert early.record().deals[0].bids == (None, 2)
