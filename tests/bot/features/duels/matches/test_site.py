"""The page of a match, and the link to it on both boards."""

from bot.features.duels.feature import DuelsFeature
from bot.store import Store
from tests.bot.fake_platform import GROUP, FakePlatform
from tests.bot.features.duels.matches.playing import (
    OTHER,
    begin_match,
    matches_of,
    open_groups,
    open_match,
    run_loops,
    store_results,
    strip_isolates,
)


async def test_page_has_only_deals_that_both_have_played(store: Store) -> None:
    async with open_groups(store) as (worker, _fake, players):
        site = worker.feature(DuelsFeature).match_site
        match = await begin_match(worker, players)
        first, second = await matches_of(worker).duels_of(match)
        await store_results(worker, first, 0, 2)
        await store_results(worker, second, 0, 1, deals=2)
        page = await site.page(match.code, "en")
        assert page
        assert page.pairs == []
        await store_results(worker, first, 1, 1)
        await store_results(worker, second, 1, 3, deals=1)
        page = await site.page(match.code, "en")
        assert page
        assert [[deal for deal, _cells in pair.deals] for pair in page.pairs] == [[1, 2, 3, 4, 5], [1]]
        [(_deal, cells)] = page.pairs[1].deals
        assert [(cell.margin, cell.is_winner) for cell in cells] == [("+1", False), ("+3", True)]
        assert "Bar Sport 5–1 Circolo" in strip_isolates(page.panel.plain)
        assert await site.page("AAAAAA", "en") is None


async def test_both_boards_have_the_link_once_the_match_has_begun(store: Store) -> None:
    fake = FakePlatform()
    fake.pages_url = "https://cards.example.org"
    async with open_groups(store, fake=fake) as (worker, _fake, players):
        match = await open_match(worker, players)
        assert not links(fake, GROUP)
        for number, player in enumerate(players):
            await player.press("Sign up", GROUP if number < 2 else OTHER)
        await run_loops(worker)
        await players[0].press("Start", GROUP)
        await run_loops(worker)
        for place in (GROUP, OTHER):
            assert links(fake, place) == [f"https://cards.example.org/match/{match.code}"]


def links(fake: FakePlatform, place: str) -> list[str]:
    return [button.payload for row in fake.last(place).rows for button in row if button.kind == "link"]
