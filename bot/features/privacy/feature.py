"""The feature of /privacy, /mydata and /forget."""

from functools import partial

from bot.core import Core
from bot.feature import Feature
from bot.features.privacy.commands import OwnData
from bot.features.privacy.forgetting import Forgetter
from bot.features.privacy.mydata import MyData
from bot.features.privacy.rewriting import Rewriter
from bot.features.privacy.unused import UnusedProfiles

REWRITE_SECONDS = 30.0  # between checks whether a rewrite is due


class PrivacyFeature(Feature):
    name = "privacy"

    def __init__(self, core: Core) -> None:
        self.forgetter = Forgetter(
            core.room, core.people, core.archive, core.ratings, core.features, core.shards.notify_forget
        )
        mydata = MyData(core.store.client, core.archive, core.ratings, core.features)
        self.own_data = OwnData(self.forgetter, mydata, core.room.lists, core.people)
        self.commands = {
            "privacy": self.own_data.show_privacy,
            "mydata": self.own_data.send_data,
            "forget": self.own_data.ask_to_forget,
        }
        self.pages = {"privacy": self.own_data.show_privacy_page, "forget": self.own_data.answer}
        rewriting = partial(core.shards.while_leader, REWRITE_SECONDS, Rewriter(core.store).work)
        self.loops = {"forgetting": self.forgetter.run, "rewriting": rewriting}
        if days := core.settings.forget_after_days:
            self.loops["unused"] = UnusedProfiles(core.store, core.people, self.forgetter, days).run
