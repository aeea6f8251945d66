"""Looking for an opponent: the commands /find and /nickname, and the presses that follow them."""

import re

from bot.actions import BadPayload
from bot.handlers.errors import AskedIfReady, BadNickname, NotInPrivateYet
from bot.panels.find import looking_page, nickname_page, not_looking_page, robots_page
from bot.people import Profile
from bot.platform import Reply, is_private
from bot.somebody import NAME
from bot.texts import error_text, texts
from bot.worker import Worker
from engine import GAMES
from engine.robots import LEVELS

FIND = "find"
"""What stands behind /start where a button leads to the private chat, for somebody to be looked for there."""

NICKNAME = re.compile(r"[^\W\d_](?:[^\W\d_]|[ '-]){0,14}[^\W\d_]")
"""What somebody may have strangers call them: a name of letters, which is no number and no address."""


class Finding:
    """People who look for an opponent."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker

    async def look(self, place: str, profile: Profile, update: str, game: str = "") -> Reply:
        """Have somebody wait for an opponent at a game, or at any for two: the one that they chose last before others.

        AskedIfReady while there is one, who waits for them.
        """
        games = [game] if game else [one.game for one in await self.worker.people.choices(profile.id)]
        games = [one for one in games if GAMES[one].seats == 2]
        if not (is_private(place) or profile.has_private_chat):
            raise NotInPrivateYet()
        toast = "" if is_private(place) else texts(profile.language).gettext("It is in our private chat.")
        if not games:
            return Reply(toast, robots_page(profile.language, game), private=True)
        looked = await self.worker.finder.look(profile, games, update)
        if looked == "asked":
            raise AskedIfReady()
        if looked == "heard":
            # Told again by the platform: their game has begun meanwhile, or they look no more.
            return Reply()
        nickname = (await self.worker.people.person(profile.id)).nickname
        return Reply(toast, looking_page(profile.language, game, games[0], nickname), private=True)

    async def answer(self, place: str, profile: Profile, words: list[str], update: str) -> Reply:
        """A press on the page of somebody who looks, or of one that offers to look."""
        if words == ["look"]:
            if not (is_private(place) or profile.has_private_chat):
                return Reply(error_text(NotInPrivateYet(), profile.language), start_word=FIND)
            return await self.look(place, profile, update)
        if len(words) == 3 and words[0] == "robot":
            return await self._practise(place, profile, words[1], words[2], update)
        if words != ["stop"]:
            raise BadPayload()
        await self.worker.finder.leave(profile.id, update)
        return Reply(panel=not_looking_page(profile.language))

    async def _practise(self, place: str, profile: Profile, game: str, level: str, update: str) -> Reply:
        """Play against robots, while one is looked for: the cards come beside the page."""
        if game not in GAMES or level not in LEVELS or not is_private(place):
            raise BadPayload()
        if level == "strong":
            self.worker.robot_pool.get_ready()
        await self.worker.challenges.open_practice(game, profile.id, profile.name, level, update, host=place)
        return Reply()

    async def call(self, place: str, profile: Profile, nickname: str) -> Reply:
        """Choose what strangers call one, or read it."""
        if nickname:
            if not NICKNAME.fullmatch(nickname) or nickname.casefold() == NAME:
                raise BadNickname()
            await self.worker.people.choose(profile.id, nickname=nickname)
        profile = await self.worker.people.person(profile.id)
        toast = "" if is_private(place) else texts(profile.language).gettext("It is in our private chat.")
        return Reply(toast, nickname_page(profile.language, profile.nickname), private=True)
