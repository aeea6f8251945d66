"""A press on Telegram takes the walk of docs/walkthrough.md, through few files."""

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

MOST_FILES, MOST_ENTRIES = 30, 2

# Functions that wait for updates. They were at work before the press.
WAITING = [function.__qualname__ for function in (Supervisor._run_adapter, Telegram.serve, Polling.run)]


class Walk:
    """The called steps in the order of their first calls, with the call stack of each.

    ``stacks`` are the product's functions, outermost first. Each ends with a step.
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
        """By class, the functions through which other classes or modules enter it."""
        found: dict[str, set[str]] = defaultdict(set)
        for stack in self.stacks:
            for (caller, outside), (path, name) in pairwise(stack):
                within = name.partition(".")[0]
                if "." in name and (caller, outside.partition(".")[0]) != (path, within):
                    found[f"{path}: {within}"].add(name)
        return found


@contextmanager
def record_walk(wanted: list[Function]) -> Iterator[Walk]:
    """Record the steps that this thread calls."""
    found = Walk()
    names = {name for _, name in wanted}

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_qualname in names and function_of(frame) in wanted:
            found.add(tuple(reversed(list(active_functions(frame)))))

    sys.setprofile(note)
    try:
        yield found
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


async def test_press_passes_few_files(store: Store, server: TelegramServer) -> None:
    random = Random(1)
    wanted = find_steps("A press")
    async with on_telegram(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        for _ in range(4):
            await adapter.worker.settled()
            await play_one_card(people, random)
        await adapter.worker.settled()
        with record_walk(wanted) as found:
            await play_one_card(people, random)
            await adapter.worker.settled()
    assert found.order == wanted, "docs/walkthrough.md, section A press, differs from the calls: fix its steps"
    assert len(found.files) <= MOST_FILES, "A press passes too many files:\n" + "\n".join(found.files)
    assert f"The way crosses {len(found.files)} files" in " ".join(read_section("A press").split())
    often = {where: names for where, names in found.entries.items() if len(names) > MOST_ENTRIES}
    assert not often, f"docs/walkthrough.md promises {MOST_ENTRIES} entries per class, but see {often}"
