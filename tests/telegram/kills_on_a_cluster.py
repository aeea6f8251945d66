"""The kill harness with three workers on a cluster of three primaries and their replicas, on a webhook.

python -m tests.telegram.kills_on_a_cluster --kills 300 --seed 1

Presses go to any worker. A worker, a primary or both are killed while people continue to play. A killed primary comes
back as a replica. `tests.kills.invariants` has the checks.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from benchmarks.cluster import LocalCluster, Node
from bot.store import open_store
from tests.kills.bot_process import Bot, free_port
from tests.kills.harness import Harness, main
from tests.kills.invariants import Disagreement
from tests.telegram.balancer import run_balancer
from tests.telegram.kills import TelegramPage
from tests.telegram.server import TOKEN, TelegramServer

WORKERS = 3
PATIENCE = 60.0  # seconds after a primary's kill until its replica must be primary


class Crew(Bot):
    """Three workers on a cluster instead of one bot."""

    def __init__(self, folder: Path, cluster: LocalCluster, ports: list[int], **settings: str) -> None:
        super().__init__(folder)
        self.cluster = cluster
        self.workers = [Worker(folder, port, **settings, BUONGIOCO_TELEGRAM_WEBHOOK_PORT=str(port)) for port in ports]

    async def start(self) -> None:
        for worker in self.workers:
            if not worker.is_running:
                await worker.start()

    @property
    def is_running(self) -> bool:
        return any(worker.is_running for worker in self.workers)

    async def kill(self) -> None:
        for worker in self.workers:
            await worker.kill()

    def kill_store(self) -> None:
        """Do nothing: `on_a_cluster` stops the cluster."""


class Worker(Bot):
    def __init__(self, folder: Path, port: int, **settings: str) -> None:
        super().__init__(folder, **settings)
        self.port = port


class CrewPage(TelegramPage):
    """The messages of people on Telegram. A press lost with one worker is delivered to another."""

    bot: Crew
    patience = 20.0

    def complaints(self) -> list[str]:
        """Ignore late answers: the fake server delivers updates to the webhook one by one, so kills delay them."""
        open_presses = [press for press in self.server.unanswered_presses() if "is open" in press]
        return [*open_presses, *self.server.rate_violations()]

    async def connect(self, session: aiohttp.ClientSession) -> None:
        for worker in self.bot.workers:
            await worker.wait_until_healthy(session)


class ClusterHarness(Harness):
    """A harness with three workers on a cluster."""

    victims = ("worker", "primary", "both")
    check_every = 20  # rounds; a check takes long, because tables are idle only once a killed worker's lease ends

    page: CrewPage

    @property
    def store_url(self) -> str:
        return self.page.bot.cluster.url

    async def play_round(self, session: aiohttp.ClientSession, kill: str) -> None:
        """Play, kill, and play until presses work again and the cluster is complete."""
        crew = self.page.bot
        await crew.start()
        await self.page.connect(session)
        await self.players.begin()
        try:
            await self._wait_until_played()
            await asyncio.sleep(self.random.uniform(0.1, 0.5))
            self._count_kill(kill)
            start = time.perf_counter()
            if kill in ("worker", "both"):
                await self.random.choice(crew.workers).kill()
            if kill in ("primary", "both"):
                await self._fail_over(crew.cluster)
            await self._wait_until_presses_work()
            self.start_seconds.append(time.perf_counter() - start)
            await crew.start()
            await asyncio.to_thread(crew.cluster.wait_until_healthy)
            await asyncio.sleep(self.random.uniform(0.0, 0.3))
        finally:
            await self.players.end()

    async def _fail_over(self, cluster: LocalCluster) -> None:
        """Kill a primary, wait for its replica to take over, and start it again."""
        primary = self.random.choice(await asyncio.to_thread(cluster.primaries))
        replica = await asyncio.to_thread(cluster.replica_of, primary)
        primary.kill()
        if not await _wait_until_primary(replica):
            raise Disagreement(f"no replica became primary within {PATIENCE:.0f} seconds")
        primary.start()

    async def check(self, session: aiohttp.ClientSession) -> None:
        """Wait until delivery is idle, and check the state while the workers run."""
        crew = self.page.bot
        await crew.start()
        await self.page.connect(session)
        await self.players.repeat_unanswered()
        async with open_store(self.store_url) as store:
            await self.wait_until_idle(store)
            await self.check_state(store)


async def _wait_until_primary(node: Node) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if await asyncio.to_thread(lambda: node.is_primary):
            return True
        await asyncio.sleep(0.05)
    return False


@asynccontextmanager
async def on_a_cluster(folder: Path) -> AsyncIterator[CrewPage]:
    server = TelegramServer()
    await server.start()
    ports = [free_port() for _ in range(WORKERS)]
    cluster = LocalCluster(folder)
    try:
        await asyncio.to_thread(cluster.start)
        async with run_balancer(ports) as front:
            settings = {
                "REDIS_URL": cluster.url,
                "BUONGIOCO_STORE_REPLICAS": "1",
                "BUONGIOCO_PLAYGROUND": "false",
                "BUONGIOCO_TELEGRAM_TOKEN": TOKEN,
                "BUONGIOCO_TELEGRAM_API_URL": server.url,
                "BUONGIOCO_TELEGRAM_WEBHOOK_URL": f"http://127.0.0.1:{front}/cards",
            }
            yield CrewPage(Crew(folder, cluster, ports, **settings), server)
    finally:
        cluster.stop()
        await server.stop()


if __name__ == "__main__":
    main(on_a_cluster, ClusterHarness)
