"""`python -m benchmarks compare REV`: compare this source with another revision on the same machine.

Each side runs its own benchmarks from its own source, with this environment's packages. Figures are parsed from the
output, so old revisions can be measured too. A missing figure is a dash, with the reason on stderr. The cost of
starting commands is measured from outside, in the same way for both.
"""

import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from benchmarks import start
from benchmarks.limits import BenchFailed

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 10.0  # seconds until an interrupted benchmark must end
PIN = re.compile(r"^([\w.-]+)==([^\s;\\]+)", re.MULTILINE)


class Bench(NamedTuple):
    """A benchmark to run. It is stopped after ``times`` lines that begin with ``line``."""

    arguments: tuple[str, ...]
    limit: float  # seconds
    line: str = ""
    times: int = 1


class Figure(NamedTuple):
    """A figure in a benchmark's output. It is the median of the matches of ``above``, divided by that of ``below``."""

    label: str
    bench: str
    above: str
    below: str = ""
    before: str = ""  # if set, only the output before this text counts

    def read(self, output: str) -> float | None:
        """Return the figure; None if the output lacks it."""
        text = output.partition(self.before)[0] if self.before else output
        above, below = (_find_numbers(pattern, text) for pattern in (self.above, self.below))
        if not above or (self.below and not below):
            return None
        return statistics.median(above) / (statistics.median(below) if below else 1.0)


BENCHES = {
    "room": Bench(("presses", "--tables", "100"), 300),
    "telegram": Bench(("presses", "--adapter", "telegram"), 300, "bare library", 2),
    "discord": Bench(("presses", "--adapter", "discord"), 400, "bare library:", 3),
    "engine": Bench(("engine",), 400, "light: copy"),
    "inline": Bench(("presses", "--adapter", "telegram", "--inline"), 200, "bare library"),
    "find": Bench(("find",), 120),
}
WHOLE, BARE = r"^whole bot, [^:]*: ", r"^bare library(?: over aiohttp)?: "
SPEED, CPU = r"([\d,]+) presses/s,", r"[\d,]+ presses/s, ([\d.]+) ms of CPU"
FIGURES = (
    Figure("room, flat out, presses/s", "room", rf"at once: {SPEED}"),
    Figure("room, flat out, ms of CPU a press", "room", rf"at once: {CPU}"),
    Figure("room, flat out, function calls a press", "room", r"at once: ([\d,]+) function calls a press"),
    Figure(
        "room, p99 at 200/s, in bare appends' p99",
        "room",
        r"live tables, 200 presses/s: .*?p99 ([\d.]+)",
        r"bare appends at 200/s: .*?p99 ([\d.]+)",
    ),
    Figure("Telegram, whole bot to bare library, presses/s", "telegram", WHOLE + SPEED, BARE + SPEED),
    Figure("Telegram, whole bot to bare library, by CPU", "telegram", BARE + CPU, WHOLE + CPU),
    Figure("Discord, whole bot to bare library, presses/s", "discord", WHOLE + SPEED, BARE + SPEED),
    Figure("Discord, whole bot to bare library, by CPU", "discord", BARE + CPU, WHOLE + CPU),
    Figure(
        "Discord, acknowledged at 200/s, p99 ms", "discord", r" 200 presses/s asked.*acknowledgement .*?p99 ([\d.]+)"
    ),
    Figure(
        "Discord, acknowledged at seven tables, p99 ms", "discord", r"at 7 tables: .*acknowledgement .*?p99 ([\d.]+)"
    ),
    Figure(
        "engine's public API, moves/s, all games' median",
        "engine",
        r"^[a-z]+ +([\d,]+) +[\d,]+ +(?:nan|[\d.]+)$",
        before="\nlight:",
    ),
    Figure(
        "inline queries at 100/s, p99 ms",
        "inline",
        r"^whole bot, .*inline queries/s, .*query to answer .*?p99 ([\d.]+)",
    ),
    Figure("matching 1,000 people, ms of CPU", "find", r"^mixed +match +([\d.]+)"),
)
GAMES, HEALTHY, MEMORY = "buongioco games, s of CPU", "run until healthy, s of CPU", "the idle bot, MB"
START = "start"


class Side(NamedTuple):
    """A revision's name and the folders in which Python finds it."""

    name: str
    path: str


def _find_numbers(pattern: str, text: str) -> list[float]:
    matches = re.findall(pattern, text, re.MULTILINE) if pattern else []
    return [float(number.replace(",", "")) for number in matches]


def _git(*arguments: str) -> str:
    git_result = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    if git_result.returncode:
        raise BenchFailed(f"git {' '.join(arguments[:2])}: {(git_result.stderr.splitlines() or ['it failed'])[-1]}")
    return git_result.stdout.strip()


@contextmanager
def check_out(revision: str) -> Iterator[Side]:
    """Check out a revision into a worktree, with its own entry points, because their modules can differ."""
    name = _git("rev-parse", "--short", "--verify", f"{revision}^{{commit}}")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        _git("worktree", "add", "--detach", str(source), name)
        try:
            project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
            metadata_folder = Path(folder) / "about" / "buongioco-0.dist-info"
            metadata_folder.mkdir(parents=True)
            (metadata_folder / "METADATA").write_text(f"Name: buongioco\nVersion: {project.get('version', '0')}\n")
            groups = [
                "\n".join([f"[{group}]", *(f"{key} = {target}" for key, target in entries.items())])
                for group, entries in project.get("entry-points", {}).items()
            ]
            (metadata_folder / "entry_points.txt").write_text("\n".join(groups))
            yield Side(name, os.pathsep.join((str(metadata_folder.parent), str(source))))
        finally:
            _git("worktree", "remove", "--force", str(source))


def differing_packages(side: Side) -> list[str]:
    """Return a line for each package that a revision pins at another version.

    Both sides run with this environment's packages.
    """
    pins = [
        dict(PIN.findall(path.read_text()) if (path := Path(folder) / "requirements.txt").exists() else ())
        for folder in (side.path.split(os.pathsep)[-1], ROOT)
    ]
    return [
        f"{name} {pins[0].get(name, '(none)')} / {pins[1].get(name, '(none)')}"
        for name in sorted(pins[0].keys() | pins[1].keys())
        if pins[0].get(name) != pins[1].get(name)
    ]


def command_of(side: Side) -> list[str]:
    """Return the command that runs a side's benchmarks. In old revisions it is `buongioco bench`."""
    has_package = (Path(side.path.split(os.pathsep)[-1]) / "benchmarks").is_dir()
    return [sys.executable, "-m", "benchmarks"] if has_package else [*start.COMMAND, "bench"]


def output_of(bench: Bench, side: Side) -> str:
    """Return a benchmark's output up to the last line needed.

    Raises BenchFailed if it ends earlier or takes too long.
    """
    output_lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        environment = {**start.environment(Path(folder), 0, side.path), "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(
            [*command_of(side), *bench.arguments],
            env=environment,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        assert process.stdout
        started = time.monotonic()
        timer = threading.Timer(bench.limit, process.kill)
        timer.start()
        try:
            matches = 0
            for line in process.stdout:
                output_lines.append(line)
                matches += bool(bench.line) and line.startswith(bench.line)
                if bench.line and matches >= bench.times:
                    break
            else:
                if process.wait():
                    errors.seek(0)
                    last_line = (errors.read().splitlines() or [f"exit code {process.returncode}"])[-1][:200]
                    raise BenchFailed(
                        f"no figures within {bench.limit:g} s"
                        if time.monotonic() > started + bench.limit
                        else last_line
                    )
        finally:
            timer.cancel()
            _interrupt(process)
    return "".join(output_lines)


def _interrupt(process: subprocess.Popen[str]) -> None:
    """Let a benchmark end its own processes, because a leftover store would slow the next measurement."""
    # Send the signal twice: Python handles one that comes just before a blocking call only after that call.
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            continue
        return
    process.kill()
    process.wait()


def measure_bench(name: str, side: Side) -> dict[str, float]:
    """Return a benchmark's figures by label, without missing ones."""
    output = output_of(BENCHES[name], side)
    figures = {figure.label: figure.read(output) for figure in FIGURES if figure.bench == name}
    return {label: value for label, value in figures.items() if value is not None}


def measure_start(side: Side) -> dict[str, float]:
    """Measure the cost of a command, and of the bot until it is healthy."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start.measure_command([*start.COMMAND, "games"], folder, side.path)
        found = {GAMES: start.measure_command([*start.COMMAND, "games"], folder, side.path)}
        if Path("/proc/self/stat").exists():
            with start.healthy_bot(folder, side.path) as bot:
                found[HEALTHY], size = start.process_usage(bot)
                found[MEMORY] = size / 1e6
    return found


MEASURES: dict[str, Callable[[Side], dict[str, float]]] = {
    **{name: (lambda side, name=name: measure_bench(name, side)) for name in BENCHES},  # type: ignore[misc]
    START: measure_start,
}
LABELS = (*(figure.label for figure in FIGURES), GAMES, HEALTHY, MEMORY)


def command(
    revision: Annotated[str, typer.Argument(metavar="REV", help="A commit, tag or branch of this repository.")],
    rounds: Annotated[int, typer.Option(min=1, help="How many times to measure each side.")] = 3,
    only: Annotated[list[str] | None, typer.Option(help=f"One of {', '.join(MEASURES)}. Can be repeated.")] = None,
) -> None:
    """Compare this source with another revision of the repository."""
    benches = only or list(MEASURES)
    if unknown_names := set(benches) - set(MEASURES):
        raise typer.BadParameter(f"There is no {unknown_names.pop()!r}; there are: {', '.join(MEASURES)}.")
    # Signals must remove the worktree and end the running benchmark.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Background jobs of a script ignore SIGINT by default, and so do their children, but SIGINT must end the
    # benchmarks.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with check_out(revision) as before:
        if differing := differing_packages(before):
            typer.echo(
                f"{before.name} / now pin different versions; both run with those of now: {', '.join(differing)}",
                err=True,
            )
        sides = (before, Side("now", str(ROOT)))
        found: Results = {side.name: [{} for _ in range(rounds)] for side in sides}
        try:
            measure(sides, benches, found)
        finally:
            # A comparison takes a long time, so report partial results too.
            report(before, found)


Results = dict[str, list[dict[str, float]]]  # each side's figures by label, per round


def measure(sides: tuple[Side, Side], benches: list[str], results: Results) -> None:
    """Measure round by round, and print figures as they come. A benchmark that fails on a side is not repeated."""
    failed_benches: set[tuple[str, str]] = set()
    rounds = len(results[sides[0].name])
    for number in range(rounds):
        for name in benches:
            for side in sides if number % 2 == 0 else sides[::-1]:
                if (name, side.name) in failed_benches:
                    continue
                started, step = time.monotonic(), f"round {number + 1} of {rounds}, {name} at {side.name}"
                try:
                    figures = MEASURES[name](side)
                except BenchFailed as failure:
                    failed_benches.add((name, side.name))
                    typer.echo(f"{step}: {failure}", err=True)
                    continue
                results[side.name][number].update(figures)
                typer.echo(f"{step}, {time.monotonic() - started:.0f} s", err=True)
                for label, value in figures.items():
                    typer.echo(f"    {label}: {value:,.2f}", err=True)


def report(before: Side, found: Results) -> None:
    """Print medians and the median of the rounds' ratios."""
    typer.echo(f"{'what':52}{before.name:>12}{'now':>12}{'ratio':>8}")
    old_rounds, new_rounds = found[before.name], found["now"]
    for label in LABELS:
        values = [[figures[label] for figures in rounds if label in figures] for rounds in (old_rounds, new_rounds)]
        if not any(values):
            continue
        ratios = [
            b[label] / a[label] for a, b in zip(old_rounds, new_rounds, strict=True) if a.get(label) and label in b
        ]
        medians = [f"{statistics.median(side_values):,.2f}" if side_values else "-" for side_values in values]
        ratio = f"{statistics.median(ratios):.2f}" if ratios else "-"
        typer.echo(f"{label:52}{medians[0]:>12}{medians[1]:>12}{ratio:>8}")
