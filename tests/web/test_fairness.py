"""Shuffle checks in the reader's own browser, as docs/fairness.md describes them."""

from collections.abc import AsyncIterator
from importlib.resources import files
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route

from engine.cards import FRENCH, ITALIAN, Pack
from engine.shuffle import Cut, commitment, first_dealer, shuffle_pack
from tests.browser import ONE_BROWSER

pytestmark = [*ONE_BROWSER, pytest.mark.long]

SECRETS = [bytes(32), bytes(range(32)), *(number.to_bytes(32, "big") for number in range(1, 30))]


async def open_page(browser: Browser, origin: str) -> Page:
    page = await (await browser.new_context()).new_page()

    async def answer(route: Route) -> None:
        if route.request.url.endswith(".js"):
            script = (files("adapters.web") / "static" / "fairness.js").read_text()
            await route.fulfill(body=script, content_type="text/javascript")
        else:
            await route.fulfill(body="<!doctype html><title>page</title>", content_type="text/html")

    await page.route("**/*", answer)
    await page.goto(origin)
    return page


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    yield await open_page(browser, "http://localhost/")


async def call(page: Page, function: str, *arguments: object) -> Any:
    return await page.evaluate(
        "async ([name, given]) => (await import('/fairness.js'))[name](...given)", [function, list(arguments)]
    )


def make_deal(secret: bytes, pack: Pack) -> dict[str, Any]:
    proof = {"commitment": commitment(secret), "secret": secret.hex()}
    return {"pack": list(shuffle_pack(pack, secret)), "proof": proof}


@pytest.mark.parametrize("pack", [ITALIAN, FRENCH], ids=["italian", "french"])
async def test_fair_deal_passes(page: Page, pack: Pack) -> None:
    for secret in SECRETS:
        result = await call(page, "checkDeal", make_deal(secret, pack))
        assert result == {"commitment": True, "pack": True, "wrongPlaces": []}


@pytest.mark.parametrize("cut", ["0", "c0ffee", "00ff" * 16])
async def test_pack_follows_from_secret_and_cut(page: Page, cut: str) -> None:
    deal = make_deal(bytes(32), ITALIAN)
    deal["proof"] |= {"cut": cut, "cut_by": 1}
    assert (await call(page, "checkDeal", deal))["pack"] is False
    deal["pack"] = list(shuffle_pack(ITALIAN, bytes(32), Cut(cut, 1)))
    assert await call(page, "checkDeal", deal) == {"commitment": True, "pack": True, "wrongPlaces": []}


async def test_first_dealer_matches_the_engine(page: Page) -> None:
    for seats in (2, 4):
        dealers = [await call(page, "firstDealer", secret.hex(), seats) for secret in SECRETS]
        assert dealers == [first_dealer(seats, secret) for secret in SECRETS]


async def test_two_swapped_cards_are_detected(page: Page) -> None:
    deal = make_deal(bytes(32), ITALIAN)
    deal["pack"][3], deal["pack"][17] = deal["pack"][17], deal["pack"][3]
    assert await call(page, "checkDeal", deal) == {"commitment": True, "pack": False, "wrongPlaces": [3, 17]}


async def test_changed_secret_is_detected(page: Page) -> None:
    deal = make_deal(bytes(range(32)), ITALIAN)
    deal["proof"]["commitment"] = commitment(bytes(32))
    assert await call(page, "checkDeal", deal) == {"commitment": False, "pack": True, "wrongPlaces": []}


@pytest.mark.parametrize("secret", ["", "00", "zz" * 32, "00" * 33])
async def test_invalid_secret_is_refused(page: Page, secret: str) -> None:
    with pytest.raises(Exception, match="64 hexadecimal digits"):
        await call(page, "commitment", secret)


async def test_page_without_https_says_that_it_checked_nothing(browser: Browser) -> None:
    page = await open_page(browser, "http://cards.example.org/")
    with pytest.raises(Exception, match="only on pages with https"):
        await call(page, "checkDeal", make_deal(bytes(32), ITALIAN))
