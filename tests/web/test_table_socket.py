"""A table's WebSocket: heartbeats, and presses on connections that break."""

import asyncio
import json
import re

import aiohttp
import pytest
from redis.exceptions import ConnectionError as StoreAway

from bot.handlers import Dispatcher
from bot.people import People
from bot.platform import Press, Reply
from bot.rate_limiter import RateLimit
from bot.robots.pace import PACES
from tests.open_playground import OpenPlayground
from tests.web.test_tables import open_browser, wait_for_card


class SlowPresses:
    """Presses that wait until the test releases them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started, self.released = asyncio.Event(), asyncio.Event()
        handle_press = Dispatcher.handle_press

        async def handle_slowly(dispatcher: Dispatcher, event: Press) -> Reply:
            self.started.set()
            await self.released.wait()
            return await handle_press(dispatcher, event)

        monkeypatch.setattr(Dispatcher, "handle_press", handle_slowly)


async def test_heartbeat_is_answered_during_a_press(site: OpenPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_browser(site) as anna:
        code = await anna.play("metamazzo")
        async with anna.connect(code) as live:
            card, slow = await wait_for_card(live), SlowPresses(monkeypatch)
            await live.socket.send_json({"n": "abcd", "press": card})
            await slow.started.wait()
            await live.socket.send_json({"beat": True})
            assert await live.receive("beat") is True
            assert not any("n" in message for message in live.received)
            slow.released.set()
            assert not (await live.receive("n"))["refused"]


async def test_press_counts_after_its_page_closed(site: OpenPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_browser(site) as anna:
        code = await anna.play("metamazzo")
        async with anna.connect(code) as live:
            card, slow = await wait_for_card(live), SlowPresses(monkeypatch)
            await live.socket.send_json({"n": "abcd", "press": card})
            await slow.started.wait()
        slow.released.set()
        async with anna.connect(code) as live:
            while any(card == card_["press"] for card_ in (await live.receive("table"))["hand"]):
                pass


async def test_press_sent_on_two_connections_counts_once(site: OpenPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_browser(site) as anna:
        code = await anna.play("metamazzo")
        async with anna.connect(code) as old, anna.connect(code) as new:
            card, slow = await wait_for_card(old), SlowPresses(monkeypatch)
            for live in (old, new):
                await live.socket.send_json({"n": "abcd", "press": card})
            slow.released.set()
            for live in (old, new):
                assert not (await live.receive("n"))["refused"]
        table = await site.worker.room.table(code)
        assert table.game
        assert [move for seat, move in table.game.history(0) if seat == 0] == [card.rpartition(":")[2]]


@pytest.mark.parametrize("error", [StoreAway, RuntimeError])
async def test_press_that_failed_can_be_sent_again(
    site: OpenPlayground, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    async with open_browser(site) as anna:
        code = await anna.play("metamazzo")
        async with anna.connect(code) as live:
            card = await wait_for_card(live)

            async def fail(*_arguments: object) -> None:
                raise error

            with monkeypatch.context() as patch:
                patch.setattr(People, "meet", fail)
                answer = await live.press(card)
                assert (answer["refused"], answer["again"]) == (True, True)
            assert not (await live.press(card))["refused"]
            refusal = await live.press(card, "other")
            assert refusal["refused"]
            assert "again" not in refusal


async def test_page_of_another_reader_gets_nothing(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        code = await anna.play("metamazzo")
        address = f"{site.url}t/{code}/live?reader=0123456789ab"
        async with anna.session.ws_connect(address, headers=anna.origin) as socket:
            assert await socket.receive_json(timeout=60) == {"gone": True, "stranger": True}
        tag = re.search(r'<html [^>]*data-reader="([0-9a-f]{12})"', (await anna.get(f"/t/{code}"))[1])
        assert tag
        async with anna.session.ws_connect(address.replace("0123456789ab", tag[1]), headers=anna.origin) as socket:
            assert "table" in await socket.receive_json(timeout=60)


async def test_robots_keep_the_pace_of_an_open_page(site: OpenPlayground) -> None:
    pauses = list[float]()  # pauses of robots only: a person's clock is longer than a second
    site.worker.room.watchers.append(
        lambda commit: pauses.extend(pause for pause in [commit.clock] if pause and pause < 1)
    )
    async with open_browser(site) as anna:
        code = await anna.play("metamazzo")
        for number, (pace, factor) in enumerate(PACES.items()):
            async with anna.connect(code) as live:
                await live.socket.send_json({"pace": pace})
                pauses.clear()
                for turn in range(20):
                    card = await wait_for_card(live)
                    assert not (await live.press(card, f"pace{number}x{turn}"))["refused"]
                    # The reader can have taken the trick, and lead again.
                    if pauses:
                        break
                assert pauses[-1] == pytest.approx(0.05 * factor)
        async with anna.connect(code) as live:
            await live.socket.send_json({"pace": "hasty"})
            while (await live.socket.receive(timeout=60)).type is aiohttp.WSMsgType.TEXT:
                pass
            assert live.socket.close_code == aiohttp.WSCloseCode.POLICY_VIOLATION


async def test_heartbeats_are_limited_and_validated(
    limited: None, site: OpenPlayground, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("BEATS", "MESSAGES"):
        monkeypatch.setattr(f"adapters.web.limits.{limit}", RateLimit(burst=2, interval=3600.0))
    monkeypatch.setattr("adapters.web.table_socket.LIMIT_PAUSE_SECONDS", 0.01)
    async with open_browser(site) as anna:
        code = await anna.play("metamazzo")
        async with anna.connect(code) as live:
            for _ in range(3):
                await live.socket.send_json({"beat": True})
                assert await live.receive("beat") is True
            # Heartbeats use up no presses.
            toasts = []
            for _ in range(3):
                await live.socket.send_json({"n": "abcd", "press": "x"})
                toasts.append((await live.receive("n"))["toast"])
            assert ["Too many requests" in toast for toast in toasts] == [False, False, True]
        for message in ({"beat": 1}, {"beat": None}, {"beat": True, "n": "abcd"}, {"beat": True, "press": "x"}):
            async with anna.connect(code) as live:
                await live.socket.send_str(json.dumps(message))
                while (received := await live.socket.receive(timeout=60)).type is aiohttp.WSMsgType.TEXT:
                    assert "beat" not in json.loads(received.data)
                assert live.socket.close_code == aiohttp.WSCloseCode.POLICY_VIOLATION


async def test_heartbeat_is_answered_in_the_chat(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    async with session.ws_connect(f"{site.url}ws", headers={"Origin": site.url.rstrip("/")}) as socket:
        assert (await socket.receive_json(timeout=60))["type"] == "hello"
        await socket.send_str('{"beat":true}')
        assert await socket.receive_json(timeout=60) == {"beat": True}
