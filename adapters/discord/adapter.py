"""The Discord adapter."""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import discord
import structlog
from discord.http import Route

from adapters.discord import components
from adapters.discord.activity import Activity, has_activity, table_to_open
from adapters.discord.client import Client
from adapters.discord.commands import challenge_refusal, find_choices, read_call, sync_commands
from adapters.discord.components import Body
from adapters.discord.errors import LIBRARY_ERRORS, delivery_errors, describe_error
from adapters.discord.guests import GuestTokens
from adapters.discord.interaction_answers import Answer, Answers, State, TooLate, answer_unreadable, send_choices
from adapters.discord.interactions import AUTOCOMPLETE, COMMAND, COMPONENT, FORM, Interaction, NamedPerson, Unreadable
from adapters.discord.library_log import Listener, listeners
from adapters.discord.limits import BOARD_LIMIT, PRIVATE_LIMIT, REQUESTS_PER_SECOND, RefusalBudget
from adapters.discord.messages import Messages
from adapters.discord.modals import modal_body, read_answers
from adapters.discord.page_locks import PageLocks
from adapters.discord.pictures import Pictures, Upload
from adapters.discord.places import PLATFORM, is_guest
from adapters.discord.private import PrivateChats
from adapters.discord.rest import Rest
from bot.actions import BadPayload
from bot.card_room import CardRoom
from bot.command_names import find_command_spec
from bot.concurrency.background import TaskSet
from bot.form import FormAnswers
from bot.http.proxies import proxy_for
from bot.panel import Panel
from bot.places import Place
from bot.platform import Command, DeliveryError, NotDelivered, PlatformFailure, Reply, SentMessage, is_private
from bot.rate_limiter import RateLimit
from bot.settings import BadSetting, GatewayShards
from bot.store import STORE_ERRORS
from bot.texts import error_text, language_of, texts

TOKEN_REFUSED, INTENTS_REFUSED = 4004, 4014
# Codes after which the gateway refuses to reconnect, each with what the host must do and a short reason.
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

DEFER_SECONDS = 1.2  # time until an interaction is deferred; Discord allows three seconds, including network time
DELIVERY_SECONDS = 0.2  # time for delivery to edit a pressed message before the press is deferred
DEFERRED_SECONDS = 10.0  # how long a deferred interaction can wait for its message
MAX_PENDING = 400  # with this many pending interactions a new one could be late, so it is deferred at once

log = structlog.get_logger()


class Discord:
    platform = PLATFORM
    has_ephemeral = True
    shows_pictures = True
    has_live_hands = False

    def __init__(self, card_room: CardRoom, token: str) -> None:
        self.card_room, self._token = card_room, token
        self.settings = card_room.settings
        self.pages_url = card_room.settings.public_url or ""
        self.plays_here = has_activity(self.settings)
        self.budget = RefusalBudget()
        self._listener = Listener(self.budget.count, partial(card_room.report_platform_outage, PLATFORM))
        listeners.add(self._listener)
        self.answers = Answers()
        self.pictures = Pictures()
        self._pages = PageLocks()
        self.guests = GuestTokens(card_room.redis)
        self.per_second = REQUESTS_PER_SECOND
        self._connected = self._has_served = False
        self._busy = TaskSet()
        Route.BASE = self.settings.discord_api_url
        self._make_client()

    def _make_client(self) -> None:
        """Create a client and the objects that use it. A closed client cannot be used again."""
        shards = GatewayShards.parse(self.settings.discord_shards) if self.settings.discord_shards else None
        proxy = proxy_for(self.settings.discord_api_url)
        handlers = self._handle, self._answer_unreadable, self._refresh_server, self._greet_server
        self.client = Client(*handlers, shards, proxy)
        self.rest = Rest(self.client, self.budget, proxy)
        private = PrivateChats(self.rest, self.card_room.redis)
        self.mini_app = Activity(self.client, self.rest, self.budget, self.card_room) if self.plays_here else None
        self.messages = Messages(self.rest, private, self.guests, self.answers, self.pictures)

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
            await self.client.login(self._token)
            self._connected = True
            await self._sync_commands()
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
        finally:
            await self._busy.wait(2.0)

    async def close(self) -> None:
        listeners.discard(self._listener)
        await self._close_connections()

    async def _close_connections(self) -> None:
        await self.rest.close()
        await self.client.close()

    def _refresh_server(self, server: int) -> None:
        """Update the messages of a server, in case the bot could not write there before."""
        self.card_room.refresh_chat(str(Place(PLATFORM, str(server))))

    async def _greet_server(self, guild: discord.Guild) -> None:
        # `reduce_server` drops the server's channels, so the library knows only the id of the system channel.
        if not (channel := guild._system_channel_id):
            return
        server, place = str(Place(PLATFORM, str(guild.id))), str(Place(PLATFORM, str(guild.id), str(channel)))
        with self._busy.track_current():
            try:
                panel = await self.card_room.greet_chat(server, str(guild.preferred_locale), guild.name or "")
            except STORE_ERRORS as error:
                self.card_room.report_store_error(error)
            else:
                if panel:
                    self.card_room.queue_answer(place, partial(self.send, place, panel, f"{server}.greeting"))

    async def _sync_commands(self) -> None:
        try:
            await sync_commands(self.client, self.card_room.redis, has_activity=self.plays_here)
        except STORE_ERRORS as error:
            self.card_room.report_store_error(error)

    async def _handle(self, interaction: Interaction, event: object) -> None:
        """Answer an interaction. Never raises. ``event`` is the gateway's."""
        with self._busy.track_current():
            try:
                if interaction.kind == COMPONENT:
                    await self._handle_press(interaction)
                elif interaction.kind == COMMAND:
                    word, arguments, named_person = read_call(interaction.data)
                    command = interaction.command(word, arguments, named_person)
                    await self._run_command(interaction, command, named_person)
                elif interaction.kind == AUTOCOMPLETE:
                    await self._complete(interaction)
                elif interaction.kind == FORM:
                    await self._handle_form(interaction)
                else:
                    await self._answer_unreadable(event, f"type {interaction.kind}")
            except Unreadable as error:
                await self._answer_unreadable(event, str(error))
            except Exception:
                log.exception("discord_interaction_failed", kind=interaction.kind)
                await self._send_unreadable(event)

    async def _handle_press(self, interaction: Interaction, answers: FormAnswers | None = None) -> None:
        press = interaction.press(answers)
        place = press.place if press else interaction.place
        message = interaction.message.id if interaction.message else ""
        answer = Answer(self.rest, interaction.token, place, message)
        code = table_to_open(press.payload) if press and self.mini_app else ""
        if self.mini_app and press and code and await self.mini_app.launch(interaction.token, press.person.id, code):
            return
        if press is None:
            work = _toast_reply(error_text(BadPayload(), self._language_of(interaction)))
        else:
            work = self.card_room.handle_press(press)
        await self._answer(interaction, answer, work)

    async def _handle_form(self, interaction: Interaction) -> None:
        """Handle a modal's answers: another press of the button that opened it, or another command."""
        answers, name = read_answers(interaction.data), str(interaction.data.get("custom_id"))
        if interaction.message:
            await self._handle_press(interaction, answers)
        elif (spec := find_command_spec(name)) and spec.has_form:
            await self._run_command(interaction, interaction.command(name, answers=answers))
        else:
            raise Unreadable("an unknown form")

    async def _run_command(self, interaction: Interaction, command: Command, target: NamedPerson | None = None) -> None:
        place, spec = interaction.place, find_command_spec(command.word)
        private, shows_table, has_form = (spec.is_private, spec.shows_table, spec.has_form) if spec else (False,) * 3
        awaits_message = ((shows_table and not private) or is_private(place)) and not (has_form and command.wants_form)
        answer = Answer(self.rest, interaction.token, place, private=private, awaits_message=awaits_message)
        refusal = challenge_refusal(interaction, target, self._language_of(interaction)) if shows_table else ""
        work = _toast_reply(refusal) if refusal else self.card_room.handle_command(command)
        await self._answer(interaction, answer, work)

    async def _complete(self, interaction: Interaction) -> None:
        try:
            choices = await find_choices(self.card_room, interaction)
        except STORE_ERRORS as error:
            self.card_room.report_store_error(error)
            choices = []
        try:
            with delivery_errors(""):
                await send_choices(self.rest, interaction.token, choices)
        except (DeliveryError, TooLate) as error:
            log.info("discord_answer_lost", why=describe_error(error))

    async def _answer_unreadable(self, event: object, reason: str) -> None:
        log.warning("discord_interaction_unreadable", why=reason)
        with self._busy.track_current():
            await self._send_unreadable(event)

    async def _send_unreadable(self, event: object) -> None:
        try:
            with delivery_errors(""):
                await answer_unreadable(self.rest, event)
        except (DeliveryError, TooLate) as error:
            log.info("discord_answer_lost", why=describe_error(error))

    async def _answer(self, interaction: Interaction, answer: Answer, work: Awaitable[Reply]) -> None:
        self.pictures.set_permission(answer.place, interaction.permissions.attach_files)
        self.answers.add(answer)
        wait, language = DEFER_SECONDS if len(self.answers) < MAX_PENDING else 0, self._language_of(interaction)
        deferring = asyncio.get_running_loop().call_later(wait, lambda: self._busy.start(self._defer(answer, language)))
        try:
            if is_guest(answer.place):
                await self._keep_token(answer)
            await self._respond(answer, await work, language)
        except (DeliveryError, TooLate, *STORE_ERRORS) as error:
            log.info("discord_answer_lost", why=describe_error(error))
        finally:
            deferring.cancel()
            self.answers.remove(answer)

    @staticmethod
    async def _defer(answer: Answer, language: str) -> None:
        """Defer the interaction before it expires."""
        with suppress(TooLate, DeliveryError), delivery_errors(answer.place):
            if answer.handed_over.is_set() and not answer.pressed and answer.state is State.OPEN:
                # Another worker delivers the message.
                await answer.send_toast(texts(language).gettext("It’s on its way."))
            else:
                await answer.defer()

    async def _respond(self, answer: Answer, reply: Reply, language: str) -> None:
        """Answer with the card room's reply. If it is empty, delivery shows the answer."""
        with delivery_errors(answer.place):
            if reply.form:
                if not await answer.show_modal(modal_body(reply.form)):
                    await answer.send_toast(texts(language).gettext("That took too long: try again."))
                return
            if reply.panel:
                await self._show_page(answer, reply, reply.panel)
                if reply.toast and not reply.private:
                    # The toast of a private reply would point to the private chat, but the page is here.
                    await answer.send_toast(reply.toast)
                return
            if reply.toast:
                await answer.send_toast(reply.toast)
                return
            answer.handed_over.set()
            if answer.pressed:
                if not await answer.wait_until_answered(DELIVERY_SECONDS):
                    await answer.defer()
                    await answer.wait_until_answered(DEFERRED_SECONDS)
            elif not await answer.is_deferred():
                await answer.wait_until_answered()
            elif not await answer.wait_until_answered(DEFERRED_SECONDS):
                await answer.withdraw()

    async def _show_page(self, answer: Answer, reply: Reply, panel: Panel) -> None:
        where = Place.parse(answer.place)
        if not answer.pressed:
            await self._send_page(answer, answer.place, reply)
        elif reply.private:
            # Draw the page as for a private place. Its person does not matter.
            await self._send_page(answer, str(where if where.is_private else replace(where, person="0")), reply)
        else:
            await self._edit_page(answer, panel)

    async def _send_page(self, answer: Answer, place: str, reply: Reply) -> None:
        """Answer with a new message, drawn as for ``place``. The picture follows the text, because it takes longer."""
        assert reply.panel
        body, file = components.message_body(reply.panel, place), reply.file
        upload = Upload(file.name, file.content, "application/json") if file else None
        # Ephemeral messages cannot be forwarded.
        private = reply.private and not (reply.is_forwardable and answer.pressed and is_private(answer.place))
        message = await answer.send(body, private=private, upload=upload)
        if reply.panel.picture and not file:
            async with self._pages.lock(message.message, int(answer.token.interaction)) as is_latest:
                if is_latest:
                    await self.messages.add_picture(place, answer.token, message, reply.panel)

    async def _edit_page(self, answer: Answer, panel: Panel) -> None:
        """Answer by showing a panel in the pressed message, unless a later press has changed the page."""

        async def edit(body: Body, upload: Upload | None) -> SentMessage:
            if upload and self.pictures.are_slow(answer.place):
                await answer.defer()
            return await answer.edit(body, upload)

        async with self._pages.lock(answer.pressed, int(answer.token.interaction)) as is_latest:
            if is_latest:
                await self.pictures.show(panel, answer.place, SentMessage(answer.pressed), edit)
        if not is_latest:
            await answer.defer()

    async def _keep_token(self, answer: Answer) -> None:
        """Keep a token with which the bot can write for a while in a channel where it is not a member."""
        try:
            if not await self.guests.keep(answer.place, answer.token, answer.pressed):
                # Do not await this, because an interaction expires after three seconds.
                self.card_room.refresh_chat(answer.place)
        except STORE_ERRORS as error:
            self.card_room.report_store_error(error)

    @staticmethod
    def _language_of(interaction: Interaction) -> str:
        return language_of(interaction.person.language)

    # Outgoing

    def invitation_url(self, code: str, place: str, message: str) -> str:
        """Return the link to a message in a server's channel. Elsewhere it is empty, because there is no server."""
        parsed_place = Place.parse(place)
        if parsed_place.is_private or parsed_place.is_guest or not message:
            return ""
        return f"https://discord.com/channels/{parsed_place.chat}/{parsed_place.part}/{message}"

    def has_admins(self, place: str) -> bool:
        """Return whether the place is in a server of which the bot is a member."""
        return not is_private(place) and not is_guest(place)

    async def is_admin(self, place: str, person: str) -> bool:
        raise NotDelivered("only an interaction says who is an administrator")

    def draws(self, _place: str, _panel: Panel) -> bool:
        return False

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        # Only the replacement of a message that cannot be edited is silent. Discord has no such messages.
        return await self._connected_messages().send(place, panel, key)

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        return await self._connected_messages().edit(place, sent, panel)

    async def delete(self, place: str, message: str) -> None:
        await self._connected_messages().delete(place, message)

    def _connected_messages(self) -> Messages:
        if not self._connected:
            raise NotDelivered("not connected")
        return self.messages


async def _toast_reply(toast: str) -> Reply:
    return Reply(toast=toast)
