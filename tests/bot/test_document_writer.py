"""A panel's document beside its text."""

from bot.document_writer import DocumentWriter
from bot.panel import Bullets, Column, Details, Grid, Heading, Panel, Paragraph, Span, Writer

GRID = Grid((Column("#", is_figure=False), Column("Points")), ((Span("1."), Span("12")),))


def written(page: Writer) -> Panel:
    page.line("Some {what} line", what=Span("bold", "bold"))
    page.gap()
    page.line("Last", "italic")
    return page.panel()


def test_document_writer_gives_the_text_of_a_plain_writer() -> None:
    page = DocumentWriter("Title {number}", number=1)
    page.block(GRID)
    panel, plain = written(page), written(Writer("Title {number}", number=1))
    assert (panel.text, panel.rows, panel.fold) == (plain.text, plain.rows, plain.fold)
    assert plain.document == ()


def test_lines_are_paragraphs_in_order() -> None:
    page = DocumentWriter("Title")
    page.block(GRID)
    page.text_line("1. 12")
    panel = written(page)
    assert panel.document == (
        Heading((Span("Title"),)),
        GRID,
        Paragraph((Span("Some "), Span("bold", "bold"), Span(" line"))),
        Paragraph((Span("Last", "italic"),)),
    )
    assert "1. 12" in panel.plain


def test_page_without_structure_has_no_document() -> None:
    assert written(DocumentWriter("Title")).document == ()


def test_list_or_details_make_a_document() -> None:
    for block in (Bullets(((Span("One"),),)), Details("More", (Paragraph((Span("One"),)),))):
        page = DocumentWriter()
        page.block(block)
        assert page.panel().document == (block,)


def test_cut_text_has_no_document() -> None:
    page = DocumentWriter("Title")
    page.block(GRID)
    panel = written(page)
    assert panel.cut(10).document == ()
    assert panel.cut(1000).document == panel.document
