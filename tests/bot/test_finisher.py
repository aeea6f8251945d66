"""The feature that opened a table decides whether its finished game is archived."""

from datetime import date

import pytest

from bot.finished.archive import Archive
from bot.finished.ratings import Ratings
from bot.finisher import Finisher
from bot.store import Store
from bot.store.entries import Day, Entry, FirstDeal, Fixture, Move, Open, Sit
from bot.table_policy import Policies
from bot.tables.table import Table
from engine import GAMES
from engine.options import RELEASE, resolve

DAY, DUPLICATE = Day(date(2026, 11, 24)), Fixture("K7QF2M", 1, 0, 1, "p:100")


def resigned_table(*setup: Entry) -> Table:
    chairs = [Sit(seat, f"p:{seat}", f"Person {seat}") for seat in range(2)]
    deal = FirstDeal(bytes(32), RELEASE, resolve(GAMES["testa"].rules, {}).model_dump())
    entries: list[Entry] = [Open("testa", "p:0", "Person 0"), *setup, *chairs, deal, Move(0, "resign")]
    return Table("ABCD").with_entries(entries, "u")


def create_finisher(store: Store) -> tuple[Finisher, Archive]:
    archive = Archive(store.client)
    return Finisher(store, archive, Ratings(store.client, archive), Policies()), archive


async def test_ordinary_game_is_archived(store: Store) -> None:
    finisher, archive = create_finisher(store)
    outcome = await finisher.finish(resigned_table())
    assert await archive.get(outcome.game_id)


@pytest.mark.parametrize("setup", [DAY, DUPLICATE], ids=["day", "tournament"])
async def test_game_of_a_fixture_needs_a_policy_to_be_archived(store: Store, setup: Entry) -> None:
    finisher, archive = create_finisher(store)
    with pytest.raises(AssertionError):
        await finisher.finish(resigned_table(setup))
    assert await archive.count() == 0
