"""Limits for guests of the web pages, who must not fill the store."""

import asyncio

import pytest

from bot.http.addresses import Visitor
from bot.store import Store
from bot.store.entries import Clock
from bot.tables import Room, Table
from bot.tables.chairs import Chair
from bot.tables.challenges import Challenges
from bot.tables.clock import COME_BACK_SECONDS, GUEST_SECONDS, NEVER, next_alarm
from bot.tables.errors import StoreFull, TooManyFromAddress, TooManyTables
from bot.tables.limits import MAX_TABLES_OF_GUEST
from tests.bot.full_store import full_store

HOME = Visitor.from_address("192.0.2.1")
NEXT_DOOR = Visitor.from_address("192.0.2.77")
ELSEWHERE = Visitor.from_address("198.51.100.9")


@pytest.fixture
def challenges(store: Store, monkeypatch: pytest.MonkeyPatch) -> Challenges:
    monkeypatch.setattr("bot.tables.table_lists.MAX_FROM_ADDRESS", 3)
    monkeypatch.setattr("bot.tables.table_lists.NETWORK_FACTOR", 2)
    monkeypatch.setattr("bot.tables.table_lists.FULL_SECONDS", 0)
    return Challenges(Room(store))


async def open_practice(challenges: Challenges, number: int, visitor: Visitor | None, guest: str = "") -> Table:
    person = guest or f"web:{number}"
    return await challenges.open_practice("testa", person, "Ada", "easy", f"open {number}", visitor=visitor)


async def test_guest_has_a_low_table_limit(challenges: Challenges) -> None:
    for number in range(MAX_TABLES_OF_GUEST):
        await open_practice(challenges, number, None, "web:1")
    with pytest.raises(TooManyTables, match=f"{MAX_TABLES_OF_GUEST} tables"):
        await open_practice(challenges, 99, None, "web:1")
    await open_practice(challenges, 100, None, "web:2")


async def test_address_and_network_have_table_limits(challenges: Challenges) -> None:
    tables = [await open_practice(challenges, number, HOME) for number in range(3)]
    with pytest.raises(TooManyFromAddress):
        await open_practice(challenges, 3, HOME)
    # A redelivered update opens no new table.
    assert (await open_practice(challenges, 0, HOME)).code == tables[0].code
    for number in range(10, 13):
        await open_practice(challenges, number, NEXT_DOOR)
    with pytest.raises(TooManyFromAddress):
        await open_practice(challenges, 13, Visitor.from_address("192.0.2.200"))
    await open_practice(challenges, 20, ELSEWHERE)


async def test_finished_table_frees_the_address_limit(challenges: Challenges) -> None:
    tables = [await open_practice(challenges, number, HOME) for number in range(3)]
    room = challenges._room
    after = await room.close(tables[0].code, "host")
    assert after.phase == "over"
    await open_practice(challenges, 4, HOME)


async def test_concurrent_openings_respect_the_address_limit(challenges: Challenges) -> None:
    results = await asyncio.gather(*(open_practice(challenges, n, HOME) for n in range(20)), return_exceptions=True)
    assert sum(isinstance(result, Table) for result in results) == 3
    assert {type(result) for result in results if not isinstance(result, Table)} == {TooManyFromAddress}


async def test_store_keeps_no_plain_address(store: Store, challenges: Challenges) -> None:
    await open_practice(challenges, 1, HOME)
    names = [key async for key in store.client.scan_iter("opened_from:*")]
    assert len(names) == 2
    for name in names:
        # A guest's table of a duel lives two weeks.
        assert await store.client.ttl(name) > 14 * 86400
    assert not [key async for key in store.client.scan_iter("*192.0.2*")]


async def test_full_store_refuses_tables_but_accepts_moves(store: Store, challenges: Challenges) -> None:
    table = await open_practice(challenges, 1, None)
    try:
        used = (await store.client.info("memory"))["used_memory"]
        await store.client.config_set("maxmemory", int(used / 0.95))
        await store.memory.check()
        with pytest.raises(StoreFull):
            await open_practice(challenges, 2, None)

        # A redelivered update opens no new table.
        assert (await open_practice(challenges, 1, None)).code == table.code
        after = await challenges._room.close(table.code, "host")
        assert after.phase == "over"

        # A store that evicts keys never refuses writes, so it never counts as full.
        await store.client.config_set("maxmemory-policy", "allkeys-lru")
        await store.memory.check()
        assert not store.memory.is_full
    finally:
        await store.client.config_set("maxmemory", 0)
        await store.client.config_set("maxmemory-policy", "noeviction")
    await store.memory.check()
    await open_practice(challenges, 3, None)


PLAYERS = [Chair("telegram:1", "Ada"), Chair("telegram:2", "Bea")]


@pytest.mark.parametrize("kind", ["table", "practice", "matched", "fixture"])
async def test_full_store_refuses_every_kind_of_table(store: Store, challenges: Challenges, kind: str) -> None:
    async def open_table(update: str) -> Table:
        if kind == "table":
            return await challenges.open_table("testa", "telegram:1", "Ada", update)
        if kind == "practice":
            return await open_practice(challenges, int(update), None)
        if kind == "matched":
            return await challenges.open_matched("testa", PLAYERS, update)
        return await challenges.open_fixture("testa", PLAYERS, update, setup=[])

    table = await open_table("1")
    async with full_store(store):
        with pytest.raises(StoreFull):
            await open_table("2")
        # A redelivered update opens no new table.
        assert (await open_table("1")).code == table.code
    await open_table("2")


async def test_rematch_of_guests_counts_for_their_address(challenges: Challenges) -> None:
    guests = [Chair("web:1", "Ada"), Chair("web:2", "Bea")]
    for number in range(3):
        await challenges.open_matched("testa", guests, f"again:{number}", reopen=True, visitor=HOME)
    with pytest.raises(TooManyFromAddress):
        await challenges.open_matched("testa", guests, "again:3", reopen=True, visitor=HOME)
    await challenges.open_matched("testa", guests, "again:3", reopen=True, visitor=ELSEWHERE)


async def test_guest_practice_ends_after_a_day(challenges: Challenges) -> None:
    table = await open_practice(challenges, 1, None)
    assert next_alarm(table, Table(table.code), 1.0) in (GUEST_SECONDS, 1.0)
    chat_table = await open_practice(challenges, 2, None, "telegram:1")
    assert next_alarm(chat_table, Table(chat_table.code), 1.0) in (COME_BACK_SECONDS, 1.0)


async def test_abandoned_game_of_guests_ends(store: Store, challenges: Challenges) -> None:
    room = challenges._room
    table = await challenges.open_table("testa", "web:1", "Ada", "open", setup=[Clock(0, strict=False)])
    table = await challenges.sit(table.code, "web:2", "Bea", "sit")
    assert table.phase == "playing"
    assert next_alarm(table, table, 1.0) == GUEST_SECONDS
    ended = await room.handle_alarm(table.code, table.version)
    assert ended.phase == "over"
    assert ended.game
    assert ended.game.ending == "cancelled"


async def test_game_with_a_chat_player_does_not_end(challenges: Challenges) -> None:
    table = await challenges.open_table("testa", "web:1", "Ada", "open", setup=[Clock(0, strict=False)])
    table = await challenges.sit(table.code, "telegram:2", "Bea", "sit")
    assert next_alarm(table, table, 1.0) == NEVER
    assert (await challenges._room.handle_alarm(table.code, table.version)).phase == "playing"
