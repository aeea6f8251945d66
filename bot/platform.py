"""The interface of chat platforms: incoming events, outgoing messages, and errors.

An adapter only translates. It passes commands and presses to the card room (`bot.card_room`). Delivery calls the
`Adapter` to send, edit and delete messages. People are ``platform:id``. Places are text, which `bot.places.Place`
parses. Some platforms can show a message in a group to one person only: such a place is *ephemeral*. Its token lets the
bot write there for a while, and only the adapter uses it.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, Protocol, runtime_checkable

from bot.form import Form, FormAnswers
from bot.http.addresses import Visitor
from bot.panel import Panel
from bot.places import Place
from bot.rate_limiter import RateLimit


class Person(NamedTuple):
    """A person on a platform: ``id`` is ``platform:id``, ``handle`` is their @name without the @.

    ``id`` is empty if only the handle is known. ``language`` is their client's.
    """

    id: str
    name: str
    handle: str = ""
    language: str = ""


@dataclass(frozen=True)
class Command:
    """A command typed in a chat.

    ``key`` identifies it if the platform delivers it twice; at most 24 characters. ``word`` is in lower case without
    the slash, and ``words`` follow it. ``about`` are the people it mentions or replies to. ``ephemeral`` is as for a
    press. ``chat_name`` is the group's name; empty in private or if unknown. ``can_show_form``: the reply can be a
    form. ``answers`` are those of the form that this command opened before.
    """

    key: str
    person: Person
    place: str
    word: str
    words: tuple[str, ...] = ()
    about: tuple[Person, ...] = ()
    ephemeral: str = ""
    chat_name: str = ""
    can_show_form: bool = False
    answers: FormAnswers | None = None

    @property
    def wants_form(self) -> bool:
        """True if the reply is a form, for a command with one."""
        return self.can_show_form and not self.words and not self.about


@dataclass(frozen=True)
class Press:
    """A press of a button on one of the bot's messages.

    ``ephemeral`` is a place for ephemeral messages to the presser from now on; empty if unavailable. ``genuine``: the
    platform confirms that the message has this button. Clients can invent other presses, and the message of an invented
    press must not be edited. ``message`` is empty for a platform's user who presses on our pages; then the place is the
    private chat. ``is_admin``: the presser administers the group; None if unknown. ``visitor`` is the address of a
    guest of the web pages. ``can_show_form`` and ``answers`` are as for a command.
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
    can_show_form: bool = False
    answers: FormAnswers | None = None


class File(NamedTuple):
    """A JSON file for one person. ``name`` is ASCII without spaces."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Reply:
    """The immediate answer to a command or press.

    ``toast``: a short text that only the person sees. ``panel``: a new message for a command, or the new content of the
    pressed message. ``private`` panels are for the person alone. They go to the private chat if the platform has no
    better way, and the toast says so. Platforms that show the panel where the person pressed leave out this toast.
    ``is_temporary``: the same press can succeed later. ``optional``: only for platforms that require an answer to every
    command. ``file`` accompanies a private panel. If the person cannot be reached alone, neither is shown, except a
    panel that ``is_forwardable``, such as an invitation. A ``form`` is the whole answer to a command or press that can
    show one.

    ``start_word``: the presser needs a private chat; unless they have one, open it with this word.
    ``has_private_chat``: they have or had one. If the platform cannot open one, the ``toast`` asks for it.
    """

    toast: str = ""
    panel: Panel | None = None
    private: bool = False
    is_temporary: bool = False
    optional: bool = False
    file: File | None = None
    is_forwardable: bool = False
    form: Form | None = None
    start_word: str = ""
    has_private_chat: bool = False


class SentMessage(NamedTuple):
    """A message of the bot.

    ``picture`` is the adapter's note about its picture for edits: short, without tabs. It is empty without a picture,
    or if the stored value was lost. ``is_certain``: it certainly shows the last edit. Otherwise that edit failed or was
    not noted. ``is_settled`` is False if a timed-out upload can still overwrite the message. Then it is edited again a
    little later.
    """

    message: str
    picture: str = ""
    is_certain: bool = True
    is_settled: bool = True


class Adapter(Protocol):
    """A platform. `send`, `edit` and `delete` raise a `DeliveryError` that says what happened."""

    platform: str

    @property
    def has_ephemeral(self) -> bool:
        """True if the platform can show ephemeral messages, as far as is known."""

    @property
    def shows_pictures(self) -> bool:
        """True if messages can have a picture. Then panels come with one if it could be painted."""

    @property
    def has_live_hands(self) -> bool:
        """True if hands in private chats can have cards to tap instead of a picture with buttons."""

    @property
    def plays_here(self) -> bool:
        """True if a "browser" button of any message opens the table inside the platform's app."""

    def draws(self, place: str, panel: Panel) -> bool:
        """Return whether the platform draws the panel's picture at a place itself, without a painted one."""

    @property
    def pages_url(self) -> str:
        """Address of our pages, without a final slash; empty (and no "link" buttons) if users cannot reach them."""

    async def start(self) -> None:
        """Prepare the adapter, before the first `serve`. Raise `BadSetting` with instructions if a setting is missing.

        After any error it is called again, as late as `serve` would be. Before it returns, calls of the other methods
        raise `NotDelivered`.
        """

    async def close(self) -> None:
        """Release resources. Nothing is sent after this."""

    async def serve(self) -> None:
        """Run until cancelled. Finish current presses before returning.

        After any error it is called again: some minutes later for a `BadSetting`, which the host must fix, otherwise
        soon. A `DeliveryError` is expected; other errors are logged with a traceback.
        """

    @property
    def healthy(self) -> bool:
        """True if the platform can be reached, as far as is known."""

    def rate_limit(self, place: str) -> RateLimit | None:
        """Return the rate limit of a place; None if messages there do not count now."""

    def overall_rate_limit(self) -> RateLimit:
        """Return the rate limit of this worker for all places together."""

    def invitation_url(self, code: str, place: str, message: str) -> str:
        """Return a link to the challenge of table ``code``; empty if the platform has no links, or has "join" buttons.

        ``message`` is empty if the challenge has not been sent yet.
        """

    def has_admins(self, place: str) -> bool:
        """Return whether the platform says who administers the group at this place."""

    async def is_admin(self, place: str, person: str) -> bool:
        """Return whether a person administers a group that `has_admins`.

        Raises a `DeliveryError` if that is unknown now.
        """

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        """Send a panel and return the message.

        A ``silent`` message replaces one that could not be edited, and should not ring. A second send with the same
        ``key`` returns the same message, if the platform supports that. Raises `NoPicture` if the picture cannot be
        shown there soon. A text that does not need its picture can be sent without it.
        """

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        """Replace text and picture of a message together; return the message.

        Succeeds if the message shows the panel already. Raises `NotEditable` if the message cannot become this one, for
        example to add a picture, and `NoPicture` as in `send`.
        """

    async def delete(self, place: str, message: str) -> None:
        """Delete a message. Succeeds if it is gone already."""


@runtime_checkable
class TopicAdapter(Protocol):
    """An adapter whose private chats can have a topic for each table. ``has_topics`` is whether they have them now."""

    has_topics: bool

    async def find_topic(self, place: str, code: str, name: str) -> str:
        """Return where in the private chat ``place`` new messages of table ``code`` go: its topic, or the chat itself.

        A topic is created when it is first needed, with this ``name``. Never raises.
        """

    async def close_topic(self, place: str, code: str) -> None:
        """Note that the game of table ``code`` is over. Raises one of `bot.store.STORE_ERRORS`."""


class Suggestion(NamedTuple):
    """A completion for an argument: ``value`` goes into the command, ``label`` is shown."""

    value: str
    label: str


class Offer(NamedTuple):
    """A message for any chat, also without the bot. ``id`` has up to 64 bytes. A press on it shows the table there."""

    id: str
    title: str
    description: str
    panel: Panel


class OfferList(NamedTuple):
    """Offers for a person, likeliest first. ``start`` labels a button to the private chat, if they have none."""

    offers: list[Offer]
    start: str = ""


ADAPTER_GROUP = "buongioco.adapters"  # entry point group of adapters


class DeliveryError(Exception):
    """A message could not be delivered."""


class MessageGone(DeliveryError):
    """The message no longer exists or can no longer be edited, so a new one is needed."""


class NotEditable(DeliveryError):
    """The message cannot show the new content. A new one is sent, and then this one is deleted."""


class NoPicture(DeliveryError):
    """The picture cannot be shown there, or not soon enough, so the text is sent without it.

    ``late`` is set if a message with the picture can still arrive later. Its result is that message's id, empty if none
    arrives; it never raises. The caller deletes the message.
    """

    def __init__(self, reason: str, late_message: asyncio.Future[str] | None = None) -> None:
        super().__init__(reason)
        self.late = late_message


class NotDrawn(DeliveryError):
    """The platform does not draw the picture after all, and `Adapter.draws` is False from now on.

    Nothing was sent. The next attempt has a painted picture.
    """


class Unreachable(DeliveryError):
    """The person has no private chat with the bot or closed it, or ephemeral messages are not possible."""


class ChatGone(DeliveryError):
    """The chat no longer exists, or the bot cannot write there."""


class TooLong(DeliveryError):
    """The text exceeds the platform's limit; ``longest`` is in UTF-16 units."""

    def __init__(self, max_length: int) -> None:
        super().__init__(max_length)
        self.longest = max_length


SHORTEST_WAIT, LONGEST_WAIT = 0.5, 3600.0  # limits of a wait that a platform requests, in seconds


class SlowDown(DeliveryError):
    """The platform asks to wait. ``seconds`` is clamped to the limits; NaN becomes the shortest wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = SHORTEST_WAIT if math.isnan(seconds) else max(SHORTEST_WAIT, min(seconds, LONGEST_WAIT))


class PlatformFailure(DeliveryError):
    """The platform did not answer or sent nonsense; the message could have arrived."""


class NotDelivered(PlatformFailure):
    """The platform cannot be reached or refuses for now. The request had no effect."""


class MessageRefused(NotDelivered):
    """The platform is up and refuses this message for a reason that the adapter does not know."""


PSEUDONYM_PLATFORM = "somebody"  # the platform of pseudonyms (`bot.identity.pseudonyms`). No adapter has this name.


def is_retryable(error: DeliveryError) -> bool:
    """Return whether a message has certainly not arrived but could be sent unchanged later."""
    return isinstance(error, NotDelivered | SlowDown) and not isinstance(error, MessageRefused)


def platform_of(id: str) -> str:
    return id.partition(":")[0]


@lru_cache(maxsize=20_000)
def private_place(person: str) -> str:
    platform, _, id = person.partition(":")
    return str(Place(platform, person=id))


@lru_cache(maxsize=10_000)
def chat_of(place: str) -> str:
    """Return the chat of a place. A forum's topics and a server's channels are one chat."""
    return str(replace(Place.parse(place), part="", token=""))


def group_of(place: str) -> str:
    """Return the group around an ephemeral place, and any other place unchanged."""
    place_ = Place.parse(place)
    return str(replace(place_, person="", token="")) if place_.is_ephemeral else place


def person_of(place: str) -> str:
    """Return the only viewer of a private or ephemeral place."""
    place_ = Place.parse(place)
    return f"{place_.platform}:{place_.person}"


@lru_cache(maxsize=10_000)
def is_private(place: str) -> bool:
    return Place.parse(place).is_private


@lru_cache(maxsize=10_000)
def is_ephemeral(place: str) -> bool:
    return Place.parse(place).is_ephemeral


@lru_cache(maxsize=10_000)
def is_inline(place: str) -> bool:
    return Place.parse(place).is_inline


@lru_cache(maxsize=10_000)
def can_write_anytime(place: str) -> bool:
    """Return whether the bot can write there at any time. Chats without the bot and ephemeral places are excluded."""
    place_ = Place.parse(place)
    return not (place_.is_inline or place_.is_guest or place_.is_ephemeral)


def is_same_place(place: str, other: str) -> bool:
    """Return whether two places are the same, ignoring tokens."""
    return place == other or replace(Place.parse(place), token="") == replace(Place.parse(other), token="")
