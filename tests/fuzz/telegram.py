"""Telegram: odd bodies and headers at the webhook, and updates that make sense to nobody."""

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
    WORDS,
    Nonsense,
    Outcome,
    Payloads,
    bent,
    command_words,
    is_for_a_game,
    is_unchanged,
    no_failures,
    odd_text,
    odd_value,
    own_store,
    state,
    without_clocks,
)
from tests.telegram.players import GROUP, Observed, Person, on_telegram, seated, until
from tests.telegram.server import TOKEN, Chat, Query, TelegramServer
from tests.telegram.test_webhook import free_port, settings

STRANGERS = 30
FIRST_STRANGER = 9000
AT_ONCE = 8
TIDY_AFTER = 500

RAW = (
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


class Sent(NamedTuple):
    """A request, the statuses that it may be answered with, and the query that wants an answer."""

    body: bytes
    headers: dict[str, str]
    statuses: tuple[int, ...] = (200,)
    query: str = ""
    path: str = "/cards"


class Telegrams:
    """A group with tables of every game, and nonsense about it."""

    def __init__(self, server: TelegramServer, adapter: Observed, random: Random) -> None:
        self.server, self.adapter, self.random = server, adapter, random
        self.numbers = count(10_000_000)
        self.strangers: list[dict[str, Any]] = []
        self.messages: list[tuple[Chat, dict[str, Any]]] = []
        self.commands = 0
        self.unanswered: list[Command] = []
        self.codes: list[str] = []
        self.payloads: Payloads

    async def arrange(self) -> None:
        await without_clocks(self.adapter.worker, f"telegram:{GROUP}")
        for game in GAMES:
            await seated(self.server, game)
            # Until its card says so, it may be taken for the next one's.
            await self._rest()
        worker, before = self.adapter.worker, self._told_the_group()
        Person(self.server, 1, "Anna").say("/challenge testa @bruno")
        people = [f"telegram:{number}" for number in range(1, 5)]
        await until(lambda: self._told_the_group() > before)
        await self._rest()
        tables = {table.code: table for person in people for table in await worker.tables_of(person)}
        if len(tables) != len(GAMES) + 1:
            raise Nonsense(f"{len(tables)} tables")
        self.codes = list(tables)
        chats = [self.server.group(GROUP), *(self.server.chats[number] for number in range(1, len(NAMES) + 1))]
        self.messages = [
            (chat, message) for chat in chats for message in chat.messages.values() if message["from"]["is_bot"]
        ]
        real = [
            button["callback_data"]
            for _, message in self.messages
            for row in message.get("reply_markup", {}).get("inline_keyboard", ())
            for button in row
            if "callback_data" in button
        ]
        self.payloads = Payloads(self.random, worker, self.codes, real)
        for number in range(FIRST_STRANGER, FIRST_STRANGER + STRANGERS):
            # Half of them have opened their private chat.
            Person(self.server, number, f"Zeno{number}", "it", started=number % 2 == 0)
            self.strangers.append(self.server.users[number])
        self._listen()

    def _listen(self) -> None:
        answer: Callable[[Command], Awaitable[Reply]] = self.adapter.card_room.handle_command

        async def heard(command: Command) -> Reply:
            reply = await answer(command)
            self.commands += 1
            if not reply.toast and not reply.panel:
                self.unanswered.append(command)
            return reply

        self.adapter.card_room.handle_command = heard  # type: ignore[method-assign]

    def _told_the_group(self) -> int:
        """How many messages of the bot's stand in the group."""
        return sum(bool(one["from"]["is_bot"]) for one in self.server.group(GROUP).messages.values())

    async def _rest(self) -> None:
        await asyncio.sleep(0.2)
        await self.adapter.worker.settled()

    def tidy(self) -> None:
        """Forget what was answered, or a long run would fill the memory."""
        kept = {id(message) for _, message in self.messages}
        for chat in self.server.chats.values():
            for number in [number for number, message in chat.messages.items() if id(message) not in kept]:
                del chat.messages[number]
        self.server.calls.clear()

    # What is sent

    async def one(self) -> Sent:
        secret = {SECRET_HEADER: secret_of(TOKEN), "Content-Type": "application/json"}
        kind = self.random.randrange(100)
        if kind < 8:
            return self._at_the_door(secret)
        if kind < 42:
            return Sent(_encoded(self._command()), secret)
        if kind < 72:
            update = self._press(self.random.choice(self.strangers), self.payloads.strange())
            return Sent(_encoded(update), secret, query=update["callback_query"]["id"])
        if kind < 82:
            player = self.random.randrange(1, len(NAMES) + 1)
            payload = await self.payloads.illegal(f"telegram:{player}")
            update = self._press(self.server.users[player], payload)
            return Sent(_encoded(update), secret, query=update["callback_query"]["id"])
        update = self._command(opens=False) if kind < 91 else self._press(self.random.choice(self.strangers), "1ttest")
        odd = bent(self.random, update)
        if isinstance(odd.get("message"), dict) and "migrate_to_chat_id" in odd["message"]:
            del odd["message"]["migrate_to_chat_id"]
        return Sent(_encoded(odd), secret, (200, 400))

    def _at_the_door(self, secret: dict[str, str]) -> Sent:
        random = self.random
        body = random.choice((*RAW, _encoded(self._command()), _encoded(odd_value(random))))
        wrong = random.choice((secret_of(TOKEN)[:-1], secret_of(TOKEN) + "0", "è", "x" * 4000, TOKEN, ""))
        match random.randrange(5):
            case 0:
                return Sent(body, {}, (403,))
            case 1:
                return Sent(body, {SECRET_HEADER: wrong}, (403,))
            case 2:
                return Sent(body, secret, (404,), path=random.choice(("/", "/cards/", "/cards/..%2f", "/telegram")))
            case 3:
                text = _encoded(self._command())
                return Sent(text[: random.randrange(len(text))], secret, (400,))
            case _:
                odd = {"Content-Type": random.choice(("text/plain; charset=utf-16", "x/y; charset=no-such", "é", ""))}
                return Sent(body, {**secret, **odd}, (200, 400))

    def _place(self, user: dict[str, Any]) -> dict[str, Any]:
        group = self.server.group(GROUP).about
        own = {"id": user["id"], "type": "private", "first_name": user["first_name"]}
        unknown = {"id": self.random.choice((-77, -(10**12), 2**52, -(2**63))), "type": "group", "title": "?"}
        return self.random.choice((group, group, own, own, unknown))

    def _command(self, *, opens: bool = True) -> dict[str, Any]:
        """``opens`` is whether it may be one that would open a table, or look for one: the others are bent, and might make sense by chance."""
        random, user = self.random, random_choice(self.random, self.strangers)
        opens = opens and random.random() < 0.8
        word = random.choice((*WORDS, *WORDS, odd_text(random).strip()[:40] or "x"))
        if not opens and is_for_a_game(word):
            word = "help"
        words = command_words(random, word, self.codes)
        first = f"/{word}{random.choice(('', '', '@buongioco_bot', '@BUONGIOCO_BOT'))}"
        text = " ".join([first, *words])
        length = len(first.encode("utf-16-le", "surrogatepass")) // 2
        message: dict[str, Any] = {
            "message_id": next(self.numbers),
            "date": int(time.time()),
            "chat": self._place(user),
            "from": user,
            "text": text,
            "entities": [{"type": "bot_command", "offset": 0, "length": length}],
        }
        if not opens:
            offset, size = random.choice(((length, 5), (-3, 2), (0, 10**6), (length + 1, 0), (2**40, 1), (length, -4)))
            kind = random.choice(("mention", "text_mention", "bot_command", "no_such_kind"))
            who = random.choice(self.strangers)
            message["entities"].append({"type": kind, "offset": offset, "length": size, "user": who})
        if random.random() < 0.1:
            message["message_thread_id"], message["is_topic_message"] = random.choice((1, -5, 2**60)), True
        return {"update_id": next(self.numbers), "message": message}

    def _press(self, user: dict[str, Any], payload: str) -> dict[str, Any]:
        random = self.random
        # A private chat's messages are pressed by its person.
        chat, shown = random.choice(
            [one for one in self.messages if one[0].id in (GROUP, user["id"]) or user in self.strangers]
        )
        message: dict[str, Any] | None = {**shown, "chat": chat.about}
        if random.random() < 0.15:
            number = random.choice((1, 0, 2**31, 2**53, -5))
            # One that is too old to be told of, and one of an inline message.
            message = random.choice(({"message_id": number, "date": 0, "chat": chat.about}, None))
        query = str(next(self.numbers))
        self.server.answers[query] = {}
        self.server.queries[query] = Query(user["id"], time.monotonic(), self.server.clock.now)
        told = {"id": query, "from": user, "chat_instance": "1", "data": payload}
        return {"update_id": next(self.numbers), "callback_query": told | ({"message": message} if message else {})}


def random_choice(random: Random, users: list[dict[str, Any]]) -> dict[str, Any]:
    """One of them, who may be called something odd by now."""
    user = random.choice(users)
    if random.random() < 0.2:
        odd = {"first_name": odd_text(random)[:64] or "?", "language_code": odd_text(random)[:20]}
        return {**user, **odd, "username": f"zeno{user['id']}{odd_text(random)[:9]}"}
    return user


def _encoded(update: Any) -> bytes:
    return json.dumps(update, ensure_ascii=True).encode()


async def run(folder: Path, messages: int, seed: int) -> Outcome:
    """So many requests; `Nonsense` if one is not answered or changes anything."""
    outcome, port = Outcome(), free_port()
    server = TelegramServer()
    await server.start()
    try:
        async with (
            own_store(folder) as store,
            on_telegram(store, server, **settings(port), rate_limits=False) as adapter,
        ):
            await until(lambda: adapter.healthy)
            telegrams = Telegrams(server, adapter, Random(seed))
            await telegrams.arrange()
            before = await state(store)
            with no_failures(outcome):
                await _send_all(telegrams, f"http://127.0.0.1:{port}", messages, outcome)
                await telegrams._rest()
            await is_unchanged(before, partial(state, store))
            if telegrams.unanswered:
                raise Nonsense(f"not answered: {telegrams.unanswered[:3]}")
            outcome.commands = telegrams.commands
    finally:
        await server.stop()
    return outcome


async def _until_answered(server: TelegramServer, sent: Sent) -> None:
    """What comes to the private chat is answered for when it is there."""
    assert sent.query
    try:
        await until(lambda: "answered" in server.answers[sent.query or ""], 10)
    except AssertionError:
        raise Nonsense(f"not answered: {sent}") from None
    del server.answers[sent.query]


async def _send_all(telegrams: Telegrams, url: str, messages: int, outcome: Outcome) -> None:
    left = iter(range(messages))

    async def keep_on(session: aiohttp.ClientSession) -> None:
        for number in left:
            sent = await telegrams.one()
            async with session.post(url + sent.path, data=sent.body, headers=sent.headers) as answer:
                status = answer.status
                if TOKEN in await answer.text():
                    raise Nonsense("the token stands in an answer")
            if status not in sent.statuses:
                raise Nonsense(f"{status} for {str(sent)[:2000]}")
            if sent.query:
                await _until_answered(telegrams.server, sent)
            outcome.sent += 1
            outcome.presses += bool(sent.query)
            outcome.refused += status != 200
            if number % TIDY_AFTER == 0:
                telegrams.tidy()

    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(keep_on(session))
