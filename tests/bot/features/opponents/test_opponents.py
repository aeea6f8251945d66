"""Recent opponents: who is listed, and what a challenge to them sends."""

from dataclasses import replace

import pytest

from bot.features.opponents.feature import OpponentsFeature
from bot.features.opponents.site import OpponentsSite
from bot.finished.game import FinishedGame
from bot.platform import Person, private_place
from bot.store import Store
from bot.tables.errors import TableError
from bot.worker import Worker
from tests.bot.fake_platform import FakePlatform, open_worker

ANNA, BRUNO, CARLA = (Person(f"web:{number}", name, "en") for number, name in enumerate(("Anna", "Bruno", "Carla"), 1))


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.features.opponents.site.CACHE_SECONDS", 0.0)


def site_of(worker: Worker) -> OpponentsSite:
    return worker.feature(OpponentsFeature).site


async def play(worker: Worker, first: Person, other: Person, game: str = "testa") -> None:
    """Play a game until the second player resigns."""
    for person in (first, other):
        await worker.people.meet(person)
    update = f"{first.id} {other.id} {game}"
    table = await worker.challenges.open_table(game, first.id, first.name, f"open {update}")
    await worker.challenges.sit(table.code, other.id, other.name, f"sit {update}")
    await worker.room.resign_for(table.code, 1, f"resign {update}")
    await worker.settled()


async def challenge(worker: Worker, person: Person = ANNA, index: int = 0) -> str:
    line = (await site_of(worker).opponents(person.id, "en"))[index]
    code, why = await site_of(worker).challenge(person, line.game_id, line.seat)
    assert not why
    await worker.settled()
    return code


async def names(worker: Worker, person: Person = ANNA) -> list[str]:
    return [line.name.strip("\u2068\u2069") for line in await site_of(worker).opponents(person.id, "en")]


async def test_last_opponents_come_first_and_once(worker: Worker) -> None:
    assert await names(worker) == []
    await play(worker, ANNA, BRUNO)
    await play(worker, CARLA, ANNA)
    await play(worker, ANNA, BRUNO, "metamazzo")
    assert await names(worker) == ["Bruno", "Carla"]
    assert await names(worker, CARLA) == ["Anna"]


async def test_dot_shows_who_has_a_page_open(worker: Worker) -> None:
    await play(worker, ANNA, BRUNO)
    assert [line.is_here for line in await site_of(worker).opponents(ANNA.id, "en")] == [False]
    worker.presence.note(BRUNO.id)
    await worker.presence.exchange()
    assert [line.is_here for line in await site_of(worker).opponents(ANNA.id, "en")] == [True]


async def test_challenge_reaches_the_opponent_at_every_worker(store: Store, worker: Worker) -> None:
    await play(worker, ANNA, BRUNO)
    code = await challenge(worker)
    async with open_worker(store, FakePlatform()) as other:
        [line] = await site_of(other).challenges_to(BRUNO.id, "en")
    assert (line.code, line.game) == (code, "Testa a Testa")
    assert "Anna" in line.name
    assert await site_of(worker).challenges_to(ANNA.id, "en") == []
    # A second press finds the same table.
    assert await challenge(worker) == code
    await worker.challenges.sit(code, BRUNO.id, "Bruno", "accept")
    table = await worker.room.table(code)
    assert table.is_full
    assert await site_of(worker).challenges_to(BRUNO.id, "en") == []


async def test_declined_challenge_can_be_repeated(worker: Worker) -> None:
    await play(worker, ANNA, BRUNO)
    code = await challenge(worker)
    await worker.challenges.decline(code, BRUNO.id, "", "no")
    await worker.settled()
    assert await site_of(worker).challenges_to(BRUNO.id, "en") == []
    assert await challenge(worker) != code


async def test_only_the_challenged_person_can_sit_down(worker: Worker) -> None:
    await play(worker, ANNA, BRUNO)
    code = await challenge(worker)
    with pytest.raises(TableError):
        await worker.challenges.sit(code, CARLA.id, "Carla", "sit")


async def test_nothing_reaches_a_person_who_blocked_the_challenger(worker: Worker) -> None:
    await play(worker, ANNA, BRUNO)
    await worker.blocks.add(BRUNO.id, ANNA.id, "Anna")
    # Anna does not learn about it.
    assert await names(worker) == ["Bruno"]
    code = await challenge(worker)
    assert await site_of(worker).challenges_to(BRUNO.id, "en") == []
    assert private_place(BRUNO.id) not in (await worker.room.table(code)).hosts


async def test_blocked_opponent_is_not_listed(worker: Worker) -> None:
    await play(worker, ANNA, BRUNO)
    [line] = await site_of(worker).opponents(ANNA.id, "en")
    await worker.blocks.add(ANNA.id, BRUNO.id, "Bruno")
    assert await names(worker) == []
    code, why = await site_of(worker).challenge(ANNA, line.game_id, line.seat)
    assert not code
    assert why == "This player is no longer here."


async def test_forgotten_opponent_cannot_be_challenged(worker: Worker) -> None:
    await play(worker, ANNA, BRUNO)
    [line] = await site_of(worker).opponents(ANNA.id, "en")
    await worker.archive.rewrite(line.game_id, lambda game: _with_person(game, line.seat, "somebody:12345678"))
    assert await names(worker) == []
    code, why = await site_of(worker).challenge(ANNA, line.game_id, line.seat)
    assert not code
    assert why == "This player is no longer here."


async def test_strangers_keep_their_nicknames(worker: Worker) -> None:
    for person in (ANNA, BRUNO):
        await worker.people.meet(person)
    table = await worker.challenges.open_table("testa", ANNA.id, "Cavallo 1", "open")
    await worker.challenges.sit(table.code, BRUNO.id, "Fante 2", "sit")
    await worker.room.resign_for(table.code, 1, "resign")
    await worker.settled()
    code = await challenge(worker)
    await worker.challenges.sit(code, BRUNO.id, "Bruno", "accept")
    chairs = (await worker.room.table(code)).chairs
    assert [chair and chair.name for chair in chairs] == ["Cavallo 1", "Fante 2"]


def _with_person(game: FinishedGame, seat: int, person: str) -> FinishedGame:
    people = list(game.people)
    people[seat] = person
    return replace(game, people=people)
