"""Short runs of the benchmarks with a bot: each prints its baseline, or explains why it stops."""

import asyncio
import importlib

import pytest
from typer.testing import CliRunner, Result

from benchmarks import compare, presses
from benchmarks.__main__ import app
from benchmarks.limits import BenchFailed, within
from benchmarks.platforms import print_ratios
from bot.platform import PlatformFailure

PLATFORMS = presses.PLATFORMS


def run_benchmark(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def shorten(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    measure = importlib.import_module(f"benchmarks.{platform}")
    for name, value in {"TABLES": 12, "ROUNDS": 1, "PRESSES": 60, "CALM_PRESSES": 30}.items():
        monkeypatch.setattr(measure, name, value)
    if platform == "telegram":
        monkeypatch.setattr(measure, "DEFAULT_PRESSES", 20)
    else:
        monkeypatch.setattr(measure, "PAIRS", 2)
        monkeypatch.setattr(measure, "TOGETHER_PRESSES", 20)
    monkeypatch.setattr("benchmarks.platforms.TABLES", 12)
    monkeypatch.setattr("benchmarks.platforms.QUIET", 0.5)


@pytest.fixture(autouse=True)
def keep_process_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep benchmarks from changing the log and the garbage collector of this process."""
    monkeypatch.setattr("bot.running.logs.set_up", lambda _level: None)
    for module in ("benchmarks.presses", *(f"benchmarks.{platform}" for platform in PLATFORMS)):
        monkeypatch.setattr(f"{module}.tune_garbage_collector", lambda: None)


@pytest.mark.long
def test_web_benchmark_prints_plain_aiohttp_and_the_bot() -> None:
    result = run_benchmark("web", "--watchers", "12", "--moves", "3", "--tables", "3", "--seconds", "0.2")
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith(("aiohttp alone", "buongioco"))]
    assert [line[-1] for line in rows] == ["0"] * 4, "every watcher and page must read every move"


@pytest.mark.long
@pytest.mark.parametrize("platform", PLATFORMS)
def test_whole_bot_is_compared_with_the_bare_library(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch, platform)
    result = run_benchmark("presses", "--adapter", platform, "--tables", "14")
    assert result.exit_code == 0, result.output
    assert result.output.count("whole bot, 12 tables:") == 2
    assert "\nbare library" in result.output
    assert "presses by CPU, whole bot to bare library" in result.output
    assert "whole bot: 14 live tables in" in result.output
    assert "Traceback" not in result.output
    assert find_missing_figures(result.stdout, platform) == []


@pytest.mark.long
@pytest.mark.parametrize("platform", PLATFORMS)
def test_picture_benchmarks_print_their_figures(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch, platform)
    for name, value in {"PICTURE_ROUNDS": 1, "PICTURE_PRESSES": 40, "PICTURE_AT_ONCE": 4}.items():
        monkeypatch.setattr(f"benchmarks.{platform}.{name}", value)
    result = run_benchmark("presses", "--adapter", platform, "--pictures")
    assert result.exit_code == 0, result.output
    assert result.output.count("whole bot with pictures, 12 tables:") == 2
    assert result.output.count("presses by CPU, whole bot to bare library") == 2
    assert result.output.count(" pictures a press, press to panel") == 4
    assert result.output.count("\npictures a press, whole bot to bare library") == 2
    assert "calls failed" not in result.output


@pytest.mark.long
def test_typed_commands_are_compared_with_the_bare_library(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch, "telegram")
    monkeypatch.setattr("benchmarks.telegram.QUERIES", 40)
    result = run_benchmark("presses", "--adapter", "telegram", "--inline")
    assert result.exit_code == 0, result.output
    assert "whole bot, 12 tables: 100 inline queries/s" in result.output
    assert "bare library over aiohttp: 100 inline queries/s" in result.output
    assert find_missing_figures(result.stdout, "inline") == []
    result = run_benchmark("presses", "--adapter", "discord", "--inline")
    assert (result.exit_code, "on discord" in result.stderr) == (2, True)


def test_round_with_missing_pictures_does_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    bare = {"speed": 100, "cpu": 0.001, "uploads": 270, "uploads_a_press": 2.7, "rate": 0}
    full, quick = bare | {"speed": 50, "cpu": 0.002}, bare | {"speed": 300, "cpu": 0.0005, "uploads_a_press": 2.5}
    print_ratios([full, quick], [bare, bare])
    output, err = capsys.readouterr()
    assert output.splitlines() == [
        "presses/s, whole bot to bare library: 0.50 x, median of 1 rounds in turn (0.50, 3.00*)",
        "presses by CPU, whole bot to bare library: 0.50 x, median of 1 rounds in turn (0.50, 2.00*)",
        "pictures a press, whole bot to bare library: 2.70 to 2.70, 2.50 to 2.70",
    ]
    assert err.startswith("* not counted, because the whole bot left out pictures")
    print_ratios([quick], [bare])
    assert "presses/s, whole bot to bare library: no median, 0 rounds in turn (3.00*)" in capsys.readouterr().out


def find_missing_figures(output: str, name: str) -> list[str]:
    """Return figures that `benchmarks compare` does not find in the output of a benchmark."""
    return [figure.label for figure in compare.FIGURES if figure.bench == name and figure.read(output) is None]


@pytest.mark.long
def test_bot_that_never_connects_ends_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_arguments: object, **_options: object) -> None:
        raise PlatformFailure("an answer without the commands")

    shorten(monkeypatch, "discord")
    monkeypatch.setattr("adapters.discord.adapter.sync_commands", refuse)
    monkeypatch.setattr("benchmarks.platforms.PATIENCE", 5.0)
    result = run_benchmark("presses", "--adapter", "discord")
    assert result.exit_code == 1
    [line] = [line for line in result.stderr.splitlines() if line.startswith("benchmarks:")]
    assert "s for the platform's server to do: open" in line
    assert "discord is down: an answer without the commands" in line
    assert "Traceback" not in result.output


@pytest.mark.long
def test_presses_in_one_process_print_their_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"SECONDS": 1, "RATE": 50, "FLAT_OUT": 100, "COUNTED": 100}.items():
        monkeypatch.setattr(f"benchmarks.presses.{name}", value)
    result = run_benchmark("presses", "--tables", "80")
    assert result.exit_code == 0, result.output
    assert "baseline, bare appends at 50/s" in result.output
    assert "80 live tables, 64 at once:" in result.output
    assert (
        find_missing_figures(result.stdout.replace("50/s", "200/s").replace("50 presses/s:", "200 presses/s:"), "room")
        == []
    )


@pytest.mark.long
def test_missing_panels_end_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.presses.SECONDS", 1)
    monkeypatch.setattr("benchmarks.presses.RATE", 50)
    monkeypatch.setattr("benchmarks.presses.CountingAdapter.edit", lose_edit)

    async def press_impatiently(crowd: presses.Crowd) -> list[float]:
        """Shorten the limits only now, because the earlier steps must succeed."""
        monkeypatch.setattr("benchmarks.presses.PATIENCE", 5.0)
        monkeypatch.setattr("benchmarks.presses.SLOWEST", 1000)
        return await at_rate(crowd)

    at_rate = presses.press_at_rate
    monkeypatch.setattr("benchmarks.presses.press_at_rate", press_impatiently)
    result = run_benchmark("presses", "--tables", "80")
    assert result.exit_code == 1
    assert "benchmarks: waited 5.05 s for 50 presses at 50/s to reach their panels" in result.stderr


async def lose_edit(*_about: object) -> None:
    """Act as an adapter that loses every edit."""


@pytest.mark.long
def test_presses_with_separate_workers_print_their_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.scale.WORKERS", (1,))
    for name, value in {"TABLES": 12, "WARM_UP": 10, "PRESSES": 60, "RATED": 30}.items():
        monkeypatch.setattr(f"benchmarks.scale.{name}", value)
    result = run_benchmark("scale")
    assert result.exit_code == 0, result.output
    assert [name for name in ("one node", "cluster of three", "one replica asked") if name not in result.output] == []


def test_stopped_worker_ends_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.scale.WORKERS", (1,))
    monkeypatch.setattr("benchmarks.scale.sys.executable", "/bin/false")
    result = run_benchmark("scale")
    assert result.exit_code == 1
    assert "benchmarks: worker 0 ended, with exit code 1" in result.stderr


async def test_timed_out_step_says_what_it_waited_for() -> None:
    with pytest.raises(BenchFailed, match=r"^waited 0\.01 s for a bus$"):
        async with within(0.01, "a bus"):
            await asyncio.Event().wait()


async def test_timeout_raised_inside_a_step_stays_unchanged() -> None:
    with pytest.raises(TimeoutError, match="theirs"):
        async with within(10, "a bus"):
            raise TimeoutError("theirs")


def test_matching_is_compared_with_checking_every_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.find.PEOPLE", 40)
    monkeypatch.setattr("benchmarks.find.ROUNDS", 2)
    result = run_benchmark("find")
    assert result.exit_code == 0, result.output
    assert "every pair" in result.stdout
    assert find_missing_figures(result.stdout, "find") == []
