"""Keeps Telegram from making links and mentions of names, such as ``evil.com`` and ``@someone``.

Telegram finds addresses, mentions, hashtags and commands in every text, also in one with entities. A word joiner inside
stops it: it is invisible, and no part of an address or a word (tdlib/td, ``is_url_unicode_symbol`` and
``match_mentions`` in ``MessageEntity.cpp``). Names cannot be told from other text here, so only a few links are kept:
our pages' addresses, the host's announcements, commands outside of names, and people whom a span names.
"""

import re
from dataclasses import replace

from adapters.telegram.limits import LONGEST_TEXT
from bot.panel import Panel, Span, utf16_length

WORD_JOINER = "\u2060"
MENTION_STYLES = ("mention", "call", "quiet")
HANDLE = re.compile(r"[\u2066-\u2069]*@[A-Za-z0-9_]+[\u2066-\u2069]*")
# After each of these characters, what follows could make a link.
LINK = re.compile(r"\.(?=[^\W\d_])|(?<=\d)\.(?=\d+\.\d)|[@#](?=\w)|\$(?=[A-Za-z])|\b(?:tg|ton):(?=//)", re.IGNORECASE)
COMMAND = re.compile(r"/(?=\w)")
ISOLATED = re.compile(r"\u2068[^\u2069]*\u2069")  # a name, as in `bot.tables.snapshot.isolate_name`


def unlink(text: str, own_url: str = "") -> str:
    """Return a text in which Telegram finds no links except those that begin with our ``own_url``, and commands."""
    parts = re.split(rf"({re.escape(own_url)}(?:/\S*)?)", text) if own_url and own_url in text else [text]
    # Every second part is an address of ours.
    parts[::2] = [LINK.sub(_join, part) for part in parts[::2]]
    return ISOLATED.sub(lambda name: _unlink_name(name[0]), "".join(parts))


def unlink_panel(panel: Panel, own_url: str = "") -> Panel:
    """Return a panel with text in which Telegram finds no links but the wanted ones.

    A text that was not too long for a message is cut if joiners make it too long.
    """
    plain = panel.plain
    if not LINK.search(plain) and "/" not in plain:
        return panel
    unlinked = replace(panel, text=tuple([_unlink_span(span, own_url) for span in panel.text]))
    if utf16_length(plain) <= LONGEST_TEXT < utf16_length(unlinked.plain):
        return replace(unlinked.cut(LONGEST_TEXT), document=panel.document)
    return unlinked


def _unlink_span(span: Span, own_url: str) -> Span:
    if span.style in ("code", "host"):
        return span
    if span.style in MENTION_STYLES:
        is_known_here = not span.person or span.person.startswith("telegram:")
        # A handle stays a mention, or becomes a link (`adapters.telegram.text_entities`).
        return span if is_known_here and HANDLE.fullmatch(span.text) else span._replace(text=_unlink_name(span.text))
    return span._replace(text=unlink(span.text, own_url))


def _unlink_name(name: str) -> str:
    return COMMAND.sub(_join, LINK.sub(_join, name))


def _join(found: re.Match[str]) -> str:
    return found[0] + WORD_JOINER
