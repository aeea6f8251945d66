"""What Telegram's updates mean to the card room."""

import re
from typing import Any

from telegram import (
    Bot,
    CallbackQuery,
    Chat,
    ChatMember,
    ChatMemberRestricted,
    ChosenInlineResult,
    InlineQuery,
    MaybeInaccessibleMessage,
    Message,
    MessageEntity,
    Update,
    User,
)

from adapters.telegram.ephemeral import ephemeral_place_of
from bot.commands import command_called
from bot.places import INLINE, Place
from bot.platform import Command, Person, Press, is_private

PLATFORM = "telegram"
ANONYMOUS_ADMIN = 1087968824
"""The user in whose name administrators write who want to stay anonymous."""

INLINE_MESSAGE = "inline"
"""What a message is called that has a place to itself."""

CHAT_INSTANCE, INLINE_ID = re.compile(r"-?[0-9]{1,20}"), re.compile(r"[\w-]{1,100}", re.ASCII)

PRESSED = ("message_id", "ephemeral_message_id", "date", "chat", "is_topic_message", "message_thread_id", "photo")
"""What is asked of a pressed message, beside its keyboard."""

LARGEST_ID = 2**63
"""Ids are below; what is stored under them is text of ours, and must hold nothing that only looks like one."""


def update_of(said: Any, bot: Bot) -> Update:
    """What Telegram says, as the library reads it; raises what the library raises.

    Of a pressed message it is given no more than is asked of it here: text and keyboard are the bot's own, and cost
    more to read than all else.
    """
    match said:
        case {"callback_query": {"message": dict(message), **query}}:
            asked = {name: message[name] for name in PRESSED if name in message}
            if "reply_markup" in message:
                asked["reply_markup"] = _pressed_alone(message["reply_markup"], query.get("data"))
            said = {**said, "callback_query": {**query, "message": asked}}
    return Update.de_json(said, bot)


def _pressed_alone(keyboard: Any, payload: Any) -> Any:
    """A keyboard without the buttons that were not pressed; as it is if it is none."""
    rows = keyboard.get("inline_keyboard") if isinstance(keyboard, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        return keyboard
    buttons = [button for row in rows for button in row]
    pressed = [one for one in buttons if not isinstance(one, dict) or one.get("callback_data") == payload]
    return {"inline_keyboard": [pressed]}


def person(user: User) -> Person:
    """Who a user is. Like all that reads here: TypeError or ValueError for what Telegram would not say."""
    return Person(
        f"{PLATFORM}:{_number(user.id)}",
        _text(user.full_name),
        _text(user.username or ""),
        _text(user.language_code or ""),
    )


def _number(value: object) -> int:
    if type(value) is not int or not -LARGEST_ID <= value < LARGEST_ID:
        raise ValueError(f"no id: {value!r:.40}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"no text: {value!r:.40}")
    return value


def place_of(message: MaybeInaccessibleMessage) -> str:
    """Where a message stands: a chat, with its topic in a forum if it can be told; a private chat is its person's."""
    chat = message.chat
    number = _number(chat.id)
    if chat.type == Chat.PRIVATE:
        return str(Place(PLATFORM, person=str(number)))
    topic = message.message_thread_id if isinstance(message, Message) and message.is_topic_message else None
    return str(Place(PLATFORM, str(number), str(_number(topic)) if topic else ""))


def may_write(member: ChatMember) -> bool:
    """Whether a member of a group may write there."""
    if isinstance(member, ChatMemberRestricted):
        return member.is_member and member.can_send_messages
    return member.status in (ChatMember.MEMBER, ChatMember.ADMINISTRATOR)


def chat_place(chat: Chat) -> str:
    """A group, whatever stands in it."""
    return str(Place(PLATFORM, str(_number(chat.id))))


def inline_place(chat: object, message: object) -> str:
    """A message that somebody sent through the bot, in a chat of which Telegram tells no more than what tells it from
    others (``chat_instance``).
    """
    chat, message = _text(chat), _text(message)
    if not CHAT_INSTANCE.fullmatch(chat) or not INLINE_ID.fullmatch(message):
        raise ValueError("no inline message")
    return str(Place(PLATFORM, f"{INLINE}{chat}", message))


def inline_id(place: str) -> str:
    """What Telegram calls the message at an inline place."""
    return Place.parse(place).part


def moved(message: Message) -> tuple[str, int]:
    """A group that has become a supergroup, and the id that it has now."""
    return place_of(message), _number(message.migrate_to_chat_id)


def address(place: str) -> tuple[int, int | None]:
    """The chat and the topic of a place."""
    where = Place.parse(place)
    return int(where.person or where.chat), int(where.part) if where.part else None


def command(update: Update, username: str) -> Command | None:
    """The command that a message is, if it is one and not for another bot: in a group one that nobody here knows is.

    In a private chat any other text asks for help: it can be meant for nobody else.
    """
    message = update.message
    if message is None or message.from_user is None or not message.text:
        return None
    first = message.entities[0] if message.entities else None
    if first is None or first.type != MessageEntity.BOT_COMMAND or first.offset:
        if message.chat.type != Chat.PRIVATE or message.via_bot is not None:
            return None
        return Command(f"tg{_number(update.update_id)}", person(message.from_user), place_of(message), "help")
    word, _, bot = message.parse_entity(first)[1:].partition("@")
    if bot and bot.lower() != username.lower():
        return None
    if not bot and message.chat.type != Chat.PRIVATE and command_called(word.lower()) is None:
        return None
    return Command(
        key=f"tg{_number(update.update_id)}",
        person=person(message.from_user),
        place=place_of(message),
        word=word.lower(),
        words=_words(message),
        about=tuple(_about(message)),
        chat_name=_text(message.chat.title or ""),
    )


def is_anonymous(message: Message) -> bool:
    """Whether the writer cannot be told from the other administrators."""
    return message.sender_chat is not None or (
        message.from_user is not None and message.from_user.id == ANONYMOUS_ADMIN
    )


def press(update: Update, *, ephemerals: bool = True) -> Press | None:
    """The press that a callback query is; None for one on a message that Telegram does not tell of.

    Of a message in a chat that the bot is not in Telegram never tells which buttons it has: no press there is genuine.
    Of a message that is very old Telegram tells no more than where it stands, which is enough. ``ephemerals`` is
    whether the presser may be shown something that nobody else sees.
    """
    query = update.callback_query
    if query is not None and query.inline_message_id is not None:
        place = inline_place(query.chat_instance, query.inline_message_id)
        return Press(f"tg{_number(update.update_id)}", person(query.from_user), place, INLINE_MESSAGE, _payload(query))
    if query is None or query.message is None:
        return None
    place, message = place_of(query.message), str(_number(query.message.message_id))
    ephemeral = ephemeral_place_of(place, query.from_user.id, query.id) if ephemerals and not is_private(place) else ""
    number = query.message.api_kwargs.get("ephemeral_message_id")
    if number:
        place, message = ephemeral_place_of(place, query.from_user.id, query.id), str(_number(number))
    key, payload = f"tg{_number(update.update_id)}", _payload(query)
    return Press(key, person(query.from_user), place, message, payload, ephemeral, _stands_there(query, payload))


def typed(query: InlineQuery | ChosenInlineResult) -> str:
    """What somebody has typed behind the bot's name."""
    return _text(query.query)


def sent_offer(chosen: ChosenInlineResult) -> str:
    """The id of the offer that somebody has sent."""
    return _text(chosen.result_id)


def is_photo(query: CallbackQuery) -> bool:
    """Whether the pressed message is a photo, as far as Telegram tells of it."""
    return isinstance(query.message, Message) and bool(query.message.photo)


def _stands_there(query: CallbackQuery, payload: str) -> bool:
    """Whether Telegram says that the pressed message has this button: a client may make the payload up, but not the
    message. Of one that is very old Telegram does not tell.
    """
    keyboard = query.message.reply_markup if isinstance(query.message, Message) else None
    return keyboard is not None and any(
        button.callback_data == payload for row in keyboard.inline_keyboard for button in row
    )


def _payload(query: CallbackQuery) -> str:
    return query.data if isinstance(query.data, str) else ""


def _words(message: Message) -> tuple[str, ...]:
    """What follows the command; people who were named without an @ are in `_about` instead."""
    text = (message.text or "").encode("utf-16-le")
    for entity in reversed(message.entities):
        if entity.type in (MessageEntity.TEXT_MENTION, MessageEntity.BOT_COMMAND):
            text = text[: 2 * entity.offset] + text[2 * (entity.offset + entity.length) :]
    return tuple(text.decode("utf-16-le", "replace").split()[:8])


def _about(message: Message) -> list[Person]:
    about = [
        person(entity.user) for entity in message.entities if entity.type == MessageEntity.TEXT_MENTION and entity.user
    ]
    for entity in message.entities:
        if entity.type == MessageEntity.MENTION:
            handle = message.parse_entity(entity)[1:]
            about.append(Person("", handle, handle))
    answered = message.reply_to_message
    # A comment below a channel's post answers that, which an account of Telegram's brings into the group.
    writer = answered.from_user if answered and not (answered.sender_chat or answered.forum_topic_created) else None
    if writer and not writer.is_bot:
        about.append(person(writer))
    return about
