"""A rebuild gives the same ratings after any games and forgettings."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from bot.features.privacy.forgetting import SECOND_PASS_SECONDS, Forgetter
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.finished.ratings import Ratings
from bot.identity.pseudonyms import forgetting_marks
from bot.people import People
from bot.store import Store
from bot.tables import Room
from tests.bot.finished.games import ENDED_AT, finished_game
from tests.bot.finished.test_unrated_games import resigned_game
from tests.long import mostly_long

PEOPLE = ("paper:1", "paper:2", "paper:3", "web:1", "web:2")
STEPS = 40


async def load_ratings(store: Store) -> dict[str, dict[str, str]]:
    client, ratings = store.client, dict[str, dict[str, str]]()
    async for key in client.scan_iter("{games}:*:*"):
        name = key.decode()
        if name.startswith("{games}:ranks:"):
            ratings[name] = {
                person.decode(): str(rating) for person, rating in await client.zrange(key, 0, -1, withscores=True)
            }
        elif name.startswith(("{games}:ratings:", "{games}:history:")):
            ratings[name] = {person.decode(): text.decode() for person, text in (await client.hgetall(key)).items()}
    return ratings


class RandomDays:
    """People who play, are forgotten and return, at random with a fixed seed."""

    def __init__(self, store: Store, seed: int) -> None:
        self.client, self.random = store.client, Random(seed)
        self.archive = Archive(store.client)
        self.ratings = Ratings(store.client, self.archive)
        self.forgetter = Forgetter(
            Room(store), People(store.client), self.archive, self.ratings, [], self.ignore_change
        )
        self.ended, self.now = ENDED_AT, 0.0
        self.forgetter.now = lambda: self.now

    async def ignore_change(self, key: str) -> None:
        """Ignore the change, because there is no other worker."""

    async def step(self, number: int) -> None:
        """Do one thing that changes ratings, usually a game."""
        chance = self.random.random()
        if chance < 0.7:
            await self.play(number)
        elif chance < 0.85:
            await self.ratings.catch_up()
        elif chance < 0.95:
            await self.forgetter.begin(self.random.choice(PEOPLE[1:]))
            await self.forgetter.work()
        else:
            await self.run_second_passes()

    async def run_second_passes(self) -> None:
        """Run all second passes. Returning people are strangers afterwards."""
        while await forgetting_marks(self.client):
            self.now += 2 * SECOND_PASS_SECONDS
            await self.forgetter.work()

    async def play(self, number: int) -> None:
        # Most games are of one pair and one day.
        people = PEOPLE[:2] if self.random.random() < 0.7 else self.random.sample(PEOPLE, 2)
        self.ended += self.random.choice([60] * 15 + [86400])
        game = replace(self.make_game(number, people), id=f"G{number}-1", code=f"G{number}", ended=self.ended)
        for person, mark in (await forgetting_marks(self.client)).items():
            game = game.redact(person, mark.pseudonym)
        await self.archive.keep(game)

    def make_game(self, number: int, people: Sequence[str]) -> FinishedGame:
        kind = self.random.randrange(6)
        if kind == 0:
            return replace(finished_game(number), people=list(people))
        if kind == 1:
            return replace(resigned_game(number, 3, people=tuple(people)), trial=self.random.random() < 0.5)
        # An earlier release stored some of the games.
        rules = 1 if kind == 2 and number < 5 else 2
        return replace(resigned_game(number, 20, people=tuple(people)), rating_rules=rules)


@pytest.mark.long
@pytest.mark.parametrize("seed", mostly_long(range(60), 0))
async def test_rebuild_gives_the_same_ratings(store: Store, seed: int) -> None:
    days = RandomDays(store, seed)
    for number in range(1, STEPS + 1):
        await days.step(number)
    await days.run_second_passes()
    await days.ratings.catch_up()
    before = await load_ratings(store)
    assert before
    for _ in range(2):
        await days.ratings.rebuild()
        assert await load_ratings(store) == before
