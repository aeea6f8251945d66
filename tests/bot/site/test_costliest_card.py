"""The card that cost a player most."""

from dataclasses import replace

from bot.finished.analysis_pool import Analysis
from bot.site.costliest_card import CostliestCard, costliest_card
from bot.site.game_reader import Reader
from bot.store import Store
from engine.robots.verdicts import Verdict
from tests.bot.finished.games import finished_game, store_game
from tests.bot.site.test_game_reader import make_reader

GAME = finished_game(1, "testa")
DEALS = len(GAME.record.deals)


def verdict(seat: int, move: str, lost: float, place: int = 4) -> Verdict:
    return Verdict(1, place, seat, move, "play 3D", lost, True, "takes")


def test_costliest_card_is_the_players_own() -> None:
    analysis = Analysis([verdict(0, "play 7D", 1.0), verdict(0, "play 4C", 2.5, 8), verdict(1, "play AS", 6.0)], DEALS)
    found = costliest_card(GAME, analysis, 0, "en", "italian")
    assert (found.state, found.code, found.name, found.step) == ("done", "4C", "4 of cups", "#d1m9")
    assert found.text.startswith("Your costliest card: 4")
    assert "deal 1 (−2.5). Better: 3" in found.text
    other = costliest_card(GAME, analysis, 1, "it", "french")
    assert (other.code, other.name) == ("AS", "asso di picche")
    assert "(−6). Meglio: 3" in other.text


def test_verdict_on_open_hands_says_that_nobody_saw_them() -> None:
    note = "Judged with all hands open: neither you nor a hint could see them."
    unseen = verdict(0, "play 7D", 1.0)
    for judged, has_note in (
        (unseen, True),
        (replace(unseen, exact=False), False),
        (replace(unseen, why="counted"), False),
        (replace(unseen, why="declares"), False),
    ):
        assert (note in costliest_card(GAME, Analysis([judged], DEALS), 0, "en", "italian").text) is has_note


def test_declarations_are_no_costliest_card() -> None:
    analysis = Analysis([verdict(0, "declare three A", 9.0), verdict(0, "play 7D", 0.0)], DEALS)
    found = costliest_card(GAME, analysis, 0, "en", "italian")
    assert (found.state, found.text, found.code) == ("done", "No card cost you points.", "")


def test_unfinished_analysis_names_no_card() -> None:
    assert costliest_card(GAME, None, 0, "en", "italian").state == "missing"
    unfinished = costliest_card(GAME, Analysis([verdict(0, "play 7D", 1.0)], DEALS - 1), 0, "en", "italian")
    assert (unfinished.state, unfinished.text) == ("running", "")


async def test_only_players_learn_their_costliest_card(store: Store) -> None:
    await store_game(store, GAME)
    reader = make_reader(store, [verdict(0, "play 7D", 1.0)])
    assert await reader.get_costliest(GAME.id, "paper:99", Reader("en")) is None
    found = [
        await reader.get_costliest(GAME.id, GAME.people[0], Reader("en"), begin=begin)
        for begin in (False, *[True] * DEALS)
    ]
    assert found[0] == CostliestCard("missing")
    assert found[-1]
    assert (found[-1].state, found[-1].code) == ("done", "7D")
