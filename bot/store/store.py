"""Reading and writing tables in the store: one round trip to load, one to commit."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from redis.asyncio import BlockingConnectionPool, Connection, Redis
from redis.driver_info import DriverInfo

from bot.store import keys, schema
from bot.store.attendance import Attendance
from bot.store.batch import BatchedScript
from bot.store.cluster import Cluster
from bot.store.committed import NEW_LOG, notification_header
from bot.store.connection import guard_connection
from bot.store.index import Index
from bot.store.log import Log, make_head, unfold
from bot.store.lua import read_script
from bot.store.memory import Memory
from bot.store.outage import Outage, note_commit

FOLD_AFTER = 16
"""How many entries stand behind a log's head before they are folded into it."""

REMOVED = -2
"""What append.lua answers where a table of this code was removed not long ago."""

TOMBSTONE_SECONDS = 26 * 3600
"""For longer than platforms may deliver an update again, for Telegram keeps them for a day, and than an offer can be
taken up: for a day, and what is left of the hour that it was made in (`bot.offers`).
"""

REMOVED_LOG_SECONDS = 60
"""How long the log of a table that was removed may still be read. Forgetting people does not look there: no longer than
that may last (docs/privacy.md).
"""

CONNECTIONS = 32

DRIVER = DriverInfo()  # made once: each connection without one looks redis-py's version up in its package's metadata

ANSWER_SECONDS = 2.0
"""How long the store may take to let a connection in, or to answer a command, before it counts as away."""

COMMIT_SECONDS = 4.0
"""How long a commit may take in all, with those before it that it waits for: people are told something by then."""


class Appended(NamedTuple):
    """The entries are in the log, which now has this version."""

    version: int


class NewEntries(NamedTuple):
    """The log has ``entries`` that the reader or writer did not know; ``whole`` if these are all that it has."""

    entries: list[bytes]
    whole: bool = False


class Removed(NamedTuple):
    """Nothing was written: there was a table of this code a short while ago; ``whose`` tells whose it was."""

    whose: str


class ConnectionPool(BlockingConnectionPool):
    """Callers wait for a free connection, because a burst is no fault."""

    def __init__(self, *, connection_class: type = Connection, **kwargs: Any) -> None:
        super().__init__(connection_class=guard_connection(connection_class), **kwargs)

    async def renew(self) -> None:
        """Close what nobody uses, so that connections are made anew.

        They are taken out of the pool first: `disconnect` closes them a turn of the loop later, under the hands of
        whoever has one by then.
        """
        idle, self._available_connections = self._available_connections, []
        for connection in idle:
            # Whoever is silent need not hear it.
            await connection.disconnect(nowait=True)


class Store:
    """The tables of one Redis or Valkey. It is safe to use from several workers at once."""

    def __init__(self, client: Any, replicas: int = 0) -> None:
        """``replicas`` is how many must have an entry before `append` says that it is written."""
        self.client, self.replicas = client, replicas
        self.attendance = Attendance(client)
        self._append = BatchedScript(client, read_script(__file__, "playing_time", "append"), replicas)
        self._entries_since = BatchedScript(client, read_script(__file__, "entries_since"), replicas)
        self._save_shown = BatchedScript(client, read_script(__file__, "save_shown"))
        self._mark_changed = BatchedScript(client, read_script(__file__, "mark_changed"))
        self._confirm = BatchedScript(client, read_script(__file__, "confirm"), replicas)
        self.outage = Outage(self._test_write)
        self.memory = Memory(client, self.outage)
        self._remove = BatchedScript(client, read_script(__file__, "as_hash", "remove"))
        self._set_aside = BatchedScript(client, read_script(__file__, "playing_time", "as_hash", "set_aside"))
        self._resume = BatchedScript(client, read_script(__file__, "playing_time", "as_hash", "resume"))
        self._set_aside_tables = BatchedScript(client, read_script(__file__, "as_hash", "set_aside_tables"))
        self.index = Index(client)
        self._secret = b""

    async def secret(self) -> bytes:
        """32 bytes that only those know who can read the store, the same for all workers for ever."""
        if not self._secret:
            await self.client.set(keys.SECRET, secrets.token_bytes(32), nx=True)
            self._secret = await self.client.get(keys.SECRET)
        return self._secret

    async def load(self, code: str) -> Log:
        """A table's log; an empty one for a table that there is not. ValueError for what no log looks like."""
        return unfold(await self.client.lrange(keys.table(code), 0, -1))

    async def entries_since(self, code: str, known: Log, *, confirmed: bool = False) -> NewEntries:
        """What a table's log has behind what is known of it; all of it, where that is not how it begins.

        ``confirmed`` if as many replicas as there must be are to have it. ValueError for what no log looks like.
        """
        kind, *entries = await self._entries_since([keys.table(code)], [known.version, known.last], confirmed=confirmed)
        return NewEntries(entries) if kind == 0 else NewEntries(unfold(entries).entries, whole=True)

    async def append(
        self,
        code: str,
        known: Log,
        entries: Sequence[bytes],
        *,
        clock: float | None = None,
        tell: bool = True,
        about: object = None,
    ) -> Appended | NewEntries | Removed:
        """Write entries behind a log that is as the writer knows it, and mark the table as changed; all or nothing.

        ``clock`` is in how many seconds of playing time (`bot.store.attendance`) the table's clock rings; infinity
        stops it, None leaves it as it is. Whoever delivers the table is told (`bot.store.committed`), with what there
        is to say ``about`` it, unless that is the writer, who does not ``tell``.
        TimeoutError when the store does not answer: the entries may be written later.
        """
        fold = make_head(known.entries) if known.version % FOLD_AFTER + len(entries) >= FOLD_AFTER else b""
        word = notification_header(code, known.version, clock, about) if tell else ""
        result = await self._commit(code, known, fold, entries, clock, word)
        if result[0] == 1:
            note_commit()
            return Appended(result[1])
        if result[0] == 0:
            return NewEntries(result[1:])
        if result[0] == REMOVED:
            return Removed(result[1].decode())
        return NewEntries((await self.load(code)).entries, whole=True)

    async def rewrite(self, code: str, known: Log, log: Log, *, clock: float | None = None, tell: bool = True) -> bool:
        """Write a table's log anew, if it is as the writer knows it, and mark the table as changed; all or nothing.

        The new log has two entries more than the old one at the least, and all but its last are in its head: so whoever
        knows the old one, however well, is behind that head, and loads all of it. ``clock`` and ``tell`` are as for
        `append`.
        """
        assert log.version >= known.version + 2
        word = notification_header(code, NEW_LOG, clock, None) if tell else ""
        result = await self._commit(code, known, make_head(log.entries[:-1]), log.entries[-1:], clock, word)
        return bool(result[0] == 1)

    async def _commit(
        self, code: str, known: Log, fold: bytes, entries: Sequence[bytes], clock: float | None, word: str
    ) -> list[Any]:
        """What append.lua says to entries behind a log, and to a head for what stands before them."""
        shard = keys.shard_of(code)
        async with asyncio.timeout(COMMIT_SECONDS):
            result: list[Any] = await self._append(
                keys=[
                    keys.table(code),
                    keys.changed(shard),
                    keys.timers(shard),
                    keys.attended(shard),
                    keys.gone(code),
                ],
                args=[code, known.version, "" if clock is None else f"{clock:.3f}", fold, word, known.last, *entries],
                confirmed=True,
            )
        return result

    async def confirm(self, *names: str) -> None:
        """Wait until as many replicas as there must be have all that was written to these keys.

        NotReplicated where they have not in time.
        """
        await asyncio.gather(*(self._confirm([name], [], confirmed=True) for name in names))

    async def remove(self, code: str, whose: str = "", *, keep_log: bool = False) -> None:
        """Forget a table: its log, what is shown of it, its clock, and that it changed.

        For `GONE_SECONDS` no table of this code is opened again; ``whose`` is what is then told of it (`Gone`). With
        ``keep_log`` its log may be read for a minute more (`ended`).
        """
        shard = keys.shard_of(code)
        shards_keys = [keys.changed(shard), keys.timers(shard), keys.set_aside(shard)]
        await self._remove(
            [keys.table(code), keys.shown(code), *shards_keys, keys.gone(code), keys.ended(code)],
            [code, whose, TOMBSTONE_SECONDS, REMOVED_LOG_SECONDS if keep_log else 0],
        )

    async def removed_log(self, code: str) -> Log:
        """The log of a table that was removed within the last minute; an empty one for any other."""
        return unfold(await self.client.lrange(keys.ended(code), 0, -1))

    async def set_aside(self, code: str, version: int) -> bool:
        """Stop the clock of a table that cannot be read, and have its players told; False if that was done before."""
        return bool(await self._set_aside(self._aside_keys(code), [code, version]))

    async def resume(self, code: str, version: int) -> None:
        """A table that was set aside can be read again: its clock goes on, and it is drawn anew."""
        await self._resume(self._aside_keys(code), [code, version])

    @staticmethod
    def _aside_keys(code: str) -> list[str]:
        shard = keys.shard_of(code)
        return [keys.set_aside(shard), keys.changed(shard), keys.timers(shard), keys.attended(shard)]

    async def set_aside_tables(self, shards: Sequence[int]) -> list[str]:
        """The tables of these shards that could not be read."""
        found = await asyncio.gather(*(self._set_aside_tables([keys.set_aside(shard)], []) for shard in shards))
        return sorted(code.decode() for codes in found for code in codes)

    async def load_shown(self, code: str) -> dict[str, str]:
        """What is shown of a table, by surface, as `note` wrote it."""
        stored = await self.client.hgetall(keys.shown(code))
        return {name.decode(): text.decode() for name, text in stored.items()}

    async def save_shown(self, code: str, surfaces: Mapping[str, str], version: int | None, worker: str = "") -> None:
        """Write down what is shown of a table; with a version, that all of it is shown as of then.

        A table that has been removed stays so, and what its shard's owner noted stands, if that is another ``worker``.
        It stays marked as changed if more has happened since the version.
        """
        if surfaces or version is not None:
            shard = keys.shard_of(code)
            texts = [word for pair in surfaces.items() for word in pair]
            await self._save_shown(
                keys=[keys.table(code), keys.shown(code), keys.changed(shard), keys.attended(shard)],
                args=[code, worker, "" if version is None else version, *texts],
            )

    async def mark_changed(self, code: str, version: int, worker: str) -> None:
        """Mark a table as changed, as of a version, though nothing was written: something of it is still to be shown.

        As with `note`, nothing is done for a table that has been removed, or is another worker's.
        """
        shard = keys.shard_of(code)
        await self._mark_changed(
            keys=[keys.table(code), keys.changed(shard), keys.attended(shard)], args=[code, worker, version]
        )

    async def changed_tables(self, shards: Sequence[int]) -> dict[str, int]:
        """The tables of these shards that delivery has to look at, with the versions it must reach."""
        async with self.client.pipeline(transaction=False) as pipe:
            for shard in shards:
                pipe.zrange(keys.changed(shard), 0, -1, withscores=True)
            return {code.decode(): int(version) for found in await pipe.execute() for code, version in found}

    async def _test_write(self) -> None:
        """Write something; what the store raises if it takes nothing down. Connections are made anew first: those there
        are may lead to a primary that is none any more.
        """
        pool = None if isinstance(self.client, Cluster) else self.client.connection_pool
        if isinstance(pool, ConnectionPool):
            await pool.renew()
        async with self.client.pipeline(transaction=False) as pipe:
            for shard in range(keys.SHARDS):
                pipe.set(keys.probe(shard), 1, ex=keys.PROBE_KEPT_SECONDS)
            await pipe.execute()


@asynccontextmanager
async def connect(url: str, patience: float = ANSWER_SECONDS) -> AsyncIterator[Any]:
    """A client of the store at a URL (``redis://``, ``rediss://``, ``unix://``, or ``redis+cluster://`` for a cluster).

    Nothing is asked of the store yet, neither whether it is there nor what layout it has. ``patience`` is how many
    seconds it may take to answer a command.
    """
    client: Any
    options = {"socket_timeout": patience, "socket_connect_timeout": ANSWER_SECONDS, "driver_info": DRIVER}
    if url.startswith(("redis+cluster://", "rediss+cluster://")):
        client = Cluster.from_url(url.replace("+cluster", "", 1), **options)
    else:
        # Nothing is tried again underneath: what may be done twice, and for whom there is time, is known above.
        pool = ConnectionPool.from_url(url, max_connections=CONNECTIONS, timeout=patience, **options)
        client = Redis(connection_pool=pool)
    try:
        yield client
    finally:
        await client.aclose()


@asynccontextmanager
async def open_store(url: str, replicas: int = 0, *, migrate: bool = True) -> AsyncIterator[Store]:
    """The store at a URL, as `connected` takes it.

    ``replicas`` is how many replicas must have what people do before they are told that it is done.
    StoreError where it cannot be reached or holds a layout that this version does not know, or without ``migrate`` an
    older one.
    """
    async with connect(url) as client:
        await schema.check(client, migrate=migrate)
        store = Store(client, replicas)
        try:
            yield store
        finally:
            store.outage.stop()
