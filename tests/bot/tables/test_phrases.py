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


@pytest.mark.parametrize(("blocker", "blocked"), [(ANNA, BRUNO), (BRUNO, ANNA)])
async def test_blocked_players_do_not_read_each_other(worker: Worker, blocker: str, blocked: str) -> None:
    table = await seat_two(worker, ANNA, BRUNO)
    await worker.blocks.add(blocker, blocked, "them")
    await worker.room.say(table.code, ANNA, "clap", "say")
    assert (await page_of(worker, table.code, BRUNO))[0] == ["", ""]
    # The speaker cannot tell.
    assert (await worker.room.table(table.code)).phrase_counts == (1, 0)
    [block] = await worker.blocks.blocks_of(blocker)
    await worker.blocks.remove(blocker, block.token)
    await worker.room.say(table.code, ANNA, "clap", "say again")
    assert (await page_of(worker, table.code, BRUNO))[0] == ["", "👏"]


async def test_others_at_the_table_read_a_blocked_player(worker: Worker) -> None:
    people = [f"web:{number}" for number in range(4)]
    table = await worker.challenges.open_table("tressette", people[0], "Person", "open")
    for person in people[1:]:
        table = await worker.challenges.sit(table.code, person, "Person", f"sit {person}")
    await worker.blocks.add(people[2], people[0], "Person")
    table = await worker.room.say(table.code, people[0], "clap", "say")
    seats = [table.seat_of(person) or 0 for person in people]
    assert [bool(table.phrases_shown_to(seat)) for seat in seats] == [False, True, False, True]


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
