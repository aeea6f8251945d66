"""What is refused to whoever asks over HTTP or a WebSocket."""

from bot.texts import texts


class Refused(Exception):
    """A request that is refused; the text says why, with ``values`` for its gaps."""

    def __init__(self, why: str, **values: object) -> None:
        super().__init__(why.format(**values) if values else why)
        self.why, self.values = why, values

    def text(self, language: str) -> str:
        """Why, in a language; what only a program reads stays English."""
        why = texts(language).gettext(self.why)
        return why.format(**self.values) if self.values else why
