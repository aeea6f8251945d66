"""Documents as blocks of rich messages: valid for aiogram's models and within Telegram's limits."""

from collections.abc import Iterator
from typing import Any

import pytest

from adapters.telegram.rich.blocks import MAX_BLOCKS, MAX_COLUMNS, MAX_DEPTH, rich_message_of, rich_text_of
from bot.features.ratings.pages import leaderboard_page, stats_page
from bot.features.tournaments.card_panel import card_panel, winner_panel
from bot.features.tournaments.pages import table_panel
from bot.features.tournaments.tournament import MAX_TEAMS, Form
from bot.panel import Block, Bullets, Column, Details, Grid, Heading, Panel, Paragraph, Span
from bot.panels.help import rules_page
from bot.texts import LANGUAGES
from engine import GAMES
from tests.bot.features.tournaments.builder import finished_tournament
from tests.bot.pictures.test_sheets import HISTORY, LINES, RANKED
from tests.telegram import rich
from tests.telegram.content import Refused
from tests.telegram.models import type_model
from tests.telegram.rich import all_blocks, rich_content, table_texts

FORMS: tuple[Form, ...] = ("knockout", "roundrobin", "swiss", "duplicate", "league")
LINE = Paragraph((Span("x"),))


def list_panels(language: str) -> Iterator[Panel]:
    """Yield pages with documents, as large as they get."""
    yield leaderboard_page(language, "chat", "all", "all", RANKED, len(RANKED))
    yield stats_page(language, "Anna", LINES, HISTORY)
    for game, kind in GAMES.items():
        yield rules_page(language, game, "french")
        if kind.is_tressette:
            yield rules_page(language, f"common {game}")
    yield from (rules_page(language, about) for about in ("", "fair"))
    for form in FORMS:
        tournament = finished_tournament(form, MAX_TEAMS[form], "tressette")
        yield from (card_panel(language, tournament, None), winner_panel(language, tournament))
        yield table_panel(language, tournament, 1)


def accept(content: dict[str, Any] | None) -> dict[str, Any]:
    """Return a rich message of the fake server, checked as aiogram and the server do."""
    assert content
    type_model("InputRichMessage").model_validate(content)
    return rich_content({"chat_id": 1, "rich_message": content})


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_is_a_valid_rich_message(language: str) -> None:
    for panel in list_panels(language):
        message = accept(rich_message_of(panel.document))
        blocks = list(all_blocks(message["rich_message"]["blocks"]))
        assert blocks[0]["type"] == "heading"
        for block in blocks:
            rows = table_texts(block) if block["type"] == "table" else []
            assert len({len(row) for row in rows}) <= 1
            assert all(cell for row in rows for cell in row), rows
        # A line break inside a paragraph has no documented meaning.
        assert not [line for line in rich.rich_lines(message) if "\n" in line]


def test_table_has_a_head_and_aligns_figures_to_the_right() -> None:
    content = rich_message_of((Grid((Column("Name", is_figure=False), Column("Points")), ((Span("A"), Span("7")),)),))
    [table] = accept(content)["rich_message"]["blocks"]
    assert table_texts(table) == [["Name", "Points"], ["A", "7"]]
    assert [[cell["align"] for cell in row] for row in table["cells"]] == [["left", "right"]] * 2
    assert [[cell.get("is_header", False) for cell in row] for row in table["cells"]] == [[True] * 2, [False] * 2]


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (Span("plain"), "plain"),
        (Span("small", "small"), "small"),
        (Span("bold", "bold"), {"type": "bold", "text": "bold"}),
        (Span("@anna", "quiet", "telegram:7"), {"type": "url", "text": "@anna", "url": "https://t.me/anna"}),
        (
            Span("Anna", "mention", "telegram:7"),
            {
                "type": "text_mention",
                "text": "Anna",
                "user": {"id": 7, "first_name": "Anna", "is_bot": False},
            },
        ),
    ],
)
def test_spans_keep_their_format(span: Span, expected: object) -> None:
    assert rich_text_of((span,)) == expected
    accept({"blocks": [{"type": "paragraph", "text": rich_text_of((span, Span(" and more")))}]})


def test_small_lines_are_footers() -> None:
    content = rich_message_of((Paragraph((Span("x", "small"),)),))
    assert [block["type"] for block in accept(content)["rich_message"]["blocks"]] == ["footer"]


def nested(depth: int) -> Block:
    return LINE if depth == 1 else Details("More", (nested(depth - 1),))


def grid(columns: int, rows: int = 1) -> Grid:
    return Grid((Column("x"),) * columns, ((Span("x"),) * columns,) * rows)


@pytest.mark.parametrize(
    ("largest", "too_large"),
    [
        ((LINE,) * MAX_BLOCKS, (LINE,) * (MAX_BLOCKS + 1)),
        ((grid(1, MAX_BLOCKS - 2),), (grid(1, MAX_BLOCKS - 1),)),
        ((Bullets(((Span("x"),),) * 249),), (Bullets(((Span("x"),),) * 250),)),
        ((grid(MAX_COLUMNS),), (grid(MAX_COLUMNS + 1),)),
        ((Paragraph((Span("x" * 32_768),)),), (Paragraph((Span("x" * 32_769),)),)),
        ((nested(MAX_DEPTH - 2),), (nested(MAX_DEPTH + 1),)),
    ],
    ids=["blocks", "rows", "items", "columns", "characters", "depth"],
)
def test_document_beyond_a_limit_is_no_rich_message(
    largest: tuple[Block, ...], too_large: tuple[Block, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    accept(rich_message_of(largest))
    assert rich_message_of(too_large) is None
    # The server refuses it, too.
    monkeypatch.setattr("adapters.telegram.rich.blocks._fits", lambda _document: True)
    with pytest.raises(Refused):
        accept(rich_message_of(too_large))


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"blocks": []},
        {"blocks": [{"type": "paragraph", "text": "x"}], "html": "x"},
        {"blocks": [{"type": "paragraph", "text": " "}]},
        {"blocks": [{"type": "heading", "text": "x", "size": 7}]},
        {"blocks": [{"type": "details", "summary": "x", "blocks": []}]},
        {"blocks": [{"type": "table", "cells": []}]},
        {"blocks": [{"type": "table", "cells": [[{"text": "x", "align": "middle", "valign": "top"}]]}]},
    ],
)
def test_server_refuses_bad_content(content: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        rich_content({"chat_id": 1, "rich_message": content})


def test_heading_is_large() -> None:
    [block] = accept(rich_message_of((Heading((Span("Title"),)),)))["rich_message"]["blocks"]
    assert block == {"type": "heading", "text": "Title", "size": 2}
