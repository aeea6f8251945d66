"""Guest mode: people call the bot by its name in any chat (core.telegram.org/api/bots/guest-mode).

The answer is an inline message, so the rest is as in inline mode. The id of the chat can be that of another chat of the
bot (core.telegram.org/bots/api#message, ``guest_query_id``), so nothing here reads it.
"""

import asyncio
import re
from typing import Any, NamedTuple

import structlog
from telegram import Message
from telegram.error import BadRequest

from adapters.telegram.errors import delivery_errors
from adapters.telegram.inline import article
from adapters.telegram.messages import Messages
from adapters.telegram.press_answers import RETRIED_ERRORS, RETRY_PAUSES
from adapters.telegram.reading import inline_place, read_person
from adapters.telegram.transport import Post, json_body
from bot.card_room import CardRoom
from bot.platform import Person

log = structlog.get_logger()


class GuestCall(NamedTuple):
    """A call of the bot: the id for the answer, the author, and the text after the bot's name."""

    query: str
    person: Person
    typed: str


def read_guest_call(message: Message, username: str) -> GuestCall | None:
    """Return a call, or None if the bot does not answer it.

    A reply to the bot's message arrives as a call too (tdlib/telegram-bot-api issue 857). It counts only with the bot's
    name. Bots and anonymous authors get no answer.
    """
    author, text = message.from_user, message.text or message.caption or ""
    if author is None or author.is_bot or message.sender_chat or not isinstance(message.guest_query_id, str):
        return None
    mention = re.search(rf"@{re.escape(username)}\b", text, re.IGNORECASE)
    return GuestCall(message.guest_query_id, read_person(author), text[mention.end() :]) if mention else None


async def answer_guest_call(post: Post, card_room: CardRoom, messages: Messages, call: GuestCall) -> None:
    """Post an offer or a hint into the chat of a call. A call gets one answer."""
    offer = await card_room.answer_guest(call.person, call.typed)
    if offer is None:
        return
    hidden = () if messages.has_inline_mode else ("share",)
    with delivery_errors(""):
        message = await _answer(
            post, {"guest_query_id": call.query, "result": article(offer, messages.username, hidden)}
        )
    if isinstance(message, dict) and (place := inline_place(message.get("inline_message_id"))):
        await card_room.note_offer_sent(call.person, offer.id, call.typed, place)


async def _answer(post: Post, fields: dict[str, Any]) -> Any:
    """Return Telegram's answer, or None if the call is too old or was answered before."""
    body = json_body(fields)
    for pause in RETRY_PAUSES:
        try:
            return await post("answerGuestQuery", body)
        except BadRequest as error:
            log.info("telegram_guest_call_unanswered", why=error.message)
            return None
        except RETRIED_ERRORS:
            await asyncio.sleep(pause)
    return await post("answerGuestQuery", body)
