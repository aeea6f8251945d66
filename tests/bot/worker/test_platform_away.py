"""A platform outage or endless waits lose no message, send none twice and pile up no tasks."""

import asyncio
from random import Random

import pytest
from structlog.testing import capture_logs

from bot import platform
from bot.delivery import delivery, surface_waits
from bot.delivery.send_limiter import SendLimiter
from bot.platform import NotDelivered, PlatformFailure, SlowDown
from bot.rate_limiter import RateLimit
from bot.store import Store, keys
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker, play_until, seat_players
from tests.long import long

SURFACES = 3  # two hands and a board, with at most one task each


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "SHORTEST_WAIT", 0.0)
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 0.0002)
    monkeypatch.setattr(surface_waits, "MAX_RETRY_SECONDS", 0.002)
    monkeypatch.setattr(delivery, "RETRY_SECONDS", 0.01)


class FailingPlatform(FakePlatform):
    """A fake platform that fails some calls and keeps the highest number of simultaneous sync tasks."""

    def __init__(self) -> None:
        super().__init__()
        self.failures_left, self.error = 0, "wait"
        self.most_tasks = 0

    def _check(self, *args: object) -> None:
        super()._check(*args)  # type: ignore[arg-type]
        syncing = [task for task in asyncio.all_tasks() if "Delivery._run_sync" in repr(task.get_coro())]
        self.most_tasks = max(self.most_tasks, len(syncing))
        self.calls.clear()
        if self.failures_left:
            self.failures_left -= 1
            raise SlowDown(0.0001) if self.error == "wait" else PlatformFailure("no answer")


@pytest.mark.long
@pytest.mark.parametrize(("error", "times"), [("wait", 1000), long("wait", 10_000), ("away", 600)])
async def test_long_platform_failure_loses_and_repeats_nothing(store: Store, error: str, times: int) -> None:
    """The test makes many more attempts than a ten-minute outage, which has about twelve per surface."""
    fake = FailingPlatform()
    with capture_logs() as logs:
        await play_through_failures(store, fake, error, times)
    events = [line["event"] for line in logs if line["log_level"] in ("warning", "error")]
    assert events == ["platform_away"]


async def play_through_failures(store: Store, fake: FailingPlatform, error: str, times: int) -> None:
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        tasks = len(asyncio.all_tasks())
        table = (await worker.room.lists.tables_of(players[0].person.id))[0]
        fake.error, fake.failures_left, fake.most_tasks = error, times, 0
        # No message offers these moves, as if they came from old buttons or another platform.
        await play_unseen(worker, players, table.code, 12)
        async with asyncio.timeout(150):
            await worker.wait_until_idle()
        assert not fake.failures_left
        assert 0 < fake.most_tasks <= SURFACES
        assert not worker.delivery._tools.limiter._blocked
        for player in players:
            assert len(fake.messages[player.private]) == 1
        assert len(fake.messages[GROUP]) == 2
        checks = iter([False] * 8)
        await play_until(worker, players, Random(1), lambda: next(checks, True))
        assert not await store.changed_tables(range(keys.SHARDS))
        # One more task checks that the platform stays available.
        async with asyncio.timeout(20):
            while len(asyncio.all_tasks()) > tasks + 1:
                await asyncio.sleep(0.05)


async def test_waiting_messages_are_sent_once_platform_is_back(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long pauses do not delay the messages. Those that could have arrived already are sent too."""
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 3600.0)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno = Player(worker, fake, "Anna", 1), Player(worker, fake, "Bruno", 2)
        await anna.say("/challenge metamazzo")
        fake.errors[anna.private] = [NotDelivered("away")]
        fake.errors[bruno.private] = [PlatformFailure("no answer")]
        await bruno.press("Join", GROUP, settle=False)
        async with asyncio.timeout(10):
            while fake.errors[anna.private] or fake.errors[bruno.private]:
                await asyncio.sleep(0.001)
        assert not fake.messages[bruno.private]
        worker.delivery.resume_platform("paper")
        async with asyncio.timeout(10):
            await worker.wait_until_idle()
        for player in (anna, bruno):
            assert len(fake.messages[player.private]) == 1


async def play_unseen(worker: Worker, players: list[Player], code: str, moves: int) -> None:
    random = Random(7)
    for _ in range(moves):
        table = await worker.room.load_cached(code)
        assert table.game
        seat = table.game.turn
        assert seat is not None
        move = random.choice([move for move in table.game.legal_moves(seat) if move.startswith(("play", "pick"))])
        reply = await players[seat].send(f"1m{code}:{table.version}:{move}")
        assert not reply.toast
        await asyncio.sleep(0)


async def test_blocked_places_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.delivery.send_limiter.PLACES_CACHED", 100)
    limiter = SendLimiter(lambda _place: RateLimit())
    for number in range(1000):
        limiter.block(f"paper:g{number}", 0.0 if number else 60.0)
    assert len(limiter._blocked) <= 101
    assert not limiter.is_free("paper:g0")
