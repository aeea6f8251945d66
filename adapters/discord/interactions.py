"""Reads interactions from the gateway's events for the card room.

Events are JSON, as docs.discord.com/developers/interactions/receiving-and-responding describes it. The library's
own objects would take a tenth of a press's time. They also refuse an event without a field that the bot does not need.
Here such a field can be missing or have any type.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from discord import Permissions

from adapters.discord.places import PLATFORM, InteractionToken
from bot.form import FormAnswers
from bot.places import GUEST, Place
from bot.platform import Command, Person, Press

COMMAND, COMPONENT, AUTOCOMPLETE, FORM = 2, 3, 4, 5  # types of interactions
PRIVATE_CONTEXT = 1  # the private chat with the bot, not one between people
THREADS = (10, 11, 12)  # types of channels
EPHEMERAL = 1 << 6  # flag of a message
LONGEST_ID = 20  # digits of a 64-bit id

# A button's custom id: a payload, and a number if one panel has the same payload twice.
CUSTOM_ID = re.compile(r"(?P<payload>1[mtp].*?)(?:~[0-9]+)?", re.DOTALL)

Fields = dict[str, Any]


class Unreadable(Exception):
    """An interaction that the bot cannot read: a field that it needs is missing or invalid."""


class NamedPerson(NamedTuple):
    """The person whom a command names."""

    person: Person
    is_bot: bool


class PressedMessage(NamedTuple):
    id: str
    is_ephemeral: bool
    components: object

    def has_button(self, custom_id: str) -> bool:
        """Return whether the message has this button. Discord sends the message, so no client can forge a button."""
        return custom_id in _custom_ids(self.components)


@dataclass(frozen=True, slots=True)
class Interaction:
    """A command, press, autocompletion or form.

    ``place`` is its channel, even if its message is ephemeral. ``ephemeral`` is the place that only this person sees in
    the channel; empty in the private chat. ``server_name`` is empty if the bot is not a member. ``permissions`` are the
    bot's in the channel. ``is_admin`` says whether the person manages the server; None outside servers. ``message`` has
    the pressed button, or the button that opened the form; None for a command.
    """

    kind: int
    token: InteractionToken
    person: Person
    place: str
    ephemeral: str
    server_name: str
    in_server: bool
    in_thread: bool
    permissions: Permissions
    is_admin: bool | None
    message: PressedMessage | None
    data: Fields

    @property
    def key(self) -> str:
        return f"dc{self.token.interaction}"

    def command(
        self,
        word: str,
        arguments: Iterable[str] = (),
        named: NamedPerson | None = None,
        answers: FormAnswers | None = None,
    ) -> Command:
        """Return a slash command or menu command as the card room reads it. ``answers`` are those of its form."""
        return Command(
            key=self.key,
            person=self.person,
            place=self.place,
            word=word,
            words=tuple(filter(None, arguments)),
            about=(named.person,) if named else (),
            ephemeral=self.ephemeral,
            chat_name=self.server_name,
            can_show_form=answers is None,
            answers=answers,
        )

    def press(self, answers: FormAnswers | None = None) -> Press | None:
        """Return the press, or None if the bot did not make the button. Raises Unreadable without a button.

        ``answers`` are those of the form that the button opened. With them, the place is the channel, even if the
        button's message is ephemeral.
        """
        custom_id = self.data.get("custom_id")
        if not isinstance(custom_id, str) or not custom_id:
            raise Unreadable("a press without a button")
        match = CUSTOM_ID.fullmatch(custom_id)
        if self.message is None or match is None:
            return None
        return Press(
            key=self.key,
            person=self.person,
            place=(self.message.is_ephemeral and answers is None and self.ephemeral) or self.place,
            message=self.message.id,
            payload=match["payload"],
            ephemeral=self.ephemeral,
            genuine=self.message.has_button(custom_id),
            is_admin=self.is_admin,
            can_show_form=answers is None,
            answers=answers,
        )


def read_interaction(event: object, find_server: Callable[[int], str | None]) -> Interaction:
    """Read the gateway's event. Raises Unreadable.

    ``find_server`` returns the name of a server by its id, or None if the bot is not a member.
    """
    if not isinstance(event, dict):
        raise Unreadable("no object")
    token, member, server = read_token(event), fields_of(event.get("member")), event.get("guild_id")
    user = fields_of(member.get("user")) or fields_of(event.get("user"))
    channel = read_id(event.get("channel_id"))
    is_private = server is None and event.get("context") == PRIVATE_CONTEXT
    if not is_private and not channel:
        raise Unreadable("no channel")
    if server is not None and not read_id(server):
        raise Unreadable("a server without an id")
    person = read_person(user, member, read_locale(event))
    number = person.id.partition(":")[2]
    name = find_server(int(server)) if server is not None else None
    if is_private:
        place, ephemeral = Place(PLATFORM, person=number), ""
    else:
        place = Place(PLATFORM, f"{GUEST}{channel}") if name is None else Place(PLATFORM, read_id(server), channel)
        ephemeral = str(Place(PLATFORM, channel, person=number, token=str(token)))
    is_admin = None
    if server is not None:
        # The member's permissions in the channel: docs.discord.com/developers/resources/guild#guild-member-object
        granted = Permissions(_flags(member.get("permissions")))
        is_admin = granted.manage_guild or granted.administrator
    if type(kind := event.get("type")) is not int:
        raise Unreadable("no type")
    return Interaction(
        kind=kind,
        token=token,
        person=person,
        place=str(place),
        ephemeral=ephemeral,
        server_name=name or "",
        in_server=name is not None,
        in_thread=fields_of(event.get("channel")).get("type") in THREADS,
        permissions=Permissions(_flags(event.get("app_permissions"))),
        is_admin=is_admin,
        message=_read_message(event.get("message")),
        data=fields_of(event.get("data")),
    )


def read_token(event: Fields) -> InteractionToken:
    """Return an event's token, with which it can be answered. Raises Unreadable."""
    number, token = read_id(event.get("id")), event.get("token")
    if not number or not isinstance(token, str) or not token.isascii():
        raise Unreadable("no id or no token")
    return InteractionToken(number, token, int(time.time()))


def read_locale(event: Fields) -> str:
    """Return the locale of the person's client, which can be any text."""
    return str(event.get("locale"))


def read_person(user: Fields, member: Fields, language: str = "") -> Person:
    """Return a user, under their name in the server if ``member`` has one. Raises Unreadable without an id."""
    number = read_id(user.get("id"))
    if not number:
        raise Unreadable("a person without an id")
    handle = str(user.get("username") or "")
    name = str(member.get("nick") or user.get("global_name") or handle)
    return Person(f"{PLATFORM}:{number}", name, handle, language)


def read_named_person(data: Fields, number: object) -> NamedPerson:
    """Return the user with this id among a command's resolved users. Raises Unreadable."""
    resolved = fields_of(data.get("resolved"))
    user = fields_of(fields_of(resolved.get("users")).get(str(number)))
    if not read_id(number) or read_id(user.get("id")) != read_id(number):
        raise Unreadable("Discord does not say who the named person is")
    member = fields_of(fields_of(resolved.get("members")).get(str(number)))
    return NamedPerson(read_person(user, member), user.get("bot") is True)


def _read_message(message: object) -> PressedMessage | None:
    if not isinstance(message, dict):
        return None
    if not (number := read_id(message.get("id"))):
        raise Unreadable("a message without an id")
    return PressedMessage(number, bool(_flags(message.get("flags")) & EPHEMERAL), message.get("components"))


def _custom_ids(components: object) -> Iterator[object]:
    """Yield the custom ids of a message's buttons."""
    for component in components if isinstance(components, list) else ():
        if isinstance(component, dict):
            yield component.get("custom_id")
            yield from _custom_ids(component.get("components"))


def read_id(value: object) -> str:
    """Return an id as text; empty for any other value."""
    text = str(value) if type(value) is int else value
    return text if isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) <= LONGEST_ID else ""


def _flags(value: object) -> int:
    """Return a set of flags, which Discord sends as a number or as text; 0 for any other value."""
    return int(read_id(value) or 0)


def fields_of(value: object) -> Fields:
    """Return a JSON object; empty for any other value."""
    return value if isinstance(value, dict) else {}
