"""The kill harness distinguishes a slow machine from a bot that has stopped working."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bot.store import EmbeddedStore, Store
from tests.bot.fake_platform import FakePlatform, code_of, open_worker, seat_players
from tests.kills.bot_process import Bot
from tests.kills.harness import Harness
from tests.kills.invariants import Disagreement
from tests.kills.pages import Page


def create_harness(folder: Path, store_url: str, fill_tables: Callable[[int], Awaitable[None]]) -> Harness:
    """Create a harness that calls `fill_tables` instead of pressing buttons. No bot acknowledges these calls."""

    class UnacknowledgedHarness(Harness):
        patience = 0.3

        @property
        def store_url(self) -> str:
            return store_url

    (folder / "bot.log").touch()
    harness = UnacknowledgedHarness(Page(Bot(folder)), 1)
    players: Any = SimpleNamespace(acknowledged=set(), fill_tables=fill_tables)
    harness.players = players
    return harness


async def test_unacknowledged_presses_count_if_moves_are_made(
    store: Store, shared_valkey: EmbeddedStore, tmp_path: Path
) -> None:
    """On Discord a deferred press is not acknowledged, and a busy machine defers every press."""
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        code = await code_of(worker, (await seat_players(worker, fake, "metamazzo"))[0])
        moves_made: list[object] = []

        async def press(_count: int) -> None:
            table = await worker.room.table(code)
            assert table.game
            assert table.game.turn is not None
            mover = table.chairs[table.game.turn]
            assert mover
            move = next(move for move in table.game.legal_moves(table.game.turn) if move.startswith("play"))
            moves_made.append(
                await worker.room.make_move(code, mover.person, table.version, move, f"press {len(moves_made)}")
            )

        await create_harness(tmp_path, shared_valkey.url, press)._wait_until_presses_work()
        assert moves_made


async def test_presses_without_moves_do_not_count(store: Store, shared_valkey: EmbeddedStore, tmp_path: Path) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        await seat_players(worker, fake, "metamazzo")

        async def press(_count: int) -> None:
            """Do nothing."""

        with pytest.raises(Disagreement, match="no move was made"):
            await create_harness(tmp_path, shared_valkey.url, press)._wait_until_presses_work()


@pytest.mark.parametrize("acknowledges", [True, False])
async def test_only_rounds_without_progress_fail(tmp_path: Path, acknowledges: bool) -> None:
    """On a slow machine, a whole round can take longer than the patience."""

    async def press(_count: int) -> None:
        if acknowledges:
            harness.players.acknowledged.add(f"press {len(harness.players.acknowledged)}")

    harness = create_harness(tmp_path, "", press)
    harness.patience, harness.min_presses = 0.0, 4
    if acknowledges:
        await harness._wait_until_played()
        return
    with pytest.raises(Disagreement, match="no press was acknowledged"):
        await harness._wait_until_played()
