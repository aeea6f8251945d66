"""The deal of the day: /daily, and the presses that follow it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import partial

from bot import actions
from bot.actions import BadPayload
from bot.chosen_hours import hour_row, parse_hour
from bot.core import Core
from bot.delivery.names import Hand
from bot.delivery.surface import Change
from bot.features.daily.comparison import ComparedLine, Comparison, side_by_side_panel, way_to
from bot.features.daily.days import Days
from bot.features.daily.deal import SEAT
from bot.features.daily.errors import OpenPrivateForDaily
from bot.features.daily.lines import DayLine, best_of
from bot.features.daily.loop import reminder_hours
from bot.features.daily.pages import NamedLine, PastDay, day_panel, played_panel, yesterday_panel
from bot.features.daily.store import Line, ranked
from bot.panel import Panel
from bot.panels.drafts import NO_DRAFT
from bot.people import Profile
from bot.platform import Reply, chat_of, is_private, private_place
from bot.replies import for_one
from bot.somebody import NAME
from bot.texts import error_text, texts
from engine.shuffle import commitment

DAILY = "daily"
"""The word after /start by which a button opens the private chat to play the deal of the day."""

MOST_STRANGERS = 30
"""Number of the best lines that a page shows, also those of strangers."""

GAMES_LOOKED_AT = 40
"""Among so many of somebody's last games their friends are looked for."""


class Daily:
    """The deals of the days, as people ask for them."""

    def __init__(self, core: Core, days: Days) -> None:
        self.core, self.days = core, days
        self._viewers = core.viewers
        self.hours = reminder_hours(core.store.client)

    async def ask(self, place: str, profile: Profile) -> Reply:
        """What today's deal is; for who has played it, how they did."""
        if not is_private(place):
            await self.days.results.asked_in(self.days.today(), chat_of(place), profile.id)
            return Reply(panel=await self._in_group(place))
        return Reply(panel=await self._own_with_reminder(profile))

    async def answer(self, place: str, profile: Profile, words: Sequence[str]) -> Reply:
        """A press on one of its pages."""
        match words:
            case ["today"] if is_private(place):
                return Reply(panel=await self._own_with_reminder(profile))
            case ["remind", hour] if is_private(place):
                await self.hours.choose(profile.id, parse_hour(hour))
                return Reply(panel=await self._own_with_reminder(profile))
            case ["today"]:
                return Reply(panel=await self._in_group(place))
            case ["play"]:
                return await self.play(place, profile)
            case ["yesterday", *chat] if len(chat) < 2:
                return for_one(place, profile.language, await self.yesterday(profile, _group(place, chat)))
            case ["lines", number, *chat] if len(chat) < 2 and number.isdecimal() and len(number) < 4:
                return for_one(place, profile.language, await self.lines(profile, int(number), _group(place, chat)))
        raise BadPayload()

    async def play(self, place: str, profile: Profile) -> Reply:
        """Deal the cards of today, in the private chat, or bring there what is dealt already; or lead there."""
        if not is_private(place):
            await self.days.results.asked_in(self.days.today(), chat_of(place), profile.id)
        private = private_place(profile.id)
        if not (place == private or profile.has_private_chat):
            return Reply(error_text(OpenPrivateForDaily(), profile.language), start_word=DAILY)
        toast = "" if place == private else await self.core.private_hands.toast(profile)
        if table := await self.days.under_way(profile.id, self.days.today()):
            await self.core.updates.change(table.code, Hand(SEAT), Change(draft=NO_DRAFT, repost=True, place=private))
        else:
            await self.days.open(profile.id, profile.name, private)
        return Reply(toast)

    async def _in_group(self, place: str) -> Panel:
        day = self.days.today()
        viewer = await self._viewers.at(place)
        lines = await self._named(await self.days.results.lines(day, chat_of(place)))
        return day_panel(viewer.language, day, await self.days.game_on(day), lines)

    async def _own_with_reminder(self, profile: Profile) -> Panel:
        panel = await self.own(profile)
        payload = partial(actions.page, DAILY, "remind")
        row = hour_row(profile.language, "⏰", await self.hours.of(profile.id), payload)
        return replace(panel, rows=(*panel.rows, row))

    async def own(self, profile: Profile) -> Panel:
        """What today's deal is to somebody: to be played, or their result."""
        day = self.days.today()
        game, lines = await self.days.game_on(day), await self.days.results.lines(day)
        own = next((line for line in lines if line.person == profile.id), None)
        if own is None:
            seal = commitment((await self.days.chain()).secret(day))
            had_cards = await self.days.had_cards(profile.id, day)
            return day_panel(profile.language, day, game, (), seal, had_cards=had_cards)
        friends = await self._named(_among(lines, await self._friends(profile)))
        par, streak = await self.days.results.par(day), await self.days.results.streak(profile.id, day)
        return played_panel(profile.language, day, game, own, len(lines), par, streak, friends)

    async def yesterday(self, profile: Profile, chat: str = "") -> Panel:
        """How the day before went: for somebody and their friends, or in a group's chat."""
        day, results = self._yesterday(), self.days.results
        lines, played = await self._known(profile, day, chat), await results.lines_of_play(day)
        chain, own = await self.days.chain(), played.get(profile.id)
        past = PastDay(
            day,
            await self.days.game_on(day),
            await results.par(day),
            best_of(list(played.values())),
            chain.secret(day).hex() if day >= chain.first else "",
            own.game if own else "",
            way_to("lines", 1, chat=chat) if any(line.person in played for line in lines) else "",
        )
        return yesterday_panel(profile.language, profile.suits, past, await self._named(lines))

    async def lines(self, profile: Profile, number: int, chat: str = "") -> Panel:
        """The lines of the day before side by side, a page of them: those of somebody's friends, or of a group's."""
        day = self._yesterday()
        played = await self.days.results.lines_of_play(day)
        known = [line for line in await self._known(profile, day, chat) if line.person in played]
        compared = await self._compared(day, played, await self._named(known), {line.person for line in known})
        return side_by_side_panel(profile.language, profile.suits, compared, number, chat)

    async def everywhere(self, profile: Profile) -> Comparison:
        """The lines of the day before side by side, everybody's: those whom somebody does not know are not named."""
        day = self._yesterday()
        played = await self.days.results.lines_of_play(day)
        lines = ranked({person: line.result for person, line in played.items()})
        known = await self._friends(profile)
        shown = [line for at, line in enumerate(lines) if at < MOST_STRANGERS or line.person in known]
        unnamed = texts(profile.language).gettext(NAME)
        names = await self.core.people.names(line.person for line in shown if line.person in known)
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
        verdicts = await self.core.analysis_pool.kept([played[line.person].game for _name, line in named])
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
        is_analysed = self.core.looks_at_games
        game, best = await self.days.game_on(day), best_of(list(played.values()))
        return Comparison(day, game, best, lines, more, is_analysed)

    def _yesterday(self) -> date:
        return self.days.today() - timedelta(days=1)

    async def _known(self, profile: Profile, day: date, chat: str) -> list[Line]:
        """The results of a group, or of somebody and their friends."""
        if chat:
            return await self.days.results.lines(day, chat)
        known = await self._friends(profile)
        return _among(await self.days.results.lines(day), known)

    async def _friends(self, profile: Profile) -> set[str]:
        """The people with whom somebody has played lately, and they themselves."""
        archive = self.core.archive
        known = {profile.id}
        for number in (await archive.numbers_of(profile.id))[-GAMES_LOOKED_AT:]:
            id = await archive.id_of(number)  # noqa: A001
            game = await archive.get(id) if id else None
            # Strangers stay strangers.
            if game and game.chats:
                known.update(game.known_people)
        return known

    async def _named(self, lines: Sequence[Line]) -> list[NamedLine]:
        names = await self.core.people.names(line.person for line in lines)
        return [NamedLine(names[line.person], line) for line in lines]


def _among(lines: Sequence[Line], people: Collection[str]) -> list[Line]:
    """The results of some people, ranked among themselves."""
    return ranked({line.person: line.result for line in lines if line.person in people})


def _group(place: str, named: Sequence[str]) -> str:
    """The group whose lines are asked for: where a button in a private chat leads on from what was asked in a group, it
    names that. Empty for one's friends'.
    """
    return (named[0] if named else "") if is_private(place) else chat_of(place)
