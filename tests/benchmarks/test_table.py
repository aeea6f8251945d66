"""A short run of the benchmark of a table's page."""

import pytest
from typer.testing import CliRunner

from benchmarks.__main__ import app
from tests.browser import chromium

THROUGHPUTS = ("downloadThroughput", "uploadThroughput")

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("browser")]


def test_table_benchmark_prints_its_baseline_with_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    chromium()
    monkeypatch.setattr("bot.running.logs.set_up", lambda _level: None)
    monkeypatch.setattr("benchmarks.table.SLOWER", 1)
    monkeypatch.setattr("benchmarks.table.AFTER_DEAL", 100)
    monkeypatch.setattr("benchmarks.table.NETWORK", {"offline": False, "latency": 0} | dict.fromkeys(THROUGHPUTS, -1))
    output = CliRunner().invoke(app, ["table", "--tricks", "1"]).output
    figures = {line[:16].strip(): line[16:].split() for line in output.splitlines()[-3:]}
    assert list(figures) == ["aiohttp alone", "buongioco", "goal"]
    page_figures, bare = figures["buongioco"], figures["aiohttp alone"]
    assert 20 < float(page_figures[0]) <= 75
    assert int(bare[1]) < int(page_figures[1])
    assert float(page_figures[0]) <= float(page_figures[3]) <= 120
    assert float(bare[0]) == pytest.approx(float(page_figures[0]), abs=5)
