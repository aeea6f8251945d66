"""Previews of links: every page that people share has a picture, and no preview tells a stranger a secret."""

import asyncio
import io
import re
from datetime import timedelta
from html import unescape

import aiohttp
import pytest
from PIL import Image

from bot.features.daily.feature import DailyFeature
from bot.features.puzzles.collection import all_puzzles
from bot.pictures.links import invitation_sheet
from bot.pictures.sheet import Ranking
from engine import GAMES
from tests.open_playground import OpenPlayground
from tests.web.test_api import open_table
from tests.web.test_replay import add_game
from tests.web.test_tables import open_browser


async def read_preview(session: aiohttp.ClientSession, site: OpenPlayground, path: str) -> dict[str, str]:
    """Return a page's tags as a stranger gets them, such as "title" and "image"."""
    async with session.get(site.url + path, headers={"Accept-Language": "it"}) as answer:
        assert answer.status == 200, path
        page = await answer.text()
    return {name: unescape(value) for name, value in re.findall(r'property="og:(\w+)" content="([^"]*)"', page)}


async def read_picture(session: aiohttp.ClientSession, preview: dict[str, str]) -> Image.Image:
    async with session.get(preview["image"]) as answer:
        if answer.status == 503:
            # A busy bot has no time to paint: ask again, as the header says.
            await asyncio.sleep(float(answer.headers["Retry-After"]))
            return await read_picture(session, preview)
        assert (answer.status, answer.content_type) == (200, "image/png"), preview
        # A game names its players, who can be forgotten.
        is_game = "/game/" in preview["image"]
        assert answer.headers["Cache-Control"] == ("no-cache" if is_game else "public, max-age=3600")
        return Image.open(io.BytesIO(await answer.read()))


async def test_shared_pages_have_a_preview_with_a_picture(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    game, puzzle = await add_game(site), next(iter(all_puzzles()))
    day = site.worker.feature(DailyFeature).days.today()
    async with open_browser(site) as anna:
        code = await anna.play("tressette", friend="1", name="Anna")
    expected = {
        f"t/{code}": ("Tressette in Quattro", "Anna"),
        f"g/{game.id}": ("Metà Mazzo", "Bruno"),
        f"puzzle?id={puzzle}": ("Problema", "Quale carta"),
        "daily": ("Smazzata del giorno", str(day.day)),
        "daily?yesterday": ("La smazzata di ieri", str((day - timedelta(days=1)).day)),
    }
    for path, (title, text) in expected.items():
        preview = await read_preview(session, site, path)
        assert preview["site_name"] == "Buongioco"
        assert title in preview["title"], preview
        assert text in preview["description"], preview
        picture = await read_picture(session, preview)
        assert picture.width == 720, path
        assert 300 <= picture.height <= 1440, path


async def test_preview_of_a_watched_table_names_only_its_game(
    site: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    code, watch_id = await open_table(site)
    preview = await read_preview(session, site, f"t/{watch_id}")
    assert preview["image"].endswith("/picture/it/table/metamazzo.png")
    assert code not in "".join(preview.values())


async def test_player_of_a_table_gets_no_preview(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        code = await anna.play("tressette", friend="1", name="Anna")
        async with anna.session.get(f"{site.url}t/{code}") as answer:
            assert "og:" not in await answer.text()


async def test_invitation_does_not_name_its_table_in_the_picture(
    site: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    async with open_browser(site) as anna:
        code = await anna.play("tressette", friend="1", name="Anna")
    assert code not in (await read_preview(session, site, f"t/{code}"))["image"]


@pytest.mark.parametrize("game", GAMES)
def test_invitation_shows_a_whole_suit_and_no_hand(game: str) -> None:
    kind, (_words, ranking) = GAMES[game], invitation_sheet(game, "en").parts
    assert isinstance(ranking, Ranking)
    assert len(ranking.cards) == len(kind.pack.ranks)
    assert len({card.code[-1] for card in ranking.cards}) == 1


async def test_picture_without_a_subject_is_not_found(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    days = site.worker.feature(DailyFeature).days
    tomorrow, long_ago = days.today() + timedelta(days=1), days.today() - timedelta(days=2)
    for path in (
        "en/table/whist",
        "de/table/tressette",
        "en/puzzle/nothing",
        "en/game/NOSUCH-0123456789ab",
        "en/game/x",
        f"en/daily/{tomorrow}",
        f"en/daily/{long_ago}",
        "en/daily/today",
        "en/hand/1",
    ):
        async with session.get(f"{site.url}picture/{path}.png") as answer:
            assert answer.status == 404, path


async def test_unpainted_picture_can_be_requested_again(
    site: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_subject: object) -> bytes:
        return b""

    monkeypatch.setattr(site.site.card_room, "paint", fail)
    async with session.get(f"{site.url}picture/en/table/tressette.png") as answer:
        assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
