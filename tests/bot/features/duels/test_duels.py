"""Duels in chats: the same cards for both, compared only once both have played a deal."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bot.features.duels import keys
from bot.features.duels.duel import DAY, DAYS, DEALS, Duel, Played
from bot.features.duels.duel import Player as DuelPlayer
from bot.features.duels.duels import LOST_SECONDS, MAX_OPEN, Duels
from bot.features.duels.errors import (
    DealBeingCounted,
    DuelIsAccepted,
    DuelIsFull,
    NoRematch,
    NotYourDuel,
    TooManyDuels,
    TooManyToday,
)
from bot.features.duels.feature import DuelsFeature
from bot.features.duels.store import DuelStore
from bot.features.privacy.feature import PrivacyFeature
from bot.identity.pseudonyms import forgetting_marks
from bot.panel import Button, Panel
from bot.platform import NotDelivered, Person, Reply
from bot.solo_deals.results import SoloResult
from bot.store import Store
from bot.store.entries import Duel as DuelEntry
from bot.tables.code_guard import WRONG_CODES
from bot.worker import Worker
from engine import verify
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker
from tests.bot.features.daily.test_days import make_move, play_deal
from tests.bot.features.duels.matches.playing import strip_isolates


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
    [table] = [
        candidate
        for candidate in await player.worker.room.lists.tables_of(player.person.id)
        if candidate.phase == "playing"
    ]
    return table.code


async def play_next(player: Player, seed: int = 1) -> None:
    await play_deal(player, await begin_deal(player), seed)


async def run_loops(worker: Worker) -> None:
    feature = worker.feature(DuelsFeature)
    await feature.duels.close_due()
    await worker.wait_until_idle()
    await feature.messages.send_due(feature.duels.now)


def last_text(player: Player, place: str = "") -> str:
    return strip_isolates(player.fake.last(place or player.private).plain)


def all_texts(player: Player, place: str = "") -> list[str]:
    return [strip_isolates(text) for text in player.fake.texts(place or player.private)]


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
        assert duel.closing == "done"
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
        winner = duel.score.winner
        ending = "The duel is a draw" if winner is None else f"{('Anna', 'Bruno')[winner]} wins the duel"
        assert ending in last_text(anna, GROUP)
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
        margin, game = duel.played_deals[0, 1].result.margin, duel.played_deals[0, 1].game
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
        own_data = await worker.feature(DuelsFeature).mydata(anna.person.id, 0.0)
        assert own_data["duels"][0]["results"][0]["deal"] == 1


async def test_both_get_the_same_cards_in_the_same_seat(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        await anna.say("/duel tressette", GROUP)
        await bruno.press("Play", GROUP)
        hands = []
        for player in (anna, bruno):
            table = await worker.room.table(await begin_deal(player))
            await worker.alarms.wait_until_idle()
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
        await worker.wait_until_idle()
        duel = await find_duel(anna)
        assert duel.played_deals[0, 1].result.margin is None
        assert "doesn’t count" not in "".join(all_texts(anna))
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
        assert duel.closing == "time"
        assert (await worker.room.load_recent(table)).phase == "over"
        text = last_text(bruno)
        assert "Anna wins the duel" in text
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
        await worker.feature(DuelsFeature).duels.store.close(first.code, "time", 0)
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
        assert duel.closing == "left"
        stored_duel = await store.client.hgetall(keys.duel(code))
        assert b"paper:2" not in b"".join(stored_duel.values())
        assert b"Bruno" not in b"".join(stored_duel.values())
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
        game = await worker.archive.get(duel.played_deals[1, 1].game)
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
        first_duels, second_duels = (worker.feature(DuelsFeature).duels for worker in (first, second))
        anna, bruno, carla = (Person(f"paper:{n}", name) for n, name in enumerate(("Anna", "Bruno", "Carla"), 1))
        opened = await asyncio.gather(*(duels.open(anna, "testa", "u1") for duels in (first_duels, second_duels)))
        [code] = {duel.code for duel in opened}
        acceptances = await asyncio.gather(
            first_duels.accept(code, bruno), second_duels.accept(code, carla), return_exceptions=True
        )
        assert sum(isinstance(answer, DuelIsFull) for answer in acceptances) == 1
        duel = await first_duels.store.load(code)
        tables = await asyncio.gather(*(duels.open_table(code, anna) for duels in (first_duels, second_duels)))
        [table] = {table.code for table in tables}
        # A result counts or comes too late, whichever worker closes the duel.
        result = Played(SoloResult((6, 5), "10"), "G-1")
        counts, _ = await asyncio.gather(
            first_duels.store.store_result(code, 0, 1, result), second_duels.store.close(code, "time", 0)
        )
        duel = await second_duels.store.load(code)
        assert ((0, 1) in duel.played_deals) == counts
        assert not await first_duels.store.store_result(code, 0, 2, result)
        await asyncio.gather(first_duels.close_due(), second_duels.close_due())
        assert (await first.room.load_recent(table)).phase == "over"


def duels_of(worker: Worker) -> Duels:
    return worker.feature(DuelsFeature).duels


async def test_played_deal_is_never_counted_as_given_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await meet(anna)
        await anna.say("/duel testa", GROUP)
        code = await begin_deal(anna)
        finish, can_finish = Duels.finish, asyncio.Event()

        async def finish_late(*args: Any) -> Duel | None:
            await can_finish.wait()
            return await finish(*args)

        monkeypatch.setattr(Duels, "finish", finish_late)
        table = await worker.room.table(code)
        await worker.room.make_move(code, anna.person.id, table.version, "resign", "r1")
        pass_time(monkeypatch, LOST_SECONDS + 60)
        duel = await find_duel(anna)
        with pytest.raises(DealBeingCounted):
            await duels_of(worker).open_table(duel.code, anna.person)
        can_finish.set()
        await worker.wait_until_idle()
        assert (await find_duel(anna)).played_deals[0, 1].game


async def test_guessed_codes_of_duels_are_limited_in_chats(store: Store) -> None:
    async with open_players(store, "Anna", "Zoe") as (_worker, (anna, zoe)):
        await anna.say("/duel testa", GROUP)
        code = (await find_duel(anna)).code
        ways: list[Callable[[str], Awaitable[Reply]]] = [
            lambda guess: zoe.say(f"/duel {guess}", zoe.private),
            lambda guess: zoe.say(f"/start duel-{guess}", zoe.private),
        ]
        toasts = [(await ways[n % 2](f"QQQQ{n}")).toast for n in range(22, 22 + WRONG_CODES.burst)]
        assert toasts == ["No duel with this code: open your own with /duel."] * WRONG_CODES.burst
        for way in ways:
            assert "Too many wrong codes" in (await way(code)).toast
        # The challenge's button works in the group that shows it.
        assert "Too many wrong codes" not in (await zoe.press("Play", GROUP)).toast
        assert "I don’t know the game" not in (await anna.say("/duel QQQQ99", anna.private)).toast


async def test_forgetting_erases_unseen_invitations(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno", "Carla") as (worker, (anna, bruno, carla)):
        await meet(anna, bruno)
        await anna.say("/duel @carla testa", GROUP)
        await worker.blocks.add(bruno.person.id, anna.person.id, "Anna")
        await anna.say("/duel @bruno testa", GROUP)
        assert "Anna" not in (await bruno.say("/duel", bruno.private)).panel.plain  # type: ignore[union-attr]
        codes = [duel.code for duel in await own_duels(anna)]
        await meet(carla)
        feature = worker.feature(DuelsFeature)
        for player in (bruno, carla):
            assert len((await feature.mydata(player.person.id, 0.0))["duels"]) == 1
            await worker.feature(PrivacyFeature).forgetter.begin(player.person.id)
            while not (await forgetting_marks(store.client))[player.person.id].is_erased:
                await asyncio.sleep(0.01)
        for code in codes:
            stored_duel = b"".join((await store.client.hgetall(keys.duel(code))).values()).lower()
            assert b"bruno" not in stored_duel
            assert b"carla" not in stored_duel
            assert b"paper:2" not in stored_duel
        assert not [key async for key in store.client.scan_iter("duels:of:*@*")]


async def test_accepted_duel_keeps_no_handle(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (_worker, (anna, bruno)):
        await meet(anna)
        await anna.say("/duel @bruno testa", GROUP)
        await bruno.press("Play", GROUP)
        duel = await find_duel(anna)
        assert duel.is_accepted
        assert duel.invited is None


async def test_list_survives_a_forgetting_during_a_write(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        stored, list_for = duels_of(worker).store, DuelStore.list_for
        await meet(anna, bruno)

        async def forget_after(own: DuelStore, person: str, code: str, opened: int) -> None:
            await list_for(own, person, code, opened)
            monkeypatch.setattr(DuelStore, "list_for", list_for)
            await store.client.delete(keys.of_person(person))

        monkeypatch.setattr(DuelStore, "list_for", forget_after)
        duel = await duels_of(worker).open(anna.person, "testa", "u1")
        assert [one.code for one in await stored.of_person(anna.person.id)] == [duel.code]
        monkeypatch.setattr(DuelStore, "list_for", forget_after)
        await duels_of(worker).accept(duel.code, bruno.person)
        assert [one.code for one in await stored.of_person(bruno.person.id)] == [duel.code]


async def test_kill_after_accepting_loses_no_message(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        duel = await duels_of(worker).open(anna.person, "testa", "u1")
        accept = DuelStore.accept

        async def accept_and_stop(*args: Any) -> bool:
            await accept(*args)
            raise asyncio.CancelledError

        monkeypatch.setattr(DuelStore, "accept", accept_and_stop)
        with pytest.raises(asyncio.CancelledError):
            await duels_of(worker).accept(duel.code, bruno.person)
        await run_loops(worker)
        assert "Bruno has accepted your duel." in last_text(anna)
        assert await store.client.zcard(keys.MESSAGES) == 2


async def test_messages_wait_for_the_acceptance(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        feature = worker.feature(DuelsFeature)
        duel = await feature.duels.open(anna.person, "testa", "u1")
        await feature.messages.add(duel.code, "accepted", 0, 0)
        await feature.messages.add(duel.code, "soon", 0, 0)
        await run_loops(worker)
        assert await store.client.zcard(keys.MESSAGES) == 2
        assert "duel" not in last_text(anna)


async def test_kill_during_closing_delays_the_end_by_a_minute(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        duel = await duels_of(worker).open(anna.person, "testa", "u1")
        await duels_of(worker).accept(duel.code, bruno.person)
        set_fields = DuelStore._set

        async def set_and_stop(*args: Any) -> int:
            await set_fields(*args)
            raise asyncio.CancelledError

        monkeypatch.setattr(DuelStore, "_set", set_and_stop)
        with pytest.raises(asyncio.CancelledError):
            await duels_of(worker).leave_all(anna.person.id)
        monkeypatch.setattr(DuelStore, "_set", set_fields)
        pass_time(monkeypatch, 90)
        await run_loops(worker)
        assert "duel" in last_text(bruno)
        assert (await find_duel(bruno)).is_ended


async def test_decline_is_announced_once_and_undoes_no_acceptance(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        await anna.say("/duel @bruno testa", anna.private)
        duels, duel = duels_of(worker), await find_duel(anna)
        await duels.decline(duel.code, bruno.person)
        await run_loops(worker)
        count = len(all_texts(anna))
        await duels.decline(duel.code, bruno.person)
        await run_loops(worker)
        assert len(all_texts(anna)) == count
        second = await duels.open(anna.person, "testa", "u2")
        await duels.accept(second.code, bruno.person)
        for reason in ("declined", "cancelled"):
            await duels.store.close(second.code, reason, duels.now())
        assert not (await duels.store.load(second.code)).closing
        with pytest.raises(DuelIsAccepted):
            await duels.decline(second.code, anna.person)
        with pytest.raises(NotYourDuel):
            await duels.decline(second.code, Person("paper:9", "Zoe"))


async def test_withdrawn_duels_count_for_a_day_and_then_go(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await meet(anna)
        duels = duels_of(worker)
        for number in range(MAX_OPEN):
            duel = await duels.open(anna.person, "testa", f"u{number}")
            await duels.decline(duel.code, anna.person)
        await run_loops(worker)
        with pytest.raises(TooManyDuels):
            await duels.open(anna.person, "testa", "more")
        for duel in await own_duels(anna):
            assert 0 < await store.client.ttl(keys.duel(duel.code)) <= DAY
            await store.client.delete(keys.duel(duel.code))
        assert not await own_duels(anna)
        assert not await store.client.exists(keys.of_person(anna.person.id))
        await duels.open(anna.person, "testa", "more")


async def test_duels_opened_in_a_day_are_limited(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.features.duels.duels.MAX_OPENED_A_DAY", 3)
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        for number in range(3):
            duel = await duels_of(worker).open(anna.person, "testa", f"u{number}")
            await duels_of(worker).accept(duel.code, bruno.person)
            await duels_of(worker).store.close(duel.code, "time", 0)
        with pytest.raises(TooManyToday):
            await duels_of(worker).open(anna.person, "testa", "more")
        assert (await duels_of(worker).open(anna.person, "testa", "u0")).code
        pass_time(monkeypatch, DAY + 60)
        await duels_of(worker).open(anna.person, "testa", "more")


async def test_person_gets_one_message_about_repeated_challenges(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        await anna.say("/duel @bruno testa", anna.private)
        assert "hasn’t answered" in (await anna.say("/duel @bruno spades", anna.private)).toast
        await run_loops(worker)
        count = len(all_texts(bruno))
        await duels_of(worker).decline((await find_duel(anna)).code, anna.person)
        await anna.say("/duel @bruno spades", anna.private)
        await run_loops(worker)
        assert len(all_texts(bruno)) == count


async def test_rematch_is_possible_after_a_refusal_not_a_forgetting(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        duels = duels_of(worker)
        first = await duels.open(anna.person, "testa", "u1")
        await duels.accept(first.code, bruno.person)
        await duels.store.close(first.code, "time", 0)
        second = await duels.open_rematch(first.code, anna.person, "u2")
        await duels.decline(second.code, bruno.person)
        third = await duels.open_rematch(first.code, bruno.person, "u3")
        assert third.code != second.code
        assert (await duels.open_rematch(first.code, anna.person, "u4")).code == third.code
        await duels.forget(bruno.person.id, DuelPlayer("somebody:abc", "?"))
        with pytest.raises(NoRematch):
            await duels.open_rematch(first.code, anna.person, "u5")
        assert not (await duels.store.load(first.code)).can_rematch
