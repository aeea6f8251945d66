"""Refused requests, over HTTP or a WebSocket."""

from bot.texts import texts


class Refused(Exception):
    """A refused request; ``why`` is the reason, formatted with ``values``."""

    def __init__(self, why: str, **values: object) -> None:
        super().__init__(why.format(**values) if values else why)
        self.why, self.values = why, values

    def text(self, language: str) -> str:
        """Return the reason in a language; reasons for programs stay English."""
        why = texts(language).gettext(self.why)
        return why.format(**self.values) if self.values else why
