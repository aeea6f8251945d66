"""A panel: what one message shows, before a platform has given it its own form.

Text is spans, not markup, so that a name can hold any character and means none of it: how bold is written, and what
must be escaped, is each adapter's own business.
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

from bot.picture import Picture

LONGEST_PAYLOAD = 64
"""Bytes that every platform lets a button carry."""

Style = Literal["", "bold", "italic", "code", "mention", "call", "quiet", "small"]


class Span(NamedTuple):
    """A piece of text. A mention's ``person`` is who is meant (``platform:id``), ``text`` what is read.

    "small" is for whole lines that few will read: a platform shows them small, or folds them up. A "call" is a mention
    that should ring with a new message, where a platform lets the two be told apart. A "quiet" one must not ring, and
    looks like the others where a platform can do that.
    """

    text: str
    style: Style = ""
    person: str = ""


class Role(StrEnum):
    """What a button is for. Pages choose its place by it; messages show all roles alike."""

    NONE = ""
    SIT = "sit"
    """Takes or declines a chair."""
    INVITE = "invite"
    """Brings others to the table."""
    TERMS = "terms"
    """Changes what is played, or cancels the challenge: for the player who opened the table."""
    PLAY = "play"
    """Plays a card."""
    CHOOSE = "choose"
    """Chooses a part of a move."""
    PICK = "pick"
    """Picks up an honour."""
    MOVE = "move"
    """Makes any other move."""
    CLAIM = "claim"
    """Claims the game."""
    RESIGN = "resign"
    HINT = "hint"
    REMATCH = "rematch"


class Button(NamedTuple):
    """Something to press.

    ``kind`` "press" sends ``payload`` back. "private" leads the presser to the private chat with the bot and has it
    bring up what ``payload``, a table's code, stands for; each platform does that in its own way. "aside" is a press
    that asks for something to be shown to the presser alone: a platform that cannot do so leaves the button out. "join"
    is a link that seats whoever opens it at the table ``payload``, wherever the message is passed on to: it leads to
    the private chat, with what `bot.actions.join_word` says. "share" lets the presser choose a chat and send an offer
    there (`bot.platform.Offer`), beginning with ``payload`` as what they have typed. "link" opens a page of ours, at
    the address ``payload``, where they can be reached (`Adapter.pages_url`). "browser" is a press that asks for a
    link of the presser's own to the table's page. "group" lets the presser choose a
    group of theirs, into which the bot comes and shows the table ``payload``. A platform without such links, or without
    offers, leaves it out.

    ``about`` is the card (``3D``) or the packets (``4``, ``1 5``) for which a page needs no button.
    """

    label: str
    payload: str
    style: Literal["", "good", "danger"] = ""
    kind: Literal["press", "private", "aside", "join", "share", "group", "link", "browser"] = "press"
    role: Role = Role.NONE
    about: str = ""


SHOWN_FIELDS = 4
"""Fields of a button that a message shows. Stored digests cover these and no others."""

Row = tuple[Button, ...]


def choice_button(label: str, is_chosen: bool, payload: str) -> Button:
    """A button for one of several choices, marked if it is the one."""
    return Button(f"{'• ' if is_chosen else ''}{label}", payload)


@dataclass(frozen=True)
class Panel:
    """Text, and rows of buttons that belong together; an adapter may break a row that is too long for it.

    The text says all that the ``picture`` shows: where it cannot be had or shown, nothing is missing. An adapter is
    given it painted, or none. The spans from ``fold`` on say what the picture shows, or what can wait: beside a picture
    a platform folds them up, or shows them small, so that picture and buttons fit on a phone's screen.
    """

    text: tuple[Span, ...]
    rows: tuple[Row, ...] = field(default=())
    picture: Picture | None = None
    fold: int | None = None

    @cached_property
    def digest(self) -> str:
        """Tells this panel from another one: 12 hex digits. It covers what messages show, so no roles."""
        buttons = [button[:SHOWN_FIELDS] for button in chain.from_iterable(self.rows)]
        flat = (*chain.from_iterable(self.text), *chain.from_iterable(buttons), *map(str, map(len, self.rows)))
        if self.picture:
            flat = (*flat, self.picture.subject.digest, self.picture.alt, str(self.fold))
        return blake2b("\0".join(flat).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()

    @property
    def plain(self) -> str:
        """The text as it reads."""
        return "".join([span.text for span in self.text])

    @property
    def beside_picture(self) -> Panel:
        """The panel as it stands beside its picture: without an empty line before what folds up."""
        if not self.fold or self.fold >= len(self.text):
            return self
        open_ = list(self.text[: self.fold])
        while len(open_) > 1 and not open_[-1].text.strip("\n"):
            open_.pop()
        open_[-1] = open_[-1]._replace(text=open_[-1].text.rstrip("\n") + "\n")
        return replace(self, text=(*open_, *self.text[self.fold :]), fold=len(open_))

    def cut(self, longest: int) -> Panel:
        """The panel with its text cut to so many UTF-16 units, which is how platforms count; all else stays."""
        left, spans = max(0, longest - 1), []
        for span in self.text:
            text = span.text
            while utf16_length(text) > left:
                text = text[: max(0, len(text) - max(1, (utf16_length(text) - left) // 2))]
            spans.append(span._replace(text=text))
            left -= utf16_length(text)
            if text != span.text:
                fold = self.fold if self.fold is None or self.fold < len(spans) else None
                return replace(self, text=(*spans, Span("…")), fold=fold)
        return self


def utf16_length(text: str) -> int:
    """The length of a text in UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def split_row(row: Row, most_by_length: Sequence[tuple[int, int]]) -> list[Row]:
    """A row as rows of about the same length that are not too long for a phone.

    ``most_by_length`` is how many buttons may stand in a row whose longest label has more than so many characters.
    """
    longest = max([len(button.label) for button in row])
    most = next(count for length, count in most_by_length if longest > length)
    parts = -(-len(row) // most)
    each = -(-len(row) // parts)
    return [row[at : at + each] for at in range(0, len(row), each)]


class Writer:
    """Builds a panel's text line by line. Texts of one style that follow one another are one span."""

    def __init__(self) -> None:
        self._spans: list[Span] = []
        self._run: list[str] = []
        self._style: Style = ""
        self._has_gap = True
        self._fold: int | None = None

    def line(self, template: str = "", style: Style = "", **values: object) -> None:
        """A line, with the gaps of a template filled in by texts or spans."""
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
            # A line's end is no code.
            self._run.append(text)
            self._set_style("")
            text = ""
        self._run.append(f"{text}\n")
        self._has_gap = False

    def _fill(self, template: str, style: Style, values: Mapping[str, object]) -> None:
        """A template's gaps filled in by texts and spans."""
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
        """An empty line, once, and none at the top."""
        if not self._has_gap:
            is_at_fold = self._fold == len(self._spans) and not self._run
            # In no style: not everywhere does Markdown carry one over an empty line.
            if self._style:
                self._set_style("")
            self._run.append("\n")
            self._has_gap = True
            if is_at_fold:
                # What folds up does not begin with an empty line.
                self._set_style("")
                self._fold = len(self._spans)

    def fold(self) -> None:
        """From here on the text says what the picture shows, should there be one; the first time counts."""
        if self._fold is None:
            self._set_style("")
            self._fold = len(self._spans)

    def panel(self, *rows: Row) -> Panel:
        """The panel, without empty lines at its end and without empty rows."""
        self._set_style("")
        spans = self._spans.copy()
        while spans and spans[-1].text.endswith("\n"):
            last = spans.pop()
            if text := last.text.rstrip("\n"):
                spans.append(last._replace(text=text))
        return Panel(tuple(spans), tuple([row for row in rows if row]), fold=self._fold)

    def _write(self, text: str, style: Style) -> None:
        if style != self._style:
            self._set_style(style)
        self._run.append(text)

    def _set_style(self, style: Style) -> None:
        """From here on in this style."""
        if self._run:
            self._spans.append(Span("".join(self._run), self._style))
            self._run = []
        self._style = style


@cache
def _split_template(template: str) -> tuple[tuple[str, str | None], ...]:
    """A template's literal texts, each with the gap behind it."""
    return tuple((literal, name) for literal, name, _spec, _conversion in Formatter().parse(template))
