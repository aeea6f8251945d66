"""Messages to players about unrated guests on trial and games given up early."""

import asyncio
from random import Random

import pytest

from bot.features.privacy.feature import PrivacyFeature
from bot.finished import archive
from bot.finished.ratings import Scope
from bot.identity import programs
from bot.identity.programs import is_web_guest
from bot.store import Store
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player, code_of, open_worker, play_until, seat_players

TRIAL = "Not rated: a guest’s games count"
GIVEN_UP = "The game was given up, so the winner gains nothing this time."


async def give_up(worker: Worker, fake: FakePlatform, plays: int, loser: int = 0) -> str:
    """Play some cards, let a player resign, and return the result shown in the group."""
    players = await seat_players(worker, fake, "testa")
    code = await code_of(worker, players[0])

    def is_enough() -> bool:
        table = worker.room.cached_table(code)
        assert table
        assert table.game
        return sum(move.startswith("play ") for _, move in table.game.moves) >= plays

    await play_until(worker, players, Random(plays), is_enough)
    await resign(worker, players[loser])
    return next(text for text in reversed(fake.texts(GROUP)) if "resigned" in text)


async def resign(worker: Worker, player: Player) -> None:
    await player.say("/resign", player.private)
    await player.press("Yes, I resign")
    await worker.wait_until_idle()


async def test_guests_are_rated_after_three_finished_games(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "GUESTS", "paper:")
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        # The player who resigns does not finish the game, so after six games each has finished three.
        results = [await give_up(worker, fake, 10, number % 2) for number in range(7)]
        assert [TRIAL in result for result in results] == [True] * 6 + [False]
        assert ["Rating: " in result for result in results] == [False] * 6 + [True]
        [*_, last] = [game async for game in worker.archive.games()]
        for person in last.people:
            assert (await worker.ratings.standing(Scope(), person)).games == 1


async def test_guest_without_a_name_stays_unrated(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "GUESTS", "paper:")
    monkeypatch.setattr(archive, "is_guest_name", lambda name: name == "Bruno")
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        results = [await give_up(worker, fake, 10, number % 2) for number in range(7)]
        assert all(TRIAL in result for result in results)


async def test_early_resignation_explains_the_missing_gain(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        early, late = await give_up(worker, fake, 2), await give_up(worker, fake, 12)
        assert GIVEN_UP in early
        assert early.count("provisional") == 2
        assert GIVEN_UP not in late
        assert TRIAL not in early + late


async def test_robot_game_does_not_mention_the_trial(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "GUESTS", "paper:")
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        player = Player(worker, fake, "Anna", 1)
        await player.say("/start", player.private)
        await worker.challenges.open_practice("testa", player.person.id, "Anna", "easy", "open", host=player.private)
        await worker.wait_until_idle()
        await resign(worker, player)
        assert [text for text in fake.texts(player.private) if "resigned" in text]
        assert not [text for text in fake.texts(player.private) if TRIAL in text]
        [game] = [game async for game in worker.archive.games()]
        assert not game.trial


async def test_forgetting_a_guest_on_trial_raises_no_rating(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "GUESTS", "paper:2")
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "testa")
        code = await code_of(worker, players[0])

        def is_enough() -> bool:
            table = worker.room.cached_table(code)
            return bool(table and table.game and len(table.game.moves) >= 20)

        await play_until(worker, players, Random(1), is_enough)
        guest, other = sorted(players, key=lambda player: is_web_guest(player.person.id), reverse=True)
        await worker.feature(PrivacyFeature).forgetter.begin(guest.person.id)
        async with asyncio.timeout(60):
            while not await worker.archive.count():
                await asyncio.sleep(0)
        await worker.ratings.catch_up()
        [game] = [game async for game in worker.archive.games()]
        assert game.record.ending == "resign"
        assert (await worker.ratings.standing(Scope(), other.person.id)).games == 0


async def test_earlier_releases_can_read_finished_games(store: Store) -> None:
    """Workers of earlier releases can rate games of the same store, and refuse unknown fields."""
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        await give_up(worker, fake, 10)
        players = await seat_players(worker, fake, "testa")
        code = await code_of(worker, players[0])

        def is_over() -> bool:
            table = worker.room.cached_table(code)
            return table is None or table.phase == "over"

        await play_until(worker, players, Random(1), is_over)
        await worker.wait_until_idle()
        given_up, played_out = [game async for game in worker.archive.games()]
        assert played_out.record.ending not in ("resign", "timeout")
        assert given_up.fields.keys() - played_out.fields.keys() == {"rating_rules", "winner_gains"}
