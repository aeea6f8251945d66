"""The greeting's buttons: they begin a game, and ask which one if the chat has not chosen any."""

import asyncio
from collections.abc import Sequence
from weakref import WeakValueDictionary

from bot.actions import BadPayload, parse_number
from bot.delivery.private_hands import PrivateHands
from bot.delivery.surface import Change
from bot.delivery.surfaces import card_at
from bot.delivery.updates import Updates
from bot.feature import Handlers
from bot.finished.archive import Archive
from bot.handlers.challenge_commands import Joining
from bot.handlers.invitations import Invitations
from bot.handlers.pages import CorePages
from bot.panel import Panel
from bot.panels.challenge import INVITED
from bot.panels.drafts import Draft
from bot.panels.help import first_game_page, open_game_page, robot_page
from bot.parsing.games import NEWCOMERS_LEVEL, targets
from bot.people import People, Profile
from bot.platform import Command, Press, Reply, is_private
from bot.store.entries import Rule
from bot.tables.challenges import Challenges
from bot.tables.table import Table
from bot.tables.table_lists import TableLists
from engine import GAMES
from engine.robots import LEVELS

GAMES_SEARCHED = 20  # last games of a person in which their last robot is searched


class Greeting(Handlers):
    def __init__(
        self,
        joining: Joining,
        challenges: Challenges,
        people: People,
        updates: Updates,
        pages: CorePages,
        invitations: Invitations,
        lists: TableLists,
        private_hands: PrivateHands,
        archive: Archive,
    ) -> None:
        self._joining, self._challenges, self._people = joining, challenges, people
        self._updates, self._core_pages, self._invitations = updates, pages, invitations
        self._lists, self._private_hands, self._archive = lists, private_hands, archive
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by person
        self.pages = {"challenge": self._begin}

    async def _begin(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        """Begin a game against a robot or a friend. In a private chat without a game, ask which one first."""
        chat = await self._people.chat(press.place)
        match words:
            case ["friend"] if not is_private(press.place):
                return await self._joining.challenge(self._command(press), profile)
            case [("friend" | "robot") as opponent] if is_private(press.place):
                return await self._open(press, profile, opponent, chat.game if chat.has_chosen_game else "")
            case [("friend" | "robot") as opponent, ("more" | "fewer" | "new" | "change") as step, *last_words] if (
                is_private(press.place)
            ):
                level, count = _level_and_known(last_words)
                if (opponent, step) == ("robot", "new"):
                    level = await self._last_level(profile)
                is_full = step == "more"
                page = first_game_page(profile.language, opponent, is_full=is_full, level=level, known_count=count)
                return Reply(panel=page)
            case [("friend" | "robot") as opponent, "continue", code] if is_private(press.place):
                return await self._continue(press, profile, opponent, code)
            case [("friend" | "robot") as opponent, game, *last_words] if game in GAMES and is_private(press.place):
                level, known_count = _level_and_known(last_words)
                reply = await self._open(press, profile, opponent, game, known_count, level or NEWCOMERS_LEVEL)
                # The greeting replaces the question.
                return reply if reply.panel else await self._core_pages.greet(press.place)
            case []:
                return await self._core_pages.greet(press.place)
        raise BadPayload()

    async def _open(
        self, press: Press, profile: Profile, opponent: str, game: str, known_count: int = 0, level: str = ""
    ) -> Reply:
        """Open a table, or ask which game if ``game`` is empty.

        Without a ``level``, a game against a robot is offered first, so that the person can change it.

        If the person has more than ``known_count`` of the tables of `_own_tables`, ask first whether they want another.
        A slow platform shows the first table late, so they might press again.
        """
        async with self._locks.setdefault(profile.id, asyncio.Lock()):
            tables = await self._own_tables(press, profile, opponent)
            if len(tables) > known_count and not await self._challenges.find_opened_table(press.key):
                table = tables[0].localize(profile.language)
                return Reply(panel=open_game_page(table, profile.id, profile.language, opponent, len(tables)))
            if not game:
                return Reply(panel=first_game_page(profile.language, opponent))
            if opponent == "robot" and not level:
                return Reply(panel=await self._offer_robot(profile, game))
            await self._people.update_chat(press.place, game=game)
            return await self._play(press, profile, opponent, game, level)

    async def _offer_robot(self, profile: Profile, game: str) -> Panel:
        """Return a page with the chat's last game and the person's last robot, which *Play* begins."""
        rules = {rule.name: rule.value for rule in await self._rules(profile, game)}
        return robot_page(profile.language, game, await self._last_level(profile), rules)

    async def _last_level(self, profile: Profile) -> str:
        """Return the level of the person's last game against robots only, among their last games."""
        numbers = (await self._archive.numbers_of(profile.id))[-GAMES_SEARCHED:]
        for game in reversed(await self._archive.games_by_number(numbers)):
            opponents = {person for person in game.people if person != profile.id}
            if level := next((level for level in LEVELS if opponents == {f"robot:{level}"}), ""):
                return level
        return NEWCOMERS_LEVEL

    async def _rules(self, profile: Profile, game: str) -> list[Rule]:
        """Return the options of a game against a robot: a newcomer's first game is short."""
        return [] if await self._archive.has_games(profile.id) else [targets(game)[min(targets(game))]]

    async def _own_tables(self, press: Press, profile: Profile, opponent: str) -> list[Table]:
        """Return the person's games against robots, or the tables at which they wait for a friend."""
        tables = await self._lists.tables_of(profile.id)
        if opponent == "robot":
            return [
                table for table in tables if table.phase == "playing" and table.is_practice and not table.is_solo_deal
            ]
        waiting = [table for table in tables if table.phase == "open" and press.place in table.hosts]
        return [table for table in waiting if table.opener.person == profile.id and not table.matched]

    async def _continue(self, press: Press, profile: Profile, opponent: str, code: str) -> Reply:
        """Show a game's hand or an open table's card again, below the greeting."""
        for table in await self._own_tables(press, profile, opponent):
            if table.code == code and opponent == "robot":
                await self._private_hands.resend(profile.id, code, press.place)
            elif table.code == code:
                change = Change(draft=Draft(0, INVITED), repost=True)
                await self._updates.send_change(code, card_at(table, table.hosts.index(press.place)), change)
        return await self._core_pages.greet(press.place)

    async def _play(self, press: Press, profile: Profile, opponent: str, game: str, level: str) -> Reply:
        if opponent == "robot":
            setup = await self._rules(profile, game)
            await self._challenges.open_practice(
                game, profile.id, press.person.name, level, press.key, host=press.place, setup=setup
            )
            return Reply()
        await self._joining.challenge(self._command(press, game), profile)
        table = await self._challenges.find_opened_table(press.key)
        assert table
        await self._updates.send_change(table.code, card_at(table, 0), Change(draft=Draft(0, INVITED)))
        return await self._invitations.send_below_card(table, profile, press.place, press.key)

    @staticmethod
    def _command(press: Press, *words: str) -> Command:
        return Command(press.key, press.person, press.place, "challenge", words)


def _level_and_known(words: Sequence[str]) -> tuple[str, int]:
    """Return a robot's level and a number of tables from the end of a payload, "" and 0 if they are missing."""
    level = words[0] if words and words[0] in LEVELS else ""
    numbers = words[1:] if level else words
    return level, parse_number(numbers) if numbers else 0
