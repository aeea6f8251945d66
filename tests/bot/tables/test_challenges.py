"""Tables before the deal: permissions, limits and their effects."""

from random import Random

import pytest

from bot.store import Store, keys
from bot.store.entries import DEFAULT_CLOCK_SECONDS
from bot.store.index import SETTLED_SECONDS
from bot.tables import Room, Table
from bot.tables.chairs import Chair, Invited
from bot.tables.challenges import Challenges
from bot.tables.clock import CLOCKS
from bot.tables.errors import (
    AlreadyAsking,
    AlreadyPlaying,
    ChairTaken,
    LastSeatAsked,
    NobodyAsks,
    NoSuchClock,
    NoSuchTable,
    NotYoursToDecide,
    OldPanel,
    OnlyTheChallenger,
    OpenedTooOften,
    OthersAreSeated,
    TooManyChallenges,
    TooManyChanges,
    TooManyChats,
    TooManyTables,
)
from bot.tables.limits import MAX_CHANGES, MAX_HOSTS, MAX_TABLES
from engine import GAMES

ADA, BEA, CLEO, DORA = "p:1", "p:2", "p:3", "p:4"


@pytest.fixture
def room(store: Store) -> Room:
    return Room(store, Random(0).randbytes)


@pytest.fixture
def challenges(room: Room) -> Challenges:
    return Challenges(room)


async def open_table(room: Room, game: str = "tavolo", **options: object) -> Table:
    return await Challenges(room).open_table(game, ADA, "Ada", "open", **options)  # type: ignore[arg-type]


async def codes_of(room: Room, person: str) -> list[str]:
    """Return the codes of the tables on a person's list."""
    return [table.code for table in await room.lists.tables_of(person)]


async def test_table_opens_with_the_given_options(room: Room) -> None:
    table = await open_table(room, "tressette", host="p:100", seat=2, invited=Invited("", "bea", " Bea\n"))
    assert table.hosts == ("p:100",)
    assert table.seat_of(ADA) == 2
    assert table.invited == Invited("", "bea", "Bea")
    assert await codes_of(room, ADA) == [table.code]
    assert [table.code for table in await room.lists.tables_at("p:100")] == [table.code]


async def test_repeatable_update_reopens_a_removed_table(room: Room, challenges: Challenges) -> None:
    table = await challenges.open_table("testa", ADA, "Ada", "again", reopen=True)
    assert (await challenges.open_table("testa", ADA, "Ada", "again", reopen=True)).code == table.code
    assert await challenges.find_opened_table("again")
    await room.remove(await challenges.cancel(table.code, ADA, "cancel"))
    assert await challenges.find_opened_table("again") is None
    other = await challenges.open_table("testa", ADA, "Ada", "again", reopen=True)
    assert other.code != table.code
    reopened = await challenges.find_opened_table("again")
    assert reopened
    assert reopened.code == other.code


@pytest.mark.parametrize("method", ["open_table", "open_matched", "open_fixture"])
async def test_repeatable_update_opens_a_limited_number_of_tables(
    room: Room, challenges: Challenges, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr("bot.tables.opening.MAX_OF_UPDATE", 3)
    people = [Chair(ADA, "Ada"), Chair(BEA, "Bea")]

    async def open_next() -> Table:
        if method == "open_table":
            return await challenges.open_table("testa", ADA, "Ada", "again", reopen=True)
        if method == "open_matched":
            return await challenges.open_matched("testa", people, "again", reopen=True)
        return await challenges.open_fixture("testa", people, "again", setup=[], reopen=True)

    codes = set()
    for _ in range(3):
        table = await open_next()
        codes.add(table.code)
        await room.remove(table)
    assert len(codes) == 3
    with pytest.raises(OpenedTooOften):
        await open_next()
    assert await challenges.find_opened_table("again") is None


async def test_update_of_a_removed_table_opens_no_other(room: Room) -> None:
    table = await open_table(room)
    await room.remove(table)
    with pytest.raises(NoSuchTable, match=table.code):
        await open_table(room)


async def test_only_the_opener_chooses_a_known_clock(room: Room, challenges: Challenges) -> None:
    table = await open_table(room)
    with pytest.raises(NoSuchClock):
        await challenges.choose_clock(table.code, ADA, 7, False, "u1")
    with pytest.raises(OnlyTheChallenger):
        await challenges.choose_clock(table.code, BEA, 60, False, "u2")
    table = await challenges.choose_clock(table.code, ADA, 60, False, "u3")
    assert (table.clock, table.strict) == (60, False)
    assert (await challenges.choose_clock(table.code, ADA, 60, False, "u4")).version == table.version
    assert (await challenges.choose_clock(table.code, ADA, 60, True, "u5")).strict
    assert DEFAULT_CLOCK_SECONDS in CLOCKS


async def test_choosing_the_current_value_adds_no_entry(room: Room, challenges: Challenges) -> None:
    table = await open_table(room, "testa")
    assert (await challenges.choose_game(table.code, ADA, "testa", "u1")).version == table.version
    table = await challenges.choose_rule(table.code, ADA, "target=21", "u2")
    assert (await challenges.choose_rule(table.code, ADA, "target=21", "u3")).version == table.version
    # Choosing the same game resets its options.
    assert (await challenges.choose_game(table.code, ADA, "testa", "u4")).rules == {}


async def test_any_game_and_value_can_be_chosen(room: Room, challenges: Challenges) -> None:
    table = await open_table(room, "testa")
    for number, game in enumerate([*GAMES, *reversed(GAMES)]):
        if game != table.game_id:
            table = await challenges.choose_game(table.code, ADA, game, f"game {number}")
            assert (table.game_id, len(table.chairs)) == (game, GAMES[game].seats)
    table = await challenges.choose_game(table.code, ADA, "testa", "testa")
    for value in (31, 11, 21):
        table = await challenges.choose_rule(table.code, ADA, f"target={value}", f"target {value}")
        assert table.rules == {"target": value}


@pytest.mark.parametrize("person", [ADA, CLEO])
async def test_only_the_opener_changes_a_table(challenges: Challenges, person: str) -> None:
    table = await challenges.open_table("tressette", BEA, "Bea", "open")
    await challenges.sit(table.code, person, "Somebody", "sit")
    for attempt in (
        challenges.choose_game(table.code, person, "tavolo", "u1"),
        challenges.choose_rule(table.code, person, "target=21", "u2"),
        challenges.choose_clock(table.code, person, 60, False, "u3"),
        challenges.add_robot(table.code, person, "easy", ["Gino"], "u4"),
        challenges.cancel(table.code, person, "u5"),
    ):
        with pytest.raises(OnlyTheChallenger, match="Bea"):
            await attempt
    after = await challenges.stand_up(table.code, person, "stand")
    assert (after.phase, after.people) == ("open", {BEA})


async def test_lists_skip_tables_whose_log_disagrees(room: Room, challenges: Challenges) -> None:
    table = await open_table(room, "tressette", host="p:200/7")
    await challenges.sit(table.code, CLEO, "Cleo", "u1", host="p:400")
    for chat in ("p:100", "p:200", "p:300", "p:400", "p:500"):
        await room.store.index.reserve(keys.tables_of_chat(chat), table.code)
        codes = [table.code for table in await room.lists.tables_at(chat)]
        assert codes == ([table.code] if chat in ("p:200", "p:400") else [])
    for person in ("p:0", ADA, BEA, CLEO, DORA):
        await room.store.index.reserve(keys.tables_of_person(person), table.code)
        assert await codes_of(room, person) == ([table.code] if person in (ADA, CLEO) else [])


async def test_only_the_partner_answers_a_seat_request(room: Room, challenges: Challenges) -> None:
    table = await open_table(room)
    for seat, person in ((1, BEA), (2, CLEO), (3, DORA)):
        table = await challenges.sit(table.code, person, "Somebody", f"sit {seat}", seat)
    assert {*table.asking} == {2, 3}
    for seat, stranger in ((2, BEA), (3, ADA)):
        with pytest.raises(NotYoursToDecide):
            await challenges.answer(table.code, stranger, seat, True, f"not the partner {seat}")
    # The opponents next to the seat cannot answer either.
    await challenges.answer(table.code, BEA, 3, True, "u1")
    with pytest.raises(NotYoursToDecide):
        await challenges.answer(table.code, DORA, 2, True, "u2")
    assert (await challenges.answer(table.code, ADA, 2, True, "u3")).phase == "playing"


async def test_smaller_game_needs_an_unseated_second_person(room: Room, challenges: Challenges) -> None:
    table = await open_table(room, "tressette")
    await challenges.sit(table.code, BEA, "Bea", "u1", 1)
    with pytest.raises(OthersAreSeated):
        await challenges.choose_game(table.code, ADA, "spades", "u2")
    assert (await challenges.choose_game(table.code, ADA, "tavolo", "u3")).seat_of(BEA) == 1
    await challenges.stand_up(table.code, BEA, "u4")
    await challenges.add_robot(table.code, ADA, "easy", ["Gino"], "u5")
    assert (await challenges.choose_game(table.code, ADA, "spades", "u6")).phase == "playing"


async def test_challenge_has_a_change_limit(room: Room, challenges: Challenges) -> None:
    table = await open_table(room)
    for number in range(MAX_CHANGES - table.version):
        table = await challenges.choose_clock(table.code, ADA, 60, number % 2 == 0, f"u{number}")
    assert table.version == MAX_CHANGES
    with pytest.raises(TooManyChanges):
        await challenges.choose_clock(table.code, ADA, 1800, False, "u")
    assert (await challenges.choose_clock(table.code, ADA, table.clock, table.strict, "same")).version == MAX_CHANGES


async def test_tavolo_asks_the_partner_before_seating(room: Room, challenges: Challenges) -> None:
    table = await open_table(room)
    table = await challenges.sit(table.code, BEA, "Bea", "u1", 2)
    assert (table.seat_of(BEA), table.asking) == (None, {2: Chair(BEA, "Bea")})
    with pytest.raises(AlreadyAsking):
        await challenges.sit(table.code, BEA, "Bea", "u2", 1)
    with pytest.raises(ChairTaken, match="Bea"):
        await challenges.sit(table.code, CLEO, "Cleo", "u3", 2)
    table = await challenges.sit(table.code, CLEO, "Cleo", "u4")
    assert table.seat_of(CLEO) == 1
    with pytest.raises(NotYoursToDecide):
        await challenges.answer(table.code, CLEO, 2, True, "u5")
    with pytest.raises(NobodyAsks):
        await challenges.answer(table.code, ADA, 3, True, "u6")
    table_after = await challenges.answer(table.code, ADA, 2, False, "u7")
    assert (table_after.asking, table_after.chairs[2], table_after.refusals) == ({}, None, (1, 0))
    await challenges.sit(table.code, BEA, "Bea", "u8", 2)
    table = await challenges.answer(table.code, ADA, 2, True, "u9")
    assert (table.seat_of(BEA), table.asking) == (2, {})
    with pytest.raises(OldPanel):
        await challenges.answer(table.code, ADA, 2, True, "answered")
    await challenges.sit(table.code, DORA, "Dora", "u10")
    with pytest.raises(NotYoursToDecide):
        await challenges.answer(table.code, ADA, 3, True, "u13")
    table = await challenges.answer(table.code, CLEO, 3, True, "u11")
    assert table.phase == "playing"
    with pytest.raises(AlreadyPlaying):
        await challenges.answer(table.code, CLEO, 3, True, "u12")


async def test_robot_takes_the_first_free_seat_with_an_unused_name(room: Room, challenges: Challenges) -> None:
    table = await open_table(room, "tressette")
    with pytest.raises(OnlyTheChallenger):
        await challenges.add_robot(table.code, BEA, "easy", ["Gino", "Pina"], "u1")
    for number, name in enumerate(("Gino", "Pina")):
        table = await challenges.add_robot(table.code, ADA, "easy", ["Ada", "Gino", "Pina"], f"r{number}")
        assert table.chairs[number + 1] == Chair("robot:easy", name)
    table = await challenges.add_robot(table.code, ADA, "easy", ["Gino"], "r2")
    assert table.chairs[3] == Chair("robot:easy", "Gino")
    assert table.phase == "playing"


async def test_tavolo_robot_also_asks_the_partner(room: Room, challenges: Challenges) -> None:
    table = await open_table(room)
    await challenges.sit(table.code, BEA, "Bea", "u1", 1)
    table = await challenges.add_robot(table.code, ADA, "easy", ["Gino"], "u2")
    assert table.asking == {2: Chair("robot:easy", "Gino")}
    table = await challenges.add_robot(table.code, ADA, "easy", ["Gino", "Pina"], "u3")
    assert table.asking[3] == Chair("robot:easy", "Pina")
    with pytest.raises(LastSeatAsked):
        await challenges.add_robot(table.code, ADA, "easy", ["Nino"], "u4")


async def test_table_has_a_host_limit_and_no_duplicates(room: Room, challenges: Challenges) -> None:
    table = await open_table(room, host="p:100")
    for number in range(101, 100 + MAX_HOSTS):
        table = await challenges.add_host(table.code, f"p:{number}", f"u{number}")
    assert len(table.hosts) == MAX_HOSTS
    assert (await challenges.add_host(table.code, "p:100", "u1")).version == table.version
    with pytest.raises(TooManyChats):
        await challenges.add_host(table.code, "p:200", "u2")
    assert await room.lists.tables_at("p:200") == []
    table = await challenges.move_host(table.code, "p:101", "p:900", "u3")
    assert table.hosts[:3] == ("p:100", "p:900", "p:102")
    assert (await challenges.move_host(table.code, "p:101", "p:900", "u4")).version == table.version


async def test_sitting_from_another_chat_adds_it_as_host(room: Room, challenges: Challenges) -> None:
    table = await open_table(room, "tressette", host="p:100")
    table = await challenges.sit(table.code, BEA, "Bea", "u1", host="p:101")
    assert table.hosts == ("p:100", "p:101")
    assert [table.code for table in await room.lists.tables_at("p:101")] == [table.code]


async def test_standing_frees_a_seat_and_the_opener_closes_the_table(room: Room, challenges: Challenges) -> None:
    table = await open_table(room, "tressette")
    await challenges.sit(table.code, BEA, "Bea", "u1")
    assert await codes_of(room, BEA) == [table.code]
    table = await challenges.stand_up(table.code, BEA, "u2")
    assert (table.phase, table.seat_of(BEA)) == ("open", None)
    assert not await room.store.index.entries(keys.tables_of_person(BEA))
    table = await challenges.stand_up(table.code, ADA, "u3")
    assert (table.phase, table.closed) == ("closed", "cancelled")
    assert await codes_of(room, ADA) == []
    with pytest.raises(NoSuchTable):
        await challenges.sit(table.code, BEA, "Bea", "u4")


async def test_seat_request_lists_the_table_until_refused(room: Room, challenges: Challenges) -> None:
    table = await open_table(room)
    await challenges.sit(table.code, BEA, "Bea", "u1", 2)
    assert await codes_of(room, BEA) == [table.code]
    # Others can sit down in the meantime, under any id.
    await challenges.sit(table.code, "p:0", "Zoe", "u2", 1)
    await challenges.sit(table.code, DORA, "Dora", "u3", 3)
    await challenges.answer(table.code, ADA, 2, False, "u4")
    # The other pending request does not keep the table on Bea's list.
    assert await codes_of(room, BEA) == []
    assert await codes_of(room, DORA) == [table.code]


@pytest.mark.parametrize("game", ["tressette", "tavolo"])
async def test_four_player_challenge_leaves_other_seats_open(room: Room, challenges: Challenges, game: str) -> None:
    table = await open_table(room, game, invited=Invited(BEA, "", "Bea"))
    assert (await challenges.sit(table.code, CLEO, "Cleo", "u1", 1)).seat_of(CLEO) == 1


async def test_only_opener_cancels_and_only_invitee_declines(room: Room, challenges: Challenges) -> None:
    table = await open_table(room, "testa", invited=Invited(BEA, "", "Bea"))
    with pytest.raises(OnlyTheChallenger):
        await challenges.cancel(table.code, BEA, "u1")
    with pytest.raises(NotYoursToDecide):
        await challenges.decline(table.code, CLEO, "", "u2")
    assert (await challenges.decline(table.code, BEA, "", "u3")).closed == "declined"
    other = await challenges.open_table("testa", ADA, "Ada", "open 2")
    assert (await challenges.cancel(other.code, ADA, "u4")).closed == "cancelled"


async def test_running_game_refuses_challenge_actions(room: Room, challenges: Challenges) -> None:
    table = await open_table(room, "testa")
    await challenges.sit(table.code, BEA, "Bea", "u1")
    for attempt in (
        challenges.stand_up(table.code, BEA, "u2"),
        challenges.cancel(table.code, ADA, "u3"),
        challenges.decline(table.code, BEA, "", "u4"),
        challenges.choose_clock(table.code, ADA, 60, False, "u5"),
        challenges.choose_game(table.code, ADA, "tavolo", "u6"),
    ):
        with pytest.raises(AlreadyPlaying):
            await attempt


async def test_person_has_a_table_limit(room: Room, challenges: Challenges) -> None:
    tables = [await challenges.open_table("testa", ADA, "Ada", f"open {number}") for number in range(MAX_TABLES)]
    with pytest.raises(TooManyTables):
        await challenges.open_table("testa", ADA, "Ada", "one more")
    # A redelivered update is accepted.
    assert (await challenges.open_table("testa", ADA, "Ada", "open 3")).code == tables[3].code
    await challenges.cancel(tables[0].code, ADA, "cancel")
    assert (await challenges.open_table("testa", ADA, "Ada", "now")).phase == "open"
    assert len(await codes_of(room, ADA)) == MAX_TABLES


async def test_chat_limit_counts_open_challenges_of_any_age(
    room: Room, challenges: Challenges, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.tables.table_lists.MAX_CHALLENGES", 2)
    table_of: dict[str, Table] = {}

    async def challenge(person: str, host: str) -> None:
        table = await challenges.open_table("testa", person, "Somebody", f"open {person}", host=host)
        table_of[person] = table
        # Make the index entry older, so that no commit can be in progress.
        key = keys.challenges(host)
        seconds, _, word = (await room.store.index.entries(key))[table.code].partition(".")
        await room.store.client.hset(key, table.code, f"{int(seconds) - SETTLED_SECONDS}.{word}")

    # All topics of a group count together, and other groups do not count.
    await challenge(ADA, "p:100/7")
    await challenge("p:9", "p:200")
    await challenge(BEA, "p:100")
    with pytest.raises(TooManyChallenges):
        await challenge(CLEO, "p:100/8")
    await challenges.sit(table_of[ADA].code, "p:5", "Eva", "sit")
    await challenge(CLEO, "p:100/8")
    with pytest.raises(TooManyChallenges):
        await challenge(DORA, "p:100")
    await challenges.cancel(table_of[BEA].code, BEA, "cancel")
    await challenge(DORA, "p:100")

    # In a private chat, only the person's own limit counts.
    for number in range(4):
        await challenges.open_table("testa", f"p:2{number}", "Somebody", f"private {number}", host="p:@1")
