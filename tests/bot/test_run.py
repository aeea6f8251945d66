"""`buongioco run`, `export` and `rebuild` as a host calls them."""

import asyncio
import json
import os
import pty
import resource
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from redis.exceptions import ResponseError

from bot.cluster.shards import Shards
from bot.http.connections import OPEN_FILES, raise_file_limit
from bot.running import run as running_module
from bot.settings import NOTHING_TO_RUN, Settings
from bot.store import EmbeddedStore, Store, StoreError, StoreUnavailable, open_store
from bot.worker import Worker
from engine import load, read, verify
from tests.bot.command import environment, run_command
from tests.bot.fake_platform import FakePlatform, open_worker, play_until, seat_players
from tests.kills.bot_process import free_port
from tests.telegram.players import GROUP, Person, until
from tests.telegram.server import TOKEN, TelegramServer
from tests.telegram.server import Failure as TelegramFailure

BUONGIOCO = str(Path(sys.executable).with_name("buongioco"))


@pytest.mark.parametrize(
    ("soft", "hard", "allowed"),
    [
        (1024, 1_048_576, OPEN_FILES),
        (1024, resource.RLIM_INFINITY, OPEN_FILES),
        (1024, 4096, 4096),
        (100_000, 1_048_576, None),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, None),
    ],
)
def test_file_limit_is_raised_to_the_documented_number(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, allowed: int | None
) -> None:
    limits_set: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _resource: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _resource, limits: limits_set.append(limits))
    raise_file_limit()
    assert limits_set == ([] if allowed is None else [(allowed, hard)])


@contextmanager
def start_bot(folder: Path, port: int, **settings: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [BUONGIOCO, "run"],
        env=environment(folder, BUONGIOCO_PLAYGROUND_PORT=str(port), **settings),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 40
        while time.monotonic() < deadline and process.poll() is None:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
                break
            time.sleep(0.05)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def run_bot(folder: Path, port: int, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BUONGIOCO, "run"],
        env=environment(folder, BUONGIOCO_PLAYGROUND_PORT=str(port), **settings),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_bot_runs_until_sigterm(tmp_path: Path) -> None:
    port = free_port()
    with start_bot(tmp_path, port) as process:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
            assert json.load(answer)["healthy"]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as answer:
            assert b"Buongioco" in answer.read()
        if sys.platform == "linux":
            soft, hard = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
            assert soft >= min(hard, OPEN_FILES)

        # A second bot in the same folder exits with an error and leaves the first one alone.
        second = run_bot(tmp_path, free_port())
        assert second.returncode == os.EX_TEMPFAIL
        assert "Another bot is running" in second.stderr
        assert second.stderr.count("\n") == 1

        # The doctor can check a running bot.
        answer = run_command(
            tmp_path, "doctor", BUONGIOCO_PLAYGROUND_PORT=str(port), BUONGIOCO_DISCORD_TOKEN="secret-token"
        )
        assert "a bot is running with it" in answer.stdout
        assert "telegram: off" in answer.stdout
        assert f"ok     playground: http://127.0.0.1:{port}/, and a bot is serving it" in answer.stdout

        # With another folder it reports the port as taken.
        answer = run_command(tmp_path / "data", "doctor", BUONGIOCO_PLAYGROUND_PORT=str(port))
        assert answer.returncode == 1
        assert "wrong  playground: a bot with another data folder listens on 127.0.0.1" in answer.stdout
        assert "secret-token" not in answer.stdout + answer.stderr
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=20)
        assert process.returncode == 0
        events = [json.loads(line)["event"] for line in log.splitlines()]
        assert events[-1] == "bot_stopped"


@pytest.fixture
def sighup_handled() -> Iterator[None]:
    """Handle SIGHUP, so that it is not ignored and does not end the tests."""
    original = signal.signal(signal.SIGHUP, lambda *_: None)
    yield
    signal.signal(signal.SIGHUP, original)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.usefixtures("sighup_handled")
async def test_signal_stops_a_bot_that_is_starting(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals, ignored: bool
) -> None:
    if ignored:
        # `nohup` ignores SIGHUP. Other signals still end the bot.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    is_opening = asyncio.Event()

    @asynccontextmanager
    async def open_forever(_settings: Settings) -> AsyncIterator[Worker]:
        is_opening.set()
        await asyncio.Event().wait()
        raise AssertionError
        yield

    monkeypatch.setattr(running_module, "open_worker", open_forever)
    monkeypatch.setattr(running_module, "tune_garbage_collector", lambda: None)
    bot = asyncio.create_task(running_module.run(Settings(_env_file=None)))
    await is_opening.wait()
    os.kill(os.getpid(), number)
    if ignored:
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        os.kill(os.getpid(), signal.SIGTERM)
    async with asyncio.timeout(20):
        await bot


async def test_worker_with_another_time_zone_serves_nobody(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await Shards(store, alone=False, zone="Europe/Rome").join()

    @asynccontextmanager
    async def open_worker_without_adapters(settings: Settings) -> AsyncIterator[Worker]:
        yield Worker(store, settings, alone=False)

    served: list[object] = []
    monkeypatch.setattr(running_module, "open_worker", open_worker_without_adapters)
    monkeypatch.setattr(running_module, "load_adapters", served.append)
    monkeypatch.setattr(running_module, "tune_garbage_collector", lambda: None)
    monkeypatch.setattr(running_module, "JOIN_SECONDS", 0.0)
    with pytest.raises(StoreUnavailable, match="stop all of them before you start one with another"):
        await running_module.run(Settings(_env_file=None, data=tmp_path, time_zone="Asia/Tokyo"))
    assert not served


@pytest.mark.long
def test_unreachable_store_exits_with_tempfail(tmp_path: Path) -> None:
    answer = run_bot(tmp_path, free_port(), REDIS_URL=f"redis://127.0.0.1:{free_port()}/0")
    assert answer.returncode == os.EX_TEMPFAIL
    assert answer.stderr.count("\n") == 1
    assert "The store cannot be reached (ConnectionError)" in answer.stderr


async def test_start_retries_until_the_store_refuses_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_module, "RETRY_SECONDS", 0.0)
    errors: list[Exception | None] = [ConnectionError("away"), ResponseError("MISCONF Errors writing"), None]
    refusal = ResponseError("unknown command 'PEXPIRETIME'")

    async def start() -> None:
        if error := errors.pop(0):
            raise error

    await running_module._retry_start(start)
    errors += [refusal, None]
    with pytest.raises(StoreError, match=r"refuses the bot's commands .*PEXPIRETIME") as raised:
        await running_module._retry_start(start)
    assert not isinstance(raised.value, StoreUnavailable)
    assert errors == [None]


@pytest.mark.long
def test_taken_port_and_nothing_to_run_are_one_line_errors(tmp_path: Path) -> None:
    with socket.socket() as taken_socket:
        taken_socket.bind(("127.0.0.1", 0))
        taken_socket.listen()
        port = taken_socket.getsockname()[1]
        answer = run_bot(tmp_path, port)
        assert answer.returncode == 2
        [line] = [line for line in answer.stderr.splitlines() if not line.startswith("{")]
        assert f"cannot listen on 127.0.0.1, port {port}" in line
        assert "BUONGIOCO_PLAYGROUND_PORT" in line
    answer = run_bot(tmp_path, free_port(), BUONGIOCO_PLAYGROUND="false")
    assert answer.returncode == 2
    assert f"buongioco: {NOTHING_TO_RUN}" in answer.stderr.splitlines()


@pytest.mark.long
async def test_telegram_runs_even_if_the_playground_port_is_taken(tmp_path: Path) -> None:
    server = TelegramServer()
    await server.start()
    server.fail_next(
        "getMe", TelegramFailure(body=b"<html>Bad day</html>"), TelegramFailure(body=b'{"ok":true,"result":{}}')
    )
    with socket.socket() as taken_socket:
        taken_socket.bind(("127.0.0.1", 0))
        taken_socket.listen()
        tokens = {
            "BUONGIOCO_TELEGRAM_TOKEN": TOKEN,
            "BUONGIOCO_TELEGRAM_API_URL": server.url,
            "BUONGIOCO_PLAYGROUND_PORT": str(taken_socket.getsockname()[1]),
        }
        process = await asyncio.create_subprocess_exec(
            BUONGIOCO,
            "run",
            env=environment(tmp_path, **tokens),
            cwd=tmp_path,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            anna = Person(server, 1, "Anna")
            anna.say("/challenge testa")
            await until(lambda: any(message["from"]["is_bot"] for message in server.group(GROUP).messages.values()), 60)
            process.terminate()
            _, log = await asyncio.wait_for(process.communicate(), 20)
        finally:
            if process.returncode is None:
                process.kill()
                await process.communicate()
            await server.stop()
    assert process.returncode == 0
    assert b"Traceback" not in log
    log_entries = [json.loads(line) for line in log.splitlines()]
    [refusal] = [line for line in log_entries if line["event"] == "platform_refused"]
    assert refusal["platform"] == "playground"
    assert "BUONGIOCO_PLAYGROUND_PORT" in refusal["what_to_do"]
    assert [line["platform"] for line in log_entries if line["event"] == "platform_away"] == ["telegram"]


@pytest.mark.long
def test_host_link_is_in_a_private_file_without_terminal(tmp_path: Path) -> None:
    port = free_port()
    with start_bot(tmp_path, port, BUONGIOCO_PLAYGROUND_HOST="0.0.0.0") as process:  # noqa: S104
        result = run_command(tmp_path, "link")
        assert result.returncode == 0, result.stderr
        key = result.stdout.strip().partition("/chat#key=")[2]
        ticket = urllib.request.Request(f"http://127.0.0.1:{port}/ticket", data=key.encode(), method="POST")
        with urllib.request.urlopen(ticket) as answer:  # noqa: S310
            assert answer.read()
        file = tmp_path / "data" / "playground.link"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        process.send_signal(signal.SIGTERM)
        output, log = process.communicate(timeout=20)
        assert key not in output + log
        assert str(file) in log
    assert not file.exists()
    result = run_command(tmp_path, "link")
    assert result.returncode == 2
    assert f"There is no link: {file} exists while a bot runs" in result.stderr


@pytest.mark.long
def test_host_link_is_printed_on_a_terminal(tmp_path: Path) -> None:
    port = free_port()
    terminal, child_terminal = pty.openpty()
    process = subprocess.Popen(
        [BUONGIOCO, "run"],
        env=environment(tmp_path, BUONGIOCO_PLAYGROUND_PORT=str(port), BUONGIOCO_PLAYGROUND_HOST="0.0.0.0"),  # noqa: S104
        cwd=tmp_path,
        stdout=child_terminal,
        stderr=subprocess.DEVNULL,
    )
    os.close(child_terminal)
    try:
        output = b""
        while b"\n" not in output:
            output += os.read(terminal, 4096)
    finally:
        process.terminate()
        process.wait(20)
        os.close(terminal)
    assert b"Your host's link: http://" in output
    assert b"/chat#key=" in output


async def test_games_are_exported_and_ratings_rebuilt(tmp_path: Path) -> None:
    valkey = EmbeddedStore(tmp_path / "data")
    await valkey.start()
    async with open_store(valkey.url) as store:
        fake = FakePlatform()
        async with open_worker(store, fake) as worker:
            players = await seat_players(worker, fake, "testa", "to 11")
            texts = fake.texts
            await play_until(worker, players, Random(1), lambda: any(" beat" in text for text in texts("paper:100")))
            await worker.wait_until_idle()
            before: dict[Any, Any] = await store.client.hgetall("{games}:ratings:*|*|*")
            assert before
    await valkey.stop()
    output = tmp_path / "games.jsonl"
    answer = await asyncio.to_thread(run_command, tmp_path, "export", "--out", str(output))
    assert answer.returncode == 0
    assert answer.stderr == "1 game\n"
    record = read(output.read_text())
    verify(record)
    assert load(record).is_over
    assert (await asyncio.to_thread(run_command, tmp_path, "export", "--person", "paper:9")).stdout == ""
    assert len((await asyncio.to_thread(run_command, tmp_path, "export", "--chat", "paper:100")).stdout) > 100
    answer = await asyncio.to_thread(run_command, tmp_path, "rebuild")
    assert answer.stdout == "ratings rebuilt from 1 game\n"
    await valkey.start()
    async with open_store(valkey.url) as store:
        assert await store.client.hgetall("{games}:ratings:*|*|*") == before
    await valkey.stop()
