"""The feature of leaderboards, statistics and honours."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from bot.actions import BadPayload
from bot.core import Core
from bot.feature import Feature, Forgetting, Step
from bot.features.ratings.commands import RatingPanels
from bot.features.ratings.honours import Honours
from bot.features.ratings.players import Players
from bot.parsing.games import find_game
from bot.parsing.mentions import find_mentioned
from bot.people import Profile
from bot.platform import Command, Offer, Press, Reply, group_of, is_inline, is_private, private_place
from bot.private_replies import private_reply
from bot.texts import texts

CLOSE_SECONDS = 30.0  # interval at which the leader checks whether a month is over


class RatingsFeature(Feature):
    name = "ratings"
    private_pages = ("leaderboard",)

    def __init__(self, core: Core) -> None:
        self.honours = Honours(core.store.client, core.archive, core.ratings)
        self._people = core.people
        self.players = Players(core.store, core.people, core.ratings, core.archive)
        self.standings = RatingPanels(core.ratings, self.honours, core.people, core.viewers)
        self.commands = {
            "leaderboard": self._show_leaderboard,
            "honours": self._show_honours,
            "stats": self._show_stats,
        }
        self.pages = {"leaderboard": self._show_leaderboard_page}
        self._leases = core.store.leases
        self.loops = {"months": partial(core.shards.while_leader, CLOSE_SECONDS, self._close_past_months)}

    async def _close_past_months(self) -> None:
        # The store's clock decides, because a worker's clock can be wrong.
        await self.honours.close_past_months(datetime.fromtimestamp(await self._leases.current_time(), UTC))

    async def move_chat(self, old_id: str, new_id: str) -> None:
        await self.honours.move_chat(old_id, new_id)

    def steps_after_games(self, forgetting: Forgetting) -> Iterator[Step]:
        yield partial(self.honours.forget, forgetting.person, forgetting.pseudonym)

    async def mydata(self, person: str, now: float) -> dict[str, Any]:
        own_honours = await self.honours.honours_of(person)
        return {
            "honours": [
                {"month": month, "chat": chat, "kind": honour.kind, "figure": honour.figure}
                for month, chat, honour in own_honours
            ]
        }

    async def offers(self, profile: Profile) -> list[Offer]:
        _ = texts(profile.language).gettext
        panel = await self.standings.stats(private_place(profile.id), profile)
        return [Offer("rating", _("My rating"), _("My results in each game"), replace(panel, rows=(), picture=None))]

    async def _show_leaderboard(self, command: Command, profile: Profile) -> Reply:
        scope_name = "all" if is_private(command.place) else "chat"
        game = find_game(" ".join(command.words)) if command.words else "all"
        return Reply(panel=await self.standings.leaderboard(command.place, profile, scope_name, "all", game))

    async def _show_honours(self, command: Command, profile: Profile) -> Reply:
        return Reply(panel=await self.standings.honours(command.place, profile))

    async def _show_stats(self, command: Command, profile: Profile) -> Reply:
        subject = await find_mentioned(self._people, command, must_be_known=True) or profile
        return Reply(panel=await self.standings.stats(command.place, subject))

    async def _show_leaderboard_page(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        if len(words) != 3:
            raise BadPayload()
        panel = await self.standings.leaderboard(group_of(press.place), profile, *words)
        # Buttons in the private reply would show the private chat's leaderboard.
        if is_inline(press.place):
            return private_reply(press.place, profile.language, replace(panel, rows=()))
        return Reply(panel=panel)
