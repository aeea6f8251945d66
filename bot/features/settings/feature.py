"""The settings feature."""

from bot.actions import BadPayload, TableAction
from bot.core import Core
from bot.feature import Feature
from bot.features.settings.browsers_and_tokens import Browsers, OwnPrograms
from bot.features.settings.commands import Settings
from bot.people import Profile
from bot.platform import Command, Press, Reply, is_private
from bot.private_replies import private_reply


class SettingsFeature(Feature):
    """Settings, browsers and programs of people, and settings of groups."""

    name = "settings"

    def __init__(self, core: Core) -> None:
        self.settings = Settings(core.people, core.adapters, core.room.lists, core.updates)
        self._room = core.room
        self._browsers = Browsers(core.store.client, core.adapters)
        self._programs = OwnPrograms(core.store.client, core.adapters)
        self.commands = {"settings": self._show_settings}
        self.pages = {"settings": self._answer, "browsers": self._browsers.answer, "programs": self._programs.answer}
        self.verbs = {"browser": self._send_table_link}

    async def _show_settings(self, command: Command, profile: Profile) -> Reply:
        if is_private(command.place):
            return Reply(panel=self.settings.own_page(profile))
        return Reply(panel=await self.settings.chat_page(command.place))

    async def _answer(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        if not words:
            return private_reply(press.place, profile.language, self.settings.own_page(profile))
        if len(words) != 2:
            raise BadPayload()
        name, value = words
        return Reply(panel=await self.settings.change(press.place, profile, name, value, is_admin=press.is_admin))

    async def _send_table_link(self, press: Press, profile: Profile, action: TableAction) -> Reply:
        await self._room.table(action.code)
        return await self._browsers.link_to_table(press.place, profile, await self._room.load_cached(action.code))
