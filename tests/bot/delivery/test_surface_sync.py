"""Syncing surfaces: each outcome of a platform call. No table counts as idle too early."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from redis.exceptions import ConnectionError  # noqa: A004
from structlog.testing import capture_logs

from bot import actions
from bot.delivery import delivery, lag, surface_sync, surface_waits
from bot.delivery.message_state import UNKNOWN, Outdated, State, decode_state
from bot.delivery.surface import Change, Surface
from bot.delivery.surface_names import Board, Hand, SurfaceName
from bot.delivery.surface_sync import SurfaceSync
from bot.delivery.table_sync import TableSync
from bot.panel import Panel, Span
from bot.people import Profile
from bot.platform import (
    ChatGone,
    Command,
    DeliveryError,
    MessageGone,
    MessageRefused,
    NotDelivered,
    PlatformFailure,
    SentMessage,
    SlowDown,
    Unreachable,
)
from bot.rate_limiter import RateLimit
from bot.store import Store, keys
from bot.tables.table import Table
from bot.worker import Worker
from tests.bot.fake_platform import (
    GROUP,
    NAMES,
    FakePlatform,
    Player,
    code_of,
    mover_and_other,
    mover_of,
    open_worker,
    seat_players,
)
from tests.bot.worker.fleet import LenientPlatform


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 0.01)


class GatedPlatform(FakePlatform):
    """A fake platform where calls to some places wait at a gate."""

    def __init__(self) -> None:
        super().__init__()
        self.gates: dict[str, asyncio.Event] = {}
        self.waiting: set[str] = set()

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        await self._hold(place)
        return await super().send(place, panel, key, silent=silent)

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        await self._hold(place)
        return await super().edit(place, sent, panel)

    async def _hold(self, place: str) -> None:
        if place in self.gates:
            self.waiting.add(place)
            await self.gates[place].wait()
            self.waiting.discard(place)

    async def wait_until(self, is_done: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not is_done():
                await asyncio.sleep(0)


class HangingPlatform(LenientPlatform):
    """A fake platform where one kind of call to ``place`` never returns: a send after its effect, a deletion before."""

    def __init__(self, call: str) -> None:
        super().__init__()
        self.call, self.place, self.is_stuck = call, "", False

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        sent = await super().send(place, panel, key, silent=silent)
        await self._stick("send", place)
        return sent

    async def delete(self, place: str, message: str) -> None:
        await self._stick("delete", place)
        await super().delete(place, message)

    async def _stick(self, call: str, place: str) -> None:
        if (call, place) == (self.call, self.place):
            self.is_stuck = True
            await asyncio.Event().wait()

    async def wait_until_stuck(self) -> None:
        async with asyncio.timeout(10):
            while not self.is_stuck:
                await asyncio.sleep(0)


def surface_of(worker: Worker, code: str, name: SurfaceName) -> Surface:
    surface = worker.delivery._tables[code].get(name)
    assert surface
    return surface


async def play_without_waiting(players: list[Player]) -> tuple[Player, Player]:
    """Play a card without waiting for delivery; return the mover and the other player."""
    mover = mover_of(players)
    await mover.press(mover.moves()[0][1].label, settle=False)
    return mover, next(player for player in players if player is not mover)


async def commit_move(worker: Worker, code: str) -> None:
    """Play a card for the player to move, without a button."""
    table = await worker.room.table(code)
    assert table.game
    assert table.to_move
    move = next(move for move in table.game.legal_moves(table.game.turn or 0) if move.startswith("play"))
    await worker.room.make_move(code, table.to_move.person, table.version, move, f"commit {table.version}")


async def test_failed_check_leaves_the_table_marked(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = GatedPlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        other = next(player for player in players if not player.moves())
        gate = fake.gates[other.private] = asyncio.Event()
        mover, _other = await play_without_waiting(players)
        await fake.wait_until(lambda: other.private in fake.waiting)
        monkeypatch.setattr(delivery, "RETRY_SECONDS", 3600.0)
        original = worker.people.person

        async def person(id: str) -> Profile:
            if id == mover.person.id:
                raise ConnectionError("away")
            return await original(id)

        monkeypatch.setattr(worker.people, "person", person)
        await commit_move(worker, code)
        await fake.wait_until(lambda: not worker.delivery._tables[code].is_running)
        assert worker.delivery.is_busy(code)
        gate.set()
        await worker.wait_until_idle()
        assert list(await store.changed_tables(range(keys.SHARDS))) == [code], (
            "the mover's hand was not checked, so the table must stay marked"
        )
        monkeypatch.setattr(worker.people, "person", original)
        worker.delivery.touch(code)
        await worker.wait_until_idle()
        assert not await store.changed_tables(range(keys.SHARDS))


async def test_message_sent_while_its_shard_moves_is_saved(store: Store) -> None:
    fake = GatedPlatform()
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)
        gate = fake.gates[anna.private] = asyncio.Event()
        worker.delivery.apply_change(code, Hand(0), Change(repost=True))
        await fake.wait_until(lambda: anna.private in fake.waiting)
        worker.shards.owned.discard(keys.shard_of(code))
        leaving = asyncio.create_task(worker.delivery.leave_shards({keys.shard_of(code)}))
        await asyncio.sleep(0.01)
        gate.set()
        await leaving
        worker.delivery.drop_shard(keys.shard_of(code))
        last = max(fake.messages[anna.private], key=int)
        assert decode_state((await store.load_shown(code))["h0"]).message == last


def crash(worker: Worker, code: str) -> None:
    """End a table's delivery as a crash does, so that it sends and writes nothing more."""
    worker.delivery.drop_shard(keys.shard_of(code))


@pytest.mark.parametrize("call", ["send", "delete"])
async def test_crash_in_repost_leaves_one_hand(store: Store, call: str) -> None:
    """The table is not touched afterwards, so the next bot must find it by its mark."""
    fake = HangingPlatform(call)
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)
        await worker.wait_until_idle()
        assert not await store.changed_tables(range(keys.SHARDS))
        fake.place = anna.private
        worker.delivery.apply_change(code, Hand(0), Change(repost=True))
        await fake.wait_until_stuck()
        assert len(fake.messages[anna.private]) == 2
        crash(worker, code)
    last, fake.place = max(fake.messages[anna.private], key=int), ""
    async with open_worker(store, fake) as worker:
        await wait_until_at_rest(store)
        await worker.wait_until_idle()
        assert list(fake.messages[anna.private]) == [last]


async def test_crash_while_hand_moves_leaves_one_hand(store: Store) -> None:
    """The hand moves from the private chat to the group, and no log entry says so."""
    fake = HangingPlatform("send")
    fake.has_ephemeral = True
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)
        await worker.wait_until_idle()
        fake.place = anna.aside
        worker.delivery.apply_change(code, Hand(0), Change(place=anna.aside))
        await fake.wait_until_stuck()
        assert fake.messages[anna.private]
        assert fake.messages[anna.aside]
        crash(worker, code)
    fake.place = ""
    async with open_worker(store, fake) as worker:
        await wait_until_at_rest(store)
        await worker.wait_until_idle()
        assert not fake.messages[anna.private]
        assert len(fake.messages[anna.aside]) == 1


async def test_stop_in_repost_leaves_table_marked(store: Store) -> None:
    fake = GatedPlatform()
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)
        await worker.wait_until_idle()
        gate = fake.gates[anna.private] = asyncio.Event()
        worker.delivery.apply_change(code, Hand(0), Change(repost=True))
        await fake.wait_until(lambda: anna.private in fake.waiting)
        stopping = asyncio.create_task(worker.delivery.stop(10.0))
        await asyncio.sleep(0)
        gate.set()
        await stopping
        assert len(fake.messages[anna.private]) == 2
        assert list(await store.changed_tables(range(keys.SHARDS))) == [code]
    async with open_worker(store, fake) as worker:
        await wait_until_at_rest(store)
        await worker.wait_until_idle()
        assert len(fake.messages[anna.private]) == 1


async def test_failed_save_of_an_outdated_hand_is_repeated(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store must know that the old hand is outdated before the new one is sent."""
    monkeypatch.setattr(delivery, "RETRY_SECONDS", 0.01)
    fake = HangingPlatform("send")
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)
        await worker.wait_until_idle()
        original = store.save_shown

        async def fail_once(*args: Any) -> None:
            monkeypatch.setattr(store, "save_shown", original)
            raise ConnectionError("away")

        monkeypatch.setattr(store, "save_shown", fail_once)
        [message] = fake.messages[anna.private]
        fake.place = anna.private
        worker.delivery.apply_change(code, Hand(0), Change(repost=True))
        await fake.wait_until_stuck()
        assert decode_state((await store.load_shown(code))["h0"]).outdated == (Outdated(message),)
        crash(worker, code)


async def wait_until_at_rest(store: Store) -> None:
    """Wait until no table is marked as changed."""
    async with asyncio.timeout(10):
        while await store.changed_tables(range(keys.SHARDS)):
            await asyncio.sleep(0.01)


async def test_rate_limit_of_an_old_place_delays_no_other(store: Store) -> None:
    fake, elsewhere = FakePlatform(), "paper:200"
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        home = players[0].private
        fake.messages[elsewhere]["77"] = fake.last(home)
        surface_of(worker, code, Hand(0)).add_late_message("77", elsewhere, home)
        fake.errors[elsewhere] = [SlowDown(3600)]
        for _ in range(2):
            await commit_move(worker, code)
        await worker.wait_until_idle()
        assert "Previous trick" in fake.last(home).plain
        assert not fake.messages[elsewhere]


async def test_hand_replaced_during_a_move_counts_as_reachable(store: Store) -> None:
    """A player who wants group hands but still has a private one must not count as unreachable."""
    fake = GatedPlatform()
    fake.has_ephemeral = True
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)
        await worker.people.update_person(anna.person.id, hands="aside")
        gate = fake.gates[anna.private] = asyncio.Event()
        worker.delivery.apply_change(code, Hand(0), Change(repost=True))
        await fake.wait_until(lambda: anna.private in fake.waiting)
        await commit_move(worker, code)
        await fake.wait_until(lambda: not worker.delivery._tables[code].is_behind)
        gate.set()
        await worker.wait_until_idle()
        assert surface_of(worker, code, Hand(0)).state is State.SHOWN
        await commit_move(worker, code)
        await worker.wait_until_idle()
        assert "Previous trick" in fake.last(anna.private).plain


async def test_waiting_hand_is_sent_once_its_limit_is_lifted(store: Store) -> None:
    """On Discord, answers to presses have no limit, even if the hand waited before the press."""
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        other = next(player for player in players if not player.moves())
        hand = surface_of(worker, code, Hand(players.index(other)))
        fake.rate_limit_of[other.private] = RateLimit(burst=1, interval=3600.0)
        await worker.delivery._tools.limiter.wait_for_turn(other.private)
        before = hand.message_state.digest
        await play_without_waiting(players)
        for _ in range(100):
            await asyncio.sleep(0)
        assert (hand.is_syncing, hand.message_state.digest) == (True, before)
        del fake.rate_limit_of[other.private]
        worker.delivery.touch(code)
        async with asyncio.timeout(10):
            await worker.wait_until_idle()
        assert hand.message_state.digest != before
        assert other.moves()


async def test_hand_moved_from_a_blocked_place_is_sent(store: Store) -> None:
    """The platform blocks the private chat for an hour, and the player requests the hand in the group."""
    fake = GatedPlatform()
    fake.has_ephemeral = True
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        other = next(player for player in players if not player.moves())
        name = Hand(players.index(other))
        fake.errors[other.private] = [SlowDown(3600)]
        await play_without_waiting(players)
        await fake.wait_until(lambda: not worker.delivery._tools.limiter.is_free(other.private))
        place = f"{other.private}~100!token"
        worker.delivery.apply_change(code, name, Change(repost=True, place=place))
        await fake.wait_until(lambda: bool(fake.messages[place]))
        assert surface_of(worker, code, name).message_state.ephemeral == place


async def test_hand_is_drawn_again_if_its_table_changes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check that the change causes skips this hand because it is being synced."""
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        mover, other = mover_and_other(players)
        mover_surface, other_surface = (
            surface_of(worker, code, Hand(players.index(player))) for player in (mover, other)
        )
        sync, tools = worker.delivery._tables[code], worker.delivery._tools
        drawing, gate, original = asyncio.Event(), asyncio.Event(), worker.people.person

        async def person(id: str) -> Profile:
            # Reading the profile takes a while, as if another worker had dropped it from the caches.
            if asyncio.current_task() is other_surface.task and not drawing.is_set():
                drawing.set()
                await gate.wait()
            return await original(id)

        monkeypatch.setattr(worker.people, "person", person)

        # The place is blocked, so the check does not draw the hand itself.
        monkeypatch.setattr(tools.limiter, "is_free", lambda place: place != other.private)
        worker.delivery.touch(code)
        before, checks = mover_surface.message_state.digest, 0
        async with asyncio.timeout(10):
            await drawing.wait()
            checks = sync.checks
            await mover.press(mover.moves()[0][1].label, settle=False)
            # The other player is to move now, and that hand is checked before the mover's.
            while mover_surface.message_state.digest == before:
                await asyncio.sleep(0)
        assert sync.checks > checks
        gate.set()
        await worker.wait_until_idle()
        table = await worker.room.load_cached(code)
        other_surface.cache_panel(None, None)
        assert other_surface.message_state.digest == (await tools.drawer.draw(sync, table, other_surface)).digest


async def test_surface_does_not_wait_for_the_next_check(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next check begins only after the surface's task has ended, so the task must not wait for that check."""
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        surface, sync, tools = surface_of(worker, code, Hand(0)), worker.delivery._tables[code], worker.delivery._tools
        draws, original = 0, tools.drawer.draw

        async def draw(table_sync: TableSync, table: Table, drawn_surface: Surface) -> Panel:
            nonlocal draws
            draws += 1
            assert draws < 10, "the surface drew again instead of ending"
            sync.touch()
            return await original(table_sync, table, drawn_surface)

        monkeypatch.setattr(tools.drawer, "draw", draw)
        await SurfaceSync(tools, worker.delivery._writer, sync, surface).run(None, sync.checks)
        assert draws == 1


async def test_hand_moved_while_unreachable_is_shown_in_its_new_place(store: Store) -> None:
    fake = GatedPlatform()
    fake.has_ephemeral = True
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        mover, other = mover_and_other(players)
        seat = players.index(other)
        fake.closed.add(other.private)
        gate = fake.gates[other.private] = asyncio.Event()
        await mover.press(mover.moves()[0][1].label, settle=False)
        await fake.wait_until(lambda: other.private in fake.waiting)
        place = f"{other.private}~100!token"
        await worker.updates.send_change(code, Hand(seat), Change(repost=True, place=place))
        gate.set()
        await worker.wait_until_idle()
        assert surface_of(worker, code, Hand(seat)).state is State.SHOWN
        assert len(fake.messages[place]) == 1


async def test_missing_outdated_message_counts_as_deleted(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        original, deletions = fake.delete, 0

        async def delete(place: str, message: str) -> None:
            nonlocal deletions
            deletions += 1
            raise MessageGone(message)

        fake.delete = delete  # type: ignore[method-assign]
        await players[0].say("/hand")
        assert deletions == 1
        assert surface_of(worker, code, Hand(0)).message_state.outdated == ()
        assert len(fake.messages[players[0].private]) == 2, (
            "the fake platform keeps the message that it reports as gone"
        )
        fake.delete = original  # type: ignore[method-assign]


async def test_leaving_player_gets_no_retried_message(store: Store) -> None:
    """At a tavolo, the first player of a side is asked about a partner and then leaves."""
    fake = GatedPlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla = (Player(worker, fake, name, number) for number, name in enumerate(NAMES[:3], 1))
        await anna.say("/challenge tavolo")
        await bruno.press("Sit East", GROUP)

        # Sending to Bruno fails until he has left.
        fake.errors[bruno.private] = [NotDelivered("away")] * 100_000
        await carla.press("Sit West", GROUP, settle=False)
        await fake.wait_until(lambda: len(fake.errors[bruno.private]) < 100_000)
        [table] = await worker.room.lists.tables_of(anna.person.id)
        assert await worker.room.lists.tables_of(carla.person.id)
        with capture_logs() as logs:
            await worker.challenges.stand_up(table.code, bruno.person.id, "leaves")
            fake.errors[bruno.private].clear()
            await worker.wait_until_idle()
        assert not fake.messages[bruno.private]
        assert "surface_failed" not in [line["event"] for line in logs]


async def test_internal_error_is_logged_once_and_retried_with_pauses(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "RETRY_SECONDS", 0.001)
    fake = FakePlatform()
    with capture_logs() as logs:
        async with open_worker(store, fake) as worker:
            anna, _bruno = await seat_players(worker, fake, "metamazzo")
            code, tools, tries = await code_of(worker, anna), worker.delivery._tools, 0
            original_draw, original_call_later, pauses = (
                tools.drawer.draw_if_free,
                asyncio.get_running_loop().call_later,
                list[float](),
            )

            async def draw(table_sync: TableSync, table: Table, surface: Surface) -> Panel | None:
                nonlocal tries
                tries += 1
                if tries <= 5:
                    raise ValueError("one bad game")
                return await original_draw(table_sync, table, surface)

            def call_later(seconds: float, call: Callable[..., Any], *args: Any, **options: Any) -> asyncio.TimerHandle:
                if "_touch_for_retry" in repr(call):
                    pauses.append(seconds)
                return original_call_later(seconds, call, *args, **options)

            monkeypatch.setattr(tools.drawer, "draw_if_free", draw)
            monkeypatch.setattr(asyncio.get_running_loop(), "call_later", call_later)
            worker.delivery.touch(code)
            async with asyncio.timeout(10):
                while tries <= 5 or worker.delivery.is_busy(code):
                    await asyncio.sleep(0.001)
            tries = 0
            worker.delivery.touch(code)
            async with asyncio.timeout(10):
                while tries <= 5 or worker.delivery.is_busy(code):
                    await asyncio.sleep(0.001)
    assert [line["event"] for line in logs if line["log_level"] == "error"] == ["delivery_failed"]
    assert pauses == pytest.approx(2 * [0.001, 0.002, 0.004, 0.008, 0.016])


class UnsettledPlatform(FakePlatform):
    """A fake platform where a timed-out upload can still overwrite a sent message. Edits are only recorded."""

    is_settled = True

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        sent = await super().send(place, panel, key, silent=silent)
        return sent._replace(is_settled=self.is_settled)

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        self.calls.append(("edit", place, sent.message))
        return sent


async def test_sent_message_is_edited_after_a_pending_upload(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_sync, "SETTLE_SECONDS", 3600.0)
    fake = UnsettledPlatform()
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)
        fake.is_settled = False
        fake.calls.clear()
        await worker.updates.send_change(code, Hand(0), Change(repost=True))
        surface = surface_of(worker, code, Hand(0))
        async with asyncio.timeout(10):
            while not surface._woken or surface.message_state.outdated:
                await asyncio.sleep(0)
        [sent] = fake.messages[anna.private]
        assert surface.message_state.message == sent

        # The next owner of the table must check the message too.
        async with asyncio.timeout(10):
            while (stored_state := await store.client.hget(keys.message_states(code), "h0")) is None or decode_state(
                stored_state.decode()
            ).digest != UNKNOWN:
                await asyncio.sleep(0)
        surface.wake()
        async with asyncio.timeout(10):
            while ("edit", anna.private, sent) not in fake.calls:
                await asyncio.sleep(0)


async def test_choice_undone_during_an_uncertain_edit_is_shown_undone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 3600.0)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code, before = await code_of(worker, anna), fake.last(anna.private)
        tools, original = worker.delivery._tools, worker.delivery._tools.drawer.draw_if_free
        half_move = replace(before, text=(Span("one half of a move"),))

        async def draw_if_free(table_sync: TableSync, table: Table, surface: Surface) -> Panel | None:
            return half_move if surface.name == Hand(0) else await original(table_sync, table, surface)

        with monkeypatch.context() as patch:
            patch.setattr(tools.drawer, "draw_if_free", draw_if_free)
            fake.errors_after_delivery[anna.private] = [PlatformFailure("lost")]
            worker.delivery.touch(code)
            async with asyncio.timeout(10):
                while fake.last(anna.private) == before or not surface_of(worker, code, Hand(0))._woken:
                    await asyncio.sleep(0)
        worker.delivery.resume_platform("paper")
        async with asyncio.timeout(10):
            await worker.wait_until_idle()
        assert fake.last(anna.private) == before


class SteppedPlatform(FakePlatform):
    """A fake platform that calls the next step at each edit, until none is left.

    A step returns whether its edit is settled.
    """

    steps: Sequence[Callable[[], bool]] = ()

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        if not self.steps:
            return await super().edit(place, sent, panel)
        step, *self.steps = self.steps
        return sent._replace(is_settled=step())


@asynccontextmanager
async def open_uncertain_hand(
    store: Store, *steps: Callable[[], bool]
) -> AsyncIterator[tuple[SteppedPlatform, Worker, Surface, SurfaceSync]]:
    """Open a game with a hand of unknown content, and the sync that will edit it."""
    fake = SteppedPlatform()
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)
        surface = surface_of(worker, code, Hand(0))
        surface.mark_uncertain()
        fake.steps = steps
        yield (
            fake,
            worker,
            surface,
            SurfaceSync(worker.delivery._tools, worker.delivery._writer, worker.delivery._tables[code], surface),
        )


async def wake_when_unsettled(surface: Surface) -> None:
    async with asyncio.timeout(10):
        while not surface._woken:
            await asyncio.sleep(0)
    surface.wake()


async def test_upload_during_an_edit_is_overwritten(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_sync, "SETTLE_SECONDS", 3600.0)

    def let_upload_end() -> bool:
        # As if an hour had passed since the edit began.
        syncing._unsettled_until = asyncio.get_running_loop().time()
        return True

    async with open_uncertain_hand(store, lambda: False, let_upload_end, lambda: True) as (
        fake,
        _worker,
        surface,
        syncing,
    ):
        running = asyncio.create_task(syncing.run(None, 0))
        await wake_when_unsettled(surface)
        async with asyncio.timeout(10):
            await running
        assert not fake.steps
        assert surface.message_state.digest != UNKNOWN


async def test_stop_during_a_pending_upload_saves_unknown_content(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surface_sync, "SETTLE_SECONDS", 3600.0)

    def stop_delivery() -> bool:
        worker.delivery._tools.stopping = True
        return True

    async with open_uncertain_hand(store, lambda: False, stop_delivery) as (_fake, worker, surface, syncing):
        running = asyncio.create_task(syncing.run(None, 0))
        await wake_when_unsettled(surface)
        async with asyncio.timeout(10):
            await running
        [code] = worker.delivery._tables
        await worker.delivery.stop(10.0)
        assert decode_state((await store.load_shown(code))["h0"]).digest == UNKNOWN
        assert list(await store.changed_tables(range(keys.SHARDS))) == [code], "the next bot must check the table"


async def test_pending_upload_is_not_awaited_after_a_repost(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_sync, "SETTLE_SECONDS", 3600.0)
    async with open_uncertain_hand(store, lambda: False) as (_fake, _worker, surface, syncing):
        running = asyncio.create_task(syncing.run(None, 0))
        async with asyncio.timeout(10):
            while not surface._woken:
                await asyncio.sleep(0)
            surface.apply(Change(repost=True), syncing._place, 0)
            surface.wake()
            await running


async def test_stop_does_not_wait_for_a_pending_upload(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_sync, "SETTLE_SECONDS", 3600.0)

    def block_place() -> bool:
        worker.delivery._tools.limiter.block(syncing._place, 3600.0)
        return False

    async with open_uncertain_hand(store, block_place) as (_fake, worker, surface, syncing):
        running = asyncio.create_task(syncing.run(None, 0))
        async with asyncio.timeout(10):
            while not surface._woken:
                await asyncio.sleep(0)
            worker.delivery._tools.stopping = True
            surface.wake()
            await running


class UndeletablePlatform(FakePlatform):
    """A fake platform that refuses deletions while it has an error to raise."""

    def __init__(self, error: DeliveryError) -> None:
        super().__init__()
        self.error: DeliveryError | None = error

    async def delete(self, place: str, message: str) -> None:
        if self.error:
            self.calls.append(("delete", place, message))
            raise self.error
        await super().delete(place, message)

    def count_deletions(self) -> int:
        return [call for call, _place, _message in self.calls].count("delete")


@pytest.mark.parametrize("error", [PlatformFailure("no answer"), NotDelivered("away")], ids=["no answer", "away"])
async def test_failed_deletion_does_not_delay_the_hand(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: DeliveryError
) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 3600.0)
    fake = UndeletablePlatform(error)
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)
        await worker.updates.send_change(code, Hand(0), Change(repost=True))
        for tries in range(1, 4):
            async with asyncio.timeout(10):
                while fake.count_deletions() < tries:
                    await asyncio.sleep(0)
            before = fake.last(anna.private)
            await commit_move(worker, code)
            async with asyncio.timeout(10):
                while fake.last(anna.private) == before:
                    await asyncio.sleep(0)
        await worker.updates.send_change(code, Hand(0), Change(repost=True))
        async with asyncio.timeout(10):
            while len(fake.messages[anna.private]) < 3:
                await asyncio.sleep(0)
        fake.error = None
        worker.delivery.resume_platform("paper")
        await worker.wait_until_idle()
        assert len(fake.messages[anna.private]) == 1


async def test_refused_deletion_is_retried_only_after_a_press(store: Store) -> None:
    """Retried deletions would keep the table busy, even after the game."""
    fake = UndeletablePlatform(MessageRefused("message_delete_forbidden"))
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code, [old] = await code_of(worker, anna), list(fake.messages[anna.private])
        with capture_logs() as logs:
            await worker.updates.send_change(code, Hand(0), Change(repost=True))
            async with asyncio.timeout(10):
                await worker.wait_until_idle()
            await commit_move(worker, code)
            await worker.wait_until_idle()
        assert fake.count_deletions() == 1
        assert [line["event"] for line in logs if line["log_level"] == "warning"] == ["message_refused"]
        assert not await store.changed_tables(range(keys.SHARDS))
        assert len(fake.messages[anna.private]) == 2
        fake.error = None
        await worker.updates.send_change(code, Hand(0), Change(pressed=old, place=anna.private, genuine=True))
        await worker.wait_until_idle()
        assert list(fake.messages[anna.private]) != [old]
        assert len(fake.messages[anna.private]) == 1


class Pauses:
    """The logged pauses between retries, in seconds before random shifts."""

    def __init__(self, logs: list[MutableMapping[str, Any]]) -> None:
        self._logs = logs

    @property
    def seconds(self) -> list[float]:
        return [line["again_in"] for line in self._logs if line["event"] == "send_failed"]

    async def wait_for(self, count: int) -> None:
        async with asyncio.timeout(10):
            while len(self.seconds) < count:
                await asyncio.sleep(0)


@asynccontextmanager
async def open_failing_game(
    store: Store, *errors: DeliveryError
) -> AsyncIterator[tuple[Worker, FakePlatform, Player, str, Pauses]]:
    """Open a game whose first player requests the hand again. Calls to their private chat raise ``errors`` in turn."""
    fake = FakePlatform()
    with capture_logs() as logs:
        async with open_worker(store, fake) as worker:
            anna, _bruno = await seat_players(worker, fake, "metamazzo")
            fake.errors[anna.private] = list(errors)
            code = await code_of(worker, anna)
            await worker.updates.send_change(code, Hand(0), Change(repost=True))
            yield worker, fake, anna, code, Pauses(logs)


async def test_pause_ended_by_a_change_lengthens_no_other(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 3600.0)
    lost_count = 5
    async with open_failing_game(store, *[PlatformFailure("lost")] * lost_count, NotDelivered("away")) as (
        worker,
        fake,
        anna,
        code,
        pauses,
    ):
        for count in range(1, lost_count + 1):
            await pauses.wait_for(count)
            await commit_move(worker, code)
        await pauses.wait_for(lost_count + 1)
        assert pauses.seconds == [3600.0] * (lost_count + 1)
        worker.delivery.resume_platform("paper")
        await worker.wait_until_idle()
        assert len(fake.messages[anna.private]) == 1


async def test_uncertain_and_certain_failures_pause_separately(store: Store) -> None:
    errors = [
        PlatformFailure("lost"),
        NotDelivered("away"),
        NotDelivered("away"),
        PlatformFailure("lost"),
        NotDelivered("away"),
    ]
    async with open_failing_game(store, *errors) as (worker, _fake, _anna, _code, pauses):
        await worker.wait_until_idle()
    assert pauses.seconds == pytest.approx([0.01, 0.01, 0.02, 0.04, 0.04])


async def test_repost_request_ends_a_pause(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 3600.0)
    async with open_failing_game(store, NotDelivered("away")) as (worker, fake, anna, code, pauses):
        await pauses.wait_for(1)
        assert not fake.errors[anna.private]
        await worker.updates.send_change(code, Hand(0), Change(repost=True))
        async with asyncio.timeout(10):
            await worker.wait_until_idle()
        assert len(fake.messages[anna.private]) == 1


async def test_pauses_reset_once_the_platform_is_back(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_failing_game(store, *[NotDelivered("away")] * 3) as (worker, _fake, _anna, _code, pauses):
        await pauses.wait_for(2)
        monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 0.003)
        worker.delivery.resume_platform("paper")
        await worker.wait_until_idle()
    assert pauses.seconds == [0.01, 0.02, 0.003]


async def test_nothing_is_drawn_for_a_blocked_place(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code, tools, drawn_versions = await code_of(worker, anna), worker.delivery._tools, list[int]()
        original = tools.drawer.draw

        async def draw(table_sync: TableSync, table: Table, surface: Surface) -> Panel:
            if surface.name == Hand(0):
                drawn_versions.append(table.version)
            return await original(table_sync, table, surface)

        monkeypatch.setattr(tools.drawer, "draw", draw)
        tools.limiter.block(anna.private, 3600.0)
        before = fake.last(anna.private)
        for _ in range(3):
            await commit_move(worker, code)
            while worker.delivery._tables[code].is_behind:
                await asyncio.sleep(0)
        for _ in range(100):
            await asyncio.sleep(0)
        assert surface_of(worker, code, Hand(0)).is_syncing
        assert (drawn_versions, fake.last(anna.private)) == ([], before)
        tools.limiter._blocked.clear()
        worker.delivery.touch(code)
        async with asyncio.timeout(10):
            await worker.wait_until_idle()
        assert set(drawn_versions) == {(await worker.room.load_cached(code)).version}
        assert fake.last(anna.private) != before


async def test_repeatedly_refused_message_is_logged_once(store: Store) -> None:
    fake = FakePlatform()
    with capture_logs() as logs:
        async with open_worker(store, fake) as worker:
            anna, _bruno = await seat_players(worker, fake, "metamazzo")
            fake.errors[anna.private] = [MessageRefused("odd")] * 4
            await worker.updates.send_change(await code_of(worker, anna), Hand(0), Change(repost=True))
            await worker.wait_until_idle()
    assert [line["event"] for line in logs if line["log_level"] == "warning"] == ["message_refused"]


async def test_lag_is_the_longest_lag_of_a_table(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = GatedPlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        await seat_players(worker, fake, "testa")
        assert (worker.delivery.lag, worker.delivery.busy_tables) == (0.0, 0), "both tables should be at rest"
        place = players[0].private
        gate = fake.gates[place] = asyncio.Event()
        await commit_move(worker, code)
        await fake.wait_until(lambda: place in fake.waiting)
        monkeypatch.setattr(delivery, "now", lambda: lag.now() + 1000)
        assert 1000 <= worker.delivery.lag < 2000
        assert worker.delivery.busy_tables == 1
        gate.set()
        await worker.wait_until_idle()
        assert (worker.delivery.lag, worker.delivery.busy_tables) == (0.0, 0)


async def test_own_commit_is_shown_without_a_store_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        mover = mover_of(players)

        async def fail_read(*_: object) -> None:
            raise AssertionError("the worker read its own commit from the store")

        monkeypatch.setattr(store, "entries_since", fail_read)
        before = fake.last(mover.private)
        assert not (await mover.press(mover.moves()[0][1].label)).toast
        assert fake.last(mover.private) != before


@pytest.mark.parametrize("has_ephemeral", [True, False])
async def test_group_hand_setting_applies_from_the_next_table(store: Store, has_ephemeral: bool) -> None:
    fake = FakePlatform()
    fake.has_ephemeral = has_ephemeral
    async with open_worker(store, fake) as worker:
        anna, bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)
        await worker.people.update_person(anna.person.id, hands="aside")
        before = fake.last(anna.private)
        await commit_move(worker, code)
        await worker.wait_until_idle()
        assert surface_of(worker, code, Hand(0)).state is State.SHOWN
        assert fake.last(anna.private) != before
        [first] = await worker.room.lists.tables_of(anna.person.id)
        await seat_players(worker, fake, "testa")
        [second] = {table.code for table in await worker.room.lists.tables_of(anna.person.id)} - {first.code}
        assert surface_of(worker, second, Hand(0)).state is (State.UNREACHABLE if has_ephemeral else State.SHOWN)
        assert surface_of(worker, second, Hand(1)).state is State.SHOWN
        assert len(fake.messages[anna.private]) == (1 if has_ephemeral else 2)
        assert len(fake.messages[bruno.private]) == 2


async def test_each_message_takes_one_turn_of_its_place(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)
        fake.rate_limit_of[anna.private] = RateLimit(burst=2, interval=3600.0)
        for _ in range(2):
            before = fake.last(anna.private)
            await commit_move(worker, code)
            async with asyncio.timeout(10):
                await worker.wait_until_idle()
            assert fake.last(anna.private) != before
        before = fake.last(anna.private)
        await commit_move(worker, code)
        for _ in range(100):
            await asyncio.sleep(0)
        assert surface_of(worker, code, Hand(0)).is_syncing
        assert fake.last(anna.private) == before


async def test_only_private_hands_count_as_the_lowest_message(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake, announced = FakePlatform(), list[str]()
    fake.has_ephemeral = True
    async with open_worker(store, fake) as worker:
        monkeypatch.setattr(
            worker.delivery._tools.reposts.lowest, "_on_sent", lambda place, _code: announced.append(place)
        )
        anna, bruno = await seat_players(worker, fake, "metamazzo")
        assert sorted(announced) == [anna.private, bruno.private]
        # A hand in the group is next to the other players' messages, so it does not count.
        group_place = f"{anna.private}~100!token"
        await worker.updates.send_change(await code_of(worker, anna), Hand(0), Change(repost=True, place=group_place))
        await worker.wait_until_idle()
        assert len(fake.messages[group_place]) == 1
        assert len(announced) == 2


async def test_panel_drawn_by_the_check_is_not_drawn_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)

        async def draw(_sync: TableSync, _table: Table, _surface: Surface) -> Panel:
            raise AssertionError("a panel drawn by the check was drawn again")

        monkeypatch.setattr(worker.delivery._tools.drawer, "draw", draw)
        before = [fake.last(player.private) for player in (anna, bruno)]
        with capture_logs() as logs:
            await commit_move(worker, code)
            await worker.wait_until_idle()
        assert all(fake.last(player.private) != panel for player, panel in zip((anna, bruno), before, strict=True))
        assert not [line for line in logs if line["log_level"] == "error"]


async def test_surface_given_up_is_logged_with_its_next_state(store: Store) -> None:
    fake = FakePlatform()
    fake.has_ephemeral = True
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code, group_place = await code_of(worker, anna), f"{anna.private}~100!token"
        with capture_logs() as logs:
            for place in (group_place, anna.private):
                fake.closed.add(place)
                await worker.updates.send_change(code, Hand(0), Change(repost=True, place=place))
                await worker.wait_until_idle()
        given_up = [(line["surface"], line["status"]) for line in logs if line["event"] == "surface_given_up"]
        # The hand returned from the group to the private chat.
        assert given_up == [("h0", ""), ("h0", "unreachable")]
        assert surface_of(worker, code, Hand(0)).state is State.UNREACHABLE


def command_sender(word: str, place: str = "") -> Callable[[Player], Awaitable[object]]:
    return lambda player: player.dispatcher.handle_command(
        Command(f"c {word}", player.person, place or player.private, word)
    )


COMEBACKS: dict[str, Callable[[Player], Awaitable[object]]] = {
    "start": command_sender("start"),
    "help": command_sender("help"),
    "refused command": command_sender("shrug"),
    "hand in the group": command_sender("hand", GROUP),
    "page": lambda player: player.send(actions.page("settings")),
    "refused page": lambda player: player.send(actions.page("no_such_page")),
    "started chat": lambda player: player.dispatcher.send_hands(player.person),
    "unblock": lambda player: player.dispatcher.send_missed_hands(player.person),
}


@pytest.mark.parametrize("comeback", COMEBACKS)
@pytest.mark.parametrize("method", ["send", "edit"])
async def test_hand_refused_during_comeback_is_sent_again(store: Store, method: str, comeback: str) -> None:
    fake = GatedPlatform()
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)
        gate = fake.gates[anna.private] = asyncio.Event()
        if method == "send":
            worker.delivery.apply_change(code, Hand(0), Change(repost=True))
        else:
            await commit_move(worker, code)
        await fake.wait_until(lambda: anna.private in fake.waiting)
        await COMEBACKS[comeback](anna)
        await fake.wait_until(lambda: not worker.delivery._tables[code].is_behind)
        fake.errors[anna.private].append(Unreachable("blocked"))
        gate.set()
        await worker.wait_until_idle()
        assert not fake.errors[anna.private]
        assert surface_of(worker, code, Hand(0)).state is State.SHOWN
        assert "deal 1" in fake.last(anna.private).plain


async def test_board_refused_while_the_bot_returns_is_sent_again(store: Store) -> None:
    fake = GatedPlatform()
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)
        gate = fake.gates[GROUP] = asyncio.Event()
        worker.delivery.apply_change(code, Board(1, 0), Change(repost=True))
        await fake.wait_until(lambda: GROUP in fake.waiting)
        await anna.dispatcher.refresh_chat(GROUP)
        await fake.wait_until(lambda: not worker.delivery._tables[code].is_behind)
        fake.errors[GROUP].append(ChatGone("kicked"))
        gate.set()
        await worker.wait_until_idle()
        assert not fake.errors[GROUP]
        assert surface_of(worker, code, Board(1, 0)).state is State.SHOWN


async def test_hand_refused_after_a_comeback_is_given_up(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)
        fake.closed.add(anna.private)
        await worker.updates.send_change(code, Hand(0), Change(repost=True, place=anna.private))
        await worker.wait_until_idle()
        assert surface_of(worker, code, Hand(0)).state is State.UNREACHABLE
