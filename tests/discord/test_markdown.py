"""Panels' texts as Discord's Markdown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord import markdown
from bot.panel import Panel, Span


@given(st.text(alphabet="*_~`|<>[]()#+-:@.\\ab1 \n", max_size=60))
def test_escaped_name_has_no_markup(name: str) -> None:
    escaped = markdown.escape(name)
    assert re.sub(r"\\(.)", r"\1", escaped) == name
    # Each special character has a backslash.
    assert not re.search(r"(?<!\\)(?:\\\\)*[*_~`|<\[\]@]", escaped)
    assert not re.search(r"^[-+#>]|://|\d\. ", escaped, re.MULTILINE)


@pytest.mark.parametrize(
    ("spans", "text"),
    [
        ([Span("Ada", "bold"), Span(" leads")], "**Ada** leads"),
        ([Span("Ada", "bold"), Span("Bea", "bold")], "**AdaBea**"),
        ([Span(" Ada ", "bold")], " **Ada** "),
        ([Span(" ", "bold"), Span("x")], " x"),
        ([Span("4. Ada")], "4\\. Ada"),
        ([Span("AB`C", "code")], "`AB'C`"),
        ([Span("Ada", "mention", "discord:17")], "<@17>"),
        ([Span("@ada", "mention", "telegram:17")], "\\@ada"),
        ([Span("@ada", "quiet", "discord:17")], "<@17>"),
        ([Span("you may", "italic")], "_you may_"),
        ([Span("Ada\n\n"), Span("2. seal\nsecret\n", "small")], "Ada\n\n-# 2\\. seal\n-# secret\n"),
    ],
)
def test_spans_become_markdown(spans: list[Span], text: str) -> None:
    assert markdown.markdown(Panel(tuple(spans))) == text


def test_folded_text_is_small_print_next_to_a_picture() -> None:
    panel = Panel((Span("Your turn.\n", "bold"), Span("3 A\n", "bold"), Span("Seal: ab", "small")), fold=1)
    assert markdown.markdown(panel) == "**Your turn.\n3 A**\n-# Seal: ab"
    assert markdown.markdown(panel, folds=True) == "**Your turn.**\n-# 3 A\n-# Seal: ab"
