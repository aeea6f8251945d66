"""The address by which a visitor is counted, and the headers of proxies."""

import aiohttp
import pytest
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict, CIMultiDictProxy

from adapters.web.access import Access
from adapters.web.refusals import Refused
from bot.http.addresses import Visitor
from bot.settings import Settings
from tests.open_playground import OpenPlayground


@pytest.mark.parametrize(
    ("address", "counted_address", "network"),
    [
        ("192.0.2.9", "192.0.2.9", "192.0.2.0/24"),
        ("192.0.2.9:51034", "192.0.2.9", "192.0.2.0/24"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("2001:DB8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("[2001:db8:1:2::1]:51034", "2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("fe80::1%eth0", "fe80::/64", "fe80::/48"),
        ("::ffff:192.0.2.9", "192.0.2.9", "192.0.2.0/24"),
        ("unknown", "unknown", "unknown"),
        ("_hidden", "_hidden", "_hidden"),
        ("", "", ""),
    ],
)
def test_visitor_is_counted_by_household_and_network(address: str, counted_address: str, network: str) -> None:
    assert Visitor.from_address(address) == (counted_address, network)


def proxy_headers(*header_lines: tuple[str, str]) -> CIMultiDictProxy[str]:
    return CIMultiDictProxy(CIMultiDict([("Host", "cards.example.org"), *header_lines]))


@pytest.mark.parametrize(
    "lines",
    [
        ["198.51.100.1"],
        ["203.0.113.99, 198.51.100.1"],
        # HAProxy's `option forwardfor` keeps the visitor's header and adds another one.
        ["203.0.113.99", "198.51.100.1"],
    ],
)
def test_proxy_decides_the_address_of_a_visitor(lines: list[str]) -> None:
    access = Access(Settings(_env_file=None, public_url="https://cards.example.org"))
    headers = proxy_headers(*(("X-Forwarded-For", line) for line in lines))
    assert access.visitor(make_mocked_request("GET", "/", headers)).address == "198.51.100.1"


def test_last_proxy_decides_the_scheme() -> None:
    access = Access(Settings(_env_file=None, public_url="https://cards.example.org"))
    header_lines = [("X-Forwarded-Proto", scheme) for scheme in ("http", "https")]
    access.check(proxy_headers(*header_lines), (1, 1), is_monitoring=False)
    with pytest.raises(Refused, match="is at https"):
        access.check(proxy_headers(*reversed(header_lines)), (1, 1), is_monitoring=False)


@pytest.mark.parametrize(
    ("fetch_site", "mode", "dest", "path", "status"),
    [
        # A link on another site, and a typed address.
        ("cross-site", "navigate", "document", "t/ZZZZZZ", 404),
        ("none", "navigate", "document", "t/ZZZZZZ", 404),
        ("same-origin", "no-cors", "image", "t/ZZZZZZ", 404),
        ("cross-site", "no-cors", "image", "t/ZZZZZZ", 403),
        ("cross-site", "navigate", "iframe", "t/ZZZZZZ", 403),
        ("cross-site", "no-cors", "script", "api/v1/games/x", 403),
        # Only Telegram's app opens in a frame. The playground has no app, so the address is unknown.
        ("cross-site", "navigate", "iframe", "app/telegram", 404),
    ],
)
async def test_embedding_on_other_sites_is_refused_uncounted(
    site: OpenPlayground,
    session: aiohttp.ClientSession,
    monkeypatch: pytest.MonkeyPatch,
    fetch_site: str,
    mode: str,
    dest: str,
    path: str,
    status: int,
) -> None:
    counted_requests: list[object] = []
    monkeypatch.setattr(site.site.limits, "count_code", counted_requests.append)
    headers = {"Sec-Fetch-Site": fetch_site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
    async with session.get(site.url + path, headers=headers) as answer:
        assert answer.status == status
    assert len(counted_requests) == (path.startswith("t/") and status == 404)


@pytest.mark.parametrize("public_url", [None, "https://cards.example.org"])
def test_monitoring_names_are_only_for_monitoring(public_url: str | None) -> None:
    access = Access(Settings(_env_file=None, monitoring_names="bot", public_url=public_url))
    headers = CIMultiDictProxy(CIMultiDict({"Host": "bot:8765"}))
    access.check(headers, (1, 1), is_monitoring=True)
    with pytest.raises(Refused):
        access.check(headers, (1, 1), is_monitoring=False)
    with pytest.raises(Refused):
        access.check(CIMultiDictProxy(CIMultiDict({"Host": "cat:8765"})), (1, 1), is_monitoring=True)
