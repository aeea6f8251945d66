"""Results that people share from the Mini App."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from adapters.web.limits import SHARES
from adapters.web.site import Site
from bot.features.daily.feature import DailyFeature
from bot.features.duels.feature import DuelsFeature
from bot.finished.archive import game_id
from bot.platform import Person as PlatformPerson
from bot.store import Store
from bot.tables.table import Table
from tests.telegram.content import Refused
from tests.telegram.players import ObservedTelegram, Person, seat_people
from tests.telegram.server import Failure, TelegramServer
from tests.telegram.test_mini_app import ANNA, PROXY_HEADERS, PUBLIC, enter, sign_launch, with_pages


class Sharer:
    """Anna in the app, who sends results to chats."""

    def __init__(self, session: aiohttp.ClientSession, site: Site, cookie: str) -> None:
        self._session, self._site, self._cookie = session, site, cookie

    async def share(
        self, page: str, platform: str = "telegram", cookie: str | None = None, **form: str
    ) -> tuple[int, Any]:
        cookie = self._cookie if cookie is None else cookie
        url = f"http://127.0.0.1:{self._site.port}/app/{platform}/share"
        headers = {**PROXY_HEADERS, "Origin": PUBLIC, "Cookie": cookie}
        async with self._session.post(url, data={"page": page, **form}, headers=headers) as answer:
            is_json = answer.content_type == "application/json"
            return answer.status, await answer.json() if is_json else None


@asynccontextmanager
async def sharing(store: Store, server: TelegramServer) -> AsyncIterator[tuple[ObservedTelegram, Sharer]]:
    server.apps.has_main = True
    Person(server, 1, "Anna", "it")
    async with (
        with_pages(store, server, public_url=PUBLIC, rate_limits=True) as (adapter, site),
        aiohttp.ClientSession() as session,
    ):
        launch = sign_launch(user=ANNA, auth_date=int(time.time()))
        cookie = (await enter(session, site, PUBLIC, launch)).headers["Set-Cookie"].partition(";")[0]
        yield adapter, Sharer(session, site, cookie)


async def finish_game(adapter: ObservedTelegram, table: Table) -> str:
    """Resign a game for Anna; return its page."""
    over = await adapter.worker.room.make_move(table.code, "telegram:1", table.version, "resign", "r")
    await adapter.worker.wait_until_idle()
    return f"/g/{game_id(over)}"


async def test_result_is_prepared_for_its_reader(store: Store, server: TelegramServer) -> None:
    async with sharing(store, server) as (adapter, anna):
        await seat_people(server, "metamazzo")
        [table] = await adapter.worker.room.lists.tables_of("telegram:1")
        page = await finish_game(adapter, table)
        assert await anna.share(page, text="Ritira il premio: https://evil.example") == (200, {"id": "prepared0"})
        prepared = server.apps.prepared["prepared0"]
        assert (prepared.user, prepared.chats) == (1, {"user", "group", "channel"})
        [[button]] = prepared.message["reply_markup"]["inline_keyboard"]
        assert button == {"text": "Apri", "url": f"https://t.me/buongioco_bot?startapp=g_{page[3:]}"}
        text = prepared.message["text"]
        assert "Metà Mazzo" in text
        assert "evil" not in text
        server.fail_next("savePreparedInlineMessage", Failure(Refused(400, "Bad Request: USER_ID_INVALID")))
        assert await anna.share(page) == (503, {})
        assert await anna.share(page, cookie="") == (404, None)
        assert await anna.share(page, platform="discord") == (404, None)
        assert len(server.apps.prepared) == 1


async def test_duel_and_deal_of_the_day_are_shared(store: Store, server: TelegramServer) -> None:
    async with sharing(store, server) as (adapter, anna):
        assert await anna.share("/daily") == (403, None)
        days, duels = adapter.worker.feature(DailyFeature).site, adapter.worker.feature(DuelsFeature).site
        person = PlatformPerson("telegram:1", "Anna", "anna", "it")
        code, _refusal = await days.open_table(person)
        await finish_game(adapter, await adapter.worker.room.table(code))
        assert await anna.share("/daily") == (200, {"id": "prepared0"})
        assert server.apps.prepared["prepared0"].message["text"] == await days.shareable_text("telegram:1")
        duel, _refusal = await duels.open(person, "metamazzo", "u1")
        assert await anna.share(f"/duel/{duel}") == (200, {"id": "prepared1"})
        assert "Metà Mazzo" in server.apps.prepared["prepared1"].message["text"]
        other, _refusal = await duels.open(PlatformPerson("telegram:2", "Bruno"), "metamazzo", "u2")
        assert await anna.share(f"/duel/{other}") == (403, None)


@pytest.mark.parametrize(
    "page",
    ["", "/leaderboard", "https://example.com", "//example.com", "/g/K7QF2M-0a1b2c", "/duel/K7QF2M", "/g/../daily"],
)
async def test_page_without_a_result_is_not_shared(store: Store, server: TelegramServer, page: str) -> None:
    async with sharing(store, server) as (_adapter, anna):
        assert await anna.share(page, text="Anna 31–12") == (403, None)
        assert not server.apps.prepared


async def test_banned_and_hasty_people_share_nothing(store: Store, server: TelegramServer) -> None:
    async with sharing(store, server) as (adapter, anna):
        await seat_people(server, "metamazzo")
        [table] = await adapter.worker.room.lists.tables_of("telegram:1")
        page, levers = await finish_game(adapter, table), adapter.worker.store.levers
        await levers.ban("telegram:1", "root")
        await levers.refresh()
        assert await anna.share(page) == (403, None)
        await levers.unban("telegram:1", "root")
        await levers.refresh()
        statuses = [(await anna.share(page))[0] for _ in range(SHARES.burst + 1)]
        assert statuses == [200] * SHARES.burst + [429]
