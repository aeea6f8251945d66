"""Moving finished games out of the store into a file. Their ratings stay.

A game leaves the store only after its month's honours are final, its record is verified, and its line is synced, read
back and compared. After an interruption, the same command with the same file continues: games in the file leave the
store, and a partial last line is removed, because its game is still in the store.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import structlog

from bot.atomic_files import regular_target, sync_folder
from bot.finished.archive import Archive, ArchiveEntry
from bot.finished.archive_file import LONGEST_LINE, begins_with_game, from_line, read_entries, rewrite_file, to_line
from bot.finished.game import FinishedGame, UnreadableGame
from bot.finished.ratings import Ratings
from bot.store import StoreError, keys
from bot.store.lua import DELETE_IF, read_script
from engine import verify
from engine.errors import FaultyRecord

GAMES_AT_ONCE = 100
log = structlog.get_logger()
LEAVE = read_script(__file__, "leave_store")


class MoveResult(NamedTuple):
    games: int
    faulty: list[str]  # ids of games that stay, because their records do not verify


class GameMover:
    """Moves games of one store into one file. ``on_game`` is called with 1 for each game checked."""

    def __init__(self, client: Any, path: Path, on_game: Callable[[int], None]) -> None:
        self._client, self._path, self._on_game = client, path, on_game
        self._archive = Archive(client)
        self._drop, self._leave = client.register_script(DELETE_IF), client.register_script(LEAVE)

    async def move(self, end_time: int, last_month: str) -> MoveResult:
        """Move games that ended before this Unix second, in ``last_month`` (such as 2026-11) or earlier.

        ``last_month`` is the last month whose honours are final. Raise UnreadableGame if the file has
        other content. Raise OSError if it is not writable, even if no game is old enough. Raise StoreError if a game
        changed during the move: run it again then.
        """
        self._path = regular_target(self._path)
        is_new = not self._path.exists()
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600))
        if is_new:
            # The file was created only to check that it can be written.
            self._path.unlink()
        moved_count = 0 if is_new else await self._finish_interrupted()
        last_rated = await Ratings(self._client, self._archive).last_rated_number()
        faulty: list[str] = []
        batch: list[tuple[ArchiveEntry, bytes]] = []
        async for number, game_id, content in self._archive.stored_entries_after(0):
            if number > last_rated:
                break
            self._on_game(1)
            try:
                game = FinishedGame.parse(content) if content else None
            except UnreadableGame:
                continue
            if not content or not game or game.ended >= end_time or game.month > last_month:
                continue
            if await self._client.exists(keys.table(game.code)):
                continue
            try:
                verify(game.record)
            except FaultyRecord:
                faulty.append(game_id)
                continue
            batch.append((ArchiveEntry(number, game_id, game), content))
            if len(batch) >= GAMES_AT_ONCE:
                moved_count += await self._move_batch(batch)
                batch = []
        return MoveResult(moved_count + await self._move_batch(batch), faulty)

    async def _move_batch(self, batch: list[tuple[ArchiveEntry, bytes]]) -> int:
        """Write games to the file, read them back, and only then remove them from the store."""
        if not batch:
            return 0
        lines = [to_line(entry.number, entry.game) for entry, _ in batch if entry.game]
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a+b") as file:
            if os.fstat(descriptor).st_mode & 0o077:
                # The file existed before. Only its owner should be able to read the games.
                try:
                    os.fchmod(descriptor, 0o600)
                except PermissionError:
                    log.warning("archive_file_not_owned", file=str(self._path))
            start = file.seek(0, os.SEEK_END)
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
            file.seek(start)
            for entry, _ in batch:
                if from_line(file.readline()) != entry:
                    raise UnreadableGame(
                        f"{self._path} lost what was written to it: check the disk. Game {entry.id} stays in the store"
                    )
        sync_folder(self._path)
        for entry, content in batch:
            await self._remove_from_store(entry, content)
        return len(batch)

    async def _remove_from_store(self, entry: ArchiveEntry, content: bytes) -> None:
        if entry.game:
            await self._archive.note_in_file(entry.number, entry.game)
        if not await self._drop(keys=[keys.game(entry.id)], args=[content]):
            raise StoreError(f"Game {entry.id} changed while it was being moved: run the same command again.")
        await self._leave(keys=[keys.GAMES_ORDER, keys.GAMES_MOVED], args=[entry.id])

    async def _finish_interrupted(self) -> int:
        # An interrupted run might have left a partial or unsynced line.
        _drop_partial_line(self._path)
        sync_folder(self._path)
        stale_ids: set[str] = set()
        removed_count = 0
        for file_entry in read_entries(self._path):
            if await self._client.zscore(keys.GAMES_ORDER, file_entry.id) != file_entry.number:
                continue
            content = await self._archive.get_bytes(file_entry.id)
            entry = file_entry.read()
            if content and FinishedGame.parse(content) != entry.game:
                stale_ids.add(file_entry.id)
            else:
                await self._remove_from_store(entry, content or b"")
                removed_count += 1
        if stale_ids:
            # These games changed after they were written, and `move` writes them again.
            rewrite_file(self._path, lambda entry: None if entry.id in stale_ids else entry.game)
        return removed_count


def _drop_partial_line(path: Path) -> None:
    """Remove a partial last line. A file that does not begin with a game is left alone."""
    with path.open("r+b") as file:
        if not begins_with_game(file.readline(LONGEST_LINE)):
            return
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - LONGEST_LINE - 1))
        line = file.read().rpartition(b"\n")[2]
        if line:
            try:
                from_line(line)
            except UnreadableGame:
                file.truncate(end - len(line))
            else:
                # Only the line end is missing. The game might have left the store already.
                file.write(b"\n")
                file.flush()
        os.fsync(file.fileno())
