"""Each picture is painted once, and a message never waits long for its picture."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from bot.concurrency import processes
from bot.concurrency.processes import MAX_ATTEMPTS
from bot.panel import Panel, Span
from bot.panel_picture import DECKS, Picture, Subject
from bot.pictures import pool, pool_tasks
from bot.pictures.pool import PicturePool
from bot.pictures.scene import Card, Scene, Side


@pytest.fixture(autouse=True)
def _long_waits(monkeypatch: pytest.MonkeyPatch, forked: None) -> None:
    """Allow long waits, because processes can start slowly on a busy machine."""
    monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 60)


def make_panel(code: str = "3D") -> Panel:
    sides = (Side("Anna", "3"), Side("Bruno", "4"))
    scene = Scene(deck=DECKS[0], sides=sides, target="to 21", hand=(Card(code),))
    return Panel((Span("text"),), picture=Picture(scene, "a hand"))


def paint_slowly(scene: Subject) -> bytes:
    time.sleep(0.1)
    return b"painted"


def paint_endlessly(scene: Subject) -> bytes:
    time.sleep(600)
    return b""


def paint_with_error(scene: Subject) -> bytes:
    raise ValueError("3D")


def paint_and_die(scene: Subject) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def paint_and_count(scene: Subject) -> bytes:
    """Append a dot to the file that the scene names."""
    assert isinstance(scene, Scene)
    with Path(scene.line).open("a") as file:
        file.write(".")
    return b"painted"


def paint_after(permission: Path, scene: Subject) -> bytes:
    """Wait for a file before painting."""
    while not permission.exists():
        time.sleep(0.01)
    return b"painted"


def paint_and_count_when_permitted(scene: Subject) -> bytes:
    """Wait for the file "permission" next to the scene's file, then call `paint_and_count`."""
    assert isinstance(scene, Scene)
    paint_after(Path(scene.line).with_name("permission"), scene)
    return paint_and_count(scene)


@asynccontextmanager
async def open_pool(paint: Callable[[Subject], bytes] = pool_tasks.paint) -> AsyncIterator[PicturePool]:
    picture_pool = PicturePool(paint)
    try:
        yield picture_pool
    finally:
        picture_pool.stop()


async def test_panel_gets_its_picture_as_png() -> None:
    async with open_pool() as pictures:
        painted = await pictures.paint_panel(make_panel())
    assert painted.picture
    assert painted.picture.png.startswith(b"\x89PNG")
    assert painted.digest == make_panel().digest


async def test_busy_pool_returns_the_text_and_paints_later() -> None:
    async with open_pool(paint_endlessly) as pictures:
        pictures._seconds_each = 10
        tasks = [
            asyncio.create_task(pictures.paint_panel(make_panel(code))) for code in ("2D", "3D", "4D", "5D", "6D", "7D")
        ]
        last_task = asyncio.create_task(pictures.paint_panel(make_panel("AD")))
        assert (await last_task).picture is None
        assert not any(task.done() for task in tasks), "six pictures take a minute, so they must still wait"
        scene = make_panel("AD").picture
        assert scene
        assert pictures.is_painting(scene.subject)


async def test_painting_time_is_measured_without_waiting_time() -> None:
    async with open_pool(paint_slowly) as pictures:
        await asyncio.gather(*[pictures.paint_panel(make_panel(f"{rank}D")) for rank in "A234567FCR"])
        # Ten pictures of 0.1 s bring the moving average, which begins at 0, to 0.065. Half of it leaves room for noise.
        assert pictures._seconds_each > 0.1 * (1 - 0.9**10) / 2
        pictures._seconds_each = 0
        # Time without requests does not count.
        pictures._last_at -= 1000
        await pictures.paint_panel(make_panel("AC"))
        assert pictures._seconds_each < 10


async def test_panel_without_a_picture_needs_no_process() -> None:
    async with open_pool(paint_and_die) as pictures:
        bare = Panel((Span("text"),))
        assert await pictures.paint_panel(bare) is bare


async def test_stopping_does_not_wait_for_a_picture() -> None:
    async with open_pool(paint_endlessly) as pictures:
        task = asyncio.create_task(pictures.paint_panel(make_panel()))
        while not pictures._processes._running:
            await asyncio.sleep(0.01)
        [process] = [running.process for running in pictures._processes._running]
    process.join(10)
    assert not process.is_alive()
    picture = (await task).picture
    assert picture is None


async def test_same_picture_is_painted_once(tmp_path: Path) -> None:
    file = tmp_path / "painted"
    panel = make_panel()
    assert panel.picture
    fields = {**vars(panel.picture.subject), "line": str(file)}
    fields.pop("digest", None)
    panel = Panel(panel.text, picture=Picture(Scene(**fields), ""))
    async with open_pool(paint_and_count) as pictures:
        panels = await asyncio.gather(*[pictures.paint_panel(panel) for _ in range(5)])
        panels.append(await pictures.paint_panel(panel))
    assert file.read_text() == "."
    assert {painted.picture.png for painted in panels if painted.picture} == {b"painted"}


@pytest.mark.parametrize("paint", [paint_with_error, paint_and_die])
async def test_failed_picture_leaves_the_text(paint: Callable[[Subject], bytes]) -> None:
    async with open_pool(paint) as pictures:
        assert await pictures.paint_panel(make_panel()) == Panel((Span("text"),))


async def test_late_picture_is_ready_for_the_next_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 0.05)
    async with open_pool(partial(paint_after, tmp_path / "permission")) as pictures:
        assert (await pictures.paint_panel(make_panel())).picture is None
        monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 60)
        (tmp_path / "permission").touch()
        requested = await pictures.paint_panel(make_panel())
        assert requested.picture
        assert requested.picture.png == b"painted"


async def test_abandoned_pictures_are_not_painted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 0.01)
    scenes = []
    for code in ("3D", "4D", "5D", "6D"):
        picture = make_panel(code).picture
        assert isinstance(picture, Picture)
        assert isinstance(picture.subject, Scene)
        scenes.append(replace(picture.subject, line=str(tmp_path / code)))
    async with open_pool(paint_and_count_when_permitted) as pictures:
        for scene in scenes:
            assert not (await pictures.paint_panel(Panel((), picture=Picture(scene, "")))).picture
        woken = asyncio.Event()
        waits = [asyncio.create_task(pictures.wait_until_done(scene, woken)) for scene in scenes[1:]]
        other = asyncio.create_task(pictures.wait_until_done(scenes[3], asyncio.Event()))
        await asyncio.sleep(0)
        # Newer messages replace these three, so they no longer wait for their pictures.
        woken.set()
        await asyncio.gather(*waits)
        (tmp_path / "permission").touch()
        await other
        assert not pictures._under_way
        assert not pictures._waiters

    # The process already has the first two scenes.
    assert sorted(file.name for file in tmp_path.iterdir()) == ["3D", "4D", "6D", "permission"]


async def test_long_wait_does_not_restart_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    timeouts: list[asyncio.Timeout] = []

    def create_timeout(_seconds: float) -> asyncio.Timeout:
        """Return a timeout that the test can make expire."""
        timeouts.append(asyncio.Timeout(None))
        return timeouts[-1]

    async with open_pool(paint_slowly) as pictures:
        await pictures.paint_panel(make_panel("AD"))
        [process] = [running.process for running in pictures._processes._running]
        monkeypatch.setattr(asyncio, "timeout", create_timeout)
        monkeypatch.setattr(pictures, "_paint", partial(paint_after, tmp_path / "first"))
        first = asyncio.create_task(pictures.paint_panel(make_panel("AC")))
        while not timeouts:
            await asyncio.sleep(0)
        monkeypatch.setattr(pictures, "_paint", partial(paint_after, tmp_path / "others"))
        other_tasks = [asyncio.create_task(pictures.paint_panel(make_panel(code))) for code in ("2C", "3C", "4C")]
        while len(timeouts) < 4:
            await asyncio.sleep(0)
        (tmp_path / "first").touch()
        assert (await first).picture
        for timeout in timeouts[1:]:
            timeout.reschedule(0)
        assert not any(painted.picture for painted in await asyncio.gather(*other_tasks))
        (tmp_path / "others").touch()
        pictures._rests_until = 0
        assert (await pictures.paint_panel(make_panel("2D"))).picture
        assert [running.process for running in pictures._processes._running] == [process]


async def test_hung_process_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "HUNG_SECONDS", 0.5)
    async with open_pool(paint_endlessly) as pictures:
        scene = make_panel().picture
        assert scene
        assert (await pictures.paint_panel(make_panel())).picture is None
        assert not pictures.is_painting(scene.subject)
        monkeypatch.setattr(pool, "HUNG_SECONDS", 60)
        monkeypatch.setattr(pictures, "_paint", pool_tasks.paint)
        monkeypatch.setattr(pictures, "_rests_until", 0.0)
        assert (await pictures.paint_panel(make_panel())).picture


async def test_pool_rests_after_failed_process_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def fail_to_start(self: object) -> None:
        tries.append(self)
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(processes.NewProcess, "start", fail_to_start)
    async with open_pool() as pictures:
        for code in ("3D", "4D", "5D"):
            assert (await pictures.paint_panel(make_panel(code))).picture is None
    assert len(tries) == MAX_ATTEMPTS


async def test_dead_process_restarts_before_the_next_picture() -> None:
    async with open_pool() as pictures:
        pictures.warm_up()
        assert pictures._ready
        await pictures._ready
        first = pictures._ready
        pictures.warm_up()
        assert pictures._ready is first
        pictures._processes.restart()
        while pictures._processes.is_running:
            await asyncio.sleep(0.01)
        pictures.warm_up()
        assert pictures._ready is not first


async def test_full_pool_returns_the_text_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MAX_PENDING", 1)
    async with open_pool(partial(paint_after, tmp_path / "permission")) as pictures:
        first = asyncio.create_task(pictures.paint_panel(make_panel("3D")))
        await asyncio.sleep(0)
        assert (await pictures.paint_panel(make_panel("4D"))).picture is None
        (tmp_path / "permission").touch()
        assert (await first).picture


async def test_pool_rests_after_a_process_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_pool(paint_and_die) as pictures:
        assert (await pictures.paint_panel(make_panel())).picture is None
        monkeypatch.setattr(pictures, "_paint", pool_tasks.paint)
        assert (await pictures.paint_panel(make_panel())).picture is None
        monkeypatch.setattr(pictures, "_rests_until", 0.0)
        assert (await pictures.paint_panel(make_panel())).picture


async def test_abandoned_picture_can_be_requested_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hand can change and change back quickly."""
    async with open_pool(partial(paint_after, tmp_path / "permission")) as pictures:
        first = make_panel()
        assert first.picture
        monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 0.01)
        assert not (await pictures.paint_panel(first)).picture
        monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 60)
        woken = asyncio.Event()
        woken.set()
        await pictures.wait_until_done(first.picture.subject, woken)
        task = asyncio.create_task(pictures.paint_panel(first))
        await asyncio.sleep(0)
        (tmp_path / "permission").touch()
        painted = await task
        assert painted.picture
        assert painted.picture.png == b"painted"
