"""The greeting's buttons: they begin a game, and ask which one if the chat has not chosen any."""

from bot.actions import BadPayload
from bot.delivery.surface import Change
from bot.delivery.surfaces import card_at
from bot.delivery.updates import Updates
from bot.feature import Handlers
from bot.handlers.invitations import Invitations
from bot.handlers.joining import Joining
from bot.handlers.pages import CorePages
from bot.panels.challenge import INVITED
from bot.panels.drafts import Draft
from bot.panels.help import first_game_page
from bot.parsing.games import NEWCOMERS_LEVEL
from bot.people import People, Profile
from bot.platform import Command, Press, Reply, is_private
from bot.tables.challenges import Challenges
from engine import GAMES


class Greeting(Handlers):
    def __init__(
        self,
        joining: Joining,
        challenges: Challenges,
        people: People,
        updates: Updates,
        pages: CorePages,
        invitations: Invitations,
    ) -> None:
        self._joining, self._challenges, self._people = joining, challenges, people
        self._updates, self._core_pages, self._invitations = updates, pages, invitations
        self.pages = {"challenge": self._begin}

    async def _begin(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        """Begin a game against a robot or a friend. In a private chat without a game, ask which one first."""
        chat = await self._people.chat(press.place)
        match words:
            case ["friend"] if not is_private(press.place):
                return await self._joining.challenge(self._command(press), profile)
            case [("friend" | "robot") as opponent] if is_private(press.place):
                if not chat.has_chosen_game:
                    return Reply(panel=first_game_page(profile.language, opponent))
                return await self._play(press, profile, opponent, chat.game)
            case [("friend" | "robot") as opponent, ("more" | "fewer") as count] if is_private(press.place):
                return Reply(panel=first_game_page(profile.language, opponent, is_full=count == "more"))
            case [("friend" | "robot") as opponent, game] if game in GAMES and is_private(press.place):
                await self._people.update_chat(press.place, game=game)
                reply = await self._play(press, profile, opponent, game)
                # The greeting replaces the question.
                return reply if reply.panel else await self._core_pages.greet(press.place)
            case []:
                return await self._core_pages.greet(press.place)
        raise BadPayload()

    async def _play(self, press: Press, profile: Profile, opponent: str, game: str) -> Reply:
        if opponent == "robot":
            name = press.person.name
            await self._challenges.open_practice(game, profile.id, name, NEWCOMERS_LEVEL, press.key, host=press.place)
            return Reply()
        await self._joining.challenge(self._command(press, game), profile)
        table = await self._challenges.find_opened(press.key)
        assert table
        await self._updates.send_change(table.code, card_at(table, 0), Change(draft=Draft(0, INVITED)))
        return await self._invitations.send_below_card(table, profile, press.place, press.key)

    @staticmethod
    def _command(press: Press, *words: str) -> Command:
        return Command(press.key, press.person, press.place, "challenge", words)
