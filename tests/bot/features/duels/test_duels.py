"""Duels in chats: the same cards for both, compared only once both have played a deal."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bot.features.duels import keys
from bot.features.duels.duel import DAY, DAYS, DEALS, Duel, Played
from bot.features.duels.duels import LOST_SECONDS, Duels
from bot.features.duels.errors import DuelIsFull
from bot.features.duels.feature import DuelsFeature
from bot.features.privacy.feature import PrivacyFeature
from bot.identity.pseudonyms import forgetting_marks
from bot.panel import Button, Panel
from bot.platform import NotDelivered, Person, Reply
from bot.solo_deals.results import SoloResult
from bot.store import Store
from bot.store.entries import Duel as DuelEntry
from bot.worker import Worker
from engine import verify
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker
from tests.bot.features.daily.test_days import make_move, play_deal


@pytest.fixture(autouse=True)
def no_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests decide when duels are closed and messages sent."""
    make = DuelsFeature.__init__

    def make_without_loops(feature: DuelsFeature, core: Any) -> None:
        make(feature, core)
        feature.loops = {}

    monkeypatch.setattr(DuelsFeature, "__init__", make_without_loops)


@asynccontextmanager
async def open_players(store: Store, *names: str) -> AsyncIterator[tuple[Worker, list[Player]]]:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        yield worker, [Player(worker, fake, name, number) for number, name in enumerate(names, 1)]


async def meet(*players: Player) -> None:
    for player in players:
        await player.say("/start", player.private)


async def own_duels(player: Player) -> list[Duel]:
    return await player.worker.feature(DuelsFeature).duels.store.of_person(player.person.id)


async def find_duel(player: Player) -> Duel:
    return (await own_duels(player))[0]


async def press_on(player: Player, code: str, label: str) -> Reply:
    """Press a button of a duel's page in the private chat."""
    await player.say(f"/duel {code}", player.private)
    return await player.press(label)


async def begin_deal(player: Player) -> str:
    """Begin the next deal of a player's newest duel, and return the table's code."""
    duel = await find_duel(player)
    await press_on(player, duel.code, "Play deal")
    [table] = [one for one in await player.worker.room.lists.tables_of(player.person.id) if one.phase == "playing"]
    return table.code


async def play_next(player: Player, seed: int = 1) -> None:
    await play_deal(player, await begin_deal(player), seed)


async def run_loops(worker: Worker) -> None:
    feature = worker.feature(DuelsFeature)
    await feature.duels.close_due()
    await worker.settled()
    await feature.messages.send_due(feature.duels.now)


def shown(text: str) -> str:
    """Return a text without the marks that isolate names."""
    return text.translate(dict.fromkeys(map(ord, "\u2068\u2069")))


def last_text(player: Player, place: str = "") -> str:
    return shown(player.fake.last(place or player.private).plain)


def all_texts(player: Player, place: str = "") -> list[str]:
    return [shown(text) for text in player.fake.texts(place or player.private)]


def pass_time(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(Duels, "now", lambda _duels: int(time.time() + seconds))


async def test_whole_duel_ends_with_both_results(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        await anna.say("/duel @bruno testa", GROUP)
        assert "Anna challenges @bruno." in last_text(anna, GROUP)
        await bruno.press("Play", GROUP)
        assert "Bruno 0 of 5" in last_text(anna, GROUP)
        await worker.feature(DuelsFeature).messages.send_due(worker.feature(DuelsFeature).duels.now)
        assert "Bruno has accepted your duel." in last_text(anna)
        for deal in range(1, DEALS + 1):
            await play_next(anna, 1)
            assert f"Deal {deal}" in all_texts(anna)[-1]
            assert await worker.archive.count() == 2 * (deal - 1)
            await play_next(bruno, deal)
            assert "Anna: " in all_texts(bruno)[-1]
            assert await worker.archive.count() == 2 * deal
        duel = await find_duel(anna)
        assert duel.closed == "done"
        # The same moves get the same replies.
        assert duel.result(0, 1) == duel.result(1, 1)
        assert duel.deal_winner(1) is None
        async for entry in worker.archive.entries_after(0):
            assert entry.game
            verify(entry.game.record)
            assert not entry.game.is_rated
        await run_loops(worker)
        for player in (anna, bruno):
            text = last_text(player)
            assert "5. " in text
            assert "wins the duel" in text or "draw" in text
        assert "Anna " in last_text(anna, GROUP)
        await anna.press("Share", anna.private)
        shared = anna.fake.last(anna.private)
        assert shared.plain.splitlines()[0] == "⚔️ Duel · Testa a Testa"
        assert len(shared.plain.splitlines()[2]) == DEALS
        await anna.press("Deal 2", anna.private)
        compared = all_texts(anna)[-2:]
        assert any("First difference" in one or "Everyone played the same cards" in one for one in compared)
        await anna.press("Replay: Bruno", anna.private)
        await run_loops(worker)
        assert not await store.client.zcard(keys.DUE)
        assert not await store.client.zcard(keys.MESSAGES)


async def test_deal_is_secret_until_both_have_played_it(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        await anna.say("/duel @bruno testa", GROUP)
        await bruno.press("Play", GROUP)
        await play_next(anna)
        duel = await find_duel(anna)
        margin, game = duel.played[0, 1].result.margin, duel.played[0, 1].game
        assert margin is not None
        await bruno.say(f"/duel {duel.code}", bruno.private)
        await bruno.say(f"/duel {duel.code}", GROUP)
        for text in (*all_texts(bruno), *all_texts(bruno, GROUP)):
            assert "🟩" not in text
            assert f"{margin:+d}".replace("-", "−") not in text
        # A modified client can press a button that the page does not have.
        bruno.fake.messages[bruno.private]["forged"] = Panel(
            (), ((Button("Deal", f"1pduel {duel.code} deal 1"),), (Button("Replay", f"1preplay {game} 1"),))
        )
        assert "once both have played it" in (await bruno.press("Deal")).toast
        assert (await bruno.press("Replay")).panel is None
        assert await worker.archive.get(game) is None
        data = await worker.feature(DuelsFeature).mydata(bruno.person.id, 0.0)
        assert data["duels"][0]["results"] == []
        own = await worker.feature(DuelsFeature).mydata(anna.person.id, 0.0)
        assert own["duels"][0]["results"][0]["deal"] == 1


async def test_both_get_the_same_cards_in_the_same_seat(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        await anna.say("/duel tressette", GROUP)
        await bruno.press("Play", GROUP)
        hands = []
        for player in (anna, bruno):
            table = await worker.room.table(await begin_deal(player))
            await worker.alarms.settled()
            assert table.seat_of(player.person.id) == 0
            assert table.is_duplicate
            assert table.game
            deal = table.game.view(0).deal
            assert deal
            hands.append((table.secret, deal.hand))
        assert hands[0] == hands[1]


async def test_deal_cannot_be_played_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        await anna.say("/duel testa", GROUP)
        code = await begin_deal(anna)
        assert await begin_deal(anna) == code
        table = await worker.room.table(code)
        await worker.room.make_move(code, anna.person.id, table.version, "resign", "r1")
        await worker.settled()
        duel = await find_duel(anna)
        assert duel.played[0, 1].result.margin is None
        second = await worker.room.table(await begin_deal(anna))
        assert second.duel
        assert second.duel.deal == 2
        assert second.secret != table.secret
        # A lost table does not give the cards again.
        await store.client.hdel(keys.duel(duel.code), "played:0:1")
        await play_deal(anna, second.code, 1)
        reply = await press_on(anna, duel.code, "Play deal")
        assert "still being counted" in reply.toast
        pass_time(monkeypatch, LOST_SECONDS + 60)
        third = await worker.room.table(await begin_deal(anna))
        assert third.duel
        assert third.duel.deal == 3


async def test_time_limit_names_who_did_not_finish(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        await anna.say("/duel @bruno testa", GROUP)
        await bruno.press("Play", GROUP)
        await play_next(anna)
        await play_next(bruno)
        await play_next(anna)
        table = await begin_deal(bruno)
        pass_time(monkeypatch, (DAYS - 1) * DAY + 60)
        await run_loops(worker)
        assert "Your duel ends soon: you have 3 deals to play." in last_text(anna)
        pass_time(monkeypatch, DAYS * DAY + 60)
        reply = await press_on(anna, (await find_duel(anna)).code, "Play deal")
        assert "over" in reply.toast
        await run_loops(worker)
        await run_loops(worker)
        duel = await find_duel(anna)
        assert duel.closed == "time"
        assert (await worker.room.load_recent(table)).phase == "over"
        text = last_text(bruno)
        assert "Anna wins the duel" in text or "wins the duel" in text
        assert "Bruno didn’t finish: 1 of 5 deals." in text
        assert "Anna didn’t finish: 2 of 5 deals." in text
        # Everyone can see all games now.
        assert await worker.archive.count() == 4
        assert not await store.client.exists(keys.games(duel.code))


async def test_challenge_is_for_one_person_and_can_be_declined(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno", "Carla") as (worker, (anna, bruno, carla)):
        await meet(anna, bruno, carla)
        await anna.say("/duel @bruno testa", anna.private)
        await run_loops(worker)
        assert "Anna challenges" in last_text(bruno)
        duel = await find_duel(anna)
        assert "This duel is for Bruno" in (await press_on(carla, duel.code, "Play")).toast
        await bruno.press("Decline", bruno.private)
        await run_loops(worker)
        assert "@bruno declined." in last_text(anna)
        await anna.say("/duel testa", GROUP)
        await bruno.press("Play", GROUP)
        assert "Two others play this duel" in (await carla.press("Play", GROUP)).toast


async def test_rematch_is_one_duel_for_both(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        await anna.say("/duel @bruno testa", GROUP)
        await bruno.press("Play", GROUP)
        first = await find_duel(anna)
        await worker.feature(DuelsFeature).duels.store.close(first.code, "time")
        await run_loops(worker)
        await bruno.press("Rematch", bruno.private)
        await anna.press("Rematch", anna.private)
        [second] = [duel for duel in await own_duels(anna) if duel.code != first.code]
        assert [player.name for player in second.players] == ["Bruno", "Anna"]
        assert second.root != first.root


async def test_forgotten_player_ends_a_duel(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        await anna.say("/duel @bruno testa", GROUP)
        await bruno.press("Play", GROUP)
        await play_next(bruno)
        code = (await find_duel(anna)).code
        await worker.feature(PrivacyFeature).forgetter.begin("paper:2")
        while not (await forgetting_marks(store.client))["paper:2"].is_erased:
            await asyncio.sleep(0.01)
        await run_loops(worker)
        duel = await worker.feature(DuelsFeature).duels.store.load(code)
        assert duel.closed == "left"
        stored = await store.client.hgetall(keys.duel(code))
        assert b"paper:2" not in b"".join(stored.values())
        assert b"Bruno" not in b"".join(stored.values())
        assert not await store.client.exists(keys.of_person("paper:2"))
        async for entry in worker.archive.entries_after(0):
            assert entry.game
            assert "paper:2" not in entry.game.people


async def test_failed_message_is_sent_later(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        send = anna.fake.send

        async def refuse(*_args: object, **_options: object) -> Any:
            raise NotDelivered("down")

        await anna.say("/duel @bruno testa", anna.private)
        anna.fake.send = refuse  # type: ignore[method-assign]
        await run_loops(worker)
        assert await store.client.zcard(keys.MESSAGES) == 1
        anna.fake.send = send  # type: ignore[method-assign]
        pass_time(monkeypatch, 120)
        await run_loops(worker)
        assert "Anna challenges" in last_text(bruno)
        assert await store.client.zcard(keys.MESSAGES) == 0


async def test_duels_follow_a_moved_chat(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await anna.say("/duel testa", GROUP)
        feature = worker.feature(DuelsFeature)
        await feature.move_chat(GROUP, "paper:999")
        await feature.move_chat(GROUP, "paper:999")
        assert (await find_duel(anna)).place == "paper:999"


async def test_deal_continues_after_a_restart(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        await anna.say("/duel @bruno testa", GROUP)
        await bruno.press("Play", GROUP)
        await play_next(anna, 3)
        code = await begin_deal(bruno)
        for _ in range(9):
            await make_move(bruno, code, 3)
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        assert await begin_deal(bruno) == code
        await play_deal(bruno, code, 3)
        duel = await find_duel(anna)
        assert duel.result(0, 1) == duel.result(1, 1)
        assert await worker.archive.count() == 2
        # A kill after the end of a game makes the bot finish it again.
        game = await worker.archive.get(duel.played[1, 1].game)
        assert game
        await worker.feature(DuelsFeature).duels.finish(game, DuelEntry(duel.code, 1, 1))
        assert await find_duel(anna) == duel
        assert await worker.archive.count() == 2
        assert not await store.client.exists(keys.games(duel.code))


async def test_two_workers_agree_on_a_duel(store: Store) -> None:
    async with (
        open_worker(store, FakePlatform(), alone=False) as first,
        open_worker(store, FakePlatform(), alone=False) as second,
    ):
        ours, theirs = (worker.feature(DuelsFeature).duels for worker in (first, second))
        anna, bruno, carla = (Person(f"paper:{n}", name) for n, name in enumerate(("Anna", "Bruno", "Carla"), 1))
        opened = await asyncio.gather(*(duels.open(anna, "testa", "u1") for duels in (ours, theirs)))
        [code] = {duel.code for duel in opened}
        accepted = await asyncio.gather(ours.accept(code, bruno), theirs.accept(code, carla), return_exceptions=True)
        assert sum(isinstance(answer, DuelIsFull) for answer in accepted) == 1
        duel = await ours.store.load(code)
        tables = await asyncio.gather(*(duels.open_table(code, anna) for duels in (ours, theirs)))
        [table] = {table.code for table in tables}
        # A result counts or comes too late, whichever worker closes the duel.
        result = Played(SoloResult((6, 5), "10"), "G-1")
        counts, _ = await asyncio.gather(ours.store.store_result(code, 0, 1, result), theirs.store.close(code, "time"))
        duel = await theirs.store.load(code)
        assert ((0, 1) in duel.played) == counts
        assert not await ours.store.store_result(code, 0, 2, result)
        await asyncio.gather(ours.close_due(), theirs.close_due())
        assert (await first.room.load_recent(table)).phase == "over"
