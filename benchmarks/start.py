"""`python -m benchmarks start`: the cost of starting a command, and the size of an idle bot.

The baselines, in the same rounds, are Python alone, and Python with the libraries that the bot needs. Bytecode is
cached, as after any first start.
"""

import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import typer

from benchmarks.limits import PATIENCE, BenchFailed
from bot.settings import variable_names

ROUNDS = 5

COMMAND = [sys.executable, "-c", "from bot.cli.main import main; main()"]
GAMES = "buongioco games"
# Two baselines, and the cheapest command. Each is measured from start to end.
COMMANDS = {
    "python, nothing more": [sys.executable, "-c", "pass"],
    "import aiohttp, redis.asyncio, pydantic": [sys.executable, "-c", "import aiohttp, redis.asyncio, pydantic"],
    GAMES: [*COMMAND, "games"],
}


def environment(folder: Path, port: int, path: str = "") -> dict[str, str]:
    """Return an environment without the host's own settings. ``path`` are folders of the bot's source."""
    unwanted = {*variable_names(), "PYTHONDONTWRITEBYTECODE"}
    kept_variables = {name: value for name, value in os.environ.items() if name not in unwanted}
    if path:
        kept_variables["PYTHONPATH"] = path
    return {**kept_variables, "BUONGIOCO_DATA": str(folder / "data"), "BUONGIOCO_PLAYGROUND_PORT": str(port)}


def measure_command(command: list[str], folder: Path, path: str = "") -> float:
    """Return the user and system CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        subprocess.run(
            command,
            env=environment(folder, 0, path),
            cwd=folder,
            stdout=subprocess.DEVNULL,
            check=True,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        raise BenchFailed(f"waited {PATIENCE:g} s for {' '.join(command[1:])}") from None
    except subprocess.CalledProcessError as error:
        raise BenchFailed(f"{' '.join(command[1:])} ended with exit code {error.returncode}") from None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@contextmanager
def healthy_bot(folder: Path, path: str = "") -> Iterator[int]:
    """Run a bot with the playground and its own store. Yield its process number once it is healthy."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    errors = folder / "errors"
    with errors.open("w") as file:
        bot = subprocess.Popen([*COMMAND, "run"], env=environment(folder, port, path), cwd=folder, stderr=file)
    try:
        deadline = time.monotonic() + PATIENCE
        while not is_healthy(port):
            if bot.poll() is not None:
                raise BenchFailed(f"the bot ended before it was healthy; its output: {errors.read_text()}")
            if time.monotonic() > deadline:
                raise BenchFailed(f"waited {PATIENCE:g} s for the bot's /healthz; its output: {errors.read_text()}")
            time.sleep(0.02)
        yield bot.pid
    finally:
        bot.send_signal(signal.SIGTERM)
        bot.wait(PATIENCE)


def is_healthy(port: int) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=PATIENCE) as answer:
        return bool(answer.status == 200)
    return False


def process_usage(process: int) -> tuple[float, float]:
    """Return CPU seconds of a process with its children (store and guard), and its own memory in bytes (Linux)."""
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    spent = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # The name can contain spaces and brackets. After it come fields 3 and up of proc(5).
            fields = path.read_text().rpartition(")")[2].split()
            if process in (int(path.parent.name), int(fields[1])):
                spent += sum(map(int, fields[11:15]))
    return spent / ticks, int(Path(f"/proc/{process}/statm").read_text().split()[1]) * page


def run() -> None:
    """Measure the CPU of a command and of the bot until healthy, and an idle bot's memory, next to bare Python."""
    cpu: dict[str, list[float]] = {name: [] for name in COMMANDS}
    until_healthy, memory = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # The first round writes the bytecode.
        for number in range(ROUNDS + 1):
            for label, command in COMMANDS.items():
                spent = measure_command(command, folder)
                if number:
                    cpu[label].append(spent)
            if not Path("/proc/self/stat").exists():
                continue
            with healthy_bot(folder) as bot:
                seconds, size = process_usage(bot)
                if number:
                    until_healthy.append(seconds)
                    memory.append(size)
    for label, times in cpu.items():
        typer.echo(f"{label:48}{statistics.median(times):8.2f} s of CPU")
    if not memory:
        typer.echo("The bot until it is healthy is measured on Linux only.")
        return
    typer.echo(f"{'buongioco run, until healthy, store and guard':48}{statistics.median(until_healthy):8.2f} s of CPU")
    typer.echo(
        f"{'the idle bot, playground only, without its store':48}{statistics.median(memory) / 1e6:8.0f} MB of memory"
    )
