"""A press on Telegram calls the functions that docs/walkthrough.md lists, and crosses few files."""

import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from random import Random
from types import FrameType

from adapters.telegram.adapter import Telegram
from adapters.telegram.polling import Polling
from bot.running.supervisor import Supervisor
from bot.store import Store
from tests.paths import ROOT
from tests.telegram.players import Person, on_telegram, seat_people
from tests.telegram.server import TelegramServer
from tests.test_walkthrough import PACKAGES, Function, find_steps, read_section

MAX_FILES = 30
MAX_ENTRIES = 2  # maximum number of functions of one class that other classes or modules call

# Functions that wait for updates. They already run before the press.
WAITING = [function.__qualname__ for function in (Supervisor._run_adapter, Telegram.serve, Polling.run)]


class Walk:
    """The steps of a press: functions in the order of their first calls, and the call stack of each call.

    A stack has the product's functions, outermost first, and ends with a step.
    """

    def __init__(self) -> None:
        self.order: list[Function] = []
        self.stacks: list[tuple[Function, ...]] = []

    def add(self, stack: tuple[Function, ...]) -> None:
        if stack[-1] not in self.order:
            self.order.append(stack[-1])
        self.stacks.append(stack)

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(path for stack in self.stacks for path, _ in stack))

    @property
    def entries(self) -> dict[str, set[str]]:
        """The functions that other classes or modules call, by class."""
        entries: dict[str, set[str]] = defaultdict(set)
        for stack in self.stacks:
            for (caller_path, caller), (path, name) in pairwise(stack):
                class_name = name.partition(".")[0]
                if "." in name and (caller_path, caller.partition(".")[0]) != (path, class_name):
                    entries[f"{path}: {class_name}"].add(name)
        return entries


@contextmanager
def record_walk(steps: list[Function]) -> Iterator[Walk]:
    """Record the calls of these functions in this thread."""
    walk = Walk()
    names = {name for _, name in steps}

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_qualname in names and function_of(frame) in steps:
            walk.add(tuple(reversed(list(active_functions(frame)))))

    sys.setprofile(profile)
    try:
        yield walk
    finally:
        sys.setprofile(None)


def function_of(frame: FrameType) -> Function:
    path = frame.f_code.co_filename
    return str(Path(path).relative_to(ROOT)) if path.startswith(PACKAGES) else path, frame.f_code.co_qualname


def active_functions(frame: FrameType | None) -> Iterator[Function]:
    while frame:
        if frame.f_code.co_filename.startswith(PACKAGES) and frame.f_code.co_qualname not in WAITING:
            yield function_of(frame)
        frame = frame.f_back


async def play_one_card(people: list[Person], random: Random) -> None:
    for person in people:
        if await person.play(random):
            return
    raise AssertionError("nobody can play")


async def test_press_passes_through_few_files(store: Store, server: TelegramServer) -> None:
    random = Random(1)
    steps = find_steps("A press")
    async with on_telegram(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        for _ in range(4):
            await adapter.worker.wait_until_idle()
            await play_one_card(people, random)
        await adapter.worker.wait_until_idle()
        with record_walk(steps) as walk:
            await play_one_card(people, random)
            await adapter.worker.wait_until_idle()
    assert walk.order == steps, "docs/walkthrough.md, section A press, differs from the calls: fix its steps"
    assert len(walk.files) <= MAX_FILES, "A press crosses too many files:\n" + "\n".join(walk.files)
    assert f"The walk crosses {len(walk.files)} files" in " ".join(read_section("A press").split()), (
        f"docs/walkthrough.md, section A press: the press crosses {len(walk.files)} files"
    )
    too_many = {place: names for place, names in walk.entries.items() if len(names) > MAX_ENTRIES}
    assert not too_many, f"docs/walkthrough.md promises at most {MAX_ENTRIES} entries per class: {too_many}"
