"""A fake Bot API server over HTTP, written from the documentation and as strict as Telegram.

Each request is checked against aiogram's model of the method. The server refuses unknown fields, wrong types, long
texts and edits of missing messages. Tests let calls fail with `fail_next`.
"""

import asyncio
import json
import re
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any

import aiohttp
from aiohttp import web
from pydantic import ValidationError

from bot.panel import utf16_length
from tests.telegram.apps import Apps, check_menu_button
from tests.telegram.clock import RunningClock
from tests.telegram.content import Photos, Refused, caption_content, resolve_attachment, text_content
from tests.telegram.guests import GuestQueries, checked_article
from tests.telegram.models import method_model
from tests.telegram.rich import rich_content
from tests.telegram.widgets import LONGEST_DATA, checked_data, widget_content

TOKEN = "123456:test-token"
BOT: dict[str, Any] = {"id": 123456, "is_bot": True, "first_name": "Buongioco", "username": "buongioco_bot"}
GUEST_CHAT = -1001  # id of each chat in which the bot is a guest; a group of the bot has the same
PER_MINUTE = 20
ANSWER_SECONDS = 3.0  # seconds in which a press must be answered; this is our own rule, and Telegram allows more
METHODS = (
    "getMe",
    "getUpdates",
    "sendMessage",
    "sendDocument",
    "sendPhoto",
    "editMessageText",
    "editMessageCaption",
    "editMessageMedia",
    "editMessageReplyMarkup",
    "deleteMessage",
    "answerCallbackQuery",
    "setMyCommands",
    "setMyDescription",
    "setMyShortDescription",
    "setMySettings",
    "setWebhook",
    "deleteWebhook",
    "getWebhookInfo",
    "editEphemeralMessageText",
    "editEphemeralMessageCaption",
    "editEphemeralMessageMedia",
    "deleteEphemeralMessage",
    "answerInlineQuery",
    "sendChatAction",
    "getChatMember",
    "getChatAdministrators",
    "sendRichMessage",
    "sendWidget",
    "editMessageWidgetData",
    "answerWidgetQuery",
    "answerGuestQuery",
    "setChatMenuButton",
    "savePreparedInlineMessage",
    "createForumTopic",
    "deleteForumTopic",
)
CALLBACK_MODES = ("default", "auto", "inline")
"""TDLib's names (``botCallbackQueryMode…``). The Bot API's own strings are unknown."""
MAX_INLINE_RESULTS = 50  # per answer (core.telegram.org/bots/api#answerinlinequery)
CONTENT_FIELDS = ("text", "rich_message", "entities", "photo", "caption", "caption_entities", "reply_markup")
SAME_OFFSET_SECONDS = 0.5  # a poll gets only one update if it comes sooner than this after a poll with the same offset
PRESS_SECONDS = 15.0
"""Seconds after a press in which a bot without admin rights can show the presser an ephemeral message."""


@dataclass
class Failure:
    """A call's failure: a refusal, another answer or no answer, before or after the call took effect."""

    refusal: Refused | None = None
    body: bytes | None = None
    status: int = 200  # HTTP status with ``body``
    done_first: bool = False
    hang_up: bool = False
    silent: bool = False  # the call is never answered
    gate: asyncio.Event | None = None  # the call waits until this is set


@dataclass
class Chat:
    id: int
    type: str
    title: str
    messages: dict[int, dict[str, Any]] = field(default_factory=dict)
    sent_at: deque[float] = field(default_factory=deque)
    written_at: list[float] = field(default_factory=list)
    """Times of sends and edits, from the server's ``now``."""
    refusal: Refused | None = None
    accepts_photos: bool = True
    bot_is_admin: bool = False
    admins: dict[int, bool] = field(default_factory=dict)
    """True for an anonymous administrator, by user."""
    hides_members: bool = False
    """If true, a bot without admin rights cannot request members."""
    has_topics: bool = True
    """For a private chat: whether the person has topics on. They have none if the bot has them off."""
    topics: dict[int, str] = field(default_factory=dict)
    """Names of a private chat's topics."""
    ephemeral_commands: dict[int, tuple[int, float]] = field(default_factory=dict)
    """Authors and times of ephemeral commands."""
    ephemerals: dict[int, dict[int, dict[str, Any]]] = field(default_factory=lambda: defaultdict(dict))
    """Ephemeral messages by receiver."""

    @property
    def as_json(self) -> dict[str, Any]:
        name_field = "first_name" if self.type == "private" else "title"
        return {"id": self.id, "type": self.type, name_field: self.title}


@dataclass
class Query:
    """A press: its user and time. ``answered_after`` is in seconds of the server's `clock`, from ``since``."""

    user: int
    pressed_at: float
    since: float
    answered_after: float | None = None


class TelegramServer:
    """The server, its chats and the pending updates."""

    supports_inline = supports_guests = True
    has_topics = False
    """Whether the bot has topics in private chats."""

    def __init__(self) -> None:
        self.chats: dict[int, Chat] = {}
        self.users: dict[int, dict[str, Any]] = {}
        self.started_users: set[int] = set()
        self.answers: dict[str, dict[str, Any]] = {}
        self.menus: dict[str, list[dict[str, Any]]] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.files: dict[str, bytes] = {}
        self.photos = Photos()
        self.missing_methods: set[str] = set()
        self.token = TOKEN
        self.group_limit = 10**6
        self.now = time.time
        self.outage: Failure | None = None
        """The failure of every call; None if calls succeed."""
        self.calls_during_outage = 0
        """Number of calls during outages."""
        self.redeliver = False
        self.short_answers = 0
        """Number of polls that got one update because they came too soon."""
        self._last_poll = -1, 0.0
        self.texts: dict[str, str] = {}
        self.webhook: dict[str, Any] = {}
        self.refused_by_webhook: list[int] = []
        self.webhook_failed_at = 0
        """Unix time of the webhook's last failure; 0 for the current time."""
        self.queries: dict[str, Query] = {}
        self.clock = RunningClock()
        self.checks_answers = True
        """If true, all presses must be answered by the end of the test."""
        self._bot_is_new = True
        self.callback_query_mode = "default"
        """How presses name ordinary messages. Since November 2026 hosts can change this at BotFather."""
        self._messages_by_inline_id: dict[str, dict[str, Any]] = {}
        """Ordinary messages that a press has named by an inline id."""
        self.inline_refusal: Refused | None = None
        """The refusal of every edit of an inline message."""
        self.guests = GuestQueries()
        self.inline_chats: dict[str, Chat] = {}
        """Chats without the bot, by the id of each of their inline messages."""
        self.inline_answers: dict[str, dict[str, Any]] = {}
        """Answers to inline queries by query id; empty before the answer."""
        self.inline_texts: dict[str, str] = {}
        """Texts of inline queries by query id."""
        self._delivery: asyncio.Task[None] | None = None
        self._failures: dict[str, deque[Failure]] = defaultdict(deque)
        self._updates: deque[dict[str, Any]] = deque()
        self._new = asyncio.Event()
        self._update_ids, self._message_ids, self._query_ids = count(1000), count(1), count(1)
        self._runner: web.AppRunner | None = None
        self.url = ""

    @cached_property
    def apps(self) -> Apps:
        """The Mini App's state."""
        return Apps()

    async def start(self, port: int = 0) -> None:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/bot{token}/{method}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        self.clock.start()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        self.port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        self.clock.stop()
        if self._delivery:
            self._delivery.cancel()
        if self._runner:
            await self._runner.cleanup()

    def _note_bot_start(self) -> None:
        """Count the time to answer earlier presses from the bot's start."""
        if self._bot_is_new:
            self._bot_is_new = False
            for query in self.queries.values():
                query.since = self.clock.now

    def rate_violations(self) -> list[str]:
        """Describe each time a group got more than `PER_MINUTE` messages and edits within a minute."""
        violations = []
        for chat in [*self.chats.values(), *self.inline_chats.values()]:
            times = deque[float]()
            for time_written in chat.written_at if chat.type != "private" else ():
                times.append(time_written)
                while times[0] <= time_written - 60:
                    times.popleft()
                if len(times) > PER_MINUTE:
                    seconds = [round(time - times[0], 1) for time in times]
                    violations.append(f"chat {chat.id} got {len(times)} messages in a minute, at {seconds}")
        return violations

    def unanswered_presses(self) -> list[str]:
        """Describe the presses that were answered too late or not at all."""
        presses = []
        for name, query in self.queries.items():
            if "answered" not in self.answers.get(name, {"answered": True}):
                presses.append(f"query {name} is open")
            elif (query.answered_after or 0.0) > ANSWER_SECONDS:
                presses.append(f"query {name} was answered after {query.answered_after:.1f} s")
        return presses

    # Set-up by tests

    def fail_next(self, method: str, *failures: Failure) -> None:
        """Let the next calls of a method fail, one failure each."""
        self._failures[method].extend(failures)

    def clear_failures(self) -> None:
        """Let all further calls succeed."""
        self._failures.clear()

    def group(self, number: int, title: str = "Bar Sport") -> Chat:
        return self.chats.setdefault(number, Chat(number, "supergroup", title))

    def private(self, user: int) -> Chat:
        return self.chats.setdefault(user, Chat(user, "private", self.users[user]["first_name"]))

    def push(self, **update: Any) -> None:
        """Add an update for the bot."""
        self._updates.append({"update_id": next(self._update_ids), **update})
        self._new.set()

    @property
    def pending(self) -> list[dict[str, Any]]:
        """The updates that are not confirmed."""
        return list(self._updates)

    def write(self, chat: Chat, user: int, text: str, **message_fields: Any) -> dict[str, Any]:
        """Send a person's message, with the entities that Telegram finds in it."""
        entities = []
        if text.startswith("/"):
            entities.append({"type": "bot_command", "offset": 0, "length": utf16_length(text.split(maxsplit=1)[0])})
        before, at_sign, after = text.partition(" @")
        if at_sign:
            handle = f"@{after}".split(maxsplit=1)[0]
            entities.append({"type": "mention", "offset": utf16_length(before) + 1, "length": utf16_length(handle)})
        number = next(self._message_ids)
        message = {
            "message_id": number,
            "date": int(time.time()),
            "chat": chat.as_json,
            "from": self.users[user],
            "text": text,
            **({"entities": entities} if entities else {}),
            **message_fields,
        }
        chat.messages[number] = message
        self.push(message=message)
        return message

    def write_ephemeral(self, chat: Chat, user: int, text: str, **message_fields: Any) -> int:
        """Write a command that only its author and the bot see; return its id.

        The menu says which commands are ephemeral (core.telegram.org/bots/api#botcommand). Such a message has the id 0
        (core.telegram.org/bots/api#message).
        """
        language = "it" if self.users[user]["language_code"] == "it" else ""
        [entry] = [
            command
            for command in self.menus[f"all_group_chats {language}"]
            if text.split(maxsplit=1)[0] == f"/{command['command']}"
        ]
        assert entry["is_ephemeral"]
        assert chat.type != "private"
        message, number = self.write(chat, user, text, receiver_user=BOT), next(self._message_ids)
        del chat.messages[message["message_id"]]
        chat.ephemeral_commands[number] = user, time.monotonic()
        message.update({"message_id": 0, "ephemeral_message_id": number} | message_fields)
        return number

    def press(self, chat: Chat, message: dict[str, Any], user: int, data: str) -> str:
        """Press a button; return the query id."""
        query = str(next(self._query_ids))
        self.answers[query] = {}
        self.queries[query] = Query(user, time.monotonic(), self.clock.now)
        # An update has exactly one of the two fields (core.telegram.org/bots/api#callbackquery).
        origin = (
            {"inline_message_id": name}
            if (name := self._inline_id(chat, message))
            else {"message": {key: value for key, value in message.items() if key != "rows"}}
        )
        self.push(
            callback_query={
                "id": query,
                "from": self.users[user],
                "chat_instance": str(chat.id) if chat.type == "elsewhere" else "1",
                "data": data,
                **origin,
            }
        )
        return query

    def _inline_id(self, chat: Chat, message: dict[str, Any]) -> str:
        """Return the inline id with which a press names a message; empty if it contains the message.

        In the mode "inline" all presses use ids, in "auto" only those on messages that the bot cannot access. See
        ``botCallbackQueryModeInline`` and ``botCallbackQueryModeAuto`` in TDLib.
        """
        is_by_id = {"inline": True, "auto": chat.refusal is not None}.get(self.callback_query_mode, False)
        if "inline_message_id" in message or not is_by_id:
            return str(message.get("inline_message_id", ""))
        name = f"BBBB-{abs(chat.id)}_{message['message_id']}"
        self.inline_chats[name], self._messages_by_inline_id[name] = chat, message
        return name

    # The methods of widgets; see core.telegram.org/bots/widgets

    def tap(self, message: dict[str, Any], user: int, data: str) -> str:
        """Tap in a widget, which sends 1 to 64 bytes; return the query id."""
        assert 1 <= len(data.encode()) <= 64
        query = str(next(self._query_ids))
        self.answers[query] = {}
        self.queries[query] = Query(user, time.monotonic(), self.clock.now)
        self.push(
            widget_query={
                "id": query,
                "from": self.users[user],
                "chat_instance": "1",
                "type": {"type": "data"},
                "data": data,
                "chat": message["chat"],
                "message_id": message["message_id"],
            }
        )
        return query

    async def _sendWidget(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        return self._post_message(self._chat(fields["chat_id"]), fields)

    async def _editMessageWidgetData(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        chat = self._chat(fields["chat_id"])
        message = chat.messages.get(fields["message_id"])
        if message is None or "widget" not in message:
            raise Refused(400, "Bad Request: message to edit not found")
        data = checked_data(fields)
        if message["widget"]["chat_data"] == data:
            raise Refused(400, "Bad Request: message is not modified: specified new message content is the same")
        message["widget"]["chat_data"] = data
        self._rate_limit(chat)
        return True

    async def _answerWidgetQuery(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        if self.answers.get(fields["widget_query_id"], {"old": True}):
            raise Refused(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
        if len(fields["data"].encode()) > LONGEST_DATA:
            raise Refused(400, "Bad Request: WIDGET_DATA_TOO_LONG")
        query = self.queries[fields["widget_query_id"]]
        query.answered_after = self.clock.now - query.since
        self.answers[fields["widget_query_id"]] = {"data": fields["data"], "answered": True}
        return True

    # Topics in private chats (core.telegram.org/bots/api-changelog, 31 December 2025 and 9 February 2026)

    async def _createForumTopic(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        """Create a topic; its name has 1 to 128 characters (core.telegram.org/bots/api#createforumtopic)."""
        chat = self._topics_chat(fields)
        if not 1 <= len(fields["name"]) <= 128:
            raise Refused(400, "Bad Request: TOPIC_TITLE_INVALID")
        self._rate_limit(chat)
        topic = next(self._message_ids)
        chat.topics[topic] = fields["name"]
        return {"message_thread_id": topic, "name": fields["name"], "icon_color": 7322096}

    async def _deleteForumTopic(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        """Delete a topic "along with all its messages" (core.telegram.org/bots/api#deleteforumtopic)."""
        chat = self._topics_chat(fields)
        self._check_topic(chat, fields)
        self.delete_topic(chat, fields["message_thread_id"])
        return True

    def _topics_chat(self, fields: dict[str, Any]) -> Chat:
        chat = self._chat(fields["chat_id"])
        if chat.type != "private" or not (self.has_topics and chat.has_topics):
            raise Refused(400, "Bad Request: the chat is not a forum")
        return chat

    def _check_topic(self, chat: Chat, fields: dict[str, Any]) -> None:
        """Refuse a private topic that does not exist (tdlib/telegram-bot-api, issues 847 and 854)."""
        topic = fields.get("message_thread_id")
        if chat.type == "private" and topic and topic not in chat.topics:
            raise Refused(400, "Bad Request: message thread not found")

    def delete_topic(self, chat: Chat, topic: int) -> None:
        """Delete a topic, as a person can do too."""
        del chat.topics[topic]
        for number, message in list(chat.messages.items()):
            if message.get("message_thread_id") == topic:
                del chat.messages[number]

    # Inline mode (core.telegram.org/bots/api#inline-mode)

    def type_inline(self, user: int, text: str) -> str:
        """Type the bot's name and a text in any chat; return the query id."""
        assert self.supports_inline
        query = str(next(self._query_ids))
        self.inline_answers[query] = {}
        self.inline_texts[query] = text
        self.push(inline_query={"id": query, "from": self.users[user], "query": text, "offset": ""})
        return query

    def result_id(self, query: str, game: str) -> str:
        """Return the id of a game's result; each offer has its own."""
        results = self.inline_answers[query]["results"]
        return str(next(result["id"] for result in results if result["id"].partition(".")[0] == game))

    def send_result(self, user: int, query: str, result: str, chat: Chat, *, feedback: bool = False) -> dict[str, Any]:
        """Send a result of an inline query; return the message.

        The bot is informed only with inline ``feedback`` (core.telegram.org/bots/inline#collecting-feedback). It gets
        the inline id if the message has a keyboard (core.telegram.org/bots/api#choseninlineresult).
        """
        [chosen_offer] = [offer for offer in self.inline_answers[query]["results"] if offer["id"] == result]
        markup = chosen_offer.get("reply_markup")
        message: dict[str, Any] = {
            "message_id": next(self._message_ids),
            "from": self.users[user],
            "via_bot": BOT,
            **checked_article(chosen_offer),
        }
        if markup:
            message["inline_message_id"] = f"AAAA-{message['message_id']}_x"
            self.inline_chats[message["inline_message_id"]] = chat
        chat.messages[message["message_id"]] = message
        if feedback:
            inline_id = {"inline_message_id": message["inline_message_id"]} if markup else {}
            self.push(
                chosen_inline_result={
                    "result_id": result,
                    "from": self.users[user],
                    "query": self.inline_texts[query],
                    **inline_id,
                }
            )
        return message

    # The Mini App

    async def _setChatMenuButton(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        user = fields.get("chat_id")
        if user is not None and self._chat(user).type != "private":
            raise Refused(400, "Bad Request: invalid user_id specified")
        check_menu_button(fields.get("menu_button") or {"type": "default"})
        self.apps.menu_buttons[user] = fields.get("menu_button") or {"type": "default"}
        return True

    async def _savePreparedInlineMessage(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        if fields["user_id"] not in self.users:
            raise Refused(400, "Bad Request: USER_ID_INVALID")
        return self.apps.prepare(fields, checked_article(fields["result"]))

    async def _answerInlineQuery(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        """Check and store an answer; each result is checked as if it was sent."""
        query, results = fields["inline_query_id"], fields["results"]
        if self.inline_answers.get(query, {"old": True}):
            raise Refused(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
        if len(results) > MAX_INLINE_RESULTS:
            raise Refused(400, "Bad Request: RESULTS_TOO_MUCH")
        if len({result["id"] for result in results}) < len(results):
            raise Refused(400, "Bad Request: RESULT_ID_DUPLICATE")
        for result in results:
            checked_article(result)
        if button := fields.get("button"):
            # A label, and one of two actions (core.telegram.org/bots/api#inlinequeryresultsbutton).
            if set(button) != {"text", "start_parameter"} or not button["text"]:
                raise Refused(400, "Bad Request: a button that this server does not know")
            if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", button["start_parameter"]):
                raise Refused(400, "Bad Request: START_PARAM_INVALID")
        self.inline_answers[query] = fields
        return True

    # Guest mode (core.telegram.org/api/bots/guest-mode)

    def call_guest(self, user: int, chat: Chat, text: str, **message_fields: Any) -> str:
        """Write the bot's name in a chat without the bot; return the query's id.

        The id of the chat can be that of another chat of the bot (core.telegram.org/bots/api#message).
        """
        assert self.supports_guests
        query = self.guests.begin(chat)
        self.push(
            guest_message={
                "message_id": next(self._message_ids),
                "date": int(time.time()),
                "chat": {"id": GUEST_CHAT, "type": "group", "title": chat.title},
                "from": self.users[user],
                "text": text,
                "guest_query_id": query,
                **message_fields,
            }
        )
        return query

    async def _answerGuestQuery(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        """Post the answer and return its inline id (core.telegram.org/bots/api#sentguestmessage)."""
        content = checked_article(fields["result"])
        chat, number = self.guests.finish(fields["guest_query_id"]), next(self._message_ids)
        name = f"CCCC-{number}_x"
        chat.messages[number] = {"message_id": number, "from": BOT, "inline_message_id": name, **content}
        self.inline_chats[name] = chat
        return {"inline_message_id": name}

    def _edit_inline(self, fields: dict[str, Any], part: str) -> bool:
        """Edit an inline message. It cannot get a new file.

        Sources: core.telegram.org/bots/api#editmessagetext and core.telegram.org/bots/api#editmessagemedia.
        """
        if fields.get("chat_id") or fields.get("message_id"):
            raise Refused(400, "Bad Request: chat not found")
        if self.inline_refusal:
            raise self.inline_refusal
        if part != "text":
            raise Refused(400, "Bad Request: a new file can't be uploaded for an inline message")
        name = fields["inline_message_id"]
        chat = self.inline_chats.get(name)
        messages = (
            [message for message in chat.messages.values() if message.get("inline_message_id") == name] if chat else []
        )
        messages += [self._messages_by_inline_id[name]] if name in self._messages_by_inline_id else []
        if not chat or not messages:
            raise Refused(400, "Bad Request: MESSAGE_ID_INVALID")
        if not self._change(chat, messages[0], fields, part):
            raise Refused(400, "Bad Request: message is not modified: specified new message content is the same")
        self._rate_limit(chat)
        return True

    async def _sendChatAction(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        """Refuse if the person blocked the bot (fuomag9/ChaturbateBot issue 34).

        Whether Telegram also refuses for people who never pressed Start is unknown. This server accepts these calls.
        """
        chat = self.chats.get(fields["chat_id"])
        if chat and chat.refusal:
            raise chat.refusal
        return True

    # Members (core.telegram.org/bots/api#getchatmember, core.telegram.org/bots/api#getchatadministrators)

    async def _getChatMember(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        chat = self.chats[fields["chat_id"]]
        if chat.hides_members and not chat.bot_is_admin:
            raise Refused(400, "Bad Request: CHAT_ADMIN_REQUIRED")
        return self._member(chat, fields["user_id"])

    async def _getChatAdministrators(self, fields: dict[str, Any]) -> list[dict[str, Any]]:  # noqa: N802
        chat = self.chats[fields["chat_id"]]
        return [self._member(chat, user) for user in chat.admins]

    def _member(self, chat: Chat, user: int) -> dict[str, Any]:
        if user not in chat.admins:
            return {"status": "member", "user": self.users[user]}
        return {"status": "administrator", "user": self.users[user], "is_anonymous": chat.admins[user]}

    # HTTP

    async def _handle(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        try:
            self._check_call(request.match_info["token"], method)
            fields = await self._read_fields(method, request)
            self.calls.append((method, fields))
            failure = self._failures[method].popleft() if self._failures[method] else self.outage
            self.calls_during_outage += failure is not None and failure is self.outage
            if failure and failure.gate:
                await failure.gate.wait()
            if failure and failure.silent and not failure.done_first:
                await asyncio.Event().wait()
            if failure and not failure.done_first:
                if failure.body is not None:
                    return web.Response(body=failure.body, status=failure.status)
                self._fail(failure, request)
            result = await getattr(self, f"_{method}")(fields)
            if failure and failure.silent:
                await asyncio.Event().wait()
            if failure:
                if failure.body is not None:
                    return web.Response(body=failure.body, status=failure.status)
                self._fail(failure, request)
            return web.json_response({"ok": True, "result": result})
        except Refused as refusal:
            body = {"ok": False, "error_code": refusal.code, "description": refusal.description}
            if refusal.parameters:
                body["parameters"] = refusal.parameters
            return web.json_response(body, status=refusal.code)

    def _check_call(self, token: str, method: str) -> None:
        if token != self.token:
            raise Refused(401, "Unauthorized")
        if method not in METHODS or method in self.missing_methods:
            raise Refused(404, "Not Found")

    @staticmethod
    def _fail(failure: Failure, request: web.Request) -> None:
        if failure.hang_up:
            assert request.transport
            request.transport.abort()
        if failure.refusal:
            raise failure.refusal

    async def _read_fields(self, method: str, request: web.Request) -> dict[str, Any]:
        """Return the fields of a request, checked against aiogram's model of the method.

        They come as JSON (core.telegram.org/bots/api#making-requests), or as a form with JSON in its fields. A form
        can contain a file, which is then known by its name (core.telegram.org/bots/api#sending-files).
        """
        fields: dict[str, Any] = await request.json() if request.content_type == "application/json" else {}
        uploads: dict[str, bytes] = {}
        for name, value in (await request.post()).items():
            if isinstance(value, web.FileField):
                uploads[name] = self.files[value.filename] = value.file.read()
                if name == "document":
                    fields[name] = value.filename
                elif method == "sendPhoto":
                    fields[name] = f"attach://{name}"
                continue
            assert isinstance(value, str)
            try:
                fields[name] = json.loads(value)
            except ValueError:
                fields[name] = value
            if name in ("text", "caption", "callback_query_id"):
                fields[name] = value
        model = method_model(method)
        unknown = set(fields) - set(model.model_fields)
        if unknown:
            raise Refused(400, f"Bad Request: unknown fields {sorted(unknown)}")
        try:
            model.model_validate(fields)
        except ValidationError as error:
            raise Refused(400, f"Bad Request: {error}") from None
        if method == "sendPhoto":
            fields["photo"] = self._save_upload(fields["photo"], uploads)
        elif method.endswith("Media"):
            if fields["media"]["type"] != "photo":
                raise Refused(400, "Bad Request: type of file mismatch")
            fields["media"]["media"] = self._save_upload(fields["media"]["media"], uploads)
        if set(uploads) - {"document"}:
            raise Refused(400, f"Bad Request: unused files {sorted(uploads)}")
        return fields

    def _save_upload(self, photo: str, uploads: dict[str, bytes]) -> str:
        """Return the ``file_id`` of a photo. Store the photo first if it was uploaded with the request."""
        content = resolve_attachment(photo, uploads)
        return photo if content is None else self.photos.save(content)

    async def _getMe(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        self._bot_is_new = True
        return {
            **BOT,
            "supports_inline_queries": self.supports_inline,
            "supports_guest_queries": self.supports_guests,
            "has_main_web_app": self.apps.has_main,
            "has_topics_enabled": self.has_topics,
        }

    async def _getUpdates(self, fields: dict[str, Any]) -> list[dict[str, Any]]:  # noqa: N802
        """Return the updates that no higher offset has confirmed."""
        self._note_bot_start()
        if self.webhook:
            raise Refused(409, "Conflict: can't use getUpdates method while webhook is active; delete it first")
        offset, limit = fields.get("offset") or 0, fields.get("limit") or 100
        # tdlib/telegram-bot-api, Client::process_get_updates_query
        if offset == self._last_poll[0] and time.monotonic() < self._last_poll[1] + SAME_OFFSET_SECONDS:
            limit = 1
            self.short_answers += 1
        self._last_poll = offset, time.monotonic()
        while self._updates and self._updates[0]["update_id"] < offset and not self.redeliver:
            self._updates.popleft()
        if not self._updates and fields.get("timeout"):
            self._new.clear()
            try:
                async with asyncio.timeout(min(fields["timeout"], 2)):
                    await self._new.wait()
            except TimeoutError:
                return []
        return list(self._updates)[:limit]

    async def _sendMessage(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        chat = self._chat(fields["chat_id"])
        ephemeral = fields.get("ephemeral_message_parameters")
        if ephemeral and "editEphemeralMessageText" not in self.missing_methods:
            return self._send_ephemeral(chat, fields, ephemeral)
        return self._post_message(chat, fields)

    async def _sendRichMessage(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        return self._post_message(self._chat(fields["chat_id"]), fields)

    async def _sendPhoto(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        """Send an upload or a ``file_id``, with a caption of up to 1024 characters
        (core.telegram.org/bots/api#sendphoto).
        """
        return await self._sendMessage(fields)

    def _post_message(self, chat: Chat, fields: dict[str, Any]) -> dict[str, Any]:
        """Add a message of the bot to a chat.

        A reply to an ephemeral message must be ephemeral (core.telegram.org/bots/api#replyparameters).
        """
        reply = fields.get("reply_parameters") or {}
        if "ephemeral_message_id" in reply or reply.get("message_id") == 0:
            raise Refused(400, "Bad Request: message to be replied not found")
        self._check_topic(chat, fields)
        content = self._content(chat, fields)
        self._rate_limit(chat)
        number = next(self._message_ids)
        chat.messages[number] = {
            "message_id": number,
            "date": int(time.time()),
            "chat": chat.as_json,
            "from": BOT,
            **content,
            **_topic_fields(fields),
        }
        return chat.messages[number]

    def _content(self, chat: Chat, fields: dict[str, Any]) -> dict[str, Any]:
        """Return a message's content: a widget, a rich message, a photo with its caption, or a text."""
        if "html" in fields:
            return widget_content(fields)
        if "rich_message" in fields:
            return rich_content(fields)
        if "photo" not in fields:
            return text_content(fields)
        if not chat.accepts_photos:
            raise Refused(400, "Bad Request: not enough rights to send photos to the chat")
        return {"photo": self.photos.sizes(fields["photo"]), **caption_content(fields)}

    async def _sendDocument(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        """Send a file of up to 50 MB, its caption up to 1024 characters (core.telegram.org/bots/api#senddocument)."""
        chat = self._chat(fields["chat_id"])
        content = self.files.get(fields["document"])
        if content is None:
            raise Refused(400, "Bad Request: wrong file identifier/HTTP URL specified")
        if not content:
            raise Refused(400, "Bad Request: file must be non-empty")
        if len(content) > 50 * 1024 * 1024:
            raise Refused(413, "Request Entity Too Large")
        if utf16_length(fields.get("caption") or "") > 1024:
            raise Refused(400, "Bad Request: message caption is too long")
        self._check_topic(chat, fields)
        self._rate_limit(chat)
        number = next(self._message_ids)
        chat.messages[number] = {
            "message_id": number,
            "date": int(time.time()),
            "chat": chat.as_json,
            "from": BOT,
            "caption": fields.get("caption", ""),
            "document": {
                "file_id": f"file{number}",
                "file_unique_id": str(number),
                "file_name": fields["document"],
                "file_size": len(content),
            },
            **_topic_fields(fields),
        }
        return chat.messages[number]

    async def _editMessageText(self, fields: dict[str, Any]) -> dict[str, Any] | bool:  # noqa: N802
        return self._edit(fields, "text")

    async def _editMessageCaption(self, fields: dict[str, Any]) -> dict[str, Any] | bool:  # noqa: N802
        return self._edit(fields, "caption")

    async def _editMessageMedia(self, fields: dict[str, Any]) -> dict[str, Any] | bool:  # noqa: N802
        """Replace a photo, or turn a text into one.

        "or to replace a text or a rich message with a media" (core.telegram.org/bots/api#editmessagemedia)
        """
        return self._edit(fields, "media")

    def _edit(self, fields: dict[str, Any], part: str) -> dict[str, Any] | bool:
        if fields.get("inline_message_id"):
            return self._edit_inline(fields, part)
        chat = self._chat(fields["chat_id"])
        message = chat.messages.get(fields["message_id"])
        if message is None or message["from"] != BOT:
            raise Refused(400, "Bad Request: message to edit not found")
        if self._change(chat, message, fields, part):
            self._rate_limit(chat)
            return message
        raise Refused(400, "Bad Request: message is not modified: specified new message content is the same")

    def _change(self, chat: Chat, message: dict[str, Any], fields: dict[str, Any], part: str) -> bool:
        """Change a message's text, caption, or photo with caption; return whether anything changed.

        Texts and rich messages can become each other (core.telegram.org/bots/api#editmessagetext). A server before 10.1
        ignores a rich content, and misses the text.
        """
        is_text = part == "text" and "rich_message" in message
        if part != "media" and part not in message and not is_text:
            raise Refused(400, f"Bad Request: there is no {part} in the message to edit")
        if part == "text" and "sendRichMessage" not in self.missing_methods and "rich_message" in fields:
            content = rich_content(fields)
        elif part == "text":
            content = text_content({"text": "", **fields})
        elif part == "caption":
            content = {"photo": message["photo"], **caption_content(fields)}
        else:
            media = fields["media"]
            content = self._content(chat, {**fields, **media, "photo": media["media"]})
        if all(message.get(name) == content.get(name) for name in CONTENT_FIELDS):
            return False
        for name in CONTENT_FIELDS:
            message.pop(name, None)
        message.update(content, edit_date=int(time.time()))
        return True

    async def _deleteMessage(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        messages = self._chat(fields["chat_id"]).messages
        message = messages.get(fields["message_id"])
        if message is None:
            raise Refused(400, "Bad Request: message to delete not found")
        # The limit is 48 hours (core.telegram.org/bots/api#deletemessage).
        if message["date"] < time.time() - 48 * 3600:
            raise Refused(400, "Bad Request: message can't be deleted")
        del messages[fields["message_id"]]
        return True

    async def _editMessageReplyMarkup(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        message = self._chat(fields["chat_id"]).messages.get(fields["message_id"])
        if message is None:
            raise Refused(400, "Bad Request: message to edit not found")
        if message.pop("reply_markup", None) == fields.get("reply_markup"):
            raise Refused(400, "Bad Request: message is not modified: specified new message content is the same")
        return message

    async def _answerCallbackQuery(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        if self.answers.get(fields["callback_query_id"], {"old": True}):
            raise Refused(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
        if len(fields.get("text") or "") > 200:
            raise Refused(400, "Bad Request: MESSAGE_TOO_LONG")
        # Other addresses are for games, this one opens the bot (core.telegram.org/bots/api#answercallbackquery).
        if not (url := fields.get("url") or "https://t.me/").startswith("https://t.me/"):
            raise Refused(400, "Bad Request: URL_INVALID")
        if query := self.queries.get(fields["callback_query_id"]):
            query.answered_after = self.clock.now - query.since
        self.answers[fields["callback_query_id"]] = {"text": fields.get("text") or "", "url": url, "answered": True}
        return True

    async def _setMyCommands(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        # https://core.telegram.org/bots/api#botcommand
        if len(fields["commands"]) > 100:
            raise Refused(400, "Bad Request: BOT_COMMANDS_TOO_MUCH")
        for command in fields["commands"]:
            if not re.fullmatch("[a-z0-9_]{1,32}", command["command"]):
                raise Refused(400, "Bad Request: BOT_COMMAND_INVALID")
            if not 1 <= len(command["description"]) <= 256:
                raise Refused(400, "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID")
        self.menus[f"{fields['scope']['type']} {fields.get('language_code', '')}"] = fields["commands"]
        return True

    async def _setMyDescription(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        return self._set_text("description", fields, 512)

    async def _setMyShortDescription(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        return self._set_text("short_description", fields, 120)

    async def _setMySettings(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        """Change only the given settings (docs.aiogram.dev, setMySettings)."""
        if fields.get("callback_query_mode", "default") not in CALLBACK_MODES:
            raise Refused(400, "Bad Request: invalid callback query mode specified")
        self.callback_query_mode = fields.get("callback_query_mode", self.callback_query_mode)
        return True

    def _set_text(self, name: str, fields: dict[str, Any], longest: int) -> bool:
        if len(fields.get(name) or "") > longest:
            raise Refused(400, f"Bad Request: {name} is too long")
        self.texts[f"{name} {fields.get('language_code', '')}"] = fields.get(name, "")
        return True

    # Ephemeral messages

    def _send_ephemeral(self, chat: Chat, fields: dict[str, Any], ephemeral: dict[str, Any]) -> dict[str, Any]:
        """Add a message that only one member of a group sees."""
        user = ephemeral["receiver_user_id"]
        if chat.type == "private" or user not in self.users:
            raise Refused(400, "Bad Request: PEER_ID_INVALID")
        query = self.queries.get(ephemeral.get("callback_query_id", ""))
        may_show = query and query.user == user and time.monotonic() - query.pressed_at <= PRESS_SECONDS
        # A reply has 15 seconds too (core.telegram.org/bots/api#replyparameters).
        if replied := (fields.get("reply_parameters") or {}).get("ephemeral_message_id"):
            author, sent_at = chat.ephemeral_commands.get(replied, (0, 0.0))
            if author != user or time.monotonic() - sent_at > PRESS_SECONDS:
                raise Refused(400, "Bad Request: message to be replied not found")
            may_show = True
        if not chat.bot_is_admin and not may_show:
            raise Refused(400, "Bad Request: CHAT_ADMIN_REQUIRED")
        number = next(self._message_ids)
        chat.ephemerals[user][number] = {
            "message_id": 0,
            "ephemeral_message_id": number,
            "receiver_user": self.users[user],
            "date": int(time.time()),
            "chat": chat.as_json,
            "from": BOT,
            **self._content(chat, fields),
        }
        return chat.ephemerals[user][number]

    def _find_ephemeral(self, fields: dict[str, Any]) -> tuple[dict[int, dict[str, Any]], int]:
        """Return the receiver's ephemeral messages and the id of the one that the call names."""
        messages = self._chat(fields["chat_id"]).ephemerals[fields["receiver_user_id"]]
        if fields["ephemeral_message_id"] not in messages:
            raise Refused(400, "Bad Request: MESSAGE_ID_INVALID")
        return messages, fields["ephemeral_message_id"]

    async def _editEphemeralMessageText(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        return self._edit_ephemeral(fields, "text")

    async def _editEphemeralMessageCaption(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        return self._edit_ephemeral(fields, "caption")

    async def _editEphemeralMessageMedia(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        """Edit a photo. The documentation mentions no texts (core.telegram.org/bots/api#editephemeralmessagemedia)."""
        return self._edit_ephemeral(fields, "media")

    def _edit_ephemeral(self, fields: dict[str, Any], part: str) -> bool:
        messages, number = self._find_ephemeral(fields)
        if part == "media" and "photo" not in messages[number]:
            raise Refused(400, "Bad Request: there is no media in the message to edit")
        self._change(self._chat(fields["chat_id"]), messages[number], fields, part)
        return True

    async def _deleteEphemeralMessage(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        messages, number = self._find_ephemeral(fields)
        del messages[number]
        return True

    # The webhook

    async def _setWebhook(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        if not fields["url"].startswith(("https://", "http://127.0.0.1")):
            raise Refused(400, "Bad Request: bad webhook: An HTTPS URL must be provided for webhook")
        self.webhook = fields
        self._note_bot_start()
        if self._delivery is None:
            self._delivery = asyncio.create_task(self._deliver_updates())
        return True

    async def _deleteWebhook(self, fields: dict[str, Any]) -> bool:  # noqa: N802
        self.webhook = {}
        return True

    async def _getWebhookInfo(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        info = {
            "url": self.webhook.get("url", ""),
            "has_custom_certificate": False,
            "pending_update_count": len(self._updates),
        }
        if self.refused_by_webhook:
            error = f"Wrong response from the webhook: {self.refused_by_webhook[-1]}"
            failed_at = self.webhook_failed_at or int(time.time())
            info |= {"last_error_date": failed_at, "last_error_message": error}
        return info

    async def _deliver_updates(self) -> None:
        """Deliver updates to the webhook one by one, each until it is acknowledged."""
        async with aiohttp.ClientSession() as session:
            while True:
                while not self._updates or not self.webhook:
                    self._new.clear()
                    await asyncio.wait([asyncio.ensure_future(self._new.wait())], timeout=0.05)
                headers = {"X-Telegram-Bot-Api-Secret-Token": self.webhook.get("secret_token", "")}
                try:
                    async with session.post(self.webhook["url"], json=self._updates[0], headers=headers) as answer:
                        status = answer.status
                except (aiohttp.ClientError, OSError):
                    status = 0
                if 200 <= status < 300 and not self.redeliver:
                    self._updates.popleft()
                elif status:
                    self.refused_by_webhook.append(status)
                await asyncio.sleep(0 if status == 200 else 0.02)

    def _chat(self, number: int) -> Chat:
        chat = self.chats.get(number)
        if chat is None:
            raise Refused(400, "Bad Request: chat not found")
        if chat.refusal:
            raise chat.refusal
        if chat.type == "private" and number not in self.started_users:
            raise Refused(403, "Forbidden: bot can't initiate conversation with a user")
        return chat

    def _rate_limit(self, chat: Chat) -> None:
        """Count a message or edit. Refuse it, uncounted, if the group already had ``group_limit`` in this minute."""
        now = self.now()
        while chat.sent_at and chat.sent_at[0] < now - 60:
            chat.sent_at.popleft()
        if chat.type != "private" and len(chat.sent_at) >= self.group_limit:
            raise Refused(429, "Too Many Requests: retry after 1", retry_after=1)
        chat.sent_at.append(now)
        chat.written_at.append(now)


def _topic_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a sent message that name its topic, if it has one."""
    topic = fields.get("message_thread_id")
    return {"message_thread_id": topic, "is_topic_message": True} if topic else {}
