"""Panels' documents as blocks of a rich message, in JSON as the Bot API documents it.

Blocks: core.telegram.org/bots/api#inputrichblock. Limits: core.telegram.org/bots/api#rich-message-limits, which are the
defaults of TDLib's options ``rich_message_text_length_max`` and so on.
"""

from collections.abc import Iterator, Sequence
from typing import Any, assert_never

from adapters.telegram.text_entities import entity_fields
from bot.panel import Block, Bullets, Column, Details, Grid, Heading, Paragraph, Span, Text, utf16_length

LONGEST_RICH_TEXT = 32_768  # characters; we count UTF-16 units, which are at least as many
MAX_BLOCKS = 500  # with nested blocks, items of lists and rows of tables
MAX_COLUMNS = 20
MAX_DEPTH = 16

TITLE_SIZE = 2  # size of a heading, from 1 (the largest) to 6

Fields = dict[str, Any]


def rich_message_of(document: Sequence[Block]) -> Fields | None:
    """Return the content of a rich message; None if the document exceeds a limit.

    Entities are not detected, because Telegram refuses the whole message for a name that looks like a wrong address
    (``RICH_MESSAGE_EMAIL_INVALID``, openclaw/openclaw issue 96363).
    """
    blocks = [_block(block) for block in document]
    return {"blocks": blocks, "skip_entity_detection": True} if _fits(document) else None


def _fits(document: Sequence[Block]) -> bool:
    parts = list(_parts(document))
    columns = max((len(block.columns) for block, _depth in parts if isinstance(block, Grid)), default=0)
    length = sum(utf16_length(span.text) for block, _depth in parts for span in _spans(block))
    count = sum(1 + len(_rows(block)) for block, _depth in parts)
    depth = max((depth for _block, depth in parts), default=0)
    # An item of a list is one level deeper than the list, and contains a paragraph.
    return length <= LONGEST_RICH_TEXT and count <= MAX_BLOCKS and columns <= MAX_COLUMNS and depth + 2 <= MAX_DEPTH


def _parts(blocks: Sequence[Block], depth: int = 1) -> Iterator[tuple[Block, int]]:
    """Yield all blocks with their depth."""
    for block in blocks:
        yield block, depth
        if isinstance(block, Details):
            yield from _parts(block.blocks, depth + 1)


def _rows(block: Block) -> Sequence[Text]:
    """Return what counts besides a block itself: each item with its paragraph, and each row with the head."""
    if isinstance(block, Bullets):
        return block.items * 2
    return (_head(block.columns), *block.rows) if isinstance(block, Grid) else ()


def _spans(block: Block) -> Iterator[Span]:
    match block:
        case Heading() | Paragraph():
            yield from block.text
        case Bullets():
            yield from (span for item in block.items for span in item)
        case Grid():
            yield from (span for row in (_head(block.columns), *block.rows) for span in row)
        case Details():
            yield Span(block.summary)
        case _ as never:
            assert_never(never)


def _block(block: Block) -> Fields:
    match block:
        case Heading():
            return {"type": "heading", "text": rich_text_of(block.text), "size": TITLE_SIZE}
        case Paragraph():
            is_small = all(span.style == "small" for span in block.text)
            return {"type": "footer" if is_small else "paragraph", "text": rich_text_of(block.text)}
        case Bullets():
            return {"type": "list", "items": [{"blocks": [_block(Paragraph(item))]} for item in block.items]}
        case Grid():
            rows = [_row(block.columns, row) for row in block.rows]
            cells = [_row(block.columns, _head(block.columns), is_header=True), *rows]
            return {"type": "table", "cells": cells, "is_striped": True, "is_compact": True}
        case Details():
            return {"type": "details", "summary": block.summary, "blocks": [_block(inner) for inner in block.blocks]}
        case _ as never:
            assert_never(never)


def _head(columns: Sequence[Column]) -> Text:
    return tuple(Span(column.title) for column in columns)


def _row(columns: Sequence[Column], row: Text, **cell_fields: bool) -> list[Fields]:
    return [
        {
            **({"text": rich_text_of((cell,))} if cell.text else {}),
            "align": "right" if column.is_figure else "left",
            "valign": "middle",
            **cell_fields,
        }
        for column, cell in zip(columns, row, strict=True)
    ]


def rich_text_of(text: Text) -> Any:
    """Return a RichText: a string, an object with a format, or a list of both (core.telegram.org/bots/api#richtext)."""
    parts = [_rich_span(span) for span in text]
    return parts[0] if len(parts) == 1 else parts


def _rich_span(span: Span) -> str | Fields:
    fields = entity_fields(span)
    if fields is None or span.style == "small":
        return span.text
    # A link has another name than among the entities of a text.
    kind = "url" if fields["type"] == "text_link" else fields["type"]
    return {**fields, "type": kind, "text": span.text}
