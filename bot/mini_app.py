"""Apps of chat platforms that open our pages in a window of their own, and say there whose it is."""

from typing import Protocol, runtime_checkable

from bot.platform import Person


class InvalidLaunch(Exception):
    """What was said to come from such an app does not, or was said too long ago."""


@runtime_checkable
class MiniApp(Protocol):
    """An adapter whose platform has such an app."""

    platform: str

    frame_origin: str
    """The origin of the platform's own pages, which show ours in a frame."""

    def verify_launch(self, said: str) -> Person:
        """Who opened a page, by what the app ``said`` and the platform signed; NotLaunched if that is not good."""
