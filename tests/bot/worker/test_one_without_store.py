"""One of two workers loses the store: no move is lost or made twice."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from bot.delivery import delivery
from bot.store import EmbeddedStore, Store, keys, outage
from tests.bot.fake_platform import Player
from tests.bot.worker.fleet import REST_SECONDS, Fleet
from tests.bot.worker.test_commit_notifications import start_game


class StoreProxy:
    """A proxy in front of a store. After `cut`, the store cannot be reached through it."""

    def __init__(self, store_url: str) -> None:
        self._socket = urlsplit(store_url).path
        self._open: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._port = 0

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._port}"

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._handle_connection, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        assert self._server
        self._server.close()
        for writer in self._open:
            writer.close()
        self._open.clear()
        await asyncio.gather(*self._tasks)
        await self._server.wait_closed()

    async def _handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_store, to_store = await asyncio.open_unix_connection(self._socket)
        self._open += [writer, to_store]
        copies = {asyncio.ensure_future(self._copy(*ends)) for ends in ((reader, to_store), (from_store, writer))}
        self._tasks |= copies
        await asyncio.wait(copies)
        self._tasks -= copies

    @staticmethod
    async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()


@pytest.fixture
async def proxies(shared_valkey: EmbeddedStore) -> AsyncIterator[list[StoreProxy]]:
    proxies = [StoreProxy(shared_valkey.url) for _ in range(2)]
    for proxy in proxies:
        await proxy.open()
    yield proxies
    for proxy in proxies:
        await proxy.cut()


@pytest.fixture
async def fleet(store: Store, proxies: list[StoreProxy]) -> AsyncIterator[Fleet]:
    fleet = Fleet(store, [proxy.url for proxy in proxies])
    await fleet.open()
    yield fleet
    await fleet.close()


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "PROBE_SECONDS", 0.05)
    monkeypatch.setattr(delivery, "RETRY_SECONDS", 0.05)
    monkeypatch.setattr("bot.delivery.updates.SWEEP_SECONDS", 0.1)


async def wait_until_healthy(fleet: Fleet) -> None:
    """Wait until every worker has the store and receives its notifications."""
    async with asyncio.timeout(REST_SECONDS):
        while (
            not all([(await worker.check_health())["store"] for worker in fleet.workers])
            or await fleet.store.client.publish(keys.NOTIFICATIONS, "[]") < fleet.count
        ):
            await asyncio.sleep(0.02)


async def test_owner_shows_missed_moves_after_its_outage(fleet: Fleet, proxies: list[StoreProxy]) -> None:
    owner, other, player = await start_game(fleet)
    [table] = await other.room.lists.tables_of(player.person.id)
    proxy = proxies[fleet.workers.index(owner)]
    before = fleet.fake.last(player.private)
    await proxy.cut()
    _message, button = next(move for move in player.moves() if "play" in move[1].payload)
    assert not (await player.press(button.label)).toast
    assert (await other.room.table(table.code)).version > table.version
    owner_player = Player(owner, fleet.fake, player.person.name, 9)
    assert "I can’t" in (await owner_player.say("/tables")).toast
    assert not (await owner.check_health())["store"]
    assert (await other.check_health())["store"]
    await proxy.open()
    await wait_until_healthy(fleet)
    await fleet.wait_until_idle()
    assert fleet.fake.last(player.private) != before
    assert (await owner.room.load_cached(table.code)).version > table.version


async def test_press_refused_by_one_worker_is_made_once(fleet: Fleet, proxies: list[StoreProxy]) -> None:
    owner, other, player = await start_game(fleet)
    [table] = await other.room.lists.tables_of(player.person.id)
    message, button = next(move for move in player.moves() if "play" in move[1].payload)
    proxy = proxies[fleet.workers.index(owner)]
    await proxy.cut()
    players = [Player(worker, fleet.fake, player.person.name, 9) for worker in (owner, other, other, owner)]
    for presser in players:
        presser.person = player.person
    refused_player, first, repeated, _ = players
    assert "I can’t" in (await refused_player.send(button.payload, player.private, message, key="pressed")).toast
    assert (await other.room.table(table.code)).version == table.version
    assert not (await first.send(button.payload, player.private, message, key="pressed")).toast
    after = (await other.room.table(table.code)).version
    assert after > table.version
    await proxy.open()
    await wait_until_healthy(fleet)
    for presser in players:
        assert not (await presser.send(button.payload, player.private, message, key="pressed")).toast
    assert (await repeated.worker.room.table(table.code)).version == after
    await fleet.wait_until_idle()
