"""The feature of /mydata and /forget."""

from dataclasses import replace

from bot.core import Core
from bot.feature import Feature
from bot.features.privacy.commands import OwnData
from bot.features.privacy.forgetting import Forgetter
from bot.features.privacy.mydata import MyData
from bot.features.privacy.rewriting import Rewriter
from bot.features.privacy.unused import UnusedProfiles
from bot.people import Profile
from bot.platform import Command, Press, Reply
from bot.replies import answer_place, private_toast


class PrivacyFeature(Feature):
    name = "privacy"

    def __init__(self, core: Core) -> None:
        self.forgetter = Forgetter(
            core.room, core.people, core.archive, core.ratings, core.features, core.shards.notify_forget
        )
        mydata = MyData(core.store.client, core.archive, core.ratings, core.features)
        self.own_data = OwnData(self.forgetter, mydata, core.room.lists, core.people)
        self.commands = {"mydata": self._mydata, "forget": self._forget}
        self.pages = {"forget": self._page}
        self.loops = {"forgetting": self.forgetter.run, "rewriting": Rewriter(core.store, core.shards).run}
        if days := core.settings.forget_after_days:
            self.loops["unused"] = UnusedProfiles(core.store, core.people, self.forgetter, days).run

    async def _mydata(self, command: Command, profile: Profile) -> Reply:
        return replace(
            await self.own_data.send_data(profile), toast=private_toast(answer_place(command), profile.language)
        )

    async def _forget(self, command: Command, profile: Profile) -> Reply:
        return replace(
            await self.own_data.ask_to_forget(profile), toast=private_toast(answer_place(command), profile.language)
        )

    async def _page(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        return await self.own_data.answer(press.place, profile, words)
