"""Reminders are sent once, and retried after a failure."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.delivery import answer_queue
from bot.features.tournaments import keys
from bot.features.tournaments.feature import TournamentsFeature
from bot.features.tournaments.log_entries import Finish, Round
from bot.features.tournaments.reminders import Reminders
from bot.features.tournaments.rounds import next_round
from bot.features.tournaments.tournament import DAY, Tournament
from bot.platform import DeliveryError, MessageRefused, SlowDown, Unreachable, private_place
from bot.store import Store
from tests.bot.features.tournaments.field import Field, name, open_field, person

SECONDS_LEFT = 5 * 3600


class LateRound:
    """A tournament with a paired round, no tables yet and five hours left."""

    def __init__(self, field: Field, tournament: Tournament) -> None:
        self.field, self.tournament = field, tournament
        self.reminders = self.new_reminders()

    def new_reminders(self) -> Reminders:
        """Return the reminders of a new worker, which knows only the store."""
        worker = self.field.worker
        return Reminders(
            worker.feature(TournamentsFeature).director.tournaments,
            worker.people,
            worker.adapters,
            worker.delivery.answers,
        )

    async def remind(self, seconds_left: int = SECONDS_LEFT) -> None:
        """Check all matches and wait until each reminder is sent or given up."""
        for match in self.tournament.matches:
            self.reminders.send_due(self.tournament, match, seconds_left)
        await self.field.worker.delivery.answers.tasks.wait()

    def reminders_to(self, number: int) -> list[str]:
        """Return the reminders that a player received."""
        return [text for text in self.field.fake.texts(private_place(person(number))) if text.startswith("⏰")]

    async def count_recorded(self) -> int:
        """Count the players recorded as reminded."""
        client: Any = self.field.worker.store.client
        return int(await client.scard(keys.sent_reminders(self.tournament.code)))


@pytest.fixture
async def late_round(store: Store, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LateRound]:
    monkeypatch.setattr("bot.features.tournaments.feature.POLL_SECONDS", 1e6)
    monkeypatch.setattr(answer_queue, "FIRST_RETRY_SECONDS", 0.0)
    async with open_field(store) as field:
        tournaments = field.tournaments
        started = await field.start_tournament("metamazzo", "knockout", 8)
        ends_at = await tournaments.playing_time() + SECONDS_LEFT
        pairs = next_round(started)
        assert pairs
        yield LateRound(
            field, await tournaments.commit(started.code, "round:1", lambda _tournament: [Round(ends_at, pairs)])
        )


async def test_rate_limited_reminders_are_sent_once(late_round: LateRound) -> None:
    for number in range(8):
        late_round.field.fake.errors[private_place(person(number))].append(SlowDown(0.5))
    for _ in range(3):
        await late_round.remind()
    assert [len(late_round.reminders_to(number)) for number in range(8)] == [1] * 8
    assert not any(late_round.field.fake.errors.values())
    assert await late_round.count_recorded() == 8
    late_round.reminders = late_round.new_reminders()
    await late_round.remind()
    assert [len(late_round.reminders_to(number)) for number in range(8)] == [1] * 8
    [text] = late_round.reminders_to(0)
    assert any(name(number) in text for number in range(1, 8))


async def test_no_reminder_before_a_quarter_day_is_left(late_round: LateRound) -> None:
    await late_round.remind(DAY // 4 + 1)
    assert await late_round.count_recorded() == 0
    assert not any(late_round.reminders_to(number) for number in range(8))


@pytest.mark.parametrize("error", [MessageRefused("no"), Unreachable("no private chat")])
async def test_failed_reminder_is_retried_later(late_round: LateRound, error: DeliveryError) -> None:
    late_round.field.fake.errors[private_place(person(3))] = [error]
    for _ in range(3):
        await late_round.remind()
    assert late_round.reminders_to(3) == []
    assert await late_round.count_recorded() == 7
    late_round.reminders.now = lambda: 1e9
    await late_round.remind()
    assert [len(late_round.reminders_to(number)) for number in range(8)] == [1] * 8
    assert await late_round.count_recorded() == 8


async def test_sent_but_unrecorded_reminder_is_not_repeated(
    late_round: LateRound, monkeypatch: pytest.MonkeyPatch
) -> None:
    late_round.field.fake.knows_keys = False
    client: Any = late_round.field.worker.store.client
    sadd = client.sadd

    async def lose_connection(*_args: object) -> int:
        raise ConnectionError

    monkeypatch.setattr(client, "sadd", lose_connection)
    await late_round.remind()
    monkeypatch.setattr(client, "sadd", sadd)
    assert await late_round.count_recorded() == 0
    late_round.reminders.now = lambda: 1e9
    await late_round.remind()
    assert [len(late_round.reminders_to(number)) for number in range(8)] == [1] * 8
    assert await late_round.count_recorded() == 8


async def test_withdrawn_or_finished_matches_get_no_reminder(late_round: LateRound) -> None:
    registration, tournaments = (
        late_round.field.registration,
        late_round.field.tournaments,
    )
    await registration.leave(late_round.tournament.code, person(0), "leave")
    await late_round.remind()
    [match] = [
        match
        for match in late_round.tournament.matches
        if 0 in {n for team in match.teams for n in late_round.tournament.teams[team]}
    ]
    spared = {number for team in match.teams for number in late_round.tournament.teams[team]}
    assert [len(late_round.reminders_to(number)) for number in range(8)] == [
        int(number not in spared) for number in range(8)
    ]
    await tournaments.commit(late_round.tournament.code, "finish", lambda _tournament: [Finish()])
    late_round.reminders = late_round.new_reminders()
    await late_round.field.worker.store.client.delete(keys.sent_reminders(late_round.tournament.code))
    await late_round.remind()
    assert await late_round.count_recorded() == 0
