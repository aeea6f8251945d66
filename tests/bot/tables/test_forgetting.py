"""Tables after a person is forgotten, by the person's role."""

from random import Random

import pytest

from bot.identity.pseudonyms import NAME
from bot.store import Store
from bot.tables import Room, Table
from bot.tables.chairs import Invited
from bot.tables.challenges import Challenges
from bot.tables.forgetting import remove_person

ADA, BEA, CLEO, DORA = "p:1", "p:2", "p:3", "p:4"
PSEUDONYM = "p:nobody"


@pytest.fixture
def room(store: Store) -> Room:
    return Room(store, Random(0).randbytes)


@pytest.fixture
def challenges(room: Room) -> Challenges:
    return Challenges(room)


async def leave_table(room: Room, table: Table, person: str, handle: str = "") -> Table:
    """Remove a person from a table twice. Return the table after checking that it does not contain the person's id."""
    assert await remove_person(room, table.code, person, handle, PSEUDONYM)
    assert not await remove_person(room, table.code, person, handle, PSEUDONYM)
    after = await room.load(table.code)
    assert person.encode() not in b"".join(after.log.entries)
    assert not after.error
    return after


async def test_forgetting_cancels_own_challenge(room: Room, challenges: Challenges) -> None:
    table = await challenges.open_table("tavolo", BEA, "Bea", "open")
    after = await leave_table(room, table, BEA)
    assert (after.phase, after.closed, after.opener.name) == ("closed", "cancelled", NAME)


@pytest.mark.parametrize("invited", [Invited(BEA, "", "Bea"), Invited("", "bea", "Bea")])
async def test_forgetting_declines_a_received_challenge(room: Room, challenges: Challenges, invited: Invited) -> None:
    table = await challenges.open_table("testa", ADA, "Ada", "open", invited=invited)
    assert (await leave_table(room, table, BEA, "bea")).closed == "declined"


async def test_forgetting_keeps_a_four_player_challenge_open(room: Room, challenges: Challenges) -> None:
    table = await challenges.open_table("tavolo", ADA, "Ada", "open", invited=Invited(BEA, "", "Bea"))
    assert (await leave_table(room, table, BEA)).phase == "open"


async def test_forgetting_frees_the_seat(room: Room, challenges: Challenges) -> None:
    table = await challenges.open_table("tressette", CLEO, "Cleo", "open")
    await challenges.sit(table.code, BEA, "Bea", "u1", 1)
    table = await challenges.sit(table.code, DORA, "Dora", "u2", 2)
    after = await leave_table(room, table, BEA)
    assert after.phase == "open"
    assert [chair.name if chair else "" for chair in after.chairs] == ["Cleo", "", "Dora", ""]


async def test_forgetting_withdraws_only_the_persons_seat_request(room: Room, challenges: Challenges) -> None:
    table = await challenges.open_table("tavolo", ADA, "Ada", "open")
    await challenges.sit(table.code, CLEO, "Cleo", "u1", 1)
    await challenges.sit(table.code, BEA, "Bea", "u2", 2)
    table = await challenges.sit(table.code, DORA, "Dora", "u3", 3)
    assert {*table.asking} == {2, 3}
    after = await leave_table(room, table, BEA)
    assert {place: chair.person for place, chair in after.asking.items()} == {3: DORA}
    assert after.seat_of(CLEO) == 1


@pytest.mark.parametrize("person", [ADA, BEA])
async def test_forgetting_resigns_a_running_game(room: Room, challenges: Challenges, person: str) -> None:
    table = await challenges.open_table("testa", ADA, "Ada", "open")
    table = await challenges.sit(table.code, BEA, "Bea", "u1")
    seat = table.seat_of(person)
    assert seat is not None
    after = await leave_table(room, table, person)
    assert after.game
    assert (after.phase, after.game.ending, after.game.winner) == ("over", "resign", (1 - seat,))
    chair = after.chairs[seat]
    assert chair
    assert chair.name == NAME


@pytest.mark.parametrize("person", [BEA, "a:2", "z:2"])
async def test_forgetting_keeps_the_result_of_a_finished_game(room: Room, challenges: Challenges, person: str) -> None:
    table = await challenges.open_table("testa", ADA, "Ada", "open")
    await challenges.sit(table.code, person, "Bea", "u1")
    await leave_table(room, await room.load(table.code), ADA)
    after = await leave_table(room, await room.load(table.code), person)
    assert after.game
    assert after.game.winner == (1,)


async def test_forgetting_redacts_update_keys_except_the_opening(room: Room, challenges: Challenges) -> None:
    table = await challenges.open_table("tressette", ADA, "Ada", "again:2")
    await challenges.sit(table.code, BEA, "Bea", "pg2.1", 1)
    await challenges.stand_up(table.code, BEA, "pg2.2")
    table = await challenges.sit(table.code, CLEO, "Cleo", "pg22.1", 1)
    after = await leave_table(room, table, BEA)
    assert b"pg2." not in b"".join(after.log.entries)
    assert after.log.has_update("pg22.1")
    assert await challenges.find_opened_table("again:2")


async def test_forgetting_an_unrelated_table_changes_nothing(room: Room, challenges: Challenges) -> None:
    table = await challenges.open_table("tavolo", ADA, "Ada", "open")
    assert not await remove_person(room, table.code, BEA, "bea", PSEUDONYM)
    assert (await room.load(table.code)).version == table.version


async def test_forgetting_is_retried_after_a_concurrent_change(
    room: Room, challenges: Challenges, store: Store
) -> None:
    table = await challenges.open_table("tressette", ADA, "Ada", "open")
    await challenges.sit(table.code, BEA, "Bea", "u1", 1)
    rewrite, other_rooms = room.rewrite, [Room(store, Random(1).randbytes)]

    async def sit_then_rewrite(*args: object) -> bool:
        if other_rooms:
            await Challenges(other_rooms.pop()).sit(table.code, CLEO, "Cleo", "u2", 2)
        return await rewrite(*args)  # type: ignore[arg-type]

    room.rewrite = sit_then_rewrite  # type: ignore[method-assign, assignment]
    after = await leave_table(room, table, BEA)
    assert (after.seat_of(CLEO), after.chairs[1]) == (2, None)
