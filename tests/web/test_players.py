"""Pages of players: leaderboards, a person's games, and what strangers can see."""

import re

import aiohttp
import pytest

from adapters.web.player_pages import curve
from tests.bot.features.ratings.test_players import NAMES, make_players, store_rated_games
from tests.open_playground import OpenPlayground
from tests.web.test_tables import get_only_id, open_browser


def test_curve_fills_its_drawing() -> None:
    assert curve([1000], (100, 50), margin=5) == []
    assert curve([1000, 1000], (100, 50), margin=5) == [(5, 25), (95, 25)]
    assert curve([900, 1100, 1000], (100, 50), margin=5) == [(5, 45), (50, 5), (95, 25)]


async def test_leaderboard_shows_strangers_only_nicknames(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    await store_rated_games(site.worker)
    async with session.get(f"{site.url}leaderboard", headers={"Accept-Language": "it"}) as answer:
        page = await answer.text()
        assert answer.status == 200
    assert "Classifica" in page
    assert "Asso 100" in page
    for name in (*NAMES, *NAMES.values(), "handle"):
        assert name not in page
    assert page.count("<polyline") == 3
    players = re.findall(r'href="/p/([^"]+)"', page)
    assert len(players) == 3
    for player in players:
        async with session.get(f"{site.url}p/{player}") as answer:
            page = await answer.text()
            assert answer.status == 200
        assert page.count("<circle") == 4
        assert "/g/" not in page
        assert not [name for name in NAMES.values() if name in page]


@pytest.mark.parametrize("choice", ["game=testa", "game=spades", "period=month", "game=testa&period=month"])
async def test_every_leaderboard_choice_has_a_page(
    site: OpenPlayground, session: aiohttp.ClientSession, choice: str
) -> None:
    await store_rated_games(site.worker)
    async with session.get(f"{site.url}leaderboard?{choice}") as answer:
        page = await answer.text()
        assert answer.status == 200
    assert ("Nobody is ranked yet" in page) == (choice != "game=testa")


@pytest.mark.parametrize("path", ["leaderboard?game=odd", "leaderboard?period=odd", "p/x", f"p/{'A' * 60}"])
async def test_unknown_leaderboards_and_players_have_no_page(
    site: OpenPlayground, session: aiohttp.ClientSession, path: str
) -> None:
    async with session.get(site.url + path) as answer:
        assert answer.status == 404


async def test_programs_can_read_players(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    await store_rated_games(site.worker)
    async with session.get(f"{site.url}api/v1/leaderboard?game=testa") as answer:
        board = await answer.json()
    assert (board["game"], board["period"], board["ranked"]) == ("testa", "all", 3)
    best = board["players"][0]
    async with session.get(f"{site.url}api/v1/players/{best['id']}") as answer:
        player = await answer.json()
    assert player["name"] == best["name"]
    assert player["ratings"][1]["rating"] == best["rating"] == board["players"][0]["ratings"][-1]
    async with session.get(f"{site.url}api/v1/leaderboard?game=odd") as answer:
        assert answer.status == 400
    async with session.get(f"{site.url}api/v1/players/{'A' * 60}") as answer:
        assert (answer.status, answer.content_type) == (404, "application/problem+json")


async def test_own_page_lists_own_games(site: OpenPlayground) -> None:
    async with open_browser(site) as anna, open_browser(site) as bruno:
        code = await anna.play(name="Anna")
        person = f"web:{await get_only_id(site)}"
        table = await site.worker.room.table(code)
        await site.worker.room.make_move(code, person, table.version, "resign", "r")
        await site.worker.wait_until_idle()
        page = (await anna.get("/"))[1]
        [player] = re.findall(r'href="/p/([^"]+)"', page)
        status, page = await anna.get(f"/p/{player}")
        assert status == 200
        [game] = re.findall(r'href="/g/([^"]+)"', page)
        assert game.startswith(code)
        # A game with a robot is not rated, so other people find no page.
        assert (await bruno.get(f"/p/{player}"))[0] == 404
        assert player == await make_players(site.worker).id_of(person)
