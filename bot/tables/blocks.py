"""Whom people do not want to meet.

A block has the name by which it was made: of a stranger that is what strangers call them. Somebody may be blocked by
two names, and then has two blocks: were they one, it would tell that both names are theirs.
"""

import json
from collections.abc import Sequence
from secrets import token_hex
from typing import Any, NamedTuple

from bot.store import keys
from bot.store.lua import read_script

SCRIPT = read_script(__file__, "blocks")

MOST_BLOCKS = 100
"""Blocks that a person may have."""

SCANNED_AT_ONCE = 500


class Block(NamedTuple):
    """Somebody who is blocked: ``name`` is what whoever did so knows them by, ``token`` what this block is called."""

    token: str
    person: str
    name: str


class Blocks:
    """The blocks of one store. They lie in the queue's slot, so that nobody is matched beside one."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._script = client.register_script(SCRIPT)

    async def add(self, person: str, other: str, name: str) -> bool:
        """Somebody blocks another, known to them by this name; False where they have blocked as many as they may."""
        return bool(await self._run_script("add", person, MOST_BLOCKS, token_hex(4), other, name))

    async def remove(self, person: str, token: str) -> None:
        await self._run_script("remove", person, token)

    async def blocks_of(self, person: str) -> list[Block]:
        """A person's blocks, the oldest first."""
        return _parse_blocks(await self._client.hget(keys.FIND_BLOCKS, person))

    async def blocked_people(self, people: Sequence[str]) -> list[frozenset[str]]:
        """Whom each of these people has blocked."""
        if not people:
            return []
        found = await self._client.hmget(keys.FIND_BLOCKS, people)
        return [frozenset(block.person for block in _parse_blocks(text)) for text in found]

    async def has_blocked(self, person: str, other: str) -> bool:
        """Whether somebody has blocked another."""
        return any(block.person == other for block in await self.blocks_of(person))

    async def forget(self, person: str) -> None:
        """Nothing is kept of a person: neither whom they blocked, nor who blocked them."""
        await self._client.hdel(keys.FIND_BLOCKS, person)
        async for one, text in self._client.hscan_iter(keys.FIND_BLOCKS, count=SCANNED_AT_ONCE):
            if any(block.person == person for block in _parse_blocks(text)):
                await self._run_script("drop", one, person)

    async def _run_script(self, *args: Any) -> Any:
        return await self._script(keys=[keys.FIND_BLOCKS], args=args)


def _parse_blocks(text: bytes | None) -> list[Block]:
    return [Block(*fields) for fields in json.loads(text)] if text else []
