"""Panels as Telegram's texts with entities."""

from adapters.telegram.drawing import entities_of
from bot.panel import Writer


def test_small_print_is_folded_up_as_a_quote_of_its_own_lines() -> None:
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
    begin, end = 2 * small["offset"], 2 * (small["offset"] + small["length"])
    assert units[begin:end].decode("utf-16-le") == "Seal: ab\nSecret: cd"
