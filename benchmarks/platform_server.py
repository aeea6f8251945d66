"""A platform for benchmarks, with its people, in its own process.

It prints its port and serves until its standard input ends. The benchmark posts actions to ``/control``:

- ``open`` opens tables, and ``bare`` adds people for the bare library;
- ``ready`` returns the number of panels with buttons to press, and ``samples`` some sent messages;
- ``settle`` waits until the bot sends no more messages;
- ``play`` lets the people press.

The answer has a ``result`` or the reason why the action ``failed``.
"""

import asyncio
import sys
from abc import ABC, abstractmethod
from collections import Counter
from typing import Any

from aiohttp import web

from benchmarks.crowd import Crowd
from benchmarks.limits import BenchFailed

# Tables opened at a time. A chat can have twice as many open challenges, and all Discord tables here are in one server.
AT_ONCE = 10


class PlatformServer(ABC):
    """Counts calls, and acts for the platform's people.

    Table ``n`` has persons ``2n`` and ``2n + 1``. With ``together``, the same two people sit at that many tables.
    """

    def __init__(self) -> None:
        self.crowd = Crowd(self.press)
        self.calls: Counter[str] = Counter()
        self.uploads = 0  # pictures that came with calls
        self.samples: dict[str, Any] = {}
        self.together = 1
        self.port = 0
        self._accepted: set[int] = set()
        self._hands: set[int] = set()

    @abstractmethod
    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request of the bot or the benchmark."""

    @abstractmethod
    def press(self, person: int, message: str, payload: str) -> None:
        """Let a person press a button of their own panel."""

    @abstractmethod
    def challenge(self, table: int) -> None:
        """Let a table's first person challenge."""

    def mark_accepted(self, table: int) -> bool:
        """Mark that a table's second person accepts. Return whether they had accepted before."""
        if table in self._accepted:
            return True
        self._accepted.add(table)
        return False

    def keep_sample(self, kind: str, message_fields: dict[str, Any]) -> None:
        """Keep a shown panel for the bare library. A panel with a picture (``png`` in Base64) replaces one without."""
        if "png" in message_fields or "png" not in self.samples.get(kind, {}):
            self.samples[kind] = message_fields

    def count_hand(self, message: int) -> None:
        """Count a message that shows a hand."""
        self._hands.add(message)

    def person(self, table: int, seat: int) -> int:
        """Return the person in a seat of a table. Seat 0 is the challenger."""
        return 2 * (table // self.together) + seat

    def challenge_again(self, table: int) -> None:
        self._accepted.discard(table)
        self.challenge(table)

    @abstractmethod
    def show_bare(self, tables: int, samples: dict[str, Any]) -> None:
        """Show one person of each table a panel like the samples."""

    @abstractmethod
    async def wait_until_connected(self) -> None:
        """Wait until the bot is connected, if events before that would be lost."""

    async def handle_control(self, action: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"result": await self.run_action(action)}
        except BenchFailed as failure:
            return {"failed": str(failure)}

    async def run_action(self, action: dict[str, Any]) -> Any:
        """Run an action of the benchmark. Raises BenchFailed if it fails."""
        match action["do"]:
            case "open":
                await self.wait_until_connected()
                self.together, before = action["together"], len(self._hands)
                for table in range(action["from"], action["to"]):
                    self.challenge(table)
                    while len(self._hands) - before < 2 * (table - action["from"] - AT_ONCE):
                        await asyncio.sleep(0.01)
                return True
            case "bare":
                self.show_bare(action["tables"], action["like"])
                return True
            case "ready":
                return self.crowd.ready_panels
            case "samples":
                return self.samples
            case "settle":
                calls = -1
                while calls != self.calls.total():
                    calls = self.calls.total()
                    await asyncio.sleep(action["quiet"])
                return True
        calls, uploads = self.calls.total(), self.uploads
        result = await self.crowd.play(action["presses"], action["rate"], action["at_once"])
        return {**result, "calls": self.calls.total() - calls, "uploads": self.uploads - uploads}


async def read_form(request: web.BaseRequest) -> dict[str, bytes]:
    """Return a form's fields and files by name. Unlike aiohttp's parser it writes no files to the disk."""
    boundary = request.headers["Content-Type"].partition("boundary=")[2].strip('"').encode()
    fields = {}
    for part in (await request.read()).split(b"--" + boundary)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        fields[head.partition(b'name="')[2].partition(b'"')[0].decode()] = content.removesuffix(b"\r\n")
    return fields


async def serve(bench: PlatformServer) -> None:
    """Serve until the parent process closes standard input."""
    runner = web.ServerRunner(web.Server(bench.handle), shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    bench.port = runner.addresses[0][1]
    print(bench.port, flush=True)  # noqa: T201
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()
