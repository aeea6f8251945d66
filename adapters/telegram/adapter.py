"""The Telegram adapter."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import ParamSpec, TypeVar

import structlog
from cachetools import TTLCache
from telegram import Bot, CallbackQuery, ChatMember, ChatMemberUpdated, Message, Update, User
from telegram.error import ChatMigrated, InvalidToken

from adapters.telegram import keyboard, reading
from adapters.telegram.command_replies import CommandReplies
from adapters.telegram.errors import LIBRARY_ERRORS, delivery_errors, error_name
from adapters.telegram.guest import answer_guest_call, read_guest_call
from adapters.telegram.inline import answer_inline_query
from adapters.telegram.limits import GROUP_LIMIT, MESSAGES_PER_SECOND, PRIVATE_LIMIT
from adapters.telegram.messages import Messages
from adapters.telegram.mini_app import MenuButtons, TelegramApp
from adapters.telegram.pages import Pages
from adapters.telegram.photos import KnownFiles
from adapters.telegram.polling import POLL_SECONDS, Polling, update_kinds
from adapters.telegram.press_answers import PressReplies, QueryAnswer
from adapters.telegram.profile import choose_callback_mode, update_profile
from adapters.telegram.rich.messages import RichMessages
from adapters.telegram.table_topics import TableTopics
from adapters.telegram.transport import AiohttpRequest, Post, SendingRequest, json_body, post
from adapters.telegram.webhook import Webhook
from adapters.telegram.widget.kept_states import KeptStates
from adapters.telegram.widget.messages import Widgets
from adapters.telegram.widget.taps import Taps, read_tap
from bot.actions import BadPayload
from bot.card_room import CardRoom
from bot.concurrency.background import TaskSet
from bot.panel import Panel
from bot.places import Place
from bot.platform import (
    ChatGone,
    DeliveryError,
    MessageGone,
    MessageRefused,
    NotDelivered,
    PlatformFailure,
    Reply,
    SentMessage,
    Unreachable,
    chat_of,
    is_inline,
    is_private,
    private_place,
)
from bot.rate_limiter import RateLimit
from bot.settings import BadSetting
from bot.site.mini_app import MiniApp
from bot.store import STORE_ERRORS, WorkDropped, WorkFailed
from bot.texts import error_text, language_of, texts

ANSWER_CONNECTIONS = 16  # connections reserved for answers to presses, because uploads can occupy all others
CLOSED_SECONDS = 24 * 3600.0  # how long a place that refused a message is remembered
START_SECONDS = 2.0  # time for /start to arrive after the bot was unblocked or added to a group

P = ParamSpec("P")
Result = TypeVar("Result")

log = structlog.get_logger()


class _ChatUpgraded(PlatformFailure):
    """The group became a supergroup. The call is repeated there once the table has moved."""


class Telegram:
    platform = reading.PLATFORM
    shows_pictures = True
    plays_here = False  # only buttons in private chats open the Mini App

    def __init__(self, card_room: CardRoom, token: str) -> None:
        self.card_room = card_room
        settings = card_room.settings
        sending = SendingRequest()
        self.bot = Bot(
            token,
            base_url=f"{settings.telegram_api_url}/bot",
            request=sending,
            get_updates_request=AiohttpRequest(connections=1, read_timeout=POLL_SECONDS + 10),
        )
        self._answering = SendingRequest(connections=ANSWER_CONNECTIONS)
        self._post: Post = partial(post, sending, self.bot.base_url)
        self._post_answer: Post = partial(post, self._answering, self.bot.base_url)
        self.pages_url = keyboard.url_for_buttons(settings.public_url or "")
        self._app = TelegramApp(token, self._post, self.pages_url)
        self.mini_app: MiniApp | None = self._app
        self._menu_buttons = MenuButtons(self._app, card_room)
        known_files = KnownFiles(card_room.redis, card_room.report_store_error)
        states = KeptStates(card_room.redis, card_room.report_store_error)
        widgets = Widgets(self._post, states, is_on=settings.telegram_widgets)
        rich = RichMessages(self._post, is_on=settings.telegram_rich_messages)
        self.messages = Messages(self._post, known_files, widgets, rich, self._app)
        self.source: Polling | Webhook = (
            Webhook(self.bot, self._handle, card_room)
            if settings.telegram_webhook_url
            else Polling(self.bot, self._handle, card_room.report_platform_outage, update_kinds(settings))
        )
        self._background = TaskSet()
        self.has_topics = False
        self._topics = TableTopics(self._post, card_room)
        self.pages = Pages(self, card_room, self._background)
        self.press_replies = PressReplies(
            self.pages,
            card_room,
            lambda word: keyboard.start_url(self.bot.username, word),
            self._can_write_to,
            self._background,
        )
        self.command_replies = CommandReplies(self.bot, self.pages, card_room, self._write)
        self.taps = Taps(self._post_answer, states, card_room, self.press_replies)
        self.per_second = MESSAGES_PER_SECOND
        self._closed_places: TTLCache[str, bool] = TTLCache(10_000, CLOSED_SECONDS)  # that recently refused a message
        self._connected = self._has_connected = False

    async def start(self) -> None:
        """Do nothing: if Telegram is down, other platforms must not wait for it."""

    async def _connect(self) -> None:
        self._connected = False
        try:
            await self.bot.initialize()
            await self._answering.initialize()
            # `initialize` fetches the profile only once, and the token might have been revoked since.
            me = await self.bot.get_me() if self._has_connected else self.bot.bot
            name = me.username
            self._app.username, self._app.is_main = name or "", bool(me.has_main_web_app)
            self.messages.has_inline_mode = bool(me.supports_inline_queries)
            self.has_topics = self.card_room.settings.telegram_table_topics and bool(me.has_topics_enabled)
        except InvalidToken:
            raise
        except LIBRARY_ERRORS as error:
            raise PlatformFailure(error_name(error)) from None
        if not name:
            raise PlatformFailure("the bot has no username")
        self._connected = self._has_connected = True

    @property
    def healthy(self) -> bool:
        return self.source.is_receiving

    @property
    def has_ephemeral(self) -> bool:
        return self.messages.has_ephemeral is not False

    @property
    def has_live_hands(self) -> bool:
        return self.messages.widgets.is_on

    def rate_limit(self, place: str) -> RateLimit:
        return PRIVATE_LIMIT if is_private(place) else GROUP_LIMIT

    def overall_rate_limit(self) -> RateLimit:
        workers = self.card_room.worker_count
        return RateLimit(max(1, self.per_second // workers), workers / self.per_second)

    # Updates

    async def serve(self) -> None:
        """Receive updates until cancelled. Then updates in progress get a moment to finish."""
        try:
            await self._connect()
            await choose_callback_mode(self._post)
            try:
                await update_profile(self.bot, self._app, self.card_room.redis)
            except STORE_ERRORS as error:
                # The bot runs without this update. The next start repeats it.
                self.card_room.report_store_error(error)
            await self.source.run()
        except InvalidToken:
            self._connected = False
            raise BadSetting(
                "Telegram does not know BUONGIOCO_TELEGRAM_TOKEN: copy it from @BotFather.", "token refused"
            ) from None

    async def close(self) -> None:
        self.messages.photos.stop()
        self._background.cancel()
        await self._answering.shutdown()
        await self.bot.shutdown()

    async def _handle(self, update: Update) -> None:
        try:
            if update.callback_query:
                await self._handle_press(update, update.callback_query)
            elif widget_query := update.api_kwargs.get("widget_query"):
                if tap := _read(update, read_tap, update, widget_query):
                    self._reopen(tap.place)
                    await self.taps.handle(tap, widget_query["id"])
            elif query := update.inline_query:
                if inline_query := _read(update, reading.read_inline_query, query):
                    await answer_inline_query(self._post, self.card_room, query.id, *inline_query)
            elif chosen_result := update.chosen_inline_result:
                # Telegram reports sent offers only with *inline feedback* on. Nothing depends on it.
                if offer := _read(update, reading.read_sent_offer, chosen_result):
                    await self.card_room.note_offer_sent(*offer)
            elif update.guest_message:
                if call := _read(update, read_guest_call, update.guest_message, self.messages.username):
                    await answer_guest_call(self._post_answer, self.card_room, self.messages, call)
            elif update.message:
                await self._handle_message(update, update.message)
            elif update.my_chat_member:
                await self._handle_membership(update, update.my_chat_member)
        except DeliveryError as fault:
            log.info("telegram_answer_not_sent", why=type(fault).__name__)
        except STORE_ERRORS as error:
            self.card_room.report_store_error(error)
        except WorkDropped:
            raise
        except WorkFailed:
            log.warning("telegram_update_lost", update=update.update_id, why="see work_failed")
        except Exception:
            log.exception("telegram_update_failed", update=update.update_id)

    async def _handle_membership(self, update: Update, change: ChatMemberUpdated) -> None:
        """Update the messages of a chat that the bot can write to again. Greet a group that it has joined."""
        chat = change.chat
        if change.new_chat_member.status != "member":
            return
        if chat.type == chat.PRIVATE:
            if person := _read(update, reading.read_person, change.from_user):
                # Most apps then send /start, which shows all hands.
                await asyncio.sleep(START_SECONDS)
                await self.card_room.send_missed_hands(person)
        elif place := _read(update, reading.place_of, change):
            await self.card_room.refresh_chat(place)
            if change.old_chat_member.status == "member" or chat.type == chat.CHANNEL:
                return
            # The link that added the bot can send /start with a table. Then no greeting is needed.
            await asyncio.sleep(START_SECONDS)
            language = change.from_user.language_code or ""
            if panel := await self.card_room.greet_chat(place, language, chat.title or ""):
                self.card_room.queue_answer(place, partial(self.pages.send, place, panel, f"{place}.greeting"))

    def _reopen(self, place: str) -> None:
        """Try again to write to a closed place, because an update came from it."""
        if self._closed_places.pop(place, False):
            # Do not await this, so that a press is answered first.
            self.card_room.refresh_chat(chat_of(place))

    async def _handle_message(self, update: Update, message: Message) -> None:
        if message.migrate_to_chat_id:
            if old_and_new_chat := _read(update, reading.read_migration, message):
                await self.card_room.move_chat(*old_and_new_chat)
            return
        if message.is_automatic_forward:
            # A post of the linked channel, not written by a member of the group.
            return
        command = _read(update, reading.read_command, update, self.bot.bot, ephemerals=self.has_ephemeral)
        if command is None:
            # Any other message in a private chat, such as a photo, shows the person's pending hands.
            if person := _read(update, reading.read_private_author, message):
                await self.card_room.send_missed_hands(person)
            return
        self._reopen(command.place)
        if reading.is_anonymous(message):
            _ = texts(await self.card_room.chat_language(command.place)).gettext
            reply = Reply(toast=_("I can’t tell who you are when you write as the group: please write as yourself."))
        else:
            reply = await self.card_room.handle_command(reading.leave_topic(command))
            if is_private(command.place):
                self._background.start(self._menu_buttons.show(command.person))
        self.command_replies.queue(command, message.message_id, reply)

    async def _handle_press(self, update: Update, query: CallbackQuery) -> None:
        press = _read(update, reading.read_press, update, ephemerals=self.has_ephemeral)
        presser: User | None = query.from_user
        language = language_of((presser and presser.language_code) or "")
        async with QueryAnswer(self._post_answer, query.id, language) as answer:
            if press is None:
                await answer.give(text=error_text(BadPayload(), language))
                return
            self._reopen(press.place)
            reply = await self.card_room.handle_press(reading.leave_topic(press))
            await self.press_replies.show(press, reply, answer, is_photo=reading.is_photo(query))

    async def _can_write_to(self, person: str) -> bool:
        """Return whether a person who had a private chat with the bot still has one, without sending a message.

        Telegram refuses a typing action if the person blocked the bot. It might accept one for a person who never
        pressed Start.
        """
        place = private_place(person)
        typing = json_body({"chat_id": reading.chat_and_topic(place)[0], "action": "typing"})
        try:
            await self._call(place, lambda: self._post("sendChatAction", typing))
        except DeliveryError as error:
            # Other errors say nothing about the chat. If True is wrong, the board has a button that opens it.
            return not isinstance(error, Unreachable)
        return True

    # Messages

    def invitation_url(self, code: str, place: str, message: str) -> str:
        """Return an empty string, because Telegram has buttons that invite."""
        return ""

    def has_admins(self, place: str) -> bool:
        return not is_private(place) and not is_inline(place)

    async def is_admin(self, place: str, person: str) -> bool:
        """Ask Telegram for the person's rights. Anonymous administrators of a group press buttons under their own id.

        getChatMember is guaranteed to work for other members only if the bot is an administrator
        (core.telegram.org/bots/api#getchatmember). Every bot of a group can list its administrators.
        """
        chat, user = reading.chat_and_topic(place)[0], int(person.partition(":")[2])
        try:
            with delivery_errors(place):
                member = await self._post("getChatMember", json_body({"chat_id": chat, "user_id": user}))
                return member["status"] in (ChatMember.OWNER, ChatMember.ADMINISTRATOR)
        except (MessageRefused, ChatGone):
            with delivery_errors(place):
                admins = await self._post("getChatAdministrators", json_body({"chat_id": chat}))
                return any(admin["user"]["id"] == user for admin in admins)

    def draws(self, place: str, panel: Panel) -> bool:
        return is_private(place) and self.messages.widgets.state_of(int(Place.parse(place).person), panel) is not None

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        return await self._write(place, lambda place: self.messages.send(place, panel, silent=silent))

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        return await self._call(place, lambda: self.messages.edit(place, sent, panel))

    async def delete(self, place: str, message: str) -> None:
        # Messages of a group that became a supergroup can never be reached again.
        with suppress(MessageGone, _ChatUpgraded):
            await self._call(place, lambda: self.messages.delete(place, message))

    async def find_topic(self, place: str, code: str, name: str) -> str:
        return await self._topics.find(place, code, name)

    async def close_topic(self, place: str, code: str) -> None:
        await self._topics.close(place, code)

    async def _write(self, place: str, call: Callable[[str], Awaitable[Result]]) -> Result:
        """Make a call that sends a message. If it is refused in a private topic, send the message to the main chat."""
        main_place = reading.main_place(place)
        try:
            return await self._call(place, lambda: call(place))
        except (ChatGone, MessageRefused):
            if place == main_place:
                raise
        result = await self._call(main_place, lambda: call(main_place))
        await self._topics.leave(place)
        return result

    async def _call(self, place: str, call: Callable[[], Awaitable[Result]]) -> Result:
        if not self._connected:
            raise NotDelivered("not connected")
        try:
            with delivery_errors(place):
                return await call()
        except ChatGone:
            self._closed_places[place] = True
            raise
        except ChatMigrated as error:
            parsed_place = Place.parse(place)
            with suppress(WorkFailed):  # already logged; the next attempt meets the same error
                # Moved chats are stored without the person and token of an ephemeral place.
                old_place, new_place = (
                    Place(self.platform, parsed_place.chat),
                    Place(self.platform, str(error.new_chat_id)),
                )
                await self.card_room.move_chat(str(old_place), str(new_place))
            # Ephemeral messages do not move with their table. They need a press in the new group.
            raise (Unreachable if parsed_place.is_ephemeral else _ChatUpgraded)(
                "the group has become a supergroup"
            ) from None


def _read(update: Update, read_update: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result | None:
    """Return the result of ``read``. Log an update that cannot be read, and return None."""
    try:
        return read_update(*args, **kwargs)
    except LIBRARY_ERRORS as error:
        log.warning("telegram_update_unreadable", update=str(update.update_id)[:40], why=error_name(error))
        return None
