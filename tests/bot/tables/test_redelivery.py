"""Updates can be redelivered at any time to any worker, but each operation happens once."""

import asyncio
import inspect
from collections.abc import Mapping
from contextlib import suppress
from random import Random
from typing import Any, NamedTuple

import pytest

from bot.parsing.challenge_form import FormChoices
from bot.store import Store, keys
from bot.store.entries import Fixture
from bot.store.log import STAMPS_KEPT
from bot.tables import Room, Table
from bot.tables.chairs import Chair
from bot.tables.challenges import Challenges
from bot.tables.errors import NoSuchTable, TooManyChanges
from bot.tables.limits import MAX_CHANGES, MAX_ENTRIES
from engine import GAMES, legal_moves_for_record
from engine.errors import EngineError
from tests.long import mostly_long

PEOPLE = ("p:0", "p:1", "p:2", "p:3", "p:4")
NAMES = ("Gino", "Pina", "Nino")
READING = {
    "rewrite",
    "move_host",
    "check_flagged",
    "remove",
    "table",
    "load_cached",
    "load",
    "load_recent",
    "resume",
    "remembers",
    "find_opened_table",
}
WRITING = {"commit", "open"}  # methods that write for the operations


class Operation(NamedTuple):
    """An operation with its arguments, which the room of any worker can repeat."""

    name: str
    arguments: tuple[object, ...]
    key: str
    options: Mapping[str, object] = {}

    async def __call__(self, room: Room) -> Table:
        target = room if hasattr(Room, self.name) else Challenges(room)
        table: Table = await getattr(target, self.name)(*self.arguments, **self.options)
        return table


class Updates:
    """Random updates at a few tables."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.processed: list[tuple[Operation, Table | None]] = []
        """Each operation with the table after it, or None if the operation was refused."""

    def next(self, table: Table | None) -> Operation:
        """Return a random update for a table, or one that opens a table."""
        random, key = self.random, f"u{len(self.processed)}"
        person = random.choice(PEOPLE)
        name = f"Person {person[2:]}"
        if table is None or random.random() < 0.05:
            game = random.choice(("testa", "tavolo", "tressette", "metamazzo"))
            if random.random() < 0.2:
                opponent = Chair(random.choice([candidate for candidate in PEOPLE if candidate != person]), "Tre 333")
                return Operation("open_matched", ("testa", (Chair(person, "Asso 111"), opponent), key), key)
            if random.random() < 0.2:
                chairs = [Chair(person, f"Person {person[2:]}") for person in random.sample(PEOPLE, GAMES[game].seats)]
                setup = {"setup": [Fixture("K7QF2M", 1, 0, 1, "p:100")]}
                return Operation("open_fixture", (game, chairs, key), key, setup)
            if random.random() < 0.2:
                return Operation("open_practice", (game, person, name, "easy", key), key)
            return Operation("open_table", (game, person, name, key), key)
        code, version = table.code, table.version
        chair = random.randrange(4)
        choices: dict[str, tuple[object, ...]] = {
            "choose_game": (code, person, random.choice(("testa", "tavolo", "spades")), key),
            "choose_rule": (code, person, "target=21", key),
            "choose_clock": (code, person, random.choice((60, 300)), random.random() < 0.5, key),
            "choose_terms": (code, person, FormChoices("testa", random.choice((0, 11)), 60), key),
            "choose_cuts": (code, person, random.random() < 0.7, key),
            "cut": (code, person, table.sealed_at, "c0ffee", key),
            "sit": (code, person, name, key, random.choice((None, chair))),
            "add_robot": (code, person, "easy", NAMES, key),
            "add_host": (code, f"p:{random.randrange(100, 104)}", key),
            "move_host": (code, "p:100", "p:900", key),
            "answer": (code, person, chair, random.random() < 0.7, key),
            "stand_up": (code, person, key),
            "cancel": (code, person, key),
            "cancel_open": (code, key),
            "decline": (code, person, "", key),
            "close": (code, key),
            "resign_for": (code, random.randrange(2), key),
            "end_overdue": (code, key),
            "say": (code, person, "hello", key),
            "claim_on_time": (code, person, key),
            "give_time": (code, person, key),
        }
        operation = random.choice([*choices, *["sit", "add_robot", "answer"] * 4])
        arguments = choices[operation]
        if table.awaits_cut and random.random() < 0.5:
            cutter = table.chairs[table.cutter or 0]
            assert cutter
            return Operation("cut", (code, cutter.person, table.sealed_at, "00", key), key)
        if table.awaits_cut and random.random() < 0.5:
            return Operation("handle_alarm", (code, version), f"clock:{version}")
        if table.game and table.game.turn is not None and random.random() < 0.8:
            return self._move(table, key, version)
        return Operation(operation, arguments, key)

    def _move(self, table: Table, key: str, version: int) -> Operation:
        assert table.game
        seat = table.game.turn
        if self.random.random() < 0.2:
            return Operation("handle_alarm", (table.code, version), f"clock:{version}")
        assert seat is not None
        move = self.random.choice(legal_moves_for_record(table.game, seat))
        chair = table.chairs[seat]
        assert chair
        if chair.is_robot or self.random.random() < 0.3:
            return Operation("make_moves_for", (table.code, seat, version, [move], key), key)
        return Operation("make_move", (table.code, chair.person, version, move, key), key)


async def stored_state(room: Room) -> dict[str, object]:
    """Return all table logs in the store, and the codes of each person's tables."""
    client = room.store.client
    state: dict[str, object] = {key: await client.lrange(key, 0, -1) async for key in client.scan_iter("{s*}:table:*")}
    for person in PEOPLE:
        state[person] = [table.code for table in await room.lists.tables_of(person)]
    return state


@pytest.mark.parametrize("seed", mostly_long(range(12), 0))
async def test_redelivered_update_changes_nothing(store: Store, seed: int) -> None:
    random = Random(seed)
    rooms = [Room(store, Random(0).randbytes) for _ in range(3)]
    updates = Updates(random)
    codes: list[str] = []
    for _ in range(150):
        table = await _any_table(rooms[0], random, codes)
        operation = updates.next(table)
        try:
            result = await operation(random.choice(rooms))
        except EngineError:
            updates.processed.append((operation, None))
        else:
            updates.processed.append((operation, result))
            if result.code not in codes:
                codes.append(result.code)
            if result.phase in ("over", "closed") and random.random() < 0.5:
                # The finished table is removed, so late updates find no table.
                await random.choice(rooms).remove(result)
        state = await stored_state(rooms[0])
        for done_operation, done_table in random.sample(updates.processed, min(4, len(updates.processed))):
            if (
                done_table
                and done_table.log.has_update(done_operation.key)
                and await _entries_since(store, done_table) < STAMPS_KEPT
            ):
                await _deliver_again(done_operation, random.choice(rooms))
                assert await stored_state(rooms[0]) == state, done_operation
    assert len([result for _, result in updates.processed if result]) > 30


async def _entries_since(store: Store, table: Table) -> int:
    return (await store.load(table.code)).version - table.version


async def _any_table(room: Room, random: Random, codes: list[str]) -> Table | None:
    for code in random.sample(codes, len(codes)):
        try:
            return await room.table(code)
        except NoSuchTable:
            continue
    return None


async def _deliver_again(operation: Operation, room: Room) -> None:
    """Repeat an operation. It must succeed, or the table must be gone."""
    try:
        await operation(room)
    except NoSuchTable:
        return


async def test_every_room_operation_is_redelivered_above() -> None:
    """A new operation of the room must be added to `Updates`."""
    operations = {
        name
        for kind in (Room, Challenges)
        for name, method in inspect.getmembers(kind, inspect.iscoroutinefunction)
        if not name.startswith("_") and name not in READING | WRITING
    }
    source = inspect.getsource(Updates)
    missing_names = {name for name in operations if f'"{name}"' not in source}
    assert not missing_names, f"Updates in this file must also try {missing_names}, or add them to READING"


async def test_one_update_at_three_workers_counts_once(store: Store) -> None:
    rooms = [Room(store, Random(0).randbytes) for _ in range(3)]
    tables = await asyncio.gather(
        *(Challenges(room).open_table("tavolo", "p:0", "Ada", "open", host="p:1") for room in rooms)
    )
    assert len({table.code for table in tables}) == 1
    code = tables[0].code
    for number in (1, 2, 3):
        tables = await asyncio.gather(
            *(Challenges(room).add_robot(code, "p:0", "easy", NAMES, f"robot {number}") for room in rooms)
        )
        assert len({table.version for table in tables}) == 1
    assert {table.phase for table in tables} <= {"open", "playing"}
    assert sum(chair is not None for chair in tables[0].chairs) + len(tables[0].asking) == 4


async def seated_tables(room: Room, person: str) -> list[str]:
    return [table.code for table in await room.lists.tables_of(person)]


async def test_redelivered_standing_up_keeps_the_new_seat(store: Store) -> None:
    rooms = [Room(store, Random(0).randbytes) for _ in range(2)]
    room = rooms[0]
    code = (await Challenges(room).open_table("tressette", "p:0", "Ada", "open")).code
    await Challenges(room).sit(code, "p:1", "Bea", "sit 1")
    await Challenges(room).sit(code, "p:2", "Carla", "sit 2")
    await Challenges(room).stand_up(code, "p:2", "stand")
    assert await seated_tables(room, "p:2") == []
    await Challenges(room).sit(code, "p:3", "Dino", "sit 3")
    for worker_room in rooms:
        # In the first pass the table is open, and in the second it is full.
        await Challenges(worker_room).sit(code, "p:2", "Carla", "sit 4")
        assert (await Challenges(worker_room).stand_up(code, "p:2", "stand")).seat_of("p:2") is not None
        for room in rooms:
            assert await seated_tables(room, "p:2") == [code]


@pytest.mark.parametrize("redelivered", [False, True])
async def test_sitting_while_standing_up_keeps_the_index_entry(
    store: Store, monkeypatch: pytest.MonkeyPatch, redelivered: bool
) -> None:
    """The person stands up between renewing the index entry and taking the seat."""
    sitting, standing = (Room(store, Random(0).randbytes) for _ in range(2))
    code = (await Challenges(sitting).open_table("tressette", "p:0", "Ada", "open")).code
    await Challenges(sitting).sit(code, "p:1", "Bea", "sit 1")
    if redelivered:
        await Challenges(standing).stand_up(code, "p:1", "stand")
    commit = sitting.commit

    async def stand_then_commit(*args: Any) -> Table:
        await Challenges(standing).stand_up(code, "p:1", "stand")
        return await commit(*args)

    monkeypatch.setattr(sitting, "commit", stand_then_commit)
    assert (await Challenges(sitting).sit(code, "p:1", "Bea", "sit 2")).seat_of("p:1") is not None
    assert await seated_tables(standing, "p:1") == [code]


async def test_late_release_keeps_a_newer_index_entry(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person sits down again after standing up is committed, but before the person's index entry is released."""
    room, other = (Room(store, Random(0).randbytes) for _ in range(2))
    code = (await Challenges(room).open_table("tressette", "p:0", "Ada", "open")).code
    await Challenges(room).sit(code, "p:1", "Bea", "sit 1")
    commit = room.commit

    async def commit_then_sit(*args: Any) -> Table:
        table = await commit(*args)
        await Challenges(other).sit(code, "p:1", "Bea", "sit 2")
        return table

    monkeypatch.setattr(room, "commit", commit_then_sit)
    await Challenges(room).stand_up(code, "p:1", "stand")
    assert await seated_tables(other, "p:1") == [code]


async def test_redelivered_robot_that_started_the_game_is_accepted(store: Store) -> None:
    first, second = (Room(store, Random(0).randbytes) for _ in range(2))
    table = await Challenges(first).open_table("testa", "p:0", "Ada", "open")
    await Challenges(first).add_robot(table.code, "p:0", "easy", NAMES, "robot")
    repeated = await Challenges(second).add_robot(table.code, "p:0", "easy", NAMES, "robot")
    assert repeated.phase == "playing"
    assert await store.index.entries(keys.tables_of_person("p:0")) != {}


async def test_old_redelivered_challenge_opens_nothing(store: Store) -> None:
    room, other = (Room(store, Random(0).randbytes) for _ in range(2))
    table = await Challenges(room).open_table("testa", "p:0", "Ada", "open", host="p:100")
    for number in range(2 * STAMPS_KEPT):
        await Challenges(room).choose_clock(table.code, "p:0", (60, 300)[number % 2], False, f"clock {number}")
    for worker_room in (room, other):
        assert (
            await Challenges(worker_room).open_table("testa", "p:0", "Ada", "open", host="p:100")
        ).code == table.code


async def test_redelivered_challenge_ignores_the_chat_limit(store: Store) -> None:
    room = Room(store, Random(0).randbytes)
    table = await Challenges(room).open_table("testa", "p:0", "Ada", "open", host="p:100")
    table = await Challenges(room).sit(table.code, "p:1", "Bea", "sit")
    await store.client.delete(keys.challenges("p:100"), keys.tables_of_person("p:0"))
    for number in range(20):
        await Challenges(room).open_table("testa", f"q:{number}", "Somebody", f"open {number}", host="p:100")
    assert (await Challenges(room).open_table("testa", "p:0", "Ada", "open", host="p:100")).version == table.version


async def test_unchanged_options_do_not_count_as_changes(store: Store) -> None:
    room = Room(store, Random(0).randbytes)
    table = await Challenges(room).open_table("testa", "p:0", "Ada", "open")
    version = (await Challenges(room).choose_clock(table.code, "p:0", 60, True, "c")).version
    for number in range(3):
        assert (await Challenges(room).choose_clock(table.code, "p:0", 60, True, f"again {number}")).version == version
    for number in range(MAX_CHANGES):
        with suppress(TooManyChanges):
            await Challenges(room).choose_rule(table.code, "p:0", f"target={(11, 21)[number % 2]}", f"rule {number}")
    assert (await room.table(table.code)).version == MAX_CHANGES
    assert (await Challenges(room).sit(table.code, "p:1", "Bea", "sit")).phase == "playing"


@pytest.mark.long
@pytest.mark.parametrize("game", mostly_long(["tressette", "tavolo"], "tavolo"))
async def test_sitting_and_standing_is_limited(store: Store, game: str) -> None:
    room = Room(store, Random(0).randbytes)
    code = (await Challenges(room).open_table(game, "p:0", "Ada", "open")).code
    # At a tavolo the seat next to the opener's needs no consent.
    for number in range(MAX_ENTRIES):
        with suppress(TooManyChanges):
            await Challenges(room).sit(code, "p:1", "Bea", f"sit {number}", 1)
            await Challenges(room).stand_up(code, "p:1", f"stand {number}")
    table = await room.table(code)
    assert MAX_ENTRIES <= table.version < MAX_ENTRIES + len(table.chairs)
    assert table.seat_of("p:1") is None
    assert await seated_tables(room, "p:1") == []
    # A redelivered request to stand up is accepted, and the opener can cancel.
    assert (await Challenges(room).stand_up(code, "p:1", f"stand {(table.version - 3) // 2}")).version == table.version
    assert (await Challenges(room).cancel(code, "p:0", "cancel")).phase == "closed"
