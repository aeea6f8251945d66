"""/healthz and /metrics: their port, permitted hosts and the image's health check."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.cli.health import health_address
from bot.handlers import Dispatcher
from bot.running.monitoring import PATHS, monitoring
from bot.settings import BadSetting, Settings
from bot.settings_reader import read_settings
from bot.store import Store
from bot.version import VERSION
from bot.worker import Worker
from tests.bot.command import environment
from tests.kills.bot_process import free_port
from tests.paths import ROOT
from tests.telegram.server import TOKEN, TelegramServer

EVERYWHERE = "0.0.0.0"  # noqa: S104


@asynccontextmanager
async def serve_monitoring(store: Store, **settings: Any) -> AsyncIterator[int]:
    """Serve the monitoring of a worker and yield its port."""
    port = free_port()
    worker = Worker(store, Settings(_env_file=None, monitoring_port=port, **settings))
    async with monitoring(Dispatcher(worker)):
        yield port


async def request_statuses(port: int, **headers: str) -> set[int]:
    statuses = set()
    async with aiohttp.ClientSession() as session:
        for path in PATHS:
            async with session.get(f"http://127.0.0.1:{port}{path}", headers=headers) as answer:
                statuses.add(answer.status)
    return statuses


@pytest.mark.parametrize(
    ("host", "name", "is_permitted"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "localhost:1", True),
        ("127.0.0.1", "[::1]:8766", True),
        ("127.0.0.1", "bot", True),
        ("127.0.0.1", "BOT:8766", True),
        ("127.0.0.1", "cards.internal", True),
        ("127.0.0.1", "192.0.2.7", False),
        (EVERYWHERE, "192.0.2.7", True),
        (EVERYWHERE, "bot.evil.example", False),
        (EVERYWHERE, "evil.example", False),
        (EVERYWHERE, "bot/", False),
        (EVERYWHERE, "", False),
    ],
)
async def test_monitoring_answers_only_permitted_hosts(store: Store, host: str, name: str, is_permitted: bool) -> None:
    async with serve_monitoring(store, monitoring_host=host, monitoring_names="Bot, cards.internal") as port:
        # The worker has not started, so it is unhealthy.
        assert await request_statuses(port, Host=name) == ({503, 200} if is_permitted else {403})
        assert await request_statuses(port, **{"Host": name, "X-Forwarded-For": "192.0.2.9"}) == {403}


async def test_monitoring_names_the_version(store: Store) -> None:
    async with serve_monitoring(store) as port, aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
        async with session.get("/healthz") as answer:
            assert (await answer.json())["version"] == VERSION
        async with session.get("/metrics") as answer:
            assert f'buongioco_build_info{{version="{VERSION}"}} 1.0' in (await answer.text()).splitlines()


async def test_monitoring_serves_nothing_else(store: Store) -> None:
    async with serve_monitoring(store) as port, aiohttp.ClientSession() as session:
        for method, path in (("GET", "/"), ("POST", "/healthz"), ("GET", "/chat")):
            async with session.request(method, f"http://127.0.0.1:{port}{path}") as answer:
                assert answer.status in (404, 405)


async def test_taken_monitoring_port_stops_the_start(store: Store) -> None:
    async with serve_monitoring(store) as port:
        worker = Worker(store, Settings(_env_file=None, monitoring_port=port))
        with pytest.raises(BadSetting, match="set BUONGIOCO_MONITORING_PORT"):
            async with monitoring(Dispatcher(worker)):
                pass


def test_health_check_finds_the_healthz_address() -> None:
    bot: dict[str, Any] = {"_env_file": None, "playground_port": 1, "telegram_token": "1:x"}
    hook: dict[str, Any] = {"telegram_webhook_url": "https://cards.example.org/x", "telegram_webhook_port": 3}
    assert health_address(Settings(**bot, monitoring_port=2, monitoring_host=EVERYWHERE)) == (EVERYWHERE, 2)
    assert health_address(Settings(**bot)) == ("127.0.0.1", 1)
    assert health_address(Settings(**bot, playground=False, **hook)) == ("127.0.0.1", 3)
    assert health_address(Settings(**bot, playground=False)) is None


@pytest.mark.parametrize("name", ["http://bot", "bot:8766", "b√t"])
@pytest.mark.usefixtures("no_settings")
def test_monitoring_names_must_be_host_names(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("BUONGIOCO_MONITORING_PORT", "")
    assert read_settings().monitoring_port is None
    monkeypatch.setenv("BUONGIOCO_MONITORING_NAMES", name)
    with pytest.raises(BadSetting, match="BUONGIOCO_MONITORING_NAMES must be names"):
        read_settings()


def health_check_command() -> list[str]:
    """Return the command of the image's health check, with this Python."""
    command = re.search(r"^HEALTHCHECK .*CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert command
    python, *words = json.loads(command[1])
    assert python == "python"
    return [sys.executable, *words]


@pytest.mark.long
async def test_frozen_bot_is_unhealthy_in_the_image(tmp_path: Path) -> None:
    server = TelegramServer()
    await server.start()
    variables = environment(
        tmp_path,
        BUONGIOCO_PLAYGROUND="false",
        BUONGIOCO_MONITORING_PORT=str(free_port()),
        BUONGIOCO_TELEGRAM_TOKEN=TOKEN,
        BUONGIOCO_TELEGRAM_API_URL=server.url,
    )

    async def run_check() -> tuple[int | None, str]:
        check = await asyncio.create_subprocess_exec(
            *health_check_command(),
            env=variables,
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await check.communicate()
        return check.returncode, output.decode()

    assert (await run_check())[0] == 1, "the check must fail before a bot runs"
    bot = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("buongioco")), "run", env=variables, cwd=tmp_path
    )
    try:
        async with asyncio.timeout(120):
            while (await run_check())[0] != 0:
                assert bot.returncode is None
        os.kill(bot.pid, signal.SIGSTOP)
        status, output = await run_check()
        assert (status, "timed out" in output) == (1, True), output
        os.kill(bot.pid, signal.SIGCONT)
        async with asyncio.timeout(60):
            while (await run_check())[0] != 0:
                assert bot.returncode is None
    finally:
        os.kill(bot.pid, signal.SIGCONT)
        bot.terminate()
        await bot.wait()
        await server.stop()


@pytest.mark.usefixtures("no_settings")
async def test_health_check_without_a_port_fails(tmp_path: Path) -> None:
    variables = environment(tmp_path, BUONGIOCO_PLAYGROUND="false", BUONGIOCO_TELEGRAM_TOKEN=TOKEN)
    check = await asyncio.create_subprocess_exec(
        *health_check_command(), env=variables, cwd=tmp_path, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await check.communicate()
    assert check.returncode == 1
    assert b"BUONGIOCO_MONITORING_PORT" in output
