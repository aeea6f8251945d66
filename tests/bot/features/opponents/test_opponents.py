"""Recent opponents: who is listed, and what a challenge to them sends."""

from dataclasses import replace
from typing import Literal

import pytest
from cachetools import TTLCache

from bot.features.opponents.feature import OpponentsFeature
from bot.features.opponents.site import PAUSE_SECONDS, OpponentsSite, can_challenge
from bot.finished.game import FinishedGame
from bot.platform import Person, private_place
from bot.store import Store
from bot.store.entries import AnyoneCanSit
from bot.tables.errors import TableError
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, open_worker
from tests.open_playground import cut_pack

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
    await worker.wait_until_idle()


async def challenge(worker: Worker, person: Person = ANNA, index: int = 0) -> str:
    line = (await site_of(worker).opponents(person.id, "en"))[index]
    code, refusal = await site_of(worker).challenge(person, line.game_id, line.seat)
    assert not refusal
    await worker.wait_until_idle()
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


@pytest.mark.parametrize("is_declined", [True, False], ids=["declined", "withdrawn"])
async def test_unplayed_challenge_delays_the_next_one(worker: Worker, is_declined: bool) -> None:
    await play(worker, ANNA, BRUNO)
    code = await challenge(worker)
    if is_declined:
        await worker.challenges.decline(code, BRUNO.id, "", "no")
    else:
        await worker.challenges.cancel(code, ANNA.id, "no")
    await worker.wait_until_idle()
    assert await site_of(worker).challenges_to(BRUNO.id, "en") == []
    [line] = await site_of(worker).opponents(ANNA.id, "en")
    _code, refusal = await site_of(worker).challenge(ANNA, line.game_id, line.seat)
    assert "a few hours" in refusal
    # The other person can challenge in the meantime.
    assert await challenge(worker, BRUNO)
    for key in await worker.store.client.keys("opponents:asked:*"):
        assert 0 < await worker.store.client.ttl(key) <= PAUSE_SECONDS
        await worker.store.client.delete(key)
    assert await challenge(worker) != code


async def test_played_challenge_does_not_delay_the_next_one(worker: Worker) -> None:
    await play(worker, ANNA, BRUNO)
    code = await challenge(worker)
    await worker.challenges.sit(code, BRUNO.id, "Bruno", "accept")
    await cut_pack(worker, code)
    await worker.room.resign_for(code, 1, "resign")
    await worker.wait_until_idle()
    assert await challenge(worker) != code


async def test_block_hides_a_waiting_challenge(worker: Worker) -> None:
    await play(worker, ANNA, BRUNO)
    await challenge(worker)
    await worker.blocks.add(BRUNO.id, ANNA.id, "Anna")
    assert await site_of(worker).challenges_to(BRUNO.id, "en") == []


async def test_blocked_reader_never_sees_who_is_here(worker: Worker) -> None:
    await play(worker, ANNA, BRUNO)
    worker.presence.note(BRUNO.id)
    await worker.presence.exchange()
    assert [line.is_here for line in await site_of(worker).opponents(ANNA.id, "en")] == [True]
    await worker.blocks.add(BRUNO.id, ANNA.id, "Anna")
    assert [line.is_here for line in await site_of(worker).opponents(ANNA.id, "en")] == [False]


async def test_challenge_does_not_reveal_a_block_to_its_sender(worker: Worker) -> None:
    await play(worker, ANNA, BRUNO)
    await play(worker, ANNA, CARLA)
    await worker.blocks.add(BRUNO.id, ANNA.id, "Anna")
    tables = [await worker.room.table(await challenge(worker, ANNA, index)) for index in (0, 1)]
    assert len({table.hosts for table in tables}) == 2
    assert [await worker.watching.watch_id(table) for table in tables] == ["", ""]


async def test_list_is_cached_except_for_blocks(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    site = OpponentsSite(worker.archive, worker.people, worker.room, worker.challenges, worker.blocks, worker.presence)
    monkeypatch.setattr(site, "_known", TTLCache(10, 60.0))
    await play(worker, ANNA, BRUNO)
    await site.opponents(ANNA.id, "en")
    monkeypatch.setattr(type(worker.archive), "numbers_of", None)
    assert len(await site.opponents(ANNA.id, "en")) == 1
    # A block takes effect at once.
    await worker.blocks.add(ANNA.id, BRUNO.id, "Bruno")
    assert await site.opponents(ANNA.id, "en") == []


@pytest.mark.parametrize(
    ("chats", "fixture", "origin", "can"),
    [
        ([GROUP], "", "", True),
        ([], "", "page", True),
        ([], "", "", False),
        ([GROUP], "K7QF2M 1 0 0", "", False),
    ],
    ids=["group", "link", "open table", "tournament"],
)
async def test_private_chats_are_not_for_strangers(
    worker: Worker, chats: list[str], fixture: str, origin: Literal["", "page"], can: bool
) -> None:
    await play(worker, ANNA, BRUNO)
    [line] = await site_of(worker).opponents(ANNA.id, "en")
    game = await worker.archive.require(line.game_id)
    game = replace(_with_person(game, line.seat, "telegram:5"), chats=chats, fixture="", origin=origin)
    if fixture:
        object.__setattr__(game, "fixture", fixture)
    assert can_challenge(game, ANNA.id, line.seat) is can


async def test_game_of_an_open_table_names_no_chat(worker: Worker) -> None:
    for person in (ANNA, BRUNO):
        await worker.people.meet(person)
    table = await worker.challenges.open_table("testa", ANNA.id, "Anna", "open")
    await worker.room.commit(table.code, "anyone", lambda _table: [AnyoneCanSit()])
    await worker.challenges.sit(table.code, BRUNO.id, "Bruno", "sit")
    await worker.room.resign_for(table.code, 1, "resign")
    await worker.wait_until_idle()
    [line] = await site_of(worker).opponents(ANNA.id, "en")
    assert (await worker.archive.require(line.game_id)).origin == ""


async def test_games_of_others_and_unknown_ones_get_one_answer(worker: Worker) -> None:
    await play(worker, CARLA, BRUNO)
    [line] = await site_of(worker).opponents(CARLA.id, "en")
    answers = [await site_of(worker).challenge(ANNA, game, 0) for game in (line.game_id, "QQQQQQ-1")]
    assert answers == [("", "This player is no longer here.")] * 2


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
    await worker.wait_until_idle()
    code = await challenge(worker)
    await worker.challenges.sit(code, BRUNO.id, "Bruno", "accept")
    chairs = (await worker.room.table(code)).chairs
    assert [chair and chair.name for chair in chairs] == ["Cavallo 1", "Fante 2"]


def _with_person(game: FinishedGame, seat: int, person: str) -> FinishedGame:
    people = list(game.people)
    people[seat] = person
    return replace(game, people=people)
