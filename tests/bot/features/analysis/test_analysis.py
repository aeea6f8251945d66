"""The analysis of a finished game: computed once, stored, shown to its players and their chat."""

import asyncio
import re

import pytest

from bot.features.analysis.pages import BAR_LENGTH
from bot.store import Store, keys
from bot.tables.snapshot import isolate_name
from engine.robots.verdicts import Verdict
from tests.bot.fake_platform import GROUP, FakePlatform, create_players, open_worker, play_cards, resign, seat_players


async def test_analysis_shows_progress_and_is_stored(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = create_players(worker, fake)
        assert "no finished game yet" in (await anna.say("/analyse")).toast
        players = await seat_players(worker, fake, "testa", "to 11")
        await play_cards(worker, players, 12)
        await resign(worker, fake, players, 0)
        [game] = [game async for game in worker.archive.games()]
        may_continue = asyncio.Event()
        verdicts = [Verdict(1, 3, 1, "play 4D", "play 3D", 1.5, exact=False)]
        calls = 0

        async def slow_verdicts(record: object, deal: int) -> list[Verdict]:
            nonlocal calls
            calls += 1
            await may_continue.wait()
            return verdicts

        worker.robot_pool.verdicts = slow_verdicts  # type: ignore[method-assign]
        await anna.say("/analyse")
        page = fake.last(anna.private)
        assert "Deals done: 0 of 1." in page.plain
        may_continue.set()
        await anna.press("Refresh")
        page = fake.last(anna.private)
        assert f"{isolate_name('Bruno')}: 0 % of 1 decision good" in page.plain
        assert "≈ −1.5 points" in page.plain
        # Later requests, by command or button, read the stored analysis.
        assert await store.client.get(keys.analysis(game.id))
        await bruno.press("Analysis", GROUP)
        own_page = fake.last(bruno.private)
        assert own_page.plain == page.plain
        assert calls == 1
        # Only the player of a costly move has a button that leads to it.
        assert [button.label for row in own_page.rows for button in row] == ["Deal 1: your 4🪙", "Replay"]
        assert [button.label for row in page.rows for button in row] == ["Replay"]


async def test_buttons_of_costliest_moves_follow_the_text(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        _anna, bruno, *_ = players = await seat_players(worker, fake, "testa", "to 11")
        await play_cards(worker, players, 12)
        await resign(worker, fake, players, 0)

        async def verdicts(record: object, deal: int) -> list[Verdict]:
            # Two verdicts on the move at 3: its card and its declaration.
            moves = [(3, "play 4D", 5.0), (5, "play 5D", 9.5), (7, "play 6D", 1.0), (3, "play 4D", 4.0)]
            return [Verdict(1, index, 1, move, "play 3D", lost, exact=False) for index, move, lost in moves]

        worker.robot_pool.verdicts = verdicts  # type: ignore[method-assign]
        await bruno.press("Analysis", GROUP)
        page = fake.last(bruno.private)
        labels = [button.label for row in page.rows for button in row]
        assert labels == ["Deal 1: your 5🪙", "Deal 1: your 4🪙", "Deal 1: your 6🪙", "Replay"]


async def test_analysis_below_a_result_leaves_the_result(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "testa", "to 11")

        async def no_verdicts(record: object, deal: int) -> list[Verdict]:
            return []

        worker.robot_pool.verdicts = no_verdicts  # type: ignore[method-assign]
        await play_cards(worker, players, 12)
        await resign(worker, fake, players, 0)
        anna = players[0]
        before = fake.texts(anna.private)
        assert "You lose: you resigned." in before[-1]
        await anna.press("Analysis", anna.private)
        await worker.wait_until_idle()
        assert fake.texts(anna.private)[: len(before)] == before
        assert len(fake.texts(anna.private)) == len(before) + 1


@pytest.mark.long
async def test_real_analysis_is_shown_in_italian(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "testa", "to 11")
        players[0].person = players[0].person._replace(language="it")
        await players[0].say("/settings", players[0].private)
        await players[0].press("Italiano")
        await play_cards(worker, players, 36)
        await resign(worker, fake, players, 1)
        await players[0].say("/analisi", players[0].private)
        for _ in range(60):
            if "in corso" not in fake.last(players[0].private).plain:
                break
            await players[0].press("Aggiorna")
        assert "decisioni" in fake.last(players[0].private).plain
        assert re.search(f"[▰▱]{{{BAR_LENGTH}}}", fake.last(players[0].private).plain)


async def test_anyone_in_a_chat_can_analyse_its_last_game(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "testa")
        await resign(worker, fake, players, 0)
        carla = create_players(worker, fake)[2]
        assert "Sent to your private chat" in (await carla.say("/analyse")).toast
        assert "Analysis of" in fake.last(carla.private).plain
        assert "no finished game yet" in (await carla.say("/analyse", carla.private)).toast
        [game] = [game async for game in worker.archive.games()]
        await store.client.delete(keys.game(game.id))
        assert "no longer in the archive" in (await carla.press("Analysis", GROUP)).toast


async def test_failed_analysis_is_reported_and_can_be_repeated(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "testa")
        await resign(worker, fake, players, 0)
        real_verdicts = worker.robot_pool.verdicts

        async def failing_verdicts(record: object, deal: int) -> list[Verdict]:
            raise RuntimeError("the worker is gone")

        worker.robot_pool.verdicts = failing_verdicts  # type: ignore[method-assign]
        assert "went wrong" in (await players[0].say("/analyse")).toast
        worker.robot_pool.verdicts = real_verdicts  # type: ignore[method-assign]
        assert "Sent to your private chat" in (await players[0].say("/analyse")).toast
