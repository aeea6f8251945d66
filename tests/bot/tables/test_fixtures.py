"""Tournament tables: they start with all players seated, and the tournament can end them once."""

from dataclasses import replace
from random import Random

import pytest

from bot.finished.archive import Archive
from bot.finished.archive_file import from_line, to_line
from bot.finished.game import FinishedGame, UnreadableGame
from bot.platform import private_place
from bot.robots.simulation import simulate
from bot.site.api_models import own_table
from bot.store import Store, keys
from bot.store.entries import Fixture
from bot.tables import Room, Table
from bot.tables.chairs import Chair
from bot.tables.challenges import Challenges
from bot.tables.errors import NoSuchTable, TooManyTables
from bot.tables.fixtures import FixtureName, duplicate_rules
from bot.tables.game_choice import Choice
from bot.tables.limits import MAX_TABLES
from engine import GAMES, legal_moves_for_record
from engine.errors import NoClaims
from tests.bot.finished.games import finished_game
from tests.long import mostly_long

PEOPLE = [Chair(f"p:{number}", f"Person {number}\n") for number in range(1, 5)]
ADA, BEA = PEOPLE[0].person, PEOPLE[1].person
SECRET = bytes(range(32))


@pytest.fixture
def room(store: Store) -> Room:
    return Room(store, Random(0).randbytes)


@pytest.fixture
def challenges(room: Room) -> Challenges:
    return Challenges(room)


async def open_fixture(
    room: Room, game: str = "metamazzo", update: str = "f", deal: int = 0, secret: bytes = b""
) -> Table:
    choice = replace(Choice.default(game), clock=86400, strict=True)
    setup = [Fixture("K7QF2M", 2, 0, deal, "p:100"), *(duplicate_rules(choice) if deal else choice).setup]
    chairs = PEOPLE[: GAMES[game].seats]
    return await Challenges(room).open_fixture(game, chairs, update, setup=setup, secret=secret)


async def list_all_tables(room: Room) -> list[list[str]]:
    """Return the tables of each player, then those of each private chat."""
    lists = [await room.lists.tables_of(person.person) for person in PEOPLE]
    lists += [await room.lists.tables_at(private_place(person.person)) for person in PEOPLE]
    return [[table.code for table in tables] for tables in lists]


@pytest.mark.parametrize("deal", [0, 1])
async def test_claim_is_refused_in_a_duplicate_deal(room: Room, deal: int) -> None:
    table = await open_fixture(room, "tressette", deal=deal)
    views = [table.view(seat) for seat in range(4)]
    assert all(view and view.moves for view in views)
    assert ["claim" in view.moves for view in views if view] == [not deal] * 4
    assert [view.moves for view in views if view] == [
        tuple(move for move in own_table(table, chair.person).moves) for chair in PEOPLE
    ]
    if deal:
        with pytest.raises(NoClaims):
            await room.make_move(table.code, ADA, table.version, "claim", "c")


@pytest.mark.parametrize("game", GAMES)
async def test_fixture_seats_all_players_and_starts(room: Room, game: str) -> None:
    table = await open_fixture(room, game, secret=SECRET)
    seats = GAMES[game].seats
    assert (table.phase, table.clock, table.strict) == ("playing", 86400, True)
    assert [chair and chair.name for chair in table.chairs] == [f"Person {number + 1}" for number in range(seats)]
    assert table.hosts == tuple(private_place(person.person) for person in PEOPLE[:seats])
    assert table.game
    assert table.game.record().deals[0].proof.secret == SECRET.hex()
    assert table.fixture == Fixture("K7QF2M", 2, 0, 0, "p:100")
    assert (table.matched, table.invited, table.asking) == ((), None, {})
    expected = [[table.code] if number < seats else [] for number in range(4)]
    assert await list_all_tables(room) == [*expected, *expected]


async def test_fixture_opens_once(room: Room, store: Store) -> None:
    table = await open_fixture(room)
    other = Room(store, Random(1).randbytes)
    assert (await open_fixture(other)).log.entries == table.log.entries
    await room.remove(await room.close(table.code, "close"))
    for worker_room in (room, other):
        with pytest.raises(NoSuchTable):
            await open_fixture(worker_room)
    assert await list_all_tables(room) == [[]] * 8
    assert not [key async for key in store.client.scan_iter("{s*}:table:*")]


async def test_table_limit_does_not_block_a_fixture(room: Room, challenges: Challenges, store: Store) -> None:
    for number in range(MAX_TABLES):
        await challenges.open_table("testa", BEA, "Bea", f"open {number}")
    table = await open_fixture(room, "tavolo")
    assert table.phase == "playing"
    assert len(await store.index.entries(keys.tables_of_person(BEA))) == MAX_TABLES + 1
    # The fixture counts against the limit for other tables.
    with pytest.raises(TooManyTables):
        await challenges.open_table("testa", BEA, "Bea", "one more")


async def test_leaving_player_resigns_out_of_turn(room: Room) -> None:
    for number in range(2):
        table = await open_fixture(room, update=f"f{number}")
        ended = await room.resign_for(table.code, number, "leave")
        assert ended.game
        assert (ended.game.ending, ended.game.winner) == ("resign", (1 - number,))
        for update in ("leave", "another"):
            assert (await room.resign_for(table.code, 0, update)).version == ended.version


async def test_late_game_is_lost_by_the_side_to_move(room: Room) -> None:
    for moves in (0, 1, 2):
        table = await open_fixture(room, "tressette", update=f"f{moves}")
        for _ in range(moves):
            assert table.game
            seat = table.game.turn
            assert seat is not None
            move = next(move for move in legal_moves_for_record(table.game, seat) if move.startswith("play "))
            table = await room.make_move(table.code, PEOPLE[seat].person, table.version, move, f"u{table.version}")
        assert table.game
        late_seat = table.game.turn
        assert late_seat is not None
        ended = await room.end_overdue(table.code, "round over")
        assert ended.game
        assert (ended.game.ending, ended.game.winner) == (
            "timeout",
            tuple(sorted({(late_seat + 1) % 4, (late_seat + 3) % 4})),
        )
        for update in ("round over", "again"):
            assert (await room.end_overdue(table.code, update)).version == ended.version


@pytest.mark.parametrize("game", mostly_long(GAMES, "metamazzo", "tavolo"))
def test_no_single_deal_reaches_the_duplicate_target(game: str) -> None:
    choice = duplicate_rules(Choice.default(game))
    assert duplicate_rules(choice) == choice
    kind = GAMES[game]
    target = choice.all_rules.target
    if game == "spades":
        # All tricks bid and won, or a successful blind nil.
        highest_score = max(13 * 10, 200)
    else:
        # All tricks, and each card in as many threes or fours of a kind as the game allows.
        honours = 3 * 4
        highest_score = 11 + (honours * 2 if choice.all_rules.model_dump()["reuse"] else honours)
    assert highest_score < target
    for seed in range(20):
        record = simulate(game, choice.rules, ["random"] * kind.seats, f"one deal {seed}")
        first = record.deals[0]
        assert max(first.totals) <= highest_score


async def test_fixture_game_names_its_tournament_and_chat(room: Room, store: Store) -> None:
    game = await Archive(store.client).add(await room.resign_for((await open_fixture(room)).code, 0, "leave"), 1.0)
    assert (game.fixture, game.chats, game.is_rated) == ("K7QF2M 2.0.0", ["p:100"], True)
    assert game.fixture_name == FixtureName("K7QF2M", 2, 0, 0)
    duplicate = await open_fixture(room, update="d", deal=3)
    for ended in (await room.end_overdue(duplicate.code, "late"), await room.resign_for(duplicate.code, 0, "leave")):
        finished = await Archive(store.client).build_game(ended, 1.0)
        assert (finished.fixture, finished.chats, finished.is_rated) == ("K7QF2M 2.0.3", ["p:100"], False)
        assert finished.fixture_name
        assert finished.fixture_name.is_duplicate
        assert FinishedGame.parse(finished.to_bytes()) == finished
        assert from_line(to_line(7, finished)).game == finished


def test_game_without_fixture_fields_has_no_tournament() -> None:
    game = finished_game(1)
    assert not {"fixture", "origin"} & game.fields.keys()
    assert FinishedGame.parse(game.to_bytes()) == game
    assert game.fixture_name is None


@pytest.mark.parametrize("text", ["K7QF2M", "K7QF2M 2.0", "K7QF2M 2.0.01", "K7QF2M 2.x.1", " 2.0.1 "])
def test_game_with_malformed_fixture_is_unreadable(text: str) -> None:
    game = replace(finished_game(1), fixture="K7QF2M 2.0.1")
    object.__setattr__(game, "fixture", text)
    with pytest.raises(UnreadableGame):
        FinishedGame.parse(game.to_bytes())
