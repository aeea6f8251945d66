"""The host's levers in the store: what is read back, and what is logged."""

import asyncio

from structlog.testing import capture_logs

from bot.store import Store, keys
from bot.store.levers import PULLS_KEPT, Ban, Notice


async def test_change_is_read_and_logged_once(store: Store) -> None:
    levers = store.levers
    levers.now = lambda: 1_800_000_000.0
    await levers.ban("paper:1", "root", 1_800_000_060, "insults")
    await levers.begin_maintenance("", "root")
    with capture_logs() as logs:
        await asyncio.gather(*(levers.refresh() for _ in range(3)))
    assert [(line["event"], line["bans"], line["maintenance"]) for line in logs] == [("levers_changed", 1, True)]
    assert levers.bans == {"paper:1": Ban(1_800_000_000, 1_800_000_060, "insults")}
    assert (levers.maintenance, levers.announcement) == (Notice(1_800_000_000), None)


async def test_ending_an_inactive_lever_is_not_logged(store: Store) -> None:
    levers = store.levers
    assert not await levers.unban("paper:1", "root")
    assert not await levers.end_announcement("root")
    assert not await levers.end_maintenance("root")
    assert await levers.pulls() == []
    assert not await store.client.exists(keys.LEVERS)


async def test_log_keeps_only_the_last_changes(store: Store) -> None:
    await store.client.rpush(keys.PULLS, *["{}"] * PULLS_KEPT)
    await store.levers.announce("Restart", "root")
    assert await store.client.llen(keys.PULLS) == PULLS_KEPT
    [newest] = await store.client.lrange(keys.PULLS, -1, -1)
    assert b'"text": "Restart"' in newest


async def test_fields_of_a_later_release_are_left_out(store: Store) -> None:
    await store.client.hset(
        keys.LEVERS, mapping={"version": 1, "ban:paper:1": '{"since": 5, "until": 0, "reason": "", "scope": "chat"}'}
    )
    await store.levers.refresh()
    assert store.levers.bans == {"paper:1": Ban(5)}
