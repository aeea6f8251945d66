"""Phrases among friends who play on pages."""

import pytest

from bot.site.hand_page import hand_page
from bot.tables.errors import OldPanel, TooManyPhrases
from bot.tables.limits import PHRASES_PER_DEAL
from bot.tables.table import Table
from bot.worker import Worker
from tests.bot.fake_platform import GROUP

ANNA, BRUNO = "web:1", "web:2"


async def seat_two(worker: Worker, *people: str, host: str = "") -> Table:
    first, other = people
    table = await worker.challenges.open_table("testa", first, "Anna", "open", host=host)
    return await worker.challenges.sit(table.code, other, "Bruno", "sit")


async def page_of(worker: Worker, code: str, person: str) -> tuple[list[str], list[str]]:
    """Return what the page shows as said, and the labels of its buttons."""
    table, profile = await worker.room.table(code), await worker.people.person(person)
    page = hand_page(table, person, profile, "", "")
    return [player.said for player in page.sitting], [button.label for row in page.extra for button in row]


async def test_friends_on_pages_talk(worker: Worker) -> None:
    table = await seat_two(worker, ANNA, BRUNO)
    await worker.room.say(table.code, ANNA, "clap", "say")
    said, buttons = await page_of(worker, table.code, BRUNO)
    assert said == ["", "👏"]
    assert "💬 Say" in buttons
    assert not any("Block" in label or "Report" in label for label in buttons)
    assert (await page_of(worker, table.code, ANNA))[0] == ["", ""]


async def test_muted_player_sees_nothing(worker: Worker) -> None:
    table = await seat_two(worker, ANNA, BRUNO)
    await worker.room.say(table.code, ANNA, "clap", "say")
    await worker.people.update_person(BRUNO, phrases="0")
    assert not (await worker.people.person(BRUNO)).wants_phrases
    assert (await page_of(worker, table.code, BRUNO))[0] == ["", ""]


async def test_limit_of_a_deal_removes_the_button(worker: Worker) -> None:
    table = await seat_two(worker, ANNA, BRUNO)
    for number in range(PHRASES_PER_DEAL):
        await worker.room.say(table.code, ANNA, "wow", f"say {number}")
    assert "💬 Say" not in (await page_of(worker, table.code, ANNA))[1]
    with pytest.raises(TooManyPhrases):
        await worker.room.say(table.code, ANNA, "wow", "say again")


async def test_friends_in_a_group_have_their_chat(worker: Worker) -> None:
    table = await seat_two(worker, "playground:1", "playground:2", host=GROUP)
    with pytest.raises(OldPanel):
        await worker.room.say(table.code, "playground:1", "clap", "say")


async def test_robots_are_not_talked_to(worker: Worker) -> None:
    table = await worker.challenges.open_practice("testa", ANNA, "Anna", "easy", "open")
    with pytest.raises(OldPanel):
        await worker.room.say(table.code, ANNA, "clap", "say")
