"""Rich messages of the fake Bot API server.

Limits: core.telegram.org/bots/api#rich-message-limits, which are the defaults of TDLib's options
``rich_message_text_length_max``, ``…_block_count_max``, ``…_depth_max`` and ``…_table_column_count_max``. Nested
blocks, items of lists and rows of tables count as blocks. aiogram's model of the method checks the blocks themselves.
"""

from collections.abc import Iterator
from typing import Any

from tests.telegram.content import Refused, checked_markup

LONGEST_RICH_TEXT, MAX_BLOCKS, MAX_DEPTH, MAX_COLUMNS = 32_768, 500, 16, 20
CONTENT_FORMS = {"html", "markdown", "blocks"}
ALIGNMENTS, VERTICAL_ALIGNMENTS = {"left", "center", "right"}, {"top", "middle", "bottom"}


def rich_content(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a message's blocks and buttons; raise Refused if a limit is exceeded."""
    content = fields["rich_message"]
    if len(CONTENT_FORMS & content.keys()) != 1 or not content.get("blocks"):
        raise Refused(400, "Bad Request: RICH_MESSAGE_CONTENT_REQUIRED")
    blocks = content["blocks"]
    text_lines = list(_lines(blocks))
    if not "".join(text_lines).strip():
        raise Refused(400, "Bad Request: rich message must be non-empty")
    if sum(map(len, text_lines)) > LONGEST_RICH_TEXT:
        raise Refused(400, "Bad Request: rich message text is too long")
    if sum(_count(block) for block in blocks) > MAX_BLOCKS:
        raise Refused(400, "Bad Request: rich message has too many blocks")
    if max(map(_depth, blocks)) > MAX_DEPTH:
        raise Refused(400, "Bad Request: rich message is nested too deeply")
    for block in all_blocks(blocks):
        _check_block(block)
    markup = checked_markup(fields)
    return {"rich_message": {"blocks": blocks}, **({"reply_markup": markup} if markup else {})}


def rich_lines(message: dict[str, Any]) -> list[str]:
    """Return the texts of a rich message's blocks: one of each block and each cell."""
    return list(_lines(message["rich_message"]["blocks"]))


def all_blocks(blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield blocks with nested ones."""
    for block in blocks:
        yield block
        yield from all_blocks(block.get("blocks", []))
        for item in block.get("items", ()):
            yield from all_blocks(item["blocks"])


def table_texts(block: dict[str, Any]) -> list[list[str]]:
    """Return the texts of a table's cells, row by row."""
    return [["".join(_texts(cell.get("text", ""))) for cell in row] for row in block["cells"]]


def _lines(blocks: list[dict[str, Any]]) -> Iterator[str]:
    for block in all_blocks(blocks):
        for name in ("text", "summary", "caption"):
            if name in block:
                yield "".join(_texts(block[name]))
        if block["type"] == "table":
            yield from (text for row in table_texts(block) for text in row)


def _texts(text: Any) -> Iterator[str]:
    """Yield the strings of a RichText: a string, a list, or an object with a text."""
    if isinstance(text, str):
        yield text
    elif isinstance(text, list):
        for part in text:
            yield from _texts(part)
    else:
        yield from _texts(text["text"])


def _count(block: dict[str, Any]) -> int:
    items = block.get("items", ())
    inner = sum(_count(part) for part in block.get("blocks", ()))
    return 1 + inner + len(block.get("cells", ())) + sum(1 + sum(map(_count, item["blocks"])) for item in items)


def _depth(block: dict[str, Any]) -> int:
    inner = [_depth(part) for part in block.get("blocks", ())]
    inner += [1 + _depth(part) for item in block.get("items", ()) for part in item["blocks"]]
    texts = [block.get("text", ""), *(cell.get("text", "") for row in block.get("cells", ()) for cell in row)]
    return 1 + max([*inner, *map(_text_depth, texts)])


def _text_depth(text: Any) -> int:
    if isinstance(text, str):
        return 0
    return max(map(_text_depth, text), default=0) if isinstance(text, list) else 1 + _text_depth(text["text"])


def _check_block(block: dict[str, Any]) -> None:
    if block["type"] == "table":
        rows = block["cells"]
        if not rows or not rows[0]:
            raise Refused(400, "Bad Request: table is empty")
        if any(sum(cell.get("colspan", 1) for cell in row) > MAX_COLUMNS for row in rows):
            raise Refused(400, "Bad Request: table has too many columns")
        for cell in (cell for row in rows for cell in row):
            if cell["align"] not in ALIGNMENTS or cell["valign"] not in VERTICAL_ALIGNMENTS:
                raise Refused(400, "Bad Request: Can't parse PageBlockTableCell: wrong alignment")
    elif block["type"] in ("details", "list") and not (block.get("blocks") or block.get("items")):
        raise Refused(400, "Bad Request: RICH_MESSAGE_CONTENT_REQUIRED")
    elif block["type"] == "heading" and block["size"] not in range(1, 7):
        raise Refused(400, "Bad Request: wrong heading size")
    elif block["type"] in ("paragraph", "footer", "heading") and not "".join(_texts(block["text"])).strip():
        raise Refused(400, "Bad Request: block text must be non-empty")
