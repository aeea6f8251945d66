"""The health of a worker, as /healthz shows it."""

from collections.abc import Collection
from typing import Any

from bot.core import Core
from bot.store import Store
from bot.version import VERSION


async def check_health(core: Core, failing_loops: Collection[str], *, has_started: bool) -> dict[str, Any]:
    """Return a worker's health: version, store, loops, platforms, delivery lag in seconds.

    It is healthy if it has started, the store answers, the loops run, and a platform is up. It stays healthy while
    only some platforms are down, because a restart would stop the games on the others.
    """
    store = await store_answers(core.store)
    is_any_up = any(adapter.healthy for adapter in core.adapters.values())
    return {
        "healthy": has_started and store and is_any_up and not failing_loops,
        "version": VERSION,
        "store": store,
        "failing_loops": sorted(failing_loops),
        "adapters": {name: core.platform_state(adapter) for name, adapter in core.adapters.items()},
        "delivery_lag_seconds": round(core.delivery.lag, 3),
    }


async def store_answers(store: Store) -> bool:
    """Return whether the store answers. If it does not, an outage begins."""
    if not store.outage.is_active:
        with store.outage.suppress_errors():
            await store.client.ping()
    return not store.outage.is_active
