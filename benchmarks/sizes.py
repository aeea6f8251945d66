"""Sizes of a finished game and a person in the store, in a file and as bare text."""

import asyncio
import json

import typer

from bot.finished.archive import Archive
from bot.finished.archive_file import to_line
from bot.finished.game import FinishedGame
from bot.finished.ratings import BY_SCOPE, Ratings
from bot.people import People
from bot.platform import Person
from bot.robots.simulation import simulate
from bot.store import Store, keys
from engine import GAMES

GAMES_EACH = 40
PEOPLE = 1000
KINDS = ("pizzichino", "metamazzo", "tressette", "spades")
ENDED = 1_770_000_000


def make_game(kind: str, number: int) -> FinishedGame:
    """Return a game in a chat. Each person plays ten games."""
    seats = GAMES[kind].seats
    record = simulate(kind, {}, ["greedy"] * seats, f"size {kind} {number}")
    people = [f"telegram:{2 * 10**9 + number // 10 * seats + seat}" for seat in range(seats)]
    return FinishedGame(
        id=f"QWERTY-{number:06x}",
        code="QWERTY",
        ended=ENDED + number,
        people=people,
        chats=[f"telegram:-100{10**9 + number // 10}"],
        clock=86400,
        strict=False,
        record=record.model_copy(update={"seats": ["Giovanna Bianchi"] * seats}),
    )


async def count_bytes(store: Store, *patterns: str) -> float:
    """Return the bytes of the keys that match, by the store's own count."""
    return float(
        sum(
            [
                await store.client.memory_usage(key, samples=0)
                for pattern in patterns
                async for key in store.client.scan_iter(match=pattern, count=1000)
            ]
        )
    )


async def report(store: Store) -> None:
    """Empty the store, then measure and print the sizes."""
    typer.echo(
        f"a finished game, {GAMES_EACH} of each{'in the store':>29}{'its ratings':>14}{'in a file':>12}{'bare':>10}"
    )
    for kind in KINDS:
        await store.client.flushall()
        archive = Archive(store.client)
        games = [make_game(kind, number) for number in range(GAMES_EACH)]
        for game in games:
            await store.client.set(keys.game(game.id), game.to_bytes())
            await archive.assign_number(game.id)
        await Ratings(store.client, archive).catch_up()
        bytes_per_game = await count_bytes(store, keys.game("*"), keys.GAMES_ORDER) / GAMES_EACH
        rated = await count_bytes(store, *(kind("*") for kind in BY_SCOPE)) / GAMES_EACH
        filed = sum(len(to_line(1, game)) for game in games) / GAMES_EACH
        bare = sum(len(json.dumps(_bare_moves(game), separators=(",", ":"))) for game in games) / GAMES_EACH
        typer.echo(f"  {kind:42}{bytes_per_game:16,.0f} B{rated:12,.0f} B{filed:10,.0f} B{bare:8,.0f} B")
    await store.client.flushall()
    people = People(store.client)
    crowd = [
        Person(f"telegram:{2 * 10**9 + number}", "Giovanna Bianchi", f"giovanna{number}", "it")
        for number in range(PEOPLE)
    ]
    await asyncio.gather(*map(people.meet, crowd))
    bytes_per_person = await count_bytes(store, keys.person("*"), keys.handle("*", "*")) / PEOPLE
    bare = sum(len(person.id) + len(person.name) + len(person.handle) for person in crowd) / PEOPLE
    typer.echo(f"a person, profile and handle{'in the store':>32}{'bare':>12}")
    typer.echo(f"  {'':42}{bytes_per_person:16,.0f} B{bare:10,.0f} B")


def _bare_moves(game: FinishedGame) -> list[object]:
    """Return the parts that cannot be computed: each deal's secret and moves."""
    return [[deal.proof.secret if deal.proof else "", [move[:2] for move in deal.moves]] for deal in game.record.deals]
