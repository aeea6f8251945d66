"""Notifications of guests: chosen in the settings, sent on their turn, and shown by the browser."""

import asyncio
import json

import aiohttp
import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from bot.delivery.reposts import RepostPolicy
from bot.features.daily.feature import DailyFeature
from bot.features.opponents.feature import OpponentsFeature
from bot.features.web_push import subscriptions
from bot.features.web_push.feature import WebPushFeature
from bot.notification import Notification
from bot.panel import Panel
from bot.platform import Person, private_place
from tests.bot.features.web_push.service import FakeBrowser
from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.test_accessibility import check_accessibility
from tests.web.test_table_page import take_screenshot, wait_for_turn
from tests.web.test_tables import Visitor, open_browser

ENDPOINT = "https://fcm.googleapis.com/fcm/send/secret-address"
BROWSER = FakeBrowser(ENDPOINT)


async def post_choice(visitor: Visitor, origin: str, **fields: object) -> tuple[int, str]:
    body = {"endpoint": ENDPOINT, "keys": BROWSER.keys} | fields
    async with visitor.session.post(f"{visitor.site.url}push", json=body, headers={"Origin": origin}) as answer:
        return answer.status, await answer.text()


async def test_guest_chooses_kinds_and_the_page_shows_them(site: OpenPlayground) -> None:
    origin, hours = site.url.rstrip("/"), site.worker.feature(DailyFeature).site.hours
    async with open_browser(site) as anna:
        await anna.play("tressette", friend="1", name="Anna")
        [person] = [f"web:{id_.decode()}" for id_ in await site.worker.store.client.hkeys("web:people")]
        assert await post_choice(anna, origin, kinds=["turn", "daily"], hour=18) == (
            200,
            '{"kinds": ["turn", "daily"]}',
        )
        assert await post_choice(anna, origin) == (200, '{"kinds": ["turn", "daily"]}')
        assert await hours.hour_of(person) == 18
        mydata = await site.worker.feature(WebPushFeature).mydata(person, 0)
        assert mydata["notifications"][0]["service"] == "fcm.googleapis.com"
        assert "secret-address" not in json.dumps(mydata)
        # A second browser that wants no reminder leaves it to the first.
        second = "https://fcm.googleapis.com/fcm/send/other"
        for kinds in (["turn"], []):
            assert (await post_choice(anna, origin, endpoint=second, kinds=kinds, hour=None))[0] == 200
            assert await hours.hour_of(person) == 18
        # Without the last browser that wants it, the reminder ends.
        assert await post_choice(anna, origin, kinds=["turn"], hour=None) == (200, '{"kinds": ["turn"]}')
        assert await hours.hour_of(person) is None
        assert await post_choice(anna, origin, kinds=[]) == (200, '{"kinds": []}')


async def test_invalid_choices_of_kinds_are_refused(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    origin = site.url.rstrip("/")
    async with open_browser(site) as anna:
        await anna.play("tressette", friend="1", name="Anna")
        for fields in (
            {"kinds": ["news"]},
            {"kinds": ["turn"], "endpoint": "https://example.org/push"},
            {"kinds": ["daily"], "hour": 3},
            {"kinds": ["turn"], "keys": {"p256dh": "AAAA", "auth": "AAAA"}},
            {"kinds": ["turn"], "more": 1},
        ):
            status, text = await post_choice(anna, origin, **fields)
            assert status == 403, fields
            assert "secret-address" not in text
        assert (await post_choice(anna, "https://example.org", kinds=["turn"]))[0] == 403
    async with session.post(f"{site.url}push", json={}, headers={"Origin": origin}) as answer:
        assert answer.status == 403


async def test_turn_notifies_without_a_card(site: OpenPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    queued: list[tuple[str, Notification]] = []

    async def queue(person: str, notification: Notification) -> None:
        queued.append((person, notification))

    monkeypatch.setattr(site.worker.feature(WebPushFeature).sender, "queue", queue)
    monkeypatch.setattr(RepostPolicy, "_is_inactive", lambda *_arguments: True)
    async with open_browser(site) as anna:
        code = await anna.play("metamazzo", robot="easy", name="Anna")
        [person] = [f"web:{id_.decode()}" for id_ in await site.worker.store.client.hkeys("web:people")]
        # The robot can lead.
        while not queued:
            await asyncio.sleep(0.05)
        await site.worker.wait_until_idle()
    assert queued == [(person, Notification("turn", "Metà Mazzo: it’s your turn.", f"/t/{code}"))]


async def test_challenge_to_a_recent_opponent_notifies(site: OpenPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    queued: list[tuple[str, Notification]] = []

    async def queue(person: str, notification: Notification) -> None:
        if notification.kind == "challenge":
            queued.append((person, notification))

    monkeypatch.setattr(site.worker.feature(WebPushFeature).sender, "queue", queue)
    people, worker = [Person("web:0a", "Anna", "en"), Person("web:0b", "Bruno", "en")], site.worker
    for person in people:
        await worker.people.meet(person)
    table = await worker.challenges.open_table("testa", "web:0a", "Anna", "open")
    await worker.challenges.sit(table.code, "web:0b", "Bruno", "sit")
    await worker.room.resign_for(table.code, 1, "resign")
    await worker.wait_until_idle()
    opponents = worker.feature(OpponentsFeature).site
    [line] = await opponents.opponents("web:0a", "en")
    code, _ = await opponents.challenge(people[0], line.game_id, line.seat)
    while not queued:
        await asyncio.sleep(0.05)
    await worker.wait_until_idle()
    text = "\u2068Anna\u2069 challenges you: Testa a Testa."
    assert queued == [("web:0b", Notification("challenge", text, f"/t/{code}", ("web:0a",)))]


async def test_silent_message_notifies_nobody(site: OpenPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    queued: list[str] = []

    async def queue(person: str, notification: Notification) -> None:
        queued.append(notification.text)

    monkeypatch.setattr(site.worker.feature(WebPushFeature).sender, "queue", queue)
    web = site.worker.adapters["web"]
    place = private_place("web:0a0a0a0a0a0a")
    await web.send(place, Panel((), notification=Notification("turn", "again", "/t/K7QF2M")), "k1", silent=True)
    await web.send(place, Panel(()), "k2")
    await web.send(place, Panel((), notification=Notification("turn", "first", "/t/K7QF2M")), "k3")
    assert queued == ["first"]


@pytest.mark.long
class TestChromium:
    pytestmark = ONE_BROWSER

    async def test_settings_subscribe_this_browser(
        self, playground: OpenPlayground, browser: Browser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        context = await browser.new_context(viewport={"width": 360, "height": 640})
        await context.grant_permissions(["notifications"])
        page = await open_settings(context, playground)
        await expect(page.get_by_text("Notifications are off")).to_be_visible()
        await check_accessibility(page)
        await page.get_by_label("Deal of the day", exact=True).check()
        await expect(page.get_by_text("Notifications are on")).to_be_visible()
        await expect(page.get_by_label("Reminder of the deal")).to_be_visible()
        await page.get_by_label("Your turn").check()
        await page.mouse.wheel(0, 1000)
        await take_screenshot(page, "push-settings")
        push = playground.worker.feature(WebPushFeature)
        [person] = [f"web:{id_.decode()}" for id_ in await playground.worker.store.client.hkeys("web:people")]
        await page.reload()
        await expect(page.get_by_label("Your turn")).to_be_checked()
        [subscription] = await push.subscriptions.of(person)
        assert (subscription.endpoint, subscription.kinds) == (ENDPOINT, ("turn", "daily"))
        assert await page.evaluate("sessionStorage.getItem('key')") == await push.sender.public_key()
        await page.get_by_label("Your turn").uncheck()
        await page.get_by_label("Deal of the day", exact=True).uncheck()
        await expect(page.get_by_text("Notifications are off")).to_be_visible()
        assert await push.subscriptions.of(person) == []

    async def test_blocked_permission_is_explained(self, playground: OpenPlayground, browser: Browser) -> None:
        page = await open_settings(await browser.new_context(), playground)
        await page.get_by_label("Your turn").check()
        await expect(page.get_by_text("Your browser blocks notifications")).to_be_visible()
        await expect(page.get_by_label("Your turn")).not_to_be_checked()

    async def test_message_is_shown_once_and_not_above_its_page(
        self, playground: OpenPlayground, browser: Browser
    ) -> None:
        context = await browser.new_context()
        await context.grant_permissions(["notifications"])
        page = await open_settings(context, playground)
        notifications_script = """async () => (await (await navigator.serviceWorker.ready).getNotifications())
          .map(({ title, body, tag }) => [title, body, tag])"""
        message = {"kind": "turn", "text": "Metà Mazzo: it’s your turn.", "path": "/t/K7QF2M"}
        for _ in range(2):
            await deliver(page, playground, message)
        await page.wait_for_timeout(500)
        assert await page.evaluate(notifications_script) == [["Buongioco", message["text"], message["path"]]]
        await page.bring_to_front()
        await deliver(page, playground, message | {"path": "/settings"})
        await page.wait_for_timeout(500)
        assert len(await page.evaluate(notifications_script)) == 1


async def open_settings(context: BrowserContext, playground: OpenPlayground) -> Page:
    """Open a guest's settings, with a push manager that subscribes without a push service."""
    page = await context.new_page()
    fake = {"endpoint": ENDPOINT, "keys": BROWSER.keys}
    await page.add_init_script(
        f"const fake = {json.dumps(fake)};"
        """
        const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
        const text = (key) => btoa(String.fromCharCode(...key)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
        const subscription = () => ({
          endpoint: fake.endpoint, options: { applicationServerKey: bytes(sessionStorage.key_) }, toJSON: () => fake,
          unsubscribe: async () => { sessionStorage.removeItem("key_"); return true; },
        });
        PushManager.prototype.getSubscription = async () => (sessionStorage.key_ ? subscription() : null);
        PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
          if (!userVisibleOnly) throw new Error("userVisibleOnly");
          sessionStorage.key_ = text(applicationServerKey);
          sessionStorage.setItem("key", sessionStorage.key_);
          return subscription();
        };
        """
    )
    await page.goto(playground.url)
    await page.locator("#play .main").click()
    await wait_for_turn(page)
    await page.goto(f"{playground.url}settings")
    await expect(page.locator("#push")).to_be_visible()
    return page


async def deliver(page: Page, playground: OpenPlayground, message: dict[str, str]) -> None:
    """Deliver a message to the page's service worker, as the browser's push service does."""
    devtools = await page.context.new_cdp_session(page)
    registrations: list[str] = []
    devtools.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: registrations.extend(entry["registrationId"] for entry in event["registrations"]),
    )
    await devtools.send("ServiceWorker.enable")
    while not registrations:
        await page.wait_for_timeout(50)
    await devtools.send(
        "ServiceWorker.deliverPushMessage",
        {
            "origin": playground.url.rstrip("/"),
            "registrationId": registrations[-1],
            "data": json.dumps(message),
        },
    )


def test_kinds_of_the_form_are_those_of_the_bot() -> None:
    assert subscriptions.KINDS == ("turn", "challenge", "daily", "tournament")
