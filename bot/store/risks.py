"""The store's health: settings with which it can lose games, and its memory. Every worker checks both."""

import asyncio
from typing import Any

import structlog
from redis.asyncio import RedisCluster
from redis.exceptions import ResponseError

from bot.metrics import STORE_MEMORY, STORE_RISK
from bot.store.outage import Outage

# Risks by name, each with advice for the host.
RISKS = {
    "no_append_only_file": "it writes no append-only file, so a crash loses games: set appendonly yes",
    "evicts_keys": "it deletes keys when its memory is full: set maxmemory-policy noeviction",
    "syncs_late": "a power cut loses moves that were answered: set appendfsync always",
}

CHECK_SECONDS = 600.0  # pause between checks of the settings, because a host can change a running store

HIGH, FULL = 0.8, 0.9  # used shares above which a warning is logged, and above which new tables are refused
# pause between checks of the memory; strangers need far longer to fill a tenth of any store
MEMORY_CHECK_SECONDS = 20.0

log = structlog.get_logger()


async def risks_of(client: Any) -> list[str]:
    """Return the names of the `RISKS` that any node's settings have.

    ``syncs_late`` is never returned if the store refuses CONFIG. Raise an error of the store if it does not answer.
    """
    nodes = split_by_node(await client.info())
    risks = []
    if not all(node["aof_enabled"] for node in nodes):
        risks.append("no_append_only_file")
    elif await sync_policies(client) - {"always"}:
        risks.append("syncs_late")
    if any(node.get("maxmemory") and node["maxmemory_policy"] != "noeviction" for node in nodes):
        risks.append("evicts_keys")
    return risks


async def sync_policies(client: Any) -> set[str]:
    """Return the values of ``appendfsync`` on all nodes; empty if CONFIG is refused."""
    target = {"target_nodes": RedisCluster.ALL_NODES} if isinstance(client, RedisCluster) else {}
    try:
        return {node["appendfsync"] for node in split_by_node(await client.config_get("appendfsync", **target))}
    except (ResponseError, KeyError):
        return set()


def split_by_node(answer: dict[str, Any]) -> list[dict[str, Any]]:
    is_by_node = answer and all(isinstance(value, dict) for value in answer.values())
    return list(answer.values()) if is_by_node else [answer]


async def watch_settings(client: Any, outage: Outage) -> None:
    """Check the store's settings regularly, until cancelled. Log each new risk, and export all as a metric."""
    logged: set[str] = set()
    while True:
        with outage.suppress_errors():
            risks = set(await risks_of(client))
            for name, sentence in RISKS.items():
                STORE_RISK.labels(name).set(name in risks)
                if name in risks - logged:
                    log.warning("store_may_lose_data", risk=name, why=sentence)
            logged = risks
        await asyncio.sleep(CHECK_SECONDS)


class Memory:
    """The used share of the store's memory, or of the fullest node's memory on a cluster."""

    def __init__(self, client: Any, outage: Outage) -> None:
        self._client, self._outage = client, outage
        self.share = 0.0  # from 0 to 1, at the last check; 0 if the store does not report it
        self._evicts = False  # whether the store deletes keys instead of refusing writes

    @property
    def is_full(self) -> bool:
        return self.share >= FULL and not self._evicts

    async def check(self) -> None:
        """Measure the used share, and log a warning when it rises to `HIGH`."""
        was_high = self.share >= HIGH
        nodes = split_by_node(await self._client.info("memory"))
        self.share = max(_used_share(node) for node in nodes)
        self._evicts = any(str(node.get("maxmemory_policy", "")).startswith("allkeys") for node in nodes)
        STORE_MEMORY.set(self.share)
        if self.share >= HIGH and not was_high:
            log.warning(
                "store_memory_high",
                used=f"{self.share:.0%}",
                why=f"new tables are refused from {FULL:.0%}: raise maxmemory, or run `buongioco archive`",
            )

    async def watch(self) -> None:
        while True:
            with self._outage.suppress_errors():
                await self.check()
            await asyncio.sleep(MEMORY_CHECK_SECONDS)


def _used_share(node: dict[str, Any]) -> float:
    """Return the used share of a node's maxmemory, or of the machine's memory without a maxmemory."""
    limit = int(node.get("maxmemory") or node.get("total_system_memory") or 0)
    return int(node.get("used_memory") or 0) / limit if limit else 0.0
