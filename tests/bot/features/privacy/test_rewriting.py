"""Forgotten people leave the disk: no file of the data folder holds them any more."""

import asyncio
import logging
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from benchmarks.cluster import LocalCluster
from bot.features.privacy import rewriting
from bot.features.privacy.feature import PrivacyFeature
from bot.features.privacy.rewriting import ALL_EXPIRED_SECONDS, Rewriter, ask_for_rewrite
from bot.pseudonyms import ForgettingMark
from bot.store import EmbeddedStore, Store, keys, open_store
from bot.store.rewriting import rewrite_files
from bot.worker import Worker
from tests.bot.command import command
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker
from tests.bot.features.privacy.test_forgetting import gone, looked_once_more, resigned

ANNA = "paper:90217"
TRACES = (b"90217", b"annabella", b"Annabella")


def holding(folder: Path) -> list[str]:
    """The files in a folder, and in all below it, that hold something of Anna."""
    found = []
    for path in folder.rglob("*"):
        # A file may go while others are read.
        if path.is_file() and (held := _read(path)) and any(trace in held for trace in TRACES):
            found.append(path.name)
    return sorted(found)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


async def until(come: Callable[[], Any]) -> None:
    async with asyncio.timeout(60):
        while not come():
            await asyncio.sleep(0.02)


async def rewrites(store: Store) -> int:
    return int((await store.client.info("persistence"))["aof_rewrites"])


async def play(worker: Worker, fake: FakePlatform) -> None:
    """Have Anna play, be rated, and leave traces of each kind."""
    anna, bruno = (Player(worker, fake, name, at) for name, at in (("Annabella", 90217), ("Bruno", 2)))
    await resigned(worker, anna, bruno)
    await anna.say("/challenge spades")
    await anna.say("/daily", GROUP)
    await worker.settled()


async def forget_anna(worker: Worker) -> None:
    """Forget her, and let the minute pass for which logs of tables that have ended are kept."""
    await gone(worker, ANNA)
    client = worker.store.client
    async for key in client.scan_iter("*:ended:*"):
        assert 0 <= await client.ttl(key) <= 60
        await client.delete(key)
    await looked_once_more(worker)


@pytest.fixture
def no_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker's own rewriter does nothing by itself."""

    async def no_rounds(_rewriter: Rewriter) -> None:
        return

    monkeypatch.setattr(Rewriter, "run", no_rounds)


@pytest.fixture
async def on_disk(embedded: EmbeddedStore) -> Any:
    async with open_store(embedded.url) as store:
        yield store


@pytest.mark.usefixtures("no_rounds")
async def test_a_forgotten_person_leaves_every_file(embedded: EmbeddedStore, on_disk: Store) -> None:
    async with open_worker(on_disk, fake := FakePlatform()) as worker:
        await play(worker, fake)
        await forget_anna(worker)
        assert holding(embedded.folder) == ["appendonly.aof.1.incr.aof"]
        await Rewriter(on_disk, worker.shards).work()
        await until(lambda: not holding(embedded.folder))
        # Another is due when everything has expired that is kept for a day.
        [(name, due)] = await on_disk.client.zrange(keys.REWRITES, 0, -1, withscores=True)
        assert name == b"expired"
        assert due - await on_disk.attendance.current_time() == pytest.approx(ALL_EXPIRED_SECONDS, abs=600)
    # What is left of the file is a whole store.
    await embedded.stop()
    await embedded.start()
    assert holding(embedded.folder) == []
    async with open_store(embedded.url) as store:
        assert await store.client.hget(keys.person("paper:2"), "name") == b"Bruno"


async def test_a_worker_rewrites_the_file_by_itself(
    embedded: EmbeddedStore, on_disk: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewriting, "POLL_SECONDS", 0.05)
    async with open_worker(on_disk, fake := FakePlatform()) as worker:
        await play(worker, fake)
        await forget_anna(worker)
        await until(lambda: not holding(embedded.folder))


@pytest.mark.usefixtures("no_rounds")
async def test_many_forgettings_make_one_rewrite(on_disk: Store) -> None:
    async with open_worker(on_disk, FakePlatform()) as worker:
        rewriter = Rewriter(on_disk, worker.shards)
        await rewriter.work()
        assert await rewrites(on_disk) == 0, "nobody was forgotten"
        for _ in range(3):
            await ask_for_rewrite(on_disk)
        await rewriter.work()
        await rewriter.work()
        assert await rewrites(on_disk) == 1
        await ask_for_rewrite(on_disk)
        await rewriter.work()
        assert await rewrites(on_disk) == 1, "an hour has not passed"
        rewriter.spacing = 0
        await rewriter.work()
        assert await rewrites(on_disk) == 2


@pytest.mark.usefixtures("no_rounds")
async def test_a_rewrite_waits_for_forgettings_under_way(on_disk: Store) -> None:
    async with open_worker(on_disk, FakePlatform()) as worker:
        rewriter = Rewriter(on_disk, worker.shards)
        await ask_for_rewrite(on_disk)
        far = ForgettingMark("somebody:12345678", worker.feature(PrivacyFeature).forgetter.now() + 1e6, is_erased=True)
        await on_disk.client.hset(keys.FORGETTING, ANNA, far.to_text())
        await rewriter.work()
        assert await rewrites(on_disk) == 0
        # Not for ever.
        rewriter.spacing = 0
        await rewriter.work()
        assert await rewrites(on_disk) == 1


async def test_a_rewrite_under_way_is_followed_by_another(embedded: EmbeddedStore, on_disk: Store) -> None:
    client = on_disk.client
    await client.set("first", "Annabella")
    await client.config_set("rdb-key-save-delay", 300_000)
    await client.bgrewriteaof()
    await client.delete("first")
    await client.config_set("rdb-key-save-delay", 0)
    assert await rewrite_files(client)
    assert await rewrites(on_disk) == 2
    await until(lambda: not holding(embedded.folder))


async def test_a_server_killed_during_a_rewrite_leaves_no_copy(embedded: EmbeddedStore, on_disk: Store) -> None:
    client = on_disk.client
    for number in range(20):
        await client.set(f"key {number}", "Annabella")
    await client.config_set("rdb-key-save-delay", 100_000)
    await client.bgrewriteaof()
    await until(lambda: list(embedded.folder.glob("temp-rewriteaof-*.aof")))
    assert embedded._valkey
    embedded._valkey.send_signal(signal.SIGKILL)
    embedded._valkey.wait()
    (embedded.folder / "temp-rewriteaof-bg-1.aof").write_bytes(b"Annabella")
    embedded._release_folder()
    await embedded.start()
    assert not list(embedded.folder.glob("temp-*"))
    async with open_store(embedded.url) as store:
        await store.client.flushall()
        await rewrite_files(store.client)
    await until(lambda: not holding(embedded.folder))


@pytest.mark.usefixtures("no_rounds")
async def test_a_server_that_forbids_it_is_said_once(embedded: EmbeddedStore, on_disk: Store) -> None:
    user = ["on", ">secret", "~*", "&*", "+@all", "-bgrewriteaof"]
    await on_disk.client.execute_command("ACL", "SETUSER", "bot", *user)
    url = embedded.url.replace("unix://", "unix://bot:secret@")
    async with open_store(url) as store, open_worker(store, FakePlatform()) as worker:
        await ask_for_rewrite(store)
        rewriter = Rewriter(store, worker.shards)
        rewriter.spacing = 0
        with capture_logs() as logs:
            await rewriter.work()
            await rewriter.work()
        [said] = [entry for entry in logs if entry["event"] == "store_file_not_rewritten"]
        assert said["log_level"] == logging.getLevelName(logging.WARNING).lower()
        assert "bgrewriteaof" in said["why"]
        assert "secret" not in str(said)
        # It is done once it is allowed.
        await on_disk.client.execute_command("ACL", "SETUSER", "bot", "+bgrewriteaof")
        await rewriter.work()
        assert await rewrites(on_disk) == 1
        assert await store.client.zcount(keys.REWRITES, "-inf", await store.attendance.current_time()) == 0


async def test_a_server_without_such_a_file_gets_none(embedded: EmbeddedStore, on_disk: Store) -> None:
    await on_disk.client.config_set("appendonly", "no")
    assert not await rewrite_files(on_disk.client)
    assert await rewrites(on_disk) == 0


@pytest.mark.xdist_group("cluster")
async def test_every_server_of_a_cluster_rewrites(cluster: LocalCluster, cluster_store: Store) -> None:
    async def counts() -> list[int]:
        found = []
        for node in primaries:
            async with Redis(host="127.0.0.1", port=node.port) as one:
                found.append(int((await one.info("persistence"))["aof_rewrites"]))
        return found

    primaries = await asyncio.to_thread(lambda: [node for node in cluster.nodes if node.is_primary])
    assert len(primaries) == 3
    before = await counts()
    assert await rewrite_files(cluster_store.client)
    assert all(now > then for now, then in zip(await counts(), before, strict=True))


@pytest.mark.usefixtures("no_settings", "no_rounds")
async def test_the_command_rewrites_the_file_too(tmp_path: Path) -> None:
    valkey = EmbeddedStore(tmp_path / "data")
    await valkey.start()
    async with open_store(valkey.url) as store, open_worker(store, fake := FakePlatform()) as worker:
        await play(worker, fake)
        async for key in store.client.scan_iter("*:ended:*"):
            await store.client.delete(key)
    await valkey.stop()
    assert holding(tmp_path / "data")
    done = await asyncio.to_thread(command, tmp_path, "forget", ANNA, "--yes")
    assert done.returncode == 0, done.stderr
    await until(lambda: not holding(tmp_path / "data"))
