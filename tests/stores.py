"""Fixtures with real stores, which `tests/conftest.py` makes available to all tests."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import redis
from redis.asyncio import Redis

from benchmarks.cluster import LocalCluster
from bot.store import EmbeddedStore, Store, open_store


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[EmbeddedStore]:
    """An embedded Valkey on disk for one test: for tests that kill or reconfigure it."""
    valkey = EmbeddedStore(tmp_path / "data")
    await valkey.start()
    yield valkey
    await valkey.stop()


@pytest.fixture(scope="session")
def shared_valkey(tmp_path_factory: pytest.TempPathFactory, forked: None) -> Iterator[EmbeddedStore]:
    """An embedded Valkey shared by the tests of this process, because starting one takes longer than most tests.

    It does not wait for the disk as a bot's own store does, because power failures are not tested with it. A test with
    a store can start a bot, and a bot needs worker processes (`tests.forked`).
    """
    valkey = EmbeddedStore(tmp_path_factory.mktemp("valkey"))
    asyncio.run(valkey.start())
    with redis.Redis.from_url(valkey.url) as client:
        client.config_set("appendfsync", "no")
    yield valkey
    asyncio.run(valkey.stop())


@pytest.fixture
def empty_valkey(shared_valkey: EmbeddedStore) -> EmbeddedStore:
    """The shared Valkey, emptied: for tests of a bot that opens its store itself."""
    with redis.Redis.from_url(shared_valkey.url) as client:
        client.flushall()
    return shared_valkey


@pytest.fixture
async def store(shared_valkey: EmbeddedStore) -> AsyncIterator[Store]:
    """An empty store."""
    async with open_empty(shared_valkey) as opened_store:
        yield opened_store


@asynccontextmanager
async def open_empty(valkey: EmbeddedStore) -> AsyncIterator[Store]:
    async with Redis.from_url(valkey.url) as client:
        await client.flushall()
    async with open_store(valkey.url) as opened_store:
        yield opened_store


ON_A_CLUSTER = pytest.param("cluster", marks=pytest.mark.xdist_group("cluster"))
LONG_ON_A_CLUSTER = pytest.param("cluster", marks=[*ON_A_CLUSTER.marks, pytest.mark.long])
"""Parameters of tests that also run on a cluster. One process runs all of them, with one cluster."""


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """Three primaries with replicas. No node waits for the disk. A test that kills nodes must restart them."""
    with LocalCluster(tmp_path_factory.mktemp("cluster")) as nodes:
        for node in nodes.nodes:
            node.ask("CONFIG SET", "appendfsync", "no")
        yield nodes


@pytest.fixture
async def cluster_store(cluster: LocalCluster) -> AsyncIterator[Store]:
    """An empty store on the cluster."""
    await asyncio.to_thread(cluster.clear)
    async with open_store(cluster.url) as opened_store:
        yield opened_store


@pytest.fixture(params=["one node", ON_A_CLUSTER])
async def any_store(request: pytest.FixtureRequest, shared_valkey: EmbeddedStore) -> AsyncIterator[Store]:
    """An empty store, on one node or on the cluster."""
    if request.param == "cluster":
        nodes: LocalCluster = request.getfixturevalue("cluster")
        await asyncio.to_thread(nodes.clear)
        async with open_store(nodes.url) as opened_store:
            yield opened_store
        return
    async with open_empty(shared_valkey) as opened_store:
        yield opened_store
