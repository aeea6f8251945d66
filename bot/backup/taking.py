"""Reading a whole store into a backup while workers write to it.

Related data is read together. The order of the steps ensures that nothing is missing from the backup or in it twice:

1. People's data, and the keys that list where people are named. The last step reads these keys again, and the backup
   has both versions. A person who is forgotten between the two steps is in the backup, and can be forgotten again
   everywhere.
2. The ratings after a certain game. They are read in parts. Then one script reads those that have changed in the
   meantime.
3. The shards' playing times, so that no clock loses time. Then tables, each in one script: log, shown messages, timer
   and change mark. A game that ends later is in the backup as a table.
4. Finished games: all rated ones, and all others without a live table.
5. Everything else, key by key.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from bot.backup.file import Line, encode_bytes, ignore_progress
from bot.finished.archive import Archive
from bot.finished.ratings import BY_SCOPE, EVERYTHING, Ratings, Scope
from bot.store import StoreError, keys
from bot.store.batch import BatchedScript
from bot.store.lua import read_script

READ_TABLE = read_script(__file__, "table_state")
READ_RATINGS = read_script(__file__, "ratings")

BATCH_SIZE = 100
SCAN_COUNT = 1000

TABLES = "{s*}:table:*"
SHARD_KEYS = ("table:", "shown:", "changed", "timers", "attended", "ended:")

# Prefixes of keys that the last step skips. Earlier steps read most of them. A restore rebuilds `keys.tables_naming`
# from the tables' logs, and logs of tables that have just ended are no longer needed.
TAKEN_EARLIER = (
    *(f"{{s{shard}}}:{kind}" for shard in range(keys.SHARDS) for kind in SHARD_KEYS),
    *(keys.GAMES_ORDER, keys.GAMES_COUNTER, keys.RATED, *(kind("") for kind in BY_SCOPE), keys.game("")),
    keys.tables_naming(""),
)

# Keys about running workers, and the layout's number, which is in the header.
NOT_TAKEN = (keys.WORKERS, keys.SCHEMA, f"{keys.SCHEMA}:lock", *map(keys.probe, range(keys.SHARDS)))


class BackupTaker:
    """Takes one backup of a store. Each line goes to ``write``. ``on_key`` is called with 1 for each key found."""

    def __init__(
        self, client: Any, write: Callable[[Line], None], on_key: Callable[[int], None] = ignore_progress
    ) -> None:
        self._client, self._write, self._on_key = client, write, on_key
        self._archive = Archive(client)
        self._ratings = Ratings(client, self._archive)
        self._read_table = BatchedScript(client, READ_TABLE)
        self._read_ratings = client.register_script(READ_RATINGS)
        self._tables: set[str] = set()

    async def take(self) -> None:
        """Write all lines. Raise StoreError if ratings are rebuilt at the same time."""
        await self._take_batches("*", self._take_keys, lambda key: key.startswith(keys.PERSON_KEY_PREFIXES))
        last_rated = await self._take_ratings()
        await self._take_tables()
        await self._take_games(last_rated)
        await self._take_batches("*", self._take_keys, self._is_remaining)
        for key, number in ((keys.RATED, last_rated), (keys.GAMES_COUNTER, await self._archive.last_number())):
            if number:
                self._write({"string": key, "value": str(number)})

    async def _take_batches(
        self,
        pattern: str,
        take_batch: Callable[[Sequence[str]], Awaitable[None]],
        is_wanted: Callable[[str], bool] = lambda _key: True,
    ) -> None:
        """Pass the wanted keys that match a pattern to ``take_batch``, in batches."""
        batch: list[str] = []
        async for name in self._client.scan_iter(match=pattern, count=SCAN_COUNT):
            if is_wanted(key := name.decode()):
                batch.append(key)
                self._on_key(1)
            if len(batch) >= BATCH_SIZE:
                await take_batch(batch)
                batch = []
        if batch:
            await take_batch(batch)

    def _is_remaining(self, key: str) -> bool:
        """Return whether the last step reads a key. A table that was backed up before it ended needs no tombstone."""
        is_confirmed = key.startswith("{") and key.endswith("}:confirmed")
        is_handled_elsewhere = key in NOT_TAKEN or key.startswith(TAKEN_EARLIER) or is_confirmed
        return not is_handled_elsewhere and key.partition("}:gone:")[2] not in self._tables

    # Ratings

    async def _take_ratings(self) -> int:
        last_taken = await self._ratings.last_rated_number()
        for pattern in (kind(EVERYTHING) for kind in BY_SCOPE):
            await self._take_batches(pattern, self._take_keys)
        people_by_scope: dict[Scope, dict[str, None]] = {}
        while True:
            now = await self._ratings.last_rated_number()
            if now < last_taken:
                raise StoreError("The ratings are being rebuilt. Take the backup when that is done.")
            async for entry in self._archive.entries_after(last_taken):
                if entry.number > now:
                    break
                if entry.game:
                    for scope in await self._ratings.rated_scopes(entry.game):
                        people_by_scope.setdefault(scope, {}).update(dict.fromkeys(entry.game.people))
            last_taken = now
            if await self._take_changed_ratings(now, people_by_scope):
                return now

    async def _take_changed_ratings(self, now: int, people_by_scope: dict[Scope, dict[str, None]]) -> bool:
        """Read these people's ratings again in one step. Return False if another game has been rated since."""
        wanted: list[tuple[Scope, str]] = []
        args: list[int | str] = [now]
        for index, (scope, people) in enumerate(people_by_scope.items()):
            for person in people:
                wanted.append((scope, person))
                args += [index, person]
        scope_keys = [kind(scope.key) for scope in people_by_scope for kind in BY_SCOPE]
        stored = await self._read_ratings(keys=[keys.RATED, *scope_keys], args=args)
        if stored is None:
            return False
        for (scope, person), rating, rank, history in zip(wanted, stored[::3], stored[1::3], stored[2::3], strict=True):
            if rating is not None:
                self._write({"hash": keys.ratings(scope.key), "value": [[person, encode_bytes(rating)]]})
            if rank is not None:
                self._write({"zset": keys.ranks(scope.key), "value": [[person, float(rank)]]})
            if history is not None:
                self._write({"hash": keys.history(scope.key), "value": [[person, encode_bytes(history)]]})
        return True

    # Tables and games

    async def _take_tables(self) -> None:
        async def take(names: Sequence[str]) -> None:
            await asyncio.gather(*(self._take_table(name.rpartition(":")[2]) for name in names))

        await self._take_keys([keys.attended(shard) for shard in range(keys.SHARDS)])
        await self._take_batches(TABLES, take)

    async def _take_table(self, code: str) -> None:
        shard = keys.shard_of(code)
        log, shown_states, changed_version, timer = await self._read_table(
            keys=[keys.table(code), keys.message_states(code), keys.changed(shard), keys.timers(shard)], args=[code]
        )
        # A table without a log was removed after the scan found it. A scan can return a key twice.
        if log and code not in self._tables:
            self._tables.add(code)
            texts = list(map(encode_bytes, shown_states))
            self._write(
                {
                    "table": code,
                    "log": list(map(encode_bytes, log)),
                    "shown": [list(pair) for pair in zip(texts[::2], texts[1::2], strict=True)],
                    "changed": None if changed_version is None else int(float(changed_version)),
                    "timer": None if timer is None else float(timer),
                }
            )

    async def _take_games(self, last_rated: int) -> None:
        async for number, game_id, content in self._archive.stored_entries_after(0):
            was_live = game_id.rpartition("-")[0] in self._tables
            if content is not None and (number <= last_rated or not was_live):
                self._write({"game": game_id, "number": number, "stored": encode_bytes(content)})
            self._on_key(1)

    # Everything else

    async def _take_keys(self, names: Sequence[str]) -> None:
        async with self._client.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.type(name)
                pipe.pexpiretime(name)
            answers = await pipe.execute()
        described_keys = zip(names, answers[::2], answers[1::2], strict=True)
        existing_keys = [(name, kind.decode(), expires) for name, kind, expires in described_keys if kind != b"none"]
        async with self._client.pipeline(transaction=False) as pipe:
            for name, kind, _ in existing_keys:
                _read_part(pipe, kind, name, 0)
            first_parts = await pipe.execute() if existing_keys else []
        for key, first_part in zip(existing_keys, first_parts, strict=True):
            await self._take_key(*key, first_part)

    async def _take_key(self, name: str, kind: str, expires: int, first_part: Any) -> None:
        """Write a key's lines, given its first part, and read the other parts."""
        expiry_field = {"expires": expires} if expires > 0 else {}
        while True:
            # Strings and lists come whole. Other types come in parts, each with the cursor of the next part.
            cursor, value = (0, first_part) if kind in ("string", "list") else first_part
            if value or value == b"":
                self._write({kind: name, "value": _encode_value(kind, value), **expiry_field})
            if not cursor:
                return
            first_part = await _read_part(self._client, kind, name, cursor)


def _read_part(client: Any, kind: str, name: str, cursor: int) -> Any:
    """Read a key from this cursor on, with a client or a pipeline."""
    match kind:
        case "string":
            return client.get(name)
        case "list":
            return client.lrange(name, 0, -1)
        case "hash":
            return client.hscan(name, cursor, count=SCAN_COUNT)
        case "set":
            return client.sscan(name, cursor, count=SCAN_COUNT)
        case "zset":
            return client.zscan(name, cursor, count=SCAN_COUNT)
    raise StoreError(f"The store holds {name!r}, a {kind} that Buongioco did not write. Remove it, then back up again.")


def _encode_value(kind: str, value: Any) -> Any:
    match kind:
        case "string":
            return encode_bytes(value)
        case "hash":
            return [[encode_bytes(field), encode_bytes(text)] for field, text in value.items()]
        case "zset":
            return [[encode_bytes(member), score] for member, score in value]
    return list(map(encode_bytes, value))
