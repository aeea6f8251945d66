"""Panels as Telegram's texts with entities."""

from adapters.telegram.text_entities import entities_of
from bot.panel import Panel, Span, Writer


def test_small_print_becomes_a_folded_quote() -> None:
    page = Writer()
    page.line("🂡 Trick 1", "bold")
    page.gap()
    page.line("Seal: ab", "small")
    page.line("Secret: cd", "small")
    page.gap()
    page.line("after")
    panel = page.panel()
    bold, small = entities_of(panel)
    assert bold["type"] == "bold"
    assert small["type"] == "expandable_blockquote"
    units = panel.plain.encode("utf-16-le")
    start, end = 2 * small["offset"], 2 * (small["offset"] + small["length"])
    assert units[start:end].decode("utf-16-le") == "Seal: ab\nSecret: cd"


def test_caption_folds_text_that_its_picture_shows() -> None:
    page = Writer()
    page.line("Your turn.", "bold")
    page.gap()
    page.fold()
    page.line("🪙  3 A", "bold")
    page.line("Table K7QF2M", "code")
    page.line("Seal: ab", "small")
    panel = page.panel()
    caption = panel.beside_picture
    assert caption.plain == panel.plain.replace("\n\n", "\n")
    turn, quote, cards = entities_of(caption, folds=True)
    units = caption.plain.encode("utf-16-le")
    assert quote["type"] == "expandable_blockquote"
    assert units[2 * quote["offset"] :].decode("utf-16-le") == "🪙  3 A\nTable K7QF2M\nSeal: ab"
    assert 2 * (quote["offset"] + quote["length"]) == len(units)
    assert [turn["type"], cards["type"]] == ["bold", "bold"], "a quote can contain neither code nor another quote"
    assert [entity["type"] for entity in entities_of(panel)] == ["bold", "bold", "code", "expandable_blockquote"]


def test_quiet_mention_is_a_link() -> None:
    """A plain handle would notify the person, as a text_mention does."""
    spans = Span("@bea", "quiet", "telegram:7"), Span("Bea", "quiet", "telegram:7"), Span("@bea", "quiet", "discord:7")
    assert entities_of(Panel(spans)) == [{"type": "text_link", "offset": 0, "length": 4, "url": "https://t.me/bea"}]
    [mention] = entities_of(Panel((spans[0]._replace(style="call"),)))
    assert mention["type"] == "text_mention"
