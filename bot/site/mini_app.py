"""Apps of chat platforms that open our pages in their own window and say who the user is."""

from typing import Protocol, runtime_checkable

from bot.platform import Person


class InvalidLaunch(Exception):
    """The launch data is not from the platform, or is too old."""


@runtime_checkable
class MiniApp(Protocol):
    """The adapter of a platform with such an app."""

    platform: str
    frame_origin: str  # the origin of the platform's pages, which show ours in a frame

    def verify_launch(self, launch_data: str) -> Person:
        """Return the user from the app's signed launch data, or raise InvalidLaunch."""
