"""The dashboard and alerts of dist/, tested with a real Prometheus and a bot with running games."""

import asyncio
import json
import math
import re
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import aiohttp
import pytest
import yaml

from bot.store import EmbeddedStore
from tests.browser import find_tool
from tests.e2e.program import play_a_robot
from tests.kills.bot_process import Bot, free_port
from tests.kills.pages import Page
from tests.kills.players import Players
from tests.test_dist import DIST

WAIT_SECONDS = 120.0
VARIABLES = {"$__rate_interval": "2m", "$job": "buongioco", "$instance": ".*"}


def fill_in(query: str) -> str:
    """Return a query of the dashboard with values for its variables."""
    for name, value in VARIABLES.items():
        query = query.replace(name, value)
    assert "$" not in query
    return query


def configure(folder: Path, bot: Bot) -> None:
    """Write the configuration of dist/ with the bot's port. Scrape every second, and let alerts fire at once."""
    config = (DIST / "prometheus" / "prometheus.yml").read_text()
    assert "127.0.0.1:8765" in config
    config = config.replace("127.0.0.1:8765", f"127.0.0.1:{bot.port}").replace("15s", "1s")
    (folder / "prometheus.yml").write_text(f"global: {{evaluation_interval: 1s}}\n{config}")
    alerts = (DIST / "prometheus" / "alerts.yml").read_text()
    (folder / "alerts.yml").write_text(re.sub(r"^ +for: .*\n", "", alerts, flags=re.MULTILINE))


class Prometheus:
    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self._url, self._session = url, session

    async def is_ready(self) -> bool:
        with suppress(aiohttp.ClientConnectionError):
            async with self._session.get(f"{self._url}/-/ready") as answer:
                return answer.status == 200
        return False

    async def get(self, path: str, **parameters: str) -> Any:
        async with self._session.get(f"{self._url}/api/v1/{path}", params=parameters) as answer:
            body = await answer.json()
            assert body["status"] == "success", body
            return body["data"]

    async def query(self, expression: str) -> list[float]:
        """Return the values of a query, without NaN."""
        result = (await self.get("query", query=expression))["result"]
        return [value for row in result if not math.isnan(value := float(row["value"][1]))]

    async def find_firing_alerts(self) -> set[str]:
        alerts = (await self.get("alerts"))["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}


async def wait_until_firing(prometheus: Prometheus, *alerts: str) -> None:
    async def is_firing() -> bool:
        return set(alerts) <= await prometheus.find_firing_alerts()

    await wait_until(is_firing, f"alerts {alerts}")


@asynccontextmanager
async def run_prometheus(folder: Path, session: aiohttp.ClientSession) -> AsyncIterator[Prometheus]:
    port = free_port()
    command = [find_tool("prometheus", package="prometheus"), f"--config.file={folder / 'prometheus.yml'}"]
    command += [f"--storage.tsdb.path={folder / 'series'}", f"--web.listen-address=127.0.0.1:{port}"]
    with (folder / "prometheus.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=log)
    prometheus = Prometheus(f"http://127.0.0.1:{port}", session)
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            while not await prometheus.is_ready():
                assert process.returncode is None, (folder / "prometheus.log").read_text()
                await asyncio.sleep(0.1)
        yield prometheus
    finally:
        process.kill()
        await process.wait()


async def wait_until(condition: Callable[[], Awaitable[Any]], description: str) -> None:
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            while not await condition():
                await asyncio.sleep(0.3)
    except TimeoutError:
        pytest.fail(f"no {description} after {WAIT_SECONDS:g} s")


@asynccontextmanager
async def people_at_play(bot: Bot, session: aiohttp.ClientSession) -> AsyncIterator[None]:
    """Run games between people on the playground."""
    page = Page(bot)
    await page.connect(session)
    players = Players(page, Random(1))

    async def fill_tables() -> None:
        while True:
            await players.fill_tables(3)
            await asyncio.sleep(0.5)

    listening = asyncio.create_task(page.listen())
    await players.begin()
    filling = asyncio.create_task(fill_tables())
    yield
    filling.cancel()
    await players.end()
    listening.cancel()


@pytest.mark.long
def test_promtool_accepts_alerts_and_configuration() -> None:
    tool = find_tool("promtool", package="prometheus")
    for kind, name in (("rules", "alerts.yml"), ("config", "prometheus.yml")):
        done = subprocess.run(
            [tool, "check", kind, DIST / "prometheus" / name], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


LOST_WORKERS = """
rule_files: [alerts.yml]
tests:
  - input_series:
      - {series: 'up{job="buongioco", instance="a"}', values: "1 1 _x9"}
    alert_rule_test:
      - {alertname: BuongiocoDown, eval_time: 1m}
      - alertname: BuongiocoDown
        eval_time: 10m
        exp_alerts:
          - exp_labels: {severity: critical, job: buongioco}
            exp_annotations: {summary: The bot does not answer.}
"""


@pytest.mark.long
def test_alert_fires_if_prometheus_finds_no_worker(tmp_path: Path) -> None:
    tool = find_tool("promtool", package="prometheus")
    (tmp_path / "alerts.yml").write_text((DIST / "prometheus" / "alerts.yml").read_text())
    (tmp_path / "test.yml").write_text(LOST_WORKERS)
    result = subprocess.run([tool, "test", "rules", tmp_path / "test.yml"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.long
async def test_dashboard_has_data_and_alerts_fire_without_the_store(tmp_path: Path, embedded: EmbeddedStore) -> None:
    bot = Bot(tmp_path, REDIS_URL=embedded.url)
    dashboard = json.loads((DIST / "grafana" / "buongioco.json").read_text())
    rules = yaml.safe_load((DIST / "prometheus" / "alerts.yml").read_text())["groups"][0]["rules"]
    configure(tmp_path, bot)
    async with aiohttp.ClientSession() as session, run_prometheus(tmp_path, session) as prometheus:
        try:
            await bot.start()
            await bot.wait_until_healthy(session)
            async with people_at_play(bot, session):
                await play_a_robot(bot, embedded.url, session, "easy")
                for panel in dashboard["panels"]:
                    for target in panel["targets"]:
                        query = fill_in(target["expr"])
                        await wait_until(partial(prometheus.query, query), f"data for {panel['title']}: {query}")
            for rule in rules:
                # A rule that cannot be evaluated fails here.
                await prometheus.query(rule["expr"])
            assert await prometheus.find_firing_alerts() == set(), bot.log_tail()
            await embedded.stop()
            # The bot also logs that its store failed.
            await wait_until_firing(prometheus, "BuongiocoStoreDown", "BuongiocoErrors")
            await bot.kill()
            await wait_until_firing(prometheus, "BuongiocoDown")
        finally:
            await bot.kill()
