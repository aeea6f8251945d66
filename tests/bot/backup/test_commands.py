"""`buongioco backup` and `restore` as a host calls them, beside a running bot and without one."""

import json
import urllib.request
from pathlib import Path

from tests.bot.command import command
from tests.bot.kills import free_port
from tests.bot.test_run import running


def is_well(port: int) -> bool:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
        return bool(json.load(answer)["healthy"])


def test_beside_a_running_bot_and_back(tmp_path: Path) -> None:
    port = free_port()
    with running(tmp_path, port):
        answer = command(tmp_path, "backup", "cards.gz")
        assert answer.returncode == 0, answer.stderr
        assert "cards.gz: " in answer.stderr
        # Not while it runs, and nothing is lost by asking.
        answer = command(tmp_path, "restore", "cards.gz", "--replace")
        assert answer.returncode == 2
        assert f"A bot is running with the data folder {tmp_path / 'data'}, and would write its own" in answer.stderr
        assert "Nothing was changed: stop the bot, run this again" in answer.stderr
        answer = command(tmp_path, "rebuild")
        assert answer.returncode == 2
        assert "rates games that end while all ratings are made anew. Nothing was changed: stop" in answer.stderr
        # What only reads may work beside it.
        answer = command(tmp_path, "export")
        assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "0 games\n")
        assert is_well(port)
    answer = command(tmp_path, "restore", "cards.gz")
    assert answer.returncode == 2
    assert "not empty" in answer.stderr
    answer = command(tmp_path, "restore", "cards.gz", "--replace")
    assert answer.returncode == 0, answer.stderr
    assert "all is as it was on 20" in answer.stderr
    assert "Whoever was forgotten after that is back" in answer.stderr
    # And once more, from the store at rest.
    answer = command(tmp_path, "backup", "again.gz")
    assert answer.returncode == 0, answer.stderr
    with running(tmp_path, port):
        assert is_well(port)


def test_what_cannot_be_is_one_line(tmp_path: Path) -> None:
    answer = command(tmp_path, "backup", "cards.gz")
    assert answer.returncode == 2
    assert "The store is empty" in answer.stderr
    assert not (tmp_path / "cards.gz").exists()
    (tmp_path / "bad.gz").write_bytes(b"no")
    answer = command(tmp_path, "restore", "bad.gz")
    assert answer.returncode == 2
    assert "no backup, or damaged" in answer.stderr
    answer = command(tmp_path, "backup", "x.gz", REDIS_URL="redis://127.0.0.1:1")
    assert answer.returncode == 2
    assert "cannot be read" in answer.stderr
    answer = command(tmp_path, "restore", "bad.gz", REDIS_URL="redis://127.0.0.1:1")
    assert answer.returncode == 2
