"""Lua scripts that share round trips between concurrent calls.

A call goes out at once if no other is in flight. Otherwise it joins the next round trip. On a cluster each node has its
own queue.
"""

import asyncio
from collections.abc import Sequence
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
    """Too few replicas confirmed in time. The write can be kept or lost."""


@dataclass(slots=True)
class Call:
    """A pending call.

    If ``confirmed``, replicas must have the data that it wrote or read. ``send_text`` sends the script's text to a node
    that does not know the script.
    """

    keys: Sequence[str]
    args: Sequence[Any]
    confirmed: bool
    deadline: float
    answer: "asyncio.Future[Any]"
    send_text: bool = False
    tries: int = 0


class BatchedScript:
    """A Lua script of one store. Each call is atomic and can run twice.

    A single server runs calls in the order they were made, so a later state is never overwritten by an earlier one.
    """

    def __init__(self, client: Any, script: str, replicas: int = 0) -> None:
        """``replicas`` is the number of replicas that must confirm ``confirmed`` calls."""
        self._client, self._script, self._replicas = client, script, replicas
        self._digest = sha1(script.encode(), usedforsecurity=False).hexdigest()
        self._queues: dict[str, list[Call]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def __call__(self, keys: Sequence[str], args: Sequence[Any], *, confirmed: bool = False) -> Any:
        """Return the script's answer. Raise the store's error, or NotReplicated if ``confirmed`` fails."""
        loop = asyncio.get_running_loop()
        call = Call(keys, args, confirmed and self._replicas > 0, loop.time() + RETRY_SECONDS, loop.create_future())
        self._enqueue(call)
        return await call.answer

    def _enqueue(self, call: Call, *, first: bool = False) -> None:
        place = self._node_name(call.keys[0])
        waiting = self._queues.setdefault(place, [])
        waiting.insert(0 if first else len(waiting), call)
        if place not in self._tasks or self._tasks[place].done():
            self._tasks[place] = asyncio.create_task(self._send(place))

    def _node_name(self, key: str) -> str:
        """Return the name of the node that has a key; empty for a single server or if no node has the key now."""
        if not isinstance(self._client, Cluster):
            return ""
        try:
            node = self._client.get_node_from_key(key)
        except RedisClusterException:
            return ""
        return node.name if node else ""

    async def _send(self, place: str) -> None:
        # Skip calls that have timed out: their callers already got an error.
        while batch := [call for call in self._queues.pop(place, ()) if not call.answer.done()]:
            commands = self._build_commands(batch)
            try:
                answers = await self._send_commands(place, commands)
            except Exception as error:  # noqa: BLE001  it is raised where the script was called
                answers = [error] * len(commands)
            has_replicas = isinstance(answers[-1], int) and answers[-1] >= self._replicas
            again = [
                call
                for call, answer in zip(batch, answers, strict=False)
                if not self._finish_call(call, answer, has_replicas)
            ]
            if any(isinstance(answer, (*FAILOVER_ERRORS, AskError)) for answer in answers):
                try:
                    await self._refresh_cluster(answers)
                except Exception as error:  # noqa: BLE001  it is raised where the script was called
                    for call in again:
                        if not call.answer.done():
                            call.answer.set_exception(error)
                    continue
            for call in reversed(again):
                self._enqueue(call, first=True)

    def _finish_call(self, call: Call, answer: Any, has_replicas: bool) -> bool:
        """Finish a call with its answer. Return False if the call must be repeated."""
        if call.answer.done():
            return True
        if not isinstance(answer, Exception):
            if call.confirmed and not has_replicas:
                call.answer.set_exception(NotReplicated(f"fewer than {self._replicas} replicas have it"))
            else:
                call.answer.set_result(answer)
            return True
        if isinstance(answer, NoScriptError) and not call.send_text:
            call.send_text = True
            return False
        if isinstance(answer, (*FAILOVER_ERRORS, AskError)) and self._can_retry(call):
            # AskError as well: a script can run only when all its keys have moved.
            call.tries += 1
            return False
        call.answer.set_exception(ClusterDown(answer) if call.tries else answer)
        return True

    def _can_retry(self, call: Call) -> bool:
        return isinstance(self._client, Cluster) and asyncio.get_running_loop().time() < call.deadline

    async def _refresh_cluster(self, answers: Sequence[Any]) -> None:
        if not isinstance(self._client, Cluster):
            return
        moved = {error.slot_id: error for error in answers if isinstance(error, MovedError)}
        for error in moved.values():
            await self._client.move_slot(error)
        if not moved:
            await self._client.refresh()

    def _build_commands(self, batch: Sequence[Call]) -> list[Command]:
        commands: list[Command] = []
        for call in batch:
            script = ("EVAL", self._script) if call.send_text else ("EVALSHA", self._digest)
            commands.append((*script, len(call.keys), *call.keys, *call.args))
        if to_confirm := [call for call in batch if call.confirmed]:
            # WAIT covers only this connection's writes. Writing a key here makes it cover every earlier write.
            commands.append(("SET", names.confirmed(to_confirm[0].keys[0]), 1, "EX", CONFIRMED_KEPT_SECONDS))
            commands.append(("WAIT", self._replicas, REPLICA_MS))
        return commands

    async def _send_commands(self, place: str, commands: Sequence[Command]) -> list[Any]:
        if isinstance(self._client, Cluster):
            node = self._client.get_node(node_name=place) if place else None
            if node is None:
                return [ConnectionError(f"no node of the cluster has this slot now: {place}")] * len(commands)
            return await self._client.execute_on_node(node, commands)
        # redis-py's pipeline takes twice as long, mostly to pack commands and find callbacks.
        pool = self._client.connection_pool
        connection = await pool.get_connection()
        try:
            await connection.send_packed_command(b"".join(map(_pack, commands)), check_health=False)
            return [await self._read_answer(connection) for _ in commands]
        except BaseException:
            # Answers left on this connection belong to no call.
            await connection.disconnect(nowait=True)
            raise
        finally:
            await pool.release(connection)

    @staticmethod
    async def _read_answer(connection: Any) -> Any:
        """Read one answer. Return a command's error; raise if the connection is lost."""
        try:
            return await connection.read_response()
        except ResponseError as error:
            return error


def _pack(command: Command) -> bytes:
    packed: bytes = pack_command(tuple(command))
    return packed
