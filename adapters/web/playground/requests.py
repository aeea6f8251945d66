"""Parses the page's requests and turns them into commands and presses. All other input is refused."""

import json
from base64 import b64encode
from typing import Annotated, Any, Literal

from cachetools import LRUCache
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError
from pydantic_core import from_json

from adapters.web.playground.chat_store import BOT, PLATFORM, Chat, ChatStore, User
from adapters.web.playground.tabs import Tabs
from adapters.web.refusals import Refused
from bot.card_room import CardRoom
from bot.identity.names import trim_blanks
from bot.panel import LONGEST_PAYLOAD
from bot.parsing.plain_text import read_plain_text
from bot.places import Place
from bot.platform import Command, Person, Press, Reply, is_private
from bot.site.idempotency import press_key
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

REQUESTS_REMEMBERED = 2000
LONGEST_QUOTE = 80  # characters of the input that a refusal quotes


def _check_payload(payload: str) -> str:
    if len(payload.encode()) > LONGEST_PAYLOAD:
        raise ValueError(f"has more than {LONGEST_PAYLOAD} bytes")
    return payload


Short = Annotated[str, StringConstraints(max_length=32)]
Number = Annotated[int, Field(ge=1, le=2**53)]  # JavaScript rounds higher integers


class Request(BaseModel):
    """A request, named ``n`` by the page. The same request sent twice under one name counts once.

    ``as`` is the person who acts, if the tab can choose.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    n: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{4,16}\z")]
    who: Short | None = Field(None, alias="as")


class Say(Request):
    do: Literal["say"]
    chat: Short
    text: str
    reply_to: Number | None = None


class MessageRequest(Request):
    chat: Short
    message: Number


class PressRequest(MessageRequest):
    do: Literal["press"]
    payload: Annotated[str, AfterValidator(_check_payload)]


class FetchFile(MessageRequest):
    do: Literal["file"]


class FetchPicture(MessageRequest):
    """Download a message's picture. ``name`` identifies the picture that the page expects."""

    do: Literal["picture"]
    name: Short


class GoPrivate(Request):
    """Press a button that opens the private chat, which then shows the table with this code."""

    do: Literal["private"]
    code: Short = ""


class ClosePrivate(Request):
    do: Literal["close"]
    closed: bool


class Add(Request):
    do: Literal["add_person", "add_chat"]
    name: str


AnyRequest = Say | PressRequest | FetchFile | FetchPicture | GoPrivate | ClosePrivate | Add
REQUEST: TypeAdapter[AnyRequest] = TypeAdapter(Annotated[AnyRequest, Field(discriminator="do")])


def decode(text: str | bytes) -> dict[str, Any]:
    """Parse a JSON object; raise `Refused` if it is malformed, nested too deeply, or has a lone surrogate."""
    try:
        fields = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise Refused(f"malformed JSON: {error}") from None
    if not isinstance(fields, dict):
        raise Refused("a request must be a JSON object")
    return fields


def parse_request(fields: dict[str, Any]) -> AnyRequest:
    """Parse a request; raise `Refused` with the first fault."""
    try:
        return REQUEST.validate_python(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        if first["type"].startswith("union_tag"):
            raise Refused("there is no such request") from None
        location = ".".join(map(str, first["loc"][1:]))
        # Quote the input as JSON, so that it is always one line.
        prefix = f"{json.dumps(location[:LONGEST_QUOTE])}: " if location else ""
        raise Refused(f"{prefix}{first['msg'].removeprefix('Value error, ')}") from None


class Requests:
    def __init__(self, chat_store: ChatStore, card_room: CardRoom, tabs: Tabs) -> None:
        self._chat_store, self._card_room, self._tabs = chat_store, card_room, tabs
        self._languages: dict[str, str] = {}  # of each person's browser, as of their last request
        self._toasts: LRUCache[str, str] = LRUCache(REQUESTS_REMEMBERED)

    async def perform(self, person: User, request: AnyRequest, language: str = "") -> str:
        """Perform a request and return the toast that answers it.

        Raise `Refused` with the reason, or one of `STORE_ERRORS`. A request sent again after a lost connection counts
        once. ``language`` is the language of the browser.
        """
        self._languages[person.id] = language
        key = press_key(f"pg{person.id}.{request.n}", request.model_dump_json())
        if isinstance(request, FetchFile | FetchPicture):
            # A repeated request is answered again, because the first answer was lost with the connection.
            return await self._do(person, request, key)
        if key not in self._toasts:
            self._toasts[key] = await self._do(person, request, key)
        return self._toasts[key]

    async def _do(self, person: User, request: AnyRequest, key: str) -> str:
        match request:
            case Say():
                return await self._say(person, request, key)
            case PressRequest():
                return await self._press(person, request, key)
            case FetchFile():
                chat = self._chat(person, request.chat)
                text = await self._chat_store.file(chat, request.message)
                name = chat.messages.get(request.message, {}).get("file", "file")
                self._tabs.send_to_person(person, {"type": "file", "n": request.n, "name": name, "text": text})
            case FetchPicture():
                chat = self._chat(person, request.chat)
                png = b64encode(await self._chat_store.picture(chat, request.message, request.name)).decode()
                self._tabs.send_to_person(person, {"type": "picture", "n": request.n, "png": png})
            case GoPrivate():
                # The private chat opens, as with Start on other platforms.
                if person.closed:
                    await self._chat_store.set_closed(person, False)
                self._tabs.send_to_person(person, {"type": "go", "chat": f"@{person.id}"})
                await self._card_room.send_hands(self._person(person), request.code)
            case ClosePrivate():
                await self._chat_store.set_closed(person, request.closed)
                if not person.closed:
                    await self._card_room.send_hands(self._person(person))
            case Add():
                raise Refused("there is no such request")
        return ""

    async def _say(self, person: User, request: Say, key: str) -> str:
        chat = self._chat(person, request.chat)
        replied_to = None
        if request.reply_to is not None:
            if request.reply_to not in chat.messages:
                raise Refused(_("The message you’re replying to is gone: write a new one."))
            # Look this message up first, because the new one can displace the chat's oldest.
            replied_to = self._chat_store.people.get(str(chat.messages[request.reply_to]["by"]))
        await self._chat_store.say(chat, person, request.text, request.reply_to, key)
        text = trim_blanks(request.text)
        if text.startswith("/"):
            return await self._command(person, chat, text, replied_to, key)
        # In a private chat all text is meant for the bot.
        if not is_private(_place(chat)):
            return ""
        meant = read_plain_text(text)
        return await self._command(person, chat, " ".join((f"/{meant.word}", *meant.words)), None, key)

    async def _command(self, person: User, chat: Chat, text: str, reply_to: User | None, key: str) -> str:
        word, *words = text[1:].split()[:8] or [""]
        by_handle = {user.handle: user for user in self._chat_store.people.values()}
        mentioned = [reply_to, *(by_handle.get(word[1:].lower()) for word in words if word.startswith("@"))]
        command = Command(
            key,
            self._person(person),
            _place(chat),
            word.partition("@")[0].lower(),
            tuple(words),
            tuple(self._person(user) for user in mentioned if user),
            chat_name="" if chat.id.startswith("@") else chat.title,
        )
        reply = await self._card_room.handle_command(command)
        return await self._answer(person, chat, reply, key)

    async def _press(self, person: User, request: PressRequest, key: str) -> str:
        chat = self._chat(person, request.chat)
        genuine = has_button(chat.messages.get(request.message), request.payload)
        press = Press(key, self._person(person), _place(chat), str(request.message), request.payload, genuine=genuine)
        reply = await self._card_room.handle_press(press)
        return await self._answer(person, chat, reply, key, press)

    async def _answer(self, person: User, chat: Chat, reply: Reply, key: str, press: Press | None = None) -> str:
        """Show the reply in the pressed message or as a new one.

        If the message lacks the pressed button, show the reply in the private chat.
        """
        if reply.panel is None:
            return reply.toast
        pressed_number = int(press.message) if press and press.genuine and not reply.private else None
        is_private_reply = reply.private or (press is not None and not press.genuine)
        place = f"@{person.id}" if is_private_reply else chat.id
        if place.startswith("@") and person.closed:
            language = language_of(self._languages.get(person.id, ""))
            return texts(language).gettext("Your private chat is closed: untick the box at the top to open it.")
        if pressed_number is not None and pressed_number in chat.messages:
            await self._chat_store.edit(chat.id, pressed_number, reply.panel)
        else:
            await self._chat_store.send(place, reply.panel, f"{key}.r", reply.file)
        return reply.toast

    def _person(self, user: User) -> Person:
        return Person(f"{PLATFORM}:{user.id}", user.name, user.handle, self._languages.get(user.id, ""))

    def _chat(self, person: User, id: str) -> Chat:
        """Return the chat. People are members of all groups, and of their own private chat only."""
        chat = self._chat_store.chats.get(id)
        if chat is None or (chat.id.startswith("@") and chat.id != f"@{person.id}"):
            raise Refused("there is no such chat")
        return chat


def has_button(message: dict[str, Any] | None, payload: str) -> bool:
    """Return whether a message of the bot has a button to press with exactly this payload."""
    rows = message["rows"] if message and message["by"] == BOT else []
    return any(b["kind"] in ("press", "browser") and b["payload"] == payload for row in rows for b in row)


def _place(chat: Chat) -> str:
    person = chat.id.removeprefix("@")
    return str(Place(PLATFORM, person=person) if person != chat.id else Place(PLATFORM, chat.id))
