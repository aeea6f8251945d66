"""Indexes: at which tables a person sits, which tables a chat shows.

They lie in other slots than the tables, so one script cannot write both. An entry is made *before* the commit that it
follows from: a crash in between leaves one too many, never one too few. One too many is taken out by whoever reads it
and finds that the table says otherwise, once it is so old that no commit can still be on its way. Since an entry is a
reservation, an index can also hold a limit, however many ask at once.
"""

import secrets
from typing import Any, NamedTuple

from bot.store.batch import BatchedScript
from bot.store.lua import read_script

RESERVE = read_script(__file__, "reserve_entry")
REMOVE = read_script(__file__, "remove_entry")

SETTLED_SECONDS = 60
"""Seconds after which an entry's commit has come, or never will."""


class Reservation(NamedTuple):
    """An entry's token, and whether it was made just now, or was there and is renewed."""

    token: str
    is_new: bool


class Index:
    """The indexes of one store; ``key`` names one (`bot.store.keys`), an entry is a table's code and a token."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._reserve, self._remove = BatchedScript(client, RESERVE), BatchedScript(client, REMOVE)

    async def reserve(self, key: str, code: str, most: int | None = None) -> Reservation | None:
        """Enter a table; None if the index has ``most`` others already."""
        found = await self._reserve([key], [code, secrets.token_hex(4), "" if most is None else most])
        return Reservation(found[0].decode(), bool(found[1])) if found else None

    async def undo_reservation(self, key: str, code: str, reservation: Reservation) -> None:
        """A commit was refused: take the entry out, unless it was there before, or somebody has renewed it since."""
        if reservation.is_new:
            await self.remove_if_unchanged(key, code, reservation.token)

    async def remove_if_unchanged(self, key: str, code: str, token: str) -> None:
        """Take out an entry that its table does not bear out, unless somebody has renewed it."""
        await self._remove([key], [code, token, 0])

    async def remove_if_settled(self, key: str, code: str, token: str) -> None:
        """Take out an entry that its table does not bear out, unless its commit may be on its way."""
        await self._remove([key], [code, token, SETTLED_SECONDS])

    async def entries(self, key: str) -> dict[str, str]:
        """Codes and their tokens; some may be of tables that are no more."""
        return {code.decode(): token.decode() for code, token in (await self._client.hgetall(key)).items()}

    async def has(self, key: str, code: str) -> bool:
        """Whether a table is entered; it may be no more."""
        return bool(await self._client.hexists(key, code))

    async def remove(self, key: str, code: str) -> None:
        """Take out the entry of a table that is no more, or was left."""
        await self._client.hdel(key, code)
