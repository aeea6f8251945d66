"""Refused requests, over HTTP or a WebSocket."""

from bot.texts import texts


class Refused(Exception):
    """A refused request; ``reason`` is formatted with ``values``."""

    def __init__(self, reason: str, **values: object) -> None:
        super().__init__(reason.format(**values) if values else reason)
        self.reason, self.values = reason, values

    def text(self, language: str) -> str:
        """Return the reason in a language; reasons for programs stay English."""
        reason = texts(language).gettext(self.reason)
        return reason.format(**self.values) if self.values else reason
