"""The feature object of recent opponents. Its keys contain no ids, so /forget has nothing to delete."""

from bot.core import Core
from bot.feature import Feature
from bot.features.opponents.site import OpponentsSite


class OpponentsFeature(Feature):
    name = "opponents"

    def __init__(self, core: Core) -> None:
        self.site = OpponentsSite(core.archive, core.people, core.room, core.challenges, core.blocks, core.presence)
