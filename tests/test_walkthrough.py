"""Functions in docs/walkthrough.md and places in docs/glossary.md exist, and a challenge calls its steps in order.

`tests/telegram/test_walk_of_a_press.py` checks the walk of a press.
"""

import ast
import json
import re
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import aiohttp
import pytest

from tests.open_playground import OpenPlayground
from tests.paths import DOCS, ROOT

WALKS = (DOCS / "walkthrough.md").read_text(encoding="utf-8")
GLOSSARY = (DOCS / "glossary.md").read_text(encoding="utf-8")
PACKAGES = tuple(str(ROOT / package) + "/" for package in ("adapters", "bot", "engine"))

Function = tuple[str, str]
"""A file and the qualified name of a function in it."""


def find_names(text: str) -> list[Function]:
    return re.findall(r"`([\w/]+\.py): ([\w.]+)`", text)


def read_section(title: str) -> str:
    [section] = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", WALKS, re.MULTILINE | re.DOTALL)
    return str(section)


def find_steps(title: str) -> list[Function]:
    """Return the numbered steps of a section."""
    return [
        function
        for line in read_section(title).splitlines()
        if re.match(r"\d+\. ", line)
        for function in find_names(line)
    ]


def find_definitions(path: Path) -> set[str]:
    """Return the qualified names of the functions and classes in a file."""

    def iter_names(body: list[ast.stmt], prefix: str) -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield prefix + node.name
                if isinstance(node, ast.ClassDef):
                    yield from iter_names(node.body, f"{prefix}{node.name}.")

    return set(iter_names(ast.parse(path.read_text(encoding="utf-8")).body, ""))


@pytest.mark.parametrize("title", ["A press", "A challenge", "A rule"])
def test_functions_in_the_walkthrough_exist(title: str) -> None:
    assert len(find_names(read_section(title))) > 10
    for path, name in find_names(read_section(title)):
        assert name in find_definitions(ROOT / path), f"docs/walkthrough.md names {path}: {name}, which does not exist"


def test_places_in_the_glossary_exist() -> None:
    rows = [line for line in GLOSSARY.splitlines() if line.startswith("| ") and not line.startswith("| word")]
    assert len(rows) > 70
    for row in rows:
        places = re.findall(r"`([a-z_/]+(?:/|\.py|\.lua))`", row.rsplit("|", 2)[1])
        assert places, f"docs/glossary.md has no place in this row: {row}"
        for place in places:
            assert (ROOT / place).exists(), f"docs/glossary.md names {place}, which does not exist"


@contextmanager
def record_calls() -> Iterator[list[Function]]:
    """Record calls of this project's functions in this thread, in order."""
    calls: list[Function] = []

    def record(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGES):
            calls.append((str(Path(code.co_filename).relative_to(ROOT)), code.co_qualname))

    profiler = sys.getprofile()
    sys.setprofile(record)
    try:
        yield calls
    finally:
        sys.setprofile(profiler)


def find_missed_step(steps: list[Function], calls: list[Function]) -> Function | None:
    """Return the first step that was not called after the previous ones, or None if all were."""
    remaining = iter(calls)
    return next((step for step in steps if step not in remaining), None)


class Page:
    """A client of the playground."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def ask(self, name: str, **request: Any) -> None:
        await self.socket.send_json({"n": name, **request})
        while (answer := await self.receive()).get("n") != name:
            pass
        assert (answer["type"], answer["toast"]) == ("done", "")

    async def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads((await self.socket.receive(timeout=30)).data)
        return message


@pytest.fixture
async def playground(tmp_path: Path) -> AsyncIterator[OpenPlayground]:
    running = OpenPlayground(tmp_path / "data")
    await running.start()
    yield running
    await running.stop()


async def test_challenge_calls_the_functions_of_its_walk(playground: OpenPlayground) -> None:
    origin = {"Origin": playground.url.rstrip("/")}
    async with (
        aiohttp.ClientSession(playground.url) as session,
        session.ws_connect("ws", headers=origin, max_msg_size=0) as socket,
    ):
        page = Page(socket)
        await page.receive()
        with record_calls() as calls:
            await page.ask("n0001", do="say", chat="1", text="/challenge metamazzo", **{"as": "1"})
            await playground.worker.delivery.wait_until_idle()
        assert find_missed_step(find_steps("A challenge"), calls) is None
