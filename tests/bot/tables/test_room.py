"""The room: each press makes one move or none, and each refusal has a reason."""

import asyncio
from collections import Counter
from itertools import count
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from bot.cluster.shards import Shards
from bot.identity.names import JOINERS, LONGEST_NAME, plain_name
from bot.store import EmbeddedStore, Store, keys, open_store
from bot.store.log import Log, add_stamp, strip_stamp
from bot.store.store import FOLD_AFTER
from bot.tables import Room, Table, table_memory
from bot.tables.chairs import Invited
from bot.tables.challenges import Challenges
from bot.tables.codes import CODE_LETTERS, mark_of, table_code
from bot.tables.errors import (
    AlreadyPlaying,
    AlreadySeated,
    ChairTaken,
    NoSuchChair,
    NoSuchTable,
    NotAtThisTable,
    NotInvited,
    NotPlaying,
    NotYoursToDecide,
    OldPanel,
    OnlyTheChallenger,
    OthersAreSeated,
    TableError,
)
from engine import GAMES, legal_moves_for_record
from engine.errors import (
    BadRules,
    EngineError,
    GameIsOver,
    IllegalMove,
    MustFollow,
    NotYourTurn,
    UnknownGame,
    UnknownMove,
)
from engine.shuffle import Cut
from tests.long import mostly_long

ADA, BEA = "tg:1", "dc:2"


@pytest.fixture
async def room(store: Store) -> Room:
    return seeded_room(store)


@pytest.fixture
def challenges(room: Room) -> Challenges:
    return Challenges(room)


def seeded_room(store: Store) -> Room:
    """Return a room with the same packs in every run."""
    return Room(store, Random(0).randbytes)


update_numbers = count(1)  # numbers of updates, which a platform never repeats


async def seat_players(room: Room, game: str, *rules: str) -> Table:
    """Open a table, seat all players and deal. The person in seat n is ``p:n``."""
    table = await Challenges(room).open_table(game, "p:0", "Person 0", f"open {next(update_numbers)}")
    for rule in rules:
        table = await Challenges(room).choose_rule(table.code, "p:0", rule, rule)
    for seat in range(1, GAMES[game].seats):
        table = await Challenges(room).sit(table.code, f"p:{seat}", f"Person {seat}", f"sit {seat}")
        if seat in table.asking:
            table = await Challenges(room).answer(table.code, f"p:{seat - 2}", seat, True, f"accept {seat}")
    assert table.phase == "playing"
    return table


def mover_and_card(table: Table) -> tuple[str, str]:
    """Return the person to move and a card that they can play."""
    assert table.game
    assert table.game.turn is not None
    legal = legal_moves_for_record(table.game, table.game.turn)
    return f"p:{table.game.turn}", next(move for move in legal if move.startswith("play "))


# Before the game


async def test_opener_sits_in_the_first_seat(room: Room, challenges: Challenges) -> None:
    table = await challenges.open_table("metamazzo", ADA, "Ada", "u1")
    assert table.phase == "open"
    assert table.seat_of(ADA) == 0
    assert len(table.code) == 6
    assert set(table.code) <= set(CODE_LETTERS)
    assert (await room.table(table.code)).chairs == table.chairs


async def test_game_starts_when_the_last_seat_is_taken(challenges: Challenges) -> None:
    table = await challenges.open_table("tressette", ADA, "Ada", "u1")
    for number in range(3):
        assert table.phase == "open"
        table = await challenges.sit(table.code, f"p:{number}", "Somebody", f"u{number + 2}", seat=3 - number)
    assert table.phase == "playing"
    assert table.game
    assert table.game.deal_number == 1
    assert table.game.names == ("Ada", "Somebody 3", "Somebody 2", "Somebody")


async def test_only_the_opener_chooses_options_before_the_game(challenges: Challenges) -> None:
    table = await challenges.open_table("pizzichino", ADA, "Ada", "u1")
    table = await challenges.choose_rule(table.code, ADA, "target=21", "u2")
    table = await challenges.choose_rule(table.code, ADA, "reuse=true", "u3")
    with pytest.raises(OnlyTheChallenger, match="ask Ada"):
        await challenges.choose_rule(table.code, BEA, "target=31", "u4")
    with pytest.raises(BadRules, match="not one of: 21, 31, 41, 51"):
        await challenges.choose_rule(table.code, ADA, "target=99", "u5")
    table = await challenges.sit(table.code, BEA, "Bea", "u6")
    assert table.game
    assert table.game.rules.model_dump().items() >= {"target": 21, "reuse": True}.items()
    with pytest.raises(AlreadyPlaying):
        await challenges.choose_rule(table.code, ADA, "target=31", "u7")


async def test_handle_invitation_is_bound_to_its_platform(challenges: Challenges) -> None:
    invited = Invited("", "Bruno", "Bruno")
    table = await challenges.open_table("testa", "discord:1", "Anna", "u0", invited=invited)
    with pytest.raises(NotInvited):
        await challenges.sit(table.code, "telegram:2", "Bruno", "u0b", handle="bruno")
    table = await challenges.open_table("testa", "telegram:1", "Anna", "u1", invited=invited)
    with pytest.raises(NotInvited):
        await challenges.sit(table.code, "discord:2", "Bruno", "u2", handle="bruno")
    with pytest.raises(NotYoursToDecide):
        await challenges.decline(table.code, "discord:2", "bruno", "u3")
    with pytest.raises(NotInvited):
        await challenges.sit(table.code, "telegram:3", "Carla", "u4")
    assert (await challenges.sit(table.code, "telegram:2", "Bruno", "u5", handle="bruno")).phase == "playing"


async def test_code_depends_on_update_and_secret(challenges: Challenges, store: Store) -> None:
    table = await challenges.open_table("testa", ADA, "Ada", "u1")
    assert (await Challenges(Room(store)).open_table("testa", ADA, "Ada", "u1")).code == table.code
    assert table_code("u1 0", await store.secret()) == table.code
    assert len({table_code("u1 0", b""), table_code("u1 0", b"other"), table.code}) == 3


def test_table_codes_and_person_marks_never_change() -> None:
    """Redelivered updates must find their table after an upgrade, and the store keeps marks of removed tables."""
    reason = "bot/tables/codes.py must stay compatible with stored tables"
    assert table_code("u1 0", b"secret") == "XWZ2EC", reason
    assert mark_of("paper:1") == "93b39b4b5785", reason


async def test_changing_the_game_keeps_seats_and_drops_options(challenges: Challenges) -> None:
    table = await challenges.open_table("pizzichino", ADA, "Ada", "u1")
    await challenges.choose_rule(table.code, ADA, "target=21", "u2")
    table = await challenges.choose_game(table.code, ADA, "tressette", "u3")
    assert (table.rules, len(table.chairs), table.seat_of(ADA)) == ({}, 4, 0)
    table = await challenges.sit(table.code, BEA, "Bea", "u4", seat=3)
    with pytest.raises(OthersAreSeated):
        await challenges.choose_game(table.code, ADA, "testa", "u5")
    await challenges.stand_up(table.code, BEA, "u6")
    table = await challenges.choose_game(table.code, ADA, "testa", "u7")
    assert len(table.chairs) == 2
    with pytest.raises(UnknownGame):
        await challenges.choose_game(table.code, ADA, "poker", "u8")


async def test_seat_errors_name_the_reason(challenges: Challenges) -> None:
    table = await challenges.open_table("tressette", ADA, "Ada", "u1")
    with pytest.raises(AlreadySeated):
        await challenges.sit(table.code, ADA, "Ada", "u2")
    with pytest.raises(ChairTaken, match="Ada already has that seat"):
        await challenges.sit(table.code, BEA, "Bea", "u3", seat=0)
    for seat in (-1, 4, 99):
        with pytest.raises(NoSuchChair):
            await challenges.sit(table.code, BEA, "Bea", "u4", seat=seat)
    table = await challenges.sit(table.code, BEA, "Bea", "u5", seat=2)
    with pytest.raises(NotAtThisTable):
        await challenges.stand_up(table.code, "p:9", "u6")
    table = await challenges.stand_up(table.code, BEA, "u7")
    assert table.chairs[2] is None
    for number in range(3):
        table = await challenges.sit(table.code, "robot:easy", f"Robot {number}", f"r{number}")
    assert table.phase == "playing"
    with pytest.raises(AlreadyPlaying):
        await challenges.sit(table.code, BEA, "Bea", "u8")


async def test_unknown_code_is_refused(room: Room) -> None:
    for code in ("ZZZZ", "", "no such", "x" * 5000, "{s1}"):
        with pytest.raises(NoSuchTable):
            await room.make_move(code, ADA, 1, "play 3D", "u")


@given(st.text())
def test_any_name_becomes_one_printable_line(name: str) -> None:
    plain = plain_name(name)
    assert 0 < len(plain) <= LONGEST_NAME
    assert plain.translate(dict.fromkeys(map(ord, JOINERS))).isprintable()
    assert plain_name(plain) == plain


@pytest.mark.parametrize("name", ["👨\u200d👩\u200d👧", "می\u200cخواهم", "क्\u200dष", "Anna 👩\u200d🚀"])
def test_plain_name_keeps_joiners_within_characters(name: str) -> None:
    assert plain_name(name) == name


@pytest.mark.parametrize("name", ["\u3164", "\u115f\u1160", "\u2800 \u2800", "\uffa0", "\u200d", "\u200c\u200d\u200c"])
def test_invisible_name_becomes_an_ellipsis(name: str) -> None:
    assert plain_name(name) == "…"


def test_stray_joiner_is_removed_or_becomes_a_space() -> None:
    assert plain_name("An\u200dna\u200d 😀\u200d") == "An na 😀"
    assert plain_name("Ле\u200dна") == "Ле на"


@pytest.mark.parametrize(
    "name", ["Ада", "😀" * 64, "\u202eRTL", "a\tb\nc", "*_[`<b>&", "", "  ", "\x00", "e\u0301" * 99]
)
async def test_any_name_can_open_a_table(room: Room, challenges: Challenges, name: str) -> None:
    table = await challenges.open_table("testa", ADA, name, "u1")
    chair = (await room.table(table.code)).chairs[0]
    assert chair
    assert chair.name == plain_name(name)


# Presses


@pytest.mark.parametrize("game", mostly_long(GAMES, "spizzichino"))
async def test_log_reproduces_every_version_of_a_table(room: Room, game: str) -> None:
    random = Random(game)
    shortest = min(GAMES[game].rules.choices()["target"])
    table = await seat_players(room, game, f"target={shortest}")
    for number in range(400):
        if table.phase == "over":
            break
        assert table.game
        assert table.game.turn is not None
        seat = table.game.turn
        legal = [move for move in legal_moves_for_record(table.game, seat) if not move.startswith(("bid", "blind"))]
        table = await room.make_move(
            table.code, f"p:{seat}", table.version, random.choice(legal or ["bid 5"]), f"m{number}"
        )
        if number % 20 == 0:
            loaded = Table.from_log(table.code, await room.store.load(table.code))
            assert loaded.version == table.version
            assert loaded.game
            assert table.game
            assert loaded.game.record() == table.game.record()
            assert loaded.game.view(0) == table.game.view(0)
            assert (loaded.chairs, loaded.moved_at, loaded.dealt_at) == (table.chairs, table.moved_at, table.dealt_at)
    assert table.game
    record = table.game.record(live=False)
    engine.verify(engine.read(record.to_json()))
    assert len(record.deals) >= 1


async def test_last_move_and_next_deal_are_one_commit(room: Room) -> None:
    table = await seat_players(room, "testa")
    while table.game and table.game.deal_number == 1:
        person, move = mover_and_card(table)
        last = table
        table = await room.make_move(table.code, person, table.version, move, f"m{table.version}")
    assert table.version == last.version + 2
    assert table.game
    assert table.game.deal_number == 2
    assert table.game.current
    assert table.game.moves == []


async def test_fifty_simultaneous_presses_are_one_move(room: Room) -> None:
    table = await seat_players(room, "metamazzo")
    person, move = mover_and_card(table)
    presses = [room.make_move(table.code, person, table.version, move, f"click {n}") for n in range(50)]
    results = await asyncio.gather(*presses, return_exceptions=True)
    assert Counter(type(result).__name__ for result in results) == {"Table": 1, "OldPanel": 49}
    assert (await room.table(table.code)).version == table.version + 1


async def test_redelivered_press_changes_nothing(room: Room, store: Store) -> None:
    table = await seat_players(room, "metamazzo")
    person, move = mover_and_card(table)
    results = await asyncio.gather(
        *(room.make_move(table.code, person, table.version, move, "same") for _ in range(20))
    )
    assert {result.version for result in results} == {table.version + 1}
    # The press is accepted by a worker without the table, and by the first worker after other moves.
    assert (await Room(store).make_move(table.code, person, table.version, move, "same")).version == table.version + 1
    moved_table = results[0]
    other, reply = mover_and_card(moved_table)
    await room.make_move(table.code, other, moved_table.version, reply, "reply")
    assert (await room.make_move(table.code, person, table.version, move, "same")).version == table.version + 2


async def test_two_workers_never_make_a_move_twice(embedded: EmbeddedStore) -> None:
    async with open_store(embedded.url) as first_store, open_store(embedded.url) as second_store:
        rooms = [seeded_room(first_store), seeded_room(second_store)]
        table = await seat_players(rooms[0], "metamazzo")
        for number in range(39):
            person, move = mover_and_card(table)
            presses = [
                room.make_move(table.code, person, table.version, move, f"w{n} {number}")
                for n, room in enumerate(rooms)
            ]
            results = await asyncio.gather(*presses, return_exceptions=True)
            assert sum(isinstance(result, OldPanel) for result in results) == 1
            before = table.version
            table = await rooms[number % 2].table(table.code)
            assert table.version == before + 1


async def test_stranger_or_wrong_turn_is_refused(room: Room) -> None:
    table = await seat_players(room, "metamazzo")
    person, move = mover_and_card(table)
    with pytest.raises(NotAtThisTable):
        await room.make_move(table.code, "tg:666", table.version, move, "u1")
    other = "p:1" if person == "p:0" else "p:0"
    with pytest.raises(NotYourTurn):
        await room.make_move(table.code, other, table.version, move, "u2")
    assert (await room.table(table.code)).version == table.version


async def test_panel_from_before_the_players_move_has_expired(room: Room) -> None:
    table = await seat_players(room, "metamazzo")
    person, move = mover_and_card(table)
    after = await room.make_move(table.code, person, table.version, move, "u1")
    with pytest.raises(OldPanel):
        await room.make_move(table.code, person, table.version, "play 3D", "u2")
    for version in (after.version + 1, 10**9, -1, 0):
        with pytest.raises(OldPanel):
            await room.make_move(table.code, person, version, "play 3D", "u3")


async def test_declaration_out_of_turn_keeps_panels_valid(room: Room) -> None:
    """At tressette any player can declare after the first trick. The player to move must not lose a press."""
    for attempt in range(200):
        table = await seat_players(room, "tressette")
        for number in range(4):
            person, _ = mover_and_card(table)
            assert table.game
            legal = legal_moves_for_record(table.game, table.game.turn or 0)
            card = next(move for move in legal if move.startswith("play ") and move.count(" ") == 1)
            table = await room.make_move(table.code, person, table.version, card, f"{attempt} {number}")
        assert table.game
        shown_version = table.version
        for seat in range(4):
            declared = [move for move in legal_moves_for_record(table.game, seat) if move.startswith("declare ")]
            if declared and seat != table.game.turn:
                after = await room.make_move(table.code, f"p:{seat}", shown_version, declared[0], "declare")
                person, card = mover_and_card(after)
                table = await room.make_move(table.code, person, shown_version, card, "play")
                assert table.version == shown_version + 2
                return
    pytest.fail("no player had a declaration out of turn in 200 deals: try more")


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "play",
        "play 99",
        "x" * 1_000_000,
        "deal 00",
        "\x00",
        "play 3D\nsit 1 evil Evil",
        "0 play 3D",
        "stop cancelled -",
        "gives 3D",
    ],
)
async def test_made_up_move_is_refused(room: Room, payload: str) -> None:
    table = await seat_players(room, "metamazzo")
    person, _ = mover_and_card(table)
    with pytest.raises((UnknownMove, MustFollow)):
        await room.make_move(table.code, person, table.version, payload, "u1")
    assert (await room.table(table.code)).version == table.version


async def test_press_outside_a_game_is_refused(room: Room, challenges: Challenges) -> None:
    table = await challenges.open_table("testa", "p:0", "A", "u1")
    with pytest.raises(NotPlaying):
        await room.make_move(table.code, "p:0", table.version, "play 3D", "u2")
    table = await challenges.sit(table.code, "p:1", "B", "u3")
    table = await room.make_move(table.code, "p:1", table.version, "resign", "u4")
    assert table.phase == "over"
    with pytest.raises(IllegalMove, match="over"):
        await room.make_move(table.code, "p:0", table.version, "play 3D", "u5")
    for attempt in (room.claim_on_time(table.code, "p:0", "u6"), challenges.sit(table.code, "p:2", "C", "u7")):
        with pytest.raises(GameIsOver):
            await attempt
    closed = await challenges.open_table("testa", "p:0", "A", "u8")
    closed = await challenges.cancel(closed.code, "p:0", "u9")
    with pytest.raises(NoSuchTable):
        await room.make_move(closed.code, "p:0", closed.version, "play 3D", "u10")


async def test_worker_with_an_old_table_catches_up(store: Store) -> None:
    fast, slow = seeded_room(store), seeded_room(store)
    table = await seat_players(fast, "metamazzo")
    await slow.table(table.code)
    for number in range(60):
        person, move = mover_and_card(table)
        table = await fast.make_move(table.code, person, table.version, move, f"m{number}")
    person, move = mover_and_card(table)
    assert (await slow.make_move(table.code, person, table.version, move, "slow")).version > table.version


async def test_refused_person_is_not_indexed_as_named(store: Store) -> None:
    fast, slow, latest = (seeded_room(store) for _ in range(3))
    table = await Challenges(fast).open_table("testa", ADA, "Ada", "u1")
    for room in (slow, latest):
        await room.table(table.code)
    await Challenges(fast).sit(table.code, "tg:2", "Bea", "u2")
    with pytest.raises(TableError):
        await Challenges(slow).sit(table.code, "tg:3", "Cleo", "u3")
    assert not await store.client.exists(keys.tables_naming("tg:3"))
    for person in (ADA, "tg:2"):
        assert await store.client.smembers(keys.tables_naming(person)) == {table.code.encode()}
    # The worker finds the person in the log only after the refusal.
    await store.client.delete(keys.tables_naming("tg:2"))
    await Challenges(latest).sit(table.code, "tg:2", "Bea", "u2")
    assert await store.client.smembers(keys.tables_naming("tg:2")) == {table.code.encode()}


async def test_refusal_updates_the_cache_without_another_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fast, slow = seeded_room(store), seeded_room(store)
    table = await Challenges(fast).open_table("testa", ADA, "Ada", "u1")
    await slow.table(table.code)
    await Challenges(fast).sit(table.code, "tg:2", "Bea", "u2")

    async def fail_read(*_: object, **_options: object) -> None:
        raise AssertionError("the worker read entries that the refusal had")

    monkeypatch.setattr(store, "entries_since", fail_read)
    with pytest.raises(TableError):
        await Challenges(slow).cancel(table.code, ADA, "u3")
    cached = slow.cached_table(table.code)
    assert cached
    assert cached.phase == "playing"


async def test_refusal_reads_confirmed_entries(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    table = await Challenges(seeded_room(store)).open_table("testa", ADA, "Ada", "u1")
    entries_since, confirmed = store.entries_since, list[object]()

    async def record_read(*args: Any, **options: Any) -> Any:
        confirmed.append(options.get("confirmed"))
        return await entries_since(*args, **options)

    monkeypatch.setattr(store, "entries_since", record_read)
    room = seeded_room(store)
    for read_count in (1, 2):
        # The first time the table is not cached, the second time the cache can be old.
        with pytest.raises(TableError):
            await Challenges(room).cancel(table.code, BEA, "u2")
        assert confirmed == [True] * read_count


async def test_commits_are_announced_only_to_other_owners(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    original, announced = store.append, list[object]()

    async def record_append(*args: Any, **options: Any) -> Any:
        announced.append(options["tell"])
        return await original(*args, **options)

    monkeypatch.setattr(store, "append", record_append)
    shards = Shards(store, alone=True)
    room = Room(store, Random(0).randbytes, shards=shards)
    table = await Challenges(room).open_table("testa", ADA, "Ada", "u1")
    shards.owned.add(keys.shard_of(table.code))
    await Challenges(room).cancel(table.code, ADA, "u2")
    await Challenges(room).open_table("testa", ADA, "Ada", "u3")
    assert announced == [True, False, True]


async def test_reopening_a_removed_table_indexes_nobody(store: Store) -> None:
    room = seeded_room(store)
    table = await Challenges(room).open_table("testa", ADA, "Ada", "u1")
    await room.remove(table)
    with pytest.raises(NoSuchTable):
        await Challenges(seeded_room(store)).open_table("testa", ADA, "Ada", "u1")
    assert not await store.client.exists(keys.tables_naming(ADA))


async def test_crash_during_removal_leaves_no_named_index(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    room = seeded_room(store)
    table = await Challenges(room).open_table("testa", ADA, "Ada", "u1")
    remove = store.remove

    async def remove_and_crash(*args: Any, **options: Any) -> None:
        await remove(*args, **options)
        raise RuntimeError

    monkeypatch.setattr(store, "remove", remove_and_crash)
    with pytest.raises(RuntimeError):
        await room.remove(table)
    assert not await store.client.exists(keys.tables_naming(ADA))


@pytest.mark.parametrize("person", ["tg:2", "tg:3", "tg:4", "tg:5", "tg:6"])
async def test_removed_tables_code_is_not_reused_by_another_person(store: Store, person: str) -> None:
    """Two platforms can use the same update id."""
    room = seeded_room(store)
    removed = await Challenges(room).open_table("testa", ADA, "Ada", "u1")
    await room.remove(removed)
    table = await Challenges(room).open_table("testa", person, "Bea", "u1")
    assert table.code != removed.code
    assert table.opener.person == person


async def test_named_index_survives_another_workers_refusal(store: Store) -> None:
    """Two workers index the same person. One is refused between the other's indexing and its commit."""
    room = seeded_room(store)
    table = await Challenges(room).open_table("tavolo", ADA, "Ada", "u1")
    await store.client.sadd(keys.tables_naming("tg:2"), table.code)
    original = store.append

    async def remove_index_and_append(*args: Any, **options: Any) -> Any:
        await store.client.srem(keys.tables_naming("tg:2"), table.code)
        return await original(*args, **options)

    store.append = remove_index_and_append  # type: ignore[method-assign]
    await Challenges(room).sit(table.code, "tg:2", "Bea", "u2")
    assert await store.client.exists(keys.tables_naming("tg:2"))


async def test_refusal_is_a_sentence(challenges: Challenges) -> None:
    table = await challenges.open_table("testa", ADA, "Ada", "u1")
    with pytest.raises(TableError) as caught:
        await challenges.sit(table.code, ADA, "Ada", "u2")
    assert str(caught.value) == "You already have a seat here: wait for the others, or add a robot."
    assert Table.from_log("NONE", Log([])).exists is False


@pytest.mark.parametrize("game", ["metamazzo", "tressette", "spades"])
async def test_move_is_applied_once(room: Room, game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A move and the deal after it must not run first as a trial and again when stored."""
    applied: list[str] = []
    play, deal = engine.Game.play, engine.Game.deal
    table = await seat_players(room, game)

    def record_move(game: engine.Game, seat: int | None, move: str) -> None:
        applied.append(move)
        play(game, seat, move)

    def record_deal(game: engine.Game, secret: bytes, cut: Cut | None = None) -> None:
        applied.append("deal")
        deal(game, secret, cut)

    monkeypatch.setattr(engine.Game, "play", record_move)
    monkeypatch.setattr(engine.Game, "deal", record_deal)
    random = Random(1)
    for number in range(80):
        if table.game is None or table.phase != "playing" or table.game.turn is None:
            break
        seat = table.game.turn
        legal = [move for move in legal_moves_for_record(table.game, seat) if not move.startswith(("resign", "claim"))]
        move = random.choice(legal or ["bid 5"])
        applied.clear()
        before = table.game.deal_number
        table = await room.make_move(table.code, f"p:{seat}", table.version, move, f"once {number}")
        assert applied in ([move], [move, "deal"])
        assert table.game
        assert table.game.deal_number - before == applied.count("deal")


@pytest.mark.parametrize(
    "move", ["play", "play ", "play XX", "play 3D 4D", "play \udc80", "fly 3D", "", "claim\tx", "7"]
)
async def test_malformed_move_is_refused(room: Room, move: str) -> None:
    table = await seat_players(room, "tressette")
    person, _ = mover_and_card(table)
    with pytest.raises(EngineError):
        await room.make_move(table.code, person, table.version, move, "none")
    assert (await room.table(table.code)).version == table.version


async def test_worker_behind_a_fold_replays_only_missed_moves(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fast, slow = seeded_room(store), seeded_room(store)
    table = await seat_players(fast, "metamazzo")
    old = await slow.table(table.code)
    for number in range(FOLD_AFTER + 2):
        person, move = mover_and_card(table)
        table = await fast.make_move(table.code, person, table.version, move, f"m{number}")
    assert (await store.entries_since(table.code, old.log)).whole
    replayed: list[str] = []
    play = engine.Game.play

    def record_move(game: engine.Game, seat: int | None, move: str) -> None:
        replayed.append(move)
        play(game, seat, move)

    monkeypatch.setattr(engine.Game, "play", record_move)
    loaded = await slow.table(table.code)
    assert len(replayed) == FOLD_AFTER + 2
    assert loaded.log.entries == table.log.entries
    assert loaded.game
    assert table.game
    assert loaded.game.record() == table.game.record()

    # A known log that is not a prefix is not used, and the update keys come from the log.
    assert Table.from_log(table.code, old.log, loaded).version == old.version
    other = Log([*loaded.log.entries[:-1], add_stamp(strip_stamp(loaded.log.last_entry).decode(), "another")])
    assert Table.from_log(table.code, other, loaded).log.last_entry == other.last_entry


async def test_is_playing_at_is_false_for_uncached_versions(room: Room, challenges: Challenges) -> None:
    challenge = await challenges.open_table("testa", "p:9", "Somebody", f"open {next(update_numbers)}")
    assert not room.is_playing_at(challenge.code, challenge.version)
    table = await seat_players(room, "testa")
    answers = [room.is_playing_at(table.code, table.version + step) for step in (-1, 0, 1)]
    assert answers == [False, True, False]
    room.forget(table.code)
    assert not room.is_playing_at(table.code, table.version)


async def test_memory_drops_the_table_loaded_or_changed_longest_ago(
    room: Room, challenges: Challenges, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_memory, "TABLES_CACHED", 2)
    first, second = [await challenges.open_table("testa", f"p:{number}", "Somebody", f"m{number}") for number in (1, 2)]
    await room.load(first.code)
    third = await challenges.open_table("testa", "p:3", "Somebody", "m3")
    assert [bool(room.cached_table(table.code)) for table in (first, second, third)] == [True, False, True]
