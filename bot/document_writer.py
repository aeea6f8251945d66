"""Builds a panel's text together with its document (`bot.panel.Panel.document`)."""

from dataclasses import replace

from bot.panel import Block, Heading, Panel, Paragraph, Row, Style, Text, Writer


class DocumentWriter(Writer):
    """A writer whose panel also has a document, if that has more than a title and paragraphs.

    `line` writes both, `text_line` only the text, and `block` only the document.
    """

    def __init__(self, title: str = "", **values: object) -> None:
        self._blocks: list[Block] = []
        super().__init__(title, **values)
        if title:
            self._blocks = [Heading(text_of(title, "", **values))]

    def line(self, template: str = "", style: Style = "", **values: object) -> None:
        super().line(template, style, **values)
        if text := text_of(template, style, **values):
            self._blocks.append(Paragraph(text))

    def text_line(self, template: str = "", style: Style = "", **values: object) -> None:
        """Add a line to the text alone."""
        super().line(template, style, **values)

    def block(self, block: Block) -> None:
        """Add a block to the document alone."""
        self._blocks.append(block)

    def panel(self, *rows: Row) -> Panel:
        is_structured = any(type(block) not in (Heading, Paragraph) for block in self._blocks)
        return replace(super().panel(*rows), document=tuple(self._blocks) if is_structured else ())


def text_of(template: str, style: Style = "", **values: object) -> Text:
    """Return the spans of one line."""
    page = Writer()
    page.line(template, style, **values)
    return page.panel().text
