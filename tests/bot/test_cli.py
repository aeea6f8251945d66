"""The command line, as a user would call it."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.cli import main as cli
from engine import GAMES
from tests.bot.command import exit_status, run_command
from tests.engine.tables import tie_break_game
from tests.groups import COMPILED_SEARCHES
from tests.long import mostly_long

BUONGIOCO = [sys.executable, "-c", "from bot.cli.main import main; main()"]


def invoke_cli(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(cli.app, list(arguments), input=text)


@pytest.fixture
def records_file(tmp_path: Path) -> Path:
    """Write a file of three short games of testa."""
    path = tmp_path / "games.jsonl"
    assert (
        invoke_cli("simulate", "--game", "testa", "--games", "3", "--rules", "target=11", "--out", str(path)).exit_code
        == 0
    )
    return path


def test_games_lists_options_and_defaults() -> None:
    output = invoke_cli("games").output
    for game, kind in GAMES.items():
        assert f"{game}: {kind.name}" in output
    assert "target = 21 | 31 | 41 | 51  (default 51)" in output
    assert "declare = three_tricks | none  (default three_tricks)" in output
    assert "layout = full  (fixed)" in output


@pytest.mark.parametrize("game", mostly_long(GAMES, "quattro", "spades"))
def test_simulated_games_can_be_verified_and_replayed(game: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    arguments = (
        "simulate",
        "--game",
        game,
        "--games",
        "2",
        "--seed",
        "5",
        "--legal",
        "--players",
        "greedy",
        "--out",
        str(path),
    )
    assert invoke_cli(*arguments).exit_code == 0
    records = path.read_text(encoding="utf-8").splitlines()
    assert len(records) == 2
    assert all(len(move) == 3 for line in records for deal in json.loads(line)["deals"] for move in deal["moves"])
    verified = invoke_cli("verify", str(path))
    assert verified.exit_code == 0
    assert "2 games, no faults" in verified.output
    for language in ("en", "it"):
        replayed = invoke_cli("replay", str(path), "--game", "2", "--lang", language)
        assert replayed.exit_code == 0
        assert len(replayed.output.splitlines()) > 20
    assert "Smazzata 1" in replayed.output


def test_simulate_with_a_seed_is_deterministic() -> None:
    arguments = ("simulate", "--game", "metamazzo", "--games")
    two_games = subprocess.run(
        [*BUONGIOCO, *arguments, "2", "--seed", "9"], capture_output=True, check=True, text=True
    ).stdout
    three_games = invoke_cli(*arguments, "3", "--seed", "9").output
    other_seed = invoke_cli(*arguments, "2", "--seed", "8").output
    assert three_games.startswith(two_games)
    assert two_games != other_seed


def test_rules_accepts_one_or_several_flags(tmp_path: Path) -> None:
    def simulate(*arguments: str) -> str:
        return run_command(tmp_path, "simulate", "--game", "pizzichino", "--seed", "3", *arguments).stdout

    one_flag = simulate("--rules", "target=21", "reuse=true")
    several_flags = simulate("--rules", "target=21", "--rules", "reuse=true")
    commas = simulate("--rules", "target=21,reuse=true")
    assert one_flag == several_flags == commas
    assert json.loads(one_flag)["rules"]["reuse"] is True


def test_progress_bar_is_shown_only_on_terminals() -> None:
    command = [*BUONGIOCO, "simulate", "--game", "testa", "--games", "3"]
    assert subprocess.run(command, capture_output=True, check=True).stderr == b""
    terminal, child_terminal = pty.openpty()
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=child_terminal, check=True)
    os.close(child_terminal)
    output = os.read(terminal, 10_000)
    os.close(terminal)
    assert b"100%" in output
    assert result.stdout.count(b"\n") == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("simulate", "--game", "briscola"), "There is no game called 'briscola'; there are: pizzichino"),
        (("simulate", "--game", "testa", "--rules", "target=12"), "target: 12 is not one of: 11, 21, 31"),
        (("simulate", "--game", "testa", "--rules", "jokers=2"), "jokers is not an option of this game"),
        (("simulate", "--game", "testa", "--players", "genius"), "'genius' is not one of: random, easy, medium"),
        (("simulate", "--game", "testa", "--players", "greedy,greedy,greedy"), "testa has 2 seats"),
        (("simulate", "--game", "testa", "--games", "0"), "greater than or equal to 1"),
        (("simulate", "--game", "testa", "--out", "/nowhere/x.jsonl"), "No such file"),
        (("verify", "/nowhere/x.jsonl"), "does not exist"),
        (("play", "--game", "scopa"), "There is no game called 'scopa'"),
    ],
)
def test_user_error_is_clear_with_exit_status_2(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run_command(tmp_path, *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())


@pytest.mark.parametrize(("code", "status"), [(None, 0), (0, 0), (3, 3), ("no such table", 1), ("", 1)])
def test_exit_status_matches_the_shell(code: int | str | None, status: int) -> None:
    with pytest.raises(SystemExit) as end:
        sys.exit(code)
    assert exit_status(end.value) == status
    assert subprocess.run([sys.executable, "-c", f"raise SystemExit({code!r})"], check=False).returncode == status


def test_user_error_in_the_shell_is_one_line() -> None:
    done = subprocess.run([*BUONGIOCO, "play", "--game", "scopa"], capture_output=True, check=False, text=True)
    assert done.returncode == 2
    assert "There is no game called 'scopa'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_verify_names_the_wrong_move(records_file: Path) -> None:
    records = records_file.read_text(encoding="utf-8").splitlines()
    record = json.loads(records[1])
    record["deals"][0]["moves"][4][1] = "play XX"
    records[1] = json.dumps(record)
    records_file.write_text("\n".join(records), encoding="utf-8")
    done = invoke_cli("verify", str(records_file))
    assert done.exit_code == 1
    assert f"{records_file}: game 2, deal 1, move 5: play XX: 'play XX' isn’t a move in this game." in done.output
    assert "3 games, 1 fault" in done.output


def test_verify_names_five_faulty_games_and_counts_others(records_file: Path) -> None:
    good = records_file.read_text(encoding="utf-8").splitlines()[0]
    bad = good.replace('"play ', '"paly ', 1)
    records_file.write_text("\n".join([good, *[bad] * 12]), encoding="utf-8")
    done = invoke_cli("verify", str(records_file))
    assert done.exit_code == 1
    lines = done.output.splitlines()
    assert [line.split(", ")[0] for line in lines[:5]] == [f"{records_file}: game {number}" for number in range(2, 7)]
    assert lines[5:] == [f"{records_file}: and 7 more faulty games", f"{records_file}: 13 games, 12 faults"]


def test_verify_stops_early_without_games(records_file: Path) -> None:
    records_file.write_text("This is no record.\n" * 3000, encoding="utf-8")
    done = invoke_cli("verify", str(records_file))
    assert done.exit_code == 1
    assert len(done.output.splitlines()) == 6
    assert "not one of its first 100 lines is a game: give a file of records" in done.output


def test_verify_refuses_damaged_files(records_file: Path) -> None:
    records = records_file.read_bytes()
    for content, message in (
        (records[:-100], "game 3, record: Invalid JSON"),
        (records.replace(b'"moves"', b'"noves"', 1), "game 1, deals.0"),
        (b"\xff\xfe\x00" + records, "file: is UTF-16 or UTF-32 text"),
        (b"\n \n", "there is no game in it"),
        (b"", "there is no game in it"),
    ):
        records_file.write_bytes(content)
        done = invoke_cli("verify", str(records_file))
        assert done.exit_code == 1
        assert message in done.output
        assert "Traceback" not in done.output


def test_verify_reads_one_game_over_several_lines(records_file: Path) -> None:
    record = json.loads(records_file.read_text(encoding="utf-8").splitlines()[0])
    records_file.write_text(json.dumps(record, indent=2), encoding="utf-8")
    assert "1 game, no faults" in invoke_cli("verify", str(records_file)).output
    record["deals"], record["ending"], record["winner"] = [], None, None
    records_file.write_text(json.dumps(record), encoding="utf-8")
    assert "1 game, 1 unfinished, no faults" in invoke_cli("verify", str(records_file)).output


def test_replay_refuses_missing_games_and_deals(records_file: Path) -> None:
    assert "has no game 9" in invoke_cli("replay", str(records_file), "--game", "9").stderr
    assert "deals" in invoke_cli("replay", str(records_file), "--deal", "99").stderr
    replay = invoke_cli("replay", str(records_file), "--deal", "1").output
    assert "Deal 1" in replay
    assert "Deal 2" not in replay
    assert "20. " in replay


def test_replay_escapes_control_characters_in_names(records_file: Path) -> None:
    record = json.loads(records_file.read_text(encoding="utf-8").splitlines()[0])
    record["seats"] = ["\x1b[2JEve\n", "\u202eBob"]
    records_file.write_text(json.dumps(record), encoding="utf-8")
    replayed = invoke_cli("replay", str(records_file)).output
    assert "\x1b" not in replayed
    assert "\u202e" not in replayed
    assert "Eve" in replayed


@pytest.mark.parametrize("game", mostly_long(GAMES, "metamazzo", "spades"))
@pytest.mark.parametrize("language", ["en", "it"])
def test_whole_game_can_be_played_in_the_terminal(tmp_path: Path, game: str, language: str) -> None:
    """Always choose the first offer, then resign. A game of Spades with bids of 1 might never end."""
    answers = ["1 2 3 4", "exchange", *["2" if game == "spades" else "1"] * 10, "1"] * (20 if game == "spades" else 300)
    answers += ["resign"]
    done = run_command(tmp_path, "play", "--game", game, "--lang", language, text="\n".join(answers))
    output = done.stdout
    assert done.returncode == 0, done.stderr
    assert (
        ("You win!" in output or "You lose." in output)
        if language == "en"
        else ("Hai vinto!" in output or "Hai perso." in output)
    )


def test_terminal_explains_illegal_input(tmp_path: Path) -> None:
    answers = "?\nplay\nclaim\n4D\n99\n\nq\n"
    output = run_command(tmp_path, "play", "--game", "metamazzo", "--lang", "it", text=answers).stdout
    assert "'play' non è una mossa di questo gioco." in output
    assert "non ci si chiama fuori" in output


def test_terminal_shows_only_own_and_played_cards(tmp_path: Path) -> None:
    """At the first question, the output must name only the ten cards of the hand and the played cards."""
    out = run_command(tmp_path, "play", "--game", "tavolo", "--rules", "declare=none", text="q\n").stdout
    codes = set(GAMES["tavolo"].pack.codes)
    lines = [line.split() for line in out.splitlines()]
    hand = next(set(words[1:]) for words in lines if words and words[0] == "hand")
    played_cards = {words[2] for words in lines if len(words) == 3 and words[1] == "plays"}
    assert len(hand) == 10
    assert {word.strip(")") for words in lines for word in words} & codes == hand | played_cards


def test_terminal_sentences_have_correct_grammar(tmp_path: Path) -> None:
    out = run_command(tmp_path, "play", "--game", "metamazzo", text="1\n1\n1\nq\n").stdout
    assert "You are South." in out
    assert "You takes" not in out
    assert "takes the trick" in out


@COMPILED_SEARCHES
def test_analyse_lists_lost_points(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    options = ("--game", "testa", "--games", "2", "--rules", "target=11", "--players", "greedy,random")
    assert invoke_cli("simulate", *options, "--out", str(path)).exit_code == 0
    out = invoke_cli("analyse", str(path)).output
    assert "South" in out
    assert "North" in out
    assert out.count("decisions") == 2
    assert "instead of" in out
    assert "decisioni" in invoke_cli("analyse", str(path), "--game", "2", "--lang", "it").output
    missing_game = invoke_cli("analyse", str(path), "--game", "3")
    assert missing_game.exit_code == 2
    assert "has no game 3" in missing_game.output
    (tmp_path / "bad").write_text("{}\n")
    assert invoke_cli("analyse", str(tmp_path / "bad")).exit_code != 0


def test_verify_notes_claims_of_earlier_releases(records_file: Path) -> None:
    table = tie_break_game(release=1)
    table.play(3, "claim")
    records_file.write_text((table.record().to_json() + "\n") * 7, encoding="utf-8")
    done = invoke_cli("verify", str(records_file))
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert lines[0].startswith(
        f"{records_file}: game 1, note: deal 5, move 1: claimed in a tie-break deal without a lead"
    )
    assert len([line for line in lines if ", note: " in line]) == 5
    assert lines[5:] == [f"{records_file}: and 2 more notes", f"{records_file}: 7 games, no faults"]
