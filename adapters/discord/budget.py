"""Discord bans an address for a while that made 10,000 invalid requests in ten minutes; the bot stays far from it."""

import time
from collections import deque
from types import SimpleNamespace

import aiohttp
import structlog

from bot.platform import SlowDown

MOST, WINDOW = 1000, 600.0
"""Refused requests, and the seconds in which they count."""

INVALID = (401, 403, 429)

log = structlog.get_logger()


class Budget:
    """Counts what Discord refused. `trace` hears of every answer, the ones that the library retries included."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._refused: deque[float] = deque()
        self.trace = aiohttp.TraceConfig()
        self.trace.on_request_end.append(self._ended)
        self.trace.freeze()

    async def _ended(
        self, _session: aiohttp.ClientSession, _context: SimpleNamespace, end: aiohttp.TraceRequestEndParams
    ) -> None:
        headers = end.response.headers
        if end.response.status in INVALID and headers.get("X-RateLimit-Scope") != "shared":
            self._refused.append(time.monotonic())
            if len(self._refused) == self._most:
                log.error("discord_refuses", requests=self._most, why="too many: sending rests for a while")

    def check(self) -> None:
        """SlowDown if too many requests were refused of late."""
        now = time.monotonic()
        while self._refused and self._refused[0] < now - WINDOW:
            self._refused.popleft()
        if len(self._refused) >= self._most:
            raise SlowDown(self._refused[0] + WINDOW - now + 1)
