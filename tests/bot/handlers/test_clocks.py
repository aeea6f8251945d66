"""Clocks of tables: a nudge, then a decision of the opponents or a robot's move."""

from random import Random

import pytest

from bot.store import Store
from bot.worker import Worker
from tests.bot.fake_platform import (
    GROUP,
    STRICT_CLOCK,
    FakePlatform,
    Player,
    code_of,
    create_players,
    mover_and_other,
    open_worker,
    seat_players,
)
from tests.bot.playing_time import ring_clocks
from tests.bot.tables.test_table import find_declaration

DECISIONS = ("Claim the win", "Let a robot play this move", "Wait")


async def start_game(worker: Worker, fake: FakePlatform) -> tuple[Player, Player]:
    """Start a game and return the player to move and the other player."""
    return mover_and_other(await seat_players(worker, fake, "metamazzo"))


async def run_out_clock(worker: Worker) -> None:
    for _ in range(2):
        await ring_clocks(worker, 155)


async def test_nudge_at_half_time_is_a_new_message(worker: Worker, fake: FakePlatform) -> None:
    mover, _other = await start_game(worker, fake)
    await ring_clocks(worker, 140)
    assert "Half of your time" not in fake.last(mover.private).plain
    [before] = fake.messages[mover.private]

    # An edit would not notify the player.
    await ring_clocks(worker, 15)
    assert "Half of your time" in fake.last(mover.private).plain
    [nudge] = fake.messages[mover.private]
    assert nudge != before


async def test_opponent_can_wait_for_a_late_player(worker: Worker, fake: FakePlatform) -> None:
    mover, other = await start_game(worker, fake)
    await run_out_clock(worker)
    assert "Your time is up" in fake.last(mover.private).plain
    assert f"{mover.person.name}\u2069’s time is up" in fake.last(GROUP).plain

    _, button = other.button("Wait")
    assert "can’t decide that" in (await mover.send(button.payload)).toast
    await other.press("Wait")
    assert "time is up" not in fake.last(mover.private).plain

    # The late player gets the full time again.
    await ring_clocks(worker, 155)
    assert "Your time is up" not in fake.last(mover.private).plain
    await ring_clocks(worker, 155)
    assert "Your time is up" in fake.last(mover.private).plain


async def test_opponent_can_let_a_robot_play(worker: Worker, fake: FakePlatform) -> None:
    mover, other = await start_game(worker, fake)
    await run_out_clock(worker)
    version = (await worker.room.table(await code_of(worker, mover))).version
    await other.press("Let a robot play this move")
    assert (await worker.room.table(await code_of(worker, mover))).version == version + 2

    # All players read that a robot made the move.
    assert "🤖 Your time was up: a robot moved for you." in fake.last(mover.private).plain
    notice = f"🤖 \u2068{mover.person.name}\u2069’s time was up: a robot moved."
    assert notice in fake.last(other.private).plain
    assert notice in fake.last(GROUP).plain


async def test_opponent_can_claim_the_win(worker: Worker, fake: FakePlatform) -> None:
    _mover, other = await start_game(worker, fake)
    await run_out_clock(worker)
    _, button = other.button("Wait")
    await other.press("Claim the win")
    assert "ran out of time" in fake.last(GROUP).plain
    [game] = [game async for game in worker.archive.games()]
    assert game.record.ending == "timeout"
    assert "There’s no table" in (await other.send(button.payload)).toast


async def test_robot_for_a_late_player_declares_and_plays_at_once(store: Store) -> None:
    fake = FakePlatform()
    secret, *_ = find_declaration()
    async with open_worker(store, fake) as worker:
        worker.room.new_secret = lambda size: bytes([secret]) * size
        players = await seat_players(worker, fake, "tavolo")
        code = await code_of(worker, players[0])
        before = await worker.room.table(code)
        assert before.game
        late_seat = before.game.turn
        assert late_seat is not None
        for _ in range(2):
            await ring_clocks(worker, 155)

        # The partner has no decision buttons.
        partner = fake.last(players[(late_seat + 2) % 4].private)
        assert f"{players[late_seat].person.name}\u2069’s time is up: the others decide." in partner.plain
        assert not [button for row in partner.rows for button in row if button.label in DECISIONS]
        await players[(late_seat + 1) % 4].press("Let a robot play this move")
        after = await worker.room.table(code)
        assert after.game
        *declarations, card = [move for seat, move in after.game.moves if seat == late_seat]
        assert declarations
        assert all(move.startswith("declare ") for move in declarations)
        assert card.startswith("play ")
        assert after.game.turn != late_seat
        assert after.late_counts[late_seat] == 1


@pytest.mark.parametrize("clock", [("⏱ 1 min",), STRICT_CLOCK])
async def test_clock_stops_if_only_robots_wait(worker: Worker, fake: FakePlatform, clock: tuple[str, ...]) -> None:
    anna = create_players(worker, fake)[0]
    await anna.say("/challenge metamazzo")
    await anna.press("Change", GROUP)
    for label in clock:
        await anna.press(label, GROUP)
    await anna.press("Done", GROUP)
    await anna.press("Add robot", GROUP)
    await anna.press("🤖 Easy", GROUP)
    for _ in range(20):
        await worker.alarms.wait_until_idle()
        await worker.wait_until_idle()
        if anna.moves():
            break
        await ring_clocks(worker, 1)
    assert anna.moves()
    before = await worker.room.table(await code_of(worker, anna))
    for _ in range(4):
        await ring_clocks(worker, 70)
    after = await worker.room.table(before.code)
    assert (after.version, after.alarm) == (before.version, "")
    assert "time" not in fake.last(anna.private).plain.lower()


async def test_strict_clock_forfeits_the_third_time(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa", *STRICT_CLOCK)
    random = Random(1)
    lates = []
    for _ in range(60):
        tables = await worker.room.lists.tables_of(players[0].person.id)
        if not tables:
            break
        table = tables[0]
        lates.append(table.late_counts)
        if players[0].moves():
            await players[0].play(random)
            await worker.wait_until_idle()
        else:
            await ring_clocks(worker, 31)
    assert "ran out of time" in fake.last(GROUP).plain
    assert max(max(late) for late in lates) == 2
    [game] = [game async for game in worker.archive.games()]
    assert game.record.winner == [0]


async def test_move_in_time_resets_the_late_count(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa", *STRICT_CLOCK)
    code = await code_of(worker, players[0])
    random = Random(1)
    for _ in range(12):
        await ring_clocks(worker, 31)
        table = await worker.room.load_cached(code)
        if max(table.late_counts) == 2:
            break
    late_seat = table.late_counts.index(2)
    while not players[late_seat].moves():
        await players[1 - late_seat].play(random)
        await worker.wait_until_idle()
    notice = f"🤖 \u2068{players[late_seat].person.name}\u2069’s time was up: a robot moved."
    assert "🤖 Your time was up: a robot moved for you." in fake.last(players[late_seat].private).plain
    assert notice in fake.last(GROUP).plain
    await players[late_seat].play(random)
    await worker.wait_until_idle()
    assert (await worker.room.load_cached(code)).late_counts[late_seat] == 0
    assert "a robot moved for you" not in fake.last(players[late_seat].private).plain
    assert notice not in fake.last(players[1 - late_seat].private).plain
    assert notice not in fake.last(GROUP).plain


async def test_table_without_a_clock_never_moves(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa", "no clock")
    version = (await worker.room.table(await code_of(worker, players[0]))).version
    await ring_clocks(worker, 30 * 86400)
    assert (await worker.room.table(await code_of(worker, players[0]))).version == version
