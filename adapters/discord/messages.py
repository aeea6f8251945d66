"""Sends, edits and deletes the bot's messages."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from typing import TypeVar

import discord
import structlog

from adapters.discord import components, places
from adapters.discord.components import Body
from adapters.discord.errors import NO_CHANNEL, NO_PERMISSION, delivery_errors, describe_error
from adapters.discord.guests import GuestTokens
from adapters.discord.interaction_answers import Answers, TooLate
from adapters.discord.limits import LONGEST_NONCE
from adapters.discord.pictures import Pictures, Upload
from adapters.discord.places import InteractionToken
from adapters.discord.private import PrivateChats
from adapters.discord.rest import Rest
from bot.panel import Panel
from bot.places import Place
from bot.platform import DeliveryError, MessageGone, SentMessage, Unreachable, is_ephemeral, is_private
from bot.store import STORE_ERRORS

T = TypeVar("T")

log = structlog.get_logger()


class Messages:
    """Sends, edits and deletes messages as the bot, with an interaction's token, or as a pending answer."""

    def __init__(
        self, rest: Rest, private: PrivateChats, guests: GuestTokens, answers: Answers, pictures: Pictures
    ) -> None:
        self._rest, self._private, self._guests = rest, private, guests
        self._answers, self._pictures = answers, pictures

    async def send(self, place: str, panel: Panel, key: str) -> SentMessage:
        with delivery_errors(place):
            body = {**components.message_body(panel, place), "allowed_mentions": components.allowed_mentions(panel)}
            interaction_message = await self._send_by_token(place, body)
            if interaction_message is None:
                return await self._in_channel(place, partial(self._send_as_bot, place, panel, key))
        # A repeated send would create a second message, so the text goes first, and an edit adds the picture.
        token, sent = interaction_message
        return await self.add_picture(place, token, sent, panel) if panel.picture else sent

    async def _send_as_bot(self, place: str, panel: Panel, key: str, channel: str) -> SentMessage:
        # A repeated send has the same nonce, so it creates no second message.
        nonce = key if len(key) <= LONGEST_NONCE else blake2b(key.encode(), digest_size=12).hexdigest()

        async def send(body: Body, upload: Upload | None) -> SentMessage:
            body = {**body, "allowed_mentions": components.allowed_mentions(panel)}
            return await self._rest.send(channel, body, nonce, upload)

        message = await self._pictures.show(panel, place, SentMessage(""), send)
        # With the nonce, an abandoned upload cannot overwrite the message.
        return message._replace(is_settled=True)

    async def _send_by_token(self, place: str, body: Body) -> tuple[InteractionToken, SentMessage] | None:
        """Send a text with an interaction's token. Return token and message, or None if only the bot can send there."""
        if is_ephemeral(place):
            return places.ephemeral_token(place), await self._send_ephemeral(place, body)
        if answer := self._answers.find_by_place(place):
            with suppress(TooLate):
                sent = await answer.send_public(body)
                if places.is_guest(place):
                    try:
                        await self._guests.keep(place, answer.token, sent.message)
                    except STORE_ERRORS as error:
                        # The message can be edited after the next press on it.
                        log.warning("discord_token_not_kept", why=describe_error(error))
                return answer.token, sent
        if not places.is_guest(place):
            return None
        token = await self._guests.get(place)
        await self._answers.wait_until_answered(token)
        sent = await self._rest.follow_up(token, body)
        await self._guests.keep(place, token, sent.message)
        return token, sent

    async def _send_ephemeral(self, place: str, body: Body) -> SentMessage:
        token = _valid_token(place)
        try:
            if answer := self._answers.find_by_token(token):
                return await answer.send(body, private=True)
        except TooLate:
            raise Unreachable("the interaction cannot be answered any more") from None
        return await self._rest.follow_up(token, {**body, "flags": body["flags"] | components.EPHEMERAL})

    async def add_picture(self, place: str, token: InteractionToken, sent: SentMessage, panel: Panel) -> SentMessage:
        """Add the panel's picture to a message that already has its text. Return the message."""

        async def add(body: Body, upload: Upload | None) -> SentMessage:
            return await self._rest.edit_with_token(token, sent.message, body, upload)

        try:
            with delivery_errors(place, editing=True):
                return await self._pictures.show(panel, place, sent, add)
        except DeliveryError as error:
            # The upload can still take effect.
            log.info("discord_picture_omitted", why=describe_error(error))
            return sent._replace(is_settled=False)

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        with delivery_errors(place, editing=True):
            answer = self._answers.find_by_message(sent.message)
            if answer:
                await answer.handed_over.wait()
                answer = answer if answer.can_edit else None

            async def change(body: Body, upload: Upload | None) -> SentMessage:
                if answer:
                    with suppress(TooLate):
                        if upload and self._pictures.are_slow(place):
                            await answer.defer()
                        return await answer.edit(body, upload)
                return await self._edit(place, sent.message, body, upload)

            message = await self._pictures.show(panel, place, sent, change)
        return message._replace(message=sent.message)

    async def _edit(self, place: str, message: str, body: Body, upload: Upload | None) -> SentMessage:
        if is_ephemeral(place):
            return await self._rest.edit_with_token(_valid_token(place), message, body, upload)
        if places.is_guest(place):
            token = await self._guests.get(place, message)
            await self._answers.wait_until_answered(token)
            return await self._rest.edit_with_token(token, message, body, upload)
        return await self._in_channel(place, lambda channel: self._rest.edit(channel, message, body, upload))

    async def delete(self, place: str, message: str) -> None:
        with suppress(MessageGone), delivery_errors(place, editing=True):
            if is_ephemeral(place):
                token = places.ephemeral_token(place)
                if token.is_valid:
                    await self._rest.delete_with_token(token, message)
            elif places.is_guest(place):
                await self._rest.delete_with_token(await self._guests.get(place, message), message)
            else:
                try:
                    await self._in_channel(place, lambda channel: self._rest.delete(channel, message))
                except discord.HTTPException as error:
                    # A bot can always delete its own messages, so this one belongs to another application.
                    if error.code != NO_PERMISSION:
                        raise

    async def _in_channel(self, place: str, call: Callable[[str], Awaitable[T]]) -> T:
        """Call ``call`` with a place's channel, as the bot.

        A private chat has a different channel for each application, and the host can switch to another application. If
        the bot has no access to the channel, the channel is looked up again, once.
        """
        if not is_private(place):
            return await call(places.channel_of(place))
        user = Place.parse(place).person
        channel = await self._private.channel(user)
        try:
            return await call(channel)
        except discord.HTTPException as error:
            if error.code not in NO_CHANNEL or (other_channel := await self._private.channel(user, channel)) == channel:
                raise
        return await call(other_channel)


def _valid_token(place: str) -> InteractionToken:
    token = places.ephemeral_token(place)
    if not token.is_valid:
        raise Unreachable("the token has expired")
    return token
