"""Telegram as an adapter: updates in, messages out."""

from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any

import structlog
from telegram import Bot, CallbackQuery, ChatMemberUpdated, Message, Update
from telegram.error import ChatMigrated, InvalidToken

from adapters.telegram import drawing, reading
from adapters.telegram.ephemeral import EphemeralMessages, EphemeralTarget
from adapters.telegram.errors import NO_ANSWER, meaning, why
from adapters.telegram.polling import POLL_SECONDS, Polling
from adapters.telegram.profile import Profile
from adapters.telegram.transport import AiohttpRequest, SendingRequest
from adapters.telegram.webhook import Webhook
from bot.actions import BadPayload
from bot.panel import Panel
from bot.places import Place
from bot.platform import (
    CardRoom,
    Command,
    DeliveryError,
    File,
    MessageGone,
    NotDone,
    RateLimit,
    Reply,
    Trouble,
    Unreachable,
    is_ephemeral,
    is_private,
    private_place,
)
from bot.settings import BadSetting
from bot.store import STORE_ERRORS, WorkDropped, WorkFailed
from bot.texts import error_text, language_of, texts

LONGEST_TOAST = 200
LONGEST_CAPTION = 1024

GROUP_LIMIT = RateLimit(burst=3, interval=3.5)
"""With the burst, twenty messages a minute at most, which is what Telegram lets into a group."""

PER_SECOND = 30
"""Messages that a bot may send in all."""

PRIVATE_LIMIT = RateLimit(burst=10, interval=1.05)

log = structlog.get_logger()


class Telegram:
    """The adapter. ``bot`` is the library's, over our transport."""

    platform = reading.PLATFORM

    def __init__(self, card_room: CardRoom, token: str) -> None:
        self.card_room = card_room
        base = card_room.settings.telegram_api_url
        self.bot = Bot(
            token,
            base_url=f"{base}/bot",
            base_file_url=f"{base}/file/bot",
            request=SendingRequest(),
            get_updates_request=AiohttpRequest(connections=1, read_timeout=POLL_SECONDS + 10),
        )
        self.ephemerals = EphemeralMessages(self.bot)
        settings = card_room.settings
        self.source: Polling | Webhook = (
            Webhook(self.bot, self._hear, card_room)
            if settings.telegram_webhook_url
            else Polling(self.bot, self._hear, card_room.platform_away)
        )
        self.per_second = PER_SECOND
        self._connected = self._has_connected = False

    async def start(self) -> None:
        """Nothing: Telegram may be away, and nobody else should have to wait for it."""

    async def _connect(self) -> None:
        """Ask who the bot is; BadSetting if Telegram does not know the token."""
        self._connected = False
        async with _connecting():
            await self.bot.initialize()
            # Asked by the library the first time only; the token may have been taken back since.
            name = (await self.bot.get_me()).username if self._has_connected else self.bot.username
        if not name:
            raise Trouble("a bot without a name")
        self._connected = self._has_connected = True

    @property
    def healthy(self) -> bool:
        return self.source.hears

    @property
    def has_ephemeral(self) -> bool:
        return self.ephemerals.possible is not False

    def rate_limit(self, place: str) -> RateLimit:
        return PRIVATE_LIMIT if is_private(place) else GROUP_LIMIT

    def overall(self) -> RateLimit:
        """Telegram's limit for a bot, shared evenly among the workers that are alive."""
        workers = self.card_room.workers
        return RateLimit(max(1, self.per_second // workers), workers / self.per_second)

    # What comes in

    async def serve(self) -> None:
        """Take updates until cancelled; what has come in is answered before it returns."""
        await self._connect()
        try:
            await Profile(self.bot, self.card_room.redis).bring_up_to_date()
        except STORE_ERRORS as error:
            # It comes back; the texts wait for the next start.
            self.card_room.store_away(error)
        try:
            await self.source.run()
        except InvalidToken:
            self._connected = False
            raise _unknown_token() from None

    async def close(self) -> None:
        """Give the connections back, when nothing more is to be sent."""
        await self.bot.shutdown()

    async def _hear(self, update: Update) -> None:
        try:
            if update.callback_query:
                await self._pressed(update, update.callback_query)
            elif update.message:
                await self._written(update, update.message)
            elif update.my_chat_member:
                await self._standing_changed(update, update.my_chat_member)
        except DeliveryError as fault:
            log.info("telegram_answer_lost", why=type(fault).__name__)
        except STORE_ERRORS as error:
            self.card_room.store_away(error)
        except WorkDropped:
            raise
        except WorkFailed:
            log.warning("telegram_update_lost", update=update.update_id, why="see work_failed")
        except Exception:
            log.exception("telegram_update_failed", update=update.update_id)

    async def _standing_changed(self, update: Update, change: ChatMemberUpdated) -> None:
        """The bot has been let into a chat, perhaps again, or thrown out."""
        chat = change.chat
        if chat.type != chat.PRIVATE and change.new_chat_member.status in ("member", "administrator"):
            place = ""
            with _reading(update):
                place = reading.chat_place(chat)
            if place:
                await self.card_room.back_in_chat(place)

    async def _moved(self, place: str, new: int) -> None:
        """A group has become a supergroup, which has another id."""
        await self.card_room.move_chat(place, str(Place(self.platform, str(new))))

    async def _written(self, update: Update, message: Message) -> None:
        if message.migrate_to_chat_id:
            moved = None
            with _reading(update):
                moved = reading.moved(message)
            if moved:
                await self._moved(*moved)
            return
        command = None
        with _reading(update):
            command = reading.command(update, self.bot.username)
        if command is None:
            return
        if reading.is_anonymous(message):
            language = await self.card_room.language_in(command.place)
            toast = texts(language).gettext(
                "You write as the group: I cannot tell who you are. Please write as yourself."
            )
            self._reply(command, message, Reply(toast=toast))
            return
        self._reply(command, message, await self.card_room.command(command))

    def _reply(self, command: Command, message: Message, reply: Reply) -> None:
        """Send an answer in its turn: no update waits for that."""
        answer = self.card_room.answer_in_turn
        if reply.optional:
            return
        if reply.panel and reply.file:
            bring = partial(self._bring_file, command, message, reply.panel, reply.file)
            answer(private_place(command.person.id), bring)
        elif panel := reply.panel:
            place = private_place(command.person.id) if reply.private else command.place

            async def show() -> None:
                try:
                    await self.send(place, panel, command.key)
                except Unreachable:
                    if place == command.place:
                        raise
                    answer(command.place, lambda: self.send(command.place, panel, command.key))
                else:
                    if place != command.place:
                        self._toast(command, message, reply)

            answer(place, show)
            if place != command.place:
                # It says where the panel is: when it is there.
                return
        self._toast(command, message, reply)

    def _toast(self, command: Command, message: Message, reply: Reply) -> None:
        if reply.toast:
            say = partial(self._say, command.place, message, reply.toast)
            self.card_room.answer_in_turn(command.place, say)

    async def _bring_file(self, command: Command, message: Message, panel: Panel, file: File) -> None:
        try:
            await self._send_file(private_place(command.person.id), panel, file)
        except Unreachable:
            language = language_of(command.person.language)
            toast = texts(language).gettext("Open our private chat first: it is for your eyes only.")
            await self._say(command.place, message, toast)

    async def _say(self, place: str, message: Message, text: str) -> None:
        """A short text, in reply to a message."""
        chat, topic = reading.address(place)
        call = self.bot.send_message(
            chat,
            text,
            message_thread_id=topic,
            reply_to_message_id=message.message_id,
            allow_sending_without_reply=True,
        )
        await self._call(place, call)

    async def _pressed(self, update: Update, query: CallbackQuery) -> None:
        press = None
        with _reading(update):
            press = reading.press(update, ephemerals=self.has_ephemeral)
        if press is None:
            language = ""
            with suppress(*NO_ANSWER):
                language = query.from_user.language_code or ""
            reply = Reply(toast=error_text(BadPayload(), language_of(str(language))))
        else:
            reply = await self.card_room.press(press)
        # The spinner on the button goes first.
        with suppress(*NO_ANSWER):
            toast = reply.toast[:LONGEST_TOAST] or None
            await self._post("answerCallbackQuery", {"callback_query_id": query.id, "text": toast})
        if press is None or reply.panel is None:
            return
        # Messages and edits count towards a chat's limits, whatever they answer.
        if reply.private:
            place = private_place(press.person.id)
            self.card_room.answer_in_turn(place, partial(self.send, place, reply.panel, press.key))
        else:
            show = partial(self.edit, press.place, press.message, reply.panel)
            self.card_room.answer_in_turn(press.place, show, message=press.message)

    # What goes out

    async def send(self, place: str, panel: Panel, key: str) -> str:
        content = self._content(panel)
        if is_ephemeral(place):
            return str(
                await self._call(place, self.ephemerals.send(EphemeralTarget.parse(place), panel.plain, content))
            )
        chat, topic = reading.address(place)
        fields = {"chat_id": chat, "message_thread_id": topic, "text": panel.plain, **content}
        return _number_of(await self._call(place, self._post("sendMessage", fields)))

    async def _send_file(self, place: str, panel: Panel, file: File) -> None:
        """Send a file, with a panel's text under it."""
        chat, _topic = reading.address(place)
        caption = panel.cut(LONGEST_CAPTION).plain
        await self._call(place, self.bot.send_document(chat, file.content, caption=caption, filename=file.name))

    async def edit(self, place: str, message: str, panel: Panel) -> None:
        content = self._content(panel)
        if is_ephemeral(place):
            await self._call(place, self.ephemerals.edit(EphemeralTarget.parse(place), message, panel.plain, content))
            return
        chat, _topic = reading.address(place)
        fields = {"chat_id": chat, "message_id": int(message), "text": panel.plain, **content}
        await self._call(place, self._change(fields))

    async def _change(self, fields: dict[str, Any]) -> None:
        edited = await self._post("editMessageText", fields)
        if edited is not True:
            _number_of(edited)

    def _content(self, panel: Panel) -> dict[str, Any]:
        if not self._connected:
            raise NotDone("not connected")
        return drawing.content(panel, self.bot.username, ephemerals=self.has_ephemeral)

    async def delete(self, place: str, message: str) -> None:
        with suppress(MessageGone):
            if is_ephemeral(place):
                await self._call(place, self.ephemerals.delete(EphemeralTarget.parse(place), message))
            else:
                await self._call(place, self.bot.delete_message(reading.address(place)[0], int(message)))

    async def _post(self, method: str, fields: dict[str, Any]) -> Any:
        """What every press asks for, in JSON: the library's own methods would build objects of what is sent, and of
        what comes back.
        """
        return await self.bot._post(method, fields)

    async def _call(self, place: str, call: Coroutine[Any, Any, object]) -> object:
        if not self._connected:
            call.close()
            raise NotDone("not connected")
        try:
            async with meaning(place):
                return await call
        except ChatMigrated as error:
            with suppress(WorkFailed):  # it has been logged, and the next try of delivery meets the same again
                await self._moved(place, error.new_chat_id)
            raise Trouble("the group has become a supergroup") from None


def _number_of(sent: object) -> str:
    """The number of a message that came back; Trouble if it has none."""
    if not isinstance(sent, dict) or type(sent.get("message_id")) is not int:
        raise Trouble("a message without a number")
    return str(sent["message_id"])


@contextmanager
def _reading(update: Update) -> Iterator[None]:
    """An update that says what cannot be is one line, and leaves whatever it was to be as it is."""
    try:
        yield
    except NO_ANSWER as error:
        log.warning("telegram_update_unreadable", update=str(update.update_id)[:40], why=why(error))


@asynccontextmanager
async def _connecting() -> AsyncIterator[None]:
    """What speaks against a connection: BadSetting where it is the token, otherwise Trouble."""
    try:
        yield
    except InvalidToken:
        raise _unknown_token() from None
    except NO_ANSWER as error:
        raise Trouble(why(error)) from None


def _unknown_token() -> BadSetting:
    return BadSetting("BUONGIOCO_TELEGRAM_TOKEN is no token that Telegram knows: ask @BotFather.", "token refused")
