"""Reads Telegram's updates for the card room. Malformed input raises TypeError or ValueError."""

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from telegram import (
    CallbackQuery,
    Chat,
    ChatMemberUpdated,
    ChosenInlineResult,
    InlineQuery,
    MaybeInaccessibleMessage,
    Message,
    MessageEntity,
    Update,
    User,
)

from adapters.telegram.command_text import find_command
from bot.command_names import find_command_spec
from bot.identity.names import trim_blanks
from bot.parsing.plain_text import read_plain_text
from bot.places import INLINE, Place
from bot.platform import Command, Person, Press, is_private

PLATFORM = "telegram"
ANONYMOUS_ADMIN = 1087968824  # the user id of anonymous administrators
INLINE_MESSAGE = "inline"  # the message id at an inline place, which has only one message
EPHEMERAL_COMMAND = "c"  # in the token of a place, precedes the id of an ephemeral command instead of a press's id
CHAT_INSTANCE, INLINE_ID = re.compile(r"-?[0-9]{1,20}"), re.compile(r"[\w-]{1,100}", re.ASCII)

Event = TypeVar("Event", Command, Press)

LARGEST_ID = 2**63  # ids are checked because they become part of stored text


def read_private_author(message: Message) -> Person | None:
    """Return the author of a message in a private chat, or None elsewhere."""
    return read_person(message.from_user) if message.chat.type == Chat.PRIVATE and message.from_user else None


def read_person(user: User) -> Person:
    return Person(
        f"{PLATFORM}:{_checked_id(user.id)}",
        _checked_text(user.full_name or ""),
        _checked_text(user.username or ""),
        _checked_text(user.language_code or ""),
    )


def _checked_id(value: object) -> int:
    if type(value) is not int or not -LARGEST_ID <= value < LARGEST_ID:
        raise ValueError(f"not an id: {value!r:.40}")
    return value


def _checked_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"not a text: {value!r:.40}")
    return value


def place_of(message: MaybeInaccessibleMessage | ChatMemberUpdated) -> str:
    """Return the place of a message: a private chat or a group, with its topic if that is known."""
    number = str(_checked_id(message.chat.id))
    topic = message.message_thread_id if isinstance(message, Message) and message.is_topic_message else None
    part = str(_checked_id(topic)) if topic else ""
    if message.chat.type == Chat.PRIVATE:
        return str(Place(PLATFORM, part=part, person=number))
    return str(Place(PLATFORM, number, part))


def main_place(place: str) -> str:
    """Return the private chat of a topic, and any other place unchanged."""
    parsed_place = Place.parse(place)
    is_topic = parsed_place.person and parsed_place.part and not parsed_place.chat
    return str(replace(parsed_place, part="")) if is_topic else place


def leave_topic(event: Event) -> Event:
    """Return an event for the card room, to which all topics of a private chat are one place."""
    place = main_place(event.place)
    return event if place == event.place else replace(event, place=place)


def inline_id(place: str) -> str:
    return Place.parse(place).part


def read_migration(message: Message) -> tuple[str, str]:
    """Return the old and new place of a group that became a supergroup."""
    return place_of(message), str(Place(PLATFORM, str(_checked_id(message.migrate_to_chat_id))))


def chat_and_topic(place: str) -> tuple[int, int | None]:
    parsed_place = Place.parse(place)
    return int(parsed_place.person or parsed_place.chat), int(parsed_place.part) if parsed_place.part else None


def read_command(update: Update, bot: User, *, ephemerals: bool = True) -> Command | None:
    """Return the command that a message gives to this ``bot``.

    In a group, a command that names no bot must be known and marked as a command. In a private chat, other texts are
    for the bot too (`bot.parsing.plain_text`). Set ``ephemerals`` if the server has ephemeral messages.
    """
    message = update.message
    if message is None or message.from_user is None:
        return None
    text, entities = message.text, message.entities
    if text is None:
        text, entities = message.caption or "", message.caption_entities
    if not trim_blanks(text):
        return None
    is_private_chat = message.chat.type == Chat.PRIVATE
    match = find_command(text, entities)
    if match and match.bot:
        if match.bot not in ((bot.username or "").lower(), str(bot.id)):
            return None
    elif match and not is_private_chat and not (match.is_marked and find_command_spec(match.word, is_for_us=False)):
        return None
    elif match and is_private_chat and not match.is_marked and not find_command_spec(match.word):
        match = None
    key, place = f"tg{_checked_id(update.update_id)}", place_of(message)
    if match is None:
        is_for_us = is_private_chat and message.via_bot is None
        return Command(key, read_person(message.from_user), place, *read_plain_text(text)) if is_for_us else None
    return Command(
        key=key,
        person=read_person(message.from_user),
        place=place,
        word=match.word,
        words=match.words,
        about=tuple(_named_people(message, text, entities)),
        ephemeral=_place_of_reply(message, place, message.from_user) if ephemerals else "",
        chat_name=_checked_text(message.chat.title or ""),
    )


def _place_of_reply(message: Message, place: str, author: User) -> str:
    """Return the place where only the author of an ephemeral command sees the answer; empty for other messages.

    An ephemeral message has the id 0 and an ephemeral id (core.telegram.org/bots/api#message). Only groups have them.
    """
    number = message.api_kwargs.get("ephemeral_message_id")
    if message.message_id != 0 or type(number) is not int or not 0 < number < LARGEST_ID or is_private(place):
        return ""
    token = f"{int(time.time())}.{EPHEMERAL_COMMAND}{number}"
    return str(replace(Place.parse(place), person=str(_checked_id(author.id)), token=token))


def is_anonymous(message: Message) -> bool:
    """Return whether the author is an anonymous administrator or writes on behalf of a chat."""
    return message.sender_chat is not None or (
        message.from_user is not None and message.from_user.id == ANONYMOUS_ADMIN
    )


def read_press(update: Update, *, ephemerals: bool = True) -> Press | None:
    """Return the press of a callback query; None if Telegram does not name its message.

    Telegram identifies a chat without the bot only by its ``chat_instance`` and does not send the message, so no press
    there is genuine. It sends only the id of a very old message. Set ``ephemerals`` if the server has ephemeral
    messages.
    """
    query = update.callback_query
    if query is None or (query.message is None and query.inline_message_id is None):
        return None
    key, person = f"tg{_checked_id(update.update_id)}", read_person(query.from_user)
    payload = query.data if isinstance(query.data, str) else ""
    if query.inline_message_id is not None:
        chat, message = _checked_text(query.chat_instance), _checked_text(query.inline_message_id)
        if not CHAT_INSTANCE.fullmatch(chat) or not INLINE_ID.fullmatch(message):
            raise ValueError("not an inline message")
        return Press(key, person, str(Place(PLATFORM, f"{INLINE}{chat}", message)), INLINE_MESSAGE, payload)
    assert query.message
    place, message = place_of(query.message), str(_checked_id(query.message.message_id))
    token = f"{int(time.time())}.{query.id}"
    only_here = str(replace(Place.parse(place), person=str(query.from_user.id), token=token))
    ephemeral = only_here if ephemerals and not is_private(place) else ""
    number = query.message.api_kwargs.get("ephemeral_message_id")
    if number:
        place, message = only_here, str(_checked_id(number))
    # A client can invent a payload, but not the message. The buttons of a very old message are not known.
    keyboard = query.message.reply_markup if isinstance(query.message, Message) else None
    buttons = [button for row in keyboard.inline_keyboard for button in row] if keyboard else []
    genuine = any(button.callback_data == payload for button in buttons)
    return Press(key, person, place, message, payload, ephemeral, genuine)


def read_inline_query(query: InlineQuery) -> tuple[Person, str]:
    """Return the person who types, and the text after the bot's name."""
    return read_person(query.from_user), _checked_text(query.query)


def read_sent_offer(chosen_result: ChosenInlineResult) -> tuple[Person, str, str, str]:
    """Return the sender, the offer's id, the typed text, and the place of the message.

    The place names no chat, because Telegram names none. It is empty without a message id.
    """
    place = inline_place(chosen_result.inline_message_id)
    return (
        read_person(chosen_result.from_user),
        _checked_text(chosen_result.result_id),
        _checked_text(chosen_result.query),
        place,
    )


def inline_place(message: object) -> str:
    """Return the place of an inline message in an unknown chat; empty if ``message`` is not an inline id."""
    is_id = isinstance(message, str) and INLINE_ID.fullmatch(message)
    return str(Place(PLATFORM, INLINE, str(message))) if is_id else ""


def is_photo(query: CallbackQuery) -> bool:
    """Return whether the pressed message is a photo; False if unknown."""
    return isinstance(query.message, Message) and bool(query.message.photo)


def _named_people(message: Message, text: str, entities: Sequence[MessageEntity]) -> list[Person]:
    """Return the people that a command names, and the author of the message that it replies to.

    A deleted account has no name. A mention of it gives an unknown person; a reply to it is ignored.
    """
    mentions = [entity.user for entity in entities if entity.type == MessageEntity.TEXT_MENTION]
    people = [read_person(user) if user else Person("", "") for user in mentions]
    units = text.encode("utf-16-le", "surrogatepass")
    for entity in entities:
        if entity.type == MessageEntity.MENTION:
            end = entity.offset + entity.length
            handle = units[2 * entity.offset : 2 * end].decode("utf-16-le", "replace")[1:]
            people.append(Person("", handle, handle))
    author = message.reply_to_message.from_user if message.reply_to_message else None
    if author and author.full_name and not author.is_bot:
        people.append(read_person(author))
    return people
