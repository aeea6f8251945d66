"""How people played a day that is over, side by side."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, timedelta

from bot.features.daily.comparison import ComparedLine, Comparison, side_by_side_panel, way_to
from bot.features.daily.days import Days
from bot.features.daily.lines import DayLine, best_of
from bot.features.daily.pages import NamedLine, PastDay, yesterday_panel
from bot.features.daily.store import Line, ranked
from bot.finished.analysis_pool import AnalysisPool
from bot.finished.archive import Archive
from bot.panel import Panel
from bot.people import People, Profile
from bot.pseudonyms import NAME
from bot.texts import texts

MOST_STRANGERS = 30
"""Number of the best lines that a page shows, also those of strangers."""

GAMES_LOOKED_AT = 40
"""Number of a person's last games in which their friends are looked for."""


class PlayedDays:
    """The lines of a day: of everybody, of friends, of groups."""

    def __init__(
        self, days: Days, people: People, archive: Archive, analysis_pool: AnalysisPool, *, is_analysed: bool
    ) -> None:
        """``is_analysed`` is whether the games of a day are analysed though nobody asks for it."""
        self._days, self._people, self._archive, self._analysis_pool = days, people, archive, analysis_pool
        self._is_analysed = is_analysed

    async def yesterday(self, profile: Profile, chat: str = "") -> Panel:
        """Return how the day before went: for a person and their friends, or in a group's chat."""
        day, results = self._yesterday(), self._days.results
        lines, played = await self._known(profile, day, chat), await results.lines_of_play(day)
        chain, own = await self._days.chain(), played.get(profile.id)
        past = PastDay(
            day,
            await self._days.game_on(day),
            await results.par(day),
            best_of(list(played.values())),
            chain.secret(day).hex() if day >= chain.first else "",
            own.game if own else "",
            way_to("lines", 1, chat=chat) if any(line.person in played for line in lines) else "",
        )
        return yesterday_panel(profile.language, profile.suits, past, await self.named(lines))

    async def lines(self, profile: Profile, number: int, chat: str = "") -> Panel:
        """Return a page of the day before's lines side by side: those of a person's friends, or of a group."""
        day = self._yesterday()
        played = await self._days.results.lines_of_play(day)
        known = [line for line in await self._known(profile, day, chat) if line.person in played]
        compared = await self._compared(day, played, await self.named(known), {line.person for line in known})
        return side_by_side_panel(profile.language, profile.suits, compared, number, chat)

    async def everywhere(self, profile: Profile) -> Comparison:
        """Return everybody's lines of the day before side by side. Unknown people are not named."""
        day = self._yesterday()
        played = await self._days.results.lines_of_play(day)
        lines = ranked({person: line.result for person, line in played.items()})
        known = await self.friends(profile)
        shown = [line for at, line in enumerate(lines) if at < MOST_STRANGERS or line.person in known]
        unnamed = texts(profile.language).gettext(NAME)
        names = await self._people.names(line.person for line in shown if line.person in known)
        named = [(names.get(line.person, unnamed), line) for line in shown]
        return await self._compared(day, played, named, known, len(lines) - len(shown))

    async def _compared(
        self,
        day: date,
        played: Mapping[str, DayLine],
        named: Sequence[tuple[str, Line]],
        known: Collection[str],
        more: int = 0,
    ) -> Comparison:
        """Some of a day's lines, with what their analyses say; ``known`` are those whom the reader knows by name."""
        verdicts = await self._analysis_pool.kept([played[line.person].game for _name, line in named])
        lines = [
            ComparedLine(
                name,
                line.rank,
                played[line.person],
                verdicts.get(played[line.person].game),
                may_be_read=line.person in known,
            )
            for name, line in named
        ]
        game, best = await self._days.game_on(day), best_of(list(played.values()))
        return Comparison(day, game, best, lines, more, self._is_analysed)

    def _yesterday(self) -> date:
        return self._days.today() - timedelta(days=1)

    async def _known(self, profile: Profile, day: date, chat: str) -> list[Line]:
        """The results of a group, or of somebody and their friends."""
        if chat:
            return await self._days.results.lines(day, chat)
        known = await self.friends(profile)
        return among(await self._days.results.lines(day), known)

    async def friends(self, profile: Profile) -> set[str]:
        """Return the people with whom somebody has played lately, and that person."""
        archive = self._archive
        known = {profile.id}
        for number in (await archive.numbers_of(profile.id))[-GAMES_LOOKED_AT:]:
            id = await archive.id_of(number)  # noqa: A001
            game = await archive.get(id) if id else None
            # Strangers stay strangers.
            if game and game.chats:
                known.update(game.known_people)
        return known

    async def named(self, lines: Sequence[Line]) -> list[NamedLine]:
        """Return lines with what their players are called."""
        names = await self._people.names(line.person for line in lines)
        return [NamedLine(names[line.person], line) for line in lines]


def among(lines: Sequence[Line], people: Collection[str]) -> list[Line]:
    """The results of some people, ranked among themselves."""
    return ranked({line.person: line.result for line in lines if line.person in people})
