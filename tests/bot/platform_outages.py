"""Helpers for tests of platform outages, which run on the loop in `fast_loop`."""

import asyncio
import time
from collections.abc import Callable, MutableMapping
from typing import Any

from bot.worker import Worker
from tests.paths import ROOT

TWO_MINUTES, TEN_MINUTES = 120.0, 600.0

OWN_FOLDERS = tuple(str(ROOT / folder) for folder in ("bot", "adapters"))


async def wait_until(is_done: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for a condition, with a deadline in real seconds."""
    deadline = time.monotonic() + seconds
    while not is_done():
        assert time.monotonic() < deadline, f"the condition was not met within {seconds} seconds"
        await asyncio.sleep(0.05)


async def play_unseen(worker: Worker, person: str, moves: int) -> None:
    """Play moves at a person's table as if they came from another platform."""
    [table] = await worker.room.lists.tables_of(person)
    for number in range(moves):
        table = await worker.room.table(table.code)
        assert table.game
        seat = table.game.turn
        assert seat is not None
        move = next(move for move in table.game.legal_moves(seat) if move.startswith(("play", "pick")))
        chair = table.chairs[seat]
        assert chair
        await worker.room.make_move(table.code, chair.person, table.version, move, f"unseen{number}")


def bot_tasks() -> list[str]:
    """Return the names of tasks that run code of the bot or its adapters."""
    codes: list[Any] = [getattr(task.get_coro(), "cr_code", None) for task in asyncio.all_tasks()]
    return sorted(code.co_qualname for code in codes if code and code.co_filename.startswith(OWN_FOLDERS))


def check_outage_logged(logs: list[MutableMapping[str, Any]]) -> None:
    """Check that the log has one line each for the start and the end of the outage.

    Another cause can add one line, because a call can fail before the adapter knows the cause.
    """
    outage_lines = [line for line in logs if line["log_level"] != "debug" and "store" not in line["event"]]
    causes = [line for line in outage_lines if line["event"] == "platform_still_away"]
    assert [line["event"] for line in outage_lines if line not in causes] == ["platform_away", "platform_back"]
    assert len(causes) <= 1
    assert outage_lines[0]["why"] not in [line["why"] for line in causes]
