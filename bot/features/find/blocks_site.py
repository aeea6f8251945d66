"""A person's blocks, for web pages."""

from typing import NamedTuple

from bot.features.find.strangers import Strangers
from bot.people import People
from bot.platform import Person
from bot.site.attempts import try_to_do
from bot.tables.blocks import Blocks
from bot.tables.snapshot import isolate_name


class BlockLine(NamedTuple):
    token: str
    name: str


class BlocksSite:
    """Blocks for web pages. Methods can raise store errors."""

    def __init__(self, strangers: Strangers, blocks: Blocks, people: People) -> None:
        self._strangers, self._blocks, self._people = strangers, blocks, people

    async def block_lines(self, person: str) -> list[BlockLine]:
        """Return a person's blocks, the newest first."""
        blocks = await self._blocks.blocks_of(person)
        return [BlockLine(block.token, isolate_name(block.name)) for block in reversed(blocks)]

    async def block(self, person: Person, place: list[str]) -> str:
        """Block the person met in a place (`bot.meetings`). Return an error to show, or an empty string."""
        return await try_to_do(self._people, person, lambda profile: self._strangers.block_met(profile, place))

    async def unblock(self, person: str, token: str) -> None:
        await self._blocks.remove(person, token)
