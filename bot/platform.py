"""What a chat platform is to the bot: what comes in from it, what can be sent to it, and how that may fail.

An adapter translates and does nothing else. It hands commands and presses to the card room (`bot.card_room`). Delivery
calls the `Adapter` to send, edit and delete messages. People are ``platform:id``. Places are text, which
`bot.places.Place` reads and writes. Some platforms can show one person something in a group that nobody else there
sees: such a place is *ephemeral*. The token in it lets the bot speak there for a while, and is the adapter's own.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, Protocol

from bot.addresses import Visitor
from bot.panel import Panel
from bot.places import Place


class Person(NamedTuple):
    """Somebody on a platform: ``id`` is ``platform:id``, ``handle`` what they are called by with an @, without it.

    Somebody of whom only the handle is known has an empty ``id``. ``language`` is what their client speaks.
    """

    id: str
    name: str
    handle: str = ""
    language: str = ""


@dataclass(frozen=True)
class Command:
    """A command typed in a chat. ``key`` is the same when the platform delivers it twice, and at most 24 characters.

    ``word`` stands without its slash, in lower case; ``words`` are what followed. ``about`` are the people it was a
    reply to or named with an @. ``ephemeral`` is as with a press. ``chat_name`` is what the group is called, empty in
    private and where the platform does not tell.
    """

    key: str
    person: Person
    place: str
    word: str
    words: tuple[str, ...] = ()
    about: tuple[Person, ...] = ()
    ephemeral: str = ""
    chat_name: str = ""


@dataclass(frozen=True)
class Press:
    """A press of a button on a message of the bot's, in a place.

    ``ephemeral`` is the place where the presser can be shown from now on what nobody else there sees, for as long as
    the platform allows; empty if it cannot. ``genuine`` is whether the platform itself says that the message carries
    this very button: anybody can make up a payload, and then the message is not to be touched. ``message`` is empty for
    a press on a page of ours by somebody of a chat: their place is the private chat, and no message was pressed.
    ``is_admin`` is whether the presser administers the group; None if the platform does not tell that with the press.
    ``visitor`` is from where a guest of the web pages presses.
    """

    key: str
    person: Person
    place: str
    message: str
    payload: str
    ephemeral: str = ""
    genuine: bool = False
    is_admin: bool | None = None
    visitor: Visitor | None = None


class File(NamedTuple):
    """A file for one person: JSON, in UTF-8. ``name`` is plain ASCII, without spaces."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Reply:
    """What the card room answers at once.

    ``toast`` is a short word that only the person sees, ``panel`` a message: new for a command, in place of the
    pressed one for a press. ``private`` panels are for the person alone: in the private chat if the platform has no
    better way. A toast beside one says that it is there; who shows a press's where it was pressed leaves that out.
    ``optional`` is for platforms that want every command answered: the others say nothing. A ``file`` comes with a
    private panel. Neither is shown to anybody else: where its person cannot be reached alone it is not shown at all,
    but for a panel that ``is_to_pass_on``.
    ``start_word`` is given where a presser needs their private chat, and nothing else leads them there: unless they
    have one it is to be opened, with that word. ``has_private_chat`` is whether they ever had; where a platform can
    open none, the ``toast`` says it.
    """

    toast: str = ""
    panel: Panel | None = None
    private: bool = False
    optional: bool = False
    file: File | None = None
    is_to_pass_on: bool = False
    start_word: str = ""
    has_private_chat: bool = False


class SentMessage(NamedTuple):
    """A message of the bot's that stands in a place: ``message`` is what it is called.

    ``picture`` is what the adapter has to know of its picture when it edits the message, in words of its own: short,
    without tabs, and empty if there is none. It is kept in the store, and may be empty as well where that was lost.
    ``is_certain`` is whether it stands there for certain: the last edit may have come to nothing, or not have been
    written down any more. An adapter says ``is_settled`` of what it sent or edited: False if an upload that it gave up
    may come over it. Then it is edited once more a little later.
    """

    message: str
    picture: str = ""
    is_certain: bool = True
    is_settled: bool = True


class RateLimit(NamedTuple):
    """How often messages may go to one place: ``burst`` at once, then one every ``interval`` seconds. One that
    ``is_of_chat`` counts what goes to all parts of a group's chat.
    """

    burst: int = 1
    interval: float = 0.0
    is_of_chat: bool = False


class Adapter(Protocol):
    """One platform. Each of the three ways to speak raises a `DeliveryError` that says what came of it."""

    platform: str

    @property
    def has_ephemeral(self) -> bool:
        """Whether people can be shown ephemeral messages, as far as is known."""

    @property
    def shows_pictures(self) -> bool:
        """Whether messages can bring a picture. Then panels come with one, or without where none could be had."""

    @property
    def pages_url(self) -> str:
        """Where our pages are for people of this platform, without a slash at the end; empty if they cannot be reached
        from there. Then there are no buttons of the kind "link".
        """

    async def start(self) -> None:
        """Get ready to be spoken to, before the first `serve`; what is missing is a `BadSetting` that says what to do.

        After any other error it is called again. Whoever is spoken to before it returned raises `NotDone`.
        """

    async def close(self) -> None:
        """Give back what it holds; nothing is sent any more."""

    async def serve(self) -> None:
        """Take part until cancelled. Presses in hand are answered before it returns.

        Whatever it raises, it is called again: after a `BadSetting`, which the host has to mend, in some minutes, and
        after anything else in a moment. A `DeliveryError` is no surprise; other errors are logged with a traceback.
        """

    @property
    def healthy(self) -> bool:
        """Whether the platform can be spoken to, as far as is known."""

    def rate_limit(self, place: str) -> RateLimit | None:
        """How fast a place may be written to; None if what goes there just now counts towards no limit."""

    def overall_rate_limit(self) -> RateLimit:
        """How fast this worker may write to all places together."""

    def invitation_url(self, code: str, place: str, message: str) -> str:
        """An address that leads people who know the platform to the table ``code``, whose challenge a message shows;
        empty if there is none, or a button of the kind "join" does it.
        """

    def has_admins(self, place: str) -> bool:
        """Return whether the platform tells who administers the group at this place."""

    async def is_admin(self, place: str, person: str) -> bool:
        """Return whether a person administers a group that `has_admins`; a `DeliveryError` if that is not known now."""

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        """Send a panel; returns the message as it stands there then.

        A ``silent`` one takes the place of a message that could not be edited, and should ring nobody's phone.
        A second send with the same ``key`` is the same message, where the platform can tell. `NoPicture` where the
        picture cannot be had there now, or not soon; a text that can do without it may also go without.
        """

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        """Show another panel in a message's place, text and picture at once; returns the message as it stands then.

        A message that shows the panel already is well. `NotEditable` where a message cannot become this one, such as
        one with a picture where it had none; `NoPicture` as in `send`.
        """

    async def delete(self, place: str, message: str) -> None:
        """Take a message away; one that is gone already is well."""


class Suggestion(NamedTuple):
    """Something that an argument may be: ``value`` is what stands behind the command, ``label`` how it reads."""

    value: str
    label: str


class Offer(NamedTuple):
    """Something that a person may send into any chat, also where the bot is not: ``id`` tells it from the others, and
    has 64 bytes at most. A press on the ``panel`` comes from an inline place, which from then on shows the table.
    """

    id: str
    title: str
    description: str
    panel: Panel


class OfferList(NamedTuple):
    """What somebody may send, the likeliest first. ``start`` is for who has no private chat with the bot yet: the label
    of a button that leads there; empty for everybody else.
    """

    offers: list[Offer]
    start: str = ""


ADAPTER_GROUP = "buongioco.adapters"
"""The group of entry points that name adapters."""


class DeliveryError(Exception):
    """A message did not go through."""


class MessageGone(DeliveryError):
    """The message to edit is no longer there, or can no longer be edited: a new one is needed."""


class NotEditable(DeliveryError):
    """The message cannot become what it is to be; a new one is sent, and then this one is taken away."""


class NoPicture(DeliveryError):
    """The picture cannot be shown there, or not soon enough: the text is to go by itself.

    ``late`` is there if a message with the picture may stand there all the same, some time later: then it comes to be
    what that is called, empty if there is none, and whoever is told has that message deleted. It raises nothing.
    """

    def __init__(self, why: str, late: asyncio.Future[str] | None = None) -> None:
        super().__init__(why)
        self.late = late


class Unreachable(DeliveryError):
    """The person has not opened a private chat with the bot, or has closed it; or nothing ephemeral can be shown."""


class ChatGone(DeliveryError):
    """The chat is no more, or the bot may not write there."""


class TooLong(DeliveryError):
    """The text is longer than the platform takes; ``longest`` in UTF-16 units."""

    def __init__(self, longest: int) -> None:
        super().__init__(longest)
        self.longest = longest


SHORTEST_WAIT, LONGEST_WAIT = 0.5, 3600.0
"""Seconds between which a wait is believed that a platform asks for."""


class SlowDown(DeliveryError):
    """The platform asks to wait so many ``seconds``: what it said, but at least the shortest wait, and at most the
    longest. What is no number is the shortest.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = SHORTEST_WAIT if math.isnan(seconds) else max(SHORTEST_WAIT, min(seconds, LONGEST_WAIT))


class PlatformFailure(DeliveryError):
    """The platform did not answer or answered nonsense; the message may have arrived."""


class NotDelivered(PlatformFailure):
    """The platform cannot be reached, or refuses for now; what was asked for has not been done."""


class MessageRefused(NotDelivered):
    """The platform is there, and does not take this very message, for a reason that the adapter does not know."""


PSEUDONYM_PLATFORM = "somebody"
"""The platform of those whom no platform knows any more (`bot.pseudonyms`): no adapter has this name."""


def is_retryable(error: DeliveryError) -> bool:
    """Whether a message has certainly not arrived, and the same may go through later."""
    return isinstance(error, NotDelivered | SlowDown) and not isinstance(error, MessageRefused)


def platform_of(id: str) -> str:  # noqa: A002
    """The platform of a person or place."""
    return id.partition(":")[0]


@lru_cache(maxsize=20_000)
def private_place(person: str) -> str:
    """A person's private chat with the bot."""
    platform, _, id = person.partition(":")  # noqa: A001
    return str(Place(platform, person=id))


@lru_cache(maxsize=10_000)
def chat_of(place: str) -> str:
    """The chat of a place; a forum's topics and a server's channels are one chat."""
    return str(replace(Place.parse(place), part="", token=""))


def person_of(place: str) -> str:
    """Whose private chat or ephemeral place it is."""
    where = Place.parse(place)
    return f"{where.platform}:{where.person}"


@lru_cache(maxsize=10_000)
def is_private(place: str) -> bool:
    """Whether one person alone sees what stands there."""
    return Place.parse(place).is_private


@lru_cache(maxsize=10_000)
def is_ephemeral(place: str) -> bool:
    """Whether a place is in a group, and one person alone sees what stands there."""
    return Place.parse(place).is_ephemeral


@lru_cache(maxsize=10_000)
def is_inline(place: str) -> bool:
    """Whether a place is one message in a chat that the bot is not in."""
    return Place.parse(place).is_inline


@lru_cache(maxsize=10_000)
def can_write_anytime(place: str) -> bool:
    """Whether the bot can write there at any time, unasked: not in chats that it is not in, nor at ephemeral places."""
    where = Place.parse(place)
    return not (where.is_inline or where.is_guest or where.is_ephemeral)


def is_same_place(one: str, other: str) -> bool:
    """Whether two places are one; an ephemeral one stays the same with another token."""
    return one == other or replace(Place.parse(one), token="") == replace(Place.parse(other), token="")
