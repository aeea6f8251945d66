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

Called = tuple[str, str]
"""A file and the qualified name of a function in it."""


def named(text: str) -> list[Called]:
    return re.findall(r"`([\w/]+\.py): ([\w.]+)`", text)


def walk(title: str) -> str:
    """Return a section of the walkthrough."""
    [found] = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", WALKS, re.MULTILINE | re.DOTALL)
    return str(found)


def steps(title: str) -> list[Called]:
    """Return the numbered steps of a section."""
    return [called for line in walk(title).splitlines() if re.match(r"\d+\. ", line) for called in named(line)]


def defined(path: Path) -> set[str]:
    """Return the qualified names of the functions and classes in a file."""

    def names(body: list[ast.stmt], before: str) -> Iterator[str]:
        for one in body:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield before + one.name
                if isinstance(one, ast.ClassDef):
                    yield from names(one.body, f"{before}{one.name}.")

    return set(names(ast.parse(path.read_text(encoding="utf-8")).body, ""))


@pytest.mark.parametrize("title", ["A press", "A challenge", "A rule"])
def test_functions_in_the_walkthrough_exist(title: str) -> None:
    assert len(named(walk(title))) > 10
    for path, name in named(walk(title)):
        assert name in defined(ROOT / path), f"docs/walkthrough.md names {path}: {name}, which does not exist"


def test_places_in_the_glossary_exist() -> None:
    rows = [line for line in GLOSSARY.splitlines() if line.startswith("| ") and not line.startswith("| word")]
    assert len(rows) > 70
    for row in rows:
        places = re.findall(r"`([a-z_/]+(?:/|\.py|\.lua))`", row.rsplit("|", 2)[1])
        assert places, f"docs/glossary.md has no place in this row: {row}"
        for place in places:
            assert (ROOT / place).exists(), f"docs/glossary.md names {place}, which does not exist"


@contextmanager
def calls() -> Iterator[list[Called]]:
    """Record calls of this project's functions in this thread, in order."""
    found: list[Called] = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGES):
            found.append((str(Path(code.co_filename).relative_to(ROOT)), code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


def first_missed(wanted: list[Called], found: list[Called]) -> Called | None:
    """Return the first step that was not called after the previous ones, or None if all were."""
    left = iter(found)
    return next((step for step in wanted if step not in left), None)


class Page:
    """A client of the playground."""

    def __init__(self, line: aiohttp.ClientWebSocketResponse) -> None:
        self.line = line

    async def ask(self, name: str, **request: Any) -> None:
        await self.line.send_json({"n": name, **request})
        while (word := await self.hear()).get("n") != name:
            pass
        assert (word["type"], word["toast"]) == ("done", "")

    async def hear(self) -> dict[str, Any]:
        word: dict[str, Any] = json.loads((await self.line.receive(timeout=30)).data)
        return word


@pytest.fixture
async def playground(tmp_path: Path) -> AsyncIterator[OpenPlayground]:
    one = OpenPlayground(tmp_path / "data")
    await one.start()
    yield one
    await one.stop()


async def test_challenge_calls_the_functions_of_its_walk(playground: OpenPlayground) -> None:
    origin = {"Origin": playground.url.rstrip("/")}
    async with (
        aiohttp.ClientSession(playground.url) as session,
        session.ws_connect("ws", headers=origin, max_msg_size=0) as line,
    ):
        page = Page(line)
        await page.hear()
        with calls() as found:
            await page.ask("n0001", do="say", chat="1", text="/challenge metamazzo", **{"as": "1"})
            await playground.worker.delivery.wait_until_idle()
        assert first_missed(steps("A challenge"), found) is None
