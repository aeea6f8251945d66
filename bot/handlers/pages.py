"""Gathers what pages show, and reads what presses on them ask for."""

import re
import time
from dataclasses import replace

from bot.actions import BadPayload
from bot.features.analysis.pages import analysis_page
from bot.features.ratings.honours_pages import chat_honours_panel, own_honours_panel
from bot.features.ratings.pages import Ranked, leaderboard_about, leaderboard_page, stats_page
from bot.features.ratings.pictures import leaderboard_sheet, stats_sheet
from bot.features.settings.commands import OF_PICTURES, choose_own
from bot.finished.archive import FinishedGame
from bot.finished.ratings import EVERYTHING, Scope
from bot.handlers.errors import (
    AdministratorsUnknown,
    GameNotKept,
    NothingToAnalyse,
    OnlyAdministrators,
    TooManyAnalyses,
)
from bot.panel import Panel
from bot.panels.pages import chat_settings_page, fair_page, replay_page, settings_page
from bot.panels.rules import rules_page
from bot.panels.snapshot import isolated
from bot.panels.tables import Seated, free_chairs, open_tables_page, tables_page
from bot.people import Profile
from bot.pictures.lettering import are_drawable
from bot.pictures.results import game_sheet
from bot.pictures.rules import rules_sheet
from bot.platform import DeliveryError, chat_of, is_private, platform_of
from bot.somebody import NAME, is_somebody, spoken
from bot.tables.table import CLOCKS
from bot.texts import LANGUAGES
from bot.viewers import Viewers, pictured
from bot.worker import Worker
from engine import GAMES
from engine.robots.findings import summary

PAST_MONTH = re.compile(r"20\d\d-(0[1-9]|1[0-2])")

LINES = 10
"""How many of the best a leaderboard shows."""

MONTHS = 6
"""So many months' honours stand in a list."""

MOST_LISTED = 10
"""So many open challenges are listed, each with its button."""


class Pages:
    """Pages with what the store knows."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.viewers = Viewers(worker.people, worker.adapters)

    async def language(self, place: str) -> str:
        """The person's in private, the chat's in a group."""
        return (await self.viewers.at(place)).language

    async def leaderboard(self, place: str, profile: Profile, where: str, when: str, game: str) -> Panel:
        if where not in ("chat", "all") or game not in ("all", *GAMES):
            raise BadPayload()
        if when not in ("month", "all") and not PAST_MONTH.fullmatch(when):
            raise BadPayload()
        scope = Scope(
            chat=chat_of(place) if where == "chat" else EVERYTHING,
            month={"month": time.strftime("%Y-%m", time.gmtime()), "all": EVERYTHING}.get(when, when),
            game=EVERYTHING if game == "all" else game,
        )
        ratings = self.worker.ratings
        best = await ratings.best_and_own(scope, profile.id, LINES)
        names = await self.worker.people.names(one.person for one in best)
        lines = [
            Ranked(one.rank, names[one.person], one.standing, one.person == profile.id, one.history) for one in best
        ]
        viewer = await self.viewers.at(place)
        panel = leaderboard_page(viewer.language, where, when, game, lines, await ratings.ranked(scope))
        if not viewer.deck:
            return panel
        if not are_drawable([line.name for line in lines if line.rank is not None]):
            panel = replace(panel, fold=None)
        about = leaderboard_about(viewer.language, where, when, game)
        return pictured(panel, leaderboard_sheet(viewer.language, about, lines), viewer.language)

    async def honours(self, place: str, profile: Profile) -> Panel:
        """What months are remembered for in a group; in private what somebody is remembered for."""
        people, honours = self.worker.people, self.worker.honours
        if is_private(place):
            own = await honours.of_person(profile.id)
            chats = {chat: (await people.chat(chat)).name for chat in {one.chat for one in own}}
            return own_honours_panel(profile.language, own, chats)
        months = await honours.of_chat(chat_of(place), MONTHS)
        named = {person for month in months for honour in month.honours for person in honour.people}
        known = await people.names(person for person in named if not is_somebody(person))
        names = {person: known.get(person, NAME) for person in named}
        return chat_honours_panel(await self.language(place), months, names)

    async def stats(self, place: str, about: Profile) -> Panel:
        ratings = self.worker.ratings
        lines = await ratings.standings(about.id)
        history = (await ratings.histories(Scope(), [about.id]))[about.id]
        viewer = await self.viewers.at(place)
        panel = stats_page(viewer.language, about.name, lines, history)
        sheet = stats_sheet(viewer.language, about.name, lines, history) if viewer.deck else None
        return pictured(panel, sheet, viewer.language)

    async def rules(self, place: str, about: str) -> Panel:
        """How a game is played, by its id; other pages on rules as `rules_page` knows them."""
        viewer = await self.viewers.at(place)
        panel = rules_page(viewer.language, about, viewer.suits)
        if not viewer.deck or about not in GAMES:
            return panel
        sheet = rules_sheet(about, viewer.language, viewer.suits, viewer.deck)
        return pictured(panel, sheet, viewer.language, is_lasting=True)

    async def tables(self, profile: Profile) -> Panel:
        lines = []
        for table in await self.worker.tables_of(profile.id):
            seat = table.seat_of(profile.id)
            others = [isolated(chair.name) for chair in table.chairs if chair and chair.person != profile.id]
            mine = table.game is not None and table.game.turn == seat
            state = "open" if table.phase == "open" else "mine" if mine else "theirs"
            lines.append(Seated(table.code, table.game_id, ", ".join(others), state))
        return tables_page(profile.language, sorted(lines, key=lambda line: (line.state != "mine", line.code)))

    async def open_tables(self, place: str) -> Panel:
        """The challenges of a chat that anybody there may take up."""
        # A server's channels are one chat, and not everybody sees all of them.
        there = [table for table in await self.worker.tables_at(chat_of(place)) if table.is_shown_at(place)]
        tables = [one for one in there if one.phase == "open" and one.invited is None and free_chairs(one)]
        tables.sort(key=lambda table: table.code)
        looking = await self.worker.finder.queue.count()
        return open_tables_page(await self.language(place), tables[:MOST_LISTED], looking)

    def own_settings(self, profile: Profile) -> Panel:
        adapter = self.worker.adapters.get(platform_of(profile.id))
        return settings_page(
            profile,
            has_ephemeral=adapter is not None and adapter.has_ephemeral,
            shows_pictures=adapter is not None and adapter.shows_pictures,
            has_pages=adapter is not None and bool(adapter.pages_url),
        )

    async def chat_settings(self, place: str) -> Panel:
        adapter = self.worker.adapters.get(platform_of(place))
        return chat_settings_page(
            await self.worker.people.chat(place),
            shows_pictures=adapter is not None and adapter.shows_pictures,
            for_admins=adapter is not None and adapter.has_admins(place),
        )

    async def change_setting(
        self, place: str, profile: Profile, name: str, value: str, *, is_admin: bool | None = None
    ) -> Panel:
        """Change a setting of the person's, or in a group of the chat's.

        ``is_admin`` is whether the person administers the group, if the press told. Raises `OnlyAdministrators`, or
        `AdministratorsUnknown` if the platform cannot say now.
        """
        people = self.worker.people
        if is_private(place):
            await choose_own(self.worker, profile.id, {name: value})
            return self.own_settings(await people.person(profile.id))
        await self._check_admin(place, profile.id, is_admin)
        clocks = tuple(map(str, CLOCKS))
        choices = {**OF_PICTURES, "language": LANGUAGES, "clock": clocks, "strict": ("0", "1"), "watched": ("0", "1")}
        if value not in choices.get(name, ()):
            raise BadPayload()
        await people.choose_for_chat(place, **{name: value})
        for table in await self.worker.tables_at(place):
            await self.worker.touch(table.code)
        return await self.chat_settings(place)

    async def _check_admin(self, place: str, person: str, is_admin: bool | None) -> None:
        """Check that a person may change a group's settings; where nobody administers groups everybody may."""
        adapter = self.worker.adapters.get(platform_of(place))
        if is_admin is None and adapter and adapter.has_admins(place):
            try:
                is_admin = await adapter.is_admin(place, person)
            except DeliveryError:
                raise AdministratorsUnknown() from None
        if is_admin is False:
            raise OnlyAdministrators()

    async def analysis(self, place: str, profile: Profile, game_id: str) -> Panel:
        game = await self.worker.archive.get(game_id)
        if game is None:
            raise GameNotKept()
        return await self._analysis_of(game, place, profile)

    async def last_analysis(self, place: str, profile: Profile) -> Panel:
        """Of the game that this person finished last, or else this chat."""
        archive = self.worker.archive
        game = await archive.last(profile.id) or await archive.last(chat_of(place))
        if game is None:
            raise NothingToAnalyse()
        return await self._analysis_of(game, place, profile)

    async def _analysis_of(self, game: FinishedGame, place: str, profile: Profile) -> Panel:
        found = await self.worker.analysis_pool.analysis(game)
        if found is None:
            raise TooManyAnalyses()
        viewer = await self.viewers.at(place)
        panel = analysis_page(game, found.verdicts, found.deals, viewer.language, profile.suits, viewer.pages)
        if not viewer.deck or found.deals < len(game.record.deals):
            return panel
        names = [spoken(name, viewer.language) for name in game.record.seats]
        summaries = [summary(found.verdicts, seat) for seat in range(len(names))]
        sheet = game_sheet(game.record, game.code, names, viewer.language, ended=game.ended, summaries=summaries)
        return pictured(panel, sheet, viewer.language)

    async def replay(self, place: str, profile: Profile, game_id: str, deal: str) -> Panel:
        game, number = await self._deal_of(game_id, deal)
        return replay_page(game, number, await self.language(place), profile.suits)

    async def fair(self, place: str, game_id: str, deal: str) -> Panel:
        game, number = await self._deal_of(game_id, deal)
        return fair_page(game, number, await self.language(place))

    async def _deal_of(self, game_id: str, deal: str) -> tuple[FinishedGame, int]:
        """A finished game, and which of its deals is meant."""
        game = await self.worker.archive.get(game_id)
        if game is None:
            raise GameNotKept()
        if not deal.isdecimal() or not 1 <= int(deal) <= len(game.record.deals):
            raise BadPayload()
        return game, int(deal)
