"""The parts of a page to which a hint points."""

import pytest

from bot.people import Profile
from bot.site.hand_page import hand_page
from bot.site.page_models import HandPage
from bot.words.verdicts import ShownHint
from engine.robots.verdicts import Hint
from tests.bot.tables.test_table import FOUR, start_game


def page_with_hint(game: str, move: str, suits: str = "italian") -> HandPage:
    table = start_game(game)
    assert table.game
    seat = table.game.turn or 0
    return hand_page(table, FOUR[seat], Profile(FOUR[seat], suits=suits), hint=ShownHint(Hint(move, "only"), True))


@pytest.mark.parametrize(
    ("game", "move", "parts"),
    [
        ("testa", "play 3D", ["3D"]),
        ("tressette", "play 3D busso", ["3D"]),
        ("pizzichino", "take 1 2 5 6", ["1", "2", "5", "6"]),
        ("spizzichino", "pick 7", ["7"]),
        ("testa", "declare three 2 missing C", ["2D", "2S", "2B"]),
        ("testa", "declare napoletana C", ["3C", "2C", "AC"]),
        ("spades", "exchange 3D KS", ["3D", "KS"]),
        ("spades", "bid 4", []),
    ],
)
def test_hint_points_to_what_its_move_needs(game: str, move: str, parts: list[str]) -> None:
    press, *pointed = page_with_hint(game, move).advised
    assert pointed == parts
    assert press.endswith(f":{move}")


def test_hint_names_cards_of_the_readers_pack() -> None:
    assert page_with_hint("testa", "play RC", "french").advised[1:] == ("KH",)


def test_button_of_the_advised_move_has_its_payload() -> None:
    page = page_with_hint("spades", "draw")
    assert page.advised[0] in page.payloads
