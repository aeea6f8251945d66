"""The deal of the day: /daily, and the presses that follow it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from bot.actions import BadPayload
from bot.daily.deal import game_on
from bot.daily.reminders import HOURS, Hours
from bot.daily.results import Line, ranked
from bot.handlers.errors import OpenPrivateForDaily
from bot.panel import Panel
from bot.panels.daily import OFF, NamedLine, PastDay, day_panel, played_panel, reminder_row, yesterday_panel
from bot.people import Profile
from bot.platform import Reply, chat_of, is_private, private_place
from bot.store import keys
from bot.texts import error_text, texts
from bot.viewers import Viewers
from bot.worker import Worker
from engine.shuffle import commitment

DAILY = "daily"
"""What stands behind /start where a button leads to the private chat, for the deal of the day to be played there."""

GAMES_LOOKED_AT = 40
"""Among so many of somebody's last games their friends are looked for."""


class Daily:
    """The deals of the days, as people ask for them."""

    def __init__(self, worker: Worker) -> None:
        self.worker, self.days = worker, worker.days
        self._viewers = Viewers(worker.people, worker.adapters)
        self._hours = Hours(worker.store.client, keys.DAILY_REMINDERS)

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
            case ["remind", hour] if is_private(place) and hour in (OFF, *map(str, HOURS)):
                await self._hours.choose(profile.id, None if hour == OFF else int(hour))
                return Reply(panel=await self._own_with_reminder(profile))
            case ["today"]:
                return Reply(panel=await self._in_group(place))
            case ["play"]:
                return await self.play(place, profile)
            case ["yesterday"]:
                chat = "" if is_private(place) else chat_of(place)
                return self._for_one(place, profile, await self.yesterday(profile, chat))
        raise BadPayload()

    async def play(self, place: str, profile: Profile) -> Reply:
        """Deal the cards of today, in the private chat; or lead there."""
        if not is_private(place):
            await self.days.results.asked_in(self.days.today(), chat_of(place), profile.id)
        if not (is_private(place) or profile.has_private_chat):
            return Reply(error_text(OpenPrivateForDaily(), profile.language), start_word=DAILY)
        await self.days.open(profile.id, profile.name, place if is_private(place) else private_place(profile.id))
        return Reply("" if is_private(place) else texts(profile.language).gettext("It is in our private chat."))

    def _for_one(self, place: str, profile: Profile, panel: Panel) -> Reply:
        if is_private(place):
            return Reply(panel=panel)
        return Reply(texts(profile.language).gettext("It is in our private chat."), panel, private=True)

    async def _in_group(self, place: str) -> Panel:
        day = self.days.today()
        viewer = await self._viewers.at(place)
        lines = await self._named(await self.days.results.lines(day, chat_of(place)))
        return day_panel(viewer.language, day, game_on(day), lines)

    async def _own_with_reminder(self, profile: Profile) -> Panel:
        panel = await self.own(profile)
        row = reminder_row(profile.language, HOURS, await self._hours.of(profile.id))
        return replace(panel, rows=(*panel.rows, row))

    async def own(self, profile: Profile) -> Panel:
        """What today's deal is to somebody: to be played, or their result."""
        day = self.days.today()
        game, lines = game_on(day), await self.days.results.lines(day)
        own = next((line for line in lines if line.person == profile.id), None)
        if own is None:
            seal = commitment((await self.days.chain()).secret(day))
            return day_panel(profile.language, day, game, (), seal)
        friends = await self._named(await self._friends(profile, lines))
        par, streak = await self.days.results.par(day), await self.days.results.streak(profile.id, day)
        return played_panel(profile.language, day, game, own, len(lines), par, streak, friends)

    async def yesterday(self, profile: Profile, chat: str = "") -> Panel:
        """How the day before went: for somebody and their friends, or in a group's chat."""
        day = self.days.today() - timedelta(days=1)
        lines = await self.days.results.lines(day, chat)
        if not chat:
            lines = await self._friends(profile, lines)
        chain = await self.days.chain()
        secret = chain.secret(day).hex() if day >= chain.first else "–"
        past = PastDay(
            day,
            game_on(day),
            await self.days.results.par(day),
            await self.days.best_line(day),
            secret,
            await self.days.game_of(day, profile.id),
        )
        return yesterday_panel(profile.language, profile.suits, past, await self._named(lines))

    async def _friends(self, profile: Profile, lines: Sequence[Line]) -> list[Line]:
        """Among results those of people with whom somebody has played lately, and their own."""
        archive = self.worker.archive
        known = {profile.id}
        for number in (await archive.numbers_of(profile.id))[-GAMES_LOOKED_AT:]:
            id = await archive.id_of(number)  # noqa: A001
            game = await archive.get(id) if id else None
            # Strangers stay strangers.
            if game and game.chats:
                known.update(game.known_people)
        return ranked({line.person: line.result for line in lines if line.person in known})

    async def _named(self, lines: Sequence[Line]) -> list[NamedLine]:
        return [NamedLine((await self.worker.people.person(line.person)).name, line) for line in lines]
