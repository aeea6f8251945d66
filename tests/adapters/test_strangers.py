"""Malformed, forged and excessive requests to the playground are refused and change nothing."""

import asyncio
import base64
import json
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import Mock

import aiohttp
import pytest
import structlog
from cachetools import TTLCache
from structlog.testing import capture_logs

from adapters.web.playground import tabs as tabs_module
from adapters.web.playground.tabs import Tab
from adapters.web.refusals import Refused
from adapters.web.site import MAX_SENT
from bot.handlers import Dispatcher
from bot.http.server import request_log_filter
from bot.panel import Button, Panel, Span
from bot.platform import Press, Reply
from bot.rate_limiter import LOG_LINES, LogLimiter
from bot.store import EmbeddedStore
from tests.adapters.test_playground import TabSocket
from tests.open_playground import OpenPlayground


@pytest.fixture
async def playground(tmp_path: Path, empty_valkey: EmbeddedStore) -> AsyncIterator[OpenPlayground]:
    running = OpenPlayground(tmp_path / "data", valkey=empty_valkey)
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def public(tmp_path: Path, empty_valkey: EmbeddedStore) -> AsyncIterator[OpenPlayground]:
    """A playground at a public address behind a proxy."""
    running = OpenPlayground(tmp_path / "data", valkey=empty_valkey, public_url="https://cards.example.org")
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as client:
        yield client


@pytest.fixture
def no_warnings(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail if the bot or a library logs a warning or a traceback."""
    caplog.set_level(logging.DEBUG, "buongioco")
    caplog.set_level(logging.WARNING)
    with structlog.testing.capture_logs() as logged:
        yield
    # The bot warns that the tests' store is less durable than a real one.
    logged = [line for line in logged if line["event"] != "store_may_lose_data"]
    assert [line for line in logged if line["log_level"] in ("warning", "error", "critical")] == []
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING or record.exc_info]
    assert [record.getMessage() for record in warnings] == []


async def read_store(playground: OpenPlayground) -> dict[bytes, bytes | None]:
    """Return the store's contents, without keys that change with time."""
    client = playground.worker.store.client
    contents = {}
    async for key in client.scan_iter(count=1000):
        if not key.endswith((b"}:attended", b"}:probe")) and key != b"workers":
            contents[key] = await client.dump(key)
    return contents


# Messages

SAY = {"n": "name1", "do": "say", "chat": "1", "text": "x", "as": "1"}
PRESS = {"n": "name1", "do": "press", "chat": "1", "message": 1, "payload": "x", "as": "1"}
MALFORMED = [
    "[" * 30_000,
    '{"a":' * 9_000,
    '{"n":"name1","do":' + "[" * 500 + "]" * 500 + "}",
    '{"n": "\\ud800"}',
    '{"\\ud800": 1}',
    '{"n": "name1", "do": "say", "chat": "1", "as": "1", "text": "\\udc00 alone"}',
    '{"n": "name1", "do": "add_person", "name": "\\ud83c"}',
    "9" * 60_000,
    '{"n": "name1", "do": "press", "chat": "1", "as": "1", "payload": "x", "message": ' + "9" * 5_000 + "}",
    '{"n": NaN}',
    '{"n": "name1", "do": "press", "chat": "1", "as": "1", "payload": "x", "message": Infinity}',
    '"text"',
    "1",
    "\ufeff{}",
    json.dumps({**SAY, "do": "\n" * 40}),
    json.dumps({**SAY, "do": "x" * 60_000}),
    json.dumps({**SAY, "x\n" * 20_000: 1}),
    json.dumps({**SAY, "more": 1}),
    json.dumps({**SAY, "n": 7}),
    json.dumps({**SAY, "n": True}),
    json.dumps({**SAY, "n": "name1\n"}),
    json.dumps({**SAY, "as": 1}),
    json.dumps({**SAY, "as": ["1"]}),
    json.dumps({**SAY, "chat": True}),
    json.dumps({**SAY, "chat": {}}),
    json.dumps({**SAY, "text": 5}),
    json.dumps({**SAY, "text": None}),
    json.dumps({**SAY, "reply_to": True}),
    json.dumps({**SAY, "reply_to": 1.0}),
    json.dumps({**SAY, "reply_to": "1"}),
    json.dumps({**SAY, "reply_to": -1}),
    json.dumps({**PRESS, "message": True}),
    json.dumps({**PRESS, "message": 1.0}),
    json.dumps({**PRESS, "message": "1"}),
    json.dumps({**PRESS, "message": 2**80}),
    json.dumps({**PRESS, "message": None}),
    json.dumps({**PRESS, "payload": None}),
    json.dumps({**PRESS, "payload": "à" * 33}),
    json.dumps({"n": "name1", "do": "close", "closed": 1, "as": "1"}),
    json.dumps({"n": "name1", "do": "close", "closed": "yes", "as": "1"}),
    json.dumps({"n": "name1", "do": "private", "code": "x" * 60_000, "as": "1"}),
    json.dumps({"n": "name1", "do": "add_chat", "name": ["x"]}),
]


@pytest.mark.usefixtures("no_warnings")
async def test_malformed_requests_are_refused_in_one_line(
    playground: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    tab = await TabSocket.open(session, playground)
    before = await read_store(playground)
    for text in MALFORMED:
        await tab.socket.send_str(text)
        answer = await tab.socket.receive_json(timeout=60)
        assert answer["type"] == "refused", text[:80]
        assert answer["text"]
        assert len(answer["text"]) < 300
        assert answer["text"].isprintable()
    await tab.socket.send_bytes(b"\xff\x00")
    assert (await tab.socket.receive_json(timeout=60))["type"] == "refused"
    assert await read_store(playground) == before


# Limits


async def test_excess_concurrent_requests_are_refused(
    playground: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = asyncio.Event()
    presses = []

    async def press_slowly(dispatcher: Dispatcher, press: Press) -> Reply:
        presses.append(press.key)
        await release.wait()
        return Reply("done")

    monkeypatch.setattr(Dispatcher, "handle_press", press_slowly)
    tab = await TabSocket.open(session, playground)
    names = [f"press{number}" for number in range(100)]
    for name in names:
        await tab.socket.send_str(json.dumps({**PRESS, "n": name}))
    refusals = [await tab.socket.receive_json(timeout=60) for _ in range(100 - tabs_module.MAX_PENDING)]
    assert {answer["type"] for answer in refusals} == {"refused"}
    assert [answer["n"] for answer in refusals] == names[tabs_module.MAX_PENDING :]
    release.set()
    answers = [await tab.socket.receive_json(timeout=60) for _ in range(tabs_module.MAX_PENDING)]
    assert {answer["n"] for answer in answers} == set(names[: tabs_module.MAX_PENDING])
    assert len(presses) == tabs_module.MAX_PENDING
    assert (await tab.ask(do="say", chat="1", text="now again", **{"as": "1"}))["type"] == "done"


async def test_pending_requests_are_counted_per_person(public: OpenPlayground) -> None:
    anna, bruno = public.playground.chat_store.people["1"], public.playground.chat_store.people["2"]
    tabs = public.playground.server.tabs
    hers = [Tab(aiohttp.web.WebSocketResponse(), None, anna, False) for _ in range(2)]
    for number in range(tabs_module.MAX_PENDING):
        tabs.begin_request(hers[number % 2])
    for tab in hers:
        with pytest.raises(Refused):
            tabs.begin_request(tab)
    his = Tab(aiohttp.web.WebSocketResponse(), None, bruno, False)
    tabs.begin_request(his)
    tabs.end_request(his)


async def test_tabs_are_limited_per_person_and_in_all(
    public: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tabs_module, "MAX_TABS_EACH", 3)
    monkeypatch.setattr(tabs_module, "MAX_TABS", 5)
    anna, bruno = public.playground.chat_store.people["1"].token, public.playground.chat_store.people["2"].token
    tabs = [await open_public(session, public, anna) for _ in range(3)]
    await check_too_many_tabs(session, public, anna)
    tabs += [await open_public(session, public, bruno) for _ in range(2)]
    await check_too_many_tabs(session, public, bruno)
    # A closed tab makes room.
    await tabs[0].close()
    while len(public.playground.server.tabs.open) > 4:
        await asyncio.sleep(0.01)
    await open_public(session, public, anna)


async def check_too_many_tabs(session: aiohttp.ClientSession, playground: OpenPlayground, key: str) -> None:
    """Check that the page gets the reason: a refused WebSocket cannot give one."""
    async with session.post(f"{playground.url}ticket", headers=PUBLIC, data=key) as answer:
        assert (answer.status, await answer.text()) == (429, "Too many pages of the playground are open: close some.")
    with pytest.raises(aiohttp.WSServerHandshakeError) as error:
        await session.ws_connect(f"{playground.url}ws?key={key}", headers=PUBLIC)
    assert error.value.status == 429


async def test_unreading_tab_is_dropped_and_delays_no_one(
    playground: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    slow = socket.create_connection(("127.0.0.1", playground.port))
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    key = base64.b64encode(bytes(16)).decode()
    slow.sendall(
        f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{playground.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
    )
    tabs = playground.playground.server.tabs
    while not tabs.open:
        await asyncio.sleep(0.01)
    tab = await TabSocket.open(session, playground)
    assert len(tabs.open) == 2
    # More than the kernel and the bot buffer for a tab that does not read.
    for _ in range(30):
        playground.playground.server.tabs.send({"type": "padding", "text": "x" * 1_000_000})
        assert (await tab.ask(do="say", chat="1", text="x", **{"as": "1"}))["type"] == "done"
    while len(tabs.open) > 1:
        await asyncio.sleep(0.01)
    assert len([message for message in tab.received if message["type"] == "padding"]) == 30
    slow.close()


async def test_tab_dropped_during_a_send_ends_without_error() -> None:
    sending, is_read = asyncio.Event(), asyncio.Event()

    async def send_str(_text: str) -> None:
        sending.set()
        await is_read.wait()

    tab = Tab(Mock(send_str=send_str), None, None, is_host=False)
    writing = asyncio.create_task(tab.write_queue())
    tab.send("hello")
    await sending.wait()
    tab.drop()
    is_read.set()
    finished, _ = await asyncio.wait([writing], timeout=0.05)
    assert not finished
    writing.cancel()


# Genuine and forged presses


def make_panel(payload: str, kind: Any = "press") -> Panel:
    return Panel((Span("text"),), ((Button("label", payload, kind=kind),),))


@pytest.fixture
def presses(monkeypatch: pytest.MonkeyPatch) -> list[Press]:
    """The presses that reach the handlers; each is answered with a public page."""
    received: list[Press] = []

    async def handle_press(dispatcher: Dispatcher, press: Press) -> Reply:
        received.append(press)
        return Reply(panel=make_panel("page"))

    monkeypatch.setattr(Dispatcher, "handle_press", handle_press)
    return received


async def test_press_of_a_real_button_is_genuine(
    playground: OpenPlayground, session: aiohttp.ClientSession, presses: list[Press]
) -> None:
    chat_store = playground.playground.chat_store
    number = await chat_store.send("1", make_panel("real"), "k1")
    tab = await TabSocket.open(session, playground)
    await tab.ask(**{**PRESS, "n": "press1", "message": number, "payload": "real"})
    assert [press.genuine for press in presses] == [True]
    assert chat_store.chats["1"].messages[number]["rows"][0][0]["payload"] == "page"
    assert chat_store.chats["1"].messages[number]["edited"]


@pytest.mark.parametrize(
    "forgery", ["another payload", "a person's message", "another kind", "missing message", "another chat"]
)
async def test_forged_press_is_not_genuine_and_edits_nothing(
    playground: OpenPlayground, session: aiohttp.ClientSession, presses: list[Press], forgery: str
) -> None:
    chat_store = playground.playground.chat_store
    number = await chat_store.send("1", make_panel("real"), "k1")
    text = await chat_store.say(chat_store.chats["1"], chat_store.people["2"], "real", None, "k2")
    assert text
    private = await chat_store.send("1", make_panel("link", "private"), "k3")
    other_message = await chat_store.send("@1", make_panel("hers"), "k4")
    other_message = await chat_store.send("@1", make_panel("hers"), "k5")
    forgeries = {
        "another payload": (number, "forged"),
        "a person's message": (text["id"], "real"),
        "another kind": (private, "link"),
        "missing message": (999, "real"),
        "another chat": (other_message, "hers"),
    }
    message, payload = forgeries[forgery]
    before = json.dumps(list(chat_store.chats["1"].messages.values()))
    tab = await TabSocket.open(session, playground)
    await tab.ask(**{**PRESS, "n": "press1", "message": message, "payload": payload})
    assert [press.genuine for press in presses] == [False]
    assert json.dumps(list(chat_store.chats["1"].messages.values())) == before
    # The page goes to the private chat of the person who pressed.
    assert list(chat_store.chats["@1"].messages.values())[-1]["rows"][0][0]["payload"] == "page"


# Headers

PUBLIC = {"Host": "cards.example.org", "Origin": "https://cards.example.org", "X-Forwarded-For": "192.0.2.7"}


async def open_public(
    session: aiohttp.ClientSession, playground: OpenPlayground, key: str, **headers: str
) -> aiohttp.ClientWebSocketResponse:
    headers = {**PUBLIC, **headers}
    async with session.post(f"{playground.url}ticket", headers=headers, data=key) as answer:
        ticket = await answer.text() if answer.status == 200 else ""
    return await session.ws_connect(f"{playground.url}ws?ticket={ticket}", headers=headers)


async def check_refused(
    session: aiohttp.ClientSession, playground: OpenPlayground, key: str, status: int, **headers: str
) -> None:
    actual = 101
    try:
        await open_public(session, playground, key, **headers)
    except aiohttp.WSServerHandshakeError as error:
        actual = error.status
    assert actual == status, headers


FORWARDING = [
    {"X-Forwarded-For": "192.0.2.7"},
    {"x-forwarded-proto": "https"},
    {"X-Forwarded-Host": "cards.example.org"},
    {"X-Forwarded-Server": "proxy"},
    {"X-Forwarded": "for=192.0.2.7"},
    {"Forwarded": "for=192.0.2.7"},
    {"FORWARDED": ""},
    {"X-Real-IP": "192.0.2.7"},
    {"Via": "1.1 proxy"},
    {"CF-Connecting-IP": "192.0.2.7"},
]


async def test_forwarded_requests_are_refused_on_localhost(
    playground: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    for headers in FORWARDING:
        for path in ("", "ws", "healthz", "metrics"):
            async with session.get(playground.url + path, headers=headers) as answer:
                assert answer.status == 403, (headers, path)


async def test_unconfigured_nginx_proxy_is_refused(playground: OpenPlayground) -> None:
    """A plain `proxy_pass` uses HTTP/1.0 and sends no forwarding header."""
    head = f"GET / HTTP/1.0\r\nHost: 127.0.0.1:{playground.port}\r\nConnection: close\r\n\r\n"
    assert (await send_raw(playground, head.encode())).startswith(b"HTTP/1.0 403 ")


async def test_public_address_requires_a_personal_link(public: OpenPlayground, session: aiohttp.ClientSession) -> None:
    anna = public.playground.chat_store.people["1"]
    line = await open_public(session, public, anna.token)
    hello = await line.receive_json()
    assert (hello["me"], hello["switching"]) == ("1", False)
    for key in ("", "wrong", "é", "x" * 900, anna.token[:-1]):
        await check_refused(session, public, key, 403)
    # A link in the old form, without forwarding headers.
    async with session.ws_connect(
        f"{public.url}ws?key={anna.token}", headers={"Host": "CARDS.example.org:443", "Origin": PUBLIC["Origin"]}
    ) as old:
        assert (await old.receive_json())["me"] == "1"


async def test_ticket_works_once_and_expires(
    public: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = public.playground.chat_store.people["1"].token
    for data, status in (("wrong", 403), ("", 403), (b"\xff", 403), ("x" * (MAX_SENT + 1), 413)):
        async with session.post(f"{public.url}ticket", headers=PUBLIC, data=data) as answer:
            assert answer.status == status

    async def get_ticket() -> str:
        async with session.post(f"{public.url}ticket", headers=PUBLIC, data=key) as answer:
            return await answer.text()

    async def get_hello(code: str) -> Any:
        async with session.ws_connect(f"{public.url}ws?ticket={code}", headers=PUBLIC) as line:
            return await line.receive_json()

    first = await get_ticket()
    assert (await get_hello(first))["me"] == "1"
    second = await get_ticket()
    monkeypatch.setattr(public.playground.server, "_tickets", TTLCache(5, 0.0))
    for invalid in (first, second):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await get_hello(invalid)
        assert refused.value.status == 403
    monkeypatch.setattr(public.playground.server, "_tickets", TTLCache(5, 30.0))
    for _ in range(10):
        async with session.post(f"{public.url}ticket", headers=PUBLIC, data=key) as answer:
            assert answer.status == 200
    assert len(public.playground.server._tickets) == 5


async def test_only_the_public_address_is_accepted(public: OpenPlayground, session: aiohttp.ClientSession) -> None:
    key = public.playground.chat_store.people["1"].token
    for headers in (
        {"Host": "127.0.0.1"},
        {"Host": "localhost"},
        {"Host": "evil.example"},
        {"Host": "cards.example.org:8443"},
        {"Host": "cards.example.org:80"},
        {"Host": "cards.example.org."},
        {"Host": "cards.example.org.evil.example"},
        {"Origin": "http://cards.example.org"},
        {"Origin": "https://cards.example.org:8443"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "wss://cards.example.org"},
        {"Origin": "https://cards.example.org/path"},
        {"Origin": "https://cards.example.org@evil.example"},
        {"X-Forwarded-Proto": "http"},
        {"X-Forwarded-Proto": "https, http"},
    ):
        await check_refused(session, public, key, 403, **headers)
    # The failed attempts do not block the real address.
    line = await open_public(session, public, key)
    assert (await line.receive_json())["me"] == "1"


async def test_health_and_metrics_are_refused_through_a_proxy(
    public: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    for path in ("healthz", "metrics"):
        async with session.get(public.url + path) as answer:
            assert answer.status == 200
        for headers in (PUBLIC, {"Host": PUBLIC["Host"]}, {"X-Real-IP": "192.0.2.7"}):
            async with session.get(public.url + path, headers=headers) as answer:
                assert answer.status == 403


async def send_raw(playground: OpenPlayground, sent: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", playground.port)
    writer.write(sent)
    try:
        await writer.drain()
        return await asyncio.wait_for(reader.readuntil(b"\r\n"), 60)
    except (ConnectionError, asyncio.IncompleteReadError):
        return b""
    finally:
        writer.close()


def make_malformed_heads(key: str) -> list[bytes]:
    def build_head(*header_lines: str, target: str = "/ws?key=" + key) -> bytes:
        upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")
        return "\r\n".join([f"GET {target} HTTP/1.1", *header_lines, *upgrade, "", ""]).encode("latin-1")

    local_host = "Host: 127.0.0.1"
    return [
        *(build_head(f"Host: {host}") for host in ("[", "]", "[::1", "[::1]x", "a:b", "127.0.0.1:", "127.0.0.1:99999")),
        *(
            build_head(f"Host: {host}")
            for host in ("127.0.0.1:-1", "127.0.0.1:0", "127.0.0.1:8765:8765", "a@127.0.0.1", "", "/")
        ),
        *(
            build_head(f"Host: {host}")
            for host in ("127.0.0.1\xff", "\u00b9", "127.0.0.1, 127.0.0.1", "x" * 5000, "::1", "0")
        ),
        build_head(),
        build_head(local_host, local_host),
        build_head(local_host, "Host: evil.example"),
        *(
            build_head(local_host, f"Origin: {origin}")
            for origin in ("[", "http://[", "http://127.0.0.1:x", "://", "http://", "\xff")
        ),
        build_head(local_host, "Origin: http://127.0.0.1", "Origin: http://127.0.0.1"),
        build_head(local_host, "X: " + "y" * 100_000),
        build_head(local_host, *(f"X{number}: y" for number in range(1000))),
        build_head(local_host, "Na me: x"),
        build_head(local_host, "X: a\x00b"),
        build_head(local_host, "Content-Length: -1"),
        build_head(local_host, "Content-Length: x"),
        build_head(local_host, target="/" + "x" * 100_000 + key),
        build_head(local_host, target=f"http://[/?key={key}"),
        build_head(local_host, target=f"//[?key={key}"),
        build_head(local_host, target="/%ff%00?key=%ff" + key),
        build_head(local_host, target=f"* ?key={key}"),
        f"GET /?key={key}\r\n\r\n".encode(),
        f"GET /?key={key} HTTP/9.9\r\n\r\n".encode(),
        f"GÉT /?key={key} HTTP/1.1\r\n\r\n".encode(),
        f"/?key={key}\r\n\r\n".encode(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + key.encode() + b"\r\n\r\n",
        b"\r\n" * 1000 + key.encode() + b"\r\n\r\n",
    ]


@pytest.mark.usefixtures("no_warnings")
async def test_malformed_heads_are_refused_and_links_not_logged(
    public: OpenPlayground,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(request_log_filter, "log_limiter", LogLimiter())
    key = public.playground.chat_store.people["1"].token
    caplog.set_level(logging.DEBUG)
    heads = make_malformed_heads(key)
    with capture_logs() as logs:
        for sent in heads:
            answer = await send_raw(public, sent)
            assert answer[8:13] in (b" 400 ", b" 403 ", b""), (sent[:100], answer)
    output = capfd.readouterr()
    assert key not in caplog.text + output.out + output.err + str(logs)
    malformed_logs = [line for line in logs if line["event"] == "request_malformed"]
    assert 0 < len(malformed_logs) <= LOG_LINES.burst
    assert {line["log_level"] for line in malformed_logs} == {"info"}


@pytest.mark.usefixtures("no_warnings")
async def test_mutated_heads_cause_no_server_error(playground: OpenPlayground, session: aiohttp.ClientSession) -> None:
    random = Random(15)
    heads = make_malformed_heads("secret")
    before = await read_store(playground)
    for _ in range(1000):
        sent = bytearray(random.choice(heads)[:3000])
        for _ in range(random.randrange(1, 8)):
            sent[random.randrange(len(sent))] = random.randrange(256)
        answer = await send_raw(playground, bytes(sent) + b"\r\n\r\n")
        assert not answer.startswith(b"HTTP/1.1 5"), bytes(sent)
    assert await read_store(playground) == before
    assert (await (await TabSocket.open(session, playground)).ask(do="say", chat="1", text="x", **{"as": "1"}))[
        "type"
    ] == "done"


@pytest.mark.parametrize("language", ["\xff", "x" * 5000, "it;q=0.9", "", "-", "en-GB-oxendict-more-and-more"])
async def test_browser_language_is_short_ascii_or_empty(
    playground: OpenPlayground, session: aiohttp.ClientSession, language: str
) -> None:
    async with session.ws_connect(f"{playground.url}ws", headers={"Accept-Language": language}) as line:
        await line.receive_json()
        [tab] = playground.playground.server.tabs.open
        assert len(tab.language) <= 35
        assert tab.language.isascii()
