"""Results and lines of yesterday's deal."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, timedelta

from bot.features.daily.comparison import ComparedLine, Comparison, page_payload, side_by_side_panel
from bot.features.daily.days import Days
from bot.features.daily.pages import NamedResult, PastDay, yesterday_panel
from bot.features.daily.ranking import RankedResult, rank_among, rank_results
from bot.finished.analysis_pool import AnalysisPool
from bot.finished.archive import Archive
from bot.identity.pseudonyms import NAME
from bot.panel import Panel
from bot.people import People, Profile
from bot.solo_deals.lines import SoloLine, best_line
from bot.texts import texts

MAX_LINES_SHOWN = 30  # number of best lines on a page; lines of people the reader knows are added
GAMES_SEARCHED = 40  # number of a person's last games to search for friends


class PastDays:
    def __init__(
        self, days: Days, people: People, archive: Archive, analysis_pool: AnalysisPool, *, analyses_games: bool
    ) -> None:
        """``analyses_games`` is whether the bot analyses games without a request."""
        self._days, self._people, self._archive, self._analysis_pool = days, people, archive, analysis_pool
        self._analyses_games = analyses_games

    async def yesterday_panel(self, profile: Profile, chat: str = "") -> Panel:
        day, results = self._yesterday(), self._days.results
        lines, lines_by_person = await self._known_results(profile, day, chat), await results.lines_of_play(day)
        chain, own_line = await self._days.chain(), lines_by_person.get(profile.id)
        past_day = PastDay(
            day,
            await self._days.game_on(day),
            await results.par(day),
            best_line(list(lines_by_person.values())),
            chain.secret(day).hex() if day >= chain.first else "",
            own_line.game if own_line else "",
            page_payload("lines", 1, chat=chat) if any(line.person in lines_by_person for line in lines) else "",
        )
        return yesterday_panel(profile.language, profile.suits, past_day, await self.add_names(lines))

    async def lines_panel(self, profile: Profile, number: int, chat: str) -> Panel:
        day = self._yesterday()
        lines_by_person = await self._days.results.lines_of_play(day)
        known_results = await self._known_results(profile, day, chat)
        shown_results = [result for result in known_results if result.person in lines_by_person]
        people = {result.person for result in shown_results}
        comparison = await self._compare(day, lines_by_person, await self.add_names(shown_results), people)
        return side_by_side_panel(profile.language, profile.suits, comparison, number, chat)

    async def compare_all(self, profile: Profile) -> Comparison:
        """Compare yesterday's lines of all players. People the reader does not know are not named."""
        day = self._yesterday()
        lines_by_person = await self._days.results.lines_of_play(day)
        lines = rank_results({person: line.result for person, line in lines_by_person.items()})
        known_people = await self.friends(profile)
        shown_results = [
            line for number, line in enumerate(lines) if number < MAX_LINES_SHOWN or line.person in known_people
        ]
        somebody = texts(profile.language).gettext(NAME)
        names = await self._people.names(line.person for line in shown_results if line.person in known_people)
        named_results = [(names.get(line.person, somebody), line) for line in shown_results]
        return await self._compare(day, lines_by_person, named_results, known_people, len(lines) - len(shown_results))

    async def _compare(
        self,
        day: date,
        lines_by_person: Mapping[str, SoloLine],
        named_results: Sequence[tuple[str, RankedResult]],
        known_people: Collection[str],
        omitted_count: int = 0,
    ) -> Comparison:
        """Compare lines, with the verdicts of their analyses. The reader knows ``known_people`` by name."""
        games = [lines_by_person[result.person].game for _name, result in named_results]
        verdicts = await self._analysis_pool.stored_verdicts(games)
        lines = []
        for name, result in named_results:
            line = lines_by_person[result.person]
            is_readable = result.person in known_people
            lines.append(ComparedLine(name, result.rank, line, verdicts.get(line.game), is_readable))
        game, best = await self._days.game_on(day), best_line(list(lines_by_person.values()))
        return Comparison(day, game, best, lines, omitted_count, self._analyses_games)

    def _yesterday(self) -> date:
        return self._days.today() - timedelta(days=1)

    async def _known_results(self, profile: Profile, day: date, chat: str) -> list[RankedResult]:
        if chat:
            return await self._days.results.ranking(day, chat)
        known_people = await self.friends(profile)
        return rank_among(await self._days.results.ranking(day), known_people)

    async def friends(self, profile: Profile) -> set[str]:
        """Return a person and the people they recently played with in groups."""
        numbers = (await self._archive.numbers_of(profile.id))[-GAMES_SEARCHED:]
        games = await self._archive.games_by_number(numbers)
        # Games of strangers have no chats.
        return {profile.id}.union(*(game.known_people for game in games if game.chats))

    async def add_names(self, lines: Sequence[RankedResult]) -> list[NamedResult]:
        names = await self._people.names(line.person for line in lines)
        return [NamedResult(names[line.person], line) for line in lines]
