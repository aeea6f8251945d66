"""The playground as an adapter: what people do on the page becomes commands and presses, panels become messages."""

from typing import Any

from cachetools import LRUCache

from adapters.playground.chat_store import BOT, Chat, ChatStore, Refused, User
from adapters.playground.requests import AnyRequest, ClosePrivate, FetchFile, GoPrivate, PressRequest, Say
from adapters.playground.server import Server
from bot.panel import Panel
from bot.places import Place
from bot.platform import CardRoom, Command, NotDone, Person, Press, RateLimit, Reply
from bot.store import STORE_ERRORS
from bot.texts import language_of, texts
from bot.texts import marked as _

PLATFORM = "playground"
REQUESTS_REMEMBERED = 2000


class Playground:
    """The adapter. ``chat_store`` is the platform's state, ``server`` the page and its WebSockets."""

    platform = PLATFORM
    has_ephemeral = False

    def __init__(self, card_room: CardRoom) -> None:
        self.card_room = card_room
        self.chat_store = ChatStore(card_room.redis)
        self.server = Server(self.chat_store, card_room, self.request)
        self._answered: LRUCache[str, str] = LRUCache(REQUESTS_REMEMBERED)
        self._loaded = False

    async def start(self) -> None:
        await self.chat_store.load()
        self._loaded = True

    async def close(self) -> None:
        """Nothing: the store is not ours."""

    async def serve(self) -> None:
        """Serve the page until cancelled."""
        await self.server.run()

    @property
    def healthy(self) -> bool:
        return self.server.listening

    # The bot speaks

    def rate_limit(self, place: str) -> RateLimit:
        return RateLimit()

    def overall(self) -> RateLimit:
        return RateLimit()

    async def send(self, place: str, panel: Panel, key: str) -> str:
        chat, number, is_new = await self.chat_store.send(self._chat_id(place), panel, key)
        if is_new:
            self.server.tabs.tell_message(chat, number)
        return str(number)

    async def edit(self, place: str, message: str, panel: Panel) -> None:
        chat = await self.chat_store.edit(self._chat_id(place), int(message), panel)
        self.server.tabs.tell_message(chat, int(message))

    async def delete(self, place: str, message: str) -> None:
        chat = await self.chat_store.delete(self._chat_id(place), int(message))
        self.server.tabs.tell({"type": "deleted", "chat": chat.id, "id": int(message)}, chat)

    def _chat_id(self, place: str) -> str:
        if not self._loaded:
            raise NotDone("not started yet")
        where = Place.parse(place)
        return f"@{where.person}" if where.is_private else where.chat

    # People speak

    async def request(self, person: User, request: AnyRequest) -> str:
        """Something that a person does on the page; returns the toast that answers it. Refused says why it cannot be.

        ``n`` names the request: one sent twice, after a lost connection, counts once.
        """
        key = f"pg{person.id}.{request.n}"
        if key not in self._answered:
            try:
                self._answered[key] = await self._do(person, request, key)
            except STORE_ERRORS as error:
                language = language_of(self.server.language_of(person))
                raise Refused(self.card_room.store_away(error, language)) from None
        return self._answered[key]

    async def _do(self, person: User, request: AnyRequest, key: str) -> str:
        if isinstance(request, Say):
            return await self._say(person, request, key)
        if isinstance(request, PressRequest):
            return await self._press(person, request, key)
        if isinstance(request, FetchFile):
            return await self._file(person, request)
        if isinstance(request, GoPrivate):
            return await self._private(person, request.code)
        if isinstance(request, ClosePrivate):
            return await self._close(person, request.closed)
        raise Refused("there is no such request")

    async def _say(self, person: User, request: Say, key: str) -> str:
        chat = self._chat(person, request.chat)
        if request.reply_to is not None and request.reply_to not in chat.messages:
            raise Refused(_("The message that you reply to is gone."))
        message = await self.chat_store.say(chat, person, request.text, request.reply_to, key)
        if message is not None:
            self.server.tabs.tell_message(chat, message["id"])
        return (
            await self._command(person, chat, request.text, request.reply_to, key)
            if request.text.startswith("/")
            else ""
        )

    async def _command(self, person: User, chat: Chat, text: str, reply_to: int | None, key: str) -> str:
        word, *words = text[1:].split()[:8] or [""]
        about = [self.chat_store.people.get(str(chat.messages[reply_to]["by"]))] if reply_to is not None else []
        called = {one.handle: one for one in self.chat_store.people.values()}
        about += [called.get(word[1:].lower()) for word in words if word.startswith("@")]
        command = Command(
            key,
            self.person(person),
            _place(chat),
            word.partition("@")[0].lower(),
            tuple(words),
            tuple(self.person(one) for one in about if one),
        )
        reply = await self.card_room.command(command)
        return await self._answer(person, chat, reply, key)

    async def _press(self, person: User, request: PressRequest, key: str) -> str:
        chat = self._chat(person, request.chat)
        genuine = carries(chat.messages.get(request.message), request.payload)
        press = Press(key, self.person(person), _place(chat), str(request.message), request.payload, genuine=genuine)
        reply = await self.card_room.press(press)
        return await self._answer(person, chat, reply, key, press)

    async def _answer(self, person: User, chat: Chat, reply: Reply, key: str, press: Press | None = None) -> str:
        """Show what the card room answers: in place of the message pressed if it has that button, otherwise anew; what
        somebody asks for with a button that is not there concerns nobody else.
        """
        if reply.panel is None:
            return reply.toast
        pressed = int(press.message) if press and press.genuine and not reply.private else None
        for_them = reply.private or (press is not None and not press.genuine)
        place = f"@{person.id}" if for_them else chat.id
        if place.startswith("@") and person.closed:
            language = language_of(self.server.language_of(person))
            return texts(language).gettext("Your private chat is closed: take the tick at the top away to open it.")
        if pressed is not None and pressed in chat.messages:
            edited = await self.chat_store.edit(chat.id, pressed, reply.panel)
            self.server.tabs.tell_message(edited, pressed)
        else:
            sent, number, _new = await self.chat_store.send(place, reply.panel, f"{key}.r", reply.file)
            self.server.tabs.tell_message(sent, number)
        return reply.toast

    async def _file(self, person: User, request: FetchFile) -> str:
        """Bring a message's file to the page that asks for it, which saves it."""
        chat = self._chat(person, request.chat)
        text = await self.chat_store.file(chat, request.message)
        name = chat.messages.get(request.message, {}).get("file", "file")
        self.server.tabs.tell_person(person, {"type": "file", "n": request.n, "name": name, "text": text})
        return ""

    async def _private(self, person: User, code: str) -> str:
        """The button that leads to the private chat: it opens the chat, as Start does elsewhere."""
        if person.closed:
            await self.chat_store.close(person, False)
            self.server.tell_people()
        self.server.tabs.tell_person(person, {"type": "go", "chat": f"@{person.id}"})
        await self.card_room.opened_private_chat(self.person(person), code)
        return ""

    async def _close(self, person: User, closed: bool) -> str:
        await self.chat_store.close(person, closed)
        self.server.tell_people()
        if not person.closed:
            await self.card_room.opened_private_chat(self.person(person))
        return ""

    def person(self, user: User) -> Person:
        return Person(f"{PLATFORM}:{user.id}", user.name, user.handle, self.server.language_of(user))

    def _chat(self, person: User, id: str) -> Chat:  # noqa: A002
        """The chat of a request; everybody is in every group, and alone in their private chat."""
        chat = self.chat_store.chats.get(id)
        if chat is None or (chat.id.startswith("@") and chat.id != f"@{person.id}"):
            raise Refused("there is no such chat")
        return chat


def carries(message: dict[str, Any] | None, payload: str) -> bool:
    """Whether a message is the bot's and has a button with exactly this payload, that is there to be pressed."""
    if message is None or message["by"] != BOT:
        return False
    return any(button["payload"] == payload and button["kind"] == "press" for row in message["rows"] for button in row)


def _place(chat: Chat) -> str:
    person = chat.id.removeprefix("@")
    return str(Place(PLATFORM, person=person) if person != chat.id else Place(PLATFORM, chat.id))
