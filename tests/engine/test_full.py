"""The two games for four: Tressette in Quattro and at the table."""

import pytest

from engine import Game
from engine.cards import ITALIAN
from engine.errors import (
    BadRules,
    ClaimNeedsLead,
    ClaimRefused,
    NoClaims,
    NoSignals,
    NotInHand,
    SignalsAreForLeaders,
)
from engine.options import RELEASE
from tests.engine.tables import full_table, play, play_any_card, play_cards, play_out, stacked_pack

HANDS = ["3D 2D AD RD CD FD 7D 6D 5D 4D", "3C 2C AC RC CC FC 7C 6C 5C 4C",
         "3S 2S AS RS CS FS 7S 6S 5S 4S", "3B 2B AB RB CB FB 7B 6B 5B 4B"]  # fmt: skip


def test_five_cards_each_are_dealt_twice_from_the_eldest() -> None:
    pack = list(ITALIAN.new)
    table = Game("tressette", dealer=2)
    table.lay_out(pack)
    for step, seat in enumerate((3, 0, 1, 2)):
        view = table.view(seat).deal
        assert view
        assert set(view.hand or ()) == {*pack[5 * step : 5 * step + 5], *pack[20 + 5 * step : 25 + 5 * step]}


def test_eldest_leads_and_there_are_ten_tricks() -> None:
    table = full_table("tressette", HANDS)
    assert table.turn == 1
    while table.turn is not None:
        table.play(table.turn, table.legal_moves(table.turn)[0])
    assert table.current
    assert table.current.tricks_done == 10


def test_tavolo_holder_of_the_four_of_coins_always_leads() -> None:
    for dealer in range(4):
        assert full_table("tavolo", HANDS, dealer=dealer).turn == 0


def test_leader_can_announce_busso_or_volo() -> None:
    table = full_table("tressette", HANDS)
    assert "play 3C busso" in table.legal_moves(1)
    assert "play 3C volo" in table.legal_moves(1)
    table.play(1, "play 3C busso")
    view = table.view(None).deal
    assert view
    assert view.trick[0] == (1, "3C", "busso")
    play_cards(table, "4S 4B 4D")
    view = table.view(None).deal
    assert view
    assert view.last_trick
    assert view.last_trick.cards[0].signal == "busso"
    assert view.trick == ()


def test_signals_are_for_leaders_only() -> None:
    table = full_table("tressette", HANDS)
    table.play(1, "play 3C")
    assert not any(move.endswith("busso") for move in table.legal_moves(2))
    with pytest.raises(SignalsAreForLeaders):
        table.play(2, "play 3S busso")


def test_signals_can_be_false() -> None:
    table = full_table("tressette", HANDS)
    table.play(1, "play 4C volo")
    assert table.turn == 2


def test_signals_do_not_allow_a_card_not_held() -> None:
    table = full_table("tressette", HANDS)
    with pytest.raises(NotInHand):
        table.play(1, "play 3D busso")
    assert table.moves == []


def test_signals_can_be_turned_off() -> None:
    table = full_table("tressette", HANDS, {"signals": False})
    assert "play 3C busso" not in table.legal_moves(1)
    with pytest.raises(NoSignals):
        table.play(1, "play 3C busso")
    with pytest.raises(NoSignals):
        full_table("tavolo", HANDS).play(0, "play 3D volo")


def near_target_game() -> Game:
    """Return a game after one deal, with side 1 at 14 of 21: eleven for every trick, and a napoletana.

    In the second deal seat 1 holds every three and two; seat 2 leads.
    """
    table = full_table("tressette", HANDS)
    play(table, "1: play 4C", "2: play 4S", "3: play 4B", "0: play 4D", "1: declare napoletana C")
    play_out(table)
    assert table.totals == (0, 14)
    table.lay_out(stacked_pack(["", "3D 3C 3S 3B 2D 2C 2S 2B 4D 4C", "AC RC", "AB"], dealer=1))
    assert table.turn == 2
    return table


def test_wrong_claim_is_refused_without_a_trace() -> None:
    table = near_target_game()
    before = table.record()
    for seat in range(4):
        with pytest.raises(ClaimRefused):
            table.play(seat, "claim")
    assert table.record() == before
    assert not table.is_over


def test_claim_is_legal_for_all_seats_out_of_turn() -> None:
    table = near_target_game()
    for seat in range(4):
        assert "claim" in table.legal_moves(seat)


def test_claim_counts_totals_declarations_and_tricks() -> None:
    # Side 1 has 14 points and wins the first trick. With 8 declared points for two fours it has 22, so the thirds of
    # the trick do not matter.
    table = near_target_game()
    table.play(2, "play AC")
    play_any_card(table)
    play_any_card(table)
    table.play(1, "play 3C")
    assert table.turn == 1
    with pytest.raises(ClaimRefused):
        table.play(1, "claim")
    play(table, "1: declare four 3")
    with pytest.raises(ClaimRefused):
        table.play(1, "claim")  # 18 points, and the points of the trick
    play(table, "1: declare four 2")
    for seat in (0, 2):
        with pytest.raises(ClaimRefused):
            table.play(seat, "claim")
    table.play(3, "claim")
    assert table.ending == "claim"
    assert table.winner == (1, 3)
    assert table.moves[-1] == (3, "claim")
    deal = table.record().deals[-1]
    assert deal.declared == (0, 8)
    assert deal.points[1] == 8 + deal.thirds[1] // 3
    assert deal.totals[1] == 14 + deal.points[1]


def test_claim_rounds_thirds_down() -> None:
    table = full_table("tressette", HANDS)
    table.totals = (0, 19)
    play_cards(table, "3C 4S 4B 4D 2C 5S 5B 5D")
    assert table.current
    assert table.current.taken == [0, 2]
    with pytest.raises(ClaimRefused):
        table.play(1, "claim")
    play_cards(table, "AC 6S 6B 6D")
    assert table.current.taken == [0, 5]
    table.totals = (0, 20)
    table.play(1, "claim")
    assert table.is_over


def test_last_trick_counts_for_a_claim_after_it_is_won() -> None:
    table = full_table("tressette", HANDS)
    table.totals = (0, 10)
    while table.current and table.current.tricks_done < 9:
        play_any_card(table)
    assert table.current
    # Only the four cards of the last trick are still in hand.
    assert table.current.taken[1] // 3 < 11
    with pytest.raises(ClaimRefused):
        table.play(1, "claim")
    play_out(table)
    assert table.totals == (0, 21)
    assert table.ending == "target"


def tied_game(release: int = RELEASE) -> Game:
    """Return a deal at 25:25, to 21. Seat 1 leads."""
    table = Game("tressette", dealer=0, release=release)
    table.totals = (25, 25)
    table.lay_out(stacked_pack(HANDS, dealer=0))
    return table


def test_tie_break_cannot_be_claimed_before_a_card() -> None:
    table = tied_game()
    for seat in range(4):
        assert "claim" in table.legal_moves(seat)
        with pytest.raises(ClaimNeedsLead, match="once your side is ahead"):
            table.play(seat, "claim")
    assert table.moves == []


def test_tie_break_claim_needs_whole_points_ahead() -> None:
    table = tied_game()
    # Side 1 takes two thirds, which are no point, and then three more: one whole point.
    play_cards(table, "3C 4S 4B 4D 2C 5S 5B 5D")
    for seat in range(4):
        with pytest.raises(ClaimNeedsLead):
            table.play(seat, "claim")
    play_cards(table, "AC 6S 6B 6D")
    for seat in (0, 2):
        with pytest.raises(ClaimNeedsLead):
            table.play(seat, "claim")
    table.play(3, "claim")
    assert (table.ending, table.winner) == ("claim", (1, 3))


def test_tie_break_claim_counts_both_sides_declarations() -> None:
    table = tied_game()
    play_cards(table, "4C 4S 4B 4D")
    play(table, "0: declare napoletana D")
    assert table.copy().legal_moves(1)[-2] == "claim"
    with pytest.raises(ClaimNeedsLead):
        table.play(1, "claim")
    ahead = table.copy()
    ahead.play(2, "claim")
    assert ahead.winner == (0, 2)
    play(table, "1: declare napoletana C")
    for seat in range(4):
        with pytest.raises(ClaimNeedsLead):
            table.play(seat, "claim")


def test_tie_below_the_target_is_not_a_tie_break() -> None:
    table = tied_game()
    table.totals = (20, 20)
    with pytest.raises(ClaimRefused) as refusal:
        table.play(0, "claim")
    assert not isinstance(refusal.value, ClaimNeedsLead)


def test_release_1_lets_a_tie_break_be_claimed_at_once() -> None:
    table = tied_game(release=1)
    table.copy().play(0, "claim")
    table.play(1, "claim")
    assert (table.ending, table.winner) == ("claim", (1, 3))


@pytest.mark.parametrize("release", [0, RELEASE + 1])
def test_unknown_release_is_refused(release: int) -> None:
    with pytest.raises(BadRules, match=f"release {release} of the rules; this version knows 1 to {RELEASE}"):
        Game("tressette", release=release)


def test_tavolo_has_no_claims() -> None:
    table = full_table("tavolo", HANDS)
    assert "claim" not in table.legal_moves(0)
    with pytest.raises(NoClaims):
        table.play(0, "claim")
