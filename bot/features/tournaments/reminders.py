"""Reminders of unfinished matches when little of a round's time is left.

A reminder waits for the turn of its chat, like an answer. It is retried until it has been sent and noted. A crash can
double a reminder only on platforms without message keys.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import NamedTuple

from cachetools import LRUCache

from bot.concurrency.backoff import Backoff
from bot.delivery.answer_queue import AnswerQueue
from bot.features.tournaments import keys
from bot.features.tournaments.card_panel import button, hand_row
from bot.features.tournaments.current_names import with_current_names
from bot.features.tournaments.errors import NoSuchTournament, UnreadableTournament
from bot.features.tournaments.store import KEPT_SECONDS, Tournaments
from bot.features.tournaments.texts import TournamentText, time_left
from bot.features.tournaments.tournament import Match, Tournament
from bot.identity.pseudonyms import is_pseudonym
from bot.notification import Notification
from bot.panel import Panel, Span, Writer
from bot.people import People
from bot.platform import Adapter, platform_of, private_place

REMIND_FRACTION = 4  # remind when 1/4 of the time is left
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 180.0, 3600.0  # seconds before a retry, doubled each time
REMINDERS_REMEMBERED = 10_000


class Reminder(NamedTuple):
    """A player's reminder of a match."""

    tournament: str
    round: int
    match: int
    player: int

    @property
    def mark(self) -> str:
        return f"{self.round}.{self.match} {self.player}"

    @property
    def key(self) -> str:
        """The key by which a platform recognizes a repeated message."""
        return f"tournament {self.tournament} {self.mark}"


class ReminderState:
    """This worker's state of a reminder: the time of the next attempt, and whether it was sent and noted."""

    def __init__(self) -> None:
        self.retry_at, self.is_sent, self.is_noted = 0.0, False, False
        self.backoff = Backoff(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)


class Reminders:
    def __init__(
        self, tournaments: Tournaments, people: People, adapters: Mapping[str, Adapter], answers: AnswerQueue
    ) -> None:
        self._tournaments, self._people, self._adapters, self._answers = tournaments, people, adapters, answers
        self._states: LRUCache[Reminder, ReminderState] = LRUCache(REMINDERS_REMEMBERED)
        self.now: Callable[[], float] = time.monotonic

    def send_due(self, tournament: Tournament, match: Match, seconds_left: int) -> None:
        """Remind the players of a match once, if little of the round's time is left."""
        if seconds_left > tournament.time // REMIND_FRACTION:
            return
        for number in chain.from_iterable(tournament.teams[team] for team in match.teams):
            player = tournament.players[number]
            if player is None or is_pseudonym(player.person) or platform_of(player.person) not in self._adapters:
                continue
            reminder = Reminder(tournament.code, match.round, match.number, number)
            state = self._states.setdefault(reminder, ReminderState())
            if not state.is_noted and self.now() >= state.retry_at:
                state.retry_at = self.now() + state.backoff.next_pause()
                deliver = partial(self._deliver, reminder, state)
                self._answers.send(private_place(player.person), deliver, message=reminder.key)

    async def _deliver(self, reminder: Reminder, state: ReminderState) -> None:
        """Send a reminder unless it was sent before, and note it."""
        client, marks = self._tournaments.client, keys.sent_reminders(reminder.tournament)
        if not state.is_sent and not await client.sismember(marks, reminder.mark):
            if not await self._send(reminder):
                return
            state.is_sent = True
        await client.sadd(marks, reminder.mark)
        await client.expire(marks, KEPT_SECONDS)
        state.is_noted = True

    async def _send(self, reminder: Reminder) -> bool:
        """Send a reminder with the current state; return False if it is obsolete."""
        try:
            tournament = await self._tournaments.load(reminder.tournament)
        except (NoSuchTournament, UnreadableTournament):
            return False
        seconds_left, player = await self._tournaments.seconds_left(tournament), tournament.players[reminder.player]
        match = tournament.match(reminder.round, reminder.match)
        is_over = match.is_over or any(tournament.has_withdrawn(team) for team in match.teams)
        if is_over or seconds_left is None or seconds_left <= 0:
            return False
        if player is None or is_pseudonym(player.person):
            return False
        language = (await self._people.person(player.person)).language
        tournament = await with_current_names(self._people, tournament)
        panel = reminder_panel(language, tournament, match, reminder.player, seconds_left)
        await self._adapters[platform_of(player.person)].send(private_place(player.person), panel, reminder.key)
        return True


def reminder_panel(language: str, tournament: Tournament, match: Match, player: int, seconds_left: int) -> Panel:
    """Remind a player of an unfinished match."""
    text, team = TournamentText(language, tournament), tournament.team_of(player)
    assert team is not None
    page = Writer()
    page.line(
        text.gettext("⏰ Your match against {other} in {organiser}’s tournament: {time}"),
        other=Span(text.opponent(match, team), "bold"),
        organiser=text.organiser,
        time=time_left(language, seconds_left),
    )
    panel = page.panel(hand_row(text, [match], team), (button(text.gettext("My tournament"), tournament, "mine"),))
    opponents = [chair.person for other in match.teams if other != team for chair in tournament.members(other)]
    people = (tournament.opener.person, *opponents)
    return replace(panel, notification=Notification("tournament", panel.plain.strip(), "/", people))
