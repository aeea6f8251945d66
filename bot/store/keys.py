"""Every key in the store: its name, its type and what is in it.

Tables live in 64 shards. A shard is the hash tag of all its keys, so that one script may touch a table, its timer and
the list of changed tables, also on a cluster.

| key | type | what |
|---|---|---|
| ``schema`` | string | the number of the layout described here |
| ``{s17}:table:<code>`` | list | a table's log: a head, then the entries after it, oldest first (`bot.store.log`) |
| ``{s17}:changed`` | sorted set | codes of tables that delivery has yet to look at; the score is the version to reach |
| ``{s17}:timers`` | sorted set | codes of tables with a clock running; the score is when it runs out, Unix seconds |
"""

from zlib import crc32

SCHEMA_VERSION = 1
SHARDS = 64

SCHEMA = "schema"


def shard_of(code: str) -> int:
    """The shard in which a table lies."""
    return crc32(code.encode()) % SHARDS


def table(code: str) -> str:
    return f"{{s{shard_of(code)}}}:table:{code}"


def changed(shard: int) -> str:
    return f"{{s{shard}}}:changed"


def timers(shard: int) -> str:
    return f"{{s{shard}}}:timers"
