"""How much one address may ask of the interface, counted in the memory of each worker."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from aiohttp import web

from adapters.web.access import Access
from adapters.web.api.problems import ApiError
from bot.platform import RateLimit
from bot.ratelimit import RateLimiter

REQUESTS = RateLimit(burst=120, interval=0.1)
"""A page that is read fast asks for some ten things; a program has ten a second."""

MISSES = RateLimit(burst=20, interval=30.0)
"""How many ids that lead nowhere an address may try: of a million games a thousand addresses find one in ten years."""

STREAMS_OF_ADDRESS, STREAMS = 20, 5000
"""How many streams may be open at once: a household or a school, and a worker."""


class Limits:
    """What each address has asked for lately; ``access`` says whether a proxy stands before it."""

    def __init__(self, access: Access, *, on: bool) -> None:
        self._access, self._on = access, on
        self._requests, self._misses = RateLimiter(), RateLimiter()
        self._streams: Counter[str] = Counter()

    @property
    def streams(self) -> int:
        """How many streams are open."""
        return self._streams.total()

    def request(self, request: web.Request) -> None:
        """Count a request; ApiError if it is one too many."""
        address = self._address(request)
        wait = max(self._requests.take(address, REQUESTS), self._misses.wait(address, MISSES))
        if self._on and wait > 0:
            raise _too_many("Too many requests from this address.", wait)

    def missed(self, request: web.Request) -> None:
        """Count a request whose id leads nowhere."""
        self._misses.take(self._address(request), MISSES)

    @contextmanager
    def stream(self, request: web.Request) -> Iterator[None]:
        """Count a stream for as long as it is open; ApiError if it is one too many."""
        address = self._address(request)
        is_full = self._streams[address] >= STREAMS_OF_ADDRESS or self.streams >= STREAMS
        if self._on and is_full:
            raise _too_many("Too many streams are open.", 30.0)
        self._streams[address] += 1
        try:
            yield
        finally:
            self._streams[address] -= 1
            if not self._streams[address]:
                del self._streams[address]

    def _address(self, request: web.Request) -> str:
        """Who asks: with a public address the proxy before us says so, and what it says stands last."""
        said = request.headers.get("X-Forwarded-For", "") if self._access.public else ""
        return said.rpartition(",")[2].strip()[:64] or request.remote or ""


def _too_many(why: str, wait: float) -> ApiError:
    return ApiError(HTTPStatus.TOO_MANY_REQUESTS, why, wait)
