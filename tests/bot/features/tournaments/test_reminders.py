"""Reminders: each is said once, in its turn, and asked for again as long as it was not."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.delivery import answers
from bot.features.tournaments import director
from bot.features.tournaments.entries import Finish, Round
from bot.features.tournaments.feature import TournamentsFeature
from bot.features.tournaments.pairing import next_round
from bot.features.tournaments.reminders import Reminders
from bot.features.tournaments.tournament import DAY, Tournament
from bot.platform import DeliveryError, MessageRefused, SlowDown, Unreachable, private_place
from bot.store import Store, keys
from tests.bot.features.tournaments.field import Field, field, name, person

LEFT = 5 * 3600


class Late:
    """A tournament whose round has been paired, without a table yet, and has five hours left."""

    def __init__(self, some: Field, tournament: Tournament) -> None:
        self.some, self.tournament = some, tournament
        self.reminders = self.another()

    def another(self) -> Reminders:
        """A worker that knows nothing but what the store has."""
        worker = self.some.worker
        return Reminders(
            worker.feature(TournamentsFeature).director.tournaments,
            worker.people,
            worker.adapters,
            worker.delivery.answers,
        )

    async def remind(self, left: int = LEFT) -> None:
        """All matches are looked at, and all that is to be said has been, or is lost."""
        for match in self.tournament.matches:
            self.reminders.send_due(self.tournament, match, left)
        await self.some.worker.delivery.answers.tasks.wait()

    def reminded(self, number: int) -> list[str]:
        """What a player was reminded of."""
        return [text for text in self.some.fake.texts(private_place(person(number))) if text.startswith("⏰")]

    async def noted(self) -> int:
        """How many are known to have been reminded."""
        client: Any = self.some.worker.store.client
        return int(await client.scard(keys.tournament_reminded(self.tournament.code)))


@pytest.fixture
async def late(store: Store, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Late]:
    monkeypatch.setattr(director, "POLL_SECONDS", 1e6)
    monkeypatch.setattr(answers, "FIRST_PAUSE", 0.0)
    async with field(store) as some:
        tournaments = some.worker.feature(TournamentsFeature).director.tournaments
        started = await some.started("metamazzo", "knockout", 8)
        ends_at = await tournaments.playing_time() + LEFT
        pairs = next_round(started)
        assert pairs
        yield Late(some, await tournaments.commit(started.code, "round:1", lambda _one: [Round(ends_at, pairs)]))


async def test_rate_limited_reminders_are_sent_once(late: Late) -> None:
    for number in range(8):
        late.some.fake.errors[private_place(person(number))].append(SlowDown(0.5))
    for _ in range(3):
        await late.remind()
    assert [len(late.reminded(number)) for number in range(8)] == [1] * 8
    assert not any(late.some.fake.errors.values())
    assert await late.noted() == 8
    late.reminders = late.another()
    await late.remind()
    assert [len(late.reminded(number)) for number in range(8)] == [1] * 8
    [text] = late.reminded(0)
    assert any(name(number) in text for number in range(1, 8))


async def test_no_reminder_before_a_quarter_day_is_left(late: Late) -> None:
    await late.remind(DAY // 4 + 1)
    assert await late.noted() == 0
    assert not any(late.reminded(number) for number in range(8))


@pytest.mark.parametrize("error", [MessageRefused("no"), Unreachable("no private chat")])
async def test_failed_reminder_is_retried_later(late: Late, error: DeliveryError) -> None:
    late.some.fake.errors[private_place(person(3))] = [error]
    for _ in range(3):
        await late.remind()
    assert late.reminded(3) == []
    assert await late.noted() == 7
    late.reminders.now = lambda: 1e9
    await late.remind()
    assert [len(late.reminded(number)) for number in range(8)] == [1] * 8
    assert await late.noted() == 8


async def test_sent_but_unrecorded_reminder_is_not_repeated(late: Late, monkeypatch: pytest.MonkeyPatch) -> None:
    late.some.fake.knows_keys = False
    client: Any = late.some.worker.store.client
    sadd = client.sadd

    async def away(*_args: object) -> int:
        raise ConnectionError

    monkeypatch.setattr(client, "sadd", away)
    await late.remind()
    monkeypatch.setattr(client, "sadd", sadd)
    assert await late.noted() == 0
    late.reminders.now = lambda: 1e9
    await late.remind()
    assert [len(late.reminded(number)) for number in range(8)] == [1] * 8
    assert await late.noted() == 8


async def test_withdrawn_or_finished_matches_get_no_reminder(late: Late) -> None:
    registration, tournaments = (
        late.some.worker.feature(TournamentsFeature).registration,
        late.some.worker.feature(TournamentsFeature).director.tournaments,
    )
    await registration.leave(late.tournament.code, person(0), "leave")
    await late.remind()
    [match] = [
        one for one in late.tournament.matches if 0 in {n for team in one.teams for n in late.tournament.teams[team]}
    ]
    spared = {number for team in match.teams for number in late.tournament.teams[team]}
    assert [len(late.reminded(number)) for number in range(8)] == [int(number not in spared) for number in range(8)]
    await tournaments.commit(late.tournament.code, "finish", lambda _one: [Finish()])
    late.reminders = late.another()
    await late.some.worker.store.client.delete(keys.tournament_reminded(late.tournament.code))
    await late.remind()
    assert await late.noted() == 0
