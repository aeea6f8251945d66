"""The panels of leaderboards, statistics and honours."""

import re
import time
from dataclasses import replace

from bot.actions import BadPayload
from bot.features.ratings.honours import Honours
from bot.features.ratings.honours_pages import MAX_MONTHS, chat_honours_panel, own_honours_panel
from bot.features.ratings.pages import LeaderboardLine, leaderboard_page, leaderboard_title, stats_page
from bot.features.ratings.pictures import leaderboard_sheet, stats_sheet
from bot.finished.ratings import EVERYTHING, Ratings, Scope
from bot.identity.pseudonyms import NAME, is_pseudonym
from bot.panel import Panel
from bot.people import People, Profile
from bot.pictures.lettering import are_drawable
from bot.platform import chat_of, is_private
from bot.viewers import Viewers, with_picture
from engine import GAMES

PAST_MONTH = re.compile(r"20\d\d-(0[1-9]|1[0-2])")
MAX_LISTED = 10  # people in a leaderboard


class RatingPanels:
    def __init__(self, ratings: Ratings, honours: Honours, people: People, viewers: Viewers) -> None:
        self._ratings, self._honours, self._people, self._viewers = ratings, honours, people, viewers

    async def leaderboard(self, place: str, profile: Profile, scope_name: str, period: str, game: str) -> Panel:
        if scope_name not in ("chat", "all") or game not in ("all", *GAMES):
            raise BadPayload()
        if period not in ("month", "all") and not PAST_MONTH.fullmatch(period):
            raise BadPayload()
        scope = Scope(
            chat=chat_of(place) if scope_name == "chat" else EVERYTHING,
            month={"month": time.strftime("%Y-%m", time.gmtime()), "all": EVERYTHING}.get(period, period),
            game=EVERYTHING if game == "all" else game,
        )
        ratings = self._ratings
        best = await ratings.best_and_own(scope, profile.id, MAX_LISTED)
        names = await self._people.names(leader.person for leader in best)
        lines = [
            LeaderboardLine(rank, names[person], standing, person == profile.id, history)
            for person, rank, standing, history in best
        ]
        viewer = await self._viewers.viewer_at(place)
        panel = leaderboard_page(viewer.language, scope_name, period, game, lines, await ratings.count_ranked(scope))
        if not viewer.deck:
            return panel
        if not are_drawable([line.name for line in lines if line.rank is not None]):
            panel = replace(panel, fold=None)
        title = leaderboard_title(viewer.language, scope_name, period, game)
        return with_picture(panel, leaderboard_sheet(viewer.language, title, lines), viewer.language)

    async def honours(self, place: str, profile: Profile) -> Panel:
        people, honours = self._people, self._honours
        if is_private(place):
            own_honours = await honours.honours_of(profile.id)
            chats = {chat: (await people.chat(chat)).name for chat in {honour.chat for honour in own_honours}}
            return own_honours_panel(profile.language, own_honours, chats)
        months = await honours.months_of(chat_of(place), MAX_MONTHS)
        honoured_people = {person for month in months for honour in month.honours for person in honour.people}
        known_names = await people.names(person for person in honoured_people if not is_pseudonym(person))
        names = {person: known_names.get(person, NAME) for person in honoured_people}
        return chat_honours_panel((await self._viewers.viewer_at(place)).language, months, names)

    async def stats(self, place: str, player: Profile) -> Panel:
        ratings = self._ratings
        lines = await ratings.standings(player.id)
        history = (await ratings.histories(Scope(), [player.id]))[player.id]
        viewer = await self._viewers.viewer_at(place)
        panel = stats_page(viewer.language, player.name, lines, history)
        sheet = stats_sheet(viewer.language, player.name, lines, history) if viewer.deck else None
        return with_picture(panel, sheet, viewer.language)
