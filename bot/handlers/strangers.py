"""What people do about strangers whom I have matched them with, and whom they do not want to meet again."""

from bot.actions import BadPayload
from bot.find.blocks import MOST_BLOCKS
from bot.handlers.errors import GameNotKept, NobodyToBlock, TooManyBlocks
from bot.panels.strangers import block_question, blocked_page, blocks_page, not_blocked_page
from bot.people import Profile
from bot.platform import Reply
from bot.somebody import is_somebody
from bot.tables.chairs import Chair
from bot.tables.errors import NotAtThisTable
from bot.tables.table import Table
from bot.worker import Worker


class Strangers:
    """People who do not want to meet somebody."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.blocks = worker.finder.queue.blocks

    async def list_of_blocks(self, profile: Profile) -> Reply:
        """Whom somebody has blocked."""
        return Reply(panel=blocks_page(profile.language, await self.blocks.of(profile.id)), private=True)

    async def block(self, profile: Profile, other: str, name: str) -> Reply:
        """Somebody blocks another, whom they know by this name."""
        await self._block(profile.id, other, name)
        return Reply(panel=blocked_page(profile.language, name), private=True)

    async def block_at(self, table: Table, person: str, seat: int) -> None:
        """Who sits at a table blocks another who does."""
        if table.seat_of(person) is None or not table.matched:
            raise NotAtThisTable(code=table.code)
        other = table.chairs[seat] if seat < len(table.chairs) else None
        if other is None:
            raise NobodyToBlock()
        await self._block(person, *other)

    async def answer(self, profile: Profile, words: list[str]) -> Reply:
        """A press on a page about who is blocked, or on the result of a game."""
        match words:
            case ["list"]:
                return Reply(panel=blocks_page(profile.language, await self.blocks.of(profile.id)))
            case ["undo", token]:
                await self.blocks.remove(profile.id, token)
                return Reply(panel=blocks_page(profile.language, await self.blocks.of(profile.id)))
            case ["no"]:
                return Reply(panel=not_blocked_page(profile.language))
            case ["ask", game_id, seat]:
                other = await self._player(profile, game_id, seat)
                # A message of its own: the result stays.
                return Reply(panel=block_question(profile.language, other.name, game_id, int(seat)), private=True)
            case ["yes", game_id, seat]:
                other = await self._player(profile, game_id, seat)
                await self._block(profile.id, *other)
                return Reply(panel=blocked_page(profile.language, other.name))
        raise BadPayload()

    async def _block(self, person: str, other: str, name: str) -> None:
        if other == person or other.startswith("robot:") or is_somebody(other):
            raise NobodyToBlock()
        if not await self.worker.finder.block(person, other, name):
            raise TooManyBlocks(most=MOST_BLOCKS)

    async def _player(self, profile: Profile, game_id: str, seat: str) -> Chair:
        """Who sat in a seat of a finished game that this person played, too."""
        game = await self.worker.archive.get(game_id)
        if game is None:
            raise GameNotKept()
        if profile.id not in game.people:
            raise NotAtThisTable(code=game.code)
        if not seat.isdecimal() or int(seat) >= len(game.people):
            raise BadPayload()
        return Chair(game.people[int(seat)], game.record.seats[int(seat)])
