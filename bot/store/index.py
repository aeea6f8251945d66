"""Indexes: lists of tables, by person or by chat.

An index is in another cluster slot than its tables, so no script can write both. An entry is written *before* the
table's commit. A crash between the two leaves an extra entry, never a missing one. Readers remove an extra entry once
it is too old for its commit to be pending. An index can enforce a limit, because an entry reserves its place.
"""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from bot.store.batch import BatchedScript
from bot.store.lua import read_script
from engine.errors import EngineError

RESERVE = read_script(__file__, "reserve_entry")
REMOVE = read_script(__file__, "remove_entry")

SETTLED_SECONDS = 60  # an older entry has no pending commit


class CodeTaken(Exception):
    """Another table has this code, or had it recently. Open the table under the next code."""


class Reservation(NamedTuple):
    """An entry's token. ``is_new`` is False if the entry existed before and was renewed."""

    token: str
    is_new: bool


class Index:
    """The indexes of one store. ``key`` selects one (`bot.store.keys`); an entry maps a table's code to a token."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._reserve, self._remove = BatchedScript(client, RESERVE), BatchedScript(client, REMOVE)

    async def reserve(
        self, key: str, code: str, limit: int | None = None, remove_old: Callable[[], Awaitable[object]] | None = None
    ) -> Reservation | None:
        """Add a table or renew its entry. Return None if the index already has ``limit`` other tables.

        If the index is full, ``remove_old`` removes entries that no longer count, and the reservation is tried again.
        """
        answer = await self._reserve([key], [code, secrets.token_hex(4), "" if limit is None else limit])
        if not answer and remove_old:
            await remove_old()
            return await self.reserve(key, code, limit)
        return Reservation(answer[0].decode(), bool(answer[1])) if answer else None

    @asynccontextmanager
    async def reserve_for_commit(
        self,
        key: str,
        code: str,
        limit: int | None = None,
        remove_old: Callable[[], Awaitable[object]] | None = None,
        error: EngineError | None = None,
    ) -> AsyncIterator[None]:
        """Reserve an entry for the commit in this context, or raise the ``error`` of a full index.

        If the commit is refused, remove the entry, unless it existed before or was renewed. After any other error the
        commit's result is unknown, so the entry stays until a reader checks it.
        """
        reservation = await self.reserve(key, code, limit, remove_old)
        if reservation is None and error:
            raise error
        try:
            yield
        except (EngineError, CodeTaken):
            if reservation and reservation.is_new:
                await self.remove_if_unchanged(key, code, reservation.token)
            raise

    async def remove_if_unchanged(self, key: str, code: str, token: str) -> None:
        """Remove an entry that its table does not confirm, unless it was renewed."""
        await self._remove([key], [code, token, 0])

    async def remove_if_settled(self, key: str, code: str, token: str) -> None:
        """Remove an entry that its table does not confirm, unless its commit could still be pending."""
        await self._remove([key], [code, token, SETTLED_SECONDS])

    async def entries(self, key: str) -> dict[str, str]:
        """Return the tokens by code. Some of the tables might already be removed."""
        return {code.decode(): token.decode() for code, token in (await self._client.hgetall(key)).items()}

    async def has(self, key: str, code: str) -> bool:
        """Return whether the table has an entry. The table might already be removed."""
        return bool(await self._client.hexists(key, code))

    async def remove(self, key: str, code: str) -> None:
        await self._client.hdel(key, code)
