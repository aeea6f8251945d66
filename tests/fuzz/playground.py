"""Playground fuzzer: socket messages, request heads, hosts and origins that no browser sends."""

import asyncio
import json
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import aiohttp

from adapters.web.playground.server import LONGEST_REQUEST
from engine import GAMES
from tests.bot.fake_platform import ACCEPT
from tests.fuzz.common import (
    COMMAND_WORDS,
    FuzzFailure,
    Outcome,
    Payloads,
    check_unchanged,
    fail_on_errors,
    make_arguments,
    mutate_json,
    odd_text,
    odd_value,
    read_state,
    turn_off_clocks,
)
from tests.open_playground import OpenPlayground

STRANGERS = 10
TABS = 6
ANSWER_SECONDS = 60.0  # generous because the machine can be slow

# Tables are in the first chat. Strangers send commands to the second, where answers replace old messages.
BAR, ELSEWHERE = "1", "2"

# Keys that grow with the messages of strangers. Their private chats grow too, with files of /mydata and pictures.
GROWING_KEYS = (b"playground:messages:2", b"playground:sends:2")

HOSTS = (
    *(
        "evil.example",
        "127.0.0.1.evil.example",
        "192.168.1.9",
        "",
        "[",
        "]",
        "[::1",
        "[::1]x",
        "a:b",
        "127.0.0.1:99999",
    ),
    *("127.0.0.1:-1", "127.0.0.1:0", "127.0.0.1:1:1", "a@127.0.0.1", "/", "\u00b9", "127.0.0.1, 127.0.0.1", "0"),
    *("x" * 5000, "::1", "localhost.", "2130706433", "0x7f.1", "127.1", "\xff"),
)
ORIGINS = (
    *("https://evil.example", "null", "[", "http://[", "http://127.0.0.1:x", "://", "http://", "\xff", "file://"),
    *("http://127.0.0.1.evil.example", "http://127.0.0.1@evil.example", "http://127.0.0.1/path", "x" * 5000),
)
FORWARDING = ("X-Forwarded-For: 192.0.2.7", "forwarded: for=x", "X-Real-IP: \xff", "Via: 1.1 x", "CF-Connecting-IP: 1")
BROKEN = ("Na me: x", "X: a\x00b", "Content-Length: -1", "Content-Length: x", "X: " + "y" * 100_000, ": x", "\x00: y")
METHODS = ("GET", "GET", "GET", "POST", "PUT", "TRACE", "gEt", "G\xc9T", "CONNECT", "")
TARGETS = (
    "/ws",
    "/",
    "/ticket",
    "/healthz",
    "/metrics",
    "/chat",
    "/play",
    "/in",
    "/in?t=ABCDEF",
    "/out",
    "/app/telegram",
    "/t/ABCDEF",
    "/t/ABCDEF/live",
    "/g/ABCDEF-0123456789",
    "/api/v1/games/ABCDEF-0123456789",
    "/api/v1/openapi.json",
    "/api/v1/me",
    "/api/v1/me/tables",
    "/api/v1/me/tables/ABCDEF",
    "/api/v1/me/tables/ABCDEF/moves",
    "/api/v1/me/tables/ABCDEF/seat",
    "/api/v1/leaderboard?game=testa&period=month",
    f"/api/v1/players/{'A' * 60}",
    "/leaderboard",
    "/leaderboard?game=x&period=%00",
    f"/p/{'A' * 60}",
    "/p/%ff",
    "/rules/testa",
    "/rules/%2e%2e",
    "/go?to=ABCDEF",
    "/go?to=%ff%0d%0aX:y",
    "/../adapter.py",
    "//[",
    "http://[/",
    "/%ff%00",
    "*",
)
UPGRADE = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: x")
# Statuses of refused requests; empty if the connection is closed without an answer.
REFUSALS = {b"400", b"401", b"403", b"404", b"405", b"411", b"413", b"414", b"431", b"501", b"505", b""}


class TabSocket:
    """A tab's WebSocket; its answers come in any order."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def ask(self, texts: list[str | bytes]) -> list[dict[str, Any]]:
        """Send messages and wait for as many answers."""
        for text in texts:
            await (self.socket.send_str(text) if isinstance(text, str) else self.socket.send_bytes(text))
        answers: list[dict[str, Any]] = []
        while len(answers) < len(texts):
            try:
                message = await self.socket.receive_json(timeout=ANSWER_SECONDS)
            except (TimeoutError, TypeError):
                raise FuzzFailure(f"only {len(answers)} answers to {texts}") from None
            if message["type"] in ("done", "refused"):
                answers.append(message)
        return answers


class FuzzRequest(NamedTuple):
    """A message of a tab, and its kind for the counts of the run."""

    text: str | bytes
    kind: str


class PlaygroundFuzzer:
    """A chat with a table of every game, and malformed requests about it."""

    def __init__(self, playground: OpenPlayground, random: Random) -> None:
        self.playground, self.random = playground, random
        self.chat_store = playground.playground.chat_store
        self.names = count(1)
        self.codes: list[str] = []
        self.players: list[str] = []
        self.strangers: list[str] = []
        self.messages: list[tuple[str, int]] = []
        self.payloads: Payloads

    def _name(self) -> str:
        return f"f{next(self.names):08}"

    def _request(self, person: str, **fields: Any) -> dict[str, Any]:
        return {"n": self._name(), "as": person, **fields}

    async def set_up(self, tab: TabSocket) -> None:
        chat_store, worker = self.chat_store, self.playground.worker
        for name in ("Carla", "Dino"):
            await chat_store.add_person(name)
        self.players = list(chat_store.people)
        self.strangers = [(await chat_store.add_person(f"Zeno {number}")).id for number in range(STRANGERS)]
        await chat_store.add_chat("Circolo")
        await turn_off_clocks(worker, f"playground:{BAR}")
        for game in GAMES.values():
            await self._ask(tab, self.players[0], do="say", chat=BAR, text=f"/challenge {game.id}")
            for player, label in zip(self.players[1:], ACCEPT[game.seats], strict=False):
                await self._press(tab, player, label)
                if game.id == "tavolo" and label in ("Sit North", "Sit West"):
                    await self._press(tab, self.players[0 if label == "Sit North" else 1], "Accept", private=True)
        await self._ask(tab, self.players[0], do="say", chat=BAR, text="/challenge testa @bruno")
        await worker.wait_until_idle()
        people = [f"playground:{player}" for player in self.players]
        tables = {table.code: table for person in people for table in await worker.room.lists.tables_of(person)}
        if len(tables) != len(GAMES) + 1:
            raise FuzzFailure(f"{len(tables)} tables were opened, not {len(GAMES) + 1}")
        self.codes = list(tables)
        chats = [BAR, *(f"@{player}" for player in self.players)]
        self.messages = [(chat, number) for chat in chats for number in chat_store.chats[chat].messages]
        self.payloads = Payloads(self.random, worker, self.codes, [payload for _, _, payload in self._buttons(*chats)])

    def _buttons(self, *chats: str) -> list[tuple[int, str, str]]:
        """Return message, label and payload of each button, the latest message first."""
        return [
            (number, button["label"], button["payload"])
            for chat in chats
            for number, message in reversed(self.chat_store.chats[chat].messages.items())
            for row in message.get("rows", ())
            for button in row
            if button["kind"] == "press"
        ]

    async def _press(self, tab: TabSocket, person: str, label: str, *, private: bool = False) -> None:
        chat = f"@{person}" if private else BAR
        await self.playground.worker.wait_until_idle()
        message, payload = next((number, payload) for number, text, payload in self._buttons(chat) if label in text)
        await self._ask(tab, person, do="press", chat=chat, message=message, payload=payload)

    async def _ask(self, tab: TabSocket, person: str, **fields: Any) -> None:
        [answer] = await tab.ask([json.dumps(self._request(person, **fields))])
        if answer["type"] != "done":
            raise FuzzFailure(str(answer))
        await self.playground.worker.wait_until_idle()

    # Requests

    async def make_request(self) -> FuzzRequest:
        random = self.random
        kind = random.randrange(100)
        person = random.choice(self.strangers)
        if kind < 25:
            return FuzzRequest(json.dumps(self._command(person)), "command")
        if kind < 55:
            return FuzzRequest(json.dumps(self._press_request(person, self.payloads.choose_for_stranger())), "press")
        if kind < 65:
            person = random.choice(self.players)
            return FuzzRequest(
                json.dumps(self._press_request(person, await self.payloads.choose_illegal(f"playground:{person}"))),
                "press",
            )
        if kind < 90:
            return FuzzRequest(self._mutated(person), "mutated")
        return FuzzRequest(self._invalid_json(), "mutated")

    def _command(self, person: str) -> dict[str, Any]:
        random = self.random
        word = random.choice((*COMMAND_WORDS, odd_text(random).strip()[:40] or "x"))
        text = " ".join([f"/{word}", *make_arguments(random, word, self.codes)])
        chat = random.choice((ELSEWHERE, ELSEWHERE, f"@{person}"))
        return self._request(person, do="say", chat=chat, text=text.encode("utf-8", "replace").decode()[:4000])

    def _press_request(self, person: str, payload: str) -> dict[str, Any]:
        chat, message = self.random.choice(
            [
                (chat, message)
                for chat, message in self.messages
                if chat in (BAR, f"@{person}") or person in self.strangers
            ]
        )
        message = message if self.random.random() < 0.8 else self.random.choice((1, 2**53, 77, 2**31))
        return self._request(person, do="press", chat=chat, message=message, payload=payload)

    def _mutated(self, person: str) -> str:
        """Return a request with at least one fault."""
        random = self.random
        request: dict[str, Any] = random.choice(
            (
                self._request(person, do="press", chat=BAR, message=1, payload="1ttest"),
                self._request(person, do="say", chat=ELSEWHERE, text="x"),
                self._request(person, do="private", code="ABCDEF"),
                self._request(person, do="close", closed=True),
                self._request(person, do="add_chat", name="x"),
                self._request(person, do="add_person", name="x"),
            )
        )
        mutated = mutate_json(random, request)
        if mutated.get("do") != "press":
            mutated["more"] = odd_value(random)
        return json.dumps(mutated)[:LONGEST_REQUEST]

    def _invalid_json(self) -> str | bytes:
        random = self.random
        text = json.dumps(self._command(random.choice(self.strangers)))
        depth = random.choice((10, 500, 30_000))
        return random.choice(
            (
                text[: random.randrange(len(text))],
                json.dumps(odd_value(random)),
                "[" * depth,
                '{"a":' * (depth // 6 + 1),
                "9" * depth,
                f'{{"n": "{odd_text(random).encode("utf-8", "replace").decode()}"}}',
                '{"n": NaN}',
                b"\xff\x00",
            )
        )

    def make_malformed_head(self) -> bytes:
        """Return the head of a request that must be refused."""
        random = self.random
        right_host = f"Host: 127.0.0.1:{self.playground.port}"
        fault = random.randrange(4)
        headers = [f"Host: {random.choice(HOSTS)}" if fault == 0 else right_host]
        if fault == 1:
            headers.append(f"Origin: {random.choice(ORIGINS)}")
        elif fault == 2:
            headers.append(random.choice(FORWARDING))
        elif fault == 3:
            headers.append(random.choice((*BROKEN, right_host)))
        headers += [header for header in UPGRADE if random.random() < 0.7]
        random.shuffle(headers)
        first = f"{random.choice(METHODS)} {random.choice(TARGETS)} HTTP/{random.choice(('1.1', '1.1', '1.0', '9.9'))}"
        return "\r\n".join([first, *headers, "", ""]).encode("latin-1")


async def run(folder: Path, messages: int, seed: int) -> Outcome:
    """Send this many requests; raise `FuzzFailure` if one is not answered or changes anything."""
    outcome, playground = Outcome(), OpenPlayground(folder / "data")
    await playground.start()
    try:
        async with aiohttp.ClientSession() as session:
            fuzzer = PlaygroundFuzzer(playground, Random(seed))
            tabs = [await _open_tab(session, playground) for _ in range(TABS)]
            await fuzzer.set_up(tabs[0])
            await _check_run(fuzzer, tabs, messages, outcome)
    finally:
        await playground.stop()
    return outcome


async def _check_run(fuzzer: PlaygroundFuzzer, tabs: list[TabSocket], messages: int, outcome: Outcome) -> None:
    store, chat_store, private = (
        fuzzer.playground.worker.store,
        fuzzer.chat_store,
        [f"@{stranger}" for stranger in fuzzer.strangers],
    )
    growing = (
        *GROWING_KEYS,
        *(f"playground:{kind}:{chat}".encode() for kind in ("messages", "sends") for chat in private),
    )
    files = tuple(
        f"playground:{kind}:{chat}:".encode() for kind in ("file", "picture") for chat in (ELSEWHERE, *private)
    )

    async def read_comparable() -> dict[bytes, object]:
        return {
            key: value
            for key, value in (await read_state(store)).items()
            if key not in growing and not key.startswith(files)
        }

    before, people, chats = await read_comparable(), dict(chat_store.people), set(chat_store.chats)
    messages_before = {chat: json.dumps(chat_store.chats[chat].messages) for chat, _ in fuzzer.messages}
    with fail_on_errors(outcome):
        await _send_all(fuzzer, tabs, messages, outcome)
        await fuzzer.playground.worker.wait_until_idle()
    await check_unchanged(before, read_comparable)
    if (chat_store.people, set(chat_store.chats)) != (people, chats):
        raise FuzzFailure("people or chats have changed")
    if messages_before != {chat: json.dumps(chat_store.chats[chat].messages) for chat in messages_before}:
        raise FuzzFailure("messages have changed")
    if fuzzer.playground.playground.server.tabs._pending:
        raise FuzzFailure("requests are still pending at the end of the run")


async def _open_tab(session: aiohttp.ClientSession, playground: OpenPlayground) -> TabSocket:
    socket = await session.ws_connect(
        f"{playground.url}ws", headers={"Origin": playground.url.rstrip("/")}, max_msg_size=0
    )
    await socket.receive_json(timeout=ANSWER_SECONDS)
    return TabSocket(socket)


async def _send_all(fuzzer: PlaygroundFuzzer, tabs: list[TabSocket], messages: int, outcome: Outcome) -> None:
    remaining = iter(range(messages))

    async def send_requests(tab: TabSocket) -> None:
        for _ in remaining:
            if fuzzer.random.random() < 0.15:
                await _send_malformed_head(fuzzer)
                outcome.refused += 1
            else:
                request = await fuzzer.make_request()
                await tab.ask([request.text])
                outcome.presses += request.kind == "press"
                outcome.commands += request.kind == "command"
            outcome.sent += 1

    async with asyncio.TaskGroup() as group:
        for tab in tabs:
            group.create_task(send_requests(tab))


async def _send_malformed_head(fuzzer: PlaygroundFuzzer) -> None:
    """Send a malformed head and check that the request is refused or the connection closed."""
    head = fuzzer.make_malformed_head()
    reader, writer = await asyncio.open_connection("127.0.0.1", fuzzer.playground.port)
    writer.write(head)
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await writer.drain()
            status = await reader.readuntil(b"\r\n")
    except (ConnectionError, asyncio.IncompleteReadError):
        status = b""
    except TimeoutError:
        raise FuzzFailure(f"not answered: {head[:500]!r}") from None
    finally:
        writer.close()
    if status[9:12] not in REFUSALS:
        raise FuzzFailure(f"not refused, but answered {status!r}: {head[:500]!r}")
