"""A commit sends its entries to the worker that delivers the table, so that worker reads nothing from the store."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from structlog.testing import capture_logs

from bot.delivery.message_state import decode_state
from bot.delivery.surface import Change
from bot.delivery.surface_names import Hand, encode_name
from bot.handlers import presses
from bot.store import EmbeddedStore, Store, keys
from bot.store.commit_notification import NEW_LOG, CommitNotification
from bot.store.log import Log
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player, code_of, mover_of, open_worker, seat_players
from tests.bot.worker.fleet import Fleet

LONG_AGO = 1_000_000_000
"""Unix seconds."""


@pytest.fixture
async def fleet(store: Store, shared_valkey: EmbeddedStore) -> AsyncIterator[Fleet]:
    fleet = Fleet(store, [shared_valkey.url] * 2)
    await fleet.open()
    yield fleet
    await fleet.close()


async def start_game(fleet: Fleet) -> tuple[Worker, Worker, Player]:
    """Start a game. Return the table's owner, the other worker, and the player to move, who uses the other worker."""
    first, second = fleet.workers
    anna, bruno = Player(first, fleet.fake, "Anna", 1), Player(first, fleet.fake, "Bruno", 2)
    await anna.say("/challenge metamazzo")
    code = await code_of(first, anna)
    await bruno.press("Join", GROUP)
    await fleet.wait_until_idle()
    owner, other = (first, second) if first.shards.owns(code) else (second, first)
    table = await other.room.table(code)
    assert table.game
    mover = (anna, bruno)[table.game.turn or 0]
    return owner, other, Player(other, fleet.fake, mover.person.name, int(mover.person.id.partition(":")[2]))


async def test_move_of_another_worker_is_shown_without_a_read(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, other, player = await start_game(fleet)
    [table] = await other.room.lists.tables_of(player.person.id)

    async def fail_read(*_: object) -> None:
        raise AssertionError("the worker read entries that the commit notification had")

    monkeypatch.setattr(owner.store, "entries_since", fail_read)
    before = fleet.fake.last(player.private)
    _message, button = next(move for move in player.moves() if "play" in move[1].payload)
    await player.press(button.label)
    await fleet.wait_until_idle()
    cached = owner.room.cached_table(table.code)
    assert cached
    assert cached.version > table.version
    assert cached.log.entries == (await other.store.load(table.code)).entries
    assert fleet.fake.last(player.private) != before


async def test_press_at_another_worker_counts_as_seen(fleet: Fleet) -> None:
    owner, _other, player = await start_game(fleet)
    [code] = [table.code for table in await owner.room.lists.tables_of(player.person.id)]
    name = Hand((await owner.room.table(code)).seat_of(player.person.id) or 0)
    surface = owner.delivery._tables[code].get(name)
    assert surface
    assert surface.record_press(Change(pressed=surface.message_state.message), "", LONG_AGO)
    _message, button = next(move for move in player.moves() if "play" in move[1].payload)
    await player.press(button.label)
    await fleet.wait_until_idle()
    assert surface.message_state.seen_at > LONG_AGO
    stored_state = decode_state((await fleet.store.load_shown(code))[encode_name(name)])
    assert stored_state.message == surface.message_state.message


async def test_notification_of_an_older_release_is_accepted(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    _owner, _other, player = await start_game(fleet)
    monkeypatch.setattr(presses, "encode_name", lambda _hand: player.person.id)
    before = fleet.fake.last(player.private)
    _message, button = next(move for move in player.moves() if "play" in move[1].payload)
    with capture_logs() as logs:
        await player.press(button.label)
        await fleet.wait_until_idle()
    assert fleet.fake.last(player.private) != before
    assert [line for line in logs if line["log_level"] in ("warning", "error")] == []


async def test_repeated_press_counts_as_seen(store: Store) -> None:
    """A kill after the commit could have lost the record of the press, so the repeated press must update it."""
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        mover = mover_of(players)
        code = await code_of(worker, mover)
        message, button = mover.moves()[0]
        await mover.send(button.payload, mover.private, message, key="once")
        await worker.wait_until_idle()
        surface = worker.delivery._tables[code].get(Hand(players.index(mover)))
        assert surface
        surface.record_press(Change(pressed=surface.message_state.message), "", LONG_AGO)
        version = (await worker.room.table(code)).version
        await mover.send(button.payload, mover.private, message, key="once")
        assert surface.message_state.seen_at > LONG_AGO
        assert (await worker.room.table(code)).version == version


async def test_only_the_next_commit_extends_a_cached_table(fleet: Fleet) -> None:
    owner, _other, player = await start_game(fleet)
    [table] = await owner.room.lists.tables_of(player.person.id)
    room, last = owner.room, table.log.last_entry
    notification = CommitNotification(table.code, table.version, None, None, last, [b"host paper:7\tu"])
    for unfitting in (
        notification._replace(version=table.version - 1),
        notification._replace(version=table.version + 1),
        notification._replace(version=NEW_LOG),
        notification._replace(last=b"host paper:9\tlost"),
        notification._replace(entries=[b"conquer 3\tu"]),
        notification._replace(code="NOSUCH"),
    ):
        assert not room.apply_commit(unfitting)
        assert room.cached_table(table.code) is table
    assert room.apply_commit(notification)
    assert (await room.load_cached(table.code)).hosts == (*table.hosts, "paper:7")

    # Entries that were never written disappear with the next read.
    assert (await room.table(table.code)).hosts == table.hosts


async def test_commit_notifies_only_another_owner(store: Store) -> None:
    async with AsyncExitStack() as stack:
        pubsub = await stack.enter_async_context(store.client.pubsub())
        await pubsub.subscribe(keys.worker_channel("owner"), keys.worker_channel("another"))
        for _ in range(2):
            await pubsub.get_message(timeout=20)
        shard = keys.shard_of("ABCD")
        assert await store.leases.hold_shard("owner", shard, "take")
        await store.append("ABCD", Log([]), [b"one\tu1"], clock=5)
        await store.append("ABCD", Log([b"one\tu1"]), [b"two\tu2"], tell=False)
        await store.append("ABCD", Log([b"one\tu1"]), [b"refused\tu3"])
        log = Log([b"one\tu1", b"two\tu2"])
        await store.append("ABCD", log, [b"three \xc3\xa8\tu4", b"four\tu4"], details=("somebody", 1))
        await store.rewrite("ABCD", log.with_entries([b"three \xc3\xa8\tu4", b"four\tu4"]), Log([b"x"] * 6))
        messages = [await pubsub.get_message(timeout=20) for _ in range(3)]
        assert await pubsub.get_message(timeout=0.1) is None
        assert {message["channel"] for message in messages} == {keys.worker_channel("owner").encode()}
        assert [CommitNotification.parse(message["data"]) for message in messages] == [
            CommitNotification("ABCD", 0, 5, None, b"", [b"one\tu1"]),
            CommitNotification("ABCD", 2, None, ["somebody", 1], b"two\tu2", [b"three \xc3\xa8\tu4", b"four\tu4"]),
            CommitNotification("ABCD", NEW_LOG, None, None, b"four\tu4", [b"x"]),
        ]

        # Without an owner there is no notification.
        await store.leases.release_shard("owner", shard)
        await store.append("ABCD", Log([b"x"] * 6), [b"seven\tu7"])
        assert await pubsub.get_message(timeout=0.1) is None


async def test_unreadable_commit_notifications_are_skipped(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake, alone=False) as worker:
        anna = Player(worker, fake, "Anna", 1)
        while not await store.client.publish(keys.worker_channel(worker.shards.worker_id), b""):
            pass
        for data in (
            b"\n",
            b"{}\n\n",
            b'["CODE", 1]\n\n',
            b'["CODE", null, "soon", {"x": 1}]\nlast\nentry',
            b"\xff\n",
        ):
            assert await store.client.publish(keys.worker_channel(worker.shards.worker_id), data)
        await anna.say("/challenge testa")
        assert fake.messages[GROUP]
        assert (await worker.check_health())["failing_loops"] == []
