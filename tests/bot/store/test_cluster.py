"""A cluster that loses nodes keeps acknowledged entries, and the client finds the new primary."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from benchmarks.cluster import NODE_TIMEOUT_MS, LocalCluster, Node
from bot.store import STORE_ERRORS, Appended, Store, keys, open_store
from bot.store.batch import NotReplicated
from bot.store.log import Log

pytestmark = pytest.mark.xdist_group("cluster")

EMPTY_LOG = Log([])


@pytest.fixture(autouse=True)
def extend_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow a replica on a slow machine enough time to take over."""
    for limit in ("batch.RETRY_SECONDS", "cluster.RETRY_SECONDS", "store.COMMIT_SECONDS"):
        monkeypatch.setattr(f"bot.store.{limit}", 60.0)


@pytest.fixture
async def replicated_store(cluster: LocalCluster) -> AsyncIterator[Store]:
    """A store that acknowledges an entry once a replica has it."""
    await asyncio.to_thread(cluster.clear)
    async with open_store(cluster.url, replicas=1) as store:
        yield store


async def fail_over(cluster: LocalCluster, primary: Node, replica: Node) -> None:
    """Kill the primary and wait until its replica takes over."""
    await asyncio.to_thread(primary.kill)
    while not await asyncio.to_thread(lambda: replica.is_primary):
        await asyncio.sleep(0.05)


def set_node_timeout(cluster: LocalCluster, milliseconds: int) -> None:
    """Set the time after which a silent node is replaced."""
    for node in cluster.nodes:
        if node.is_running:
            node.ask("CONFIG SET", "cluster-node-timeout", milliseconds)


async def find_nodes(cluster: LocalCluster, code: str) -> tuple[Node, Node]:
    """Return the primary of a table and its replica."""
    primary = await asyncio.to_thread(cluster.primary_of, keys.table(code))
    return primary, await asyncio.to_thread(cluster.replica_of, primary)


@pytest.mark.long
async def test_commands_wait_for_a_failover(cluster: LocalCluster, cluster_store: Store) -> None:
    store = cluster_store
    assert await store.append("ABCD", EMPTY_LOG, [b"one"]) == Appended(1)
    await store.client.set("somebody", "x")
    primary, replica = await find_nodes(cluster, "ABCD")
    other = await asyncio.to_thread(cluster.primary_of, "somebody")
    # No node is replaced before the others have answered, even on a slow machine.
    await asyncio.to_thread(set_node_timeout, cluster, 3_600_000)
    try:
        await asyncio.to_thread(primary.kill)
        if other is not primary:
            # The other nodes are not affected.
            async with asyncio.timeout(20):
                assert await store.client.get("somebody") == b"x"
    finally:
        await asyncio.to_thread(set_node_timeout, cluster, NODE_TIMEOUT_MS)
    failover = asyncio.create_task(fail_over(cluster, primary, replica))
    results = await asyncio.gather(
        store.append("ABCD", Log([b"one"]), [b"two"]),
        store.load("ABCD"),
        store.changed_tables(range(keys.SHARDS)),
    )
    await failover
    assert results[0] == Appended(2)
    assert (await store.load("ABCD")).entries == [b"one", b"two"]


@pytest.mark.long
async def test_entry_without_a_replica_is_not_acknowledged(cluster: LocalCluster, replicated_store: Store) -> None:
    assert await replicated_store.append("ABCD", EMPTY_LOG, [b"one"]) == Appended(1)
    primary, replica = await find_nodes(cluster, "ABCD")
    replica.freeze()
    with pytest.raises(NotReplicated):
        await replicated_store.append("ABCD", Log([b"one"]), [b"two"])
    with pytest.raises(NotReplicated):
        # This append writes nothing, but a failover could lose the entries it returns.
        await replicated_store.append("ABCD", Log([b"one"]), [b"other"])
    with pytest.raises(NotReplicated):
        await replicated_store.confirm(keys.table("ABCD"))
    await asyncio.to_thread(primary.kill)
    replica.thaw()
    await fail_over(cluster, primary, replica)
    assert (await replicated_store.load("ABCD")).entries in ([b"one"], [b"one", b"two"])


@pytest.mark.long
async def test_acknowledged_entries_survive_a_dead_primary(cluster: LocalCluster, replicated_store: Store) -> None:
    codes = [f"T{number}" for number in range(12)]
    acknowledged = dict.fromkeys(codes, 0)
    stopped = asyncio.Event()

    async def append_until_stopped(code: str) -> None:
        log: Log | None = EMPTY_LOG
        while not stopped.is_set():
            try:
                if log is None:
                    log = await replicated_store.load(code)
                entry = f"{len(log.entries)}".encode()
                if isinstance(await replicated_store.append(code, log, [entry]), Appended):
                    acknowledged[code] += 1
                    log = log.with_entries([entry])
                    continue
            except STORE_ERRORS:
                pass
            log = None

    writers = [asyncio.create_task(append_until_stopped(code)) for code in codes]
    await asyncio.sleep(0.3)
    for code in ("T1", "T2"):
        primary, replica = await find_nodes(cluster, code)
        await fail_over(cluster, primary, replica)
        await asyncio.to_thread(primary.start)
        await asyncio.to_thread(cluster.wait_until_healthy)
        await asyncio.sleep(0.3)
    stopped.set()
    await asyncio.gather(*writers)
    for code, count in acknowledged.items():
        entries = (await replicated_store.load(code)).entries
        assert len(entries) >= count > 0
        assert [entry.partition(b"\t")[0] for entry in entries] == [
            str(number).encode() for number in range(len(entries))
        ]


async def test_append_waits_for_a_moving_slot(cluster: LocalCluster, cluster_store: Store) -> None:
    """Commands wait while the keys of their slot are moving."""
    store = cluster_store
    assert await store.append("ABCD", EMPTY_LOG, [b"one"]) == Appended(1)
    source = await asyncio.to_thread(cluster.primary_of, keys.table("ABCD"))
    target = next(node for node in await asyncio.to_thread(cluster.primaries) if node is not source)

    def begin_move() -> None:
        slot = source.ask("CLUSTER KEYSLOT", keys.table("ABCD"))
        target.ask("CLUSTER SETSLOT", slot, "IMPORTING", source.ask("CLUSTER MYID"))
        source.ask("CLUSTER SETSLOT", slot, "MIGRATING", target.ask("CLUSTER MYID"))
        names = source.ask("CLUSTER GETKEYSINSLOT", slot, 100)
        source.ask("MIGRATE", "127.0.0.1", target.port, "", 0, 2000, "KEYS", *names)

    def end_move() -> None:
        slot = source.ask("CLUSTER KEYSLOT", keys.table("ABCD"))
        for node in (target, source):
            node.ask("CLUSTER SETSLOT", slot, "NODE", target.ask("CLUSTER MYID"))

    await asyncio.to_thread(begin_move)
    appending = asyncio.create_task(store.append("ABCD", Log([b"one"]), [b"two"]))
    await asyncio.sleep(0.3)
    assert not appending.done()
    await asyncio.to_thread(end_move)
    assert await appending == Appended(2)
    assert await store.append("ABCD", Log([b"one", b"two"]), [b"three"]) == Appended(3)
    assert (await store.load("ABCD")).entries == [b"one", b"two", b"three"]


async def test_node_without_a_script_learns_it(cluster: LocalCluster, cluster_store: Store) -> None:
    assert await cluster_store.append("ABCD", EMPTY_LOG, [b"one"]) == Appended(1)
    for node in await asyncio.to_thread(cluster.primaries):
        await asyncio.to_thread(node.ask, "SCRIPT FLUSH")
    assert await cluster_store.append("ABCD", Log([b"one"]), [b"two"]) == Appended(2)


async def test_dead_replica_does_not_fail_commands(cluster: LocalCluster, cluster_store: Store) -> None:
    _primary, replica = await find_nodes(cluster, "ABCD")
    await asyncio.to_thread(replica.kill)
    for _ in range(20):
        assert await cluster_store.client.ping()
