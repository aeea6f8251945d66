"""An unreadable table is set aside, its players are notified, and other tables continue."""

import asyncio
from random import Random

import pytest
import structlog

from bot.store import Store, keys
from bot.store.log import add_stamp
from bot.tables import Room
from bot.tables.errors import SetAside
from bot.tables.limits import MAX_TABLES
from bot.tables.table import Table
from bot.worker import Worker
from tests.bot.fake_platform import (
    GROUP,
    FakePlatform,
    Player,
    code_of,
    open_worker,
    play_until,
    seat_players,
)
from tests.bot.handlers.test_live_hands import Page
from tests.tricks import tricks_played

UNREADABLE = {
    "an illegal move": "0 play 9X",
    "a move out of turn": "{other} resign now",
    "an unknown entry": "conquer 3",
    "an unknown option": "rule jokers 2",
    "a deal during another deal": f"deal {'0' * 64}",
    "rules of another release": "deal 00 2 target=51",
    "damaged text": "\ufffd\x00 \ud7ff",
    "empty": "",
}


async def break_log(store: Store, code: str, entry: str) -> None:
    """Append an entry that this release cannot read."""
    await store.append(code, await store.load(code), [add_stamp(entry, "broken")], clock=1000.0)


def is_notified(fake: FakePlatform, place: str) -> bool:
    return any("is on hold" in text for text in fake.texts(place))


@pytest.mark.parametrize("entry", UNREADABLE.values(), ids=UNREADABLE)
async def test_unreadable_table_is_set_aside(store: Store, entry: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        message, button = next(moves[0] for player in players if (moves := player.moves()))
    await break_log(store, code, entry.format(other=1))
    with structlog.testing.capture_logs() as logs:
        async with open_worker(store, fake) as worker:
            players = [Player(worker, fake, name, number) for number, name in enumerate(("Anna", "Bruno"), 1)]
            for _ in range(100):
                await worker.wait_until_idle()
                if is_notified(fake, GROUP):
                    break
                await asyncio.sleep(0.02)
            await worker.wait_until_idle()
            for place in (GROUP, players[0].private, players[1].private):
                assert is_notified(fake, place), place
            assert not [row for place in fake.messages.values() for panel in place.values() for row in panel.rows]

            # Presses are answered, and every command works.
            for player in players:
                assert "can’t open table" in (await player.send(button.payload, player.private, message)).toast
                assert "no game running" in (await player.say("/hand")).toast
                await player.say("/tables", player.private)
                assert "You’re at no table" in fake.last(player.private).plain

            # The table's clock does not expire.
            calls = len(fake.calls)
            await worker.alarms.poll()
            await worker.alarms.wait_until_idle()
            await worker.wait_until_idle()
            assert len(fake.calls) == calls
            assert not await store.changed_tables(range(keys.SHARDS))
            assert await store.client.zscore(keys.timers(keys.shard_of(code)), code) is None

            # Other tables continue.
            new_players = await seat_players(worker, fake, "testa")
            await play_until(worker, new_players, Random(1), lambda: tricks_played(fake.last(GROUP).plain) >= 3)

    assert [line for line in logs if line["event"] == "table_set_aside"] == [
        {"event": "table_set_aside", "log_level": "error", "table": code, "why": set_aside_reason(logs)}
    ]
    assert not [
        line for line in logs if line["log_level"] in ("error", "critical") and line["event"] != "table_set_aside"
    ]


def set_aside_reason(logs: list[structlog.typing.EventDict]) -> str:
    return next(str(line["why"]) for line in logs if line["event"] == "table_set_aside")


async def test_page_says_that_its_table_is_set_aside(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        started = await code_of(worker, players[0])
        challenge = await worker.challenges.open_table("testa", players[0].person.id, "Anna", "u1")
        for code in (started, challenge.code):
            page = await Page.open(players[0], code)
            await break_log(store, code, "conquer 3")
            page.hand.reload()
            for opened_page in (page, await Page.open(players[0], code)):
                await opened_page.wait_until(lambda state: state["phase"] == "unreadable")
                assert "is on hold" in opened_page.state["says"]
                assert not any(opened_page.state[key] for key in ("rows", "extra", "hand", "sides", "resign", "line"))
                await opened_page.close()
            assert await players[0].dispatcher.live_hands.open_hand(code, "paper:99") is None


@pytest.mark.parametrize("head", [b"nonsense", b"3 \xff\xff damaged"])
async def test_damaged_log_is_set_aside(store: Store, head: bytes) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
    await store.client.lset(keys.table(code), 0, head)
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        with pytest.raises(SetAside):
            await worker.room.table(code)
        assert "can’t open table" in (await anna.say(f"/join {code}")).toast
        assert not (await anna.say("/challenge testa")).toast
        # Do not wait for the next sweep.
        worker.delivery.touch(code, reload=True)
        await worker.wait_until_idle()
        await asyncio.sleep(0.1)
        await worker.wait_until_idle()
        assert not await store.changed_tables(range(keys.SHARDS))


async def test_cached_table_with_a_damaged_log_is_set_aside(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        assert worker.room.cached_table(code)
        await store.client.lset(keys.table(code), 0, b"3 \xff\xff damaged")
        with pytest.raises(SetAside):
            await worker.room.table(code)
        assert await worker.room.lists.tables_of(players[0].person.id) == []


async def test_table_continues_once_readable_again(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        version = (await worker.room.table(code)).version
        before = await store.leases.clock_rings_in(code)
        assert before
    await break_log(store, code, "conquer 3")
    async with open_worker(store, fake) as worker:
        await _wait_until_notified(worker, fake)
        assert await store.set_aside_tables(range(keys.SHARDS)) == [code]

    # To repair the table, the test removes the unreadable entry.
    await store.client.rpop(keys.table(code))
    async with open_worker(store, fake) as worker:
        players = [Player(worker, fake, name, number) for number, name in enumerate(("Anna", "Bruno"), 1)]
        for _ in range(200):
            await asyncio.sleep(0.02)
            await worker.wait_until_idle()
            if not is_notified(fake, GROUP):
                break
        assert await store.set_aside_tables(range(keys.SHARDS)) == []
        assert (await worker.room.table(code)).version == version

        # The clock continues with the 1000 seconds that `break_log` stored.
        remaining = await store.leases.clock_rings_in(code)
        assert remaining
        assert 900 < remaining <= 1000
        await play_until(worker, players, Random(1), lambda: tricks_played(fake.last(GROUP).plain) >= 2)


async def _wait_until_notified(worker: Worker, fake: FakePlatform) -> None:
    for _ in range(200):
        await asyncio.sleep(0.02)
        await worker.wait_until_idle()
        if is_notified(fake, GROUP):
            return
    raise AssertionError("the group was not notified that its table is set aside")


async def test_reading_an_unreadable_table_changes_nothing(store: Store) -> None:
    """The reader can be `buongioco tables` of another release or a worker that does not own the table."""
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
    # No worker runs now, because the owner would set the table aside.
    await break_log(store, code, "conquer 3")
    before = await store.client.dump(keys.timers(keys.shard_of(code)))
    reader = Room(store)
    assert (await reader.load(code)).error
    assert await store.client.dump(keys.timers(keys.shard_of(code))) == before
    assert await store.set_aside_tables(range(keys.SHARDS)) == []


async def test_unreadable_tables_do_not_count_for_limits(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        for number in range(MAX_TABLES):
            await anna.say("/challenge testa", f"paper:{1000 + number}")
        for table in await worker.room.lists.tables_of("paper:1"):
            await break_log(store, table.code, "conquer 3")
        assert not (await anna.say("/challenge testa")).toast


async def test_table_unreadable_to_an_older_release_stays_listed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """This can happen during an upgrade. The table's owner can read it."""
    fake = FakePlatform()
    async with open_worker(store, fake, alone=False) as owner:
        players = await seat_players(owner, fake, "metamazzo")
        code = await code_of(owner, players[0])

        # The older worker is never started, so it delivers nothing.
        older = Worker(store, owner.settings, alone=False)

        async def load_as_older(code: str, **_: object) -> Table:
            return await older.room._cache(Table.unreadable(code, "release 2"))

        monkeypatch.setattr(older.room, "load", load_as_older)
        monkeypatch.setattr(older.room.lists, "_load", load_as_older)
        for player in players:
            assert await older.room.lists.tables_of(player.person.id) == []
        assert await older.room.lists.tables_at(GROUP) == []
        await owner.wait_until_idle()
        for player in players:
            assert await code_of(owner, player) == code
            assert "private chat" in (await player.say("/hand")).toast
        assert [table.code for table in await owner.room.lists.tables_at(GROUP)] == [code]
        await older.stop()
