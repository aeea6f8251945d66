"""The playground: socket messages, heads of requests, hosts and origins that nobody's browser would send."""

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
    command_arguments,
    fail_on_errors,
    mutate_json,
    odd_text,
    odd_value,
    read_state,
    turn_off_clocks,
)
from tests.open_playground import Open

STRANGERS = 10
TABS = 6
ANSWER_TIMEOUT = 60.0
"""Seconds for an answer: what is slow here is the machine."""

BAR, ELSEWHERE = "1", "2"
"""Chats: one with tables, and one where strangers give commands, whose answers push old messages out."""

GROWING_KEYS = (b"playground:messages:2", b"playground:sends:2")
"""What strangers write, and what they are answered; their private chats too, with the files of /mydata and pictures."""

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
REFUSALS = {b"400", b"401", b"403", b"404", b"405", b"411", b"413", b"414", b"431", b"501", b"505", b""}
"""Statuses of what is refused at the door; empty where the connection is closed without one."""


class TabSocket:
    """A tab's WebSocket, whose answers come in any order."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def ask(self, texts: list[str | bytes]) -> list[dict[str, Any]]:
        """Say some things, and wait for as many answers."""
        for text in texts:
            await (self.socket.send_str(text) if isinstance(text, str) else self.socket.send_bytes(text))
        answers: list[dict[str, Any]] = []
        while len(answers) < len(texts):
            try:
                word = await self.socket.receive_json(timeout=ANSWER_TIMEOUT)
            except (TimeoutError, TypeError):
                raise FuzzFailure(f"{len(answers)} answers to {texts}") from None
            if word["type"] in ("done", "refused"):
                answers.append(word)
        return answers


class FuzzRequest(NamedTuple):
    """Something that a tab says; ``word`` is what it would be if it were none of nonsense."""

    text: str | bytes
    kind: str


class PlaygroundFuzzer:
    """A chat with tables of every game, and nonsense about it."""

    def __init__(self, playground: Open, random: Random) -> None:
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

    def _request(self, who: str, **wish: Any) -> dict[str, Any]:
        return {"n": self._name(), "as": who, **wish}

    async def set_up(self, line: TabSocket) -> None:
        chat_store, worker = self.chat_store, self.playground.worker
        for name in ("Carla", "Dino"):
            await chat_store.add_person(name)
        self.players = list(chat_store.people)
        self.strangers = [(await chat_store.add_person(f"Zeno {number}")).id for number in range(STRANGERS)]
        await chat_store.add_chat("Circolo")
        await turn_off_clocks(worker, f"playground:{BAR}")
        for game in GAMES.values():
            await self._ask(line, self.players[0], do="say", chat=BAR, text=f"/challenge {game.id}")
            for player, label in zip(self.players[1:], ACCEPT[game.seats], strict=False):
                await self._press(line, player, label)
                if game.id == "tavolo" and label in ("Sit North", "Sit West"):
                    await self._press(line, self.players[0 if label == "Sit North" else 1], "Accept", private=True)
        await self._ask(line, self.players[0], do="say", chat=BAR, text="/challenge testa @bruno")
        await worker.settled()
        people = [f"playground:{player}" for player in self.players]
        tables = {table.code: table for person in people for table in await worker.tables_of(person)}
        if len(tables) != len(GAMES) + 1:
            raise FuzzFailure(f"{len(tables)} tables")
        self.codes = list(tables)
        chats = [BAR, *(f"@{player}" for player in self.players)]
        self.messages = [(chat, number) for chat in chats for number in chat_store.chats[chat].messages]
        self.payloads = Payloads(self.random, worker, self.codes, [one for _, _, one in self._buttons(*chats)])

    def _buttons(self, *chats: str) -> list[tuple[int, str, str]]:
        """The messages, labels and payloads of buttons, the latest message first."""
        return [
            (number, button["label"], button["payload"])
            for chat in chats
            for number, message in reversed(self.chat_store.chats[chat].messages.items())
            for row in message.get("rows", ())
            for button in row
            if button["kind"] == "press"
        ]

    async def _press(self, line: TabSocket, who: str, label: str, *, private: bool = False) -> None:
        chat = f"@{who}" if private else BAR
        await self.playground.worker.settled()
        message, payload = next((number, payload) for number, text, payload in self._buttons(chat) if label in text)
        await self._ask(line, who, do="press", chat=chat, message=message, payload=payload)

    async def _ask(self, line: TabSocket, who: str, **wish: Any) -> None:
        [answer] = await line.ask([json.dumps(self._request(who, **wish))])
        if answer["type"] != "done":
            raise FuzzFailure(str(answer))
        await self.playground.worker.settled()

    # What is sent

    async def next_request(self) -> FuzzRequest:
        random = self.random
        kind = random.randrange(100)
        who = random.choice(self.strangers)
        if kind < 25:
            return FuzzRequest(json.dumps(self._command(who)), "command")
        if kind < 55:
            return FuzzRequest(json.dumps(self._press_request(who, self.payloads.choose_for_stranger())), "press")
        if kind < 65:
            who = random.choice(self.players)
            return FuzzRequest(
                json.dumps(self._press_request(who, await self.payloads.choose_illegal(f"playground:{who}"))), "press"
            )
        if kind < 90:
            return FuzzRequest(self._mutated(who), "bent")
        return FuzzRequest(self._invalid_json(), "bent")

    def _command(self, who: str) -> dict[str, Any]:
        random = self.random
        word = random.choice((*COMMAND_WORDS, odd_text(random).strip()[:40] or "x"))
        text = " ".join([f"/{word}", *command_arguments(random, word, self.codes)])
        chat = random.choice((ELSEWHERE, ELSEWHERE, f"@{who}"))
        return self._request(who, do="say", chat=chat, text=text.encode("utf-8", "replace").decode()[:4000])

    def _press_request(self, who: str, payload: str) -> dict[str, Any]:
        chat, message = self.random.choice(
            [one for one in self.messages if one[0] == BAR or one[0] == f"@{who}" or who in self.strangers]
        )
        message = message if self.random.random() < 0.8 else self.random.choice((1, 2**53, 77, 2**31))
        return self._request(who, do="press", chat=chat, message=message, payload=payload)

    def _mutated(self, who: str) -> str:
        """A request that has something wrong with it for certain."""
        random = self.random
        wish: dict[str, Any] = random.choice(
            (
                self._request(who, do="press", chat=BAR, message=1, payload="1ttest"),
                self._request(who, do="say", chat=ELSEWHERE, text="x"),
                self._request(who, do="private", code="ABCDEF"),
                self._request(who, do="close", closed=True),
                self._request(who, do="add_chat", name="x"),
                self._request(who, do="add_person", name="x"),
            )
        )
        odd = mutate_json(random, wish)
        if odd.get("do") != "press":
            odd["more"] = odd_value(random)
        return json.dumps(odd)[:LONGEST_REQUEST]

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

    def malformed_head(self) -> bytes:
        """The head of a request that must not come in."""
        random = self.random
        ours = f"Host: 127.0.0.1:{self.playground.port}"
        wrong = random.randrange(4)
        lines = [f"Host: {random.choice(HOSTS)}" if wrong == 0 else ours]
        if wrong == 1:
            lines.append(f"Origin: {random.choice(ORIGINS)}")
        elif wrong == 2:
            lines.append(random.choice(FORWARDING))
        elif wrong == 3:
            lines.append(random.choice((*BROKEN, ours)))
        lines += [line for line in UPGRADE if random.random() < 0.7]
        random.shuffle(lines)
        first = f"{random.choice(METHODS)} {random.choice(TARGETS)} HTTP/{random.choice(('1.1', '1.1', '1.0', '9.9'))}"
        return "\r\n".join([first, *lines, "", ""]).encode("latin-1")


async def run(folder: Path, messages: int, seed: int) -> Outcome:
    """So many requests; `Nonsense` if one is not answered or changes anything."""
    outcome, playground = Outcome(), Open(folder / "data")
    await playground.start()
    try:
        async with aiohttp.ClientSession() as session:
            tabs = PlaygroundFuzzer(playground, Random(seed))
            lines = [await _open_tab(session, playground) for _ in range(TABS)]
            await tabs.set_up(lines[0])
            await _check_run(tabs, lines, messages, outcome)
    finally:
        await playground.stop()
    return outcome


async def _check_run(tabs: PlaygroundFuzzer, lines: list[TabSocket], messages: int, outcome: Outcome) -> None:
    store, chat_store, private = tabs.playground.worker.store, tabs.chat_store, [f"@{one}" for one in tabs.strangers]
    grows = (
        *GROWING_KEYS,
        *(f"playground:{kind}:{chat}".encode() for kind in ("messages", "sends") for chat in private),
    )
    files = tuple(
        f"playground:{kind}:{chat}:".encode() for kind in ("file", "picture") for chat in (ELSEWHERE, *private)
    )

    async def kept() -> dict[bytes, object]:
        return {
            key: value
            for key, value in (await read_state(store)).items()
            if key not in grows and not key.startswith(files)
        }

    before, people, chats = await kept(), dict(chat_store.people), set(chat_store.chats)
    shown = {chat: json.dumps(chat_store.chats[chat].messages) for chat, _ in tabs.messages}
    with fail_on_errors(outcome):
        await _send_all(tabs, lines, messages, outcome)
        await tabs.playground.worker.settled()
    await check_unchanged(before, kept)
    if (chat_store.people, set(chat_store.chats)) != (people, chats):
        raise FuzzFailure("people or chats have changed")
    if shown != {chat: json.dumps(chat_store.chats[chat].messages) for chat in shown}:
        raise FuzzFailure("messages have changed")
    if tabs.playground.playground.server.tabs._pending:
        raise FuzzFailure("requests are in work that nobody makes")


async def _open_tab(session: aiohttp.ClientSession, playground: Open) -> TabSocket:
    socket = await session.ws_connect(
        f"{playground.url}ws", headers={"Origin": playground.url.rstrip("/")}, max_msg_size=0
    )
    await socket.receive_json(timeout=ANSWER_TIMEOUT)
    return TabSocket(socket)


async def _send_all(tabs: PlaygroundFuzzer, lines: list[TabSocket], messages: int, outcome: Outcome) -> None:
    left = iter(range(messages))

    async def keep_on(line: TabSocket) -> None:
        for _ in left:
            if tabs.random.random() < 0.15:
                await _send_malformed_head(tabs)
                outcome.refused += 1
            else:
                wish = await tabs.next_request()
                await line.ask([wish.text])
                outcome.presses += wish.kind == "press"
                outcome.commands += wish.kind == "command"
            outcome.sent += 1

    async with asyncio.TaskGroup() as group:
        for line in lines:
            group.create_task(keep_on(line))


async def _send_malformed_head(tabs: PlaygroundFuzzer) -> None:
    """Send the head of a request; it is refused, or the connection closed."""
    head = tabs.malformed_head()
    reader, writer = await asyncio.open_connection("127.0.0.1", tabs.playground.port)
    writer.write(head)
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT):
            await writer.drain()
            said = await reader.readuntil(b"\r\n")
    except (ConnectionError, asyncio.IncompleteReadError):
        said = b""
    except TimeoutError:
        raise FuzzFailure(f"not answered: {head[:500]!r}") from None
    finally:
        writer.close()
    if said[9:12] not in REFUSALS:
        raise FuzzFailure(f"{said!r} for {head[:500]!r}")
