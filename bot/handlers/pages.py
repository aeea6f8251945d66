"""Gathers what pages show, and reads what presses on them ask for."""

import time

from bot.actions import BadPayload
from bot.finished.archive import FinishedGame
from bot.finished.ratings import EVERYTHING, Scope
from bot.handlers.errors import GameNotKept, NothingToAnalyse, TooManyAnalyses
from bot.panel import Panel
from bot.panels.analysis import analysis_page
from bot.panels.pages import (
    Ranked,
    Seated,
    chat_settings_page,
    leaderboard_page,
    replay_page,
    settings_page,
    stats_page,
    tables_page,
)
from bot.panels.snapshot import isolated
from bot.people import HANDS, SUITS, Profile
from bot.platform import chat_of, is_private, platform_of
from bot.tables.table import CLOCKS
from bot.texts import LANGUAGES
from bot.worker import Worker
from engine import GAMES

LINES = 10
"""How many of the best a leaderboard shows."""


class Pages:
    """Pages with what the store knows."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker

    async def language(self, place: str, profile: Profile) -> str:
        """The person's in private, the chat's in a group."""
        return profile.language if is_private(place) else (await self.worker.people.chat(place)).language

    async def leaderboard(self, place: str, profile: Profile, where: str, when: str, game: str) -> Panel:
        if where not in ("chat", "all") or when not in ("month", "all") or game not in ("all", *GAMES):
            raise BadPayload()
        scope = Scope(
            chat=chat_of(place) if where == "chat" else EVERYTHING,
            month=time.strftime("%Y-%m", time.gmtime()) if when == "month" else EVERYTHING,
            game=EVERYTHING if game == "all" else game,
        )
        ratings = self.worker.ratings
        lines = [
            Ranked(rank, (await self.worker.people.person(person)).name, standing, person == profile.id)
            for rank, person, standing in await ratings.best(scope, LINES)
        ]
        if not any(line.is_viewer for line in lines):
            own, rank = await ratings.standing(scope, profile.id), await ratings.rank(scope, profile.id)
            lines.append(Ranked(rank, profile.name, own, True))
        language = await self.language(place, profile)
        return leaderboard_page(language, where, when, game, lines, await ratings.ranked(scope))

    async def stats(self, language: str, about: Profile) -> Panel:
        ratings = self.worker.ratings
        lines = []
        for game in (EVERYTHING, *GAMES):
            scope = Scope(game=game)
            standing = await ratings.standing(scope, about.id)
            lines.append((game, standing, await ratings.rank(scope, about.id), await ratings.ranked(scope)))
        return stats_page(language, about.name, lines)

    async def tables(self, profile: Profile) -> Panel:
        lines = []
        for table in await self.worker.tables_of(profile.id):
            seat = table.seat_of(profile.id)
            others = [isolated(chair.name) for chair in table.chairs if chair and chair.person != profile.id]
            mine = table.game is not None and table.game.turn == seat
            state = "open" if table.phase == "open" else "mine" if mine else "theirs"
            lines.append(Seated(table.code, table.game_id, ", ".join(others), state))
        return tables_page(profile.language, sorted(lines, key=lambda line: (line.state != "mine", line.code)))

    def own_settings(self, profile: Profile) -> Panel:
        adapter = self.worker.adapters.get(platform_of(profile.id))
        return settings_page(profile, has_ephemeral=adapter is not None and adapter.has_ephemeral)

    async def change_setting(self, place: str, profile: Profile, name: str, value: str) -> Panel:
        """Change a setting of the person's, or in a group of the chat's."""
        people = self.worker.people
        if is_private(place):
            choices = {"language": LANGUAGES, "suits": SUITS, "hands": HANDS, "called": ("0", "1")}
            if value not in choices.get(name, ()):
                raise BadPayload()
            await people.choose(profile.id, **{name: value})
            for table in await self.worker.tables_of(profile.id):
                await self.worker.touch(table.code)
            return self.own_settings(await people.person(profile.id))
        clocks = tuple(map(str, CLOCKS))
        if value not in {"language": LANGUAGES, "clock": clocks, "strict": ("0", "1")}.get(name, ()):
            raise BadPayload()
        await people.choose_for_chat(place, **{name: value})
        return chat_settings_page(await people.chat(place))

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
        language = await self.language(place, profile)
        return analysis_page(game, found.verdicts, found.deals, language, profile.suits)

    async def replay(self, place: str, profile: Profile, game_id: str, deal: str) -> Panel:
        game = await self.worker.archive.get(game_id)
        if game is None:
            raise GameNotKept()
        if not deal.isdecimal() or not 1 <= int(deal) <= len(game.record.deals):
            raise BadPayload()
        return replay_page(game, int(deal), await self.language(place, profile), profile.suits)
