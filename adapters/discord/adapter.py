"""The Discord adapter."""

import asyncio
from collections.abc import Awaitable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import discord
import structlog
from discord.http import Route

from adapters.discord import drawing, reading, refusals, unread
from adapters.discord.answers import DEFER_SECONDS, DELIVERY_SECONDS, MAX_PENDING, Answer, Answers, State, TooLate
from adapters.discord.client import Client
from adapters.discord.commands import Commands
from adapters.discord.drawing import Body
from adapters.discord.errors import LIBRARY_ERRORS, delivery_errors, describe_error
from adapters.discord.guests import GuestTokens
from adapters.discord.library_log import Listener, add_listener, remove_listener
from adapters.discord.limits import Budget
from adapters.discord.messages import Messages
from adapters.discord.pages import PageLocks
from adapters.discord.pictures import Pictures, Upload
from adapters.discord.private import PrivateChats
from adapters.discord.reading import PLATFORM, Interaction
from adapters.discord.rest import Rest
from adapters.discord.unread import UnreadableInteraction
from bot.actions import BadPayload
from bot.card_room import CardRoom
from bot.commands import find_command_spec
from bot.concurrency.background import TaskSet
from bot.http.proxies import proxy_for
from bot.panel import Panel
from bot.places import Place
from bot.platform import Command, DeliveryError, File, NotDelivered, PlatformFailure, Reply, SentMessage, is_private
from bot.rate_limits import RateLimit
from bot.settings import BadSetting, GatewayShards
from bot.store import STORE_ERRORS
from bot.texts import error_text, language_of, texts

# Discord takes five edits in five seconds per channel. A board that changes less often is easier to read.
BOARD_LIMIT = RateLimit(burst=2, interval=3.0)

PRIVATE_LIMIT = RateLimit(burst=5, interval=1.0)
PER_SECOND = 45  # requests in all, of Discord's fifty; answers to presses do not count
TOKEN_REFUSED, INTENTS_REFUSED = 4004, 4014
# Codes with which the gateway closes for good, each with the host's next step and a short reason.
FATAL_CLOSE_CODES = {
    TOKEN_REFUSED: (
        "Discord does not accept BUONGIOCO_DISCORD_TOKEN: copy the token again from the developer portal.",
        "token refused",
    ),
    4010: ("BUONGIOCO_DISCORD_SHARDS has invalid shards: correct or remove the setting.", "shards refused"),
    4011: ("Discord requires more shards: change BUONGIOCO_DISCORD_SHARDS.", "more shards wanted"),
    4012: ("Discord no longer supports this release of the bot: update the bot.", "release too old"),
    4013: ("Discord does not know the intents of this release: update the bot.", "intents refused"),
    INTENTS_REFUSED: ("Discord denies the intents of this release: update the bot.", "intents refused"),
}

DEFERRED_SECONDS = 10.0  # how long a deferred interaction can wait for its message

log = structlog.get_logger()


class Discord:
    """The adapter. ``client`` is the library's gateway and REST client."""

    platform = PLATFORM
    has_ephemeral = True
    shows_pictures = True

    def __init__(self, card_room: CardRoom, token: str) -> None:
        self.card_room, self._token = card_room, token
        self.settings = card_room.settings
        self.pages_url = card_room.settings.public_url or ""
        self.budget = Budget()
        self._listener = Listener(self.budget.count_rate_limit, partial(card_room.report_platform_outage, PLATFORM))
        add_listener(self._listener)
        self.answers = Answers()
        self.pictures = Pictures()
        self._pages = PageLocks()
        self.guests = GuestTokens(card_room.redis)
        self.per_second = PER_SECOND
        self._connected = self._has_served = False
        self._busy = TaskSet()
        Route.BASE = self.settings.discord_api_url
        self._make_client()

    def _make_client(self) -> None:
        """Create a client. One that has failed to log in cannot be used again."""
        shards = GatewayShards.parse(self.settings.discord_shards) if self.settings.discord_shards else None
        proxy = proxy_for(self.settings.discord_api_url)
        self.client = Client(self._handle_press, self._answer_unreadable, self._handle_writable_server, shards, proxy)
        self.rest = Rest(self.client, self.budget, proxy)
        private = PrivateChats(self.rest, self.card_room.redis)
        self.messages = Messages(self.rest, private, self.guests, self.answers, self.pictures)
        self.commands = Commands(self.client, self.card_room, self._handle_command, self._answer_unreadable)

    async def start(self) -> None:
        """Do nothing: Discord can be down, and the rest of the bot should not wait for it."""

    @property
    def healthy(self) -> bool:
        return self._connected and self.client.has_all_shards

    def rate_limit(self, place: str) -> RateLimit | None:
        if self.answers.has_pending(place):
            # Answers to interactions have no rate limit.
            return None
        return PRIVATE_LIMIT if is_private(place) else BOARD_LIMIT

    def overall_rate_limit(self) -> RateLimit:
        """Return this worker's share of Discord's limit for a bot."""
        workers = self.card_room.worker_count
        return RateLimit(max(1, self.per_second // workers), workers / self.per_second)

    # Incoming

    async def serve(self) -> None:
        """Run until cancelled, then finish the answers in progress."""
        if self._has_served:
            self._connected = False
            await self._close_connections()
            self._make_client()
        self._has_served = True
        try:
            await self._run_client()
        finally:
            await self._busy.wait(2.0)

    async def _run_client(self) -> None:
        """Log in and run the client until it ends. Raises BadSetting if Discord refuses for good."""
        try:
            await self.client.login(self._token)
            self._connected = True
            await self.commands.sync()
            await self.client.run_gateway()
        except discord.LoginFailure:
            self._connected = False
            raise BadSetting(*FATAL_CLOSE_CODES[TOKEN_REFUSED]) from None
        except discord.PrivilegedIntentsRequired:
            raise BadSetting(*FATAL_CLOSE_CODES[INTENTS_REFUSED]) from None
        except LIBRARY_ERRORS as error:
            code = error.code if isinstance(error, discord.ConnectionClosed) else None
            if code not in FATAL_CLOSE_CODES:
                raise PlatformFailure(describe_error(error)) from None
            self._connected = code != TOKEN_REFUSED
            raise BadSetting(*FATAL_CLOSE_CODES[code]) from None

    async def close(self) -> None:
        remove_listener(self._listener)
        await self._close_connections()

    async def _close_connections(self) -> None:
        await self.rest.close()
        await self.client.close()

    async def _handle_writable_server(self, server: int) -> None:
        """The bot was added to a server, or can write there again.

        Not awaited: Discord sends the event once, and errors are logged.
        """
        self.card_room.refresh_chat(str(Place(PLATFORM, str(server))))

    async def _handle_press(self, interaction: Interaction) -> None:
        try:
            press = reading.parse_press(interaction)
        except LIBRARY_ERRORS as error:
            # The library validates few fields before they are read.
            log.warning("discord_press_unreadable", why=describe_error(error))
            await self._answer_unreadable(UnreadableInteraction.from_interaction(interaction))
            return
        place = press.place if press else reading.place_of(interaction)
        message = str(interaction.message.id) if interaction.message else ""
        answer = Answer(self.rest, reading.token_of(interaction), place, message)
        if press is None:
            work = _toast_reply(error_text(BadPayload(), self._language_of(interaction)))
        else:
            work = self.card_room.handle_press(press)
        await self._answer(interaction, answer, work)

    async def _handle_command(
        self, interaction: Interaction, word: str, words: Iterable[str], about: discord.User | None
    ) -> None:
        place, spec = reading.place_of(interaction), find_command_spec(word)
        for_one, hosts = (spec.is_private, spec.shows_table) if spec else (False, False)
        answer = Answer(self.rest, reading.token_of(interaction), place, private=for_one)
        command = Command(
            key=f"dc{interaction.id}",
            person=reading.presser_of(interaction),
            place=place,
            word=word,
            words=tuple(part for part in words if part),
            about=(reading.person_of(about),) if about else (),
            ephemeral=reading.ephemeral_place_of(interaction),
            chat_name=reading.server_name_of(interaction),
        )
        refusal = refusals.challenge_refusal(interaction, about, self._language_of(interaction)) if hosts else ""
        work = _toast_reply(refusal) if refusal else self.card_room.handle_command(command)
        brings = (hosts and not for_one) or is_private(place)
        await self._answer(interaction, answer, work, brings=brings)

    async def _answer_unreadable(self, bare: UnreadableInteraction) -> None:
        with self._busy.track_current():
            try:
                with delivery_errors(""):
                    await unread.answer(self.rest, bare)
            except (DeliveryError, TooLate) as error:
                log.info("discord_answer_lost", why=describe_error(error))

    async def _answer(
        self, interaction: Interaction, answer: Answer, work: Awaitable[Reply], *, brings: bool = False
    ) -> None:
        """Await the reply and answer the interaction with it in time. ``brings``: see `Answers.add`."""
        self.pictures.set_permission(answer.place, interaction.app_permissions.attach_files)
        self.answers.add(answer, brings=brings)
        wait = DEFER_SECONDS if len(self.answers) < MAX_PENDING else 0
        deferring = asyncio.get_running_loop().call_later(
            wait, self._start_deferring, answer, self._language_of(interaction)
        )
        with self._busy.track_current():
            try:
                if reading.is_guest(answer.place):
                    await self._keep_token(answer)
                await self._respond(answer, await work)
            except (DeliveryError, TooLate, *STORE_ERRORS) as error:
                log.info("discord_answer_lost", why=describe_error(error))
            finally:
                deferring.cancel()
                self.answers.remove(answer)

    def _start_deferring(self, answer: Answer, language: str) -> None:
        self._busy.start(self._defer(answer, language))

    @staticmethod
    async def _defer(answer: Answer, language: str) -> None:
        """Defer the interaction before it expires."""
        with suppress(TooLate, DeliveryError), delivery_errors(answer.place):
            if answer.is_with_delivery and not answer.pressed and answer.state is State.OPEN:
                # Another worker delivers the message.
                await answer.send_toast(texts(language).gettext("It is on its way."))
            else:
                await answer.defer()

    async def _respond(self, answer: Answer, reply: Reply) -> None:
        """Answer with the card room's reply. If it is empty, delivery shows the answer."""
        with delivery_errors(answer.place):
            if reply.panel and not answer.pressed:
                await self._send_page(answer, answer.place, reply)
            elif reply.panel and reply.private:
                await self._send_page(answer, _ephemeral_place(answer.place), reply)
            elif reply.panel:
                await self._edit_page(answer, reply.panel)
            if reply.panel and reply.private:
                # The page appears where requested, so a toast that points elsewhere would be wrong.
                return
            if reply.toast:
                await answer.send_toast(reply.toast)
            if reply.panel or reply.toast:
                return
            answer.hand_to_delivery()
            if answer.pressed:
                if not await answer.wait_until_answered(DELIVERY_SECONDS):
                    await answer.defer()
                    await answer.wait_until_answered(DEFERRED_SECONDS)
            elif not await answer.is_deferred():
                await answer.wait_until_answered()
            elif not await answer.wait_until_answered(DEFERRED_SECONDS):
                await answer.withdraw()

    async def _send_page(self, answer: Answer, place: str, reply: Reply) -> None:
        """Answer with a new message, drawn as for ``place``. Its picture takes longer, so it follows the text."""
        assert reply.panel
        body = drawing.message_body(reply.panel, place)
        sent = await answer.send(body, private=reply.private, upload=_json_upload(reply.file))
        if reply.panel.picture and not reply.file:
            async with self._pages.lock(sent.message, int(answer.token.interaction)) as is_latest:
                if is_latest:
                    await self.messages.add_picture(place, answer.token, sent, reply.panel)

    async def _edit_page(self, answer: Answer, panel: Panel) -> None:
        """Answer by showing a panel in the pressed message, unless a later press has changed the page meanwhile."""
        async with self._pages.lock(answer.pressed, int(answer.token.interaction)) as is_latest:
            if is_latest:
                await self._show_in_place(answer, panel)
        if not is_latest:
            await answer.defer()

    async def _show_in_place(self, answer: Answer, panel: Panel) -> None:

        async def change(body: Body, upload: Upload | None) -> SentMessage:
            if upload and self.pictures.are_slow(answer.place):
                await answer.defer()
            return await answer.edit(body, upload)

        await self.pictures.show(panel, answer.place, SentMessage(answer.pressed), change)

    async def _keep_token(self, answer: Answer) -> None:
        """Keep the token of a channel that the bot is not a member of: it allows messages there for a while."""
        place, token = answer.place, answer.token
        try:
            if not await self.guests.keep(place, token, answer.pressed):
                # Not awaited: an interaction expires after three seconds.
                self.card_room.refresh_chat(place)
        except STORE_ERRORS as error:
            self.card_room.report_store_error(error)

    @staticmethod
    def _language_of(interaction: Interaction) -> str:
        return language_of(reading.locale_of(interaction))

    # Outgoing

    def invitation_url(self, code: str, place: str, message: str) -> str:
        return reading.message_url(place, message)

    def has_admins(self, place: str) -> bool:
        """Return True for servers. Elsewhere only an interaction tells whether a channel belongs to a server."""
        return not is_private(place) and not reading.is_guest(place)

    async def is_admin(self, place: str, person: str) -> bool:
        raise NotDelivered("Discord tells it with each interaction in a server")

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        # Every message can be edited on Discord, so delivery never asks for a silent one.
        self._check_connected()
        return await self.messages.send(place, panel, key)

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        self._check_connected()
        return await self.messages.edit(place, sent, panel)

    async def delete(self, place: str, message: str) -> None:
        self._check_connected()
        await self.messages.delete(place, message)

    def _check_connected(self) -> None:
        if not self._connected:
            raise NotDelivered("not connected")


def _json_upload(file: File | None) -> Upload | None:
    return Upload(file.name, file.content, "application/json") if file else None


async def _toast_reply(toast: str) -> Reply:
    return Reply(toast=toast)


def _ephemeral_place(place: str) -> str:
    """Return a place in this chat that only one person sees. Drawing does not depend on who it is."""
    return place if is_private(place) else str(replace(Place.parse(place), person="0"))
