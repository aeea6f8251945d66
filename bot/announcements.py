"""Shows the host's announcement on boards, and removes it again.

The announcement is a line of each group's board. So delivery edits the boards at its own pace, and no chat gets the
announcement twice. For each shard the store has the announcement that the shard's boards show or will show. A worker
marks the tables of its shards as changed before it stores an announcement, so a kill only repeats the marks.
"""

import asyncio
from collections.abc import Callable

from bot.cluster.shards import Shards
from bot.store import Store, keys

POLL_SECONDS = 1.0
PAUSE_EVERY, PAUSE_SECONDS = 200, 0.05  # tables between two pauses, so that presses are not delayed
TABLES = "{s*}:table:*"


class Announcements:
    def __init__(self, store: Store, shards: Shards, touch: Callable[[str], None]) -> None:
        """``touch`` delivers a table of this worker."""
        self._store, self._shards, self._touch = store, shards, touch
        self._shown: dict[int, str] = {}  # the announcement that this worker has brought to a shard's boards

    async def run(self) -> None:
        while True:
            with self._store.outage.suppress_errors():
                await self.work()
            await asyncio.sleep(POLL_SECONDS)

    async def work(self) -> None:
        """Mark the tables of this worker's shards as changed if their boards show another announcement."""
        notice = self._store.levers.announcement
        mark = f"{notice.since} {notice.text}" if notice else ""
        self._shown = {shard: text for shard, text in self._shown.items() if shard in self._shards.owned}
        due_shards = {shard for shard in self._shards.owned if self._shown.get(shard) != mark}
        if not due_shards:
            return
        # The tables of a new shard need no marks if its last owner has marked them. A shard in `_shown` always needs
        # them: this worker could have drawn boards with the old announcement after another worker's marks.
        if new_shards := sorted(due_shards - set(self._shown)):
            stored_marks = await self._store.client.hmget(keys.LEVERS_SHOWN, new_shards)
            mark_by_shard = zip(new_shards, stored_marks, strict=True)
            due_shards -= {shard for shard, stored in mark_by_shard if (stored or b"").decode() == mark}
        if due_shards:
            await self._mark_tables(due_shards)
            await self._store.client.hset(keys.LEVERS_SHOWN, mapping=dict.fromkeys(due_shards, mark))
        self._shown |= dict.fromkeys(set(new_shards) | due_shards, mark)

    async def _mark_tables(self, shards: set[int]) -> None:
        marked_count = 0
        async for key in self._store.client.scan_iter(TABLES, count=1000):
            code = key.decode().rpartition(":")[2]
            if keys.shard_of(code) not in shards:
                continue
            # Version 0, because delivery must check the table once at any version.
            await self._store.mark_changed(code, 0, self._shards.worker_id)
            self._touch(code)
            marked_count += 1
            if marked_count % PAUSE_EVERY == 0:
                await asyncio.sleep(PAUSE_SECONDS)
