"""The playground as an adapter: what people do on the page becomes commands and presses, panels become messages."""

import re
from collections import OrderedDict
from typing import Any

from adapters.playground.server import Server
from adapters.playground.village import Chat, Refused, Village, Villager
from bot.desk import Desk
from bot.panel import LONGEST_PAYLOAD, Panel
from bot.people import language_of
from bot.platform import Command, NotDone, Pace, Person, Press, Reply, is_private
from bot.store import STORE_FAULTS

PLATFORM = "playground"
REQUESTS_REMEMBERED = 2000
KEY = re.compile(r"[A-Za-z0-9_-]{4,16}")


class Playground:
    """The adapter. ``village`` is the platform's state, ``server`` the page and its WebSockets."""

    platform = PLATFORM
    has_asides = False

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.village = Village(desk.house.store.client)
        self.server = Server(self.village, desk.house, self.request)
        self._answered: OrderedDict[str, str] = OrderedDict()
        self._loaded = False

    async def start(self) -> None:
        await self.village.load()
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

    def pace(self, place: str) -> Pace:
        return Pace()

    def overall(self) -> Pace:
        return Pace()

    async def send(self, place: str, panel: Panel, key: str) -> str:
        chat, number, is_new = await self.village.send(self._chat_id(place), panel, key)
        if is_new:
            await self.server.tell_message(chat, number)
        return str(number)

    async def edit(self, place: str, message: str, panel: Panel) -> None:
        chat = await self.village.edit(self._chat_id(place), int(message), panel)
        await self.server.tell_message(chat, int(message))

    async def delete(self, place: str, message: str) -> None:
        chat = await self.village.delete(self._chat_id(place), int(message))
        await self.server.tell({"type": "deleted", "chat": chat.id, "id": int(message)}, chat)

    def _chat_id(self, place: str) -> str:
        if not self._loaded:
            raise NotDone("not started yet")
        return place.partition(":")[2]

    # People speak

    async def request(self, person: Villager, wish: dict[str, Any]) -> str:
        """Something that a person does on the page; returns the toast that answers it. Refused says why it cannot be.

        ``n`` names the request: one sent twice, after a lost connection, counts once.
        """
        key = str(wish.get("n", ""))
        if not KEY.fullmatch(key):
            raise Refused("a request has a name of 4 to 16 letters and digits")
        key = f"pg{person.id}.{key}"
        done = {"say": self._say, "press": self._press, "private": self._private, "close": self._close}
        act = done.get(str(wish.get("do")))
        if act is None:
            raise Refused("there is no such request")
        if key not in self._answered:
            try:
                self._answered[key] = await act(person, wish, key)
            except STORE_FAULTS as error:
                language = language_of(self.server.language_of(person))
                raise Refused(self.desk.store_away(error, language)) from None
            if len(self._answered) > REQUESTS_REMEMBERED:
                self._answered.popitem(last=False)
        return self._answered[key]

    async def _say(self, person: Villager, wish: dict[str, Any], key: str) -> str:
        chat, text = self._chat(person, wish), str(wish.get("text", ""))
        reply_to = wish.get("reply_to")
        if reply_to is not None and reply_to not in chat.messages:
            raise Refused("the message replied to is gone")
        message = await self.village.say(chat, person, text, reply_to, key)
        if message is not None:
            await self.server.tell_message(chat, message["id"])
        return await self._command(person, chat, text, reply_to, key) if text.startswith("/") else ""

    async def _command(self, person: Villager, chat: Chat, text: str, reply_to: int | None, key: str) -> str:
        word, *words = text[1:].split()[:8] or [""]
        about = [self.village.people.get(str(chat.messages[reply_to]["by"]))] if reply_to is not None else []
        called = {one.handle: one for one in self.village.people.values()}
        about += [called.get(word[1:].lower()) for word in words if word.startswith("@")]
        command = Command(
            key,
            self.person(person),
            _place(chat),
            word.partition("@")[0].lower(),
            tuple(words),
            tuple(self.person(one) for one in about if one),
        )
        reply = await self.desk.command(command)
        return await self._answer(person, chat, reply, key)

    async def _press(self, person: Villager, wish: dict[str, Any], key: str) -> str:
        chat, payload = self._chat(person, wish), str(wish.get("payload", ""))
        number = wish.get("message")
        if not isinstance(number, int) or len(payload.encode("utf-8", "replace")) > LONGEST_PAYLOAD:
            raise Refused(f"a press names its message, and its payload has at most {LONGEST_PAYLOAD} bytes")
        rows = chat.messages.get(number, {}).get("rows", ())
        genuine = any(button["payload"] == payload for row in rows for button in row)
        press = Press(key, self.person(person), _place(chat), str(number), payload, genuine=genuine)
        reply = await self.desk.press(press)
        return await self._answer(person, chat, reply, key, pressed=number)

    async def _answer(self, person: Villager, chat: Chat, reply: Reply, key: str, pressed: int | None = None) -> str:
        toast = reply.toast
        if reply.panel:
            place = f"@{person.id}" if reply.private else chat.id
            if place.startswith("@") and person.closed:
                toast = toast or "Your private chat is closed."
            elif pressed is not None and not reply.private and pressed in chat.messages:
                edited = await self.village.edit(chat.id, pressed, reply.panel)
                await self.server.tell_message(edited, pressed)
            else:
                sent, number, _new = await self.village.send(place, reply.panel, f"{key}.r")
                await self.server.tell_message(sent, number)
        return toast

    async def _private(self, person: Villager, wish: dict[str, Any], key: str) -> str:
        """The button that leads to the private chat: it opens the chat, as Start does elsewhere."""
        if person.closed:
            await self.village.close(person, False)
            await self.server.tell_people()
        await self.server.tell_person(person, {"type": "go", "chat": f"@{person.id}"})
        await self.desk.opened_private_chat(self.person(person), str(wish.get("code", ""))[:8])
        return ""

    async def _close(self, person: Villager, wish: dict[str, Any], key: str) -> str:
        await self.village.close(person, bool(wish.get("closed")))
        await self.server.tell_people()
        if not person.closed:
            await self.desk.opened_private_chat(self.person(person))
        return ""

    def person(self, villager: Villager) -> Person:
        return Person(f"{PLATFORM}:{villager.id}", villager.name, villager.handle, self.server.language_of(villager))

    def _chat(self, person: Villager, wish: dict[str, Any]) -> Chat:
        """The chat of a request; everybody is in every group, and alone in their private chat."""
        chat = self.village.chats.get(str(wish.get("chat")))
        if chat is None or (chat.id.startswith("@") and chat.id != f"@{person.id}"):
            raise Refused("there is no such chat")
        return chat


def _place(chat: Chat) -> str:
    place = f"{PLATFORM}:{chat.id}"
    assert is_private(place) == chat.id.startswith("@")
    return place
