"""Panels' texts as Discord's Markdown. Names are escaped."""

import re
from collections.abc import Callable

from bot.panel import Panel, Span, utf16_length

MENTIONS = ("mention", "call", "quiet")
MARKS = {"bold": "**", "italic": "_", "code": "`"}
SMALL = "-# "  # starts each line of small print
APOSTROPHE = "'"
# Characters that Markdown can interpret, including mentions and links. A full stop after a number makes a list.
SPECIAL = re.compile(r"[\\*_~`|<\[\]@]|:(?=//)|^[-+#>]|(?<=\d)\.(?=\s)", re.MULTILINE)
# Faster checks: a text without a match of either, and without a link, needs no escapes.
MAYBE_SPECIAL = re.compile(r"[\\*_~`|<\[\]@\-+#>]")
NUMBERED_ITEM = re.compile(r"\d\.")


def escape(text: str) -> str:
    """Escape Markdown, so that the text appears as written."""
    return SPECIAL.sub(r"\\\g<0>", text) if _may_be_special(text) else text


def _may_be_special(text: str) -> bool:
    """Return whether Markdown could interpret any part of the text."""
    return bool(MAYBE_SPECIAL.search(text) or "://" in text or ("." in text and NUMBERED_ITEM.search(text)))


def cut_markdown(panel: Panel, longest: int, *, folds: bool) -> str:
    """Return the text as Markdown, cut to ``longest`` UTF-16 units including its marks and escapes."""
    text = markdown(panel, folds=folds)
    if 2 * len(text) >= longest:
        room = utf16_length(panel.plain)
        while utf16_length(text) > longest:
            room = min(room - 1, room * longest // utf16_length(text))
            text = markdown(panel.cut(room), folds=folds)
    # Discord refuses an empty text, so it gets a zero-width space.
    return text if text.strip() else "\u200b"


def markdown(panel: Panel, *, folds: bool = False) -> str:
    """Return the text with Markdown styles.

    Adjacent spans of the same style are joined, because their marks would cancel each other out. With ``folds`` the
    part after the panel's fold becomes small print, because Discord cannot fold text.
    """
    if folds and panel.fold is not None:
        folded_text = "".join(span.text for span in panel.text[panel.fold :])
        return markdown(Panel(panel.text[: panel.fold])) + _apply_style(folded_text, "small", escape)
    # Few panels need escapes, and one check of the whole text is faster than one per span.
    escape_text = escape if _may_be_special(panel.plain) else str
    parts: list[str] = []
    run, style = "", ""  # adjacent texts of one style
    for span in panel.text:
        if span.style != style:
            if run:
                parts.append(_apply_style(run, style, escape_text))
            run, style = "", span.style
        if style in MENTIONS and (number := user_id(span)):
            parts.append(f"<@{number}>")
        else:
            run += span.text
    parts.append(_apply_style(run, style, escape_text))
    return "".join(parts)


def _apply_style(text: str, style: str, escape: Callable[[str], str]) -> str:
    if style == "small":
        return "".join(f"{SMALL}{escape(line)}" if line.strip() else line for line in text.splitlines(keepends=True))
    mark, inside = MARKS.get(style), text.strip()
    if mark is None or not inside:
        return escape(text)
    before, _, after = text.partition(inside)
    return f"{before}{mark}{inside.replace('`', APOSTROPHE) if style == 'code' else escape(inside)}{mark}{after}"


def user_id(span: Span) -> str:
    """Return a Discord person's number, or "" for people on other platforms, who cannot be notified."""
    platform, _, number = span.person.partition(":")
    return number if platform == "discord" and number.isdecimal() else ""
