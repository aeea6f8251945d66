"""How much one visitor (`Access.visitor`) may ask for, counted in the memory of each worker."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from aiohttp import web

from adapters.web.access import Access
from bot.addresses import NETWORK_FACTOR, Visitor
from bot.monitoring import PATHS as MONITORING
from bot.platform import RateLimit
from bot.ratelimit import RateLimiter

REQUESTS = RateLimit(burst=120, interval=0.1)
"""A page that is read fast asks for some ten things; a program has ten a second."""

FILES = RateLimit(burst=600, interval=0.02)
"""Scripts, styles and cards: a class that opens its first pages at once. What watches this machine is counted here, so
that a flood of pages does not make the bot look ill.
"""

FILE_PATHS = ("/static/", "/cards/", *MONITORING)

MISSES = RateLimit(burst=20, interval=30.0)
"""How many ids that lead nowhere an address may try: of a million games a thousand addresses find one in ten years. So
many may be looked up side by side. By address alone: all that a network may ask for (`REQUESTS`) finds one in seven
years, and a few addresses with wrong ones are to keep their neighbours from nothing.

Links to a session and a Mini App's tickets have 256 bits, which nobody guesses, and count as requests alone: were wrong
ones counted, they would keep others of their address from signing in.
"""

CODES = RateLimit(burst=20, interval=300.0)
"""How many codes of tables that lead nowhere an address may look at: far fewer than new people may try by sitting."""

STREAMS_OF_ADDRESS, STREAMS = 20, 5000
"""How many streams may be open at once: a household or a school, and a worker."""

PAGES_OF_ADDRESS = 100
"""How many tables' pages may be open at once: a school whose pupils play at the same time."""

NEWCOMERS = RateLimit(burst=30, interval=20.0)
"""How many may be new from one address: a class at once, and then three a minute; each stays in the store."""


MESSAGES = RateLimit(burst=300, interval=0.02)
"""What tables' pages of one address may say: a school, in which each presses something every other second."""


CODES_NETWORK_FACTOR = 256
"""The same of `CODES`: of eight times as much eight addresses leave nothing to others, by a wrong one now and then. It
is what all addresses of a network of IPv4 have. That is 74,000 codes a day, not half of what its new people may try by
sitting; of 887 million they find one of a thousand open invitations in twelve days.
"""


class LimitExceeded(Exception):
    """Something was asked for too often; ``wait`` is after how many seconds it may be asked for again."""

    def __init__(self, why: str, wait: float) -> None:
        super().__init__(why)
        self.wait = wait


class Lookup:
    """An id that is being looked up. It counts as one that leads nowhere until it is known not to be."""

    def __init__(self, give_back: Callable[[], None]) -> None:
        self._give_back, self._is_over = give_back, False

    def end(self, *, nowhere: bool = False) -> None:
        """What came of it; only the first word counts."""
        if not self._is_over and not nowhere:
            self._give_back()
        self._is_over = True


class Quota:
    """One kind of thing that visitors ask for, by their address, and by the network around it, of which all may have
    ``around`` times as much: how fast, or how many at once.
    """

    def __init__(self, around: int = NETWORK_FACTOR) -> None:
        self._network_factor = around
        self._limiters = RateLimiter(), RateLimiter()
        self._open: tuple[Counter[str], Counter[str]] = Counter(), Counter()

    @property
    def open(self) -> int:
        """How many there are just now."""
        return self._open[0].total()

    def take(self, visitor: Visitor, rate_limit: RateLimit) -> float:
        """As `RateLimiter.take`: nothing is counted by either where one of them has to wait."""
        limits = self._limits(rate_limit)
        wait = max(map(RateLimiter.wait_seconds, self._limiters, visitor, limits))
        if wait > 0:
            return wait
        for limiter, key, limit in zip(self._limiters, visitor, limits, strict=True):
            limiter.count(key, limit)
        return 0.0

    def give_back(self, visitor: Visitor, rate_limit: RateLimit) -> None:
        """As `RateLimiter.give_back`."""
        for limiter, key, limit in zip(self._limiters, visitor, self._limits(rate_limit), strict=True):
            limiter.refund(key, limit)

    def can_open(self, visitor: Visitor, most: int) -> bool:
        """Whether there may be one more, of so many from one address."""
        address, network = (there[key] for there, key in zip(self._open, visitor, strict=True))
        return address < most and network < self._network_factor * most

    @contextmanager
    def hold(self, visitor: Visitor) -> Iterator[None]:
        """Count one meanwhile."""
        for there, key in zip(self._open, visitor, strict=True):
            there[key] += 1
        try:
            yield
        finally:
            for there, key in zip(self._open, visitor, strict=True):
                there[key] -= 1
                if not there[key]:
                    del there[key]

    def _limits(self, rate_limit: RateLimit) -> tuple[RateLimit, RateLimit]:
        return rate_limit, RateLimit(
            self._network_factor * rate_limit.burst, rate_limit.interval / self._network_factor
        )


class Limits:
    """What each address has asked for lately; ``access`` says whether a proxy stands before it."""

    def __init__(self, access: Access, *, on: bool) -> None:
        self._access, self._on = access, on
        self._misses, self._codes = RateLimiter(), Quota(CODES_NETWORK_FACTOR)
        self._requests, self._files, self._newcomers, self._messages = Quota(), Quota(), Quota(), Quota()
        self._streams, self._pages = Quota(), Quota()

    @property
    def streams(self) -> int:
        """How many streams are open."""
        return self._streams.open

    def count_request(self, request: web.Request) -> None:
        """Count a request, for whatever it is; TooMany if it is one too many."""
        counted, limit = (self._files, FILES) if request.path.startswith(FILE_PATHS) else (self._requests, REQUESTS)
        wait = counted.take(self._access.visitor(request), limit)
        if self._on and wait > 0:
            raise LimitExceeded("Too many requests from this address.", wait)

    @contextmanager
    def lookup(self, request: web.Request) -> Iterator[Lookup]:
        """Count an id, before it is looked up: many may be asked for side by side. TooMany if too many lead nowhere. It
        is taken back unless it is said to lead nowhere meanwhile.
        """
        address = self._access.visitor(request).address
        wait = self._misses.take(address, MISSES)
        if self._on and wait > 0:
            raise LimitExceeded("Too many wrong ids from this address.", wait)
        lookup = Lookup(lambda: self._misses.refund(address, MISSES))
        try:
            yield lookup
        finally:
            lookup.end()

    def count_code(self, request: web.Request) -> None:
        """Count a code, before it is looked up: many may be asked for side by side. TooMany if somebody has tried too
        many that lead nowhere; `good_code` takes one back that does not.
        """
        wait = self._codes.take(self._access.visitor(request), CODES)
        if self._on and wait > 0:
            raise LimitExceeded("Too many wrong codes from this address.", wait)

    def give_code_back(self, request: web.Request) -> None:
        """The code that was counted leads somewhere."""
        self._codes.give_back(self._access.visitor(request), CODES)

    def count_newcomer(self, request: web.Request) -> None:
        """Count somebody new; TooMany if it is one too many."""
        wait = self._newcomers.take(self._access.visitor(request), NEWCOMERS)
        if self._on and wait > 0:
            raise LimitExceeded("Too many new people from this address.", wait)

    def count_message(self, request: web.Request) -> None:
        """Count what a table's page says; TooMany if it is one too many."""
        wait = self._messages.take(self._access.visitor(request), MESSAGES)
        if self._on and wait > 0:
            raise LimitExceeded("Too many words from this address.", wait)

    def open_stream(self, request: web.Request) -> AbstractContextManager[None]:
        """Count a stream for as long as it is open; TooMany if it is one too many."""
        is_full = self.streams >= STREAMS
        return self._open(self._streams, request, 0 if is_full else STREAMS_OF_ADDRESS, "streams")

    def open_page(self, request: web.Request) -> AbstractContextManager[None]:
        """Count a table's page for as long as it is open; TooMany if it is one too many."""
        return self._open(self._pages, request, PAGES_OF_ADDRESS, "pages")

    @contextmanager
    def _open(self, counted: Quota, request: web.Request, most: int, what: str) -> Iterator[None]:
        visitor = self._access.visitor(request)
        if self._on and not counted.can_open(visitor, most):
            raise LimitExceeded(f"Too many {what} are open.", 30.0)
        with counted.hold(visitor):
            yield
