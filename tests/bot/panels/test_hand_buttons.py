"""The rows of buttons below a hand."""

from collections import Counter
from itertools import pairwise
from random import Random

import pytest

from bot import actions
from bot.panel import Role
from bot.panels.hand import hand_panel
from bot.panels.hand_buttons import CARDS_IN_ROW
from bot.tables.snapshot import take_snapshot
from tests.bot.panels.test_boards import make_random_move
from tests.bot.panels.test_hand_news import dealt_table, seen_by


@pytest.mark.parametrize("game", ["metamazzo", "tressette", "spades"])
def test_short_suits_share_a_row_and_keep_their_order(game: str) -> None:
    random, shared = Random(game), 0
    table = dealt_table(game, random)
    while table.game and not table.game.needs_deal and not table.game.is_over:
        seat = table.game.turn
        seen = take_snapshot(table, seat)
        assert seen.view
        assert seen.view.deal
        rows = [
            [button.about for button in row]
            for row in hand_panel(seen, "en", "italian").rows
            if row[0].role is Role.PLAY
        ]
        legal = {move.split(" ")[1] for move in seen.view.moves if move.startswith("play ")}
        assert [code for row in rows for code in row] == [code for code in seen.view.deal.hand or () if code in legal]
        for row, following in pairwise(rows):
            assert row[-1][1] != following[0][1], "a suit is split"
            assert len(row) + sum(code[1] == following[0][1] for code in following) > CARDS_IN_ROW
        shared += any(row[0][1] != row[-1][1] for row in rows)
        table = make_random_move(table, random)
    assert shared


def test_volo_with_more_cards_of_the_suit_is_asked_about() -> None:
    table = dealt_table("tressette", Random(1))
    assert table.game
    seat = table.game.turn
    table_snapshot = take_snapshot(table, seat)
    assert table_snapshot.view
    assert table_snapshot.view.deal
    hand = table_snapshot.view.deal.hand or ()
    suits = Counter(code[1] for code in hand)
    question_buttons = {
        button.about: button for row in hand_panel(table_snapshot, "en", "italian", "volo").rows for button in row
    }
    for code in hand:
        is_true = suits[code[1]] == 1
        assert question_buttons[code].payload.endswith(f"play {code} volo" if is_true else f"volo-{code}")
        assert question_buttons[code].role is (Role.PLAY if is_true else Role.CHOOSE)
    code = next(code for code in hand if suits[code[1]] > 1)
    panel = hand_panel(table_snapshot, "en", "italian", f"volo-{code}")
    assert "say volo all the same?" in panel.plain
    [(yes, no)] = panel.rows
    assert yes.payload.endswith(f"play {code} volo")
    assert no.payload.endswith(" volo")
    assert "say volo" not in hand_panel(table_snapshot, "en", "italian", "volo-XX").plain


def test_double_nil_before_the_first_card_is_asked_about() -> None:
    table = dealt_table("spades", Random(1))
    assert table.game
    seen, _words = seen_by(table, table.game.turn or 0)
    [choice] = [button for row in hand_panel(seen, "en", "french").rows for button in row if "nil" in button.label]
    assert choice.payload.endswith(" blind")
    assert not choice.payload.startswith("1m")
    panel = hand_panel(seen, "en", "french", "blind")
    assert "you bet 200 points on taking no trick" in panel.plain
    [[yes, no]] = panel.rows
    assert yes.payload.startswith("1m")
    assert yes.payload.endswith("blind")
    assert not no.payload.endswith("blind")


def test_four_packets_are_taken_only_after_a_confirmation() -> None:
    table = dealt_table("pizzichino", Random(1))
    assert table.game
    seen, _words = seen_by(table, table.game.turn or 0)
    three = hand_panel(seen, "en", "italian", "135").rows
    assert [button.label for row in three for button in row] == ["✓ 1", "2", "✓ 3", "4", "✓ 5", "6", "7", "8"]
    assert not [button for row in three for button in row if "take " in button.payload], (
        "no press takes packets at once"
    )
    four = hand_panel(seen, "en", "italian", "1357").rows
    assert [button.label for row in four for button in row] == [
        *("✓ 1", "✓ 3", "✓ 5", "✓ 7"),
        "Take packets 1 3 5 7",
    ]
    [taking] = four[-1]
    assert taking.payload.endswith("take 1 3 5 7")
    # A chosen packet can be dropped for another one.
    assert four[0][0].payload.endswith(" 357")


def test_chat_hand_has_a_button_to_resign_at_its_turn() -> None:
    table = dealt_table("metamazzo", Random(1))
    assert table.game
    assert table.game.turn is not None
    for seat in (0, 1):
        panel = hand_panel(take_snapshot(table, seat), "en", "italian", has_resign=True)
        resign = [button.payload for row in panel.rows for button in row if button.label == "Resign"]
        assert resign == ([actions.page("resign", "ABCD", "hand")] if seat == table.game.turn else [])


def test_tops_of_packets_have_the_order_of_the_table() -> None:
    random, found = Random(2), 0
    table = dealt_table("pizzichino", random)
    while table.game and not table.game.needs_deal:
        snapshot = take_snapshot(table, table.game.turn)
        assert snapshot.view
        tops = [packet.top for packet in getattr(snapshot.view.deal, "packets", ()) if packet.owner == snapshot.seat]
        rows = hand_panel(snapshot, "en", "italian").rows
        shown = [button.about for row in rows for button in row if button.label.startswith("📦")]
        assert shown == [top for top in tops if top in shown]
        found += len(shown) > 1
        table = make_random_move(table, random)
    assert found


def test_letters_are_explained_before_the_fold_in_the_first_deal() -> None:
    snapshot = take_snapshot(dealt_table("metamazzo", Random(1)), 0)
    above = hand_panel(snapshot, "en", "italian", is_beginner=True)
    folded = above.plain.index("R (king)")
    assert folded < above.plain.index("⚔️  ")
    assert above.plain.count("R (king)") == 1
    assert "R (king)" not in hand_panel(snapshot, "en", "italian").plain
