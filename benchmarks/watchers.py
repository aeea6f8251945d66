"""The watchers of `benchmarks.web`, in their own process: `python -m benchmarks.watchers PORT PATH COUNT`.

The process prints a line when all watchers have read the table. At the end of its input it prints when each version
was read, in seconds of the machine's monotonic clock.
"""

import asyncio
import json
import re
import sys
import time
from collections import defaultdict

VERSION = re.compile(rb'"version":(\d+)')
AT_ONCE = 100  # connections opened at a time


class Watcher(asyncio.Protocol):
    """One connection. It parses only versions, so that watchers cost little."""

    def __init__(self, request: bytes, read: dict[int, list[float]]) -> None:
        self._request, self._read = request, read
        self.has_begun = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        # A line is far shorter than a segment on this machine, so a version is never cut in two.
        for found in VERSION.findall(data):
            self._read[int(found)].append(time.monotonic())
            self.has_begun.set()


async def watch(count: int, port: int, path: str) -> None:
    read: dict[int, list[float]] = defaultdict(list)
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    gate = asyncio.Semaphore(AT_ONCE)

    async def begin() -> None:
        async with gate:
            loop = asyncio.get_running_loop()
            _transport, watcher = await loop.create_connection(lambda: Watcher(request, read), "127.0.0.1", port)
            await watcher.has_begun.wait()

    await asyncio.gather(*(begin() for _ in range(count)))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    sys.stdout.write(json.dumps(read))


if __name__ == "__main__":
    asyncio.run(watch(int(sys.argv[3]), int(sys.argv[1]), sys.argv[2]))
