"""What a host and a stranger check of the days: `buongioco daily` and `verify --chain`."""

from datetime import date
from pathlib import Path

from typer.testing import CliRunner

from bot.cli import main as cli
from bot.daily.chain import Chain
from engine import Game
from tests.bot.command import command

CHAIN = Chain(bytes(range(32)), date(2026, 11, 24))


def record(secret: bytes, path: Path) -> Path:
    game = Game("metamazzo", {}, ["Anna", "Bruno"])
    game.deal(secret)
    while game.deal_number == 1 and game.turn is not None:
        game.play(game.turn, next(one for one in game.legal_moves(game.turn) if one.startswith("play ")))
    game.stop("cancelled")
    path.write_text(game.record().to_json() + "\n", encoding="utf-8")
    return path


def test_a_record_of_a_day_is_checked_against_the_end_of_the_chain(tmp_path: Path) -> None:
    ours = record(CHAIN.secret(date(2026, 12, 24)), tmp_path / "ours.jsonl")
    other = record(b"x" * 32, tmp_path / "other.jsonl")
    run = CliRunner().invoke
    assert run(cli.app, ["verify", str(ours), "--chain", CHAIN.end]).exit_code == 0
    assert run(cli.app, ["verify", str(other)]).exit_code == 0
    refused = run(cli.app, ["verify", str(other), "--chain", CHAIN.end])
    assert refused.exit_code == 1
    assert "it is no deal of a day of this chain" in refused.stdout
    wrong = run(cli.app, ["verify", str(ours), "--chain", "abc"])
    assert wrong.exit_code == 2
    assert "64 hexadecimal digits" in wrong.output


def test_a_host_reads_what_to_publish(tmp_path: Path) -> None:
    once, again = (command(tmp_path, "daily", BUONGIOCO_PLAYGROUND_PORT="0") for _ in range(2))
    assert once.returncode == 0, once.stderr
    assert once.stdout == again.stdout
    assert "chain from " in once.stdout
    assert "Europe/Rome: " in once.stdout
    assert "played by 0 players" in once.stdout
