"""Apps of chat platforms that open our pages in their own window and say who the user is."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol, runtime_checkable

from bot.platform import Person


class InvalidLaunch(Exception):
    """The launch data is not from the platform, or is too old."""


class Launch(NamedTuple):
    """A person who opened our pages in an app.

    ``code`` is the table, and ``place`` the chat, where they opened it. ``page`` is the page that their link names,
    such as ``/learn``. Each is empty if the platform does not say.
    """

    person: Person
    code: str = ""
    place: str = ""
    page: str = ""


class MiniApp(Protocol):
    """A platform's app.

    ``frame_origins`` are the platform's origins whose pages show ours in a frame.
    """

    frame_origins: tuple[str, ...]

    @property
    def page_origin(self) -> str:
        """The origin under which the platform's proxy shows our pages; empty without a proxy."""

    def page_data(self, query: Mapping[str, str]) -> dict[str, str]:
        """Return what the script of the launch page needs. ``query`` is the page's."""

    async def verify_launch(self, launch_data: str) -> Launch:
        """Return who opened the app, and where.

        Raises InvalidLaunch if the data is forged or too old, and PlatformFailure if the platform cannot be asked.
        """


@runtime_checkable
class PreparesMessages(Protocol):
    """An app that lets people send a message from a page to a chat of their choice."""

    async def prepare_message(self, person: Person, text: str, page: str) -> str:
        """Prepare a message for the person to send: a text, and a button to a page such as ``/learn``. Return its id.

        Raises `DeliveryError`.
        """


@runtime_checkable
class HasMiniApp(Protocol):
    """The adapter of a platform that can have an app. ``mini_app`` is None if the host has not turned it on."""

    mini_app: MiniApp | None
