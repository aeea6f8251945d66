"""Panels: the content of one message, independent of the platform.

Text consists of spans, not markup, so names can contain any character. Each adapter formats and escapes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, cached_property
from hashlib import blake2b
from itertools import chain
from string import Formatter
from typing import Literal, NamedTuple

from bot.notification import Notification
from bot.panel_picture import Picture

LONGEST_PAYLOAD = 64  # bytes that every platform allows in a button

Style = Literal["", "bold", "italic", "code", "mention", "call", "quiet", "small", "host"]


class Span(NamedTuple):
    """A piece of text. ``person`` is the id of a mentioned person (``platform:id``), and ``text`` is what readers see.

    "small" marks whole lines that few people read: platforms show them small or fold them. A "call" is a mention that
    should notify its person, if the platform can. A "quiet" mention looks the same but notifies no one. The host wrote
    a "host" text, so platforms can show its links.
    """

    text: str
    style: Style = ""
    person: str = ""


class Role(StrEnum):
    """The purpose of a button. Pages place buttons by role; messages show all roles alike."""

    NONE = ""
    SIT = "sit"  # takes a seat or declines a challenge
    INVITE = "invite"  # brings others to the table
    RULES = "rules"
    TERMS = "terms"  # changes the game or cancels the challenge, for the player who opened the table
    PLAY = "play"  # plays a card
    CHOOSE = "choose"  # chooses a part of a move
    PICK = "pick"  # picks up an honour
    MOVE = "move"  # any other move
    CLAIM = "claim"  # claims the game
    RESIGN = "resign"
    HINT = "hint"
    STRANGER = "stranger"  # blocks or reports a stranger
    REMATCH = "rematch"
    CUT = "cut"  # cuts the pack; pages add a text of their own to its payload
    SAY = "say"  # opens the phrases for the other players
    PHRASE = "phrase"  # says a phrase, or closes the phrases
    SEAL = "seal"  # shows the whole seal of a pack, which pages show with it


class Button(NamedTuple):
    """A button.

    | ``kind`` | effect |
    |---|---|
    | press | sends ``payload`` back |
    | aside | a press, answered to the presser alone |
    | private | opens the private chat and shows the hand at the table ``payload`` |
    | join | link that seats its opener at the table ``payload``, even if forwarded (`bot.parsing.codes_and_links`) |
    | start | link that opens the private chat with ``payload`` after /start, even if forwarded |
    | share | sends an offer (`bot.platform.Offer`) to a chat, with ``payload`` typed in |
    | group | brings the bot into a group of the presser's, to show the table ``payload`` |
    | link | opens our page at the address ``payload``, if pages can be reached (`Adapter.pages_url`) |
    | browser | asks for a personal link to the table's page |

    Platforms leave out kinds that they do not support.

    ``about`` is the card (``3D``) or the packets (``4``, ``1 5``) on the board that replace the button on a page.
    """

    label: str
    payload: str
    style: Literal["", "good", "danger"] = ""
    kind: Literal["press", "private", "aside", "join", "start", "share", "group", "link", "browser"] = "press"
    role: Role = Role.NONE
    about: str = ""


SHOWN_FIELDS = 4  # fields of a button that a message shows; digests cover only these

Row = tuple[Button, ...]
Text = tuple[Span, ...]


class Heading(NamedTuple):
    text: Text


class Paragraph(NamedTuple):
    text: Text


class Bullets(NamedTuple):
    """A list of texts."""

    items: tuple[Text, ...]


class Column(NamedTuple):
    """The head of a table's column. Figures are aligned to the right."""

    title: str
    is_figure: bool = True


class Grid(NamedTuple):
    """A table of texts, with one cell for each column in each row."""

    columns: tuple[Column, ...]
    rows: tuple[Text, ...]


class Details(NamedTuple):
    """Blocks that readers open by their summary."""

    summary: str
    blocks: tuple[Block, ...]


Block = Heading | Paragraph | Bullets | Grid | Details


def choice_button(label: str, is_chosen: bool, payload: str) -> Button:
    """Return a button for one of several choices, with a mark if it is the current choice."""
    return Button(f"{'• ' if is_chosen else ''}{label}", payload)


@dataclass(frozen=True)
class Panel:
    """Text, and rows of related buttons. An adapter can break a row that is too long.

    The text includes everything that the ``picture`` shows, because pictures are not always available. An adapter gets
    a painted picture or none. The spans from ``fold`` on repeat the picture or are less important. Next to a picture,
    platforms fold them or show them small, so that picture and buttons fit on a phone's screen. ``notification`` is for
    platforms that send notifications separately from messages. The ``document`` says the same with grids, for platforms
    that can show them. It is empty if the text needs none.
    """

    text: Text
    rows: tuple[Row, ...] = field(default=())
    picture: Picture | None = None
    fold: int | None = None
    notification: Notification | None = None
    document: tuple[Block, ...] = ()

    @cached_property
    def digest(self) -> str:
        """A hash of the panel, 12 hex digits. It covers what messages show, so no roles.

        It covers the document, whose grids can say more than the text.
        """
        buttons = [button[:SHOWN_FIELDS] for button in chain.from_iterable(self.rows)]
        parts = (*chain.from_iterable(self.text), *chain.from_iterable(buttons), *map(str, map(len, self.rows)))
        if self.picture:
            parts = (*parts, self.picture.subject.digest, self.picture.alt, str(self.fold))
            parts = (*parts, self.picture.live.look) if self.picture.live else parts
        if self.document:
            parts = (*parts, repr(self.document))
        return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()

    @property
    def plain(self) -> str:
        return "".join([span.text for span in self.text])

    @property
    def beside_picture(self) -> Panel:
        """The panel next to its picture: without an empty line before the fold."""
        if not self.fold or self.fold >= len(self.text):
            return self
        visible = list(self.text[: self.fold])
        while len(visible) > 1 and not visible[-1].text.strip("\n"):
            visible.pop()
        visible[-1] = visible[-1]._replace(text=visible[-1].text.rstrip("\n") + "\n")
        return replace(self, text=(*visible, *self.text[self.fold :]), fold=len(visible))

    def cut(self, max_length: int) -> Panel:
        """Return the panel with its text cut to this many UTF-16 units, and without its document.

        Platforms count in these units.
        """
        remaining, spans = max(0, max_length - 1), []
        for span in self.text:
            text = span.text
            while utf16_length(text) > remaining:
                text = text[: max(0, len(text) - max(1, (utf16_length(text) - remaining) // 2))]
            spans.append(span._replace(text=text))
            remaining -= utf16_length(text)
            if text != span.text:
                fold = self.fold if self.fold is None or self.fold < len(spans) else None
                return replace(self, text=(*spans, Span("…")), fold=fold, document=())
        return self


def utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def split_row(row: Row, limits_by_length: Sequence[tuple[int, int]]) -> list[Row]:
    """Split a row into rows of similar length that fit on a phone.

    ``limits_by_length`` has pairs of a length and a maximum number of buttons. The first pair counts whose length is
    shorter than the longest label.
    """
    longest = max([len(button.label) for button in row])
    per_row = next(count for length, count in limits_by_length if longest > length)
    row_count = -(-len(row) // per_row)
    size = -(-len(row) // row_count)
    return [row[start : start + size] for start in range(0, len(row), size)]


class Writer:
    """Builds a panel's text line by line. Consecutive texts of one style become one span."""

    def __init__(self, title: str = "", **values: object) -> None:
        """A ``title`` becomes the first line, in bold; ``values`` are as in `line`."""
        self._spans: list[Span] = []
        self._run: list[str] = []
        self._style: Style = ""
        self._has_gap = True
        self._fold: int | None = None
        if title:
            self.line(title, "bold", **values)

    def line(self, template: str = "", style: Style = "", **values: object) -> None:
        """Add a line, filling the gaps of a template with texts or spans."""
        text = template
        if values:
            if Span in map(type, values.values()):
                self._fill(template, style, values)
                text = ""
            else:
                text = template.format(**values)
        if text and style != self._style:
            self._set_style(style)
        if self._style == "code":
            # The newline is not part of the code.
            self._run.append(text)
            self._set_style("")
            text = ""
        self._run.append(f"{text}\n")
        self._has_gap = False

    def _fill(self, template: str, style: Style, values: Mapping[str, object]) -> None:
        for literal, name in _split_template(template):
            if literal:
                self._write(literal, style)
            if name is not None:
                value = values[name]
                if type(value) is not Span:
                    self._write(str(value), style)
                elif value.person:
                    self._set_style("")
                    self._spans.append(value)
                else:
                    self._write(value.text, value.style)

    def gap(self) -> None:
        """Add an empty line, unless there is one already or the text is empty."""
        if not self._has_gap:
            is_at_fold = self._fold == len(self._spans) and not self._run
            # An empty line has no style, because some Markdown dialects end a style there.
            if self._style:
                self._set_style("")
            self._run.append("\n")
            self._has_gap = True
            if is_at_fold:
                # The folded part must not begin with an empty line.
                self._set_style("")
                self._fold = len(self._spans)

    def fold(self) -> None:
        """Start the text that repeats the picture. Only the first call counts."""
        if self._fold is None:
            self._set_style("")
            self._fold = len(self._spans)

    def panel(self, *rows: Row) -> Panel:
        self._set_style("")
        spans = self._spans.copy()
        while spans and spans[-1].text.endswith("\n"):
            last_span = spans.pop()
            if text := last_span.text.rstrip("\n"):
                spans.append(last_span._replace(text=text))
        return Panel(tuple(spans), tuple([row for row in rows if row]), fold=self._fold)

    def _write(self, text: str, style: Style) -> None:
        if style != self._style:
            self._set_style(style)
        self._run.append(text)

    def _set_style(self, style: Style) -> None:
        if self._run:
            self._spans.append(Span("".join(self._run), self._style))
            self._run = []
        self._style = style


@cache
def _split_template(template: str) -> tuple[tuple[str, str | None], ...]:
    """Return a template's literal texts, each with the name of the gap after it."""
    return tuple((literal, name) for literal, name, _spec, _conversion in Formatter().parse(template))
