"""The commands /find and /nickname, and the buttons of their pages."""

import re

from bot.actions import BadPayload, TableAction
from bot.features.find.errors import AskedIfReady, BadNickname, NotInPrivateYet
from bot.features.find.finder import Finder
from bot.features.find.pages import NEVER, ROBOTS_AFTER_SECONDS, nickname_page, search_page, search_stopped_page
from bot.identity.pseudonyms import NAME
from bot.panel import Panel
from bot.parsing.games import find_game
from bot.people import People, Profile
from bot.platform import Command, Press, Reply, is_private, private_place
from bot.private_replies import private_toast
from bot.tables.challenges import Challenges
from bot.texts import error_text, texts
from engine import GAMES
from engine.robots import LEVELS

FIND = "find"  # word after /start in the link that starts a search
DEFAULT_ROBOTS_AFTER_SECONDS = 120  # wait until robots take free chairs, unless the person chose another one
# letters, spaces, hyphens and apostrophes, so neither numbers nor addresses
NICKNAME = re.compile(r"[^\W\d_](?:[^\W\d_]|[ '-]){0,14}[^\W\d_]")


class FindCommands:
    def __init__(self, finder: Finder, people: People, challenges: Challenges) -> None:
        self._finder, self._people, self._challenges = finder, people, challenges

    async def find(self, command: Command, profile: Profile) -> Reply:
        game = find_game(" ".join(command.words)) if command.words else ""
        return await self.start(command, profile, game)

    async def start(self, request: Command | Press, profile: Profile, game: str = "") -> Reply:
        """Search for a game, or for any with two seats, recent choices first.

        Raise AskedIfReady in a ready check, NotInPrivateYet if the bot cannot write to the person.
        """
        if game:
            games = [game]
        else:
            choices = await self._people.last_choices(profile.id)
            games = [choice.game for choice in choices if GAMES[choice.game].seats == 2]
        if not _is_reachable_in_private(request.place, profile):
            raise NotInPrivateYet()
        robots_after = DEFAULT_ROBOTS_AFTER_SECONDS if GAMES[games[0]].seats > 2 else None
        state = await self._finder.start_search(profile, games, request.key, robots_after)
        if state == "asked":
            raise AskedIfReady()
        if state == "repeated":
            # The update was delivered again, and the search has ended since.
            return Reply()
        toast = private_toast(request.place, profile.language)
        return Reply(toast, await self._page(profile, game, games[0], robots_after), private=True)

    async def _page(self, profile: Profile, game: str, usual_game: str, robots_after: int | None) -> Panel:
        nickname = (await self._people.person(profile.id)).nickname
        entries = await self._finder.queue.entries() if GAMES[usual_game].seats > 2 else []
        searchers = sum(usual_game in entry.searcher.games for entry in entries)
        return search_page(profile.language, game, usual_game, nickname, searchers, robots_after)

    async def answer(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        match words:
            case ["look"]:
                if not _is_reachable_in_private(press.place, profile):
                    return Reply(error_text(NotInPrivateYet(), profile.language), start_word=FIND)
                return await self.start(press, profile)
            case ["robot", game, level] if game in GAMES and level in LEVELS and is_private(press.place):
                private = private_place(profile.id)
                await self._challenges.open_practice(game, profile.id, profile.name, level, press.key, host=private)
                toast = texts(profile.language).gettext("Sent to your private chat.")
                return Reply("" if press.place == private else toast)
            case ["rest", game, seconds] if game in GAMES and seconds in map(str, ROBOTS_AFTER_SECONDS):
                return await self._choose_robots(profile, game, int(seconds), press.key)
            case ["stop"]:
                await self._finder.leave(profile.id, press.key)
                return Reply(panel=search_stopped_page(profile.language))
        raise BadPayload()

    async def find_instead(self, press: Press, profile: Profile, action: TableAction) -> Reply:
        """Search for an opponent and withdraw the challenge. Its game is the action's word."""
        if len(action.words) != 1 or action.words[0] not in GAMES or not is_private(press.place):
            raise BadPayload()
        reply = await self.start(press, profile, action.words[0])
        await self._challenges.cancel(action.code, press.person.id, press.key)
        return reply

    async def _choose_robots(self, profile: Profile, game: str, wait_seconds: int, update: str) -> Reply:
        robots_after = wait_seconds if wait_seconds != NEVER else None
        state = await self._finder.change_search(profile, game, update, robots_after)
        if state == "asked":
            raise AskedIfReady()
        if state == "repeated":
            return Reply(panel=search_stopped_page(profile.language))
        return Reply(panel=await self._page(profile, game, game, robots_after))

    async def set_nickname(self, command: Command, profile: Profile) -> Reply:
        if nickname := " ".join(command.words):
            if not NICKNAME.fullmatch(nickname) or nickname.casefold() == NAME:
                raise BadNickname()
            await self._people.update_person(profile.id, nickname=nickname)
        profile = await self._people.person(profile.id)
        toast = private_toast(command.place, profile.language)
        return Reply(toast, nickname_page(profile.language, profile.nickname), private=True)


def _is_reachable_in_private(place: str, profile: Profile) -> bool:
    return place == private_place(profile.id) or profile.has_private_chat
