"""Players who leave a found game wait before the next search. Failures of the bot do not count."""

import asyncio
from random import Random

import pytest

from bot import core as core_module
from bot.features.find import keys, matching
from bot.features.find.feature import FindFeature
from bot.features.find.leavers import ENTRY_SECONDS, PENALTY_SECONDS, Leavers, find_leavers
from bot.features.privacy.feature import PrivacyFeature
from bot.identity.pseudonyms import forgetting_marks
from bot.platform import PlatformFailure
from bot.store import Store
from bot.store.entries import Flag, Late, Match, Stop
from tests.bot.fake_platform import Player
from tests.bot.features.find.conftest import find_each_other, run_finder
from tests.bot.features.find.test_finder import expire_table, list_waiting, make_random_move
from tests.bot.features.find.test_strangers import resign
from tests.bot.tables.test_table import FOUR, play_cards, start_game

ANNA = "paper:1"


@pytest.fixture(autouse=True)
def no_automatic_matching(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop automatic matching, ignore ratings, and let the bot count as long started."""
    monkeypatch.setattr("bot.features.find.feature.POLL_SECONDS", 1e6)
    monkeypatch.setattr(matching, "RATING_BOUND", 10_000)
    monkeypatch.setattr(core_module, "TROUBLE_SECONDS", 0.0)


async def count_leavings(player: Player) -> int:
    times = await player.worker.feature(FindFeature).finder.leavers.times(
        player.person.id, await player.worker.feature(FindFeature).finder.queue.now()
    )
    return len(times)


async def test_penalties_of_leavers_grow_and_expire(store: Store) -> None:
    leavers, start = Leavers(store.client), 1e9
    assert await leavers.penalty(ANNA, start) == 0
    for number, wait in enumerate((*PENALTY_SECONDS, PENALTY_SECONDS[-1])):
        time = start + 1000 * number
        for _ in range(2):
            await leavers.add(ANNA, f"CODE{number}", time)
        assert await leavers.penalty(ANNA, time) == wait
        assert await leavers.penalty(ANNA, time + wait) == 0
    last = start + 1000 * len(PENALTY_SECONDS)
    assert await leavers.penalty(ANNA, last + ENTRY_SECONDS) == 0
    assert 0 < await store.client.ttl(keys.left_games(ANNA)) <= ENTRY_SECONDS
    await leavers.add(ANNA, "LATER", last + ENTRY_SECONDS + 1)
    assert await store.client.zcard(keys.left_games(ANNA)) == 1


async def test_second_early_resignation_brings_a_penalty(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    for number in range(2):
        await find_each_other(two_strangers)
        for player in two_strangers:
            await player.press("Ready")
        await run_finder(anna.worker)
        await resign(anna)
        assert (await count_leavings(anna), await count_leavings(bruno)) == (number + 1, 0)
    reply = await anna.say("/find", anna.private)
    assert "search again in 2 min" in reply.toast
    await bruno.say("/find", bruno.private)
    assert await list_waiting(two_strangers) == [bruno.person.id]


async def test_silence_counts_as_leaving_but_declining_does_not(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    code = await find_each_other(two_strangers)
    await bruno.press("Ready")
    await expire_table(anna.worker, code)
    await run_finder(anna.worker)
    assert (await count_leavings(anna), await count_leavings(bruno)) == (1, 0)
    await anna.say("/find pizzichino", anna.private)
    await run_finder(anna.worker)
    await anna.press("Not now")
    await run_finder(anna.worker)
    assert (await count_leavings(anna), await count_leavings(bruno)) == (1, 0)


async def test_undelivered_question_is_not_leaving(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    for player in two_strangers:
        await player.say("/find pizzichino", player.private)
    anna.fake.closed.add(anna.private)
    await run_finder(anna.worker)
    _, button = bruno.button("Ready")
    await bruno.press("Ready")
    await expire_table(anna.worker, button.payload[2:8])
    await run_finder(anna.worker)
    assert (await count_leavings(anna), await count_leavings(bruno)) == (0, 0)


@pytest.mark.parametrize("trouble", ["platform failed", "just started", "platform away"])
async def test_leaving_during_a_failure_of_the_bot_does_not_count(
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
    await resign(anna)
    assert await count_leavings(anna) == 0


async def test_leaving_counts_again_long_after_a_failure(
    playing: list[Player], monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, _bruno = playing
    monkeypatch.setattr(anna.worker, "_started_at", -1e6)
    with pytest.raises(PlatformFailure), anna.worker.outages.call("paper"):
        raise PlatformFailure("it is away")
    monkeypatch.setattr(core_module, "TROUBLE_SECONDS", 0.0)
    await resign(anna)
    assert await count_leavings(anna) == 1


async def test_timeout_is_leaving_but_a_host_stop_is_not(playing: list[Player]) -> None:
    anna, _bruno = playing
    [table] = await anna.worker.room.lists.tables_of(anna.person.id)
    assert table.game
    assert table.to_move
    turn = table.game.turn or 0
    timed_out = table.with_entries([Flag(), Stop("timeout", 1 - turn)], "u")
    assert find_leavers(timed_out) == [table.to_move.person]
    assert find_leavers(table.with_entries([Stop("cancelled")], "u")) == []
    assert find_leavers(table) == []


@pytest.mark.parametrize("partner_was_late", [False, True])
def test_only_the_partner_to_move_leaves_by_timeout(partner_was_late: bool) -> None:
    table = start_game("tressette", *(Match(person, "P") for person in FOUR))
    if partner_was_late:
        assert table.game
        table = play_cards(table.with_entries([Late(table.game.turn or 0)], "u"), 2)
    assert table.game
    turn = table.game.turn or 0
    assert any(table.late_counts) == partner_was_late
    assert find_leavers(table.with_entries([Flag(), Stop("timeout", 1 - (turn & 1))], "u")) == [FOUR[turn]]


async def test_resigning_after_the_first_deal_is_not_leaving(playing: list[Player]) -> None:
    anna, _bruno = playing
    random = Random(6)
    while (game := (await anna.worker.room.lists.tables_of(anna.person.id))[0].game) and game.deal_number == 1:
        await make_random_move(playing, random)
    await resign(anna)
    assert await anna.worker.archive.count() == 1
    assert await count_leavings(anna) == 0


async def test_forgotten_player_has_no_recorded_leavings(playing: list[Player]) -> None:
    anna, _bruno = playing
    worker = anna.worker
    await worker.feature(FindFeature).finder.leavers.add(
        anna.person.id, "CODE", await worker.feature(FindFeature).finder.queue.now()
    )
    await worker.feature(PrivacyFeature).forgetter.begin(anna.person.id)
    while not (await forgetting_marks(worker.store.client))[anna.person.id].is_erased:
        await asyncio.sleep(0.01)
    await worker.wait_until_idle()
    assert await count_leavings(anna) == 0
