"""Other words for pages."""

import aiohttp
import pytest
from yarl import URL

from adapters.web.other_addresses import PAGES, other_addresses
from adapters.web.routes import ROUTES
from bot.command_names import COMMANDS
from tests.open_playground import OpenPlayground


def test_every_word_leads_to_an_existing_page() -> None:
    pages = {path for _method, path, _handler in ROUTES}
    assert {page for _word, page in other_addresses()} <= pages
    assert PAGES.keys() <= {spec.name for spec in COMMANDS}
    words = [word for word, _page in other_addresses()]
    assert len(set(words)) == len(words)


def test_every_italian_command_with_a_page_has_an_address() -> None:
    words = dict(other_addresses())
    assert {spec.names["it"] for spec in COMMANDS if spec.name in PAGES and "it" in spec.names} <= words.keys()


@pytest.mark.asyncio(loop_scope="function")
@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("regole", "/rules"),
        ("regole/testa", "/rules/testa"),
        ("impara/spades?step=2", "/learn/spades?step=2"),
        ("problema?id=abc", "/puzzle?id=abc"),
        ("oggi", "/daily"),
        ("come-si-gioca", "/how-to-play"),
        ("sfida", "/"),
    ],
)
async def test_italian_words_redirect_to_pages(
    site: OpenPlayground, session: aiohttp.ClientSession, word: str, page: str
) -> None:
    async with session.get(site.url + word, allow_redirects=False) as answer:
        assert (answer.status, answer.headers["Location"]) == (303, page)


@pytest.mark.asyncio(loop_scope="function")
@pytest.mark.parametrize("subpath", ["//evil.example", "/%2Fevil.example", "/%5Cevil.example", "/%2F%2Fevil.example"])
async def test_other_words_lead_to_no_other_site(
    site: OpenPlayground, session: aiohttp.ClientSession, subpath: str
) -> None:
    address = URL(f"{site.url}sfida{subpath}", encoded=True)
    async with session.get(address, allow_redirects=False) as answer:
        assert answer.status == 303
        assert answer.headers["Location"] in ("/evil.example", "/%5Cevil.example")
