"""What tests of a platform that is away have in common; see `fast_loop`."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.house import House

TWO_MINUTES, TEN_MINUTES = 120.0, 600.0

OURS = tuple(str(Path(__file__).parents[2] / folder) for folder in ("bot", "adapters"))


async def until(done: Callable[[], bool], seconds: float = 60.0) -> None:
    """Until something is so; the deadline is in real seconds."""
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, "it did not come to that"
        await asyncio.sleep(0.05)


async def play_unseen(house: House, person: str, moves: int) -> None:
    """Moves at somebody's table that come by another way, as from another platform."""
    [table] = await house.tables_of(person)
    for number in range(moves):
        table = await house.room.table(table.code)
        assert table.game
        seat = table.game.turn
        assert seat is not None
        move = next(one for one in table.game.legal_moves(seat) if one.startswith(("play", "pick")))
        chair = table.chairs[seat]
        assert chair
        await house.room.press(table.code, chair.person, table.version, move, f"unseen{number}")


def tasks_of_the_bot() -> list[str]:
    """The tasks that run code of the bot's and of the adapters', by name: not the libraries', nor the paper server's."""
    code: list[Any] = [getattr(task.get_coro(), "cr_code", None) for task in asyncio.all_tasks()]
    return sorted(one.co_qualname for one in code if one and one.co_filename.startswith(OURS))
