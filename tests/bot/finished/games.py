"""Finished games for stores: a few records of random robots, reused for different people."""

from dataclasses import replace
from functools import cache

from bot.finished.game import FinishedGame
from bot.robots.simulation import simulate
from bot.store import Store, keys
from engine import GAMES, Record

ENDED_AT = 1_770_000_000  # Unix seconds


@cache
def simulate_record(game: str, seed: int) -> Record:
    return simulate(game, {}, ["random"] * GAMES[game].seats, f"finished {seed}")


def finished_game(number: int, game: str = "testa", ended: int | None = None) -> FinishedGame:
    """Return a unique game by its number. Two of three people play it in a chat."""
    record = simulate_record(game, number % 3)
    people = [f"paper:{1 + (number + seat) % 3}" for seat in range(2)] * (GAMES[game].seats // 2)
    return FinishedGame(
        id=f"T{number:03}-{number:06x}",
        code=f"T{number:03}",
        ended=ENDED_AT + number if ended is None else ended,
        people=people,
        chats=["paper:100"],
        clock=86400,
        strict=False,
        record=record.model_copy(update={"seats": [f"Name {person}" for person in people]}),
    )


async def store_game(store: Store, game: FinishedGame) -> None:
    """Store a game as `Archive.add` does, without a table."""
    from bot.finished.archive import Archive  # noqa: PLC0415

    await store.client.set(keys.game(game.id), game.to_bytes(), nx=True)
    await Archive(store.client).assign_number(game.id)


def rename_player(game: FinishedGame, name: str) -> FinishedGame:
    names = [name, *game.record.seats[1:]]
    return replace(game, record=game.record.model_copy(update={"seats": names}))
