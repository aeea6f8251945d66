"""Store settings that can lose games: the bot and the doctor report them."""

import asyncio

import pytest
from structlog.testing import capture_logs

from bot.cli.doctor import examine
from bot.metrics import STORE_RISK
from bot.settings import Settings
from bot.store import EmbeddedStore, open_store, risks
from bot.store.risks import RISKS, risks_of, watch_settings


def find_exported_risks() -> set[str]:
    return {name for name in RISKS if STORE_RISK.labels(name)._value.get()}


async def test_durable_store_has_no_risks(embedded: EmbeddedStore) -> None:
    async with open_store(embedded.url) as store:
        assert await risks_of(store.client) == []


@pytest.mark.parametrize(
    ("settings", "risk"),
    [
        ({"appendonly": "no"}, "no_append_only_file"),
        ({"appendfsync": "everysec"}, "syncs_late"),
        ({"maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"}, "evicts_keys"),
        ({"maxmemory": "100mb", "maxmemory-policy": "volatile-ttl"}, "evicts_keys"),
    ],
)
async def test_each_risk_is_logged_once_and_exported(
    embedded: EmbeddedStore, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], risk: str
) -> None:
    monkeypatch.setattr(risks, "CHECK_SECONDS", 0)
    async with open_store(embedded.url) as store:
        with capture_logs() as logs:
            watching = asyncio.create_task(watch_settings(store.client, store.outage))
            while find_exported_risks():
                await asyncio.sleep(0)
            for name, value in settings.items():
                await store.client.config_set(name, value)
            async with asyncio.timeout(60):
                while find_exported_risks() != {risk}:
                    await asyncio.sleep(0)
                await store.client.config_set("appendonly", "yes")
                await store.client.config_set("appendfsync", "always")
                await store.client.config_set("maxmemory", "0")
                while find_exported_risks():
                    await asyncio.sleep(0)
            while not watching.done():
                # On Python 3.11 redis-py can lose a cancellation that arrives with a result.
                watching.cancel()
                await asyncio.sleep(0)
    assert [(line["event"], line["risk"]) for line in logs] == [("store_may_lose_data", risk)]
    assert logs[0]["log_level"] == "warning"


async def test_store_with_hidden_settings_is_not_a_risk(embedded: EmbeddedStore) -> None:
    async with open_store(embedded.url) as store:
        await store.client.execute_command("ACL", "SETUSER", "host", "on", ">hunter2", "~*", "&*", "+@all", "-config")
    async with open_store(embedded.url.replace("unix://", "unix://host:hunter2@")) as store:
        assert await risks_of(store.client) == []


@pytest.mark.parametrize("replicas", [1, 2])
async def test_doctor_says_how_many_replicas_are_missing(embedded: EmbeddedStore, replicas: int) -> None:
    settings = Settings(_env_file=None, REDIS_URL=embedded.url, store_replicas=replicas, playground_port=0)
    findings = [line async for is_well, line in examine(settings) if not is_well]
    assert findings == [
        f"store: BUONGIOCO_STORE_REPLICAS is {replicas}, and a primary has 0 replicas: moves wait until you add "
        "replicas or lower the number"
    ]
