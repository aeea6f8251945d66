"""A connection lost at any moment counts as a store outage, not as another error."""

import asyncio
from typing import Any

import pytest
from redis.exceptions import ConnectionError  # noqa: A004

from bot.store import STORE_ERRORS, Store, connect
from bot.store.cluster import ClosedErrorMixin, Cluster


async def ping(connection: Any) -> None:
    await connection.send_command("PING")
    await connection.read_response()


async def test_connection_closed_during_a_command_is_a_store_error(store: Store) -> None:
    """The probe of a dead store can close the connection. redis-py then writes to None (its issue 4287)."""
    connection: Any = await store.client.connection_pool.get_connection()
    for turns in range(4):
        await connection.connect()

        async def close(turns: int = turns) -> None:
            for _ in range(turns):
                await asyncio.sleep(0)
            await connection.disconnect(nowait=True)

        result, _ = await asyncio.gather(ping(connection), close(), return_exceptions=True)
        assert result is None or isinstance(result, STORE_ERRORS), repr(result)


async def test_write_to_a_closed_transport_is_a_store_error(store: Store) -> None:
    """Python 3.12 raises TypeError for such a write, and Python 3.13 AttributeError."""
    connection: Any = await store.client.connection_pool.get_connection()
    await connection.connect()
    connection._writer.transport.abort()
    for _ in range(3):
        await asyncio.sleep(0)
    with pytest.raises(ConnectionError):
        await ping(connection)


async def test_every_client_has_guarded_connections() -> None:
    for url in ("redis://localhost:1", "rediss://localhost:1", "unix:///nowhere"):
        async with connect(url) as client:
            assert isinstance(client.connection_pool.make_connection(), ClosedErrorMixin)
    for url in ("redis+cluster://localhost:1", "rediss+cluster://localhost:1"):
        async with connect(url) as client:
            assert isinstance(client, Cluster)
            nodes = [*client.nodes_manager.startup_nodes.values()]
            assert all(issubclass(node.connection_class, ClosedErrorMixin) for node in nodes)


@pytest.mark.xdist_group("cluster")
async def test_nodes_found_later_are_guarded(cluster_store: Store) -> None:
    assert await cluster_store.client.ping()
    nodes = [*cluster_store.client.get_nodes()]
    assert len(nodes) > 1
    assert all(issubclass(node.connection_class, ClosedErrorMixin) for node in nodes)
