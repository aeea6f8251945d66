"""`python -m benchmarks branches`: the time until *What if…?* opens a branch of a finished game.

Robots play games of every kind. A branch leaves the record at a random move, with another legal move if there is one.
The bot answers over HTTP, as for the page. The baselines, in the same run, are the replay of the record up to that move
in this process, and an HTTP request for the deal without the branch.
"""

import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from random import Random
from typing import NamedTuple

import aiohttp
import typer

from benchmarks.limits import BenchFailed
from benchmarks.site import bot_with_pages
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.robots.simulation import simulate
from bot.running import logs
from bot.store import Store, keys
from engine import GAMES, Record, load

GAMES_EACH = 5  # games of a kind
BRANCHES = 60  # branches of a kind
GOAL = 300.0  # milliseconds for 95 % of the branches


class Branch(NamedTuple):
    """A place in a finished game, and the move with which a branch leaves it there."""

    game: FinishedGame
    deal: int
    place: int
    move: str


class Times(NamedTuple):
    """Times in milliseconds: replay in this process, request for the deal, and request for the branch."""

    replay: list[float]
    deal: list[float]
    branch: list[float]


def run(branches: int = BRANCHES, seed: int = 1) -> None:
    """Measure branches of finished games of each kind."""
    logs.set_up("error")
    asyncio.run(_run(branches, seed))


async def _run(branches: int, seed: int) -> None:
    random, total = Random(seed), Times([], [], [])
    typer.echo(f"{branches} branches of {GAMES_EACH} games of each kind, in ms")
    typer.echo(f"{'':18}{'replay p50':>12}{'deal p50':>10}{'p95':>8}{'branch p50':>12}{'p95':>8}{'p99':>8}{'max':>8}")
    async with bot_with_pages() as (worker, port), aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
        for game in GAMES:
            game_ids = [await _store_game(worker.store, game, number) for number in range(GAMES_EACH)]
            times = await _measure(session, [choose_branch(random, random.choice(game_ids)) for _ in range(branches)])
            _report(game, times)
            for whole, new_times in zip(total, times, strict=True):
                whole.extend(new_times)
    _report("all", total)
    share_within_goal = sum(time <= GOAL for time in total.branch) / len(total.branch)
    typer.echo(f"{share_within_goal:.1%} of the branches open within {GOAL:.0f} ms")


async def _store_game(store: Store, game: str, number: int) -> FinishedGame:
    record = simulate(game, {}, ["greedy"] * GAMES[game].seats, f"branches {number}")
    people = [f"bench:{seat}" for seat in range(GAMES[game].seats)]
    finished = FinishedGame(
        id=f"B{list(GAMES).index(game)}{number:03}-{number:06x}",
        code=f"B{list(GAMES).index(game)}{number:03}",
        ended=int(time.time()),
        people=people,
        chats=[],
        clock=0,
        strict=False,
        record=record.model_copy(update={"seats": people}),
    )
    await store.client.set(keys.game(finished.id), finished.to_bytes())
    await Archive(store.client).assign_number(finished.id)
    return finished


def choose_branch(random: Random, game: FinishedGame) -> Branch:
    while True:
        deal = random.randint(1, len(game.record.deals))
        moves = game.record.deals[deal - 1].moves
        place = random.randrange(len(moves))
        position = load(game.record, deal, place)
        if position.turn is None:
            continue
        legal = [move for move in position.legal_moves(position.turn) if move.startswith("play ")]
        if other_moves := [move for move in legal if move != moves[place][1]] or legal:
            return Branch(game, deal, place, random.choice(other_moves))


async def _measure(session: aiohttp.ClientSession, branches: list[Branch]) -> Times:
    times = Times([], [], [])
    for branch in branches:
        path = f"/api/v1/games/{branch.game.id}/deals/{branch.deal}"
        times.replay.append(await _time(lambda branch=branch: _replay(branch.game.record, branch)))  # type: ignore[misc]
        times.deal.append(await _time(lambda path=path: _request(session, path)))  # type: ignore[misc]
        body = {"place": branch.place, "moves": [branch.move], "seat": None}
        times.branch.append(
            await _time(lambda path=path, body=body: _request(session, f"{path}/line", body))  # type: ignore[misc]
        )
    return times


async def _time(work: Callable[[], Awaitable[None]]) -> float:
    start = time.perf_counter()
    await work()
    return 1000 * (time.perf_counter() - start)


async def _replay(record: Record, branch: Branch) -> None:
    load(record, branch.deal, branch.place)


async def _request(session: aiohttp.ClientSession, path: str, body: object = None) -> None:
    method = "GET" if body is None else "POST"
    async with session.request(method, path, json=body) as answer:
        text = await answer.text()
        if answer.status != 200:
            raise BenchFailed(f"{path} answered {answer.status}: {text[:200]}")
        json.loads(text)


def _report(name: str, times: Times) -> None:
    deal, branch = (statistics.quantiles(measured, n=100) for measured in (times.deal, times.branch))
    typer.echo(
        f"{name:18}{statistics.median(times.replay):12.1f}{statistics.median(times.deal):10.1f}{deal[94]:8.1f}"
        f"{statistics.median(times.branch):12.1f}{branch[94]:8.1f}{branch[98]:8.1f}{max(times.branch):8.1f}"
    )
