"""The cards that cost a player most."""

from dataclasses import replace

from bot.finished.analysis_pool import Analysis
from bot.site.costliest_cards import CostliestCards, costliest_cards
from bot.site.game_reader import Reader
from bot.store import Store
from engine.robots.verdicts import Verdict
from tests.bot.finished.games import finished_game, store_game
from tests.bot.site.test_game_reader import make_reader

GAME = finished_game(1, "testa")
DEALS = len(GAME.record.deals)


def verdict(seat: int, move: str, lost_points: float, place: int = 4) -> Verdict:
    return Verdict(1, place, seat, move, "play 3D", lost_points, True, "takes")


def test_costliest_cards_are_the_players_own() -> None:
    own_verdicts = [verdict(0, "play 7D", 1.0), verdict(0, "play 4C", 2.33, 8), verdict(0, "play 5C", 0.5, 10)]
    analysis = Analysis([*own_verdicts, verdict(0, "play 6C", 0.4, 12), verdict(1, "play AS", 6.0)], DEALS)
    costliest = costliest_cards(GAME, analysis, 0, "en", "italian")
    assert (costliest.state, costliest.title) == ("done", "Your 3 costliest cards")
    assert [(card.code, card.name, card.step) for card in costliest.cards] == [
        ("4C", "4 of cups", "#d1m9"),
        ("7D", "7 of coins", "#d1m5"),
        ("5C", "5 of cups", "#d1m11"),
    ]
    assert costliest.cards[0].text.startswith("Deal 1: 4")
    assert ", −2⅓ points. Better: 3" in costliest.cards[0].text
    assert ", −1 point. Better: 3" in costliest.cards[1].text
    other = costliest_cards(GAME, analysis, 1, "it", "french")
    assert other.title == "La tua carta più cara"
    [card] = other.cards
    assert (card.code, card.name) == ("AS", "asso di picche")
    assert ", −6 punti. Meglio: 3" in card.text


def test_verdict_on_open_hands_says_that_nobody_saw_them() -> None:
    note = "Judged with all hands open: neither you nor a hint could see them."
    unseen = verdict(0, "play 7D", 1.0)
    for judged, has_note in (
        (unseen, True),
        (replace(unseen, exact=False), False),
        (replace(unseen, why="counted"), False),
        (replace(unseen, why="declares"), False),
    ):
        assert (note in costliest_cards(GAME, Analysis([judged], DEALS), 0, "en", "italian").cards[0].text) is has_note


def test_declarations_are_no_costliest_cards() -> None:
    analysis = Analysis([verdict(0, "declare three A", 9.0), verdict(0, "play 7D", 0.0)], DEALS)
    costliest = costliest_cards(GAME, analysis, 0, "en", "italian")
    assert (costliest.state, costliest.title, costliest.cards) == ("done", "No card cost you points.", ())


def test_unfinished_analysis_names_no_card() -> None:
    assert costliest_cards(GAME, None, 0, "en", "italian").state == "missing"
    unfinished = costliest_cards(GAME, Analysis([verdict(0, "play 7D", 1.0)], DEALS - 1), 0, "en", "italian")
    assert (unfinished.state, unfinished.cards) == ("running", ())


async def test_only_players_learn_their_costliest_cards(store: Store) -> None:
    await store_game(store, GAME)
    reader = make_reader(store, [verdict(0, "play 7D", 1.0)])
    assert await reader.get_costliest(GAME.id, "paper:99", Reader("en")) is None
    found = [
        await reader.get_costliest(GAME.id, GAME.people[0], Reader("en"), begin=begin)
        for begin in (False, *[True] * DEALS)
    ]
    assert found[0] == CostliestCards("missing")
    assert found[-1]
    assert (found[-1].state, [card.code for card in found[-1].cards]) == ("done", ["7D"])
