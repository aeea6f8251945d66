"""The commands `buongioco daily` and `verify --chain`."""

import asyncio
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from typer.testing import CliRunner

from bot.cli import main as cli
from bot.features.daily import keys
from bot.features.daily.days import load_chain
from bot.features.daily.pages import PastDay, yesterday_panel
from bot.features.daily.secret_chain import Chain
from bot.store import EmbeddedStore, open_store
from engine import Game
from tests.bot.command import run_command

CHAIN = Chain(bytes(range(32)), date(2026, 11, 24))


def write_record(secret: bytes, path: Path) -> Path:
    game = Game("metamazzo", {}, ["Anna", "Bruno"])
    game.deal(secret)
    while game.deal_number == 1 and game.turn is not None:
        game.play(game.turn, next(move for move in game.legal_moves(game.turn) if move.startswith("play ")))
    game.stop("cancelled")
    path.write_text(game.record().to_json() + "\n", encoding="utf-8")
    return path


def test_record_is_checked_against_the_chains_end(tmp_path: Path) -> None:
    record_path = write_record(CHAIN.secret(date(2026, 12, 24)), tmp_path / "ours.jsonl")
    other = write_record(b"x" * 32, tmp_path / "other.jsonl")
    run = CliRunner().invoke
    assert run(cli.app, ["verify", str(record_path), "--chain", CHAIN.end]).exit_code == 0
    assert run(cli.app, ["verify", str(other)]).exit_code == 0
    result = run(cli.app, ["verify", str(other), "--chain", CHAIN.end])
    assert result.exit_code == 1
    assert "it is not a daily deal of this chain" in result.stdout
    result = run(cli.app, ["verify", str(record_path), "--chain", "abc"])
    assert result.exit_code == 2
    assert "64 hexadecimal digits" in result.output


async def test_daily_command_shows_what_to_publish(tmp_path: Path) -> None:
    valkey = EmbeddedStore(tmp_path / "data")
    await valkey.start()
    async with open_store(valkey.url) as store:
        # The stored game counts, not this release's choice.
        today = datetime.now(UTC).date()
        stored_games = {(today + timedelta(days=offset)).isoformat(): "tavolo" for offset in (-1, 0, 1)}
        await store.client.hset(keys.DRAWN, mapping=stored_games)
        results = [
            await asyncio.to_thread(run_command, tmp_path, "daily", BUONGIOCO_PLAYGROUND_PORT="0") for _ in range(2)
        ]
        # The day follows the bot's time zone, not the command's.
        await store.leases.report_alive("worker", "Etc/GMT-14")
        with_zone = [
            await asyncio.to_thread(run_command, tmp_path, "daily", BUONGIOCO_TIME_ZONE=zone)
            for zone in ("Etc/GMT+12", "Etc/GMT-14")
        ]
        end = (await load_chain(store.client, datetime.now(UTC).date() + timedelta(days=1))).end
    await valkey.stop()
    assert [result.returncode for result in results] == [0, 0], results[0].stderr
    assert results[0].stdout == results[1].stdout
    assert f"end {end}" in results[0].stdout
    assert ": tavolo, played by 0 players" in results[0].stdout
    assert with_zone[0].stdout == with_zone[1].stdout
    assert ", Etc/GMT-14: " in with_zone[0].stdout


def test_day_without_a_secret_shows_no_secret_line() -> None:
    past = PastDay(date(2026, 11, 25), "testa", None, None, "", "", "")
    assert "Secret" not in yesterday_panel("en", "italian", past, ()).plain
    assert "Secret: ab12" in yesterday_panel("en", "italian", past._replace(secret="ab12"), ()).plain
