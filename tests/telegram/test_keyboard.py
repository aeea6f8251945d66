"""Panels' buttons as Telegram's keyboards."""

from adapters.telegram.keyboard import markup_of
from bot.panel import Button, Panel, Span


def test_link_button_has_a_url() -> None:
    link = Button("Replay", "https://cards.example.org/g/K7QF2M-1f0e9a", "", "link")
    markup = markup_of(Panel((Span("x"),), ((link,),)), "buongiocobot")
    assert markup == {"inline_keyboard": [[{"text": "Replay", "url": link.payload}]]}
