"""Limits for each visitor (`Access.visitor`). Each worker counts requests in its own memory."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from aiohttp import web

from adapters.web.access import Access
from bot.http.addresses import NETWORK_FACTOR, Visitor
from bot.rate_limiter import RateLimit, RateLimiter
from bot.running.monitoring import PATHS as MONITORING

REQUESTS = RateLimit(burst=120, interval=0.1)  # a page loads about ten files; a program gets ten requests a second
# Scripts, styles and cards, enough for a school class that opens its first pages at once. Requests for monitoring count
# here too, so that a flood of page requests does not fail health checks.
FILES = RateLimit(burst=600, interval=0.02)
FILE_PATHS = ("/static/", "/cards/", *MONITORING)

# Repeated requests of open pages, enough for a school: 100 people who search send one every two seconds.
POLLS, POLL_PATHS = RateLimit(burst=300, interval=0.02), ("/notice", "/find/state", "/lobby", "/tournament/live/")

# Wrong ids from one address. With this limit, a thousand addresses need ten years to find one of a million games. A
# network has no such limit, because a few addresses with wrong ids must not block their neighbours. With the limit
# `REQUESTS`, a network needs seven years to find a game. Sign-in links and a Mini App's tickets count only as requests:
# they have 256 bits, too many to guess, and wrong ones must not keep others at the same address from signing in.
MISSES = RateLimit(burst=20, interval=30.0)

# Wrong table codes of one address. Each new guest has a limit of their own as well.
CODES = RateLimit(burst=20, interval=300.0)
STREAMS_OF_ADDRESS, STREAMS = 20, 5000  # open streams: of a household or school, and of a worker
PAGES_OF_ADDRESS = 100  # open pages of tables, for a school that plays at the same time
NEWCOMERS = RateLimit(burst=30, interval=20.0)  # new people, who stay in the store: a school class, then three a minute
# Presses from tables' pages, enough for a school in which each player presses every two seconds.
MESSAGES = RateLimit(burst=300, interval=0.02)
# Heartbeats of a school's pages. Each page sends one every 2.5 seconds at most.
BEATS = RateLimit(burst=300, interval=0.02)

SHARES = RateLimit(burst=10, interval=30.0)  # messages that one person prepares in an app

# The limit `CODES` of a network, as a multiple of an address's limit. `NETWORK_FACTOR` is too low: eight addresses with
# a few wrong codes would use up their network's limit. This factor gives every address of an IPv4 network its full
# limit. A network can then try 74,000 codes a day, and its new guests twice as many more by sitting down. If a thousand
# of the 887 million codes are open invitations, 74,000 tries a day find one in twelve days.
CODES_NETWORK_FACTOR = 256


class LimitExceeded(Exception):
    """A limit was exceeded; ``wait`` is the number of seconds until a retry can succeed."""

    def __init__(self, reason: str, wait: float) -> None:
        super().__init__(reason)
        self.wait = wait


class Lookup:
    """The lookup of an id. The id counts as wrong until `end` says that it is right."""

    def __init__(self, on_right: Callable[[], None]) -> None:
        self._on_right, self._is_over = on_right, False

    def end(self, *, missing: bool = False) -> None:
        """Report the result; only the first call counts."""
        if not self._is_over and not missing:
            self._on_right()
        self._is_over = True


class Quota:
    """Counts requests of one kind, or open connections.

    A network can have ``network_factor`` times as many as an address.
    """

    def __init__(self, network_factor: int = NETWORK_FACTOR) -> None:
        self._network_factor = network_factor
        self._limiters = RateLimiter(), RateLimiter()
        self._open: tuple[Counter[str], Counter[str]] = Counter(), Counter()

    @property
    def open(self) -> int:
        return self._open[0].total()

    def take(self, visitor: Visitor, rate_limit: RateLimit) -> float:
        """Count a request unless its address or network must wait; return the seconds to wait, or 0.0."""
        limits = self._limits(rate_limit)
        wait = max(map(RateLimiter.wait_seconds, self._limiters, visitor, limits))
        if wait > 0:
            return wait
        for limiter, key, limit in zip(self._limiters, visitor, limits, strict=True):
            limiter.count(key, limit)
        return 0.0

    def give_back(self, visitor: Visitor, rate_limit: RateLimit) -> None:
        for limiter, key, limit in zip(self._limiters, visitor, self._limits(rate_limit), strict=True):
            limiter.refund(key, limit)

    def can_open(self, visitor: Visitor, limit: int) -> bool:
        """Return whether another connection can open. ``limit`` is the maximum for one address."""
        address, network = (counter[key] for counter, key in zip(self._open, visitor, strict=True))
        return address < limit and network < self._network_factor * limit

    @contextmanager
    def hold(self, visitor: Visitor) -> Iterator[None]:
        for counter, key in zip(self._open, visitor, strict=True):
            counter[key] += 1
        try:
            yield
        finally:
            for counter, key in zip(self._open, visitor, strict=True):
                counter[key] -= 1
                if not counter[key]:
                    del counter[key]

    def _limits(self, rate_limit: RateLimit) -> tuple[RateLimit, RateLimit]:
        factor = self._network_factor
        return rate_limit, RateLimit(factor * rate_limit.burst, rate_limit.interval / factor)


class Limits:
    """All limits of a worker. Methods that count a request or open a connection raise `LimitExceeded`."""

    def __init__(self, access: Access, *, on: bool) -> None:
        self._access, self._on = access, on
        self._misses, self._shares, self._codes = RateLimiter(), RateLimiter(), Quota(CODES_NETWORK_FACTOR)
        self._requests, self._files, self._polls = Quota(), Quota(), Quota()
        self._newcomers, self._messages, self._beats = Quota(), Quota(), Quota()
        self._streams, self._pages = Quota(), Quota()

    @property
    def streams(self) -> int:
        return self._streams.open

    def count_request(self, request: web.Request) -> None:
        quota, limit = self._requests, REQUESTS
        if request.path.startswith(FILE_PATHS):
            quota, limit = self._files, FILES
        elif request.path.startswith(POLL_PATHS):
            quota, limit = self._polls, POLLS
        self._count(quota, limit, request, "requests")

    @contextmanager
    def lookup(self, request: web.Request) -> Iterator[Lookup]:
        """Count an id as wrong, and take the count back at the end unless `Lookup.end` reported a missing id.

        Ids count before their lookup, because lookups run in parallel. Raise `LimitExceeded` after too many wrong ids.
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
        """Count a code as wrong until `give_code_back`."""
        self._count(self._codes, CODES, request, "wrong codes")

    def give_code_back(self, request: web.Request) -> None:
        self._codes.give_back(self._access.visitor(request), CODES)

    def count_newcomer(self, request: web.Request) -> None:
        self._count(self._newcomers, NEWCOMERS, request, "new people")

    def count_share(self, person: str) -> None:
        wait = self._shares.take(person, SHARES)
        if self._on and wait > 0:
            raise LimitExceeded("Too many shared messages from this person.", wait)

    def count_message(self, request: web.Request) -> None:
        self._count(self._messages, MESSAGES, request, "messages")

    def count_beat(self, request: web.Request) -> None:
        self._count(self._beats, BEATS, request, "heartbeats")

    def open_stream(self, request: web.Request) -> AbstractContextManager[None]:
        is_full = self.streams >= STREAMS
        return self._open(self._streams, request, 0 if is_full else STREAMS_OF_ADDRESS, "streams")

    def open_page(self, request: web.Request) -> AbstractContextManager[None]:
        return self._open(self._pages, request, PAGES_OF_ADDRESS, "pages")

    def _count(self, quota: Quota, limit: RateLimit, request: web.Request, kind: str) -> None:
        wait = quota.take(self._access.visitor(request), limit)
        if self._on and wait > 0:
            raise LimitExceeded(f"Too many {kind} from this address.", wait)

    @contextmanager
    def _open(self, quota: Quota, request: web.Request, limit: int, kind: str) -> Iterator[None]:
        visitor = self._access.visitor(request)
        if self._on and not quota.can_open(visitor, limit):
            raise LimitExceeded(f"Too many {kind} are open.", 30.0)
        with quota.hold(visitor):
            yield
