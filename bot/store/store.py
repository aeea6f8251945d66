"""Tables in the store. Loading a table and committing to it take one round trip each."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from redis.asyncio import BlockingConnectionPool, Connection, Redis
from redis.driver_info import DriverInfo

from bot.metrics import STORE_COMMIT_SECONDS
from bot.store import keys, layout_version
from bot.store.batch import BatchedScript
from bot.store.cluster import Cluster, with_closed_errors
from bot.store.commit_notification import NEW_LOG, notification_header
from bot.store.index import Index
from bot.store.leases import Leases
from bot.store.levers import Levers
from bot.store.log import Log, make_head, unfold
from bot.store.lua import read_script
from bot.store.outage import Outage, note_commit
from bot.store.risks import Memory

FOLD_AFTER = 16  # entries behind a log's head before they are folded into it

# Time for which the code of a removed table is not used again. Telegram redelivers an update for a day, and an offer
# can be accepted for a day and the rest of its first hour (`bot.handlers.offer_terms`).
TOMBSTONE_SECONDS = 26 * 3600

# Time for which a removed table's log can be read. It is short, because forgetting skips these logs (docs/privacy.md).
REMOVED_LOG_SECONDS = 60

CONNECTIONS = 32
DRIVER = DriverInfo()  # shared, because a DriverInfo reads the package's metadata
ANSWER_SECONDS = 2.0  # time limit of a connection or a command; then the store counts as unavailable
COMMIT_SECONDS = 4.0  # time limit of a commit, with the calls queued before it, because a person waits for it


class Appended(NamedTuple):
    """The entries were written. The log now has this version."""

    version: int


class NewEntries(NamedTuple):
    """The log has ``entries`` that the caller did not know. If ``whole``, these are all its entries."""

    entries: list[bytes]
    whole: bool = False


class Removed(NamedTuple):
    """Nothing was written: a table of this code was removed recently. ``whose`` is as in `Store.remove`."""

    whose: str


class ConnectionPool(BlockingConnectionPool):
    """A pool that makes callers wait for a free connection instead of raising an error."""

    def __init__(self, *, connection_class: type = Connection, **kwargs: Any) -> None:
        super().__init__(connection_class=with_closed_errors(connection_class), **kwargs)

    async def renew(self) -> None:
        """Close idle connections, so that new ones are made.

        They leave the pool first, because `disconnect` closes them one turn of the loop later, when they could be in
        use again.
        """
        idle_connections, self._available_connections = self._available_connections, []
        for connection in idle_connections:
            await connection.disconnect(nowait=True)


class Store:
    """The tables of one Redis or Valkey, for several workers at once."""

    def __init__(self, client: Any, replicas: int = 0) -> None:
        """``replicas`` is the number of replicas that must have an entry before `append` returns."""
        self.client, self.replicas = client, replicas
        self.leases = Leases(client)
        self._append = BatchedScript(client, read_script(__file__, "playing_time", "append"), replicas)
        self._entries_since = BatchedScript(client, read_script(__file__, "entries_since"), replicas)
        self._save_shown = BatchedScript(client, read_script(__file__, "save_shown"))
        self._mark_changed = BatchedScript(client, read_script(__file__, "mark_changed"))
        self._confirm = BatchedScript(client, read_script(__file__, "confirm"), replicas)
        self.outage = Outage(self._test_write)
        self.memory = Memory(client, self.outage)
        self.levers = Levers(client, self.outage)
        self._remove = BatchedScript(client, read_script(__file__, "as_hash", "remove"))
        self._set_aside = BatchedScript(client, read_script(__file__, "playing_time", "as_hash", "set_aside"))
        self._resume = BatchedScript(client, read_script(__file__, "playing_time", "as_hash", "resume"))
        self._set_aside_tables = BatchedScript(client, read_script(__file__, "as_hash", "set_aside_tables"))
        self.index = Index(client)
        self._secret = b""

    async def secret(self) -> bytes:
        """Return 32 secret bytes that never change and that all workers share."""
        if not self._secret:
            await self.client.set(keys.SECRET, secrets.token_bytes(32), nx=True)
            self._secret = await self.client.get(keys.SECRET)
        return self._secret

    async def load(self, code: str) -> Log:
        """Return a table's log; empty if the table does not exist. Raise ValueError if the log is damaged."""
        return unfold(await self.client.lrange(keys.table(code), 0, -1))

    async def entries_since(self, code: str, known_log: Log, *, confirmed: bool = False) -> NewEntries:
        """Return the entries after the known log; all of them if the stored log does not begin with it.

        If ``confirmed``, replicas must have them. Raise ValueError if the log is damaged.
        """
        kind, *entries = await self._entries_since(
            [keys.table(code)], [known_log.version, known_log.last_entry], confirmed=confirmed
        )
        return NewEntries(entries) if kind == 0 else NewEntries(unfold(entries).entries, whole=True)

    async def append(
        self,
        code: str,
        known_log: Log,
        entries: Sequence[bytes],
        *,
        clock: float | None = None,
        tell: bool = True,
        details: object = None,
    ) -> Appended | NewEntries | Removed:
        """Append entries if the log is the known one, and mark the table as changed; all or nothing.

        ``clock`` is the seconds of playing time (`bot.store.leases`) until the table's clock rings. Infinity stops the
        clock, and None leaves it as it is. With ``tell``, the worker that delivers the table gets a notification with
        ``details`` (`bot.store.commit_notification`). Raise TimeoutError if the store does not answer. The entries can
        still be written later.
        """
        fold = make_head(known_log.entries) if known_log.version % FOLD_AFTER + len(entries) >= FOLD_AFTER else b""
        word = notification_header(code, known_log.version, clock, details) if tell else ""
        match await self._commit(code, known_log, fold, entries, clock, word):
            case [1, version]:
                note_commit()
                return Appended(version)
            case [0, *missed_entries]:
                return NewEntries(missed_entries)
            case [-2, opener_mark]:
                return Removed(opener_mark.decode())
        # The writer is behind a fold, or knows entries that a failover lost.
        return NewEntries((await self.load(code)).entries, whole=True)

    async def rewrite(
        self, code: str, known_log: Log, log: Log, *, clock: float | None = None, tell: bool = True
    ) -> bool:
        """Replace a table's log if it is the known one, and mark the table as changed; all or nothing.

        The new log has at least two more entries than the old one, and all but its last are in its head. Readers of the
        old log are therefore behind that head and load the whole log. ``clock`` and ``tell`` are as for `append`.
        """
        assert log.version >= known_log.version + 2
        word = notification_header(code, NEW_LOG, clock, None) if tell else ""
        result = await self._commit(code, known_log, make_head(log.entries[:-1]), log.entries[-1:], clock, word)
        return bool(result[0] == 1)

    async def _commit(
        self, code: str, known_log: Log, fold: bytes, entries: Sequence[bytes], clock: float | None, word: str
    ) -> list[Any]:
        """Run append.lua and return its answer. ``fold`` is a new head of the log, or empty."""
        shard, clock_text = keys.shard_of(code), "" if clock is None else f"{clock:.3f}"
        shard_keys = keys.changed(shard), keys.timers(shard), keys.attended(shard)
        with STORE_COMMIT_SECONDS.time():
            async with asyncio.timeout(COMMIT_SECONDS):
                result: list[Any] = await self._append(
                    [keys.table(code), *shard_keys, keys.tombstone(code)],
                    [code, known_log.version, clock_text, fold, word, known_log.last_entry, *entries],
                    confirmed=True,
                )
        return result

    async def confirm(self, *names: str) -> None:
        """Wait until enough replicas have all writes to these keys. Raise NotReplicated if they are late."""
        await asyncio.gather(*(self._confirm([name], [], confirmed=True) for name in names))

    async def remove(self, code: str, opener_mark: str = "", *, keep_log: bool = False) -> None:
        """Remove a table: its log, its messages' states, its clock and its mark as changed.

        For `TOMBSTONE_SECONDS`, an `append` to this code returns ``opener_mark`` as `Removed`. With ``keep_log``,
        the log stays readable for a minute (`removed_log`).
        """
        shard = keys.shard_of(code)
        shards_keys = [keys.changed(shard), keys.timers(shard), keys.set_aside(shard)]
        await self._remove(
            [keys.table(code), keys.message_states(code), *shards_keys, keys.tombstone(code), keys.removed_log(code)],
            [code, opener_mark, TOMBSTONE_SECONDS, REMOVED_LOG_SECONDS if keep_log else 0],
        )

    async def removed_log(self, code: str) -> Log:
        """Return the log of a table removed in the last minute; empty for any other."""
        return unfold(await self.client.lrange(keys.removed_log(code), 0, -1))

    async def set_aside(self, code: str, version: int) -> bool:
        """Stop the clock of a table that cannot be read, and notify its players.

        Return False if it was set aside already.
        """
        return bool(await self._set_aside(self._aside_keys(code), [code, version]))

    async def resume(self, code: str, version: int) -> None:
        """Restart the clock of a table that was set aside, and redraw the table."""
        await self._resume(self._aside_keys(code), [code, version])

    @staticmethod
    def _aside_keys(code: str) -> list[str]:
        shard = keys.shard_of(code)
        return [keys.set_aside(shard), keys.changed(shard), keys.timers(shard), keys.attended(shard)]

    async def set_aside_tables(self, shards: Sequence[int]) -> list[str]:
        """Return the codes of these shards' tables that are set aside."""
        code_lists = await asyncio.gather(*(self._set_aside_tables([keys.set_aside(shard)], []) for shard in shards))
        return sorted(code.decode() for codes in code_lists for code in codes)

    async def load_shown(self, code: str) -> dict[str, str]:
        """Return the states of a table's messages, by surface, as `save_shown` wrote them."""
        stored_states = await self.client.hgetall(keys.message_states(code))
        return {name.decode(): text.decode() for name, text in stored_states.items()}

    async def save_shown(self, code: str, surfaces: Mapping[str, str], version: int | None, worker: str = "") -> None:
        """Save the states of a table's messages. A ``version`` means that all of them show that version.

        Nothing is saved for a removed table or by a ``worker`` that does not own the shard. The table stays marked as
        changed if its log has grown since the version.
        """
        if surfaces or version is not None:
            shard = keys.shard_of(code)
            texts = [word for pair in surfaces.items() for word in pair]
            await self._save_shown(
                keys=[keys.table(code), keys.message_states(code), keys.changed(shard), keys.attended(shard)],
                args=[code, worker, "" if version is None else version, *texts],
            )

    async def mark_changed(self, code: str, version: int, worker: str) -> None:
        """Mark a table as changed without an entry, because some surfaces are still outdated.

        Do nothing for removed tables and other workers' tables, like `save_shown`.
        """
        shard = keys.shard_of(code)
        await self._mark_changed(
            keys=[keys.table(code), keys.changed(shard), keys.attended(shard)], args=[code, worker, version]
        )

    async def changed_tables(self, shards: Sequence[int]) -> dict[str, int]:
        """Return the tables of these shards that delivery must check, with the versions to reach."""
        async with self.client.pipeline(transaction=False) as pipe:
            for shard in shards:
                pipe.zrange(keys.changed(shard), 0, -1, withscores=True)
            return {code.decode(): int(version) for answers in await pipe.execute() for code, version in answers}

    async def _test_write(self) -> None:
        """Write to every shard, and raise the store's refusals.

        Use new connections, because old ones can lead to a former primary.
        """
        pool = None if isinstance(self.client, Cluster) else self.client.connection_pool
        if isinstance(pool, ConnectionPool):
            await pool.renew()
        async with self.client.pipeline(transaction=False) as pipe:
            for shard in range(keys.SHARDS):
                pipe.set(keys.probe(shard), 1, ex=keys.PROBE_KEPT_SECONDS)
            await pipe.execute()


@asynccontextmanager
async def connect(url: str, answer_seconds: float = ANSWER_SECONDS) -> AsyncIterator[Any]:
    """Yield a client of the store at a URL (``redis://``, ``rediss://``, ``unix://``, ``redis+cluster://``).

    The store and its layout are not checked. ``answer_seconds`` is the time limit of a command.
    """
    client: Any
    options = {"socket_timeout": answer_seconds, "socket_connect_timeout": ANSWER_SECONDS, "driver_info": DRIVER}
    if url.startswith(("redis+cluster://", "rediss+cluster://")):
        client = Cluster.from_url(url.replace("+cluster", "", 1), **options)
    else:
        # redis-py does not retry. The callers know which commands can be repeated and for how long.
        pool = ConnectionPool.from_url(url, max_connections=CONNECTIONS, timeout=answer_seconds, **options)
        client = Redis(connection_pool=pool)
    try:
        yield client
    finally:
        await client.aclose()


@asynccontextmanager
async def open_store(url: str, replicas: int = 0, *, migrate: bool = True) -> AsyncIterator[Store]:
    """Yield the store at a URL, as for `connect`. ``replicas`` is the number of replicas that must confirm commits.

    Raise StoreError if it cannot be reached or has an unknown layout, or an older one without ``migrate``.
    """
    async with connect(url) as client:
        await layout_version.check(client, migrate=migrate)
        store = Store(client, replicas)
        try:
            yield store
        finally:
            store.outage.stop()
