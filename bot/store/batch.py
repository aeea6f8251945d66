"""One of the store's scripts, called by many at once.

A call goes out at once if none is under way, otherwise together with all that came meanwhile, in one round trip: alone
it loses no time, and in a crowd it costs a fraction.
"""

import asyncio
from collections.abc import Sequence
from hashlib import sha1
from typing import Any

from redis.asyncio import RedisCluster
from redis.exceptions import NoScriptError

Call = tuple[Sequence[str], Sequence[Any], "asyncio.Future[Any]"]


class BatchedScript:
    """A Lua script of one store. Calls are atomic one by one, not together."""

    def __init__(self, client: Any, script: str) -> None:
        self._client, self._script = client, script
        self._digest = sha1(script.encode(), usedforsecurity=False).hexdigest()
        self._alone = client.register_script(script) if isinstance(client, RedisCluster) else None
        self._waiting: list[Call] = []
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, keys: Sequence[str], args: Sequence[Any]) -> Any:
        """The script's answer; the store's error if it has one."""
        if self._alone:
            # A cluster's pipelines take no scripts.
            return await self._alone(keys=keys, args=args)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((keys, args, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._send())
        return await future

    async def _send(self) -> None:
        while self._waiting:
            # Who has waited too long has been told so; what they wanted is not done behind their back.
            batch, self._waiting = [call for call in self._waiting if not call[2].done()], []
            if not batch:
                return
            try:
                answers = await self._call(batch)
                if again := [place for place, answer in enumerate(answers) if isinstance(answer, NoScriptError)]:
                    await self._client.script_load(self._script)
                    for place, answer in zip(again, await self._call([batch[one] for one in again]), strict=True):
                        answers[place] = answer
            except Exception as error:  # noqa: BLE001  it is raised where the script was called
                answers = [error] * len(batch)
            for (_keys, _args, future), answer in zip(batch, answers, strict=True):
                if future.done():
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)

    async def _call(self, batch: Sequence[Call]) -> list[Any]:
        if len(batch) == 1:
            [(keys, args, _future)] = batch
            try:
                return [await self._client.evalsha(self._digest, len(keys), *keys, *args)]
            except NoScriptError as error:
                return [error]
        async with self._client.pipeline(transaction=False) as pipe:
            for keys, args, _future in batch:
                pipe.evalsha(self._digest, len(keys), *keys, *args)
            answers: list[Any] = await pipe.execute(raise_on_error=False)
        return answers
