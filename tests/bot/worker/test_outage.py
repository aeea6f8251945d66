"""Presses are answered while the store refuses, hangs or is dead, and play continues after that."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.delivery import delivery
from bot.platform import Reply
from bot.store import EmbeddedStore, Store, outage
from bot.store import store as store_module
from bot.store.store import open_store
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player, code_of, mover_of, open_worker, seat_players

NOT_WRITTEN = "I can’t save anything right now, so that didn’t count"
NOT_WRITTEN_ITALIAN = "Ora non riesco a salvare nulla, quindi non vale"
UNREACHABLE = "I can’t reach my data right now"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "PROBE_SECONDS", 0.05)
    monkeypatch.setattr(delivery, "RETRY_SECONDS", 0.05)


def store_process(embedded: EmbeddedStore) -> int:
    return int((embedded.folder / "valkey.pid").read_text())


def set_answer_timeout(store: Store, seconds: float) -> None:
    """Set the answer timeout of the client, in seconds."""
    pool = store.client.connection_pool
    pool.timeout = pool.connection_kwargs["socket_timeout"] = seconds
    for connection in (*pool._available_connections, *pool._in_use_connections):
        connection.socket_timeout = seconds


@asynccontextmanager
async def freeze_store(embedded: EmbeddedStore, store: Store) -> AsyncIterator[None]:
    """Freeze the store, with short timeouts. Otherwise they are long, because real answers can take a while."""
    with pytest.MonkeyPatch.context() as context:
        context.setattr(store_module, "COMMIT_SECONDS", 0.8)
        set_answer_timeout(store, 0.4)
        os.kill(store_process(embedded), signal.SIGSTOP)
        try:
            # The process stops once it is scheduled.
            await asyncio.sleep(0.2)
            yield
        finally:
            set_answer_timeout(store, store_module.ANSWER_SECONDS)
            os.kill(store_process(embedded), signal.SIGCONT)


@asynccontextmanager
async def open_table(embedded: EmbeddedStore) -> AsyncIterator[tuple[Worker, FakePlatform, list[Player]]]:
    fake = FakePlatform()
    async with open_store(embedded.url) as store, open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        for player in players:
            # Real players open the private chat before they get a hand, so no press has to store that it is open.
            await player.dispatcher.send_hands(player.person)
        await worker.wait_until_idle()
        yield worker, fake, players


async def wait_until_healthy(worker: Worker) -> None:
    async with asyncio.timeout(20):
        while not (await worker.check_health())["store"]:
            await asyncio.sleep(0.02)


async def refuse_writes(store: Store, error: str) -> Callable[[], Awaitable[Any]]:
    """Make the store refuse all writes. Return a function that allows them again."""
    client = store.client
    if error == "replica":
        # A primary that missed a failover becomes a replica.
        await client.replicaof("127.0.0.1", 1)
        return lambda: client.replicaof("NO", "ONE")
    name, value = {"full": ("maxmemory", "1"), "alone": ("min-replicas-to-write", "1")}[error]
    await client.config_set(name, value)
    return lambda: client.config_set(name, "0")


@pytest.mark.parametrize("error", ["full", "alone", "replica"])
async def test_refused_write_is_reported_and_changes_nothing(embedded: EmbeddedStore, error: str) -> None:
    async with open_table(embedded) as (worker, _fake, players):
        mover = mover_of(players)
        await worker.people.update_person(mover.person.id, language="it")
        await worker.wait_until_idle()
        code = await code_of(worker, mover)
        before = (await worker.store.load(code)).version
        message, button = mover.moves()[0]
        with capture_logs() as logs:
            allow_writes = await refuse_writes(worker.store, error)
            for number in range(20):
                reply = await mover.send(button.payload, mover.private, message, key=f"again{number}")
                assert NOT_WRITTEN_ITALIAN in reply.toast
            assert NOT_WRITTEN in (await Player(worker, mover.fake, "Carla", 3).say("/challenge testa")).toast
            assert not (await worker.check_health())["healthy"]
            assert (await worker.store.load(code)).version == before
            await allow_writes()
            await wait_until_healthy(worker)
            assert (await mover.send(button.payload, mover.private, message, key="again0")).toast == ""
        assert (await worker.store.load(code)).version == before + 1
        await worker.wait_until_idle()
        assert any(player.moves() for player in players if player is not mover)
        events = [line["event"] for line in logs]
        assert events.count("store_failed") == events.count("store_recovered") == 1
        assert not [line for line in logs if "exception" in line or "exc_info" in line]


async def test_presses_on_a_frozen_store_count_once(embedded: EmbeddedStore) -> None:
    async with open_table(embedded) as (worker, _fake, players):
        mover = mover_of(players)
        code = await code_of(worker, mover)
        before = (await worker.store.load(code)).version
        message, button = mover.moves()[0]
        await worker.wait_until_idle()
        tasks = len(asyncio.all_tasks())
        with capture_logs() as logs:
            async with freeze_store(embedded, worker.store):
                # There are more presses than connections, and each is answered.
                presses = [mover.send(button.payload, mover.private, message, key=f"frozen{n}") for n in range(100)]
                strangers = [Player(worker, mover.fake, f"P{n}", 100 + n).send("1pabout", GROUP) for n in range(100)]
                async with asyncio.timeout(60):
                    answers: list[Reply] = await asyncio.gather(*presses, *strangers)
                assert not [answer.toast for answer in answers if UNREACHABLE not in answer.toast]
                assert not (await worker.check_health())["store"]
            await wait_until_healthy(worker)
            assert (await mover.send(button.payload, mover.private, message, key="frozen0")).toast in (
                "",
                # The store wrote another of the hundred presses when it woke up.
                "This button has expired: use the latest message.",
            )
        log = await worker.store.load(code)
        moves = [entry for entry in log.entries if entry[:1].isdigit()]
        assert log.version == before + 1, log
        assert len(moves) == 1
        events = [line["event"] for line in logs]
        assert events.count("store_failed") == events.count("store_recovered") == 1
        await worker.wait_until_idle()
        async with asyncio.timeout(20):
            while len(asyncio.all_tasks()) > tasks:
                await asyncio.sleep(0.05)


async def test_late_written_press_is_found_by_its_key(embedded: EmbeddedStore) -> None:
    async with open_table(embedded) as (worker, _fake, players):
        mover = mover_of(players)
        code = await code_of(worker, mover)
        before = (await worker.store.load(code)).version
        message, button = mover.moves()[0]
        async with freeze_store(embedded, worker.store):
            reply = await mover.send(button.payload, mover.private, message, key="once")
            assert UNREACHABLE in reply.toast
        await wait_until_healthy(worker)
        # The store had the press in its socket and wrote it on waking up. The worker's cache does not have it.
        assert (await worker.store.load(code)).version == before + 1
        assert (await mover.send(button.payload, mover.private, message, key="once")).toast == ""
        assert (await worker.store.load(code)).version == before + 1
        # The others see the move although no call could confirm it to the worker.
        async with asyncio.timeout(30):
            while not any(player.moves() for player in players if player is not mover):
                await asyncio.sleep(0.1)


async def test_store_probe_takes_no_connection_from_others(embedded: EmbeddedStore) -> None:
    async with open_store(embedded.url) as store:
        for _ in range(20):
            # Some connections are idle, and commands right after the probe take them.
            await asyncio.gather(*(store.client.get("x") for _ in range(5)))
            await asyncio.gather(store._test_write(), *(store.client.get("x") for _ in range(5)))


async def test_dead_store_restarts_and_play_continues(embedded: EmbeddedStore) -> None:
    async with open_table(embedded) as (worker, _fake, players):
        mover = mover_of(players)
        code = await code_of(worker, mover)
        message, button = mover.moves()[0]
        before = (await worker.store.load(code)).version
        os.kill(store_process(embedded), signal.SIGKILL)
        replies = [(await mover.send(button.payload, mover.private, message, key="k")).toast for _ in range(5)]
        # No process listens. A command that cannot be sent is not kept for later.
        assert NOT_WRITTEN in replies[-1]
        keeper = asyncio.create_task(embedded.keep_running())
        await wait_until_healthy(worker)
        assert (await mover.send(button.payload, mover.private, message, key="k")).toast == ""
        assert (await worker.store.load(code)).version == before + 1
        keeper.cancel()
        await asyncio.wait([keeper])
