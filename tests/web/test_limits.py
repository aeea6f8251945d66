"""Limits of addresses and networks: all addresses of one network together can do only a few times as much as one."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import cast

import pytest
from aiohttp import ClientSession, web

from adapters.web import limits as limits_module
from adapters.web.access import Access
from adapters.web.limits import (
    BEATS,
    CODES,
    CODES_NETWORK_FACTOR,
    MESSAGES,
    MISSES,
    NEWCOMERS,
    PAGES_OF_ADDRESS,
    POLLS,
    REQUESTS,
    STREAMS,
    STREAMS_OF_ADDRESS,
    LimitExceeded,
    Limits,
)
from adapters.web.people import MAX_NEW
from bot.http.addresses import NETWORK_FACTOR
from bot.rate_limiter import RateLimit
from bot.settings import Settings
from bot.tables.code_guard import WRONG_CODES
from tests.open_playground import OpenPlayground

SLACK = 50  # requests that a slow machine can additionally allow while the test runs


@pytest.fixture
def limits() -> Limits:
    return Limits(Access(Settings(_env_file=None)), on=True)


class StubRequest(dict[object, object]):
    """The address, path and values of a request."""

    def __init__(self, remote: str | None, path: str = "/") -> None:
        super().__init__()
        self.remote, self.path = remote, path


def request_from(address: str) -> web.Request:
    return cast("web.Request", StubRequest(address))


def request_for(address: str | None, path: str) -> web.Request:
    return cast("web.Request", StubRequest(address, path))


def count_allowed(count: Callable[[web.Request], object], addresses: list[str]) -> int:
    """Send one request from each address. Return how many were allowed."""
    allowed = 0
    for address in addresses:
        try:
            count(request_from(address))
        except LimitExceeded:
            continue
        allowed += 1
    return allowed


# A single person can own all addresses of the IPv6 network. The customers of a carrier share the IPv4 network.
IN_48_BITS = [f"2001:db8:1:{number:x}::1" for number in range(400)]
IN_24_BITS = [f"192.0.2.{number % 256}" for number in range(400)]


@pytest.mark.parametrize("addresses", [IN_48_BITS, IN_24_BITS], ids=["48 bits", "24 bits"])
def test_network_gets_a_few_times_the_limit_of_an_address(limits: Limits, addresses: list[str]) -> None:
    limit = NETWORK_FACTOR * NEWCOMERS.burst
    assert limit <= count_allowed(limits.count_newcomer, addresses) <= limit + SLACK
    limit = CODES_NETWORK_FACTOR * CODES.burst
    assert limit <= count_allowed(limits.count_code, addresses * CODES.burst) <= limit + SLACK
    # Other networks are not limited.
    for address in ("2001:db8:2::1", "192.0.3.1"):
        assert count_allowed(limits.count_code, [address] * 30) == CODES.burst


def test_polls_of_open_pages_do_not_count_as_pages(limits: Limits) -> None:
    def count_paths(path: str, number: int) -> int:
        return count_allowed(
            lambda request: limits.count_request(request_for(request.remote, path)), ["192.0.2.1"] * number
        )

    assert count_paths("/notice", 100) + count_paths("/find/state", 100) == 200
    assert REQUESTS.burst <= count_paths("/", 2 * REQUESTS.burst) <= REQUESTS.burst + SLACK
    assert count_paths("/notice", 10 * POLLS.burst) <= POLLS.burst + 10 * SLACK


def test_heartbeats_do_not_use_up_a_schools_presses(limits: Limits) -> None:
    count_allowed(limits.count_beat, ["192.0.2.1"] * 10 * BEATS.burst)
    assert count_allowed(limits.count_message, ["192.0.2.1"] * MESSAGES.burst) == MESSAGES.burst
    # All pages of a school beat every 2.5 seconds.
    assert 1 / BEATS.interval >= PAGES_OF_ADDRESS / 2.5


def missing_lookup(limits: Limits) -> Callable[[web.Request], None]:
    """Return a function that looks up an unknown id."""

    def look_up(request: web.Request) -> None:
        with limits.lookup(request) as lookup:
            lookup.end(missing=True)

    return look_up


@pytest.mark.parametrize("addresses", [IN_48_BITS, IN_24_BITS], ids=["48 bits", "24 bits"])
def test_few_addresses_cannot_use_up_their_networks_guesses(limits: Limits, addresses: list[str]) -> None:
    *abusers, neighbour = addresses[:101]
    for count, limit in ((limits.count_code, CODES.burst), (missing_lookup(limits), MISSES.burst)):
        count_allowed(count, abusers * 2 * limit)
        assert count_allowed(count, [neighbour] * 2 * limit) == limit


def test_network_lookups_are_fewer_than_guesses_of_new_people() -> None:
    """A higher limit would make it easier to guess codes by lookups than by sitting down."""
    by_looking, by_sitting = (
        CODES_NETWORK_FACTOR / CODES.interval,
        NETWORK_FACTOR / NEWCOMERS.interval * WRONG_CODES.burst,
    )
    assert by_looking < by_sitting


def test_one_network_cannot_use_up_all_new_people(limits: Limits) -> None:
    allowed = count_allowed(limits.count_newcomer, IN_48_BITS)
    assert NETWORK_FACTOR * NEWCOMERS.burst <= allowed < MAX_NEW
    # A school class behind one address can start at the same time.
    assert count_allowed(limits.count_newcomer, ["192.0.2.9"] * 40) == NEWCOMERS.burst


@pytest.mark.parametrize("method", ["open_stream", "open_page"])
def test_one_network_cannot_hold_all_open_connections(limits: Limits, method: str) -> None:
    open_connection: Callable[[web.Request], AbstractContextManager[None]] = getattr(limits, method)
    limit = {"open_stream": STREAMS_OF_ADDRESS, "open_page": PAGES_OF_ADDRESS}[method]
    with ExitStack() as stack:

        def hold_open(request: web.Request) -> None:
            stack.enter_context(open_connection(request))

        assert (
            count_allowed(hold_open, [address for address in IN_48_BITS[: NETWORK_FACTOR + 2] for _ in range(limit)])
            == NETWORK_FACTOR * limit
            < STREAMS
        )
        assert count_allowed(hold_open, ["192.0.2.9"] * 2 * limit) == limit
    assert limits.streams == 0
    with open_connection(request_from(IN_48_BITS[0])):
        assert limits.streams == (method == "open_stream")


def test_successful_lookup_is_refunded_to_address_and_network(limits: Limits) -> None:
    for address in IN_48_BITS:
        limits.count_code(request_from(address))
        limits.give_code_back(request_from(address))
        with limits.lookup(request_from(address)):
            pass


async def test_every_request_counts_towards_a_limit(
    site: OpenPlayground, session: ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits_module, "REQUESTS", RateLimit(burst=3, interval=3600.0))
    monkeypatch.setattr(limits_module, "FILES", RateLimit(burst=8, interval=3600.0))
    paths = ["/nowhere", "/", "/rules", "/chat", "/go", "/ws", "/t/ABCDEF", "/t/ABCDEF/live", "/t/x", "/p/x", "/daily"]
    paths += [
        "/leaderboard",
        "/puzzle",
        "/learn",
        "/settings",
        "/in",
        "/app/telegram",
        "/api",
        "/api/v1/openapi.json",
        "/g/x",
    ]
    for path in paths:
        site.site.limits = Limits(site.site.access, on=True)
        statuses = []
        for _ in range(4):
            async with session.get(site.url.rstrip("/") + path, allow_redirects=False) as answer:
                statuses.append(answer.status)
                kind, wait = answer.content_type, answer.headers.get("Retry-After")
        assert 429 not in statuses[:3], path
        assert statuses[3] == 429, path
        assert wait
        assert kind == ("application/problem+json" if path.startswith("/api") else "text/plain")
    # A request for another host name counts too.
    async with session.get(site.url, headers={"Host": "evil.example"}) as answer:
        assert answer.status == 429
    # Files of pages and requests for monitoring are counted separately.
    statuses = []
    for _ in range(3):
        for path in ("/static/x/site.css", "/healthz", "/metrics"):
            async with session.get(site.url.rstrip("/") + path) as answer:
                statuses.append(answer.status)
    assert statuses == [*[200] * 8, 429]
