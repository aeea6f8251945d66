"""Lua scripts that share round trips between concurrent calls.

A call is sent at once if no other is in flight. Otherwise it joins the next round trip. On a cluster each node has its
own queue.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha1
from typing import Any

from hiredis import pack_command
from redis.exceptions import (
    AskError,
    ConnectionError,  # noqa: A004
    MovedError,
    NoScriptError,
    RedisClusterException,
    RedisError,
    ResponseError,
)

from bot.store import keys as names
from bot.store.cluster import FAILOVER_ERRORS, RETRY_SECONDS, Cluster, ClusterDown, Command

CONFIRMED_KEPT_SECONDS = 60
REPLICA_MS = 1000  # milliseconds that replicas get to confirm a write


class NotReplicated(RedisError):
    """Too few replicas confirmed a write in time. A failover could lose it."""


@dataclass(slots=True)
class Call:
    keys: Sequence[str]
    args: Sequence[Any]
    confirmed: bool  # whether replicas must have the data that the call wrote or read
    deadline: float  # loop time until which a failed call is retried
    answer: "asyncio.Future[Any]"
    send_text: bool = False  # whether to send the script's text, because the node does not know the script
    tries: int = 0


class BatchedScript:
    """A Lua script of one store.

    Each call is atomic and can run twice. A single server runs calls in the order in which they were made, so an
    earlier state never overwrites a later one.
    """

    def __init__(self, client: Any, script: str, replicas: int = 0) -> None:
        """``replicas`` is the number of replicas that must confirm ``confirmed`` calls."""
        self._client, self._script, self._replicas = client, script, replicas
        self._digest = sha1(script.encode(), usedforsecurity=False).hexdigest()
        self._queues: dict[str, list[Call]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def __call__(self, keys: Sequence[str], args: Sequence[Any], *, confirmed: bool = False) -> Any:
        """Return the script's answer. Raise the store's error, or NotReplicated if replicas confirm too late."""
        loop = asyncio.get_running_loop()
        call = Call(keys, args, confirmed and self._replicas > 0, loop.time() + RETRY_SECONDS, loop.create_future())
        self._enqueue(call)
        return await call.answer

    def _enqueue(self, call: Call, *, first: bool = False) -> None:
        node_name = ""  # for a single server, or if no node has the key now
        if isinstance(self._client, Cluster):
            with suppress(RedisClusterException):
                node = self._client.get_node_from_key(call.keys[0])
                node_name = node.name if node else ""
        queue = self._queues.setdefault(node_name, [])
        queue.insert(0 if first else len(queue), call)
        if node_name not in self._tasks or self._tasks[node_name].done():
            self._tasks[node_name] = asyncio.create_task(self._send(node_name))

    async def _send(self, node_name: str) -> None:
        # Skip calls that have timed out: their callers already got an error.
        while batch := [call for call in self._queues.pop(node_name, ()) if not call.answer.done()]:
            commands = self._build_commands(batch)
            try:
                answers = await self._send_commands(node_name, commands)
            except Exception as error:  # noqa: BLE001  it is raised where the script was called
                answers = [error] * len(commands)
            has_replicas = isinstance(answers[-1], int) and answers[-1] >= self._replicas
            finished = [self._finish_call(*pair, has_replicas) for pair in zip(batch, answers, strict=False)]
            unfinished = [call for call, is_finished in zip(batch, finished, strict=True) if not is_finished]
            if any(isinstance(answer, (*FAILOVER_ERRORS, AskError)) for answer in answers):
                try:
                    await self._refresh_cluster(answers)
                except Exception as error:  # noqa: BLE001  it is raised where the script was called
                    for call in unfinished:
                        if not call.answer.done():
                            call.answer.set_exception(error)
                    continue
            for call in reversed(unfinished):
                self._enqueue(call, first=True)

    def _finish_call(self, call: Call, answer: Any, has_replicas: bool) -> bool:
        """Finish a call with its answer. Return False if the call must be repeated."""
        if call.answer.done():
            return True
        if not isinstance(answer, Exception):
            if call.confirmed and not has_replicas:
                call.answer.set_exception(NotReplicated(f"fewer than {self._replicas} replicas confirmed the data"))
            else:
                call.answer.set_result(answer)
            return True
        if isinstance(answer, NoScriptError) and not call.send_text:
            call.send_text = True
            return False
        can_retry = isinstance(self._client, Cluster) and asyncio.get_running_loop().time() < call.deadline
        if can_retry and isinstance(answer, (*FAILOVER_ERRORS, AskError)):
            # An AskError is also retried: a script can run only when all its keys have moved.
            call.tries += 1
            return False
        call.answer.set_exception(ClusterDown(answer) if call.tries else answer)
        return True

    async def _refresh_cluster(self, answers: Sequence[Any]) -> None:
        if not isinstance(self._client, Cluster):
            return
        moved_slots = {error.slot_id: error for error in answers if isinstance(error, MovedError)}
        for error in moved_slots.values():
            await self._client.move_slot(error)
        if not moved_slots:
            await self._client.refresh()

    def _build_commands(self, batch: Sequence[Call]) -> list[Command]:
        commands: list[Command] = []
        for call in batch:
            script = ("EVAL", self._script) if call.send_text else ("EVALSHA", self._digest)
            commands.append((*script, len(call.keys), *call.keys, *call.args))
        if to_confirm := [call for call in batch if call.confirmed]:
            # WAIT covers only this connection's writes. After a write on this connection it covers every earlier write.
            commands.append(("SET", names.confirmation(to_confirm[0].keys[0]), 1, "EX", CONFIRMED_KEPT_SECONDS))
            commands.append(("WAIT", self._replicas, REPLICA_MS))
        return commands

    async def _send_commands(self, node_name: str, commands: Sequence[Command]) -> list[Any]:
        """Send commands in one round trip. Return an error as the answer of a command that failed."""
        if isinstance(self._client, Cluster):
            node = self._client.get_node(node_name=node_name) if node_name else None
            if node is None:
                return [ConnectionError(f"no node of the cluster has this slot now: {node_name}")] * len(commands)
            return await self._client.execute_on_node(node, commands)
        # redis-py's pipeline takes twice as long, mostly to pack commands and find callbacks.
        pool = self._client.connection_pool
        connection = await pool.get_connection()
        try:
            payload = b"".join(pack_command(tuple(command)) for command in commands)
            await connection.send_packed_command(payload, check_health=False)
            answers = []
            for _ in commands:
                try:
                    answers.append(await connection.read_response())
                except ResponseError as error:
                    answers.append(error)
        except BaseException:
            # The connection could still have answers that belong to no call.
            await connection.disconnect(nowait=True)
            raise
        else:
            return answers
        finally:
            await pool.release(connection)
