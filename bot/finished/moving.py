"""Moving finished games out of the store into a file; their ratings stay.

A game goes from the store only when its month's honours are made, and its line is on disk, was read back, is the same
game and verifies. Cut short anywhere, the same command with the same file goes on: what the file has is taken out of
the store, and half a line at the file's end is dropped, for its game is still in the store.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import structlog

from bot.disk import regular_target, sync_folder
from bot.finished.archive import Archive, ArchiveEntry
from bot.finished.file import LONGEST_LINE, begins_with_game, from_line, read_entries, rewrite_file, to_line
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
    """How many games were moved, and the ids of those that stay because they do not verify."""

    games: int
    faulty: list[str]


class GameMover:
    """Moves games of one store into one file; ``on_game`` is told of each that was looked at."""

    def __init__(self, client: Any, path: Path, on_game: Callable[[int], None]) -> None:
        self._client, self._path, self._on_game = client, path, on_game
        self._archive = Archive(client)
        self._drop, self._leave = client.register_script(DELETE_IF), client.register_script(LEAVE)

    async def move(self, before: int, last_month: str) -> MoveResult:
        """Move games that ended before this Unix second, in ``last_month`` (as 2026-11) or earlier.

        Pass the last month whose honours are made: later games are still needed for theirs. Raises UnreadableGame for a
        file that holds something else, and OSError for a file that cannot be written, even if no game is old enough.
        Raises StoreError if a game changed while it was being moved: run the same again.
        """
        self._path = regular_target(self._path)
        _check_writable(self._path)
        moved = await self._finish_interrupted() if self._path.exists() else 0
        rated = await Ratings(self._client, self._archive).last_rated_number()
        faulty: list[str] = []
        batch: list[tuple[ArchiveEntry, bytes]] = []
        async for number, id, stored in self._archive.stored_entries_after(0):  # noqa: A001
            if number > rated:
                break
            self._on_game(1)
            entry = await self._old_entry(number, id, stored, before)
            if entry is None or stored is None or entry.game is None or entry.game.month > last_month:
                continue
            if not _is_valid(entry.game):
                faulty.append(id)
                continue
            batch.append((entry, stored))
            if len(batch) >= GAMES_AT_ONCE:
                moved += await self._move_batch(batch)
                batch = []
        return MoveResult(moved + await self._move_batch(batch), faulty)

    async def _old_entry(self, number: int, id: str, stored: bytes | None, before: int) -> ArchiveEntry | None:  # noqa: A002
        """The game if it can be read, is old, and delivery is done with its table."""
        try:
            game = FinishedGame.parse(stored) if stored else None
        except UnreadableGame:
            return None
        if game is None or game.ended >= before or await self._client.exists(keys.table(game.code)):
            return None
        return ArchiveEntry(number, id, game)

    async def _move_batch(self, batch: list[tuple[ArchiveEntry, bytes]]) -> int:
        """Write games to the file, read them back, and only then have them go."""
        if not batch:
            return 0
        lines = [to_line(entry.number, entry.game) for entry, _ in batch if entry.game]
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a+b") as file:
            if os.fstat(descriptor).st_mode & 0o077:
                # It was there already, and what people played is for its owner alone.
                try:
                    os.fchmod(descriptor, 0o600)
                except PermissionError:
                    log.warning("archive_is_somebody_elses", file=str(self._path))
            begin = file.seek(0, os.SEEK_END)
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
            file.seek(begin)
            for entry, _ in batch:
                if from_line(file.readline()) != entry:
                    raise UnreadableGame(f"{self._path} does not hold what was written to it: {entry.id}")
        sync_folder(self._path)
        for entry, stored in batch:
            await self._remove_from_store(entry, stored)
        return len(batch)

    async def _remove_from_store(self, entry: ArchiveEntry, stored: bytes) -> None:
        if entry.game:
            await self._archive.note_in_file(entry.number, entry.game)
        if not await self._drop(keys=[keys.game(entry.id)], args=[stored]):
            raise StoreError(f"The game {entry.id} was changed while it was being moved: run the same again.")
        await self._leave(keys=[keys.GAMES_ORDER, keys.GAMES_MOVED], args=[entry.id])

    async def _finish_interrupted(self) -> int:
        """Take out of the store what the file has; returns how many games."""
        # Whoever wrote it may have been cut short before it was on disk.
        _drop_partial_line(self._path)
        sync_folder(self._path)
        stale: set[str] = set()
        done = 0
        for one in read_entries(self._path):
            if await self._client.zscore(keys.GAMES_ORDER, one.id) != one.number:
                continue
            stored = await self._client.get(keys.game(one.id))
            entry = one.read()
            if stored and FinishedGame.parse(stored) != entry.game:
                stale.add(one.id)
                continue
            await self._remove_from_store(entry, stored or b"")
            done += 1
        if stale:
            # They were changed after they were written: they are written anew.
            rewrite_file(self._path, lambda entry: None if entry.id in stale else entry.game)
        return done


def _is_valid(game: FinishedGame) -> bool:
    try:
        verify(game.record)
    except FaultyRecord:
        return False
    return True


def _check_writable(path: Path) -> None:
    """Open the file as games will be written to it; one that was not there is not there afterwards."""
    is_new = not path.exists()
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600))
    if is_new:
        path.unlink()


def _drop_partial_line(path: Path) -> None:
    """Cut off a line that was not written to its end. A file that does not begin with a game is somebody else's, and
    stays as it is.
    """
    with path.open("r+b") as file:
        if not begins_with_game(file.readline(LONGEST_LINE)):
            return
        end = file.seek(0, os.SEEK_END)
        begin = end
        while begin > 0:
            step = min(65536, begin)
            file.seek(begin - step)
            found = file.read(step).rfind(b"\n")
            if found >= 0:
                begin = begin - step + found + 1
                break
            begin -= step
        if begin < end:
            file.seek(begin)
            try:
                from_line(file.read())
            except UnreadableGame:
                file.truncate(begin)
            else:
                # All of it is there but its end, and the store may have it no more.
                file.write(b"\n")
                file.flush()
        os.fsync(file.fileno())
