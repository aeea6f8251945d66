"""The HTML of a hand's widget: one document for all games, whose state comes as data.

Limits: core.telegram.org/bots/api/methods/sendwidget.
"""

import re
import zlib
from functools import cache
from importlib.resources import files
from string import Template

LONGEST_HTML, LONGEST_COMPRESSED = 32_768, 4_096  # bytes, the second after zlib at its highest level


@cache
def hand_document() -> str:
    """Return the HTML, which is the same in all languages."""
    parts = {part: _shorten(_read_file(f"hand.{part}")) for part in ("css", "js")}
    return _shorten(Template(_read_file("hand.html")).substitute(parts))


def compressed_size(html: str) -> int:
    """Return the size that Telegram limits, in bytes."""
    return len(zlib.compress(html.encode(), 9))


def _read_file(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")


def _shorten(source: str) -> str:
    """Leave out comments of whole lines, indentation and empty lines."""
    lines = (line.strip() for line in source.splitlines())
    return "\n".join(line for line in lines if line and not re.match(r"//|/\*.*\*/$", line))
