"""A platform for benches, in a process of its own, with its people in it.

It prints its port, serves until its standard input ends, and takes what the bench asks for at ``/control``: ``open`` so
many tables, ``ready`` (how many panels have something to press), ``samples`` of what was sent, ``settle`` (until the
bot has nothing more to show), ``bare`` (people for the bare library), and ``play``. What comes of it is a ``result``,
or why it ``failed``.
"""

import asyncio
import sys
from abc import ABC, abstractmethod
from collections import Counter
from typing import Any

from aiohttp import web

from benchmarks.crowd import Crowd
from benchmarks.limits import BenchFailed

AT_ONCE = 10
"""How many tables are being opened at a time; a chat may have twice as many open challenges, and Discord's tables here
are all in one server.
"""


class PlatformServer(ABC):
    """What a platform counts, and what its people do.

    Table ``n`` has persons ``2n`` and ``2n + 1``, or the same two sit at so many tables as are ``together``.
    """

    def __init__(self) -> None:
        self.crowd = Crowd(self.press)
        self.calls: Counter[str] = Counter()
        self.uploads = 0
        """Pictures that came with calls."""
        self.samples: dict[str, Any] = {}
        self.together = 1
        self.port = 0
        self._accepted: set[int] = set()
        self._hands: set[int] = set()

    @abstractmethod
    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request, the bot's or the bench's."""

    @abstractmethod
    def press(self, person: int, message: str, payload: str) -> None:
        """Have somebody press a button of their own panel."""

    @abstractmethod
    def challenge(self, table: int) -> None:
        """Have a table's first person challenge."""

    def mark_accepted(self, table: int) -> bool:
        """Whether a table's second person has accepted already; from now on they have."""
        if table in self._accepted:
            return True
        self._accepted.add(table)
        return False

    def keep_sample(self, kind: str, shown: dict[str, Any]) -> None:
        """Keep what was shown for the bare library: with its picture, in Base64 as ``png``, where any had one."""
        if "png" in shown or "png" not in self.samples.get(kind, {}):
            self.samples[kind] = shown

    def count_hand(self, message: int) -> None:
        """A message shows somebody a hand."""
        self._hands.add(message)

    def person(self, table: int, seat: int) -> int:
        """Who sits at a table, 0 for whoever challenged."""
        return 2 * (table // self.together) + seat

    def challenge_again(self, table: int) -> None:
        self._accepted.discard(table)
        self.challenge(table)

    @abstractmethod
    def show_bare(self, tables: int, samples: dict[str, Any]) -> None:
        """Show one person of each table something to press, like the samples."""

    @abstractmethod
    async def wait_until_connected(self) -> None:
        """Wait until the bot hears what happens, where that has to be before anything does."""

    async def handle_control(self, wish: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"result": await self.run_action(wish)}
        except BenchFailed as failure:
            return {"failed": str(failure)}

    async def run_action(self, wish: dict[str, Any]) -> Any:
        """Do what the bench asks for; BenchFailed where that cannot be."""
        match wish["do"]:
            case "open":
                await self.wait_until_connected()
                self.together, before = wish["together"], len(self._hands)
                for table in range(wish["from"], wish["to"]):
                    self.challenge(table)
                    while len(self._hands) - before < 2 * (table - wish["from"] - AT_ONCE):
                        await asyncio.sleep(0.01)
                return True
            case "bare":
                self.show_bare(wish["tables"], wish["like"])
                return True
            case "ready":
                return self.crowd.ready_panels
            case "samples":
                return self.samples
            case "settle":
                calls = -1
                while calls != self.calls.total():
                    calls = self.calls.total()
                    await asyncio.sleep(wish["quiet"])
                return True
        calls, uploads = self.calls.total(), self.uploads
        result = await self.crowd.play(wish["presses"], wish["rate"], wish["at_once"])
        return {**result, "calls": self.calls.total() - calls, "uploads": self.uploads - uploads}


async def read_form(request: web.BaseRequest) -> dict[str, bytes]:
    """The fields of a form by name, files among them; aiohttp would write those to the disk first."""
    boundary = request.headers["Content-Type"].partition("boundary=")[2].strip('"').encode()
    fields = {}
    for part in (await request.read()).split(b"--" + boundary)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        fields[head.partition(b'name="')[2].partition(b'"')[0].decode()] = content.removesuffix(b"\r\n")
    return fields


async def serve(bench: PlatformServer) -> None:
    """Serve until the bench, whose child this process is, closes its end of standard input."""
    runner = web.ServerRunner(web.Server(bench.handle), shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    bench.port = runner.addresses[0][1]
    print(bench.port, flush=True)  # noqa: T201
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()
