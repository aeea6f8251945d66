"""A table's WebSocket: heartbeats, and presses on connections that break."""

import asyncio
import json

import aiohttp
import pytest

from bot.handlers import Dispatcher
from bot.platform import Press, Reply
from bot.rate_limits import RateLimit
from tests.open_playground import Open
from tests.web.test_tables import Live, browser


class SlowPresses:
    """Delays every press until the test releases it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.may_go_on = asyncio.Event(), asyncio.Event()
        usual = Dispatcher.handle_press

        async def press(dispatcher: Dispatcher, one: Press) -> Reply:
            self.begun.set()
            await self.may_go_on.wait()
            return await usual(dispatcher, one)

        monkeypatch.setattr(Dispatcher, "handle_press", press)


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUONGIOCO_RATE_LIMITS", "true")


async def first_card(live: Live) -> str:
    """Return the payload that plays a card, once it is the reader's turn."""
    while True:
        table = await live.word("table")
        if table["is_mine"]:
            [press, *_others] = [str(card["press"]) for card in table["hand"] if card["light"] == "playable"]
            return press


async def test_heartbeat_is_answered_during_a_press(site: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    async with browser(site) as anna:
        code = await anna.play("metamazzo")
        async with anna.live(code) as live:
            card, slow = await first_card(live), SlowPresses(monkeypatch)
            await live.line.send_json({"n": "abcd", "press": card})
            await slow.begun.wait()
            await live.line.send_json({"beat": True})
            assert await live.word("beat") is True
            assert not any("n" in word for word in live.said)
            slow.may_go_on.set()
            assert not (await live.word("n"))["refused"]


async def test_press_counts_after_its_page_closed(site: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    async with browser(site) as anna:
        code = await anna.play("metamazzo")
        async with anna.live(code) as live:
            card, slow = await first_card(live), SlowPresses(monkeypatch)
            await live.line.send_json({"n": "abcd", "press": card})
            await slow.begun.wait()
        slow.may_go_on.set()
        async with anna.live(code) as live:
            while any(card == one["press"] for one in (await live.word("table"))["hand"]):
                pass


async def test_press_sent_on_two_connections_counts_once(site: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    async with browser(site) as anna:
        code = await anna.play("metamazzo")
        async with anna.live(code) as old, anna.live(code) as new:
            card, slow = await first_card(old), SlowPresses(monkeypatch)
            for live in (old, new):
                await live.line.send_json({"n": "abcd", "press": card})
            slow.may_go_on.set()
            for live in (old, new):
                assert not (await live.word("n"))["refused"]
        table = await site.worker.room.table(code)
        assert table.game
        assert [move for seat, move in table.game.history(0) if seat == 0] == [card.rpartition(":")[2]]


async def test_heartbeats_are_limited_and_validated(limited: None, site: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.web.limits.MESSAGES", RateLimit(burst=2, interval=3600.0))
    monkeypatch.setattr("adapters.web.live.LIMIT_PAUSE_SECONDS", 0.01)
    async with browser(site) as anna:
        code = await anna.play("metamazzo")
        async with anna.live(code) as live:
            for _ in range(3):
                await live.line.send_json({"beat": True})
                assert await live.word("beat") is True
            await live.line.send_json({"n": "abcd", "press": "x"})
            assert "Too much" in (await live.word("n"))["toast"]
        for word in ({"beat": 1}, {"beat": None}, {"beat": True, "n": "abcd"}, {"beat": True, "press": "x"}):
            async with anna.live(code) as live:
                await live.line.send_str(json.dumps(word))
                while (said := await live.line.receive(timeout=60)).type is aiohttp.WSMsgType.TEXT:
                    assert "beat" not in json.loads(said.data)
                assert live.line.close_code == aiohttp.WSCloseCode.POLICY_VIOLATION


async def test_heartbeat_is_answered_in_the_chat(site: Open, session: aiohttp.ClientSession) -> None:
    async with session.ws_connect(f"{site.url}ws", headers={"Origin": site.url.rstrip("/")}) as line:
        assert (await line.receive_json(timeout=60))["type"] == "hello"
        await line.send_str('{"beat":true}')
        assert await line.receive_json(timeout=60) == {"beat": True}
