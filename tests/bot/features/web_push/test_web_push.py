"""Web Push against a strict service: nothing is lost or duplicated, and nothing secret is sent or logged."""

import asyncio
import json
import time
from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator
from email.utils import formatdate
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, derive_private_key
from redis.exceptions import ConnectionError as StoreAway
from structlog.testing import capture_logs

from bot.features.web_push import keys, sending, subscriptions
from bot.features.web_push.encryption import encrypt, new_private_key
from bot.features.web_push.sending import Sender
from bot.features.web_push.subscriptions import KINDS, MAX_BROWSERS, BadSubscription, Subscriptions, is_service
from bot.metrics import PUSHES
from bot.notification import Notification
from bot.store import Store
from tests.bot.features.web_push.service import FakeBrowser, PushService, decrypt, run_push_service

ANNA, BRUNO = "web:0a0a0a0a0a0a", "web:0b0b0b0b0b0b"
TURN = Notification("turn", "Metà Mazzo: tocca a te.", "/t/K7QF2M")


class Bench:
    """A sender and a push service that it treats as a browser vendor's."""

    def __init__(self, store: Store, service: PushService) -> None:
        self.client, self.service = store.client, service
        self.subscriptions = Subscriptions(store.client)
        self.sender = Sender(store.client, self.subscriptions, "https://cards.example.org")

    async def subscribe(self, person: str = ANNA, kinds: tuple[str, ...] = KINDS) -> FakeBrowser:
        self.service.public_key = await self.sender.public_key()
        browser = self.service.subscribe()
        await self.subscriptions.choose(person, browser.endpoint, browser.keys, kinds)
        return browser

    async def due(self) -> list[Any]:
        return [json.loads(stored) for stored in await self.client.zrange(keys.DUE, 0, -1)]

    async def make_due(self) -> None:
        """Let all retries be due now."""
        for stored in await self.client.zrange(keys.DUE, 0, -1):
            await self.client.zadd(keys.DUE, {stored: 0})


@pytest.fixture
async def bench(store: Store, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    async with run_push_service() as service:
        monkeypatch.setattr(subscriptions, "is_service", lambda endpoint: endpoint.startswith(service.url))
        yield Bench(store, service)


def count_pushes(outcome: str) -> float:
    return float(PUSHES.labels(outcome)._value.get())


async def test_notification_arrives_once_at_each_subscribed_browser(bench: Bench) -> None:
    phone, laptop = await bench.subscribe(), await bench.subscribe(kinds=("daily",))
    other = await bench.subscribe(BRUNO)
    await bench.sender.queue(ANNA, TURN)
    await bench.sender.queue(ANNA, TURN)  # delivery can repeat a message
    await bench.sender.send_due()
    await bench.sender.send_due()
    assert phone.messages == [{"kind": "turn", "text": TURN.text, "path": TURN.path}]
    assert (laptop.messages, other.messages, await bench.due()) == ([], [], [])
    await bench.sender.queue(ANNA, Notification("daily", "Ready", "/daily"))
    await bench.sender.send_due()
    assert len(phone.messages) == 2
    assert len(laptop.messages) == 1


@pytest.mark.parametrize("status", [404, 410])
async def test_ended_subscription_is_deleted(bench: Bench, status: int) -> None:
    await bench.subscribe()
    bench.service.answers = [(status, {})]
    await bench.sender.queue(ANNA, TURN)
    await bench.sender.send_due()
    assert (await bench.subscriptions.of(ANNA), await bench.due()) == ([], [])
    await bench.sender.queue(ANNA, TURN)
    assert await bench.due() == []


@pytest.mark.parametrize("status", [429, 500, 503])
@pytest.mark.parametrize("is_date", [False, True])
async def test_failed_message_is_sent_again_later(bench: Bench, status: int, is_date: bool) -> None:
    browser = await bench.subscribe()
    pause = formatdate(time.time() + 4000, usegmt=True) if is_date else "4000"
    bench.service.answers = [(status, {"Retry-After": pause})]
    await bench.sender.queue(ANNA, TURN)
    await bench.sender.send_due()
    await bench.sender.send_due()
    assert browser.messages == []
    [(_message, due_at)] = await bench.client.zrange(keys.DUE, 0, -1, withscores=True)
    assert due_at > time.time() + 3900
    await bench.make_due()
    await bench.sender.send_due()
    assert len(browser.messages) == 1
    assert await bench.due() == []


async def test_message_is_given_up_after_some_attempts(bench: Bench) -> None:
    browser, before = await bench.subscribe(), count_pushes("failed")
    bench.service.answers = [(500, {})] * 10
    await bench.sender.queue(ANNA, TURN)
    for _ in range(len(sending.RETRY_SECONDS) + 1):
        await bench.make_due()
        await bench.sender.send_due()
    assert (browser.messages, await bench.due()) == ([], [])
    assert count_pushes("failed") == before + 1
    assert len(bench.service.answers) == 10 - len(sending.RETRY_SECONDS) - 1


async def test_unreachable_service_loses_nothing_and_logs_no_address(
    bench: Bench,
) -> None:
    browser = await bench.subscribe()
    bench.service.answers = [(0, {})]
    await bench.sender.queue(ANNA, TURN)
    with capture_logs() as logs:
        await bench.sender.send_due()
    assert (browser.messages, logs) == ([], [])
    await bench.make_due()
    await bench.sender.send_due()
    assert len(browser.messages) == 1


@pytest.mark.parametrize(
    "address", ["https://:x@127.0.0.1/secret", "https://a..localhost/secret", f"https://{'a' * 64}.localhost/secret"]
)
async def test_unusable_address_stops_no_other_message(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    """An earlier release stored addresses that cannot be called."""
    monkeypatch.setattr(sending, "AT_ONCE", 1)
    bad = (await bench.subscribe(BRUNO)).keys
    await bench.subscriptions.forget(BRUNO)
    subscription = subscriptions.Subscription(address, bad["p256dh"], bad["auth"], KINDS, 0)
    await bench.client.hset(keys.subscriptions(BRUNO), subscription.id, json.dumps(subscription._asdict()))
    browser = await bench.subscribe()
    await bench.sender.queue(BRUNO, TURN)
    await bench.sender.queue(ANNA, TURN)
    with capture_logs() as logs:
        await bench.sender.send_due()
        await bench.sender.send_due()
    assert len(browser.messages) == 1
    assert "secret" not in str(logs)


async def test_refused_message_is_not_repeated(bench: Bench) -> None:
    await bench.subscribe()
    bench.service.answers = [(403, {})]
    await bench.sender.queue(ANNA, TURN)
    with capture_logs() as logs:
        await bench.sender.send_due()
    assert logs == [{"event": "push_refused", "log_level": "warning", "service": "127.0.0.1", "status": 403}]
    assert await bench.due() == []


async def test_crash_after_sending_repeats_under_the_same_topic(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = await bench.subscribe()
    await bench.sender.queue(ANNA, TURN)

    async def crash(*_arguments: object) -> None:
        raise StoreAway

    with monkeypatch.context() as patch:
        patch.setattr(bench.client, "zrem", crash)
        with pytest.raises(StoreAway):
            await bench.sender.send_due()
    other = Sender(bench.client, bench.subscriptions, "")
    await other.send_due()
    assert len(browser.messages) == 2
    assert len(set(browser.topics)) == 1
    assert await bench.due() == []


async def test_slow_service_does_not_delay_queueing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    await bench.subscribe()
    blocked = asyncio.Event()

    async def post(*_arguments: object) -> tuple[int, float]:
        await blocked.wait()
        return 201, 0.0

    monkeypatch.setattr(bench.sender, "_post", post)
    await bench.sender.queue(ANNA, TURN)
    sending_task = asyncio.create_task(bench.sender.send_due())
    await asyncio.sleep(0)
    await bench.sender.queue(ANNA, TURN._replace(path="/t/OTHER1"))
    assert not sending_task.done()
    blocked.set()
    await sending_task


async def test_full_queue_drops_and_counts_messages(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    await bench.subscribe()
    monkeypatch.setattr(sending, "MAX_DUE", 1)
    before = count_pushes("dropped")
    await bench.sender.queue(ANNA, TURN)
    await bench.sender.queue(ANNA, TURN._replace(path="/t/OTHER1"))
    assert len(await bench.due()) == 1
    assert count_pushes("dropped") == before + 1


async def test_one_person_cannot_fill_the_queue(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    await bench.subscribe()
    await bench.subscribe(BRUNO)
    monkeypatch.setattr(sending, "MAX_DUE_EACH", 2)
    for number in range(4):
        await bench.sender.queue(ANNA, TURN._replace(path=f"/t/{number}"))
    await bench.sender.queue(BRUNO, TURN)
    assert [person for person, *_ in await bench.due()].count(ANNA) == 2
    assert [person for person, *_ in await bench.due()].count(BRUNO) == 1


@pytest.mark.parametrize("header", ["", "soon", "-5", "Mon, 01 Jan 2001 00:00:00 GMT"])
def test_invalid_retry_after_is_ignored(header: str) -> None:
    assert sending._parse_pause(header) == 0.0


async def test_forgotten_person_gets_nothing(bench: Bench) -> None:
    browser, other = await bench.subscribe(), await bench.subscribe(BRUNO)
    await bench.sender.queue(ANNA, TURN)
    await bench.sender.queue(BRUNO, TURN)
    await bench.subscriptions.forget(ANNA)
    await bench.sender.forget(ANNA)
    await bench.sender.send_due()
    assert browser.messages == []
    assert len(other.messages) == 1


async def test_message_that_names_a_forgotten_person_is_not_sent(bench: Bench) -> None:
    browser = await bench.subscribe(BRUNO)
    await bench.sender.queue(BRUNO, Notification("turn", "Anna challenges you.", "/t/K7QF2M", (ANNA,)))
    await bench.sender.queue(BRUNO, TURN)
    await bench.sender.forget(ANNA)
    await bench.sender.send_due()
    assert len(browser.messages) == 1


async def test_all_workers_have_the_same_key(bench: Bench, store: Store) -> None:
    other = Sender(store.client, bench.subscriptions, "")
    assert await bench.sender.public_key() == await other.public_key()


async def test_new_browser_replaces_the_oldest(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = count(1)
    monkeypatch.setattr(subscriptions, "time", SimpleNamespace(time=lambda: next(seconds)))
    browsers = [await bench.subscribe() for _ in range(MAX_BROWSERS + 2)]
    stored_subscriptions = await bench.subscriptions.of(ANNA)
    assert [subscription.endpoint for subscription in stored_subscriptions] == [
        browser.endpoint for browser in browsers[2:]
    ]


async def test_choosing_no_kind_unsubscribes(bench: Bench) -> None:
    browser = await bench.subscribe()
    await bench.subscriptions.choose(ANNA, browser.endpoint, {}, ())
    assert await bench.subscriptions.of(ANNA) == []


async def test_unusable_subscriptions_are_refused(bench: Bench) -> None:
    browser = bench.service.subscribe()
    for endpoint, browser_keys, kinds in (
        ("https://example.org/push", browser.keys, KINDS),
        (browser.endpoint, {}, KINDS),
        (browser.endpoint, browser.keys | {"p256dh": "AAAA"}, KINDS),
        (browser.endpoint, browser.keys | {"p256dh": "ä"}, KINDS),
        (browser.endpoint, browser.keys | {"auth": "AAAA"}, KINDS),
        (browser.endpoint, browser.keys, ("news",)),
        (browser.endpoint + "x" * 2000, browser.keys, KINDS),
    ):
        with pytest.raises(BadSubscription):
            await bench.subscriptions.choose(ANNA, endpoint, browser_keys, kinds)
    assert await bench.subscriptions.of(ANNA) == []


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        ("https://fcm.googleapis.com/fcm/send/abc", True),
        ("https://updates.push.services.mozilla.com/wpush/v2/abc", True),
        ("https://web.push.apple.com/abc", True),
        ("https://wns2-par02p.notify.windows.com/w/?token=abc", True),
        ("http://fcm.googleapis.com/fcm/send/abc", False),
        ("https://fcm.googleapis.com:8443/abc", False),
        ("https://me@fcm.googleapis.com/abc", False),
        ("https://:x@fcm.googleapis.com/abc", False),
        ("https://@fcm.googleapis.com/abc", False),
        ("https://a..push.services.mozilla.com/x", False),
        ("https://.push.services.mozilla.com/x", False),
        ("https://-a.push.services.mozilla.com/x", False),
        (f"https://{'a' * 64}.notify.windows.com/x", False),
        (f"https://{'a' * 63}.notify.windows.com/x", True),
        ("https://fcm.googleapis.com.example.org/abc", False),
        ("https://example.org/fcm.googleapis.com", False),
        ("https://127.0.0.1/abc", False),
        ("https://[::1/abc", False),
    ],
)
def test_only_push_services_of_browsers_are_called(endpoint: str, expected: bool) -> None:
    assert is_service(endpoint) is expected


def test_example_of_rfc_8291_is_decrypted() -> None:
    """Check `decrypt` with the message of appendix A, because other tests rely on it."""
    private = urlsafe_b64decode("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94=")
    body = urlsafe_b64decode(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml"
        "mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"
        "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )
    key = derive_private_key(int.from_bytes(private, "big"), SECP256R1())
    assert (
        decrypt(body, key, urlsafe_b64decode("BTBZMqHH6r4Tts7J_aSIgg=="))
        == b"When I grow up, I want to be a watermelon"
    )


def test_message_hides_its_length() -> None:
    browser = FakeBrowser("https://fcm.googleapis.com/1")
    point = urlsafe_b64decode(browser.keys["p256dh"] + "=")
    bodies = [encrypt(b"x" * length, point, browser.auth) for length in (1, 100, 400)]
    assert len({len(body) for body in bodies}) == 1
    assert [decrypt(body, browser.key, browser.auth) for body in bodies] == [b"x", b"x" * 100, b"x" * 400]
    assert len(new_private_key()) == 32
