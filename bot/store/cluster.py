"""A Redis Cluster client that retries commands during a failover, and connections that survive being closed.

A replica takes over some seconds after its primary dies. Commands are retried for `RETRY_SECONDS`, with a fresh map of
the cluster. A retried command can run twice, and every command of the bot allows that.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cache
from typing import Any, TypeVar

from redis.asyncio import RedisCluster
from redis.asyncio.cluster import ClusterNode, ClusterPipeline, PipelineCommand
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    ClusterDownError,
    ConnectionError,  # noqa: A004
    MovedError,
    RedisClusterException,
    RedisError,
    TimeoutError,  # noqa: A004
    TryAgainError,
)

RETRY_SECONDS = 3.0  # how long a command is retried: less than most failovers take, because people wait
RETRY_PAUSE_SECONDS = 0.1  # pause between two attempts, and between two reads of the cluster's map
CONNECTIONS = 32  # connections for single commands; scripts and pipelines have connections of their own

# Errors that a failover causes.
FAILOVER_ERRORS = (ConnectionError, TimeoutError, ClusterDownError, TryAgainError, RedisClusterException, OSError)

Command = Sequence[Any]
Answer = TypeVar("Answer")


# redis-py raises these if a connection is closed during a call (redis-py issue 4287). Commands are already bytes when
# they are sent, so these errors have no other cause.
CLOSED_ERRORS = (AttributeError, TypeError, RuntimeError)


class ClosedErrorMixin:
    """Raises `redis.ConnectionError` if a connection was closed during a call."""

    async def send_packed_command(self, *args: Any, **kwargs: Any) -> None:
        try:
            await super().send_packed_command(*args, **kwargs)  # type: ignore[misc]
        except CLOSED_ERRORS as error:
            raise ConnectionError(f"The connection was lost while writing ({type(error).__name__}).") from error

    async def read_response(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return await super().read_response(*args, **kwargs)  # type: ignore[misc]
        except CLOSED_ERRORS as error:
            raise ConnectionError(f"The connection was lost while reading ({type(error).__name__}).") from error


@cache
def with_closed_errors(connection_class: Any) -> Any:
    """Return a subclass of a connection class of redis-py with `ClosedErrorMixin`."""
    return type(f"Guarded{connection_class.__name__}", (ClosedErrorMixin, connection_class), {})


class ClusterDown(ConnectionError):
    """A command kept failing until its retries ended. One of the attempts might have succeeded."""

    def __init__(self, error: Exception) -> None:
        super().__init__(f"the cluster has not healed: {type(error).__name__}: {error}")


class Cluster(RedisCluster):
    """A cluster's client for many tasks at once."""

    def __init__(self, **kwargs: Any) -> None:
        # The library retries only once, without a pause: `run_with_retries` makes the pauses.
        super().__init__(**{"max_connections": 4 * CONNECTIONS, **kwargs, "retry": Retry(NoBackoff(), 1)})
        # The library creates nodes that it finds later with these arguments.
        self.connection_kwargs["connection_class"] = with_closed_errors(self.connection_kwargs["connection_class"])
        nodes: Iterable[Any] = self.nodes_manager.startup_nodes.values()
        for node in nodes:
            node.connection_class = with_closed_errors(node.connection_class)
        self._limit = asyncio.Semaphore(CONNECTIONS)
        self._refreshed_at = 0.0

    async def execute_command(self, *args: Any, **kwargs: Any) -> Any:
        async def once() -> Any:
            async with self._limit:
                return await RedisCluster.execute_command(self, *args, **kwargs)

        return await self.run_with_retries(once)

    async def ping(self, **kwargs: Any) -> Any:
        """Ping one random node, because the bot keeps running when a node is dead."""
        return await super().ping(**{"target_nodes": self.RANDOM, **kwargs})

    def pipeline(self, transaction: Any = None, shard_hint: Any = None) -> "Pipeline":
        return Pipeline(self, transaction)  # type: ignore[abstract]

    async def run_with_retries(self, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """Do the work and return its result. Repeat it while the cluster recovers; then raise ClusterDown."""
        deadline = asyncio.get_running_loop().time() + RETRY_SECONDS
        while True:
            try:
                return await work()
            except FAILOVER_ERRORS as error:
                if asyncio.get_running_loop().time() > deadline:
                    raise ClusterDown(error) from None
                await self.refresh()

    async def refresh(self) -> None:
        """Read the cluster's map after a pause. Concurrent callers share one read."""
        await asyncio.sleep(RETRY_PAUSE_SECONDS)
        now = asyncio.get_running_loop().time()
        if now - self._refreshed_at > RETRY_PAUSE_SECONDS:
            self._refreshed_at = now
            try:
                await self.nodes_manager.initialize()
            except FAILOVER_ERRORS:
                # At the next attempt all slots might be served.
                return

    async def execute_on_node(self, node: ClusterNode, commands: Sequence[Command]) -> list[Any]:
        """Send commands to a node in one round trip. Some of the returned answers can be errors."""
        pipeline_commands: list[Any] = [PipelineCommand(index, *command) for index, command in enumerate(commands)]
        try:
            await node.execute_pipeline(pipeline_commands)
        except (RedisError, OSError) as error:
            return [error] * len(pipeline_commands)
        return [command.result for command in pipeline_commands]

    async def move_slot(self, error: MovedError) -> None:
        try:
            await self.nodes_manager.move_slot(error)
        except KeyError:
            await self.refresh()


class Pipeline(ClusterPipeline):
    """A pipeline that is retried during a failover."""

    async def execute(self, raise_on_error: bool = True, allow_redirections: bool = True) -> Any:
        strategy: Any = self._execution_strategy
        queue = list(strategy._command_queue)

        async def once() -> Any:
            # The library drops its commands after the first attempt.
            strategy._command_queue = list(queue)
            return await ClusterPipeline.execute(self, raise_on_error, allow_redirections)

        cluster: Any = self.cluster_client
        return await cluster.run_with_retries(once)
