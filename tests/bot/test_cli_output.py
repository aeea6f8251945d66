"""Output of commands: hostile names, terminals without Unicode, and outputs that cannot be written."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli.output import clean_text, json_line
from tests.bot.command import environment, run_command
from tests.bot.test_run import BUONGIOCO
from tests.groups import COMPILED_SEARCHES
from tests.long import long

HOSTILE_NAME = "\x1b]0;owned\x07\x1b[31mEve\u202e\x9b2J\r"
CONTROL_CHARACTERS = ("\x1b", "\x07", "\u202e", "\x9b", "\r")

needs_full_device = pytest.mark.skipif(sys.platform != "linux", reason="/dev/full exists only on Linux")


def write_hostile_record(folder: Path) -> str:
    """Write game.jsonl, and a copy with a hostile name for its first player; return the copy's file name."""
    assert (
        run_command(folder, "simulate", "--game", "testa", "--rules", "target=11", "--out", "game.jsonl").returncode
        == 0
    )
    record = json.loads((folder / "game.jsonl").read_text())
    record["seats"][0] = HOSTILE_NAME
    (folder / "hostile.jsonl").write_text(json.dumps(record))
    return "hostile.jsonl"


@pytest.mark.long
@COMPILED_SEARCHES
@pytest.mark.parametrize("arguments", [("verify",), ("replay",), ("replay", "--lang", "it"), ("analyse",)])
def test_commands_print_no_control_characters(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    result = run_command(tmp_path, *arguments, write_hostile_record(tmp_path))
    assert result.returncode == 0, result.stderr
    assert not [char for char in CONTROL_CHARACTERS if char in result.stdout + result.stderr]


def test_errors_print_no_control_characters(tmp_path: Path) -> None:
    (tmp_path / HOSTILE_NAME).write_text("{}")
    result = run_command(tmp_path, "replay", HOSTILE_NAME, "--game", "7")
    assert result.returncode == 2
    # Rich colours its own frame with escape sequences, so only characters that it never prints are checked.
    assert "\x1b]0;" not in result.stderr
    assert "\u202e" not in result.stderr


def test_escaped_json_has_the_same_value() -> None:
    text = json.dumps([HOSTILE_NAME, "Nicolò 🤖", "a\u200db"], ensure_ascii=False)
    for encoding in ("utf-8", "latin-1"):
        line = json_line(text, encoding)
        assert json.loads(line) == json.loads(text)
        assert not [char for char in CONTROL_CHARACTERS if char in line]
        line.encode(encoding)


def test_cleaned_text_keeps_lines_and_joined_emoji() -> None:
    assert clean_text("👩\u200d🎤 Zoë\nNicolò") == "👩\u200d🎤 Zoë\nNicolò"


@needs_full_device
@pytest.mark.parametrize(
    "arguments",
    [
        ("games",),
        ("verify", "game.jsonl"),
        *map(long, [("simulate", "--game", "testa"), ("--help",), ("run", "--help")]),
    ],
)
def test_full_stdout_is_a_one_line_error(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    write_hostile_record(tmp_path)
    with Path("/dev/full").open("w") as full_device:
        result = subprocess.run(
            [BUONGIOCO, *arguments],
            cwd=tmp_path,
            env=environment(tmp_path),
            stdout=full_device,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert result.returncode == 1
    assert result.stderr == "buongioco: Standard output cannot be written: No space left on device\n"


@needs_full_device
def test_full_output_file_is_a_clear_error(tmp_path: Path) -> None:
    result = run_command(tmp_path, "simulate", "--game", "testa", "--games", "30", "--out", "/dev/full")
    assert result.returncode == 2
    assert "/dev/full: No space left on device" in " ".join(result.stderr.split())


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments", [("replay", "game.jsonl", "--lang", "it"), *map(long, [("games",), ("play",), ("--help",)])]
)
def test_commands_work_on_latin_1_terminals(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    write_hostile_record(tmp_path)
    result = subprocess.run(
        [BUONGIOCO, *arguments],
        cwd=tmp_path,
        env=environment(tmp_path, PYTHONIOENCODING="latin-1"),
        input=b"\xff\nq\n",
        capture_output=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == b""
    assert result.stdout


def test_play_survives_input_that_is_not_utf8(tmp_path: Path) -> None:
    result = subprocess.run(
        [BUONGIOCO, "play", "--game", "testa"],
        cwd=tmp_path,
        env=environment(tmp_path, PYTHONIOENCODING="utf-8"),
        input=b"\xff\xfe\nq\n",
        capture_output=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.long
def test_records_are_complete_on_latin_1_terminals(tmp_path: Path) -> None:
    arguments = [BUONGIOCO, "simulate", "--game", "testa", "--rules", "target=11"]
    plain, latin = (
        subprocess.run(arguments, env=environment(tmp_path, PYTHONIOENCODING=encoding), capture_output=True, check=True)
        for encoding in ("utf-8", "latin-1")
    )
    assert json.loads(latin.stdout.decode("latin-1")) == json.loads(plain.stdout)
