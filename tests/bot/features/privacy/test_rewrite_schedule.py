"""Forgotten people disappear from all files of the data folder."""

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
from bot.features.privacy.feature import PrivacyFeature
from bot.features.privacy.rewrite_schedule import ALL_EXPIRED_SECONDS, REWRITES_KEY, Rewriter, ask_for_rewrite
from bot.identity.pseudonyms import ForgettingMark
from bot.store import EmbeddedStore, Store, keys, open_store
from bot.store.rewriting import rewrite_files
from bot.worker import Worker
from tests.bot.command import run_command
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker
from tests.bot.features.privacy.test_forgetting import play_and_resign, run_first_pass, run_second_pass

ANNA = "paper:90217"
TRACES = (b"90217", b"annabella", b"Annabella")


def find_files_with_traces(folder: Path) -> list[str]:
    """Return the files in a folder and its subfolders that contain traces of Anna."""
    names = []
    for path in folder.rglob("*"):
        # The server can delete a file at any moment.
        if path.is_file() and (content := _read_bytes(path)) and any(trace in content for trace in TRACES):
            names.append(path.name)
    return sorted(names)


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


async def wait_until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.02)


async def count_rewrites(store: Store) -> int:
    return int((await store.client.info("persistence"))["aof_rewrites"])


async def play_as_anna(worker: Worker, fake: FakePlatform) -> None:
    """Let Anna play and be rated, and leave all kinds of traces."""
    anna, bruno = (Player(worker, fake, name, number) for name, number in (("Annabella", 90217), ("Bruno", 2)))
    await play_and_resign(worker, anna, bruno)
    await anna.say("/challenge spades")
    await anna.say("/daily", GROUP)
    await worker.wait_until_idle()


async def forget_anna(worker: Worker) -> None:
    """Forget Anna, and let the minute pass in which logs of ended tables are kept."""
    await run_first_pass(worker, ANNA)
    client = worker.store.client
    async for key in client.scan_iter("*:ended:*"):
        assert 0 <= await client.ttl(key) <= 60
        await client.delete(key)
    await run_second_pass(worker)


@pytest.fixture
def no_automatic_rewrites(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the worker's own rewriter."""

    class IdleRewriter(Rewriter):
        async def work(self) -> None:
            return

    monkeypatch.setattr("bot.features.privacy.feature.Rewriter", IdleRewriter)


@pytest.fixture
async def disk_store(embedded: EmbeddedStore) -> Any:
    async with open_store(embedded.url) as store:
        yield store


@pytest.mark.usefixtures("no_automatic_rewrites")
async def test_forgotten_person_disappears_from_every_file(embedded: EmbeddedStore, disk_store: Store) -> None:
    async with open_worker(disk_store, fake := FakePlatform()) as worker:
        await play_as_anna(worker, fake)
        await forget_anna(worker)
        assert find_files_with_traces(embedded.folder) == ["appendonly.aof.1.incr.aof"]
        await Rewriter(disk_store).work()
        await wait_until(lambda: not find_files_with_traces(embedded.folder))
        # Another rewrite is due when all data kept for a day has expired.
        [(name, time)] = await disk_store.client.zrange(REWRITES_KEY, 0, -1, withscores=True)
        assert name == b"expired"
        assert time - await disk_store.leases.current_time() == pytest.approx(ALL_EXPIRED_SECONDS, abs=600)
    # The remaining file is a complete store.
    await embedded.stop()
    await embedded.start()
    assert find_files_with_traces(embedded.folder) == []
    async with open_store(embedded.url) as store:
        assert await store.client.hget(keys.person("paper:2"), "name") == b"Bruno"


async def test_worker_rewrites_the_file_automatically(
    embedded: EmbeddedStore, disk_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.features.privacy.feature.REWRITE_SECONDS", 0.05)
    async with open_worker(disk_store, fake := FakePlatform()) as worker:
        await play_as_anna(worker, fake)
        await forget_anna(worker)
        await wait_until(lambda: not find_files_with_traces(embedded.folder))


@pytest.mark.usefixtures("no_automatic_rewrites")
async def test_many_requests_make_one_rewrite(disk_store: Store) -> None:
    async with open_worker(disk_store, FakePlatform()):
        rewriter = Rewriter(disk_store)
        await rewriter.work()
        assert await count_rewrites(disk_store) == 0, "nobody was forgotten"
        for _ in range(3):
            await ask_for_rewrite(disk_store)
        await rewriter.work()
        await rewriter.work()
        assert await count_rewrites(disk_store) == 1
        await ask_for_rewrite(disk_store)
        await rewriter.work()
        assert await count_rewrites(disk_store) == 1, "an hour has not passed"
        rewriter.spacing = 0
        await rewriter.work()
        assert await count_rewrites(disk_store) == 2


@pytest.mark.usefixtures("no_automatic_rewrites")
async def test_rewrite_waits_for_running_forgettings(disk_store: Store) -> None:
    async with open_worker(disk_store, FakePlatform()) as worker:
        rewriter = Rewriter(disk_store)
        await ask_for_rewrite(disk_store)
        running = ForgettingMark(
            "somebody:12345678", worker.feature(PrivacyFeature).forgetter.now() + 1e6, is_erased=True
        )
        await disk_store.client.hset(keys.FORGETTING, ANNA, running.to_text())
        await rewriter.work()
        assert await count_rewrites(disk_store) == 0
        # The rewrite does not wait forever.
        rewriter.spacing = 0
        await rewriter.work()
        assert await count_rewrites(disk_store) == 1


async def test_running_rewrite_is_followed_by_another(embedded: EmbeddedStore, disk_store: Store) -> None:
    client = disk_store.client
    await client.set("first", "Annabella")
    await client.config_set("rdb-key-save-delay", 300_000)
    await client.bgrewriteaof()
    await client.delete("first")
    await client.config_set("rdb-key-save-delay", 0)
    assert await rewrite_files(client)
    assert await count_rewrites(disk_store) == 2
    await wait_until(lambda: not find_files_with_traces(embedded.folder))


async def test_server_killed_during_a_rewrite_leaves_no_copy(embedded: EmbeddedStore, disk_store: Store) -> None:
    client = disk_store.client
    for number in range(20):
        await client.set(f"key {number}", "Annabella")
    await client.config_set("rdb-key-save-delay", 100_000)
    await client.bgrewriteaof()
    await wait_until(lambda: list(embedded.folder.glob("temp-rewriteaof-*.aof")))
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
    await wait_until(lambda: not find_files_with_traces(embedded.folder))


@pytest.mark.usefixtures("no_automatic_rewrites")
async def test_forbidden_rewrite_is_logged_once(embedded: EmbeddedStore, disk_store: Store) -> None:
    user = ["on", ">secret", "~*", "&*", "+@all", "-bgrewriteaof"]
    await disk_store.client.execute_command("ACL", "SETUSER", "bot", *user)
    url = embedded.url.replace("unix://", "unix://bot:secret@")
    async with open_store(url) as store, open_worker(store, FakePlatform()):
        await ask_for_rewrite(store)
        rewriter = Rewriter(store)
        rewriter.spacing = 0
        with capture_logs() as logs:
            await rewriter.work()
            await rewriter.work()
        [warning] = [entry for entry in logs if entry["event"] == "store_file_not_rewritten"]
        assert warning["log_level"] == logging.getLevelName(logging.WARNING).lower()
        assert "bgrewriteaof" in warning["why"]
        assert "secret" not in str(warning)
        # The file is rewritten once the server allows it.
        await disk_store.client.execute_command("ACL", "SETUSER", "bot", "+bgrewriteaof")
        await rewriter.work()
        assert await count_rewrites(disk_store) == 1
        assert await store.client.zcount(REWRITES_KEY, "-inf", await store.leases.current_time()) == 0


async def test_server_without_a_file_is_not_rewritten(embedded: EmbeddedStore, disk_store: Store) -> None:
    await disk_store.client.config_set("appendonly", "no")
    assert not await rewrite_files(disk_store.client)
    assert await count_rewrites(disk_store) == 0


@pytest.mark.xdist_group("cluster")
async def test_every_primary_of_a_cluster_rewrites_its_file(cluster: LocalCluster, cluster_store: Store) -> None:
    async def count_by_node() -> list[int]:
        counts = []
        for node in primaries:
            async with Redis(host="127.0.0.1", port=node.port) as client:
                counts.append(int((await client.info("persistence"))["aof_rewrites"]))
        return counts

    primaries = await asyncio.to_thread(lambda: [node for node in cluster.nodes if node.is_primary])
    assert len(primaries) == 3
    before = await count_by_node()
    assert await rewrite_files(cluster_store.client)
    assert all(after > earlier for after, earlier in zip(await count_by_node(), before, strict=True))


@pytest.mark.usefixtures("no_settings", "no_automatic_rewrites")
async def test_forget_command_rewrites_the_file(tmp_path: Path) -> None:
    valkey = EmbeddedStore(tmp_path / "data")
    await valkey.start()
    async with open_store(valkey.url) as store, open_worker(store, fake := FakePlatform()) as worker:
        await play_as_anna(worker, fake)
        async for key in store.client.scan_iter("*:ended:*"):
            await store.client.delete(key)
    await valkey.stop()
    assert find_files_with_traces(tmp_path / "data")
    result = await asyncio.to_thread(run_command, tmp_path, "forget", ANNA, "--yes")
    assert result.returncode == 0, result.stderr
    await wait_until(lambda: not find_files_with_traces(tmp_path / "data"))
