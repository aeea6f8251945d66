"""The command /daily and the buttons of its messages."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import date

from bot.actions import BadPayload
from bot.days.chosen_hours import ChosenHours, parse_hour
from bot.delivery.private_hands import PrivateHands
from bot.delivery.surface import Change
from bot.delivery.surface_names import Hand
from bot.delivery.updates import Updates
from bot.feature import Lesson
from bot.features.daily.days import Days
from bot.features.daily.errors import OpenPrivateForDaily
from bot.features.daily.pages import (
    day_panel,
    played_panel,
    seal_panel,
    shareable_panel,
    shareable_text,
    with_reminder_hours,
)
from bot.features.daily.past_days import PastDays
from bot.features.daily.ranking import rank_among
from bot.panel import Panel
from bot.panels.drafts import NO_DRAFT
from bot.people import Profile
from bot.platform import Command, Press, Reply, chat_of, is_private, private_place
from bot.private_replies import private_reply
from bot.solo_deals.results import SEAT
from bot.texts import error_text
from bot.viewers import Viewers
from engine import GameKind, game_kind
from engine.shuffle import commitment

DAILY = "daily"  # word after /start in the link that opens the private chat and deals the cards


class DailyCommands:
    def __init__(
        self,
        days: Days,
        past_days: PastDays,
        reminder_hours: ChosenHours,
        viewers: Viewers,
        private_hands: PrivateHands,
        updates: Updates,
        lessons: Callable[[str, GameKind, str], Awaitable[Sequence[Lesson]]],
    ) -> None:
        """``lessons`` returns the lessons about a game, or none if the person knows the game."""
        self._days, self._past_days, self._hours, self._viewers = days, past_days, reminder_hours, viewers
        self._private_hands, self._updates = private_hands, updates
        self._lessons = lessons

    async def show(self, command: Command, profile: Profile) -> Reply:
        place = command.place
        if is_private(place):
            return Reply(panel=await self._own_panel_with_reminder(profile))
        await self._days.results.add_request(self._days.today(), chat_of(place), profile.id)
        return Reply(panel=await self._group_panel(place))

    async def answer(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        place = press.place
        match words:
            case ["today"] if is_private(place):
                return Reply(panel=await self._own_panel_with_reminder(profile))
            case ["remind", hour] if is_private(place):
                await self._hours.choose(profile.id, parse_hour(hour))
                return Reply(panel=await self._own_panel_with_reminder(profile))
            case ["seal"] if is_private(place):
                return Reply(panel=await self._seal_panel(profile))
            case ["today"]:
                return Reply(panel=await self._group_panel(place))
            case ["play"]:
                return await self.play(press, profile)
            case ["share"] if is_private(place):
                text = await self.shareable_text(profile)
                panel = shareable_panel(text) if text else await self.own_panel(profile)
                return Reply(panel=panel, private=True, is_forwardable=True)
            case ["yesterday", *group] if len(group) < 2:
                panel = await self._past_days.yesterday_panel(profile, _chosen_group(place, group))
                return private_reply(place, profile.language, panel)
            case ["lines", number, *group] if len(group) < 2 and number.isdecimal() and len(number) < 4:
                panel = await self._past_days.lines_panel(profile, int(number), _chosen_group(place, group))
                return private_reply(place, profile.language, panel)
        raise BadPayload()

    async def play(self, request: Command | Press, profile: Profile) -> Reply:
        """Deal today's cards in the private chat, or show the hand again.

        If the bot cannot write to this chat, return a link that opens it.
        """
        place, private, day = request.place, private_place(profile.id), self._days.today()
        if not is_private(place):
            await self._days.results.add_request(day, chat_of(place), profile.id)
        if not (place == private or profile.has_private_chat):
            return Reply(error_text(OpenPrivateForDaily(), profile.language), start_word=DAILY)
        toast = "" if place == private else await self._private_hands.toast(profile)
        if table := await self._days.table_in_play(profile.id, day):
            await self._updates.send_change(table.code, Hand(SEAT), Change(draft=NO_DRAFT, repost=True, place=private))
        else:
            await self._days.open_table(profile.id, profile.name, private)
        return Reply(toast)

    async def _group_panel(self, place: str) -> Panel:
        day = self._days.today()
        viewer = await self._viewers.viewer_at(place)
        lines = await self._past_days.add_names(await self._days.results.ranking(day, chat_of(place)))
        return day_panel(viewer.language, day, await self._days.game_on(day), lines)

    async def _own_panel_with_reminder(self, profile: Profile) -> Panel:
        hour = await self._hours.hour_of(profile.id)
        return with_reminder_hours(await self.own_panel(profile), profile.language, hour)

    async def own_panel(self, profile: Profile) -> Panel:
        day = self._days.today()
        game, lines = await self._days.game_on(day), await self._days.results.ranking(day)
        own_line = next((line for line in lines if line.person == profile.id), None)
        if own_line is None:
            had_cards, time_left = await self._days.has_had_cards(profile.id, day), self._days.time_left()
            lessons = await self.lessons(profile)
            return day_panel(
                profile.language, day, game, has_seal=True, had_cards=had_cards, time_left=time_left, lessons=lessons
            )
        friends = await self._past_days.add_names(rank_among(lines, await self._past_days.friends(profile)))
        par, streak = await self._days.results.par(day), await self._days.results.streak(profile.id, day)
        return played_panel(profile.language, day, game, own_line, len(lines), par, streak, friends)

    async def lessons(self, profile: Profile) -> Sequence[Lesson]:
        """Return lessons about the game of today's deal, if the person does not know it."""
        return await self._lessons(
            profile.id, game_kind(await self._days.game_on(self._days.today())), profile.language
        )

    async def _seal_panel(self, profile: Profile) -> Panel:
        day = self._days.today()
        return seal_panel(profile.language, day, await self._days.game_on(day), await self.seal(day))

    async def seal(self, day: date) -> str:
        """Return the hash that commits the bot to a day's deal before it is played."""
        return commitment((await self._days.chain()).secret(day))

    async def shareable_text(self, profile: Profile) -> str:
        """Return a text with a person's result today, to share with friends. It is empty before they have played."""
        day, results = self._days.today(), self._days.results
        own_result = await results.get(day, profile.id)
        if own_result is None:
            return ""
        return shareable_text(day, await self._days.game_on(day), own_result, await results.par(day), profile.language)


def _chosen_group(place: str, group: Sequence[str]) -> str:
    """Return the group whose results a button asks for, or "" for the person's friends.

    Only buttons in private chats name the group.
    """
    return (group[0] if group else "") if is_private(place) else chat_of(place)
