"""Settings of a store with which it can lose games. `buongioco doctor` and every worker check them."""

import asyncio
from typing import Any

import structlog
from redis.asyncio import RedisCluster
from redis.exceptions import ResponseError

from bot.metrics import STORE_RISK
from bot.store.outage import Outage

# Risks by name, each with advice for the host.
RISKS = {
    "no_append_only_file": "it writes no append-only file, so a crash loses games: set appendonly yes",
    "evicts_keys": "it deletes keys when its memory is full: set maxmemory-policy noeviction",
    "syncs_late": "a power cut loses moves that were answered: set appendfsync always",
}

CHECK_SECONDS = 600.0  # pause between checks, because a host can change a running store

log = structlog.get_logger()


async def risks_of(client: Any) -> list[str]:
    """Return the names of the `RISKS` that any node's settings have.

    ``syncs_late`` is never returned if the store refuses CONFIG. Raise an error of the store if it does not answer.
    """
    nodes = split_by_node(await client.info())
    found = []
    if not all(node["aof_enabled"] for node in nodes):
        found.append("no_append_only_file")
    elif await sync_policies(client) - {"always"}:
        found.append("syncs_late")
    if any(node.get("maxmemory") and node["maxmemory_policy"] != "noeviction" for node in nodes):
        found.append("evicts_keys")
    return found


async def sync_policies(client: Any) -> set[str]:
    """Return the values of ``appendfsync`` on all nodes; empty if CONFIG is refused."""
    everywhere = {"target_nodes": RedisCluster.ALL_NODES} if isinstance(client, RedisCluster) else {}
    try:
        return {node["appendfsync"] for node in split_by_node(await client.config_get("appendfsync", **everywhere))}
    except (ResponseError, KeyError):
        return set()


def split_by_node(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the answers of all nodes. A cluster's answer is keyed by node."""
    is_by_node = answer and all(isinstance(value, dict) for value in answer.values())
    return list(answer.values()) if is_by_node else [answer]


async def watch(client: Any, outage: Outage) -> None:
    """Check the store's settings regularly, until cancelled. Log each new risk, and export all as a metric."""
    logged: set[str] = set()
    while True:
        with outage.suppress_errors():
            found = set(await risks_of(client))
            for name, sentence in RISKS.items():
                STORE_RISK.labels(name).set(name in found)
                if name in found - logged:
                    log.warning("store_may_lose_data", risk=name, why=sentence)
            logged = found
        await asyncio.sleep(CHECK_SECONDS)
