"""The state machine of one table: when it is behind, busy and at rest, without a platform or a store."""

import asyncio
from collections.abc import Callable
from functools import partial

import pytest

from bot.delivery.message_state import UNKNOWN, MessageState
from bot.delivery.names import Board, ChallengeCard, Hand, Result, SurfaceName
from bot.delivery.surface import Change
from bot.delivery.surfaces import tag_of
from bot.delivery.table_sync import BoardExtras, TableSync
from bot.panel import Panel
from bot.panels.drafts import Draft
from bot.platform import SentMessage
from bot.store.entries import Entry, Host, Open, Sit, Stand
from bot.tables.table import Table

HOME, CHAT = "p:@0", "p:100"
PANEL = Panel(())


def table() -> Table:
    entries: list[Entry] = [
        Open("metamazzo", "p:0", "Anna"),
        Host("p:100"),
        Sit(0, "p:0", "Anna"),
        Sit(1, "p:1", "Bruno"),
    ]
    return Table("ABCD").with_entries(entries, "u")


def test_a_touch_puts_it_behind_and_a_look_ends_that() -> None:
    sync = TableSync("ABCD")
    assert not sync.is_busy
    sync.touch()
    assert sync.is_behind
    assert sync.is_busy
    assert not sync.begin_check()
    assert not sync.is_behind


def test_what_another_worker_changed_is_fetched_however_it_is_touched_before_and_after() -> None:
    sync = TableSync("ABCD")
    sync.touch(reload=True)
    sync.touch()
    assert sync.begin_check()
    # Word that comes while the log is being fetched may be of something later.
    sync.touch(reload=True)
    sync.count_check()
    assert sync.is_behind
    assert sync.begin_check()
    sync.touch()
    assert not sync.begin_check()


def test_what_was_drawn_at_a_look_holds_until_something_is_touched_or_fetched() -> None:
    sync = TableSync("ABCD")
    sync.touch()
    sync.begin_check()
    sync.count_check()
    look = sync.checks
    assert sync.is_current(look)
    sync.touch()
    assert not sync.is_current(look)
    sync.begin_check()
    assert sync.is_current(look), "the table is being fetched, and may be the same"
    sync.count_check()
    assert not sync.is_current(look)
    assert sync.is_current(sync.checks)


def test_a_surface_that_failed_is_looked_at_again() -> None:
    sync = TableSync("ABCD")
    sync.mark_failed()
    assert sync.has_failed
    sync.begin_check()
    assert not sync.has_failed


async def test_it_is_busy_while_a_surface_is_under_way_and_hears_of_its_end() -> None:
    sync, gate = TableSync("ABCD"), asyncio.Event()

    async def work() -> None:
        await gate.wait()

    async def rest() -> None:
        while sync.has_syncing_surface:
            await sync.wait_for_event()

    surface = sync.surface(Hand(0), HOME)
    sync.start_surface(surface, work())
    sync.run(rest())
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


async def test_what_happens_before_it_is_waited_for_is_heard_as_well() -> None:
    sync, heard = TableSync("ABCD"), 0

    async def listen() -> None:
        nonlocal heard
        for _ in range(2):
            await sync.wait_for_event()
            heard += 1

    sync.run(listen())
    sync.touch()
    for _ in range(5):
        await asyncio.sleep(0)
    assert heard == 1
    sync.touch()
    for _ in range(5):
        await asyncio.sleep(0)
    assert heard == 2


async def test_a_stop_wakes_what_waits_before_it_tries_again() -> None:
    sync = TableSync("ABCD")
    with sync.surface(Hand(0), HOME).pause() as woken:
        sync.stop_waiting()
        assert woken.is_set()


def test_what_people_did_is_heeded_in_its_order_where_there_is_such_a_surface() -> None:
    sync = TableSync("ABCD")
    sync.add_change(Hand(0), Change(draft=Draft(1, "x")))
    sync.add_change(Board(9, 0), Change(repost=True))
    sync.add_change(Hand(0), Change(draft=Draft(2, "y")))
    heeded: list[Draft] = []
    while name := sync.next_changed:
        sync.apply_next_change(HOME if name == Hand(0) else None)
        heeded.append(sync.surface(Hand(0), HOME).known.draft)
    assert heeded == [Draft(1, "x"), Draft(1, "x"), Draft(2, "y")]
    assert sync.get(Board(9, 0)) is None


def test_what_the_store_knows_is_taken_over_once() -> None:
    sync = TableSync("ABCD")
    stored: dict[SurfaceName, MessageState] = {Hand(0): MessageState("7", "digest", tag_of(HOME), 3)}
    sync.load(stored, inherited=True)
    sync.surface(Hand(0), HOME).apply(Change(draft=Draft(1, "x")), HOME, 0)
    sync.load(stored, inherited=True)
    assert sync.surface(Hand(0), HOME).known.draft == Draft(1, "x")


def test_after_another_process_each_surface_is_in_doubt_those_to_come_as_well() -> None:
    for inherited in (True, False):
        sync = TableSync("ABCD")
        sync.load({Hand(0): MessageState(place_tag=tag_of(HOME))}, inherited=inherited)
        for surface in (sync.surface(Hand(0), HOME), sync.surface(Board(2, 0), CHAT)):
            assert surface.begin_send("digest").digest == (UNKNOWN if inherited else "digest")


def test_a_surface_is_of_whoever_sits_there() -> None:
    sync = TableSync("ABCD")
    sync.load({Hand(0): MessageState("7", "digest", tag_of(HOME), 3)}, inherited=False)
    assert sync.surface(Hand(0), HOME).known.message == "7"
    assert sync.surface(Hand(0), "p:@5").known == MessageState(place_tag=tag_of("p:@5"))
    assert sync.get(Board(1, 0)) is None


def test_looked_at_is_what_the_table_should_have_and_hands_that_are_there() -> None:
    sync = TableSync("ABCD")
    assert list(sync.surfaces_to_check(table())) == [ChallengeCard(0)]
    for name in (Hand(1), Hand(5), Board(1, 0)):
        sync.surface(name, HOME)
    assert list(sync.surfaces_to_check(table())) == [ChallengeCard(0), Hand(1)]


def test_boards_tell_who_cannot_be_reached_and_that_hands_are_in_the_group() -> None:
    sync = TableSync("ABCD")
    assert sync.board_extras(table(), ("p:0", "Anna")) == BoardExtras(called=("p:0", "Anna"))
    sync.surface(Hand(1), "p:@1").give_up("p:@1")
    assert sync.board_extras(table(), None) == BoardExtras((("p:1", "Bruno"),))
    sync.surface(Hand(0), HOME).apply(Change(place="p:@0~100!pass"), HOME, 0)
    assert sync.board_extras(table(), None) == BoardExtras((("p:1", "Bruno"),), has_ephemeral=True)


def test_at_rest_boards_stay_drawn_and_hands_do_not() -> None:
    sync = TableSync("ABCD")
    hand, board = sync.surface(Hand(0), HOME), sync.surface(Board(1, 0), CHAT)
    for surface in (hand, board):
        surface.cache_panel(1, PANEL)
    sync.clear_cached_panels()
    assert hand.cached_panel(1) is None
    assert board.cached_panel(1) is PANEL


def test_the_lists_are_told_when_somebody_else_sits_there() -> None:
    sync, before = TableSync("ABCD"), table()
    after = before.with_entries([Stand(1)], "u")
    assert not sync.is_listed(before)
    sync.set_listed(before)
    assert sync.is_listed(before)
    assert not sync.is_listed(after)
    sync.set_listed(None)
    assert not sync.is_listed(before)


def test_the_store_is_told_what_changed_and_again_if_that_was_lost() -> None:
    sync = TableSync("ABCD")
    sync.load({Hand(0): MessageState(place_tag=tag_of(HOME))}, inherited=False)
    assert sync.take_unsaved() == {}
    sync.surface(Hand(0), HOME).apply(Change(draft=Draft(1, "x")), HOME, 0)
    board = sync.surface(Board(1, 0), CHAT)
    assert set(sync.take_unsaved()) == {Hand(0), Board(1, 0)}
    assert sync.take_unsaved() == {}
    sync.forget_saved()
    assert sync.take_unsaved()[board.name] == board.known


def test_lag_counts_from_the_first_change_that_no_look_has_seen() -> None:
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


async def test_it_is_busy_for_as_long_as_it_is_brought_to_rest() -> None:
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


async def test_what_is_to_be_tried_again_is_touched_once_later_and_later_until_it_is_at_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sync, touched, pauses = TableSync("ABCD"), list[str](), list[float]()
    later: list[tuple[Callable[..., None], tuple[object, ...]]] = []

    def call_later(seconds: float, call: Callable[..., None], *about: object) -> asyncio.TimerHandle:
        pauses.append(seconds)
        later.append((call, about))
        return asyncio.TimerHandle(0, call, about, asyncio.get_running_loop())

    def time_passes() -> None:
        call, about = later.pop()
        call(*about)
        assert not later

    monkeypatch.setattr(asyncio.get_running_loop(), "call_later", call_later)
    for number in range(5):
        for _ in range(2):
            sync.retry_in(2.0, 20.0, partial(touched.append, f"{number}"))
        time_passes()
    assert touched == ["0", "1", "2", "3", "4"]
    assert pauses == [2.0, 4.0, 8.0, 16.0, 20.0]
    sync.reset_retries()
    sync.retry_in(2.0, 20.0, lambda: None)
    assert pauses[5:] == [2.0]
    # However often it fails.
    time_passes()
    for _ in range(2000):
        sync.retry_in(2.0, 20.0, lambda: None)
        time_passes()
    assert pauses[6:10] == [4.0, 8.0, 16.0, 20.0]
    assert set(pauses[10:]) == {20.0}


def raised(error: Exception) -> Exception:
    try:
        raise error
    except type(error) as same:
        return same


def test_an_error_is_new_by_its_kind_and_place_and_by_the_surface() -> None:
    sync = TableSync("ABCD")
    assert sync.is_new_error(raised(ValueError("a")), "h0")
    assert not sync.is_new_error(raised(ValueError("b")), "h0")
    assert sync.is_new_error(raised(KeyError("a")), "h0")
    assert sync.is_new_error(raised(ValueError("a")), "h1")
    with pytest.raises(ValueError, match="elsewhere") as elsewhere:
        raise ValueError("elsewhere")
    assert sync.is_new_error(elsewhere.value, "h0")


def test_results_are_those_that_stand_there_for_good() -> None:
    sync = TableSync("ABCD")
    for name, message in ((Result(0), "7"), (Result(1), ""), (Board(1, 0), "8")):
        surface = sync.surface(name, CHAT)
        if message:
            surface.finish_send(surface.begin_send("digest"), CHAT, SentMessage(message), 0, 0)
        surface.finish()
    assert sync.results() == {Result(0): SentMessage("7")}


async def test_a_table_that_goes_to_another_worker_does_nothing_more() -> None:
    sync = TableSync("ABCD")

    async def work() -> None:
        await asyncio.Event().wait()

    sync.start_surface(sync.surface(Hand(0), HOME), work())
    sync.run(work())
    sync.retry_in(0.0, 1.0, lambda: pytest.fail("it was touched again"))
    tasks = sync.tasks
    sync.cancel()
    async with asyncio.timeout(5):
        await asyncio.wait(tasks)
    assert all(task.cancelled() for task in tasks)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
