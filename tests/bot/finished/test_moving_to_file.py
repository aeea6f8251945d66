"""Games moved from the store into a file: none is lost or duplicated if the move is interrupted."""

import asyncio
import gzip
import json
import os
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import typer
from typer.testing import CliRunner

from bot.cli.arguments import parse_duration
from bot.cli.main import app
from bot.features.ratings.honours import Honours, closed_month
from bot.finished.archive import Archive, ArchiveEntry
from bot.finished.archive_file import merge_with_files, read_all_entries, read_entries, rewrite_file
from bot.finished.game import FinishedGame, UnreadableGame
from bot.finished.moving_to_file import GameMover, MoveResult
from bot.finished.ratings import Ratings
from bot.identity import programs
from bot.store import EmbeddedStore, Store, StoreError, keys, open_store
from tests.bot.command import run_command
from tests.bot.finished.games import ENDED_AT, finished_game, rename_player, store_game
from tests.bot.finished.test_archive import load_ratings
from tests.long import mostly_long

GAMES = 12
IN_MARCH = datetime(2026, 3, 1, 2, tzinfo=UTC)


async def store_rated_games(store: Store) -> Ratings:
    """Store and rate twelve games of a month, and make its honours."""
    for number in range(1, GAMES + 1):
        await store_game(store, finished_game(number))
    ratings = Ratings(store.client, Archive(store.client))
    assert await ratings.catch_up() == GAMES
    await Honours(store.client, ratings.archive, ratings).close_past_months(IN_MARCH)
    return ratings


async def move_games(store: Store, path: Path, before: int = 7) -> MoveResult:
    return await GameMover(store.client, path, lambda _: None).move(ENDED_AT + before, await closed_month(store.client))


async def list_stored_numbers(store: Store) -> list[int]:
    return [entry.number async for entry in Archive(store.client).entries_after(0) if entry.game]


def list_file_numbers(path: Path) -> list[int]:
    return [entry.number for entry in read_entries(path)]


async def test_moved_games_keep_their_ratings(any_store: Store, tmp_path: Path) -> None:
    store, path = any_store, tmp_path / "old.jsonl"
    ratings = await store_rated_games(store)
    before = await load_ratings(store)
    assert await move_games(store, path) == MoveResult(6, [])
    assert await list_stored_numbers(store) == [7, 8, 9, 10, 11, 12]
    assert list_file_numbers(path) == [1, 2, 3, 4, 5, 6]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not [key async for key in store.client.scan_iter(match=keys.game("T00[1-6]*"))]
    assert await load_ratings(store) == before
    # Later games are appended.
    assert await move_games(store, path, 9) == MoveResult(2, [])
    assert list_file_numbers(path) == [1, 2, 3, 4, 5, 6, 7, 8]
    report = await ratings.rebuild(read_all_entries([path]))
    assert (report.games, report.holes, report.lost) == (GAMES, [], [])
    assert await load_ratings(store) == before
    # Without the file the ratings differ, and the missing games are reported.
    report = await ratings.rebuild()
    assert (report.games, report.holes) == (4, [range(1, 9)])
    assert await load_ratings(store) != before
    assert await Archive(store.client).count_moved() == 8
    await store_game(store, finished_game(20))
    assert [entry.number async for entry in Archive(store.client).entries_after(0)][-1] == GAMES + 1


@pytest.mark.parametrize("is_dangling", [True, False])
async def test_archive_follows_a_symbolic_link(store: Store, tmp_path: Path, is_dangling: bool) -> None:
    link, real = tmp_path / "old.jsonl", tmp_path / "real.jsonl"
    link.symlink_to(real)
    if not is_dangling:
        real.touch()
    await store_rated_games(store)
    assert await move_games(store, link) == MoveResult(6, [])
    assert link.readlink() == real
    assert list_file_numbers(real) == [1, 2, 3, 4, 5, 6]
    rewrite_file(link, lambda entry: entry.game if entry.number > 1 else None)
    assert link.readlink() == real
    assert list_file_numbers(real) == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("kind", ["pipe", "directory", "device"])
async def test_archive_must_be_a_regular_file(store: Store, tmp_path: Path, kind: str) -> None:
    path = Path("/dev/null") if kind == "device" else tmp_path / "old.jsonl"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    await store_rated_games(store)
    with pytest.raises(OSError, match=f"is a {kind}, and must be a file"):
        await move_games(store, path)
    assert len(await list_stored_numbers(store)) == GAMES


async def test_unfinished_or_unreadable_games_stay(store: Store, tmp_path: Path) -> None:
    """Games stay if they are unrated, unreadable or wrong, or if their table is not removed yet."""
    await store_rated_games(store)
    await store.append("T002", await store.load("T002"), [b"open testa paper:1 Anna\t1"])
    await store.client.set(keys.game(finished_game(3).id), b"no game")
    record = finished_game(4).record
    wrong_game = replace(finished_game(4), record=record.model_copy(update={"winner": [1 - (record.winner or [0])[0]]}))
    await store.client.set(keys.game(wrong_game.id), wrong_game.to_bytes())
    await store_game(store, finished_game(13, ended=ENDED_AT))
    assert await move_games(store, tmp_path / "old", 99) == MoveResult(GAMES - 3, [wrong_game.id])
    assert await list_stored_numbers(store) == [2, 4, 13]


async def test_games_stay_until_their_months_honours_are_made(store: Store, tmp_path: Path) -> None:
    ratings = await store_rated_games(store)
    honours = Honours(store.client, ratings.archive, ratings)
    await store_game(store, finished_game(13, ended=int(IN_MARCH.timestamp())))
    await ratings.catch_up()
    april = (IN_MARCH + timedelta(days=31)).timestamp()
    assert await move_games(store, tmp_path / "old", int(april) - ENDED_AT) == MoveResult(GAMES, [])
    assert await list_stored_numbers(store) == [13]
    await honours.close_past_months(IN_MARCH + timedelta(days=31))
    assert await move_games(store, tmp_path / "old", int(april) - ENDED_AT) == MoveResult(1, [])


@pytest.mark.long
@pytest.mark.parametrize("step", mostly_long(range(1, 30, 2), 1, 9, 17, 25))
async def test_interrupted_move_can_be_continued(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """The process dies after `step` store commands."""
    path = tmp_path / "old"
    ratings = await store_rated_games(store)
    before = await load_ratings(store)
    remaining = [step]
    execute = type(store.client).execute_command

    async def die_later(self: object, *args: object, **options: object) -> object:
        remaining[0] -= 1
        if remaining[0] < 0:
            raise KeyboardInterrupt
        return await execute(self, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(type(store.client), "execute_command", die_later)
        try:
            await move_games(store, path)
        except KeyboardInterrupt:
            pass
        else:
            assert step > 20
    if path.exists() and step % 4 == 1:
        # The process died while it was writing a line.
        with path.open("ab") as file:
            file.write(b'{"format":"buongioco-fin')
    await move_games(store, path)
    assert list_file_numbers(path) == [1, 2, 3, 4, 5, 6]
    assert await list_stored_numbers(store) == [7, 8, 9, 10, 11, 12]
    assert await Archive(store.client).count_moved() == 6
    assert (await ratings.rebuild(read_all_entries([path]))).games == GAMES
    assert await load_ratings(store) == before


async def test_game_stays_until_the_files_folder_is_synced(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sync = tmp_path / "old", os.fsync
    await store_rated_games(store)

    def fail_on_folders(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError("no folder")
        sync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail_on_folders)
        for _ in range(2):
            with pytest.raises(OSError, match="no folder"):
                await move_games(store, path)
            assert len(await list_stored_numbers(store)) == GAMES
        with pytest.raises(OSError, match="no folder"):
            rewrite_file(path, lambda entry: entry.game)
    await move_games(store, path)
    assert list_file_numbers(path) == [1, 2, 3, 4, 5, 6]


async def test_archive_is_readable_only_by_its_owner(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.touch()
    path.chmod(0o644)
    await store_rated_games(store)
    await move_games(store, path)
    assert path.stat().st_mode & 0o777 == 0o600


async def test_merge_has_each_game_once_without_gaps(store: Store, tmp_path: Path) -> None:
    await store_rated_games(store)
    await move_games(store, tmp_path / "old")
    await store_game(store, finished_game(1))
    await store.client.zadd(keys.GAMES_ORDER, {finished_game(2).id: 2, finished_game(3).id: 3})
    await store.client.set(keys.game(finished_game(3).id), finished_game(3).to_bytes())
    await store.client.zadd(keys.GAMES_ORDER, {finished_game(1).id: 1})
    games = [entry async for entry in merge_with_files(Archive(store.client), read_all_entries([tmp_path / "old"] * 2))]
    assert [entry.number for entry in games] == list(range(1, GAMES + 1))
    assert all(entry.game for entry in games)


async def test_game_changed_during_the_move_is_written_again(store: Store, tmp_path: Path) -> None:
    """A person was forgotten during the move: the file must not keep their name."""
    path = tmp_path / "old"
    await store_rated_games(store)
    mover = GameMover(store.client, path, lambda _: None)
    remove = mover._remove_from_store

    async def rewrite_first(entry: ArchiveEntry, content: bytes) -> None:
        if entry.id == finished_game(2).id:
            await Archive(store.client).rewrite(entry.id, lambda game: rename_player(game, "somebody"))
        await remove(entry, content)

    mover._remove_from_store = rewrite_first  # type: ignore[method-assign]
    with pytest.raises(StoreError, match="run the same command again"):
        await mover.move(ENDED_AT + 7, await closed_month(store.client))
    await move_games(store, path)
    assert sorted(list_file_numbers(path)) == [1, 2, 3, 4, 5, 6]
    [second] = [entry.read().game for entry in read_entries(path) if entry.number == 2]
    assert second == rename_player(finished_game(2), "somebody")


@pytest.mark.parametrize("is_interrupted", [False, True])
async def test_archived_games_count_towards_a_guests_trial(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_interrupted: bool
) -> None:
    monkeypatch.setattr(programs, "GUESTS", "paper:2")
    archive = Archive(store.client)
    await store.client.hset(keys.person("paper:2"), mapping={"name": "Ada"})
    games = [replace(finished_game(1), id=f"A{n}-1", code=f"A{n}", trial=True, ended=ENDED_AT + n) for n in range(5)]
    for game in [replace(game, people=["paper:1", "paper:2"]) for game in games]:
        await archive.keep(game)
    await Ratings(store.client, archive).catch_up()
    # A later month's game lets the honours of this month be made.
    await archive.keep(replace(finished_game(9), ended=ENDED_AT + 40 * 86400))
    await Honours(store.client, archive, Ratings(store.client, archive)).close_past_months(IN_MARCH)
    path = tmp_path / "old"
    if is_interrupted:

        async def fail_to_remove(entry: ArchiveEntry, content: bytes) -> None:
            raise ConnectionError

        mover = GameMover(store.client, path, lambda _: None)
        mover._remove_from_store = fail_to_remove  # type: ignore[method-assign]
        with pytest.raises(ConnectionError):
            await mover.move(ENDED_AT + 2, await closed_month(store.client))
        assert await list_stored_numbers(store) == [1, 2, 3, 4, 5, 6]
    for before in (2, 2, 9):
        await move_games(store, path, before)
        assert await archive._count_finished("paper:2") == 3
    assert await list_stored_numbers(store) == [6]
    # A guest who has been forgotten gets no new profile.
    await store.client.delete(keys.person("paper:2"))
    await archive.note_in_file(1, replace(games[0], people=["paper:1", "paper:2"]))
    assert not await store.client.exists(keys.person("paper:2"))


async def test_file_is_rewritten_completely_or_not_at_all(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "old"
    await store_rated_games(store)
    await move_games(store, path)
    rewrite_file(path, lambda entry: rename_player(entry.game, "somebody") if entry.game else None)
    assert {entry.read().game.record.seats[0] for entry in read_entries(path)} == {"somebody"}  # type: ignore[union-attr]
    before = path.read_bytes()

    def fail(_: object) -> FinishedGame:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        rewrite_file(path, fail)
    assert path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name != "data"] == ["old"]


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        b"hello\n",
        b"{}\n",
        b'{"format":"buongioco-finished/1"}\n',
        b"[" * 9999 + b"\n",
        b"\n",
        # Files without a newline at the end.
        b"hello",
        b"hello\nworld",
        b'{"format":"buongioco/1"}',
        b'{"name":"mine"}',
        b'{\n  "format": "buongioco-finished/1"}',
        gzip.compress(b"hello", mtime=0),
        b"\x00\nhello",
    ],
)
async def test_other_files_are_not_changed(store: Store, tmp_path: Path, text: bytes) -> None:
    await store_rated_games(store)
    path = tmp_path / "mine"
    path.write_bytes(text)
    with pytest.raises(UnreadableGame, match=r"line 1|is compressed"):
        await move_games(store, path)
    assert path.read_bytes() == text
    assert len(await list_stored_numbers(store)) == GAMES


@pytest.mark.long
@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"format":"buongioco-fini', b'{"format":"buongioco-finished/1","number":1,']
)
async def test_incomplete_first_line_is_dropped(store: Store, tmp_path: Path, content: bytes) -> None:
    await store_rated_games(store)
    path = tmp_path / "old"
    path.write_bytes(content)
    assert await move_games(store, path) == MoveResult(6, [])
    assert list_file_numbers(path) == [1, 2, 3, 4, 5, 6]


async def test_last_line_without_a_newline_is_kept(store: Store, tmp_path: Path) -> None:
    """The game of this line is stored nowhere else."""
    await store_rated_games(store)
    path = tmp_path / "old"
    await move_games(store, path)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert await move_games(store, path, 9) == MoveResult(2, [])
    assert list_file_numbers(path) == [1, 2, 3, 4, 5, 6, 7, 8]


async def test_commands_read_the_archive(tmp_path: Path) -> None:
    async def run(*arguments: str) -> CompletedProcess[str]:
        return await asyncio.to_thread(run_command, tmp_path, *arguments)

    valkey = EmbeddedStore(tmp_path / "data")
    await valkey.start()
    async with open_store(valkey.url) as store:
        await store_rated_games(store)
        before = await load_ratings(store)
    await valkey.stop()
    result = await run("archive", "--older-than", "1h", "--out", "old.jsonl")
    assert (result.returncode, result.stdout) == (
        0,
        f"old.jsonl: 12 games moved out of the store in {tmp_path / 'data'}\n",
    ), result.stderr

    # Every command that reads records accepts the file.
    assert "12 games, no faults" in (await run("verify", "old.jsonl")).stdout
    assert "Deal 1" in (await run("replay", "old.jsonl", "--game", "2")).stdout
    result = await run("export", "--from", "old.jsonl", "--person", "paper:1")
    assert result.stderr == "8 games\n"
    assert all(json.loads(line)["format"] == "buongioco/1" for line in result.stdout.splitlines())
    assert (await run("export")).stderr == "0 games\n"

    # An input file is not overwritten, under any name.
    archived = (tmp_path / "old.jsonl").read_bytes()
    (tmp_path / "link.jsonl").symlink_to("old.jsonl")
    for output in ("old.jsonl", "link.jsonl"):
        result = await run("export", "--from", "old.jsonl", "--out", output)
        assert result.returncode == 2
        assert "name another file" in " ".join(result.stderr.split())
        assert (tmp_path / "old.jsonl").read_bytes() == archived

    # Ratings are not lost by mistake.
    result = await run("rebuild")
    assert result.returncode == 2
    assert "Give all files with --from" in result.stderr
    result = await run("rebuild", "--from", "old.jsonl")
    assert (result.stdout, result.stderr) == ("ratings rebuilt from 12 games\n", "")
    await valkey.start()
    async with open_store(valkey.url) as store:
        assert await load_ratings(store) == before
    await valkey.stop()
    result = await run("rebuild", "--incomplete")
    assert "missing: numbers 1 to 12 are not in the store" in result.stderr


@pytest.mark.parametrize("text", ["", "365", "d", "0d", "-1d", "1.5d", "365 d", "1m", "1y", "٣d", "1d1h", "9999999d"])
def test_invalid_duration_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="365d or 12w"):
        parse_duration(text)
    result = CliRunner().invoke(app, ["archive", f"--older-than={text}", "--out", "x"])
    assert result.exit_code == 2
    assert "not a duration" in result.output


def test_durations_are_in_seconds() -> None:
    assert [parse_duration(text) for text in ("24h", "365d", "12w")] == [86400, 365 * 86400, 84 * 86400]
