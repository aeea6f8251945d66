"""The playground's people, chats and messages. They survive restarts, as on any platform.

| key | type | value |
|---|---|---|
| ``playground:people`` | hash | people by id, as JSON: name, token, closed |
| ``playground:chats`` | hash | titles of groups by id |
| ``playground:messages:<chat>`` | hash | messages by number, as JSON |
| ``playground:sends:<chat>`` | hash | numbers of sent messages by key |
| ``playground:file:<chat>:<number>`` | string | a message's file; expires after a day |
| ``playground:picture:<chat>:<number>`` | string | the name and PNG of a message's picture; expires after a day |

Only a chat's last thirty messages with a picture keep it.
"""

import asyncio
import json
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from adapters.web.refusals import Refused
from bot.identity.names import person_name
from bot.panel import LONGEST_PAYLOAD, Panel, utf16_length
from bot.panel_picture import Picture
from bot.platform import ChatGone, File, MessageGone, TooLong, Unreachable
from bot.texts import gettext_noop as _

LONGEST_TEXT = 4096  # UTF-16 code units of a message, as on Telegram
PLATFORM = "playground"
BOT = "bot"  # the author of the bot's messages; people have numbers
MAX_BUTTONS = 100
# Kinds of buttons that are not shown: the private chat is one click away, and the bot is in all chats.
HIDDEN_BUTTONS = ("aside", "join", "start", "share", "group")
MESSAGES_KEPT = 300  # messages kept in each chat
PICTURES_KEPT = 30  # pictures kept in each chat, about 40 kB each; older messages show text instead
FILE_KEPT_SECONDS = 86400
MAX_PEOPLE, MAX_CHATS = 100, 50
LONGEST_NAME = 64


@dataclass
class User:
    """A person. ``token`` is the key of their link; ``closed`` forbids the bot to write to them."""

    id: str
    name: str
    token: str
    closed: bool = False

    @property
    def handle(self) -> str:
        return "".join(char for char in self.name.lower() if char.isalnum()) or f"p{self.id}"


@dataclass
class Chat:
    """A chat. ``id`` is a group's number, or ``@`` and the person's number for a private chat.

    ``last`` is the highest number of a message so far. ``unconfirmed`` has the numbers, by key, of messages whose write
    failed: the store may have them. ``lock`` is held while a message changes, so that the last change wins.
    """

    id: str
    title: str
    messages: OrderedDict[int, dict[str, Any]] = field(default_factory=OrderedDict)
    sends: dict[str, int] = field(default_factory=dict)
    last: int = 0
    unconfirmed: dict[str, int] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class ChatStore:
    """The state, in memory and in the store. When a call returns, both have the change."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.on_message: Callable[[Chat, int], None] = lambda _chat, _number: None  # after a new or changed message
        self.on_deleted: Callable[[Chat, int], None] = lambda _chat, _number: None
        # called when people or chats change, or a private chat is closed or opened
        self.on_people: Callable[[], None] = lambda: None
        self.people: dict[str, User] = {}
        self.chats: dict[str, Chat] = {}
        self._lock = asyncio.Lock()  # held while a person or group is added, so that numbers and handles stay unique

    async def load(self) -> None:
        """Load the state; an empty store gets two people and a group."""
        for text in (await self._client.hgetall("playground:people")).values():
            person = User(**json.loads(text))
            self.people[person.id] = person
            self._add_private_chat(person)
        for key, title in (await self._client.hgetall("playground:chats")).items():
            self.chats[key.decode()] = Chat(key.decode(), title.decode())
        for chat in self.chats.values():
            stored_messages = await self._client.hgetall(f"playground:messages:{chat.id}")
            messages = sorted((int(number), json.loads(text)) for number, text in stored_messages.items())
            chat.messages.update(messages)
            sends = await self._client.hgetall(f"playground:sends:{chat.id}")
            chat.sends.update({key.decode(): int(number) for key, number in sends.items()})
        if not self.people:
            for name in ("Anna", "Bruno"):
                await self.add_person(name)
        if all(key.startswith("@") for key in self.chats):
            await self.add_chat("Bar Sport")

    async def add_person(self, name: str) -> User:
        """Add a person; raise `Refused` if their handle is taken."""
        async with self._lock:
            if len(self.people) >= MAX_PEOPLE:
                raise Refused(_("The playground is full: use the people who are here."))
            name = person_name(_clean_title(name), LONGEST_NAME)
            number = str(max(map(int, self.people), default=0) + 1)
            person = User(number, name, secrets.token_urlsafe(12))
            for other in self.people.values():
                if other.handle == person.handle:
                    raise Refused(_("{name} is already here: choose another name."), name=other.name)
            await self._write_person(person)
            self.people[number] = person
            self._add_private_chat(person)
        self.on_people()
        return person

    async def add_chat(self, title: str) -> Chat:
        async with self._lock:
            groups = [int(key) for key in self.chats if not key.startswith("@")]
            if len(groups) >= MAX_CHATS:
                raise Refused(_("There are too many groups already: use one of them."))
            chat = Chat(str(max(groups, default=0) + 1), _clean_title(title))
            await self._client.hset("playground:chats", chat.id, chat.title)
            self.chats[chat.id] = chat
        self.on_people()
        return chat

    async def set_closed(self, person: User, closed: bool) -> None:
        await self._write_person(replace(person, closed=closed))
        person.closed = closed
        self.on_people()

    async def say(self, chat: Chat, person: User, text: str, reply_to: int | None, key: str) -> dict[str, Any] | None:
        """Add and return a person's message; None if one with this key exists. Raises `Refused` for a wrong length."""
        if not text.strip() or utf16_length(text) > LONGEST_TEXT:
            raise Refused(_("A message has 1 to {most} characters: change yours."), most=LONGEST_TEXT)
        if key in chat.sends:
            return None
        number = await self._add(chat, {"by": person.id, "text": text, "reply_to": reply_to}, key)
        self.on_message(chat, number)
        return chat.messages[number]

    async def send(self, chat_id: str, panel: Panel, key: str, file: File | None = None) -> int:
        """Add the bot's message and return its number; if the key was sent before, return the existing one."""
        chat = self._open_chat(chat_id)
        if key in chat.sends and chat.sends[key] in chat.messages:
            return chat.sends[key]
        file_fields = {"file": file.name} if file else {}
        number = await self._add(chat, {"by": BOT, **_panel_fields(panel), **file_fields}, key, panel.picture)
        if file:
            await self._client.set(_file_key(chat, number), file.content, ex=FILE_KEPT_SECONDS)
        self.on_message(chat, number)
        if panel.picture:
            # Older messages are shown as text.
            with_picture = [old_number for old_number, message in chat.messages.items() if message.get("picture")]
            for old_number in with_picture[:-PICTURES_KEPT]:
                async with chat.lock:
                    if message := chat.messages.get(old_number):
                        await self._change(chat, old_number, {**message, "picture": None, "fold": None}, None)
        return number

    async def file(self, chat: Chat, number: int) -> str:
        """Return a message's file; raise `Refused` if there is none or it has expired."""
        content: bytes | None = await self._client.get(_file_key(chat, number))
        if content is None:
            raise Refused(_("This file is gone: ask for it again."))
        return content.decode()

    async def edit(self, chat_id: str, number: int, panel: Panel) -> None:
        chat = self._open_chat(chat_id)
        async with chat.lock:
            if number not in chat.messages:
                raise MessageGone(f"message {number}")
            message = {**chat.messages[number], **_panel_fields(panel), "edited": True}
            if not await self._change(chat, number, message, panel.picture):
                raise MessageGone(f"message {number}")

    async def _change(self, chat: Chat, number: int, message: dict[str, Any], picture: Picture | None) -> bool:
        """Replace a message; return whether it still exists."""
        # Use one transaction, so that the picture always belongs to the stored text.
        async with self._client.pipeline() as pipe:
            pipe.hset(f"playground:messages:{chat.id}", number, json.dumps(message))
            _keep_picture(pipe, chat, number, picture)
            await pipe.execute()
        if number not in chat.messages:
            # The message was deleted in the meantime, before or after this write.
            await self._drop(chat, number)
            return False
        chat.messages[number] = message
        self.on_message(chat, number)
        return True

    async def picture(self, chat: Chat, number: int, name: str) -> bytes:
        """Return a message's picture as PNG, or b"" if it has no picture of this name."""
        stored: bytes | None = await self._client.get(_picture_key(chat, number))
        found_name, _, png = (stored or b"").partition(b" ")
        return png if found_name.decode() == name else b""

    async def delete(self, chat_id: str, number: int) -> None:
        chat = self._open_chat(chat_id)
        chat.messages.pop(number, None)
        await self._drop(chat, number)
        self.on_deleted(chat, number)

    async def _drop(self, chat: Chat, number: int) -> None:
        async with self._client.pipeline(transaction=False) as pipe:
            pipe.hdel(f"playground:messages:{chat.id}", number)
            pipe.delete(_file_key(chat, number), _picture_key(chat, number))
            await pipe.execute()

    async def _add(self, chat: Chat, message: dict[str, Any], key: str, picture: Picture | None = None) -> int:
        # After a failed write the store might have the message. Only a retry of the message reuses its number.
        number = chat.unconfirmed.get(key) or 1 + max(*chat.messages, *chat.sends.values(), chat.last, 0)
        chat.last = max(number, chat.last)
        message = {"id": number, **message}
        # Add the message in memory first, because another one added during the write needs another number.
        chat.messages[number], chat.sends[key] = message, number
        old_numbers = list(chat.messages)[:-MESSAGES_KEPT]
        old_keys = [sent_key for sent_key, sent_number in chat.sends.items() if sent_number < number - MESSAGES_KEPT]
        try:
            async with self._client.pipeline(transaction=False) as pipe:
                pipe.hset(f"playground:messages:{chat.id}", number, json.dumps(message))
                pipe.hset(f"playground:sends:{chat.id}", key, number)
                _keep_picture(pipe, chat, number, picture)
                if old_numbers:
                    pipe.hdel(f"playground:messages:{chat.id}", *old_numbers)
                    pipe.delete(
                        *(key_of(chat, number) for number in old_numbers for key_of in (_file_key, _picture_key))
                    )
                if old_keys:
                    pipe.hdel(f"playground:sends:{chat.id}", *old_keys)
                await pipe.execute()
        except BaseException:
            del chat.messages[number], chat.sends[key]
            chat.unconfirmed[key] = number
            raise
        chat.unconfirmed.pop(key, None)
        for old_number in old_numbers:
            chat.messages.pop(old_number, None)
        for old_key in old_keys:
            chat.sends.pop(old_key, None)
        return number

    def _open_chat(self, chat_id: str) -> Chat:
        chat = self.chats.get(chat_id)
        if chat is None:
            raise ChatGone(chat_id)
        if chat_id.startswith("@") and self.people[chat_id[1:]].closed:
            raise Unreachable(chat_id)
        return chat

    def _add_private_chat(self, person: User) -> None:
        self.chats[f"@{person.id}"] = Chat(f"@{person.id}", person.name)

    async def _write_person(self, person: User) -> None:
        await self._client.hset("playground:people", person.id, json.dumps(asdict(person)))


def _file_key(chat: Chat, number: int) -> str:
    return f"playground:file:{chat.id}:{number}"


def _picture_key(chat: Chat, number: int) -> str:
    return f"playground:picture:{chat.id}:{number}"


def _keep_picture(pipe: Any, chat: Chat, number: int, picture: Picture | None) -> None:
    if picture:
        name = picture.subject.digest.encode()
        pipe.set(_picture_key(chat, number), name + b" " + picture.png, ex=FILE_KEPT_SECONDS)
    else:
        pipe.delete(_picture_key(chat, number))


def _clean_title(name: str) -> str:
    name = " ".join(name.split())[:LONGEST_NAME]
    if not name:
        raise Refused(_("A name has 1 to {most} characters: choose another."), most=LONGEST_NAME)
    return name


def _panel_fields(panel: Panel) -> dict[str, Any]:
    """Return a panel's fields for the page; raise TooLong or `Refused` for a panel that Telegram would refuse."""
    visible_rows = [[button for button in row if button.kind not in HIDDEN_BUTTONS] for row in panel.rows]
    rows = [row for row in visible_rows if row]
    buttons = [button for row in rows for button in row]
    if utf16_length(panel.plain) > LONGEST_TEXT:
        raise TooLong(LONGEST_TEXT)
    if not panel.plain.strip() or len(buttons) > MAX_BUTTONS:
        raise Refused(f"a message needs a text and at most {MAX_BUTTONS} buttons")
    for button in buttons:
        is_valid = button.kind == "link" or 1 <= len(button.payload.encode()) <= LONGEST_PAYLOAD
        if not button.label or not is_valid:
            raise Refused(f"a button needs a label, and a payload of 1 to {LONGEST_PAYLOAD} bytes: {button.label!r}")
    text, picture = panel, None
    if panel.picture:
        # The page needs these fields before it loads the picture. The size is in the PNG's header.
        width, height = (int.from_bytes(panel.picture.png[offset : offset + 4], "big") for offset in (16, 20))
        text = panel.beside_picture
        picture = {"name": panel.picture.subject.digest, "alt": panel.picture.alt, "width": width, "height": height}
    return {
        "picture": picture,
        "spans": [list(span) for span in text.text],
        "fold": text.fold if panel.picture else None,
        "rows": [
            [{"label": b.label, "payload": b.payload, "style": b.style, "kind": b.kind} for b in row] for row in rows
        ],
    }
