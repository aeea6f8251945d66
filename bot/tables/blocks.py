"""Blocks: the people that a person does not want to meet.

A block has the name under which the other person was known: a stranger's nickname, for example. A person blocked under
two names has two blocks, because a single one would reveal that both names are theirs.
"""

import json
from collections.abc import Collection, Sequence
from secrets import token_hex
from typing import Any, NamedTuple

from bot.store import keys
from bot.store.lua import read_script
from bot.tables.limits import MAX_BLOCKS

SCRIPT = read_script(__file__, "blocks")

SCANNED_AT_ONCE = 500


class Block(NamedTuple):
    """A blocked person. ``name`` is the name that the blocking person knows, ``token`` the id of this block."""

    token: str
    person: str
    name: str


class Blocks:
    """The blocks of one store. They are in the queue's cluster slot, so pairing checks them in the same script."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._script = client.register_script(SCRIPT)

    async def add(self, person: str, other: str, name: str) -> bool:
        """Block a person under this name. Return False if there are `MAX_BLOCKS` blocks already."""
        return bool(await self._run_script("add", person, MAX_BLOCKS, token_hex(4), other, name))

    async def remove(self, person: str, token: str) -> None:
        await self._run_script("remove", person, token)

    async def blocks_of(self, person: str) -> list[Block]:
        """Return a person's blocks, oldest first."""
        return _parse_blocks(await self._client.hget(keys.FIND_BLOCKS, person))

    async def blocked_people(self, people: Sequence[str]) -> list[frozenset[str]]:
        if not people:
            return []
        texts = await self._client.hmget(keys.FIND_BLOCKS, people)
        return [frozenset(block.person for block in _parse_blocks(text)) for text in texts]

    async def has_blocked(self, person: str, other: str) -> bool:
        return any(block.person == other for block in await self.blocks_of(person))

    async def apart_from(self, person: str, people: Collection[str]) -> frozenset[str]:
        """Return the people who have blocked a person, or whom the person has blocked."""
        candidates = sorted(people)
        own_blocks, *blocked_lists = await self.blocked_people([person, *candidates])
        return frozenset(
            other
            for other, blocked_people in zip(candidates, blocked_lists, strict=True)
            if other in own_blocks or person in blocked_people
        )

    async def forget(self, person: str) -> None:
        """Delete a person's blocks, and other people's blocks of this person."""
        await self._client.hdel(keys.FIND_BLOCKS, person)
        async for blocker, text in self._client.hscan_iter(keys.FIND_BLOCKS, count=SCANNED_AT_ONCE):
            if any(block.person == person for block in _parse_blocks(text)):
                await self._run_script("drop", blocker, person)

    async def _run_script(self, *args: Any) -> Any:
        return await self._script(keys=[keys.FIND_BLOCKS], args=args)


def _parse_blocks(text: bytes | None) -> list[Block]:
    return [Block(*fields) for fields in json.loads(text)] if text else []
