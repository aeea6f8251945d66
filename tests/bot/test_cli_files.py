"""Record files from editors, shells and hosts, and records with duplicate keys."""

import gzip
import json
from pathlib import Path

import pytest

from bot.cli import record_files as files
from bot.finished.archive_file import read_entries, to_line
from bot.finished.game import UnreadableGame
from engine import read
from engine.errors import BadRecord
from tests.bot.command import run_command
from tests.bot.finished.games import finished_game


@pytest.fixture
def records(tmp_path: Path) -> str:
    """Return two short games, one per line."""
    words = ("--game", "testa", "--games", "2", "--rules", "target=11", "--out", "games.jsonl")
    assert run_command(tmp_path, "simulate", *words).returncode == 0
    return (tmp_path / "games.jsonl").read_text()


def run_verify(folder: Path, content: bytes) -> tuple[int, str]:
    """Write a file and return the exit code and output of `verify` for it."""
    (folder / "file").write_bytes(content)
    result = run_command(folder, "verify", "file")
    assert result.stderr == ""
    return result.returncode, result.stdout


def test_gzip_and_byte_order_marks_are_accepted(tmp_path: Path, records: str) -> None:
    marked = records.encode("utf-8-sig")
    for content in (marked, gzip.compress(records.encode()), gzip.compress(marked), marked.replace(b"\n", b"\r\n")):
        assert run_verify(tmp_path, content) == (0, "file: 2 games, no faults\n")
        assert "Testa a Testa" in run_command(tmp_path, "replay", "file", "--game", "2").stdout


def test_damaged_gzip_is_reported(tmp_path: Path, records: str) -> None:
    packed = gzip.compress(records.encode())
    assert run_verify(tmp_path, packed[:-9])[1].splitlines()[-2:] == [
        "file: file: ends in the middle of its gzip data",
        "file: 2 games, 1 fault",
    ]
    code, output = run_verify(tmp_path, packed[:40] + b"\0\0\0\0" + packed[44:])
    assert code == 1
    assert "file: has damaged gzip data" in output


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_get_one_clear_error(tmp_path: Path, records: str, encoding: str) -> None:
    for content in (records.encode(encoding), gzip.compress(records.encode(encoding))):
        code, output = run_verify(tmp_path, content)
        assert code == 1
        assert output.splitlines()[0].endswith("save it as UTF-8")
        assert len(output.splitlines()) == 2
    replay_result = run_command(tmp_path, "replay", "file")
    assert replay_result.returncode == 2
    assert "save it as UTF-8" in replay_result.stderr


def test_overlong_line_counts_as_one_game(tmp_path: Path, records: str, monkeypatch: pytest.MonkeyPatch) -> None:
    longest = max(map(len, records.splitlines())) + 1
    monkeypatch.setattr(files, "MAX_RECORD_BYTES", longest)
    long_line = json.dumps({"format": "x" * (3 * longest + 7)})
    code, output = run_verify(tmp_path, f"{long_line}\n{records}{long_line}".encode())
    assert code == 1
    assert [line.split(", ")[:2] for line in output.splitlines()] == [
        ["file: game 1", f"record: is longer than {longest} bytes"],
        ["file: game 4", f"record: is longer than {longest} bytes"],
        ["file: 4 games", "2 faults"],
    ]
    assert "Testa a Testa" in run_command(tmp_path, "replay", "file", "--game", "2").stdout


def test_records_refuse_duplicate_keys(records: str) -> None:
    line = records.splitlines()[0]
    for key in ("winner", "moves", "secret", "target", "format"):
        start = line.index(f'"{key}":')
        value = json.dumps(json.JSONDecoder().raw_decode(line, start + len(key) + 3)[0])
        doubled = f'{line[:start]}"{key}":{value},{line[start:]}'
        assert json.loads(doubled) == json.loads(line)
        with pytest.raises(BadRecord, match=f"{key}: occurs twice"):
            read(doubled)
    # Two spellings of a key are still one key.
    with pytest.raises(BadRecord, match="occurs twice"):
        read(line.replace('"winner":', '"winne\\u0072":null,"winner":', 1))


def test_finished_games_refuse_duplicate_keys(tmp_path: Path) -> None:
    line = to_line(1, finished_game(1)).decode()
    for key in ("number", "winner", "people"):
        path = tmp_path / "old.jsonl"
        path.write_text(line.replace(f'"{key}":', f'"{key}":null,"{key}":', 1))
        with pytest.raises(UnreadableGame, match=f"{key}: occurs twice"):
            list(read_entries(path))
        assert f"{key}: occurs twice" in run_command(tmp_path, "verify", "old.jsonl").stdout


def test_archives_accept_byte_order_marks(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + to_line(1, finished_game(1)) + to_line(2, finished_game(2)))
    assert [entry.number for entry in read_entries(path)] == [1, 2]
    assert [entry.read().number for entry in read_entries(path)] == [1, 2]
    assert "2 games, no faults" in run_command(tmp_path, "verify", "old.jsonl").stdout


def test_other_archive_formats_get_advice(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    for content, advice in (
        (gzip.compress(to_line(1, finished_game(1))), "is compressed: unpack it first"),
        (to_line(1, finished_game(1)).decode().encode("utf-16"), "save it as UTF-8"),
    ):
        path.write_bytes(content)
        with pytest.raises(UnreadableGame, match=advice):
            list(read_entries(path))
