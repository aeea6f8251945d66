"""The state machine of one table: behind, busy or idle. It needs no platform or store."""

import asyncio
from collections.abc import Callable
from functools import partial

import pytest

from bot.delivery.message_state import UNKNOWN, MessageState
from bot.delivery.surface import Change
from bot.delivery.surface_names import Board, ChallengeCard, Hand, Result, SurfaceName
from bot.delivery.surfaces import tag_of
from bot.delivery.table_sync import BoardExtras, TableSync
from bot.panel import Panel
from bot.panels.drafts import Draft
from bot.platform import SentMessage
from bot.store.entries import Entry, Host, Open, Sit, Stand
from bot.tables.table import Table

HOME, CHAT = "p:@0", "p:100"
PANEL = Panel(())


def create_table() -> Table:
    entries: list[Entry] = [
        Open("metamazzo", "p:0", "Anna"),
        Host("p:100"),
        Sit(0, "p:0", "Anna"),
        Sit(1, "p:1", "Bruno"),
    ]
    return Table("ABCD").with_entries(entries, "u")


def test_starting_a_check_clears_is_behind() -> None:
    sync = TableSync("ABCD")
    assert not sync.is_busy
    sync.touch()
    assert sync.is_behind
    assert sync.is_busy
    assert not sync.begin_check()
    assert not sync.is_behind


def test_reload_request_survives_other_touches() -> None:
    sync = TableSync("ABCD")
    sync.touch(reload=True)
    sync.touch()
    assert sync.begin_check()
    # A notification during the fetch can be about a later entry.
    sync.touch(reload=True)
    sync.checks += 1
    assert sync.is_behind
    assert sync.begin_check()
    sync.touch()
    assert not sync.begin_check()


def test_drawing_is_current_until_a_touch_or_reload() -> None:
    sync = TableSync("ABCD")
    sync.touch()
    sync.begin_check()
    sync.checks += 1
    check = sync.checks
    assert sync.is_current(check)
    sync.touch()
    assert not sync.is_current(check)
    sync.begin_check()
    assert sync.is_current(check), "the fetch can return the same table"
    sync.checks += 1
    assert not sync.is_current(check)
    assert sync.is_current(sync.checks)


def test_next_check_clears_a_failure() -> None:
    sync = TableSync("ABCD")
    sync.has_failed = True
    assert sync.has_failed
    sync.begin_check()
    assert not sync.has_failed


async def test_table_is_busy_until_its_surface_has_synced() -> None:
    sync, gate = TableSync("ABCD"), asyncio.Event()

    async def work() -> None:
        await gate.wait()

    async def wait_for_surfaces() -> None:
        while sync.has_syncing_surface:
            await sync.wait_for_event()

    surface = sync.surface(Hand(0), HOME)
    sync.start_surface(surface, work())
    sync.run(wait_for_surfaces())
    await asyncio.sleep(0)
    assert sync.is_running
    assert surface.is_syncing
    assert len(sync.tasks) == 2
    gate.set()
    async with asyncio.timeout(5):
        await asyncio.wait(sync.tasks)
    await asyncio.sleep(0)
    assert not sync.is_busy
    assert not surface.is_syncing
    assert sync.tasks == []


async def test_event_before_the_wait_is_received() -> None:
    sync, received = TableSync("ABCD"), 0

    async def receive() -> None:
        nonlocal received
        for _ in range(2):
            await sync.wait_for_event()
            received += 1

    sync.run(receive())
    sync.touch()
    for _ in range(5):
        await asyncio.sleep(0)
    assert received == 1
    sync.touch()
    for _ in range(5):
        await asyncio.sleep(0)
    assert received == 2


async def test_stop_ends_a_pause() -> None:
    sync = TableSync("ABCD")
    with sync.surface(Hand(0), HOME).pause() as woken:
        sync.stop_waiting()
        assert woken.is_set()


def test_changes_apply_in_order_to_existing_surfaces() -> None:
    sync = TableSync("ABCD")
    sync.add_change(Hand(0), Change(draft=Draft(1, "x")))
    sync.add_change(Board(9, 0), Change(repost=True))
    sync.add_change(Hand(0), Change(draft=Draft(2, "y")))
    applied: list[Draft] = []
    while name := sync.next_changed:
        sync.apply_next_change(HOME if name == Hand(0) else None)
        applied.append(sync.surface(Hand(0), HOME).message_state.draft)
    assert applied == [Draft(1, "x"), Draft(1, "x"), Draft(2, "y")]
    assert sync.get(Board(9, 0)) is None


def test_stored_states_are_loaded_once() -> None:
    sync = TableSync("ABCD")
    stored_states: dict[SurfaceName, MessageState] = {Hand(0): MessageState("7", "digest", tag_of(HOME), 3)}
    sync.load(stored_states, inherited=True)
    sync.surface(Hand(0), HOME).apply(Change(draft=Draft(1, "x")), HOME, 0)
    sync.load(stored_states, inherited=True)
    assert sync.surface(Hand(0), HOME).message_state.draft == Draft(1, "x")


def test_surfaces_are_uncertain_only_if_inherited() -> None:
    for inherited in (True, False):
        sync = TableSync("ABCD")
        sync.load({Hand(0): MessageState(place_tag=tag_of(HOME))}, inherited=inherited)
        for surface in (sync.surface(Hand(0), HOME), sync.surface(Board(2, 0), CHAT)):
            assert surface.begin_send("digest").digest == (UNKNOWN if inherited else "digest")


def test_state_of_a_former_player_is_not_used() -> None:
    sync = TableSync("ABCD")
    sync.load({Hand(0): MessageState("7", "digest", tag_of(HOME), 3)}, inherited=False)
    assert sync.surface(Hand(0), HOME).message_state.message == "7"
    assert sync.surface(Hand(0), "p:@5").message_state == MessageState(place_tag=tag_of("p:@5"))
    assert sync.get(Board(1, 0)) is None


def test_check_covers_required_surfaces_and_known_hands() -> None:
    sync = TableSync("ABCD")
    assert list(sync.surfaces_to_check(create_table())) == [ChallengeCard(0)]
    for name in (Hand(1), Hand(5), Board(1, 0)):
        sync.surface(name, HOME)
    assert list(sync.surfaces_to_check(create_table())) == [ChallengeCard(0), Hand(1)]


def test_board_names_unreachable_players_and_group_hands() -> None:
    sync = TableSync("ABCD")
    assert sync.board_extras(create_table(), ("p:0", "Anna")) == BoardExtras(player_to_call=("p:0", "Anna"))
    sync.surface(Hand(1), "p:@1").give_up("p:@1")
    assert sync.board_extras(create_table(), None) == BoardExtras((("p:1", "Bruno"),))
    sync.surface(Hand(0), HOME).apply(Change(place="p:@0~100!token"), HOME, 0)
    assert sync.board_extras(create_table(), None) == BoardExtras((("p:1", "Bruno"),), has_ephemeral=True)


def test_only_boards_stay_cached_at_an_idle_table() -> None:
    sync = TableSync("ABCD")
    hand, board = sync.surface(Hand(0), HOME), sync.surface(Board(1, 0), CHAT)
    for surface in (hand, board):
        surface.cache_panel(1, PANEL)
    sync.clear_cached_panels()
    assert hand.cached_panel(1) is None
    assert board.cached_panel(1) is PANEL


def test_lists_are_outdated_after_a_seat_change() -> None:
    sync, before = TableSync("ABCD"), create_table()
    after = before.with_entries([Stand(1)], "u")
    assert not sync.is_listed(before)
    sync.set_listed(before)
    assert sync.is_listed(before)
    assert not sync.is_listed(after)
    sync.set_listed(None)
    assert not sync.is_listed(before)


def test_changed_states_are_saved_once_unless_lost() -> None:
    sync = TableSync("ABCD")
    sync.load({Hand(0): MessageState(place_tag=tag_of(HOME))}, inherited=False)
    assert sync.take_unsaved() == {}
    sync.surface(Hand(0), HOME).apply(Change(draft=Draft(1, "x")), HOME, 0)
    board = sync.surface(Board(1, 0), CHAT)
    assert set(sync.take_unsaved()) == {Hand(0), Board(1, 0)}
    assert sync.take_unsaved() == {}
    sync.forget_saved()
    assert sync.take_unsaved()[board.name] == board.message_state


def test_lag_starts_at_the_first_unchecked_change() -> None:
    sync = TableSync("ABCD")
    assert sync.lag.oldest is None
    sync.touch()
    first = sync.lag.oldest
    assert first is not None
    sync.touch(reload=True)
    assert sync.lag.oldest == first
    sync.begin_check()
    sync.lag.end_check()
    assert sync.lag.oldest is None


async def test_table_is_busy_while_its_sync_runs() -> None:
    sync, gate = TableSync("ABCD"), asyncio.Event()

    async def work() -> None:
        await gate.wait()

    assert not sync.is_running
    sync.run(work())
    assert (sync.is_running, sync.is_busy, len(sync.tasks)) == (True, True, 1)
    gate.set()
    async with asyncio.timeout(5):
        await asyncio.wait(sync.tasks)
    assert (sync.is_running, sync.is_busy) == (False, False)


async def test_retry_pauses_double_up_to_a_limit_until_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    sync, touched, pauses = TableSync("ABCD"), list[str](), list[float]()
    pending: list[tuple[Callable[..., None], tuple[object, ...]]] = []

    def call_later(seconds: float, call: Callable[..., None], *args: object) -> asyncio.TimerHandle:
        pauses.append(seconds)
        pending.append((call, args))
        return asyncio.TimerHandle(0, call, args, asyncio.get_running_loop())

    def run_pending_call() -> None:
        call, args = pending.pop()
        call(*args)
        assert not pending

    monkeypatch.setattr(asyncio.get_running_loop(), "call_later", call_later)
    for number in range(5):
        for _ in range(2):
            sync.retry_in(2.0, 20.0, partial(touched.append, f"{number}"))
        run_pending_call()
    assert touched == ["0", "1", "2", "3", "4"]
    assert pauses == [2.0, 4.0, 8.0, 16.0, 20.0]
    sync.reset_retries()
    sync.retry_in(2.0, 20.0, lambda: None)
    assert pauses[5:] == [2.0]

    # The limit holds after any number of failures.
    run_pending_call()
    for _ in range(2000):
        sync.retry_in(2.0, 20.0, lambda: None)
        run_pending_call()
    assert pauses[6:10] == [4.0, 8.0, 16.0, 20.0]
    assert set(pauses[10:]) == {20.0}


def with_traceback(error: Exception) -> Exception:
    try:
        raise error
    except type(error) as raised:
        return raised


def test_error_is_new_by_type_line_and_surface() -> None:
    sync = TableSync("ABCD")
    assert sync.is_new_error(with_traceback(ValueError("a")), "h0")
    assert not sync.is_new_error(with_traceback(ValueError("b")), "h0")
    assert sync.is_new_error(with_traceback(KeyError("a")), "h0")
    assert sync.is_new_error(with_traceback(ValueError("a")), "h1")
    with pytest.raises(ValueError, match="elsewhere") as elsewhere:
        raise ValueError("elsewhere")
    assert sync.is_new_error(elsewhere.value, "h0")


def test_results_are_only_messages_that_were_sent() -> None:
    sync = TableSync("ABCD")
    for name, message in ((Result(0), "7"), (Result(1), ""), (Board(1, 0), "8")):
        surface = sync.surface(name, CHAT)
        if message:
            surface.finish_send(surface.begin_send("digest"), CHAT, SentMessage(message), 0, 0)
        surface.finish()
    assert sync.results(create_table()) == {Result(0): SentMessage("7")}


async def test_cancelled_table_does_no_more_work() -> None:
    sync = TableSync("ABCD")

    async def work() -> None:
        await asyncio.Event().wait()

    sync.start_surface(sync.surface(Hand(0), HOME), work())
    sync.run(work())
    sync.retry_in(0.0, 1.0, lambda: pytest.fail("a cancelled table was touched for a retry"))
    tasks = sync.tasks
    sync.cancel()
    async with asyncio.timeout(5):
        await asyncio.wait(tasks)
    assert all(task.cancelled() for task in tasks)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
