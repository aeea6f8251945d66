"""A short run of the benchmark of a table's page."""

import json

import pytest
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.trace import main_tasks
from tests.browser import chromium

THROUGHPUTS = ("downloadThroughput", "uploadThroughput")


@pytest.mark.long
@pytest.mark.xdist_group("browser")
def test_table_benchmark_prints_its_baseline_with_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    chromium()
    monkeypatch.setattr("bot.running.logs.set_up", lambda _level: None)
    monkeypatch.setattr("benchmarks.table.SLOWER", 1)
    monkeypatch.setattr("benchmarks.table.AFTER_DEAL", 100)
    monkeypatch.setattr("benchmarks.table.NETWORK", {"offline": False, "latency": 0} | dict.fromkeys(THROUGHPUTS, -1))
    output = CliRunner().invoke(app, ["table", "--tricks", "1", "--deals", "1", "--details"]).output
    figures = {line[:16].strip(): line[16:].split() for line in output.splitlines()[-3:]}
    assert list(figures) == ["aiohttp alone", "buongioco", "goal"]
    page_figures, bare = figures["buongioco"], figures["aiohttp alone"]
    assert 20 < float(page_figures[0]) <= 75
    assert int(bare[1]) < int(page_figures[1])
    assert float(page_figures[0]) <= float(page_figures[3]) <= 120
    assert float(bare[0]) == pytest.approx(float(page_figures[0]), abs=5)
    assert float(page_figures[7]) > 0


def test_tasks_count_nested_parts_once() -> None:
    def event(name: str, begin: int, wall: int, cpu: int) -> dict[str, object]:
        return {"name": name, "ph": "X", "pid": 1, "tid": 1, "ts": begin, "dur": wall, "tdur": cpu, "args": {}}

    events = [
        event("RunTask", 0, 90_000, 40_000),
        event("RunTask", 1000, 80_000, 38_000),
        event("FunctionCall", 2000, 70_000, 30_000),
        event("UpdateLayoutTree", 3000, 20_000, 12_000),
        event("Layout", 24_000, 9000, 8000),
        event("RunTask", 2_000_000, 5000, 3000),
    ]
    first, second = main_tasks(json.dumps({"traceEvents": events}).encode())
    assert first == (0, 40, 90, {"style": 12, "script": 10, "layout": 8})
    assert second == (2, 3, 5, {})
