"""Telegram fuzzer: malformed bodies, headers and updates at the webhook."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import aiohttp

from adapters.telegram.webhook import SECRET_HEADER, secret_of
from bot.platform import Command, Reply
from engine import GAMES
from tests.bot.fake_platform import NAMES
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
    open_temporary_store,
    read_state,
    takes_a_game,
    turn_off_clocks,
)
from tests.kills.bot_process import free_port
from tests.telegram.content import payloads_of
from tests.telegram.players import GROUP, ObservedTelegram, Person, on_telegram, seat_people, until
from tests.telegram.server import TOKEN, Chat, Query, TelegramServer
from tests.telegram.test_webhook import webhook_settings

STRANGERS = 30
FIRST_STRANGER = 9000
CONCURRENT_REQUESTS = 8
PRUNE_INTERVAL = 500

RAW_BODIES = (
    b"",
    b"{",
    b"[",
    b"nul",
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"update_id":1,"message":' + b"[" * 900 + b"]" * 900 + b"}",
    b'{"update_id":' + b"9" * 5000 + b"}",
    b'{"update_id":1e400}',
    b'{"update_id":NaN,"message":{}}',
    b'{"update_id":"1\\n2\\t3","message":null}',
    b'"text"',
    b"7",
    b"null",
    b"[]",
    b"[[]]",
    b'{"update_id":null}',
    b'{"update_id":true,"callback_query":{}}',
)


class FuzzRequest(NamedTuple):
    """A request, its acceptable statuses, and the callback query to answer, if any."""

    body: bytes
    headers: dict[str, str]
    statuses: tuple[int, ...] = (200,)
    query: str = ""
    path: str = "/cards"


class TelegramFuzzer:
    """A group with a table of every game, and malformed requests about it."""

    def __init__(self, server: TelegramServer, adapter: ObservedTelegram, random: Random) -> None:
        self.server, self.adapter, self.random = server, adapter, random
        self.numbers = count(10_000_000)
        self.strangers: list[dict[str, Any]] = []
        self.messages: list[tuple[Chat, dict[str, Any]]] = []
        self.commands = 0
        self.unanswered: list[Command] = []
        self.codes: list[str] = []
        self.payloads: Payloads

    async def set_up(self) -> None:
        await turn_off_clocks(self.adapter.worker, f"telegram:{GROUP}")
        for game in GAMES:
            await seat_people(self.server, game)
            # Before the card shows the game, the next table could be mistaken for this one.
            await self._settle()
        worker, before = self.adapter.worker, self._count_group_messages()
        Person(self.server, 1, "Anna").say("/challenge testa @bruno")
        people = [f"telegram:{number}" for number in range(1, 5)]
        await until(lambda: self._count_group_messages() > before)
        await self._settle()
        tables = {table.code: table for person in people for table in await worker.room.lists.tables_of(person)}
        if len(tables) != len(GAMES) + 1:
            raise FuzzFailure(f"{len(tables)} tables were opened, not {len(GAMES) + 1}")
        self.codes = list(tables)
        chats = [self.server.group(GROUP), *(self.server.chats[number] for number in range(1, len(NAMES) + 1))]
        self.messages = [
            (chat, message) for chat in chats for message in chat.messages.values() if message["from"]["is_bot"]
        ]
        real = [payload for _, message in self.messages for payload in payloads_of(message)]
        self.payloads = Payloads(self.random, worker, self.codes, real)
        for number in range(FIRST_STRANGER, FIRST_STRANGER + STRANGERS):
            # Half of the strangers have opened their private chat.
            Person(self.server, number, f"Zeno{number}", "it", has_started=number % 2 == 0)
            self.strangers.append(self.server.users[number])
        self._record_unanswered()

    def _record_unanswered(self) -> None:
        handle: Callable[[Command], Awaitable[Reply]] = self.adapter.card_room.handle_command

        async def handle_and_record(command: Command) -> Reply:
            reply = await handle(command)
            self.commands += 1
            if not reply.toast and not reply.panel:
                self.unanswered.append(command)
            return reply

        self.adapter.card_room.handle_command = handle_and_record  # type: ignore[method-assign]

    def _count_group_messages(self) -> int:
        """Return the number of the bot's messages in the group."""
        return sum(bool(message["from"]["is_bot"]) for message in self.server.group(GROUP).messages.values())

    async def _settle(self) -> None:
        await asyncio.sleep(0.2)
        await self.adapter.worker.wait_until_idle()

    def prune(self) -> None:
        """Delete the run's messages, so that a long run does not fill the memory."""
        kept_ids = {id(message) for _, message in self.messages}
        for chat in self.server.chats.values():
            for number in [number for number, message in chat.messages.items() if id(message) not in kept_ids]:
                del chat.messages[number]
        self.server.calls.clear()

    # Requests

    async def make_request(self) -> FuzzRequest:
        secret = {SECRET_HEADER: secret_of(TOKEN), "Content-Type": "application/json"}
        kind = self.random.randrange(100)
        if kind < 8:
            return self._rejected(secret)
        if kind < 42:
            return FuzzRequest(_encode(self._command()), secret)
        if kind < 72:
            update = self._press(self.random.choice(self.strangers), self.payloads.choose_for_stranger())
            return FuzzRequest(_encode(update), secret, query=update["callback_query"]["id"])
        if kind < 82:
            player = self.random.randrange(1, len(NAMES) + 1)
            payload = await self.payloads.choose_illegal(f"telegram:{player}")
            update = self._press(self.server.users[player], payload)
            return FuzzRequest(_encode(update), secret, query=update["callback_query"]["id"])
        update = self._command(opens=False) if kind < 91 else self._press(self.random.choice(self.strangers), "1ttest")
        mutated = mutate_json(self.random, update)
        if isinstance(mutated.get("message"), dict) and "migrate_to_chat_id" in mutated["message"]:
            del mutated["message"]["migrate_to_chat_id"]
        return FuzzRequest(_encode(mutated), secret, (200, 400))

    def _rejected(self, secret: dict[str, str]) -> FuzzRequest:
        random = self.random
        body = random.choice((*RAW_BODIES, _encode(self._command()), _encode(odd_value(random))))
        wrong = random.choice((secret_of(TOKEN)[:-1], secret_of(TOKEN) + "0", "è", "x" * 4000, TOKEN, ""))
        match random.randrange(5):
            case 0:
                return FuzzRequest(body, {}, (403,))
            case 1:
                return FuzzRequest(body, {SECRET_HEADER: wrong}, (403,))
            case 2:
                return FuzzRequest(
                    body, secret, (404,), path=random.choice(("/", "/cards/", "/cards/..%2f", "/telegram"))
                )
            case 3:
                text = _encode(self._command())
                return FuzzRequest(text[: random.randrange(len(text))], secret, (400,))
            case _:
                odd = {"Content-Type": random.choice(("text/plain; charset=utf-16", "x/y; charset=no-such", "é", ""))}
                return FuzzRequest(body, {**secret, **odd}, (200, 400))

    def _choose_chat(self, user: dict[str, Any]) -> dict[str, Any]:
        group = self.server.group(GROUP).as_json
        private_chat = {"id": user["id"], "type": "private", "first_name": user["first_name"]}
        unknown = {"id": self.random.choice((-77, -(10**12), 2**52, -(2**63))), "type": "group", "title": "?"}
        return self.random.choice((group, group, private_chat, private_chat, unknown))

    def _command(self, *, opens: bool = True) -> dict[str, Any]:
        """Return an update with a command.

        Without ``opens``, the command takes no game, and it has an odd entity. Mutations need such commands, because a
        mutated game could be valid by chance.
        """
        random, user = self.random, choose_user(self.random, self.strangers)
        opens = opens and random.random() < 0.8
        word = random.choice((*COMMAND_WORDS, *COMMAND_WORDS, odd_text(random).strip()[:40] or "x"))
        if not opens and takes_a_game(word):
            word = "help"
        arguments = make_arguments(random, word, self.codes)
        first = f"/{word}{random.choice(('', '', '@buongioco_bot', '@BUONGIOCO_BOT'))}"
        text = " ".join([first, *arguments])
        length = len(first.encode("utf-16-le", "surrogatepass")) // 2
        message: dict[str, Any] = {
            "message_id": next(self.numbers),
            "date": int(time.time()),
            "chat": self._choose_chat(user),
            "from": user,
            "text": text,
            "entities": [{"type": "bot_command", "offset": 0, "length": length}],
        }
        if not opens:
            offset, size = random.choice(((length, 5), (-3, 2), (0, 10**6), (length + 1, 0), (2**40, 1), (length, -4)))
            kind = random.choice(("mention", "text_mention", "bot_command", "no_such_kind"))
            user = random.choice(self.strangers)
            message["entities"].append({"type": kind, "offset": offset, "length": size, "user": user})
        if random.random() < 0.1:
            message["message_thread_id"], message["is_topic_message"] = random.choice((1, -5, 2**60)), True
        return {"update_id": next(self.numbers), "message": message}

    def _press(self, user: dict[str, Any], payload: str) -> dict[str, Any]:
        random = self.random
        # A player presses only in the group and in their own private chat. Strangers press everywhere.
        chat, stored_message = random.choice(
            [
                (chat, message)
                for chat, message in self.messages
                if chat.id in (GROUP, user["id"]) or user in self.strangers
            ]
        )
        message: dict[str, Any] | None = {**stored_message, "chat": chat.as_json}
        if random.random() < 0.15:
            number = random.choice((1, 0, 2**31, 2**53, -5))
            # An old message whose content Telegram leaves out (date 0), or an inline message.
            message = random.choice(({"message_id": number, "date": 0, "chat": chat.as_json}, None))
        query = str(next(self.numbers))
        self.server.answers[query] = {}
        self.server.queries[query] = Query(user["id"], time.monotonic(), self.server.clock.now)
        fields = {"id": query, "from": user, "chat_instance": "1", "data": payload}
        return {"update_id": next(self.numbers), "callback_query": fields | ({"message": message} if message else {})}


def choose_user(random: Random, users: list[dict[str, Any]]) -> dict[str, Any]:
    """Choose a user, sometimes with an odd name."""
    user = random.choice(users)
    if random.random() < 0.2:
        odd = {"first_name": odd_text(random)[:64] or "?", "language_code": odd_text(random)[:20]}
        return {**user, **odd, "username": f"zeno{user['id']}{odd_text(random)[:9]}"}
    return user


def _encode(update: Any) -> bytes:
    return json.dumps(update, ensure_ascii=True).encode()


async def run(folder: Path, messages: int, seed: int) -> Outcome:
    """Send this many requests; raise `FuzzFailure` if one is not answered or changes anything."""
    outcome, port = Outcome(), free_port()
    server = TelegramServer()
    await server.start()
    try:
        async with (
            open_temporary_store(folder) as store,
            on_telegram(store, server, **webhook_settings(port), rate_limits=False) as adapter,
        ):
            await until(lambda: adapter.healthy)
            fuzzer = TelegramFuzzer(server, adapter, Random(seed))
            await fuzzer.set_up()
            before = await read_state(store)
            with fail_on_errors(outcome):
                await _send_all(fuzzer, f"http://127.0.0.1:{port}", messages, outcome)
                await fuzzer._settle()
            await check_unchanged(before, partial(read_state, store))
            if fuzzer.unanswered:
                raise FuzzFailure(f"not answered: {fuzzer.unanswered[:3]}")
            outcome.commands = fuzzer.commands
    finally:
        await server.stop()
    return outcome


async def _wait_for_answer(server: TelegramServer, sent: FuzzRequest) -> None:
    """Wait until the callback query is answered."""
    assert sent.query
    try:
        await until(lambda: "answered" in server.answers[sent.query or ""], 10)
    except AssertionError:
        raise FuzzFailure(f"not answered: {sent}") from None
    del server.answers[sent.query]


async def _send_all(fuzzer: TelegramFuzzer, url: str, messages: int, outcome: Outcome) -> None:
    remaining = iter(range(messages))

    async def send_requests(session: aiohttp.ClientSession) -> None:
        for number in remaining:
            sent = await fuzzer.make_request()
            async with session.post(url + sent.path, data=sent.body, headers=sent.headers) as answer:
                status = answer.status
                if TOKEN in await answer.text():
                    raise FuzzFailure("an answer contains the bot's token")
            if status not in sent.statuses:
                raise FuzzFailure(f"{status} for {str(sent)[:2000]}")
            if sent.query:
                await _wait_for_answer(fuzzer.server, sent)
            outcome.sent += 1
            outcome.presses += bool(sent.query)
            outcome.refused += status != 200
            if number % PRUNE_INTERVAL == 0:
                fuzzer.prune()

    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:
        for _ in range(CONCURRENT_REQUESTS):
            group.create_task(send_requests(session))
