"""The feature of /privacy, /mydata and /forget."""

from functools import partial

from bot.actions import BadPayload
from bot.core import Core
from bot.feature import Feature
from bot.features.privacy.forgetting import Forgetter
from bot.features.privacy.mydata import COOLDOWN_SECONDS, MyData
from bot.features.privacy.pages import (
    forget_page,
    forgotten_page,
    mydata_page,
    not_forgotten_page,
    owner_tag,
    privacy_page,
)
from bot.features.privacy.rewrite_schedule import Rewriter
from bot.features.privacy.unused import UnusedProfiles
from bot.people import Profile
from bot.platform import Command, Press, Reply, is_private
from bot.private_replies import answer_place, private_reply, private_toast
from bot.tables.errors import TableError

REWRITE_SECONDS = 30.0  # interval at which the bot checks whether a rewrite is due


class AskedJustNow(TableError):
    sentence = "You’ve just asked for your data: ask again in {seconds} seconds."


class NotYourPage(TableError):
    sentence = "This question was for someone else: write /forget yourself."


class PrivacyFeature(Feature):
    name = "privacy"

    def __init__(self, core: Core) -> None:
        self.forgetter = Forgetter(
            core.room, core.people, core.archive, core.ratings, core.features, core.shards.notify_forget
        )
        self.own_data = MyData(core.store.client, core.archive, core.ratings, core.features, core.store.levers)
        self._lists, self._people = core.room.lists, core.people
        self.commands = {"privacy": self._show_privacy, "mydata": self._send_data, "forget": self._ask_to_forget}
        self.pages = {"privacy": self._show_privacy_page, "forget": self._forget_or_keep}
        rewriting = partial(core.shards.while_leader, REWRITE_SECONDS, Rewriter(core.store).work)
        self.loops = {"forgetting": self.forgetter.run, "rewriting": rewriting}
        if days := core.settings.forget_after_days:
            self.loops["unused"] = UnusedProfiles(core.store, core.people, self.forgetter, days).run

    async def _show_privacy(self, command: Command, profile: Profile) -> Reply:
        toast = private_toast(answer_place(command), profile.language)
        return Reply(toast, privacy_page(profile.language), private=True)

    async def _show_privacy_page(self, press: Press, profile: Profile, _words: list[str]) -> Reply:
        return private_reply(press.place, profile.language, privacy_page(profile.language))

    async def _send_data(self, command: Command, profile: Profile) -> Reply:
        """Send a person's data as a file. Raises AskedJustNow during the cooldown."""
        if not await self.own_data.start_cooldown(profile.id):
            raise AskedJustNow(seconds=COOLDOWN_SECONDS)
        tables = await self._lists.tables_of(profile.id)
        file = await self.own_data.file(profile.id, tables, self._people.now())
        toast = private_toast(answer_place(command), profile.language)
        return Reply(toast, mydata_page(profile.language), private=True, file=file)

    async def _ask_to_forget(self, command: Command, profile: Profile) -> Reply:
        tables = await self._lists.tables_of(profile.id)
        resigned = [table.code for table in tables if table.phase == "playing"]
        left_tables = [table.code for table in tables if table.phase == "open"]
        toast = private_toast(answer_place(command), profile.language)
        return Reply(toast, forget_page(profile.language, profile.id, resigned, left_tables), private=True)

    async def _forget_or_keep(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        """Forget the person if they press "yes". Raises NotYourPage if another person was asked."""
        if len(words) != 2 or words[0] not in ("yes", "no"):
            raise BadPayload()
        if words[1] != owner_tag(profile.id):
            raise NotYourPage()
        private = not is_private(press.place)
        if words[0] == "no":
            return Reply(panel=not_forgotten_page(profile.language), private=private)
        await self.forgetter.begin(profile.id)
        return Reply(panel=forgotten_page(profile.language), private=private)
