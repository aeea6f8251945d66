"""A running game: expired clocks, moves for a late player, and games that the bot closes."""

from random import Random

import pytest

from bot.store import Store
from bot.store.log import Log
from bot.tables import Room, Table
from bot.tables.challenges import Challenges
from bot.tables.clock import LATE_MOVES_TO_FORFEIT
from bot.tables.errors import NoSuchTable, NotAtThisTable, NotYoursToDecide, OldPanel, TimeIsNotUp
from engine import read, verify
from engine.errors import ClaimNeedsLead
from engine.options import RELEASE
from tests.bot.tables.test_table import at_tie_break

PEOPLE = ("p:0", "p:1", "p:2", "p:3")


@pytest.fixture
def room(store: Store) -> Room:
    return Room(store, Random(0).randbytes)


@pytest.fixture
def challenges(room: Room) -> Challenges:
    return Challenges(room)


async def start_game(room: Room, game: str = "testa", *, strict: bool = False, robot: bool = False) -> Table:
    """Start a game with a clock of a minute. Seat n is ``p:n``; with ``robot``, the last seat has a robot."""
    table = await Challenges(room).open_table(game, "p:0", "P0", "open")
    table = await Challenges(room).choose_clock(table.code, "p:0", 60, strict, "clock")
    for seat in range(1, len(table.chairs)):
        if robot and seat == len(table.chairs) - 1:
            table = await Challenges(room).add_robot(table.code, "p:0", "easy", ["Gino"], "robot")
        else:
            table = await Challenges(room).sit(table.code, f"p:{seat}", f"P{seat}", f"sit {seat}")
    assert table.phase == "playing"
    return table


def turn_of(table: Table) -> int:
    assert table.game
    assert table.game.turn is not None
    return table.game.turn


def playable_card(table: Table) -> str:
    """Return a card that can be played."""
    assert table.game
    return next(move for move in table.game.legal_moves(turn_of(table)) if move.startswith("play "))


async def run_out_clock(room: Room, table: Table) -> Table:
    """Handle alarms until the time is up."""
    for _ in range(2):
        table = await room.handle_alarm(table.code, table.version)
    assert table.alarm == "flagged"
    return table


async def test_clock_nudges_then_flags_then_stops(room: Room) -> None:
    table = await start_game(room)
    assert (await room.handle_alarm(table.code, table.version)).alarm == "nudged"
    table = await run_out_clock(
        room, await room.make_move(table.code, f"p:{turn_of(table)}", table.version, playable_card(table), "u1")
    )
    assert (await room.handle_alarm(table.code, table.version)).version == table.version


async def test_late_or_repeated_alarm_does_nothing(room: Room) -> None:
    table = await start_game(room)
    nudged = await room.handle_alarm(table.code, table.version)
    assert (await room.handle_alarm(table.code, table.version)).version == nudged.version
    with pytest.raises(OldPanel):
        await room.handle_alarm(table.code, table.version - 1)


async def test_no_time_passes_without_a_clock(room: Room, challenges: Challenges) -> None:
    table = await challenges.open_table("testa", "p:0", "P0", "open")
    await challenges.choose_clock(table.code, "p:0", 0, False, "clock")
    table = await challenges.sit(table.code, "p:1", "P1", "sit")
    assert (await room.handle_alarm(table.code, table.version)).version == table.version


@pytest.mark.parametrize("phase", ["playing", "open"])
async def test_no_time_passes_after_the_end(room: Room, challenges: Challenges, phase: str) -> None:
    if phase == "open":
        table = await challenges.open_table("testa", "p:0", "P0", "open")
    else:
        table = await start_game(room)
    ended = await room.close(table.code, "close")
    assert (await room.handle_alarm(ended.code, ended.version)).version == ended.version


async def test_challenge_expires(room: Room, challenges: Challenges) -> None:
    table = await challenges.open_table("testa", "p:0", "P0", "open")
    assert (await room.handle_alarm(table.code, table.version)).closed == "expired"


@pytest.mark.parametrize("game", ["testa", "tressette"])
async def test_only_opponents_decide_about_a_late_player(room: Room, game: str) -> None:
    table = await start_game(room, game)
    late_seat = turn_of(table)
    opponent = f"p:{(late_seat + 1) % len(table.chairs)}"
    for _ in range(2):
        for decide in (room.claim_on_time, room.give_time, room.check_flagged):
            with pytest.raises(TimeIsNotUp):
                await decide(table.code, opponent, "too early")
        table = await room.handle_alarm(table.code, table.version)
    assert table.alarm == "flagged"
    for decide in (room.claim_on_time, room.give_time, room.check_flagged):
        with pytest.raises(NotAtThisTable):
            await decide(table.code, "p:9", "a stranger")
        with pytest.raises(NotYoursToDecide):
            await decide(table.code, f"p:{late_seat}", "the late player")
        if game == "tressette":
            with pytest.raises(NotYoursToDecide):
                await decide(table.code, f"p:{(late_seat + 2) % 4}", "the partner")
    assert (await room.check_flagged(table.code, opponent, "u1")).version == table.version
    assert (await room.give_time(table.code, opponent, "u2")).alarm == ""


@pytest.mark.parametrize("moves", [0, 1])
async def test_claim_on_time_wins(room: Room, moves: int) -> None:
    """Each side is late in one of the cases."""
    table = await start_game(room)
    for number in range(moves):
        table = await room.make_move(
            table.code, f"p:{turn_of(table)}", table.version, playable_card(table), f"m{number}"
        )
    late_seat = turn_of(table)
    table = await run_out_clock(room, table)
    table = await room.claim_on_time(table.code, f"p:{1 - late_seat}", "claim")
    assert table.game
    assert (table.game.ending, table.game.winner) == ("timeout", (1 - late_seat,))
    # The redelivered update is accepted, although the game is over.
    assert (await room.check_flagged(table.code, f"p:{1 - late_seat}", "claim")).version == table.version


@pytest.mark.parametrize("moves", [0, 1, 2, 3])
async def test_claim_on_time_wins_for_both_partners(room: Room, moves: int) -> None:
    table = await start_game(room, "tressette")
    for number in range(moves):
        table = await room.make_move(
            table.code, f"p:{turn_of(table)}", table.version, playable_card(table), f"m{number}"
        )
    late_seat = turn_of(table)
    table = await run_out_clock(room, table)
    with pytest.raises(NotYoursToDecide):
        await room.claim_on_time(table.code, f"p:{(late_seat + 2) % 4}", "the partner's claim")
    table = await room.claim_on_time(table.code, f"p:{(late_seat + 3) % 4}", "claim")
    assert table.game
    assert table.game.ending == "timeout"
    assert set(table.game.winner or ()) == {0, 1, 2, 3} - {late_seat, (late_seat + 2) % 4}


@pytest.mark.parametrize("strict", [False, True])
async def test_third_late_move_forfeits_under_a_strict_clock(room: Room, strict: bool) -> None:
    table = await start_game(room, strict=strict)
    late_seat = turn_of(table)
    for number in range(30):
        if table.phase == "over":
            break
        assert table.late_counts[late_seat] < LATE_MOVES_TO_FORFEIT or not strict
        if turn_of(table) == late_seat:
            table = await room.make_moves_for(
                table.code, late_seat, table.version, [playable_card(table)], f"m{number}"
            )
        else:
            table = await room.make_move(
                table.code, f"p:{1 - late_seat}", table.version, playable_card(table), f"m{number}"
            )
    assert table.late_counts[late_seat] == 3 if strict else table.late_counts[late_seat] > 3
    assert table.late_counts[1 - late_seat] == 0
    assert table.game
    assert table.game.winner == ((1 - late_seat,) if strict else None)
    assert table.game.ending == ("timeout" if strict else None)


async def test_robot_moves_are_never_late(room: Room) -> None:
    table = await start_game(room, strict=True, robot=True)
    for number in range(12):
        seat = turn_of(table)
        if seat == 1:
            table = await room.make_moves_for(table.code, seat, table.version, [playable_card(table)], f"m{number}")
        else:
            table = await room.make_move(table.code, "p:0", table.version, playable_card(table), f"m{number}")
    assert (table.phase, table.late_counts) == ("playing", (0, 0))


async def test_move_for_player_needs_turn_and_current_version(room: Room, challenges: Challenges) -> None:
    table = await start_game(room)
    seat = turn_of(table)
    for wrong_seat, version in ((1 - seat, table.version), (seat, table.version - 1), (seat, table.version + 1)):
        with pytest.raises(OldPanel):
            await room.make_moves_for(table.code, wrong_seat, version, [playable_card(table)], "u1")
    waiting_table = await challenges.open_table("testa", "p:5", "P5", "open 2")
    with pytest.raises(OldPanel):
        await room.make_moves_for(waiting_table.code, 0, waiting_table.version, ["play 3D"], "u2")


async def test_move_for_wrong_seat_of_four_is_refused(room: Room) -> None:
    table = await start_game(room, "tressette")
    for number in range(4):
        seat = turn_of(table)
        for wrong_seat in {0, 1, 2, 3} - {seat}:
            with pytest.raises(OldPanel):
                await room.make_moves_for(
                    table.code, wrong_seat, table.version, [playable_card(table)], f"wrong {number}"
                )
        table = await room.make_moves_for(table.code, seat, table.version, [playable_card(table)], f"m{number}")
        assert (len(table.moved_at), table.moved_at[seat]) == (4, table.version)


async def test_late_move_that_ends_a_deal_starts_the_next(room: Room) -> None:
    table = await start_game(room)
    for number in range(40):
        assert table.game
        assert table.game.deal_number == 1
        table = await room.make_moves_for(
            table.code, turn_of(table), table.version, [playable_card(table)], f"m{number}"
        )
    assert table.game
    assert (table.game.deal_number, table.dealt_at) == (2, table.version)


async def test_stored_game_is_judged_by_its_own_release(store: Store) -> None:
    tables = {release: at_tie_break(release, f"TABLE{release}") for release in (1, RELEASE)}
    for table in tables.values():
        await store.append(table.code, Log([]), table.log.entries)
    room = Room(store, Random(0).randbytes)

    # Both games continue after the upgrade.
    for release, table in tables.items():
        loaded = await room.table(table.code)
        assert (loaded.phase, loaded.error) == ("playing", "")
        assert loaded.game
        assert (loaded.game.release, loaded.game.totals) == (release, (22, 22))

    new = tables[RELEASE]
    with pytest.raises(ClaimNeedsLead):
        await room.make_move(new.code, "p:2", new.version, "claim", "claim")
    seat = turn_of(new)
    assert (await room.make_move(new.code, f"p:{seat}", new.version, playable_card(new), "card")).phase == "playing"

    old = await room.make_move(tables[1].code, "p:2", tables[1].version, "claim", "claim")
    assert old.game
    assert (old.game.ending, old.game.winner) == ("claim", (0, 2))

    # Another worker reads the same end, and the record can still be checked.
    assert (await Room(store, Random(1).randbytes).table(old.code)).phase == "over"
    assert "before release 2" in verify(read(old.game.record().to_json()))


async def test_new_game_has_the_current_release(room: Room) -> None:
    game = (await start_game(room, "tressette")).game
    assert game
    assert game.release == RELEASE


async def test_closed_table_has_no_winner(room: Room, challenges: Challenges) -> None:
    challenge = await challenges.open_table("testa", "p:5", "P5", "open 2")
    closed = await room.close(challenge.code, "close 1")
    assert closed.closed == "cancelled"
    assert (await room.close(challenge.code, "once more")).version == closed.version
    table = await room.close((await start_game(room)).code, "close 2")
    assert table.game
    assert (table.phase, table.game.ending, table.game.winner) == ("over", "cancelled", ())
    assert (await room.close(table.code, "close 3")).version == table.version


async def test_removed_table_leaves_no_keys(room: Room, challenges: Challenges) -> None:
    table = await challenges.open_table("testa", "p:0", "P0", "open", host="p:100")
    table = await room.close(table.code, "close")
    await room.remove(table)
    assert room.cached_table(table.code) is None
    with pytest.raises(NoSuchTable):
        await room.table(table.code)
    assert await room.store.client.keys("*p:0*") == []
    assert await room.store.client.keys("*p:100*") == []
