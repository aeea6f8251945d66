"""`compare` with two revisions of a small repository, one older than the package `benchmarks`."""

import re
import signal
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from benchmarks import compare
from benchmarks.__main__ import app

PROJECT = """
[project]
name = "buongioco"
version = "1.0"
[project.entry-points."buongioco.adapters"]
telegram = "{module}:make"
"""
MAIN = """
import signal, sys, time
from importlib.metadata import entry_points
from pathlib import Path

def main():
    arguments = sys.argv[{skipped}:]
    if arguments[:1] == ["engine"]:
        sys.exit("no such benchmark")
    if "discord" in arguments:
        print("whole bot, 200 tables: 100 presses/s, 4.00 ms of CPU a press", flush=True)
        time.sleep(60)
    if "--inline" in arguments:
        signal.signal(signal.SIGINT, lambda number, frame: signal.signal(number, signal.default_int_handler))
    if "telegram" in arguments:
        [place] = [point.value for point in entry_points(group="buongioco.adapters") if point.name == "telegram"]
        rate = "1,000" if place == "{module}:make" else "250"
        try:
            for _ in range(2):
                print(f"whole bot, 200 tables: {rate} presses/s, 2.00 ms of CPU a press")
                print("bare library over aiohttp: 500 presses/s, 1.00 ms of CPU a press", flush=True)
            time.sleep(60)
        except KeyboardInterrupt:
            Path(__file__).with_name("ended").touch()
    print("baseline, bare appends at 200/s: p50 1.00 ms, p99 2.00 ms")
    print("100 live tables, 200 presses/s: p50 2.00, p99 {p99} ms from press to the presser's panel;")
    print("100 live tables, 64 at once: {speed} presses/s, 1.50 ms of CPU a press")
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two revisions.

    The commit is slow and has `buongioco bench`. The working tree is twice as fast and has `python -m benchmarks`.
    """
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "__init__.py").touch()
    write(tmp_path, "bot/cli/main.py", module="old_place", p99="8.00", speed="1,000", skipped="2")
    author = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    for arguments in (("init", "-q"), ("add", "."), (*author, "commit", "-qm", "slow")):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    (tmp_path / "bot" / "cli" / "main.py").unlink()
    write(tmp_path, "benchmarks/__main__.py", module="new_place", p99="4.00", speed="2,000", skipped="1")
    monkeypatch.setattr(compare, "ROOT", tmp_path)
    monkeypatch.setitem(compare.BENCHES, "discord", compare.BENCHES["discord"]._replace(limit=3.0))
    return tmp_path


def write(folder: Path, place: str, **values: str) -> None:
    """Write a revision whose benchmarks start in the file ``place``."""
    main, project = MAIN + ("\nmain()" if place.endswith("__main__.py") else ""), PROJECT
    for name, value in values.items():
        main, project = main.replace(f"{{{name}}}", value), project.replace(f"{{{name}}}", value)
    (folder / place).parent.mkdir(exist_ok=True)
    (folder / place).with_name("__init__.py").touch()
    (folder / place).write_text(main)
    (folder / "pyproject.toml").write_text(project)
    (folder / "requirements.txt").write_text(f"aiohttp=={'3.1' if 'old' in project else '3.2'}\n")


def run_compare(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["compare", *arguments])


def find_row(output: str, label: str) -> list[str]:
    [line] = [line for line in output.splitlines() if line.startswith(label)]
    return line.removeprefix(label).split()


def test_both_revisions_and_their_ratio_are_printed(repository: Path) -> None:
    result = run_compare("HEAD", "--rounds", "2", "--only", "room")
    assert result.exit_code == 0, result.output
    assert find_row(result.stdout, "room, flat out, presses/s") == ["1,000.00", "2,000.00", "2.00"]
    assert find_row(result.stdout, "room, p99 at 200/s, in bare appends' p99") == ["4.00", "2.00", "0.50"]
    assert find_row(result.stdout, "room, flat out, ms of CPU a press") == ["1.50", "1.50", "1.00"]
    assert "pin different versions; both run with those of now: aiohttp 3.1 / 3.2" in result.stderr
    trees = subprocess.run(["git", "worktree", "list"], cwd=repository, capture_output=True, text=True, check=True)
    assert len(trees.stdout.splitlines()) == 1


def test_each_revision_uses_its_own_entry_points_and_is_stopped(repository: Path) -> None:
    # Entry points of the installed project must not be used, so the figures must differ.
    result = run_compare("HEAD", "--rounds", "1", "--only", "telegram")
    assert find_row(result.stdout, "Telegram, whole bot to bare library, presses/s") == ["2.00", "0.50", "0.25"]
    assert find_row(result.stdout, "Telegram, whole bot to bare library, by CPU")[0] == "0.50"
    # The benchmark got the interrupt, so it can stop its own processes.
    assert (repository / "benchmarks" / "ended").exists()


@pytest.mark.long
def test_missed_interrupt_is_repeated(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "PATIENCE", 2.0)
    run_compare("HEAD", "--rounds", "1", "--only", "inline")
    assert (repository / "benchmarks" / "ended").exists()


def test_steps_print_immediately_and_sigterm_prints_the_table(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_side: compare.Side) -> dict[str, float]:
        signal.raise_signal(signal.SIGTERM)
        raise AssertionError("SIGTERM did not stop the run")

    monkeypatch.setitem(compare.MEASURES, compare.START, interrupt)
    handler = signal.signal(signal.SIGTERM, lambda *_: pytest.fail("the benchmark did not handle SIGTERM"))
    try:
        result = run_compare("HEAD", "--rounds", "1", "--only", "room", "--only", "start")
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert result.exit_code
    assert find_row(result.stdout, "room, flat out, presses/s") == ["1,000.00", "2,000.00", "2.00"]
    assert re.search(
        r"^round 1 of 1, room at now, \d+ s\n    room, flat out, presses/s: 2,000.00$", result.stderr, re.M
    )
    trees = subprocess.run(["git", "worktree", "list"], cwd=repository, capture_output=True, text=True, check=True)
    assert len(trees.stdout.splitlines()) == 1


@pytest.mark.long
def test_missing_figure_prints_a_dash_and_the_reason(repository: Path) -> None:
    result = run_compare("HEAD", "--rounds", "2", "--only", "discord", "--only", "engine", "--only", "room")
    assert result.exit_code == 0
    assert "discord at now: no figures within 3 s" in result.stderr
    assert result.stderr.count("engine at now: no such benchmark") == 1
    assert "Discord" not in result.stdout
    assert "room, flat out, presses/s" in result.stdout


def test_unknown_revision_prints_one_line(repository: Path) -> None:
    result = run_compare("nowhere")
    assert result.exit_code == 1
    assert result.stderr.startswith("benchmarks: git rev-parse")
    assert run_compare("HEAD", "--only", "nothing").exit_code == 2
