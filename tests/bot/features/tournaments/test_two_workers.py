"""A tournament at two workers. One of them stops in the middle of a round."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from itertools import count
from random import Random

import pytest

from bot.features.tournaments.feature import TournamentsFeature
from bot.features.tournaments.log_entries import Result, decode
from bot.features.tournaments.tournament import Form, Tournament
from bot.handlers import Dispatcher
from bot.handlers.press_limits import RequestLimits
from bot.platform import Command, Person, Press, Reply, private_place
from bot.store import EmbeddedStore, Store, open_store
from bot.store.log import strip_stamp
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, open_worker
from tests.bot.features.tournaments.field import scores_in_order
from tests.bot.worker.fleet import LenientPlatform

PEOPLE = tuple(Person(f"paper:{number}", f"Player {number}", f"p{number}", "en") for number in range(1, 7))


class TwoWorkers:
    """Two workers on one store and platform. Updates reach them at random."""

    def __init__(self, url: str, seed: int) -> None:
        self.url, self.random, self.fake = url, Random(seed), LenientPlatform()
        self.workers: list[tuple[AsyncExitStack, Worker, Dispatcher]] = []
        self._updates = count(1)

    async def add(self) -> None:
        stack = AsyncExitStack()
        store = await stack.enter_async_context(open_store(self.url))
        worker = await stack.enter_async_context(open_worker(store, self.fake, alone=False))
        dispatcher = Dispatcher(worker)
        dispatcher.limits = RequestLimits(on=False)
        self.workers.append((stack, worker, dispatcher))
        for _stack, current, _dispatcher in (*self.workers, *self.workers):
            await current.shards.balance()

    async def stop(self, worker: Worker) -> None:
        """Stop a worker and let the other take its shards."""
        [entry] = [entry for entry in self.workers if entry[1] is worker]
        self.workers.remove(entry)
        await entry[0].aclose()
        for _stack, current, _dispatcher in self.workers:
            await current.shards.balance()

    async def close(self) -> None:
        for _stack, worker, _dispatcher in list(self.workers):
            await self.stop(worker)

    @property
    def leader(self) -> Worker:
        [worker] = [worker for _stack, worker, _dispatcher in self.workers if worker.shards.is_leader]
        return worker

    async def say(self, person: Person, name: str, *arguments: str) -> Reply:
        command = Command(f"u{next(self._updates)}", person, GROUP, name, arguments)
        return await self.random.choice(self.workers)[2].handle_command(command)

    async def press(self, person: Person, place: str, message: str, payload: str) -> None:
        """Deliver a press to one worker or to both at once."""
        press = Press(f"u{next(self._updates)}", person, place, message, payload, genuine=True)
        reached = self.random.sample(self.workers, self.random.randint(1, len(self.workers)))
        await asyncio.gather(*(dispatcher.handle_press(press) for _stack, _worker, dispatcher in reached))

    async def press_card(self, person: Person, verb: str) -> None:
        message, payload = await self.button(GROUP, verb)
        await self.press(person, GROUP, message, payload)

    async def button(self, place: str, verb: str) -> tuple[str, str]:
        async with asyncio.timeout(30):
            while True:
                for message, panel in self.fake.messages[place].items():
                    for button in (button for row in panel.rows for button in row):
                        if button.payload.endswith(f" {verb}"):
                            return message, button.payload
                await asyncio.sleep(0.01)

    def moves(self, person: Person) -> list[tuple[str, str]]:
        return [
            (message, button.payload)
            for message, panel in self.fake.messages[private_place(person.id)].items()
            for row in panel.rows
            for button in row
            if button.payload.startswith("1m") and not button.payload.endswith((":claim", ":resign"))
        ]

    async def play(self) -> int:
        """Let each player on turn play a card, or rarely resign. Return the number of moves."""
        count = 0
        for person in PEOPLE:
            if moves := self.moves(person):
                message, payload = self.random.choice(moves)
                if self.random.random() < 0.03:
                    payload = f"{payload.rpartition(':')[0]}:resign"
                await self.press(person, private_place(person.id), message, payload)
                count += 1
        await asyncio.sleep(0.01)
        return count


@pytest.fixture
async def two_workers(embedded: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TwoWorkers]:
    monkeypatch.setattr("bot.features.tournaments.feature.POLL_SECONDS", 0.05)
    workers = TwoWorkers(embedded.url, 1)
    for _ in range(2):
        await workers.add()
    yield workers
    await workers.close()


async def load_tournament(store: Store) -> Tournament:
    [key] = [key async for key in store.client.scan_iter("{tour:*}:log")]
    code = key.decode().partition(":")[2].partition("}")[0]
    return Tournament(code).with_stored_entries(await store.client.lrange(key, 0, -1))


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("form", ["duplicate", "knockout", "league"])
async def test_tournament_survives_the_stop_of_its_worker(
    two_workers: TwoWorkers, embedded: EmbeddedStore, form: Form
) -> None:
    async with open_store(embedded.url) as store:
        await two_workers.say(PEOPLE[0], "tournament", "testa", "11")
        for person in PEOPLE[1:]:
            await two_workers.press_card(person, "enter")
        [code] = await two_workers.leader.feature(TournamentsFeature).director.tournaments.live_codes()
        card, _payload = await two_workers.button(GROUP, "enter")
        for verb in (f"set form {form}", "start"):
            await two_workers.press(PEOPLE[0], GROUP, card, f"1ptournament {code} {verb}")
        moves = 0
        while moves < 40:
            moves += await two_workers.play()

        first = two_workers.leader
        assert not (await load_tournament(store)).is_round_over
        await two_workers.stop(first)
        assert two_workers.leader is not first
        while moves < 80:
            moves += await two_workers.play()
        await two_workers.add()
        while (await load_tournament(store)).is_live:
            await two_workers.play()

        async with asyncio.timeout(60):
            while (
                len(two_workers.fake.texts(GROUP)) < 2
                or await two_workers.leader.feature(TournamentsFeature).director.tournaments.live_codes()
            ):
                await asyncio.sleep(0.05)
        # No message is sent a second time.
        for _ in range(20):
            await asyncio.sleep(0.05)
            for _stack, worker, _dispatcher in two_workers.workers:
                await worker.wait_until_idle()

        finished = await load_tournament(store)
        assert (finished.phase, finished.form, len(finished.teams)) == ("over", form, len(PEOPLE))
        worker = two_workers.leader
        games = [game async for game in worker.archive.games()]
        expected = [deal for match in finished.matches if not match.is_bye for deal in match.deals]
        assert len(games) == len(expected)
        assert set(Counter(game.fixture for game in games).values()) == {1}
        results = [
            entry for line in finished.entries if isinstance(entry := decode(strip_stamp(line).decode()), Result)
        ]
        assert set(Counter((result.round, result.match, result.deal) for result in results).values()) == {1}
        assert {result.ending for result in results} <= {"played", "resign"}
        scores = scores_in_order(finished, games)
        assert scores == sorted(scores, reverse=True)
        card, announcement = two_workers.fake.texts(GROUP)
        assert "🏆" in card
        assert "🥇" in announcement
        assert not await worker.feature(TournamentsFeature).director.tournaments.live_codes()
