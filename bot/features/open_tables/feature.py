"""The feature object of open tables."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from bot.core import Core
from bot.feature import Feature, Forgetting, Step
from bot.features.open_tables.open_tables import OpenTables
from bot.features.open_tables.site import OpenTablesSite

CLEAN_SECONDS = 60.0  # interval at which the leader deletes the codes of tables that have begun


class OpenTablesFeature(Feature):
    name = "open_tables"

    def __init__(self, core: Core) -> None:
        self.tables = OpenTables(core.store.client, core.room, core.presence, core.blocks)
        self.site = OpenTablesSite(self.tables, core.room)
        self.loops = {"open tables": partial(core.shards.while_leader, CLEAN_SECONDS, self.tables.remove_begun)}

    async def remove_banned(self, person: str, update: str) -> None:
        await self.tables.forget(person)

    def steps_before_leaving(self, forgetting: Forgetting) -> Iterator[Step]:
        yield partial(self.tables.forget, forgetting.person)

    def steps_at_the_end(self, forgetting: Forgetting) -> Iterator[Step]:
        yield partial(self.tables.forget, forgetting.person)

    async def mydata(self, person: str, now: float) -> dict[str, Any]:
        return {"open_to_anyone": await self.tables.codes_of(person)}
