"""Boards change only when public information changes, so all groups see the same board."""

from collections.abc import Iterable
from random import Random

import pytest

from bot.actions import MoveAction, parse_payload
from bot.panel import Button
from bot.panels.board import board_panel
from bot.people import Profile
from bot.pictures.scene_builder import board_scene
from bot.site.hand_page import hand_page
from bot.store.entries import Deal, FirstDeal, Host, Move, Open, Sit
from bot.tables.snapshot import isolate_name, take_snapshot
from bot.tables.table import Table
from bot.words.table_lines import table_words
from bot.words.wording import NO_BREAK
from engine import GAMES, legal_moves_for_record
from engine.options import RELEASE, resolve
from engine.views import PacketsView, TressetteView
from tests.bot.tables.test_table import at_tie_break
from tests.engine.tables import random_rules


def make_random_move(table: Table, random: Random) -> Table:
    """Add the next deal, or a legal move of any seat."""
    assert table.game
    if table.game.needs_deal:
        return table.with_entries([Deal(random.randbytes(32))], "u")
    seats = range(len(table.chairs))
    choices = [(seat, move) for seat in seats for move in legal_moves_for_record(table.game, seat) if move != "resign"]
    seat, move = random.choice(choices)
    return table.with_entries([Move(seat, move)], "u")


@pytest.mark.parametrize("game", GAMES)
def test_board_changes_only_with_public_information(game: str) -> None:
    random = Random(game)
    for _ in range(8):
        chairs = [Sit(seat, f"p:{seat}", f"Person {seat}") for seat in range(GAMES[game].seats)]
        rules = resolve(GAMES[game].rules, random_rules(game, random)).model_dump()
        deal = FirstDeal(random.randbytes(32), RELEASE, rules)
        table = Table("ABCD").with_entries([Open(game, "p:0", "Person 0"), Host("p:100"), *chairs, deal], "u")
        panels: dict[int, str] = {}
        for _ in range(150):
            assert table.game
            if table.game.is_over:
                break
            if not table.game.needs_deal:
                panel = board_panel(take_snapshot(table, None), "en", "italian").plain
                assert panels.setdefault(table.board_changed_at, panel) == panel
            table = make_random_move(table, random)
        assert len(panels) > 3


@pytest.mark.parametrize("game", GAMES)
def test_text_of_a_pictured_board_describes_the_picture(game: str) -> None:
    random, tricks, stocks = Random(game), 0, 0
    chairs = [Sit(seat, f"p:{seat}", f"Person {seat}") for seat in range(GAMES[game].seats)]
    rules = resolve(GAMES[game].rules, {}).model_dump()
    deal = FirstDeal(random.randbytes(32), RELEASE, rules)
    table = Table("ABCD").with_entries([Open(game, "p:0", "Person 0"), Host("p:100"), *chairs, deal], "u")
    while table.game and not table.game.is_over and table.game.deal_number < 3:
        if not table.game.needs_deal:
            state = take_snapshot(table, None)
            scene = board_scene(state, "en", "italian", "classic")
            assert scene
            panel = board_panel(state, "en", "italian", is_pictured=True)
            text = panel.plain
            unfolded = "".join(span.text for span in panel.text[: panel.fold])
            words, view = table_words(state, "en", "italian"), state.view
            assert view
            assert view.deal
            for seat, card, _signal in view.deal.trick:
                tricks += 1
                assert f"{state.names[seat]}{NO_BREAK}{words.card(card)}" in text
            for seat, known_cards in enumerate(view.deal.known):
                if known_cards:
                    assert f"Still in {state.names[seat]}’s hand, seen by all: {words.cards(known_cards)}" in text
            for _seat, move, _points in view.deal.declarations if isinstance(view.deal, TressetteView) else ():
                assert f"declared {words.combination(move)}: " in unfolded
            assert scene.line in text
            if scene.stock:
                stocks += 1
                assert f"{scene.stock.size} card" in text
            if isinstance(view.deal, PacketsView):
                for packet in view.deal.packets:
                    if packet.owner is not None and packet.place != "hand" and packet.left and packet.top:
                        assert f"{packet.number}:{NO_BREAK}{words.card(packet.top)}{NO_BREAK}({packet.left})" in text
            for side in (0, 1):
                assert not view.bags[side] or f"Bags: {state.names[0]} {view.bags[0]}" in text
        table = make_random_move(table, random)
    assert tricks
    assert bool(stocks) == (game in ("metamazzo", "testa", "spades"))


@pytest.mark.parametrize(
    ("game", "phases"),
    [
        ("pizzichino", {"take": "chooses packets.", "hold": "chooses packets.", "play": "plays first."}),
        ("spades", {"draft": "draws.", "exchange": "exchanges cards.", "bid": "bids.", "play": "plays first."}),
    ],
)
def test_board_names_the_first_move(game: str, phases: dict[str, str]) -> None:
    """The board is drawn in eight games, because cards are exchanged only after a double nil."""
    random, phases_shown = Random(game), set()
    for _ in range(8):
        chairs = [Sit(seat, f"p:{seat}", f"Person {seat}") for seat in range(2)]
        rules = resolve(GAMES[game].rules, {}).model_dump()
        table = Table("ABCD").with_entries(
            [Open(game, "p:0", "Person 0"), Host("p:100"), *chairs, FirstDeal(random.randbytes(32), RELEASE, rules)],
            "u",
        )
        while (view := table.game and table.game.view(None).deal) and view.turn is not None and not view.trick:
            panel = board_panel(take_snapshot(table, None), "en", "italian").plain
            phases_shown.add(view.phase)
            trick = f"Trick {sum(view.tricks) + 1}: " if view.phase == "play" else ""
            assert panel.startswith(f"{trick}{isolate_name(f'Person {view.turn}')} {phases[view.phase]}\n")
            table = make_random_move(table, random)
    assert phases_shown == set(phases)


@pytest.mark.parametrize(
    ("game", "dealing", "own"),
    [("spades", "draws first", "You draw first"), ("testa", "deals the cards", "You deal the cards")],
)
def test_page_names_the_dealer_in_the_games_words(game: str, dealing: str, own: str) -> None:
    chairs = [Sit(seat, f"p:{seat}", f"Person {seat}") for seat in range(2)]
    rules = resolve(GAMES[game].rules, {}).model_dump()
    first = FirstDeal(Random(1).randbytes(32), RELEASE, rules)
    table = Table("ABCD").with_entries([Open(game, "p:0", "Person 0"), Host("p:100"), *chairs, first], "u")
    dealer = table.game and table.game.view(None).deal
    assert dealer
    pages = [hand_page(table, f"p:{seat}", Profile(f"p:{seat}")) for seat in (dealer.dealer, 1 - dealer.dealer)]
    assert [[seat.dealing for seat in page.sitting] for page in pages] == [[own, ""], ["", dealing]]


def test_page_offers_a_tie_break_claim_once_a_lead_is_possible() -> None:
    table, random = at_tie_break(RELEASE), Random(1)
    while (view := table.game and table.game.view(None).deal) and not any(view.tricks):
        for seat in range(4):
            page = hand_page(table, f"p:{seat}", Profile(f"p:{seat}"))
            assert "claim" not in moves_of_buttons(page.rows)
        table = make_random_move(table, random)
    assert view
    winners = {seat for seat in range(4) if view.tricks[seat % 2]}
    pages = {seat: hand_page(table, f"p:{seat}", Profile(f"p:{seat}")) for seat in range(4)}
    assert {seat for seat, page in pages.items() if "claim" in moves_of_buttons(page.rows)} == winners


def moves_of_buttons(rows: Iterable[Iterable[Button]]) -> set[str]:
    return {
        action.move for row in rows for button in row if isinstance(action := parse_payload(button.payload), MoveAction)
    }
