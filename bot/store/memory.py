"""The store's memory. A warning is logged when it is nearly full, and new tables are refused before moves fail."""

import asyncio
from typing import Any

import structlog

from bot.metrics import STORE_MEMORY
from bot.store.durability import split_by_node
from bot.store.outage import Outage

HIGH, FULL = 0.8, 0.9  # used shares from which a warning is logged, and from which new tables are refused
CHECK_SECONDS = 20.0  # far less time than strangers need to fill a tenth of any store

log = structlog.get_logger()


class Memory:
    """The used share of the store's memory, or of the fullest node's memory on a cluster."""

    def __init__(self, client: Any, outage: Outage) -> None:
        self._client, self._outage = client, outage
        self.share = 0.0  # from 0 to 1, at the last check; 0 if the store does not say
        # True if the store deletes keys instead of refusing writes. `bot.store.durability` warns of that.
        self._evicts = False

    @property
    def is_full(self) -> bool:
        return self.share >= FULL and not self._evicts

    async def check(self) -> None:
        """Measure the used share, and log a warning when it rises to `HIGH`."""
        was_high = self.share >= HIGH
        nodes = split_by_node(await self._client.info("memory"))
        self.share = max(map(_used_share, nodes), default=0.0)
        self._evicts = any(str(node.get("maxmemory_policy", "")).startswith("allkeys") for node in nodes)
        STORE_MEMORY.set(self.share)
        if self.share >= HIGH and not was_high:
            log.warning(
                "store_memory_high",
                used=f"{self.share:.0%}",
                why=f"from {FULL:.0%} on new tables are refused: raise maxmemory, or run `buongioco archive`",
            )

    async def watch(self) -> None:
        while True:
            with self._outage.suppress_errors():
                await self.check()
            await asyncio.sleep(CHECK_SECONDS)


def _used_share(node: dict[str, Any]) -> float:
    """Return the used share of a node's maxmemory, or else of the machine's memory."""
    most = int(node.get("maxmemory") or node.get("total_system_memory") or 0)
    return int(node.get("used_memory") or 0) / most if most else 0.0
