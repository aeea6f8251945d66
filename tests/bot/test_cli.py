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
from tests.bot.command import command, exit_status
from tests.engine.tables import tie_break_game
from tests.groups import COMPILED_SEARCHES

BUONGIOCO = [sys.executable, "-c", "from bot.cli.main import main; main()"]


def call(*words: str, text: str | None = None) -> Result:
    return CliRunner().invoke(cli.app, list(words), input=text)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Three short games of testa."""
    path = tmp_path / "games.jsonl"
    assert (
        call("simulate", "--game", "testa", "--games", "3", "--rules", "target=11", "--out", str(path)).exit_code == 0
    )
    return path


def test_games_lists_every_game_option_value_and_default() -> None:
    out = call("games").output
    for game, kind in GAMES.items():
        assert f"{game}: {kind.name}" in out
    assert "target = 21 | 31 | 41 | 51  (default 51)" in out
    assert "declare = three_tricks | none  (default three_tricks)" in out
    assert "layout = full  (fixed)" in out


@pytest.mark.parametrize("game", GAMES)
def test_simulate_then_verify_then_replay(game: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    words = (
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
    assert call(*words).exit_code == 0
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2
    assert all(len(move) == 3 for line in lines for deal in json.loads(line)["deals"] for move in deal["moves"])
    verified = call("verify", str(path))
    assert verified.exit_code == 0
    assert "2 games, no faults" in verified.output
    for language in ("en", "it"):
        told = call("replay", str(path), "--game", "2", "--lang", language)
        assert told.exit_code == 0
        assert len(told.output.splitlines()) > 20
    assert "Smazzata 1" in told.output


def test_simulate_is_deterministic_for_a_seed_and_a_prefix_of_more_games() -> None:
    words = ("simulate", "--game", "metamazzo", "--games")
    two = subprocess.run([*BUONGIOCO, *words, "2", "--seed", "9"], capture_output=True, check=True, text=True).stdout
    three = call(*words, "3", "--seed", "9").output
    other = call(*words, "2", "--seed", "8").output
    assert three.startswith(two)
    assert two != other


def test_rules_may_follow_one_flag_or_stand_in_several(tmp_path: Path) -> None:
    def simulated(*words: str) -> str:
        return command(tmp_path, "simulate", "--game", "pizzichino", "--seed", "3", *words).stdout

    one = simulated("--rules", "target=21", "reuse=true")
    several = simulated("--rules", "target=21", "--rules", "reuse=true")
    commas = simulated("--rules", "target=21,reuse=true")
    assert one == several == commas
    assert json.loads(one)["rules"]["reuse"] is True


def test_the_progress_bar_is_for_terminals_only() -> None:
    words = [*BUONGIOCO, "simulate", "--game", "testa", "--games", "3"]
    assert subprocess.run(words, capture_output=True, check=True).stderr == b""
    ours, theirs = pty.openpty()
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=theirs, check=True)
    os.close(theirs)
    seen = os.read(ours, 10_000)
    os.close(ours)
    assert b"100%" in seen
    assert done.stdout.count(b"\n") == 3


@pytest.mark.parametrize(
    ("words", "says"),
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
def test_a_users_mistake_is_a_clear_line_and_exit_2(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    done = command(tmp_path, *words)
    assert done.returncode == 2
    assert says in " ".join(done.stderr.replace("│", " ").split())


@pytest.mark.parametrize(("code", "status"), [(None, 0), (0, 0), (3, 3), ("no such table", 1), ("", 1)])
def test_a_command_that_ends_in_the_tests_process_has_the_status_that_the_shell_sees(
    code: int | str | None, status: int
) -> None:
    with pytest.raises(SystemExit) as end:
        sys.exit(code)
    assert exit_status(end.value) == status
    assert subprocess.run([sys.executable, "-c", f"raise SystemExit({code!r})"], check=False).returncode == status


def test_a_users_mistake_is_one_line_and_exit_2_from_the_shell() -> None:
    done = subprocess.run([*BUONGIOCO, "play", "--game", "scopa"], capture_output=True, check=False, text=True)
    assert done.returncode == 2
    assert "There is no game called 'scopa'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_verify_names_file_game_deal_and_move_and_exits_1(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[1])
    record["deals"][0]["moves"][4][1] = "play XX"
    lines[1] = json.dumps(record)
    file.write_text("\n".join(lines), encoding="utf-8")
    done = call("verify", str(file))
    assert done.exit_code == 1
    assert f"{file}: game 2, deal 1, move 5: play XX: 'play XX' is not a move of this game." in done.output
    assert "3 games, 1 fault" in done.output


def test_verify_names_the_first_faulty_games_and_counts_the_others(file: Path) -> None:
    good = file.read_text(encoding="utf-8").splitlines()[0]
    bad = good.replace('"play ', '"paly ', 1)
    file.write_text("\n".join([good, *[bad] * 12]), encoding="utf-8")
    done = call("verify", str(file))
    assert done.exit_code == 1
    lines = done.output.splitlines()
    assert [line.split(", ")[0] for line in lines[:5]] == [f"{file}: game {number}" for number in range(2, 7)]
    assert lines[5:] == [f"{file}: and 7 more faulty games", f"{file}: 13 games, 12 faults"]


def test_verify_says_of_a_file_without_games_that_it_is_another_file(file: Path) -> None:
    file.write_text("This is no record.\n" * 3000, encoding="utf-8")
    done = call("verify", str(file))
    assert done.exit_code == 1
    assert len(done.output.splitlines()) == 6
    assert "not one of its first 100 lines is a game: give a file of records" in done.output


def test_verify_refuses_truncated_corrupted_and_empty_files(file: Path) -> None:
    whole = file.read_bytes()
    for content, says in (
        (whole[:-100], "game 3, record: Invalid JSON"),
        (whole.replace(b'"moves"', b'"noves"', 1), "game 1, deals.0"),
        (b"\xff\xfe\x00" + whole, "file: is UTF-16 or UTF-32 text"),
        (b"\n \n", "there is no game in it"),
        (b"", "there is no game in it"),
    ):
        file.write_bytes(content)
        done = call("verify", str(file))
        assert done.exit_code == 1
        assert says in done.output
        assert "Traceback" not in done.output


def test_verify_reads_a_single_game_spread_over_lines_and_says_what_is_unfinished(file: Path) -> None:
    record = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
    file.write_text(json.dumps(record, indent=2), encoding="utf-8")
    assert "1 game, no faults" in call("verify", str(file)).output
    record["deals"], record["ending"], record["winner"] = [], None, None
    file.write_text(json.dumps(record), encoding="utf-8")
    assert "1 game, 1 unfinished, no faults" in call("verify", str(file)).output


def test_replay_checks_what_it_is_asked_for(file: Path) -> None:
    assert "has no game 9" in call("replay", str(file), "--game", "9").stderr
    assert "deals" in call("replay", str(file), "--deal", "99").stderr
    one = call("replay", str(file), "--deal", "1").output
    assert "Deal 1" in one
    assert "Deal 2" not in one
    assert "20. " in one


def test_replay_obeys_nothing_that_stands_in_a_name(file: Path) -> None:
    record = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
    record["seats"] = ["\x1b[2JEve\n", "\u202eBob"]
    file.write_text(json.dumps(record), encoding="utf-8")
    told = call("replay", str(file)).output
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert "Eve" in told


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("language", ["en", "it"])
def test_a_whole_game_in_the_terminal(tmp_path: Path, game: str, language: str) -> None:
    """Always the first thing on offer; at Spades with bids of 1, which may not end, until the person has had enough."""
    answers = ["1 2 3 4", "exchange", *["2" if game == "spades" else "1"] * 10, "1"] * (20 if game == "spades" else 300)
    answers += ["resign"]
    done = command(tmp_path, "play", "--game", game, "--lang", language, text="\n".join(answers))
    out = done.stdout
    assert done.returncode == 0, done.stderr
    assert (
        ("You win!" in out or "You lose." in out) if language == "en" else ("Hai vinto!" in out or "Hai perso." in out)
    )


def test_the_terminal_explains_and_goes_on(tmp_path: Path) -> None:
    answers = "?\nplay\nclaim\n4D\n99\n\nq\n"
    out = command(tmp_path, "play", "--game", "metamazzo", "--lang", "it", text=answers).stdout
    assert "'play' non è una mossa di questo gioco." in out
    assert "non ci si può chiamare fuori" in out


def test_no_card_is_shown_but_ones_own_and_those_played(tmp_path: Path) -> None:
    """Leaving at the first question: the hand of ten, whatever lies in the trick or was declared, and nothing else."""
    out = command(tmp_path, "play", "--game", "tavolo", "--rules", "declare=none", text="q\n").stdout
    codes = set(GAMES["tavolo"].pack.codes)
    lines = [line.split() for line in out.splitlines()]
    hand = next(set(words[1:]) for words in lines if words and words[0] == "hand")
    played = {words[2] for words in lines if len(words) == 3 and words[1] == "plays"}
    assert len(hand) == 10
    assert {word.strip(")") for words in lines for word in words} & codes == hand | played


def test_the_terminals_sentences_are_about_somebody(tmp_path: Path) -> None:
    out = command(tmp_path, "play", "--game", "metamazzo", text="1\n1\n1\nq\n").stdout
    assert "You are South." in out
    assert "You takes" not in out
    assert "takes the trick" in out


@COMPILED_SEARCHES
def test_analyse_says_where_points_were_given_away(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    options = ("--game", "testa", "--games", "2", "--rules", "target=11", "--players", "greedy,random")
    assert call("simulate", *options, "--out", str(path)).exit_code == 0
    out = call("analyse", str(path)).output
    assert "South" in out
    assert "North" in out
    assert out.count("decisions") == 2
    assert "instead of" in out
    assert "decisioni" in call("analyse", str(path), "--game", "2", "--lang", "it").output
    missing = call("analyse", str(path), "--game", "3")
    assert missing.exit_code == 2
    assert "has no game 3" in missing.output
    (tmp_path / "bad").write_text("{}\n")
    assert call("analyse", str(tmp_path / "bad")).exit_code != 0


def test_verify_notes_a_claim_of_an_earlier_release(file: Path) -> None:
    table = tie_break_game(release=1)
    table.play(3, "claim")
    file.write_text((table.record().to_json() + "\n") * 7, encoding="utf-8")
    done = call("verify", str(file))
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert lines[0].startswith(f"{file}: game 1, note: deal 5, move 1: claimed in a tie-break deal without a lead")
    assert len([line for line in lines if ", note: " in line]) == 5
    assert lines[5:] == [f"{file}: and 2 more notes", f"{file}: 7 games, no faults"]
