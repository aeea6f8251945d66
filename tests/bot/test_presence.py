"""All workers of a store know who has a page open."""

import time

import pytest

from bot import presence
from bot.presence import Presence
from bot.store import Store
from bot.store.keys import HERE


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock of all workers, which tests set."""
    now = [time.monotonic()]
    monkeypatch.setattr("bot.presence.time.monotonic", lambda: now[0])
    return now


def workers_of(store: Store) -> tuple[Presence, Presence]:
    return Presence(store.client, store.outage), Presence(store.client, store.outage)


async def test_all_workers_see_an_open_page(any_store: Store) -> None:
    first, other = workers_of(any_store)
    first.note("web:1")
    assert await other.count() == 0
    await first.exchange()
    assert await other.here(["web:1", "web:2"]) == {"web:1"}
    assert await other.count() == 1
    assert await other.here([]) == set()


async def test_silent_page_is_gone(any_store: Store, clock: list[float]) -> None:
    first, other = workers_of(any_store)
    first.note("web:1")
    clock[0] += presence.HERE_SECONDS + 1
    await first.exchange()
    assert await other.here(["web:1"]) == set()
    assert await other.count() == 0


async def test_late_sign_does_not_hide_a_newer_one(any_store: Store, clock: list[float]) -> None:
    first, other = workers_of(any_store)
    first.note("web:1")
    clock[0] += presence.HERE_SECONDS - 1
    other.note("web:1")
    await other.exchange()
    await first.exchange()
    assert await first.here(["web:1"]) == {"web:1"}
    assert float(await any_store.client.zscore(HERE, "web:1")) > time.time() - 2


async def test_followed_person_without_signs_is_away(any_store: Store, clock: list[float]) -> None:
    first, other = workers_of(any_store)
    changes = list[set[str]]()
    first.followed_sources.append(lambda: ["web:1"])
    first.watchers.append(lambda people: changes.append(set(people)))
    await first.exchange()
    # A worker that has just begun to follow a person waits for the first sign.
    assert not first.is_away("web:1")
    clock[0] += presence.AWAY_SECONDS + 1
    await first.exchange()
    assert first.is_away("web:1")
    other.note("web:1")
    await other.exchange()
    await first.exchange()
    assert not first.is_away("web:1")
    assert changes == [{"web:1"}, {"web:1"}]


async def test_reload_marks_no_player_as_away(any_store: Store, clock: list[float]) -> None:
    first, _ = workers_of(any_store)
    changes = list[set[str]]()
    first.followed_sources.append(lambda: ["web:1"])
    first.watchers.append(lambda people: changes.append(set(people)))
    for _second in range(20):
        first.note("web:1")
        clock[0] += presence.AWAY_SECONDS - 1
        await first.exchange()
    assert changes == []


async def test_nobody_is_away_during_an_outage(
    any_store: Store, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = workers_of(any_store)
    first.followed_sources.append(lambda: ["web:1"])
    await first.exchange()

    async def fail(*_args: object) -> None:
        raise ConnectionError

    monkeypatch.setattr(first, "_run", fail)
    clock[0] += presence.AWAY_SECONDS + 1
    await first.exchange()
    assert not first.is_away("web:1")


async def test_signs_expire_when_all_pages_close(any_store: Store) -> None:
    first, _ = workers_of(any_store)
    first.note("web:1")
    await first.exchange()
    assert 0 < await any_store.client.ttl(HERE) <= presence.HERE_SECONDS
