"""Looking for an opponent: the commands /find and /nickname, and the presses that follow them."""

import re

from bot.actions import BadPayload
from bot.features.find.errors import AskedIfReady, BadNickname, NotInPrivateYet
from bot.features.find.finder import Finder
from bot.features.find.pages import NEVER, ROBOTS_AFTER, nickname_page, search_page, search_stopped_page
from bot.panel import Panel
from bot.people import People, Profile
from bot.platform import Reply, is_private, private_place
from bot.pseudonyms import NAME
from bot.replies import private_toast
from bot.robot_pool import RobotPool
from bot.tables.challenges import Challenges
from bot.texts import error_text, texts
from engine import GAMES
from engine.robots import LEVELS

FIND = "find"
"""The word after /start by which a button opens the private chat to look for opponents."""

DEFAULT_ROBOTS_AFTER = 120
"""Seconds after which robots take the chairs for which there is nobody, as long as nothing else was chosen."""

NICKNAME = re.compile(r"[^\W\d_](?:[^\W\d_]|[ '-]){0,14}[^\W\d_]")
"""What somebody may have strangers call them: a name of letters, which is no number and no address."""


class FindCommands:
    """People who look for an opponent."""

    def __init__(self, finder: Finder, people: People, challenges: Challenges, robot_pool: RobotPool) -> None:
        self._finder, self._people, self._challenges, self._robot_pool = finder, people, challenges, robot_pool

    async def start_search(self, place: str, profile: Profile, update: str, game: str = "") -> Reply:
        """Have somebody wait for others at a game, or at any for two: the one that they chose last before others.

        AskedIfReady while there are some, who wait for them.
        """
        chosen = [game] if game else [one.game for one in await self._people.last_choices(profile.id)]
        games = [one for one in chosen if game or GAMES[one].seats == 2]
        if not _is_reachable_in_private(place, profile):
            raise NotInPrivateYet()
        toast = private_toast(place, profile.language)
        robots_after = DEFAULT_ROBOTS_AFTER if GAMES[games[0]].seats > 2 else None
        looked = await self._finder.start_search(profile, games, update, robots_after)
        if looked == "asked":
            raise AskedIfReady()
        if looked == "repeated":
            # Told again by the platform: their game has begun meanwhile, or they look no more.
            return Reply()
        return Reply(toast, await self._page(profile, game, games[0], robots_after), private=True)

    async def _page(self, profile: Profile, game: str, usual: str, robots_after: int | None) -> Panel:
        nickname = (await self._people.person(profile.id)).nickname
        waiting = await self._finder.queue.entries() if GAMES[usual].seats > 2 else []
        there = sum(usual in one.searcher.games for one in waiting)
        return search_page(profile.language, game, usual, nickname, there, robots_after)

    async def answer(self, place: str, profile: Profile, words: list[str], update: str) -> Reply:
        """A press on the page of somebody who looks, or of one that offers to look."""
        if words == ["look"]:
            if not _is_reachable_in_private(place, profile):
                return Reply(error_text(NotInPrivateYet(), profile.language), start_word=FIND)
            return await self.start_search(place, profile, update)
        match words:
            case ["robot", game, level]:
                return await self._open_practice(place, profile, game, level, update)
            case ["rest", game, after] if game in GAMES and after in map(str, ROBOTS_AFTER):
                return await self._choose_robots(profile, game, int(after), update)
        if words != ["stop"]:
            raise BadPayload()
        await self._finder.leave(profile.id, update)
        return Reply(panel=search_stopped_page(profile.language))

    async def _choose_robots(self, profile: Profile, game: str, after: int, update: str) -> Reply:
        """When robots take the chairs for which there is nobody; the page tells anew how many are there."""
        robots_after = after if after != NEVER else None
        looked = await self._finder.change_search(profile, game, update, robots_after)
        if looked == "asked":
            raise AskedIfReady()
        if looked == "repeated":
            return Reply(panel=search_stopped_page(profile.language))
        return Reply(panel=await self._page(profile, game, game, robots_after))

    async def _open_practice(self, place: str, profile: Profile, game: str, level: str, update: str) -> Reply:
        """Play against robots, while one is looked for: the cards come in the private chat, beside the page that stands
        there.
        """
        if game not in GAMES or level not in LEVELS or not is_private(place):
            raise BadPayload()
        if level == "strong":
            self._robot_pool.get_ready()
        private = private_place(profile.id)
        await self._challenges.open_practice(game, profile.id, profile.name, level, update, host=private)
        return Reply("" if place == private else texts(profile.language).gettext("It is in our private chat."))

    async def set_nickname(self, place: str, profile: Profile, nickname: str) -> Reply:
        """Choose what strangers call one, or read it."""
        if nickname:
            if not NICKNAME.fullmatch(nickname) or nickname.casefold() == NAME:
                raise BadNickname()
            await self._people.update_person(profile.id, nickname=nickname)
        profile = await self._people.person(profile.id)
        toast = private_toast(place, profile.language)
        return Reply(toast, nickname_page(profile.language, profile.nickname), private=True)


def _is_reachable_in_private(place: str, profile: Profile) -> bool:
    """Whether somebody who has pressed or written there can be asked in their private chat whether they are ready."""
    return place == private_place(profile.id) or profile.has_private_chat
