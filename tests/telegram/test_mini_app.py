"""Telegram's Mini App: its launch data, the button that opens it, and a card played there."""

import hmac
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, urlencode

import aiohttp
import pytest
from yarl import URL

from adapters.telegram import examine
from adapters.telegram.app_links import UNKNOWN_PAGE
from adapters.telegram.mini_app import FRAME_ORIGIN
from adapters.telegram.mini_app_signature import EARLY_SECONDS, LONGEST, OLDEST_SECONDS, verify_launch
from adapters.web import make
from adapters.web.people import FRAMED
from adapters.web.playground.adapter import Playground
from adapters.web.site import Site
from bot.handlers import Dispatcher
from bot.platform import Person as PlatformPerson
from bot.rate_limiter import RateLimit
from bot.settings import Settings
from bot.site.mini_app import InvalidLaunch
from bot.site.sessions import Sessions
from bot.store import Store
from tests.telegram.content import Refused
from tests.telegram.players import GROUP, ObservedTelegram, Person, on_telegram, seat_people, until
from tests.telegram.server import TOKEN, Failure, TelegramServer
from tests.telegram.test_telegram import newest_id, panels

NOW = 1_800_000_000
PUBLIC = "https://cards.example.org"
PROXY_HEADERS = {"Host": "cards.example.org", "X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7"}
ANNA = {"id": 1, "first_name": "Anna", "last_name": "Bò", "username": "anna", "language_code": "it"}

# Example of docs.telegram-mini-apps.com/platform/init-data, with the token that signed it.
EXAMPLE_TOKEN = "5768337691:AAH5YkoiEuPk8-FZa32hStHTqXiLPtAEhx8"
EXAMPLE = (
    "query_id=AAHdF6IQAAAAAN0XohDhrOrc"
    "&user=%7B%22id%22%3A279058397%2C%22first_name%22%3A%22Vladislav%22%2C%22last_name%22%3A%22Kibenko%22"
    "%2C%22username%22%3A%22vdkfrost%22%2C%22language_code%22%3A%22ru%22%2C%22is_premium%22%3Atrue%7D"
    "&auth_date=1662771648&hash=c501b71e775f74ce10e377dea85a7ea24ecd640b223ea86dfe453e0eaed2e2b2"
)


def sign_launch(token: str = TOKEN, **fields: object) -> str:
    """Sign launch data like Telegram: core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app"""
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}
    signed_text = "\n".join(f"{name}={texts[name]}" for name in sorted(texts))
    key = hmac.new(b"WebAppData", token.encode(), sha256).digest()
    return urlencode({**texts, "hash": hmac.new(key, signed_text.encode(), sha256).hexdigest()})


def anna_launch(now: float = NOW, number: int = 1) -> str:
    return sign_launch(query_id="AAH", user={**ANNA, "id": number}, auth_date=int(now), signature="x-y_z")


def test_signed_launch_names_its_person() -> None:
    assert verify_launch(TOKEN, anna_launch(), NOW).person == PlatformPerson("telegram:1", "Anna Bò", "anna", "it")
    example = verify_launch(EXAMPLE_TOKEN, EXAMPLE, 1662771648)
    assert example.person == PlatformPerson("telegram:279058397", "Vladislav Kibenko", "vdkfrost", "ru")


def test_aiogram_accepts_the_same_signatures() -> None:
    from aiogram.utils.web_app import check_webapp_signature  # noqa: PLC0415 - the import takes a second

    assert check_webapp_signature(TOKEN, anna_launch())
    assert check_webapp_signature(EXAMPLE_TOKEN, EXAMPLE)


@pytest.mark.parametrize(
    "launch",
    [
        "",
        "x",
        "&&",
        "hash=",
        f"hash={'0' * 64}",
        "user=%ff",
        "a" * (LONGEST + 1),
        anna_launch().replace("Anna", "Bruno"),
        anna_launch().replace("hash=", "hash=0"),
        anna_launch().upper(),
        anna_launch() + "&user=%7B%22id%22%3A2%7D",
        anna_launch() + "&more=1",
        anna_launch() + "&start_param=daily",
        sign_launch(user=ANNA, auth_date=NOW, start_param="daily").replace("daily", "puzzle"),
        sign_launch("1:other", user=ANNA, auth_date=NOW),
        sign_launch(user=ANNA),
        sign_launch(auth_date=NOW),
        sign_launch(user={"id": "1"}, auth_date=NOW),
        sign_launch(user=[1], auth_date=NOW),
        sign_launch(user=ANNA, auth_date=NOW - OLDEST_SECONDS - 1),
        sign_launch(user=ANNA, auth_date=NOW + EARLY_SECONDS + 1),
    ],
)
def test_invalid_launch_is_refused(launch: str) -> None:
    with pytest.raises(InvalidLaunch) as caught:
        verify_launch(TOKEN, launch, NOW)
    assert TOKEN not in str(caught.value)


def test_launch_is_valid_in_any_field_order() -> None:
    reversed_fields = urlencode(parse_qsl(anna_launch())[::-1])
    assert verify_launch(TOKEN, reversed_fields, NOW).person.id == "telegram:1"


@asynccontextmanager
async def with_pages(
    store: Store, server: TelegramServer, public_url: str | None = None, **settings_fields: Any
) -> AsyncIterator[tuple[ObservedTelegram, Site]]:
    """Run a worker with Telegram and the web pages. ``settings_fields`` are settings or arguments of `on_telegram`."""
    async with on_telegram(store, server, playground_port=0, public_url=public_url, **settings_fields) as adapter:
        [playground] = [page for page in make(Dispatcher(adapter.worker)) if isinstance(page, Playground)]
        async with playground.site.open():
            yield adapter, playground.site


async def enter(
    session: aiohttp.ClientSession, site: Site, public: str, launch: str, **form: str
) -> aiohttp.ClientResponse:
    """Open the app behind the proxy of ``public``; return the answer, which is not followed."""
    return await session.post(
        f"http://127.0.0.1:{site.port}/app/telegram",
        data={"data": launch, "t": "", **form},
        headers={**PROXY_HEADERS, "Origin": public},
        allow_redirects=False,
    )


async def test_menu_button_opens_the_app_in_the_persons_language(store: Store, server: TelegramServer) -> None:
    url = "https://cards.example.org/app/telegram"
    async with on_telegram(store, server, public_url=PUBLIC) as adapter:
        carla, dario = Person(server, 1, "Carla", "it"), Person(server, 2, "Dario")
        await until(lambda: None in server.apps.menu_buttons)
        assert server.apps.menu_button(1) == {"type": "web_app", "text": "Play", "web_app": {"url": url}}
        for person in (carla, dario):
            person.say("/start", person.private)
        await until(lambda: {1, 2} <= set(server.apps.menu_buttons))
        assert [server.apps.menu_button(number)["text"] for number in (1, 2)] == ["Gioca", "Play"]
        carla.say("/help", carla.private)
        carla.say("/help")
        await adapter.worker.wait_until_idle()
        assert sum(method == "setChatMenuButton" for method, _fields in server.calls) == 3
    # Without https, the bot takes its buttons back.
    async with on_telegram(store, server, public_url="http://cards.example.org"):
        await until(lambda: server.apps.menu_buttons[None] == {"type": "default"})
        carla.say("/help", carla.private)
        await until(lambda: server.apps.menu_button(1) == {"type": "default"})


async def test_failed_menu_button_is_set_at_the_next_command(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, public_url=PUBLIC) as adapter:
        carla = Person(server, 1, "Carla")
        await until(lambda: None in server.apps.menu_buttons)
        server.fail_next("setChatMenuButton", Failure(Refused(400, "Bad Request: chat not found")))
        carla.say("/help", carla.private)
        await until(lambda: sum(method == "setChatMenuButton" for method, _fields in server.calls) == 2)
        await adapter.worker.wait_until_idle()
        assert 1 not in server.apps.menu_buttons
        carla.say("/help", carla.private)
        await until(lambda: 1 in server.apps.menu_buttons)


async def test_bot_without_https_leaves_the_hosts_menu_button(store: Store, server: TelegramServer) -> None:
    server.apps.menu_buttons[None] = host = {
        "type": "web_app",
        "text": "Shop",
        "web_app": {"url": "https://shop.example"},
    }
    async with on_telegram(store, server, public_url="http://cards.example.org") as adapter:
        person = Person(server, 1, "Carla")
        person.start()
        await until(lambda: bool(panels(person)))
        await adapter.worker.wait_until_idle()
        assert server.apps.menu_button(1) == host


@pytest.mark.parametrize("has_main", [True, False])
async def test_links_open_the_main_app_if_there_is_one(store: Store, server: TelegramServer, has_main: bool) -> None:
    server.apps.has_main = has_main
    async with on_telegram(store, server, public_url=PUBLIC):
        player, _other = await seat_people(server, "metamazzo")
        await until(lambda: player.button("Watch", server.group(GROUP)) is not None)
        watch_button = player.button("Watch", server.group(GROUP))
        assert watch_button
        prefix = "https://t.me/buongioco_bot?startapp=t_" if has_main else f"{PUBLIC}/t/"
        assert watch_button[1]["url"].startswith(prefix)


@pytest.mark.parametrize(
    ("start", "address"),
    [
        ("t_K7QF2M", "/t/K7QF2M"),
        ("daily", "/daily"),
        ("puzzle", "/puzzle"),
        ("puzzle_K7Q", "/puzzle?id=K7Q"),
        ("g_K7QF2M-0a1b2c_d2m5", "/g/K7QF2M-0a1b2c#d2m5"),
        ("nonsense", UNKNOWN_PAGE),
        ("t_../out", UNKNOWN_PAGE),
        ("", "/t/ABCDEF"),
    ],
)
async def test_start_value_leads_to_its_page(store: Store, server: TelegramServer, start: str, address: str) -> None:
    start_param: dict[str, object] = {"start_param": start} if start else {}
    async with (
        with_pages(store, server, public_url=PUBLIC) as (_adapter, site),
        aiohttp.ClientSession() as session,
    ):
        answer = await enter(
            session, site, PUBLIC, sign_launch(TOKEN, user=ANNA, auth_date=int(time.time()), **start_param), t="ABCDEF"
        )
        assert URL(answer.headers["Location"]).query["to"] == address
        cookie = {"Cookie": answer.headers["Set-Cookie"].partition(";")[0], "Accept": "text/html"}
        checked = f"http://127.0.0.1:{site.port}{answer.headers['Location']}"
        async with session.get(checked, headers={**PROXY_HEADERS, **cookie}, allow_redirects=False) as page:
            assert page.headers["Location"] == address
        async with session.get(f"http://127.0.0.1:{site.port}{address}", headers={**PROXY_HEADERS, **cookie}) as page:
            text = await page.text()
            assert ("Questo link non porta da nessuna parte" in text) == (address == UNKNOWN_PAGE)
            assert "telegram.bundle.js" in text
        async with session.get(f"http://127.0.0.1:{site.port}/", headers=PROXY_HEADERS) as page:
            assert "telegram" not in await page.text()


async def test_button_below_the_private_hand_opens_the_app(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, public_url="https://cards.example.org"):
        player, _other = await seat_people(server, "metamazzo")
        await until(lambda: player.button("In the browser", player.private) is not None)
        match = player.button("In the browser", player.private)
        assert match
        url = match[1]["web_app"]["url"]
        assert url.startswith("https://cards.example.org/app/telegram?t=")
        assert "callback_data" not in match[1]
        assert player.button("In the browser", server.group(GROUP)) is None


async def test_without_https_the_button_sends_a_link(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, public_url="http://cards.example.org"):
        player, _other = await seat_people(server, "metamazzo")
        await until(lambda: player.button("In the browser", player.private) is not None)
        match = player.button("In the browser", player.private)
        assert match
        assert "web_app" not in match[1]


@pytest.mark.parametrize("public_url", ["http://localhost:8765", "https://nas"])
async def test_refused_button_address_never_blocks_a_board(
    store: Store, server: TelegramServer, public_url: str
) -> None:
    async with on_telegram(store, server, public_url=public_url) as adapter:
        player, _other = await seat_people(server, "metamazzo")
        await adapter.worker.wait_until_idle()
        await until(lambda: len(server.group(GROUP).messages) > 1)
        assert player.button("In the browser", player.private) is None
        assert player.button("Watch", server.group(GROUP)) is None


@pytest.mark.parametrize("public_url", ["http://192.168.1.5:8765", "http://[fd00::5]:8765"])
async def test_ip_address_gets_its_button(store: Store, server: TelegramServer, public_url: str) -> None:
    async with on_telegram(store, server, public_url=public_url):
        player, _other = await seat_people(server, "metamazzo")
        await until(lambda: player.button("Watch", server.group(GROUP)) is not None)


async def test_app_creates_one_session_for_its_frame(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("CODES", "MISSES"):
        monkeypatch.setattr(f"adapters.web.limits.{limit}", RateLimit(burst=1, interval=3600.0))
    public = "https://cards.example.org"
    async with (
        with_pages(store, server, public_url=public, rate_limits=True) as (_adapter, site),
        aiohttp.ClientSession() as session,
    ):
        proxy_headers = {"Host": "cards.example.org", "X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7"}
        url = f"http://127.0.0.1:{site.port}/app/telegram"
        async with session.get(url, headers=proxy_headers) as answer:
            assert answer.status == 200
            assert f"frame-ancestors {FRAME_ORIGIN}" in answer.headers["Content-Security-Policy"]

        async def enter(data: str, cookie_value: str = "", **headers: str) -> aiohttp.ClientResponse:
            cookie_header = {"Cookie": f"{FRAMED}={cookie_value}"} if cookie_value else {}
            return await session.post(
                url,
                data={"data": data, "t": "ABCDEF"},
                headers={**proxy_headers, "Origin": public, **cookie_header, **headers},
                allow_redirects=False,
            )

        answer = await enter(anna_launch(time.time()))
        assert (answer.status, answer.headers["Location"]) == (303, "/cookies?to=/t/ABCDEF")
        cookie = answer.headers["Set-Cookie"]
        for flag in ("HttpOnly", "Secure", "SameSite=None", "Partitioned", "Path=/"):
            assert flag in cookie
        cookie_value = cookie.split("=", 1)[1].split(";")[0].strip('"')
        # Each page renews the cookie and sets no other.
        async with session.get(
            f"http://127.0.0.1:{site.port}/", headers={**proxy_headers, "Cookie": f"{FRAMED}={cookie_value}"}
        ) as page:
            assert page.headers.getall("Set-Cookie") == [cookie]
        second = await enter(anna_launch(time.time()), cookie_value)
        assert (second.status, second.headers.get("Set-Cookie")) == (303, None)
        assert len(await Sessions(store.client).sessions_of("telegram:1")) == 1
        # Another person's app ends the earlier session in the browser.
        other = await enter(sign_launch(user={**ANNA, "id": 2}, auth_date=int(time.time())), cookie_value)
        assert "telegram:2" in other.headers["Set-Cookie"]
        assert not await Sessions(store.client).sessions_of("telegram:1")
        # Invalid launches do not lock out an address.
        assert [(await enter("x")).status for _ in range(3)] == [403] * 3
        for origin in (FRAME_ORIGIN, "", "null"):
            assert (await enter(anna_launch(time.time()), Origin=origin)).status == 403, origin
        async with session.get(url.replace("telegram", "discord"), headers=proxy_headers) as answer:
            assert answer.status == 404
        # A logout also ends the session in the frame.
        cookie_value = other.headers["Set-Cookie"].split("=", 1)[1].split(";")[0]
        logout_headers = {**proxy_headers, "Origin": public, "Cookie": f"{FRAMED}={cookie_value}"}
        async with session.post(
            f"http://127.0.0.1:{site.port}/out", data={}, headers=logout_headers, allow_redirects=False
        ) as logout:
            [expired] = [cookie for cookie in logout.headers.getall("Set-Cookie") if cookie.startswith(f"{FRAMED}=;")]
            assert "Max-Age=0;" in expired
            assert "Partitioned" in expired
        assert not await Sessions(store.client).sessions_of("telegram:2")


async def test_opening_the_app_brings_a_waiting_hand(store: Store, server: TelegramServer) -> None:
    async with with_pages(store, server) as (adapter, site), aiohttp.ClientSession() as session:
        player, _other = await seat_people(server, "metamazzo")
        await until(lambda: bool(panels(player)))
        await adapter.worker.wait_until_idle()

        def count_calls() -> int:
            return sum(str(fields.get("chat_id")) == str(player.number) for _method, fields in server.calls)

        calls = count_calls()
        player.private.refusal = Refused(403, "Forbidden: bot was blocked by the user")
        player.say("/hand")
        await until(lambda: count_calls() > calls)
        await adapter.worker.wait_until_idle()
        player.private.refusal, before = None, newest_id(player)
        url = f"http://127.0.0.1:{site.port}"
        data = {"data": anna_launch(time.time(), player.number), "t": ""}
        async with session.post(
            f"{url}/app/telegram", data=data, headers={"Origin": url}, allow_redirects=False
        ) as answer:
            assert answer.status == 303
        await until(lambda: newest_id(player) > before)


@pytest.mark.parametrize("name", ["last_name", "username", "language_code", "first_name"])
@pytest.mark.parametrize("value", [None, "", 7])
def test_odd_optional_user_fields_are_accepted(name: str, value: object) -> None:
    launch = sign_launch(user={**ANNA, name: value, "new": {}}, auth_date=NOW)
    assert verify_launch(TOKEN, launch, NOW).person.id == "telegram:1"


@pytest.mark.parametrize(("public_url", "has_main"), [(PUBLIC, False), (PUBLIC, True), ("http://10.0.0.1", False)])
async def test_doctor_reports_a_missing_main_app(server: TelegramServer, public_url: str, has_main: bool) -> None:
    server.apps.has_main = has_main
    settings = Settings(_env_file=None, telegram_token=TOKEN, telegram_api_url=server.url, public_url=public_url)
    findings = [line async for _is_well, line in examine(settings)]
    is_reported = any(line.endswith(f"{PUBLIC}/app/telegram") for line in findings)
    assert is_reported == (public_url == PUBLIC and not has_main)
