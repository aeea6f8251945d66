"""Who leaves what was found for them waits before they look again; what was our fault is nobody's."""

import asyncio
from random import Random

import pytest

from bot import core as core_module
from bot.features.find import finder, matching
from bot.features.find.feature import FindFeature
from bot.features.find.leavers import FORGOTTEN_AFTER, PENALTIES, Leavers, find_leavers
from bot.features.privacy.feature import PrivacyFeature
from bot.platform import PlatformFailure
from bot.pseudonyms import forgetting_marks
from bot.store import Store, keys
from bot.store.entries import Flag, Late, Match, Stop
from tests.bot.fake_platform import Player
from tests.bot.features.find.conftest import asked, tended
from tests.bot.features.find.test_finder import expired, play, waiting
from tests.bot.features.find.test_strangers import resigned
from tests.bot.tables.test_table import FOUR, begun, played

ANNA = "paper:1"


@pytest.fixture(autouse=True)
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is matched but when a test has it so, and the bot has been there for long."""
    monkeypatch.setattr(finder, "POLL_SECONDS", 1e6)
    monkeypatch.setattr(matching, "RATING_BOUND", 10_000)
    monkeypatch.setattr(core_module, "TROUBLE_SECONDS", 0.0)


async def left(player: Player) -> int:
    found = await player.worker.feature(FindFeature).finder.leavers.times(
        player.person.id, await player.worker.feature(FindFeature).finder.queue.now()
    )
    return len(found)


async def test_waits_grow_and_are_forgotten(store: Store) -> None:
    leavers, now = Leavers(store.client), 1e9
    assert await leavers.penalty(ANNA, now) == 0
    for number, wait in enumerate((*PENALTIES, PENALTIES[-1])):
        at = now + 1000 * number
        for _ in range(2):
            await leavers.add(ANNA, f"CODE{number}", at)
        assert await leavers.penalty(ANNA, at) == wait
        assert await leavers.penalty(ANNA, at + wait) == 0
    last = now + 1000 * len(PENALTIES)
    assert await leavers.penalty(ANNA, last + FORGOTTEN_AFTER) == 0
    assert 0 < await store.client.ttl(keys.left(ANNA)) <= FORGOTTEN_AFTER
    await leavers.add(ANNA, "LATER", last + FORGOTTEN_AFTER + 1)
    assert await store.client.zcard(keys.left(ANNA)) == 1


async def test_whoever_resigns_early_again_and_again_waits(two: list[Player]) -> None:
    anna, bruno = two
    for round_ in range(2):
        await asked(two)
        for player in two:
            await player.press("Ready")
        await tended(anna.worker)
        await resigned(anna)
        assert (await left(anna), await left(bruno)) == (round_ + 1, 0)
    reply = await anna.say("/find", anna.private)
    assert "look again in 2 min" in reply.toast
    await bruno.say("/find", bruno.private)
    assert await waiting(two) == [bruno.person.id]


async def test_whoever_does_not_answer_leaves_and_not_now_is_no_leaving(two: list[Player]) -> None:
    anna, bruno = two
    code = await asked(two)
    await bruno.press("Ready")
    await expired(anna.worker, code)
    await tended(anna.worker)
    assert (await left(anna), await left(bruno)) == (1, 0)
    await anna.say("/find pizzichino", anna.private)
    await tended(anna.worker)
    await anna.press("Not now")
    await tended(anna.worker)
    assert (await left(anna), await left(bruno)) == (1, 0)


async def test_whom_the_question_did_not_reach_has_not_left(two: list[Player]) -> None:
    anna, bruno = two
    for player in two:
        await player.say("/find pizzichino", player.private)
    anna.fake.closed.add(anna.private)
    await tended(anna.worker)
    _, button = bruno.button("Ready")
    await bruno.press("Ready")
    await expired(anna.worker, button.payload[2:8])
    await tended(anna.worker)
    assert (await left(anna), await left(bruno)) == (0, 0)


@pytest.mark.parametrize("trouble", ["platform failed", "just started", "platform away"])
async def test_what_may_have_been_our_fault_counts_for_nobody(
    playing: list[Player], monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    anna, _bruno = playing
    if trouble == "platform away":
        monkeypatch.setattr(anna.fake, "healthy", False)
    else:
        monkeypatch.setattr(core_module, "TROUBLE_SECONDS", 300.0)
    if trouble == "platform failed":
        monkeypatch.setattr(anna.worker, "_started_at", -1e6)
        with pytest.raises(PlatformFailure), anna.worker.outages.call("paper"):
            raise PlatformFailure("it is away")
    await resigned(anna)
    assert await left(anna) == 0


async def test_long_after_a_failure_it_counts_again(playing: list[Player], monkeypatch: pytest.MonkeyPatch) -> None:
    anna, _bruno = playing
    monkeypatch.setattr(anna.worker, "_started_at", -1e6)
    with pytest.raises(PlatformFailure), anna.worker.outages.call("paper"):
        raise PlatformFailure("it is away")
    monkeypatch.setattr(core_module, "TROUBLE_SECONDS", 0.0)
    await resigned(anna)
    assert await left(anna) == 1


async def test_who_loses_by_time_has_left_and_a_game_that_the_host_ends_is_nobodys(playing: list[Player]) -> None:
    anna, _bruno = playing
    [table] = await anna.worker.tables_of(anna.person.id)
    assert table.game
    assert table.to_move
    turn = table.game.turn or 0
    late = table.after([Flag(), Stop("timeout", 1 - turn)], "u")
    assert find_leavers(late) == [table.to_move.person]
    assert find_leavers(table.after([Stop("cancelled")], "u")) == []
    assert find_leavers(table) == []


@pytest.mark.parametrize("partner_was_late", [False, True])
def test_of_two_partners_who_lose_by_time_it_is_who_was_to_move_that_has_left(partner_was_late: bool) -> None:
    table = begun("tressette", *(Match(one, "P") for one in FOUR))
    if partner_was_late:
        assert table.game
        table = played(table.after([Late(table.game.turn or 0)], "u"), 2)
    assert table.game
    turn = table.game.turn or 0
    assert any(table.lates) == partner_was_late
    assert find_leavers(table.after([Flag(), Stop("timeout", 1 - (turn & 1))], "u")) == [FOUR[turn]]


async def test_a_resignation_after_the_first_deal_is_no_leaving(playing: list[Player]) -> None:
    anna, _bruno = playing
    random = Random(6)
    while (game := (await anna.worker.tables_of(anna.person.id))[0].game) and game.deal_number == 1:
        await play(playing, random)
    await resigned(anna)
    assert await anna.worker.archive.count() == 1
    assert await left(anna) == 0


async def test_of_who_is_forgotten_it_is_forgotten_that_they_left(playing: list[Player]) -> None:
    anna, _bruno = playing
    worker = anna.worker
    await worker.feature(FindFeature).finder.leavers.add(
        anna.person.id, "CODE", await worker.feature(FindFeature).finder.queue.now()
    )
    await worker.feature(PrivacyFeature).forgetter.begin(anna.person.id)
    while not (await forgetting_marks(worker.store.client))[anna.person.id].is_erased:
        await asyncio.sleep(0.01)
    await worker.settled()
    assert await left(anna) == 0
