"""Limits by address and by its network: many addresses of one network allow only a few times more."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from types import SimpleNamespace
from typing import cast

import pytest
from aiohttp import ClientSession, web

from adapters.web import limits as limits_module
from adapters.web.access import Access
from adapters.web.limits import (
    CODES,
    CODES_NETWORK_FACTOR,
    MISSES,
    NEWCOMERS,
    PAGES_OF_ADDRESS,
    STREAMS,
    STREAMS_OF_ADDRESS,
    LimitExceeded,
    Limits,
)
from adapters.web.people import MOST_NEW
from bot.handlers.guard import TRIES
from bot.http.addresses import NETWORK_FACTOR
from bot.rate_limits import RateLimit
from bot.settings import Settings
from tests.open_playground import Open

SLACK = 50  # requests that a slow machine can additionally allow while the test runs


@pytest.fixture
def limits() -> Limits:
    return Limits(Access(Settings(_env_file=None)), on=True)


def asker(address: str) -> web.Request:
    return cast("web.Request", SimpleNamespace(remote=address))


def allowed(count: Callable[[web.Request], object], addresses: list[str]) -> int:
    """Send one request from each address. Return how many were allowed."""
    found = 0
    for address in addresses:
        try:
            count(asker(address))
        except LimitExceeded:
            continue
        found += 1
    return found


# One person can own all of the first. A carrier's customers share the second.
IN_48_BITS = [f"2001:db8:1:{number:x}::1" for number in range(400)]
IN_24_BITS = [f"192.0.2.{number % 256}" for number in range(400)]


@pytest.mark.parametrize("addresses", [IN_48_BITS, IN_24_BITS], ids=["48 bits", "24 bits"])
def test_network_gets_a_few_times_the_limit_of_an_address(limits: Limits, addresses: list[str]) -> None:
    most = NETWORK_FACTOR * NEWCOMERS.burst
    assert most <= allowed(limits.count_newcomer, addresses) <= most + SLACK
    most = CODES_NETWORK_FACTOR * CODES.burst
    assert most <= allowed(limits.count_code, addresses * CODES.burst) <= most + SLACK
    # Other networks are not limited.
    for elsewhere in ("2001:db8:2::1", "192.0.3.1"):
        assert allowed(limits.count_code, [elsewhere] * 30) == CODES.burst


def nowhere(limits: Limits) -> Callable[[web.Request], None]:
    """Return a function that looks up an unknown id."""

    def look(request: web.Request) -> None:
        with limits.lookup(request) as lookup:
            lookup.end(missing=True)

    return look


@pytest.mark.parametrize("addresses", [IN_48_BITS, IN_24_BITS], ids=["48 bits", "24 bits"])
def test_few_addresses_cannot_use_up_their_networks_tries(limits: Limits, addresses: list[str]) -> None:
    *few, neighbour = addresses[:101]
    for count, each in ((limits.count_code, CODES.burst), (nowhere(limits), MISSES.burst)):
        allowed(count, few * 2 * each)
        assert allowed(count, [neighbour] * 2 * each) == each


def test_network_limit_is_below_the_tries_of_its_new_people() -> None:
    """Otherwise the limit on lookups would not stop people who guess codes."""
    by_looking, by_sitting = CODES_NETWORK_FACTOR / CODES.interval, NETWORK_FACTOR / NEWCOMERS.interval * TRIES.burst
    assert by_looking < by_sitting


def test_one_network_cannot_use_up_all_new_people(limits: Limits) -> None:
    found = allowed(limits.count_newcomer, IN_48_BITS)
    assert NETWORK_FACTOR * NEWCOMERS.burst <= found < MOST_NEW
    # A school class behind one address can start at the same time.
    assert allowed(limits.count_newcomer, ["192.0.2.9"] * 40) == NEWCOMERS.burst


@pytest.mark.parametrize("what", ["open_stream", "open_page"])
def test_one_network_cannot_hold_all_open_connections(limits: Limits, what: str) -> None:
    opened: Callable[[web.Request], AbstractContextManager[None]] = getattr(limits, what)
    each = {"open_stream": STREAMS_OF_ADDRESS, "open_page": PAGES_OF_ADDRESS}[what]
    with ExitStack() as held:

        def hold(request: web.Request) -> None:
            held.enter_context(opened(request))

        assert (
            allowed(hold, [one for one in IN_48_BITS[: NETWORK_FACTOR + 2] for _ in range(each)])
            == NETWORK_FACTOR * each
            < STREAMS
        )
        assert allowed(hold, ["192.0.2.9"] * 2 * each) == each
    assert limits.streams == 0
    with opened(asker(IN_48_BITS[0])):
        assert limits.streams == (what == "open_stream")


def test_successful_lookup_is_refunded_to_address_and_network(limits: Limits) -> None:
    for address in IN_48_BITS:
        limits.count_code(asker(address))
        limits.give_code_back(asker(address))
        with limits.lookup(asker(address)):
            pass


async def test_every_request_counts(site: Open, session: ClientSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_module, "REQUESTS", RateLimit(burst=3, interval=3600.0))
    monkeypatch.setattr(limits_module, "FILES", RateLimit(burst=8, interval=3600.0))
    paths = ["/nowhere", "/", "/rules", "/chat", "/go", "/ws", "/t/ABCDEF", "/t/ABCDEF/live", "/t/x", "/p/x", "/daily"]
    paths += ["/leaderboard", "/puzzle", "/settings", "/in", "/app/telegram", "/api", "/api/v1/openapi.json", "/g/x"]
    for path in paths:
        site.site.limits = Limits(site.site.access, on=True)
        found = []
        for _ in range(4):
            async with session.get(site.url.rstrip("/") + path, allow_redirects=False) as answer:
                found.append(answer.status)
                kind, wait = answer.content_type, answer.headers.get("Retry-After")
        assert 429 not in found[:3], path
        assert found[3] == 429, path
        assert wait
        assert kind == ("application/problem+json" if path.startswith("/api") else "text/plain")
    # A request for another host name counts too.
    async with session.get(site.url, headers={"Host": "evil.example"}) as answer:
        assert answer.status == 429
    # Files of pages and requests for monitoring are counted separately.
    found = []
    for _ in range(3):
        for path in ("/static/x/site.css", "/healthz", "/metrics"):
            async with session.get(site.url.rstrip("/") + path) as answer:
                found.append(answer.status)
    assert found == [*[200] * 8, 429]
