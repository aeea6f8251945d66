"""The benchmark of start-up: time and memory of commands and of an idle bot."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks import start
from benchmarks.__main__ import app
from benchmarks.limits import BenchFailed


@pytest.mark.long
def test_start_prints_the_baselines_and_the_cost_of_the_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "ROUNDS", 1)
    output = CliRunner().invoke(app, ["start"]).output
    seconds_by_command = dict(re.findall(r"^(.+?) +(\d+\.\d\d) s of CPU$", output, re.MULTILINE))
    assert list(seconds_by_command) == [
        *start.COMMANDS,
        *(name for name in seconds_by_command if name.startswith("buongioco run")),
    ]
    assert len(seconds_by_command) == len(start.COMMANDS) + Path("/proc/self/stat").exists()
    assert all(
        float(seconds) > 0 for name, seconds in seconds_by_command.items() if name not in list(start.COMMANDS)[:1]
    )
    if Path("/proc/self/stat").exists():
        [memory] = re.findall(r"(\d+) MB of memory$", output, re.MULTILINE)
        assert int(memory) > 20


@pytest.mark.long
def test_output_of_a_bot_that_fails_to_start_is_quoted(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("BUONGIOCO_TELEGRAM_API_URL=nowhere\n")
    with (
        pytest.raises(BenchFailed, match="BUONGIOCO_TELEGRAM_API_URL must be the address"),
        start.healthy_bot(tmp_path),
    ):
        pass
