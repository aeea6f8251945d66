"""A real store for every test that wants one."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bot.bench.cluster import LocalCluster
from bot.store import EmbeddedStore, Store, opened


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[EmbeddedStore]:
    """An embedded Valkey, on disk, of this test alone."""
    valkey = EmbeddedStore(tmp_path / "data")
    await valkey.start()
    yield valkey
    await valkey.stop()


@pytest.fixture
async def store(embedded: EmbeddedStore) -> AsyncIterator[Store]:
    async with opened(embedded.url) as opened_store:
        yield opened_store


ON_A_CLUSTER = pytest.param("cluster", marks=pytest.mark.xdist_group("cluster"))
"""For tests that run on a cluster, too: one process has all of them, and one cluster."""


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """Three primaries and their replicas; a test that kills some starts them again."""
    with LocalCluster(tmp_path_factory.mktemp("cluster")) as nodes:
        yield nodes


@pytest.fixture
async def cluster_store(cluster: LocalCluster) -> AsyncIterator[Store]:
    """An empty store on the cluster."""
    await asyncio.to_thread(cluster.clear)
    async with opened(cluster.url) as opened_store:
        yield opened_store


@pytest.fixture(params=["one node", ON_A_CLUSTER])
async def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """A store of either kind."""
    if request.param == "cluster":
        nodes: LocalCluster = request.getfixturevalue("cluster")
        await asyncio.to_thread(nodes.clear)
        async with opened(nodes.url) as opened_store:
            yield opened_store
        return
    valkey = EmbeddedStore(tmp_path / "data")
    await valkey.start()
    async with opened(valkey.url) as opened_store:
        yield opened_store
    await valkey.stop()
