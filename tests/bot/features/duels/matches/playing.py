"""Two groups on the fake platform, and their matches."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from bot.features.duels import keys
from bot.features.duels.duel import DEALS, SIDES, Duel, Played
from bot.features.duels.duels import Duels
from bot.features.duels.feature import DuelsFeature
from bot.features.duels.matches.match import Match
from bot.features.duels.matches.matches import Matches
from bot.solo_deals.results import SoloResult
from bot.store import Store
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker

OTHER = "paper:200"
NAMES = ("Anna", "Bruno", "Carla", "Dino")
"""The first two are members of the first group, the others of the second."""


def group_of(number: int) -> str:
    return GROUP if number < 2 else OTHER


@asynccontextmanager
async def open_groups(
    store: Store, names: Sequence[str] = NAMES, fake: FakePlatform | None = None
) -> AsyncIterator[tuple[Worker, FakePlatform, list[Player]]]:
    """Run a worker with people in two groups. A ``fake`` platform keeps its messages when the bot starts again."""
    fake = fake or FakePlatform()
    async with open_worker(store, fake) as worker:
        await worker.people.update_chat(GROUP, name="Bar Sport")
        await worker.people.update_chat(OTHER, name="Circolo")
        players = [Player(worker, fake, name, number) for number, name in enumerate(names, 1)]
        for player in players:
            await player.say("/start", player.private)
        yield worker, fake, players


def matches_of(worker: Worker) -> Matches:
    return worker.feature(DuelsFeature).matches


async def run_loops(worker: Worker) -> None:
    """Let duels, matches and their messages advance until nothing is left to do now."""
    feature = worker.feature(DuelsFeature)
    for _ in range(3):
        await feature.duels.close_due()
        await worker.wait_until_idle()
        # The worker's own loop might look at a match at the same time, and set it due later.
        for code in await worker.store.client.zrange(keys.MATCHES_DUE, 0, -1):
            await feature.matches.store.touch(code.decode())
        await feature.boards.update_due()
        await worker.delivery.answers.tasks.wait()
        await feature.messages.send_due(feature.duels.now)


def pass_time(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    for kind in (Duels, Matches):
        monkeypatch.setattr(kind, "now", lambda _self: int(time.time() + seconds))


async def match_in(worker: Worker, place: str = GROUP) -> Match:
    """Return a group's last match."""
    store = matches_of(worker).store
    return await store.load(await store.code_in(place))


async def open_match(worker: Worker, players: Sequence[Player], words: str = "testa") -> Match:
    """Let the first player's group open a match, and the third player's group accept it."""
    await players[0].say(f"/match {words}", GROUP)
    match = await match_in(worker)
    await players[2].say(f"/match {match.code}", OTHER)
    await run_loops(worker)
    return await match_in(worker)


async def begin_match(worker: Worker, players: Sequence[Player]) -> Match:
    await open_match(worker, players)
    for number, player in enumerate(players):
        await player.press("Sign up", group_of(number))
    await run_loops(worker)
    await players[0].press("Start", GROUP)
    await run_loops(worker)
    return await match_in(worker)


async def store_results(worker: Worker, duel: Duel, side: int, margin: int, deals: int = DEALS) -> None:
    """Store results of a side's deals, as if they had been played."""
    duels = worker.feature(DuelsFeature).duels
    for deal in range(1, deals + 1):
        deal_result = Played(SoloResult((6 + margin, 6), "10"), f"G{side}-{deal}")
        assert await duels.store.store_result(duel.code, side, deal, deal_result)
    await duels._settle(duel.code)


async def play_all(worker: Worker, match: Match, margins: Sequence[tuple[int, int]]) -> None:
    """Finish all duels, with these margins of both sides in each deal."""
    for duel, pair in zip(await matches_of(worker).duels_of(match), margins, strict=True):
        for side in SIDES:
            await store_results(worker, duel, side, pair[side])


def strip_isolates(text: str) -> str:
    """Return a text without the marks that isolate names."""
    return text.translate(dict.fromkeys(map(ord, "\u2068\u2069")))


def board(fake: FakePlatform, place: str) -> str:
    """Return the text of the only message about a match in a group."""
    [text] = [strip_isolates(text) for text in fake.texts(place) if "🏟️ Match" in text]
    return text
