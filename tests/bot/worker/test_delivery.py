"""Delivery: after any failure, chats show the state of their tables, and no message is sent twice."""

import asyncio
from functools import partial
from random import Random

import pytest
from structlog.testing import capture_logs

from bot import platform
from bot.delivery import delivery, surface_waits
from bot.delivery.message_state import decode_state
from bot.handlers import Dispatcher
from bot.panel import utf16_length
from bot.panels.board import board_panel
from bot.people import Profile
from bot.platform import ChatGone, Command, DeliveryError, MessageGone, NotDelivered, PlatformFailure, SlowDown
from bot.rate_limiter import RateLimit
from bot.settings import Settings
from bot.store import Store, keys
from bot.store.log import strip_stamp
from bot.tables.snapshot import take_snapshot
from bot.worker import Worker
from tests.bot.fake_platform import (
    GROUP,
    FakePlatform,
    Player,
    code_of,
    mover_and_other,
    mover_of,
    open_worker,
    play_until,
    seat_players,
)
from tests.long import long


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(delivery, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(platform, "SHORTEST_WAIT", 0.0)


async def check_messages(worker: Worker, fake: FakePlatform, players: list[Player]) -> None:
    """Check that each player has one panel with exactly the legal plays, and the group's board is up to date."""
    await worker.wait_until_idle()
    assert not await worker.store.changed_tables(range(keys.SHARDS))
    for player in players:
        assert len(fake.messages[player.private]) == 1, fake.texts(player.private)
        [table] = await worker.room.lists.tables_of(player.person.id)
        assert table.game
        seat = table.seat_of(player.person.id)
        assert seat is not None
        offered = {button.payload.split(":")[2] for _, button in player.moves()}
        legal = table.game.legal_moves(seat) if table.game.turn == seat else []
        assert {move for move in offered if move.startswith("play")} == {
            move for move in legal if move.startswith("play")
        }
        seal = table.game.view(None).commitment or ""
        board = board_panel(take_snapshot(table.localize("en"), None), "en", "italian", seal=seal)
        board = board if utf16_length(board.plain) <= fake.longest else board.cut(fake.longest)
        assert fake.last(GROUP) == board, (fake.last(GROUP).plain, board.plain)


async def play_moves(worker: Worker, players: list[Player], count: int, seed: str = "moves") -> None:
    """Press this many random buttons."""
    checks = iter([False] * count)
    await play_until(worker, players.copy(), Random(seed), lambda: next(checks, True))


async def test_deleted_message_is_sent_again(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        other = next(player for player in players if not player.moves())
        fake.messages[GROUP].clear()
        fake.messages[other.private].clear()
        await play_moves(worker, players, 6)
        await check_messages(worker, fake, players)
        assert "Tricks: " in fake.last(GROUP).plain


async def test_hand_command_replaces_a_deleted_panel(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        mover = mover_of(players)
        fake.messages[mover.private].clear()
        reply = await mover.say("/hand")
        assert "on their way to our private chat" in reply.toast
        assert mover.moves()


@pytest.mark.parametrize("error", [SlowDown(0.02), long(PlatformFailure("no answer")), long(MessageGone(""))], ids=repr)
async def test_failed_delivery_is_retried(store: Store, error: DeliveryError) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        for player in players:
            fake.errors[player.private] += [error] * 3
        fake.errors[GROUP] += [error] * 3
        await play_moves(worker, players, 8)
        await worker.wait_until_idle()
        for player in players:
            assert not fake.errors[player.private]
            assert player.fake.messages[player.private]
        if not isinstance(error, MessageGone):
            await check_messages(worker, fake, players)


@pytest.mark.parametrize("knows_keys", [True, False])
async def test_idempotency_key_prevents_duplicate_messages(store: Store, knows_keys: bool) -> None:
    fake = FakePlatform(knows_keys=knows_keys)
    fake.errors_after_delivery["paper:@2"] = [PlatformFailure("timed out")]
    async with open_worker(store, fake) as worker:
        await seat_players(worker, fake, "metamazzo")
        assert len(fake.messages["paper:@2"]) == (1 if knows_keys else 2)


async def test_uncertain_sends_are_retried_with_growing_pauses(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 0.001)
    fake = FakePlatform(knows_keys=False)
    fake.errors_after_delivery[GROUP] = [PlatformFailure("an answer that is not JSON")] * 6
    with capture_logs() as logs:
        async with open_worker(store, fake) as worker:
            await Player(worker, fake, "Anna", 1).say("/challenge metamazzo")
    pauses = [line["again_in"] for line in logs if line["event"] == "send_failed"]
    assert pauses == pytest.approx([0.001 * 4**number for number in range(6)])
    # If a message was certainly not sent, the pauses grow more slowly, up to a limit.
    monkeypatch.setattr(surface_waits, "MAX_RETRY_SECONDS", 0.004)
    fake.errors["paper:200"] = [NotDelivered("refused")] * 5
    with capture_logs() as logs:
        async with open_worker(store, fake) as worker:
            await Player(worker, fake, "Bruno", 2).say("/challenge testa", "paper:200")
    pauses = [line["again_in"] for line in logs if line["event"] == "send_failed"]
    assert pauses == pytest.approx([0.001, 0.002, 0.004, 0.004, 0.004])


async def test_uncertain_message_does_not_block_others(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 3600.0)
    fake = FakePlatform(knows_keys=False)
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        mover, other = mover_and_other(players)
        fake.messages[other.private].clear()
        fake.errors_after_delivery[other.private] = [PlatformFailure("an answer that is not JSON")] * 3

        async def wait_for_hands(count: int) -> None:
            while len(fake.messages[other.private]) < count:
                await asyncio.sleep(0)

        # The hand was deleted. Each change or request sends one new hand.
        await mover.press(mover.moves()[0][1].label, settle=False)
        await wait_for_hands(1)
        dispatcher = Dispatcher(worker)
        await dispatcher.handle_command(Command("c-again", other.person, other.private, "hand"))
        await wait_for_hands(2)
        assert other.moves()
        await other.press(other.moves()[0][1].label, settle=False)
        await wait_for_hands(3)
        for _ in range(200):
            await asyncio.sleep(0)
        assert len(fake.messages[other.private]) == 3


async def test_pressed_duplicate_hand_is_deleted(store: Store) -> None:
    fake = FakePlatform(knows_keys=False)
    fake.errors_after_delivery["paper:@1"] = [PlatformFailure("timed out")]
    fake.errors_after_delivery["paper:@2"] = [PlatformFailure("timed out")]
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        mover = mover_of(players)
        duplicate = next(iter(fake.messages[mover.private]))
        await mover.send(mover.moves()[0][1].payload, mover.private, duplicate)
        await worker.wait_until_idle()
        assert duplicate not in fake.messages[mover.private]
        assert len(fake.messages[mover.private]) == 1


async def create_duplicate_challenge(worker: Worker, fake: FakePlatform) -> tuple[Player, Player, str]:
    """Create a challenge with a duplicate card; return the players and the older of the two cards."""
    anna, bruno = Player(worker, fake, "Anna", 1), Player(worker, fake, "Bruno", 2)
    fake.errors_after_delivery[GROUP] = [PlatformFailure("timed out")]
    await anna.say("/challenge metamazzo")
    assert len(fake.messages[GROUP]) == 2
    return anna, bruno, next(iter(fake.messages[GROUP]))


async def test_pressed_duplicate_challenge_is_deleted(store: Store) -> None:
    fake = FakePlatform(knows_keys=False)
    async with open_worker(store, fake) as worker:
        _anna, bruno, older = await create_duplicate_challenge(worker, fake)
        payload = bruno.button("Change", GROUP)[1].payload
        await bruno.send(payload, GROUP, older)
        await worker.wait_until_idle()
        assert older not in fake.messages[GROUP]
        await bruno.press("Join", GROUP)
        assert "cards are dealt" in next(iter(fake.messages[GROUP].values())).plain


async def test_message_sent_before_a_crash_is_updated(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        mover = mover_of(players)

        # The panel is sent again, but its state is not saved. Then the player moves.
        with monkeypatch.context() as patch:
            save_shown = store.save_shown

            async def lose_hands(code: str, surfaces: dict[str, str], version: int | None, worker: str) -> None:
                if not any(text.split("\t")[0] for name, text in surfaces.items() if name[0] == "h"):
                    await save_shown(code, surfaces, version, worker)

            patch.setattr(store, "save_shown", lose_hands)
            await mover.say("/hand")
        await commit_undelivered(worker, players)
    async with open_worker(store, fake) as worker:
        await asyncio.sleep(0.2)
        for player in players:
            player.worker, player.dispatcher = worker, Dispatcher(worker)
        await check_messages(worker, fake, players)
        assert not mover.moves()


@pytest.mark.parametrize("moves", [0, 3])
async def test_pressed_duplicate_of_a_running_game_has_no_join(store: Store, moves: int) -> None:
    fake = FakePlatform(knows_keys=False)
    async with open_worker(store, fake) as worker:
        anna, bruno, older = await create_duplicate_challenge(worker, fake)
        payload = bruno.button("Join", GROUP)[1].payload
        await bruno.press("Join", GROUP)
        for player in (anna, bruno) * moves:
            if player.moves():
                await player.press(player.moves()[0][1].label)
        assert fake.messages[GROUP][older].rows
        reply = await bruno.send(payload, GROUP, older)
        await worker.wait_until_idle()
        assert reply.toast
        if moves:
            assert [button.label for row in fake.messages[GROUP][older].rows for button in row] == ["My hand"]
        else:
            assert older not in fake.messages[GROUP]


async def test_unreachable_person_is_asked_to_open_the_chat(store: Store) -> None:
    fake = FakePlatform()
    fake.closed.add("paper:@2")
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        assert "Bruno\u2069, I can’t write to you" in fake.last(GROUP).plain
        [row] = fake.last(GROUP).rows
        assert row[0].kind == "private"
        calls = len(fake.calls)
        await asyncio.sleep(0.1)
        assert len(fake.calls) == calls, "the bot must not retry an unreachable person"
        fake.closed.clear()
        await players[1].dispatcher.send_hands(players[1].person, row[0].payload)
        await worker.wait_until_idle()
        assert fake.messages["paper:@2"]
        assert "can’t write" not in fake.last(GROUP).plain
        await play_moves(worker, players, 6)
        await check_messages(worker, fake, players)


async def test_game_continues_when_the_chat_is_gone(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "testa", "to 11")
        fake.errors[GROUP] += [ChatGone("kicked")] * 50
        await play_until(worker, players.copy(), Random(3), lambda: fake.last("paper:@1").plain.startswith("You "))
        await worker.wait_until_idle()
        # Each new board is tried only once.
        assert len(fake.errors[GROUP]) > 40
        assert await worker.archive.count() == 1
        assert not [
            key
            async for key in store.client.scan_iter("{s*}:*")
            if not key.endswith(b":attended") and b":gone:" not in key and b":ended:" not in key
        ]


async def test_overlong_text_is_cut(store: Store) -> None:
    fake = FakePlatform(longest=120)
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        await play_moves(worker, players, 10)
        await check_messages(worker, fake, players)
        for texts in (fake.texts(GROUP), fake.texts("paper:@1")):
            assert all(len(text) <= 120 for text in texts)
        assert fake.last(GROUP).plain.endswith("…")


async def test_removed_platform_does_not_block_delivery(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        await worker.challenges.add_host(await code_of(worker, players[0]), "elsewhere:5", "h1")
        await play_moves(worker, players, 8)
        await check_messages(worker, fake, players)


async def test_rate_limited_chat_gets_only_the_latest_state(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        fake.errors[GROUP] = [SlowDown(3600.0)]
        fake.calls.clear()
        for _ in range(400):
            for player in players:
                for message, button in player.moves()[-1:]:
                    await player.send(button.payload, player.private, message)
            await asyncio.sleep(0.001)
            if (await worker.room.load_cached(code)).version > 30:
                break

        # Clear the blocks as if the hour of `SlowDown` had passed.
        worker.delivery._tools.limiter._blocked.clear()
        worker.delivery.touch(code)
        await worker.wait_until_idle()
        edits = [call for call in fake.calls if call[1] == GROUP]
        assert 2 <= len(edits) <= 6
        await check_messages(worker, fake, players)


async def test_turn_sends_a_new_hand_when_its_time_has_come(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake, ring_after=-1.0) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        mover, other = mover_and_other(players)
        [before] = fake.messages[other.private]
        await mover.send(mover.moves()[-1][1].payload, mover.private, next(iter(fake.messages[mover.private])))
        await worker.wait_until_idle()
        [after] = fake.messages[other.private]
        assert after != before
        assert other.moves()


async def test_hands_are_edited_during_fast_play(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        before = [list(fake.messages[player.private]) for player in players]
        await play_moves(worker, players, 10)
        assert [list(fake.messages[player.private]) for player in players] == before


async def test_hand_to_move_becomes_the_lowest_message(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        first = await code_of(worker, players[0])
        await seat_players(worker, fake, "testa")
        table = await worker.room.table(first)
        # The second table's panels are lower. After a move at the first table, the other player's panel of that table
        # becomes the lowest.
        mover = next(player for player in players if table.to_move and player.person.id == table.to_move.person)
        other = next(player for player in players if player is not mover)
        message, panel = next(
            (message, panel) for message, panel in fake.messages[mover.private].items() if first in panel.plain
        )
        await mover.send(panel.rows[0][0].payload, mover.private, message)
        await worker.wait_until_idle()
        assert first in fake.last(other.private).plain
        assert len(fake.messages[other.private]) == 2


async def test_restart_sends_nothing_twice(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        await play_moves(worker, players, 7)
    before, calls = {place: dict(m) for place, m in fake.messages.items()}, len(fake.calls)
    async with open_worker(store, fake) as worker:
        await asyncio.sleep(0.1)
        await worker.wait_until_idle()
        assert fake.messages == before
        assert len(fake.calls) == calls
        for player in players:
            player.worker, player.dispatcher = worker, Dispatcher(worker)
        await play_moves(worker, players, 7, "more")
        await check_messages(worker, fake, players)


async def commit_undelivered(worker: Worker, players: list[Player]) -> str:
    """Commit a move after delivery has stopped; return the table's code."""
    code = await code_of(worker, players[0])
    await worker.delivery.stop(1.0)
    table = await worker.room.table(code)
    assert table.game
    assert table.to_move
    move = next(m for m in table.game.legal_moves(table.game.turn or 0) if m.startswith("play"))
    await worker.room.make_move(code, table.to_move.person, table.version, move, "unheard")
    return code


async def test_undelivered_commit_is_delivered_after_restart(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        await commit_undelivered(worker, players)
    async with open_worker(store, fake) as worker:
        await asyncio.sleep(0.2)
        await check_messages(worker, fake, players)
        assert "On the table" in fake.last("paper:@1").plain


async def test_table_stays_changed_until_all_hands_are_checked(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await commit_undelivered(worker, players)
        table = await worker.room.table(code)
        # The hand of the player to move is checked first.
        last = next(c.person for c in table.chairs if c and c is not table.to_move)
    gate = asyncio.Event()
    worker = Worker(store, Settings(_env_file=None), alone=True)
    load_person = worker.people.person

    async def person(id: str) -> Profile:
        if id == last:
            await gate.wait()
        return await load_person(id)

    worker.people.person = person  # type: ignore[method-assign]
    worker.add_adapter(fake)
    calls = len(fake.calls)
    await worker.start()
    try:
        while len(fake.calls) == calls:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        assert len(fake.calls) == calls + 1, "only the first hand must have been edited"
        assert await store.changed_tables(range(keys.SHARDS)) == {code: table.version}
        assert worker.delivery.lag > 0
        gate.set()
        await check_messages(worker, fake, players)
    finally:
        await worker.stop()


async def test_interrupted_delivery_continues_after_restart(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        mover = mover_of(players)
        code = await code_of(worker, mover)
        for player in players:
            fake.errors[player.private] = [PlatformFailure("no answer")]
        await mover.press(mover.moves()[0][1].label, settle=False)
        while any(fake.errors[player.private] for player in players):
            await asyncio.sleep(0)
        await worker.delivery.stop(1.0)
        assert list(await store.changed_tables(range(keys.SHARDS))) == [code]
    async with open_worker(store, fake) as worker:
        await asyncio.sleep(0.2)
        for player in players:
            player.worker, player.dispatcher = worker, Dispatcher(worker)
        await check_messages(worker, fake, players)


async def test_failing_surface_keeps_its_table_changed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        mover, other = mover_and_other(players)
        # After the press, the other player is to move, so that hand is drawn first.
        fake.errors[other.private] = [ValueError("a fault of ours")] * 10_000  # type: ignore[list-item]
        await mover.press(mover.moves()[0][1].label, settle=False)
        while len(fake.errors[other.private]) > 9_998:
            await asyncio.sleep(0.01)
        assert await store.changed_tables(range(keys.SHARDS))
        fake.errors[other.private].clear()
        async with asyncio.timeout(60):
            while await store.changed_tables(range(keys.SHARDS)):
                await asyncio.sleep(0.01)
        await check_messages(worker, fake, players)


async def wait_until_idle(store: Store, *workers: Worker) -> None:
    """Wait until no message is in flight and no table is marked as changed."""
    async with asyncio.timeout(60):
        while True:
            await asyncio.sleep(0.01)
            for worker in workers:
                await worker.wait_until_idle()
            if not await store.changed_tables(range(keys.SHARDS)):
                return


async def test_each_of_two_workers_accepts_every_press(store: Store) -> None:
    fake = FakePlatform()
    async with (
        open_worker(store, fake, alone=False) as first_worker,
        open_worker(store, fake, alone=False) as second_worker,
    ):
        await first_worker.shards.balance()
        await second_worker.shards.balance()
        await asyncio.sleep(0.1)
        assert len(first_worker.shards.owned) == len(second_worker.shards.owned) == 32
        assert first_worker.shards.owned | second_worker.shards.owned == set(range(64))
        players = [Player(first_worker, fake, "Anna", 1), Player(second_worker, fake, "Bruno", 2)]
        random = Random(5)
        settle = partial(wait_until_idle, store, first_worker, second_worker)
        await players[0].say("/challenge metamazzo")
        await settle()
        await players[1].press("Join", GROUP)
        await settle()
        code = await code_of(first_worker, players[0])
        for _ in range(20):
            for player in players:
                await player.play(random)
            await settle()

        # Both workers know the same game, and each player has one panel.
        first_table, second_table = await first_worker.room.table(code), await second_worker.room.table(code)
        assert list(map(strip_stamp, first_table.log.entries)) == list(map(strip_stamp, second_table.log.entries))
        assert first_table.version > 15
        for player in players:
            assert len(fake.messages[player.private]) == 1


async def test_hand_moves_below_one_of_another_worker(store: Store) -> None:
    fake = FakePlatform()
    async with (
        open_worker(store, fake, alone=False) as first_worker,
        open_worker(store, fake, alone=False) as second_worker,
    ):
        await first_worker.shards.balance()
        await second_worker.shards.balance()
        await asyncio.sleep(0.1)
        players = [Player(first_worker, fake, "Anna", 1), Player(second_worker, fake, "Bruno", 2)]
        settle, codes = partial(wait_until_idle, store, first_worker, second_worker), list[str]()
        while {first_worker.shards.owns(code) for code in codes} != {True, False}:
            assert len(codes) < 15
            await players[0].say("/challenge metamazzo")
            await settle()
            await players[1].press("Join", GROUP)
            await settle()
            [new] = {table.code for table in await first_worker.room.lists.tables_of(players[0].person.id)} - set(codes)
            codes.append(new)

        # The lowest hands are of the last table, the only one of its worker. The other worker has the first table.
        first = await first_worker.room.table(codes[0])
        assert first.game
        assert first.game.turn is not None
        mover = first.chairs[first.game.turn]
        assert mover
        move = next(move for move in first.game.legal_moves(first.game.turn) if move.startswith("play"))
        waiting_player = next(player for player in players if player.person.id != mover.person)
        lowest = max(map(int, fake.messages[waiting_player.private]))
        await first_worker.room.make_move(first.code, mover.person, first.version, move, "a move")
        await settle()
        assert max(map(int, fake.messages[waiting_player.private])) > lowest
        assert len(fake.messages[waiting_player.private]) == len(codes)


async def test_edits_are_saved_while_another_message_waits(store: Store) -> None:
    """So after a kill, the next worker repeats no edit, although the table was never idle."""
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno = await seat_players(worker, fake, "metamazzo")
        await worker.wait_until_idle()
        code = await code_of(worker, anna)

        # The board must wait an hour for its next turn.
        fake.rate_limit_of[GROUP] = RateLimit(burst=1, interval=3600.0)
        assert worker.delivery._tools.limiter.take_turn(GROUP) == 0
        mover, hand = (anna, "h0") if anna.moves() else (bruno, "h1")
        await mover.press(mover.moves()[0][1].label, settle=False)
        async with asyncio.timeout(60):
            while decode_state((await store.load_shown(code))[hand]).digest != fake.last(mover.private).digest:
                await asyncio.sleep(0.01)
        assert code in await store.changed_tables(range(keys.SHARDS)), (
            "the board is not shown yet, so the table must stay marked"
        )
        del fake.rate_limit_of[GROUP]
        worker.delivery.resume_platform("paper")
