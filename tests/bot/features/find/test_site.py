"""The search from a page: its state, and its end when the page closes."""

import pytest

from bot.features.find import queue
from bot.features.find.feature import FindFeature
from bot.features.find.site import FindSite
from bot.platform import Person
from bot.tables.errors import NoSuchTable
from bot.worker import Worker
from tests.bot.features.find.conftest import GAME, run_finder

ANNA, BRUNO = Person("web:1", "Anna", "en"), Person("web:2", "Bruno", "en")


@pytest.fixture(autouse=True)
def no_automatic_matching(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.features.find.feature.POLL_SECONDS", 1e6)


def site_of(worker: Worker) -> FindSite:
    return worker.feature(FindFeature).site


async def test_two_pages_find_each_other(worker: Worker) -> None:
    site = site_of(worker)
    for number, person in enumerate((ANNA, BRUNO), 1):
        assert not await site.start(person, GAME, f"start{number}")
        assert (await site.search_of(person.id, "en")).state == "waiting"
        assert await site.count() == number
    await run_finder(worker)
    anna = await site.search_of(ANNA.id, "en")
    assert (anna.state, anna.game) == ("asked", GAME)
    await worker.challenges.sit(anna.code, ANNA.id, "Anna", "sit1")
    assert (await site.search_of(ANNA.id, "en")).state == "ready"
    assert (await site.search_of(BRUNO.id, "en")).state == "asked"
    await worker.challenges.sit(anna.code, BRUNO.id, "Bruno", "sit2")
    assert (await worker.room.table(anna.code)).phase == "playing"


async def test_repeated_start_keeps_one_search(worker: Worker) -> None:
    site = site_of(worker)
    for _ in range(2):
        assert not await site.start(ANNA, GAME, "start")
    assert await site.count() == 1
    await site.stop(ANNA.id, "stop")
    assert (await site.search_of(ANNA.id, "en")).state == "none"


async def test_closed_page_ends_its_search(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    site = site_of(worker)
    await site.start(ANNA, GAME, "start")
    await run_finder(worker)
    assert await site.count() == 1
    monkeypatch.setattr(queue, "PAGE_SECONDS", -1.0)
    await run_finder(worker)
    assert (await site.search_of(ANNA.id, "en")).state == "none"


async def test_closed_page_declines_the_match(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    site = site_of(worker)
    for number, person in enumerate((ANNA, BRUNO)):
        await site.start(person, GAME, f"start{number}")
    await run_finder(worker)
    code = (await site.search_of(ANNA.id, "en")).code
    await worker.store.client.hset("{find}:pages", ANNA.id, 0)
    await run_finder(worker)
    with pytest.raises(NoSuchTable):
        await worker.room.table(code)
    assert (await site.search_of(ANNA.id, "en")).state == "none"
    assert (await site.search_of(BRUNO.id, "en")).state == "waiting"
    # A person who closed the page in time left no game.
    finder = worker.feature(FindFeature).finder
    assert not await finder.leavers.penalty(ANNA.id, await finder.queue.now())


async def test_search_in_a_chat_needs_no_page(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    site, search = site_of(worker), worker.feature(FindFeature).finder.queue
    await search.join(ANNA.id, [GAME], "en", 1000, "chat")
    # Looking at the search on a page does not tie it to that page.
    assert (await site.search_of(ANNA.id, "en")).state == "waiting"
    monkeypatch.setattr(queue, "PAGE_SECONDS", -1.0)
    await run_finder(worker)
    assert await site.count() == 1
