"""Pictures come in time, once each, and a message never waits long for its own."""

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

from bot import processes
from bot.panel import Panel, Span
from bot.picture import DECKS, Picture, Subject
from bot.pictures import painting, pool
from bot.pictures.pool import PicturePool
from bot.pictures.scene import Card, Scene, Side
from bot.processes import TRIES


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch, forked: None) -> None:
    """On a busy machine a process takes a while to start."""
    monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 60)


def panel(code: str = "3D") -> Panel:
    sides = (Side("Anna", "3"), Side("Bruno", "4"))
    scene = Scene(deck=DECKS[0], sides=sides, target="to 21", hand=(Card(code),))
    return Panel((Span("text"),), picture=Picture(scene, "a hand"))


def unhurried(scene: Subject) -> bytes:
    time.sleep(0.1)
    return b"painted"


def endless(scene: Subject) -> bytes:
    time.sleep(600)
    return b""


def broken(scene: Subject) -> bytes:
    raise ValueError("3D")


def deadly(scene: Subject) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def counted(scene: Subject) -> bytes:
    """Appends to the file that the scene names."""
    assert isinstance(scene, Scene)
    with Path(scene.line).open("a") as file:
        file.write(".")
    return b"painted"


def held_until(go: Path, scene: Subject) -> bytes:
    """Waits for a file."""
    while not go.exists():
        time.sleep(0.01)
    return b"painted"


def held_back(scene: Subject) -> bytes:
    """Waits for the file "go" beside the one that the scene names, and makes that."""
    assert isinstance(scene, Scene)
    held_until(Path(scene.line).with_name("go"), scene)
    return counted(scene)


@asynccontextmanager
async def opened(paint: Callable[[Subject], bytes] = painting.paint) -> AsyncIterator[PicturePool]:
    pictures = PicturePool(paint)
    try:
        yield pictures
    finally:
        pictures.stop()


async def test_a_panel_gets_its_picture_as_png() -> None:
    async with opened() as pictures:
        painted = await pictures.paint_panel(panel())
    assert painted.picture
    assert painted.picture.png.startswith(b"\x89PNG")
    assert painted.digest == panel().digest


async def test_where_too_many_are_under_way_a_text_goes_at_once_and_its_picture_may_follow() -> None:
    async with opened(endless) as pictures:
        pictures._seconds_each = 10
        asked = [
            asyncio.create_task(pictures.paint_panel(panel(code))) for code in ("2D", "3D", "4D", "5D", "6D", "7D")
        ]
        late = asyncio.create_task(pictures.paint_panel(panel("AD")))
        assert (await late).picture is None
        assert not any(one.done() for one in asked), "six take a minute, which is not too long"
        scene = panel("AD").picture
        assert scene
        assert pictures.is_painting(scene.subject)


async def test_what_a_picture_takes_is_known_however_many_wait() -> None:
    async with opened(unhurried) as pictures:
        await asyncio.gather(*[pictures.paint_panel(panel(f"{rank}D")) for rank in "A234567FCR"])
        assert pictures._seconds_each > 0.1 * (1 - 0.9**10) / 2
        pictures._seconds_each = 0
        # Nor does it count how long nobody asked for any.
        pictures._last_at -= 1000
        await pictures.paint_panel(panel("AC"))
        assert pictures._seconds_each < 10


async def test_a_panel_without_a_picture_needs_no_process() -> None:
    async with opened(deadly) as pictures:
        bare = Panel((Span("text"),))
        assert await pictures.paint_panel(bare) is bare


async def test_a_bot_that_ends_does_not_wait_for_a_picture() -> None:
    async with opened(endless) as pictures:
        asked = asyncio.create_task(pictures.paint_panel(panel()))
        while not pictures._processes._running:
            await asyncio.sleep(0.01)
        [process] = [one.process for one in pictures._processes._running]
    process.join(10)
    assert not process.is_alive()
    picture = (await asked).picture
    assert picture is None


async def test_the_same_picture_is_painted_once_however_many_ask_for_it(tmp_path: Path) -> None:
    file = tmp_path / "painted"
    asked = panel()
    assert asked.picture
    fields = {**vars(asked.picture.subject), "line": str(file)}
    fields.pop("digest", None)
    asked = Panel(asked.text, picture=Picture(Scene(**fields), ""))
    async with opened(counted) as pictures:
        found = await asyncio.gather(*[pictures.paint_panel(asked) for _ in range(5)])
        found.append(await pictures.paint_panel(asked))
    assert file.read_text() == "."
    assert {one.picture.png for one in found if one.picture} == {b"painted"}


@pytest.mark.parametrize("paint", [broken, deadly])
async def test_a_picture_that_cannot_be_painted_leaves_the_text(paint: Callable[[Subject], bytes]) -> None:
    async with opened(paint) as pictures:
        assert await pictures.paint_panel(panel()) == Panel((Span("text"),))


async def test_a_picture_that_is_late_leaves_the_text_and_is_there_for_who_asks_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 0.05)
    async with opened(partial(held_until, tmp_path / "go")) as pictures:
        assert (await pictures.paint_panel(panel())).picture is None
        monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 60)
        (tmp_path / "go").touch()
        asked = await pictures.paint_panel(panel())
        assert asked.picture
        assert asked.picture.png == b"painted"


async def test_what_nobody_waits_for_any_more_is_not_painted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 0.01)
    scenes = []
    for code in ("3D", "4D", "5D", "6D"):
        picture = panel(code).picture
        assert isinstance(picture, Picture)
        assert isinstance(picture.subject, Scene)
        scenes.append(replace(picture.subject, line=str(tmp_path / code)))
    async with opened(held_back) as pictures:
        for scene in scenes:
            assert not (await pictures.paint_panel(Panel((), picture=Picture(scene, "")))).picture
        newer = asyncio.Event()
        waiting = [asyncio.create_task(pictures.wait_until_done(scene, newer)) for scene in scenes[1:]]
        other = asyncio.create_task(pictures.wait_until_done(scenes[3], asyncio.Event()))
        await asyncio.sleep(0)
        newer.set()
        await asyncio.gather(*waiting)
        (tmp_path / "go").touch()
        await other
        assert not pictures._under_way
        assert not pictures._wanted
    # Two are handed to the process ahead of time.
    assert sorted(file.name for file in tmp_path.iterdir()) == ["3D", "4D", "6D", "go"]


async def test_a_picture_that_only_waited_long_costs_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[asyncio.Timeout] = []

    def limit(_seconds: float) -> asyncio.Timeout:
        """One that is over when the test says so."""
        limits.append(asyncio.Timeout(None))
        return limits[-1]

    async with opened(unhurried) as pictures:
        await pictures.paint_panel(panel("AD"))
        [process] = [one.process for one in pictures._processes._running]
        monkeypatch.setattr(asyncio, "timeout", limit)
        monkeypatch.setattr(pictures, "_paint", partial(held_until, tmp_path / "first"))
        first = asyncio.create_task(pictures.paint_panel(panel("AC")))
        while not limits:
            await asyncio.sleep(0)
        monkeypatch.setattr(pictures, "_paint", partial(held_until, tmp_path / "others"))
        others = [asyncio.create_task(pictures.paint_panel(panel(code))) for code in ("2C", "3C", "4C")]
        while len(limits) < 4:
            await asyncio.sleep(0)
        (tmp_path / "first").touch()
        assert (await first).picture
        for one in limits[1:]:
            one.reschedule(0)
        assert not any(painted.picture for painted in await asyncio.gather(*others))
        (tmp_path / "others").touch()
        pictures._rests_until = 0
        assert (await pictures.paint_panel(panel("2D"))).picture
        assert [one.process for one in pictures._processes._running] == [process]


async def test_a_process_that_hangs_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "HUNG_SECONDS", 0.5)
    async with opened(endless) as pictures:
        scene = panel().picture
        assert scene
        assert (await pictures.paint_panel(panel())).picture is None
        assert not pictures.is_painting(scene.subject)
        monkeypatch.setattr(pool, "HUNG_SECONDS", 60)
        monkeypatch.setattr(pictures, "_paint", painting.paint)
        monkeypatch.setattr(pictures, "_rests_until", 0.0)
        assert (await pictures.paint_panel(panel())).picture


async def test_where_no_process_can_be_started_none_is_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def none(self: object) -> None:
        tries.append(self)
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(processes.NewProcess, "start", none)
    async with opened() as pictures:
        for code in ("3D", "4D", "5D"):
            assert (await pictures.paint_panel(panel(code))).picture is None
    assert len(tries) == TRIES


async def test_a_process_that_died_is_started_anew_before_it_is_wanted() -> None:
    async with opened() as pictures:
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


async def test_with_too_many_under_way_a_text_goes_alone_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MAX_PENDING", 1)
    async with opened(partial(held_until, tmp_path / "go")) as pictures:
        first = asyncio.create_task(pictures.paint_panel(panel("3D")))
        await asyncio.sleep(0)
        assert (await pictures.paint_panel(panel("4D"))).picture is None
        (tmp_path / "go").touch()
        assert (await first).picture


async def test_a_process_that_cannot_be_had_is_left_alone_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(deadly) as pictures:
        assert (await pictures.paint_panel(panel())).picture is None
        monkeypatch.setattr(pictures, "_paint", painting.paint)
        assert (await pictures.paint_panel(panel())).picture is None
        monkeypatch.setattr(pictures, "_rests_until", 0.0)
        assert (await pictures.paint_panel(panel())).picture


async def test_a_picture_that_is_wanted_again_as_it_is_given_up_is_painted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hand may change and change back at once."""
    async with opened(partial(held_until, tmp_path / "go")) as pictures:
        first = panel()
        assert first.picture
        monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 0.01)
        assert not (await pictures.paint_panel(first)).picture
        monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 60)
        newer = asyncio.Event()
        newer.set()
        await pictures.wait_until_done(first.picture.subject, newer)
        asked = asyncio.create_task(pictures.paint_panel(first))
        await asyncio.sleep(0)
        (tmp_path / "go").touch()
        again = await asked
        assert again.picture
        assert again.picture.png == b"painted"
