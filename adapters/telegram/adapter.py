"""Telegram as an adapter: long polling in, messages out, and what Telegram's refusals mean to delivery."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from hashlib import blake2b
from typing import Any

import structlog
from telegram import Bot, BotCommand, InlineKeyboardMarkup, LinkPreviewOptions, Message, Update
from telegram import BotCommandScopeAllGroupChats as Groups
from telegram import BotCommandScopeAllPrivateChats as Privates
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from adapters.telegram import drawing, reading
from adapters.telegram.transport import AiohttpRequest
from bot.desk import Desk
from bot.panel import Panel
from bot.panels.pages import commands
from bot.platform import (
    ChatGone,
    Command,
    DeliveryFault,
    MessageGone,
    Pace,
    Reply,
    SlowDown,
    TooLong,
    Trouble,
    Unreachable,
    is_private,
    private_place,
)
from bot.settings import BadSetting
from bot.texts import LANGUAGES, texts

LONGEST_TEXT, LONGEST_TOAST = 4096, 200
POLL_SECONDS = 30
LISTENING_TO = [Update.MESSAGE, Update.CALLBACK_QUERY]
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
NO_PREVIEW = LinkPreviewOptions(is_disabled=True)

GROUP_PACE = Pace(burst=3, interval=3.5)
"""With the burst, twenty messages a minute at most, which is what Telegram lets into a group."""

PER_SECOND = 30
"""Messages that a bot may send in all."""

PRIVATE_PACE = Pace(burst=10, interval=1.05)

log = structlog.get_logger()


class Telegram:
    """The adapter. ``bot`` is the library's, over our transport."""

    platform = reading.PLATFORM

    def __init__(self, desk: Desk, token: str) -> None:
        self.desk = desk
        base = desk.house.settings.telegram_api_url.rstrip("/")
        self.bot = Bot(
            token,
            base_url=f"{base}/bot",
            base_file_url=f"{base}/file/bot",
            request=AiohttpRequest(),
            get_updates_request=AiohttpRequest(connections=1, read_timeout=POLL_SECONDS + 10),
        )
        self._busy: set[asyncio.Task[None]] = set()
        self._connected = self._hears = False
        self._offset = 0

    async def start(self) -> None:
        """Nothing: Telegram may be away, and nobody else should have to wait for it."""

    async def _connect(self) -> None:
        """Ask who the bot is, until there is an answer; BadSetting if Telegram does not know the token."""
        pause = FIRST_PAUSE
        while True:
            try:
                await self.bot.initialize()
            except InvalidToken:
                raise BadSetting("BUONGIOCO_TELEGRAM_TOKEN is no token that Telegram knows: ask @BotFather.") from None
            except TelegramError as error:
                log.warning("telegram_away", why=_why(error), again_in=pause)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                self._connected = True
                return

    @property
    def healthy(self) -> bool:
        return self._hears

    def pace(self, place: str) -> Pace:
        return PRIVATE_PACE if is_private(place) else GROUP_PACE

    def overall(self) -> Pace:
        """Telegram's limit for a bot, shared evenly among the workers that are alive."""
        workers = self.desk.house.shards.workers
        return Pace(max(1, PER_SECOND // workers), workers / PER_SECOND)

    # What comes in

    async def serve(self) -> None:
        """Poll for updates until cancelled; what has come in is answered before it returns."""
        await self._connect()
        await self._set_menus()
        pause = FIRST_PAUSE
        try:
            while True:
                try:
                    updates = await self.bot.get_updates(
                        offset=self._offset, timeout=POLL_SECONDS, allowed_updates=LISTENING_TO
                    )
                    self._hears, pause = True, FIRST_PAUSE
                except (TelegramError, OSError) as error:
                    self._hears = False
                    hint = "another bot polls with this token" if isinstance(error, Conflict) else _why(error)
                    log.warning("telegram_away", why=hint, again_in=pause)
                    await asyncio.sleep(_seconds(error) if isinstance(error, RetryAfter) else pause)
                    pause = min(2 * pause, LONGEST_PAUSE)
                    continue
                for update in updates:
                    self._offset = update.update_id + 1
                    task = asyncio.create_task(self._hear(update))
                    self._busy.add(task)
                    task.add_done_callback(self._busy.discard)
        finally:
            self._hears = False
            await self._end()

    async def _end(self) -> None:
        if self._busy:
            await asyncio.wait(self._busy, timeout=2.0)
        # So that Telegram does not deliver again what has been answered.
        with suppress(TelegramError, TimeoutError):
            async with asyncio.timeout(1.0):
                await self.bot.get_updates(offset=self._offset, limit=1, timeout=0)

    async def close(self) -> None:
        """Give the connections back, when nothing more is to be sent."""
        await self.bot.shutdown()

    async def _hear(self, update: Update) -> None:
        try:
            if update.callback_query:
                await self._pressed(update)
            elif update.message:
                await self._written(update, update.message)
        except DeliveryFault as fault:
            log.info("telegram_answer_lost", why=type(fault).__name__)
        except Exception:
            log.exception("telegram_update_failed", update=update.update_id)

    async def _moved(self, place: str, new: int) -> None:
        """A group has become a supergroup, which has another id."""
        await self.desk.house.move_chat(place, f"{self.platform}:{new}")

    async def _written(self, update: Update, message: Message) -> None:
        if message.migrate_to_chat_id:
            await self._moved(reading.place_of(message), message.migrate_to_chat_id)
            return
        command = reading.command(update, self.bot.username)
        if command is None:
            return
        if reading.is_anonymous(message):
            language = (await self.desk.house.people.chat(command.place)).language
            toast = texts(language).gettext(
                "You write as the group: I cannot tell who you are. Please write as yourself."
            )
            await self._reply(command, message, Reply(toast=toast))
            return
        await self._reply(command, message, await self.desk.command(command))

    async def _reply(self, command: Command, message: Message, reply: Reply) -> None:
        if reply.panel:
            place = private_place(command.person.id) if reply.private else command.place
            try:
                await self.send(place, reply.panel, command.key)
            except Unreachable:
                await self.send(command.place, reply.panel, command.key)
        if reply.toast:
            chat, topic = reading.address(command.place)
            await self._call(
                command.place,
                self.bot.send_message(
                    chat, reply.toast, message_thread_id=topic, reply_to_message_id=message.message_id
                ),
            )

    async def _pressed(self, update: Update) -> None:
        query = update.callback_query
        assert query
        press = reading.press(update)
        reply = await self.desk.press(press) if press else Reply()
        # The spinner on the button goes first.
        with suppress(TelegramError):
            await query.answer(text=reply.toast[:LONGEST_TOAST] or None)
        if press is None or reply.panel is None:
            return
        if reply.private:
            await self.send(private_place(press.person.id), reply.panel, press.key)
        else:
            await self.edit(press.place, press.message, reply.panel)

    # What goes out

    async def send(self, place: str, panel: Panel, key: str) -> str:
        chat, topic = reading.address(place)
        text, entities = drawing.text_of(panel)
        sent = await self._call(
            place,
            self.bot.send_message(
                chat,
                text,
                entities=entities,
                message_thread_id=topic,
                link_preview_options=NO_PREVIEW,
                reply_markup=self._keyboard(panel),
            ),
        )
        assert isinstance(sent, Message)
        return str(sent.message_id)

    async def edit(self, place: str, message: str, panel: Panel) -> None:
        chat, _topic = reading.address(place)
        text, entities = drawing.text_of(panel)
        await self._call(
            place,
            self.bot.edit_message_text(
                text,
                chat,
                int(message),
                entities=entities,
                link_preview_options=NO_PREVIEW,
                reply_markup=self._keyboard(panel),
            ),
        )

    def _keyboard(self, panel: Panel) -> InlineKeyboardMarkup | None:
        return drawing.keyboard(panel, self.bot.username) if self._connected else None

    async def delete(self, place: str, message: str) -> None:
        chat, _topic = reading.address(place)
        with suppress(MessageGone):
            await self._call(place, self.bot.delete_message(chat, int(message)))

    async def _call(self, place: str, call: Coroutine[Any, Any, object]) -> object:
        if not self._connected:
            call.close()
            raise Trouble("not connected yet")
        try:
            async with _meaning(place):
                return await call
        except ChatMigrated as error:
            await self._moved(place, error.new_chat_id)
            raise Trouble("the group has become a supergroup") from None

    async def _set_menus(self) -> None:
        """The commands' menus, in every language and for groups and private chats, if they changed."""
        client = self.desk.house.store.client
        for language in LANGUAGES:
            menu = [BotCommand(word, about[:256]) for word, about in commands(language)]
            digest = blake2b(repr([(one.command, one.description) for one in menu]).encode(), digest_size=8).hexdigest()
            for scope in (Privates(), Groups()):
                key = f"{self.bot.id}:{scope.type}:{language}"
                if (await client.hget("telegram:menus", key) or b"").decode() == digest:
                    continue
                try:
                    await self.bot.set_my_commands(menu, scope, None if language == "en" else language)
                    await client.hset("telegram:menus", key, digest)
                except TelegramError as error:
                    log.warning("telegram_menus_not_set", why=_why(error))
                    return


GONE_MESSAGES = (
    "message to edit not found",
    "message can't be edited",
    "message_id_invalid",
    "message to delete not found",
    "message can't be deleted",
)
GONE_CHATS = (
    "chat not found",
    "peer_id_invalid",
    "group chat was deleted",
    "not enough rights",
    "have no rights",
    "topic_closed",
    "message thread not found",
    "chat_write_forbidden",
    "bot is not a member",
)
NEVER_STARTED = ("chat not found", "peer_id_invalid", "bot can't initiate conversation", "user is deactivated")
"""What Telegram says, in lower case, when a message, a chat or a private chat is not there."""


@asynccontextmanager
async def _meaning(place: str) -> AsyncIterator[None]:
    """Telegram's errors as delivery understands them."""
    try:
        yield
    except RetryAfter as error:
        raise SlowDown(_seconds(error)) from None
    except ChatMigrated:
        raise
    except Forbidden as error:
        raise (Unreachable if is_private(place) else ChatGone)(_why(error)) from None
    except BadRequest as error:
        _raise_bad_request(place, error.message.lower())
    except TimedOut:
        raise Trouble("timed out") from None
    except (NetworkError, InvalidToken) as error:
        raise Trouble(_why(error)) from None


def _raise_bad_request(place: str, said: str) -> None:
    if "message is not modified" in said:
        return
    if "too long" in said:
        raise TooLong(LONGEST_TEXT)
    if any(words in said for words in GONE_MESSAGES):
        raise MessageGone(said)
    if is_private(place) and any(words in said for words in NEVER_STARTED):
        raise Unreachable(said)
    if any(words in said for words in GONE_CHATS):
        raise ChatGone(said)
    raise Trouble(said)


def _seconds(error: RetryAfter) -> float:
    wait = error.retry_after
    return wait.total_seconds() if isinstance(wait, dt.timedelta) else float(wait)


def _why(error: BaseException) -> str:
    """What went wrong, without what might hold an address."""
    return type(error).__name__
