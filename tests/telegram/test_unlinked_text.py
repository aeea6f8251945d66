"""Names that look like links: on Telegram and Discord they must stay plain text."""

import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from adapters.discord.markdown import markdown
from adapters.telegram.limits import LONGEST_TEXT
from adapters.telegram.text_entities import text_fields
from adapters.telegram.unlinked_text import WORD_JOINER, unlink, unlink_panel
from bot.delivery.message_state import MessageState
from bot.delivery.surface_names import Hand
from bot.delivery.surface_panels import draw_surface, with_notice
from bot.delivery.surfaces import required_surfaces
from bot.delivery.table_sync import BoardExtras
from bot.panel import Panel, Span, utf16_length
from bot.panels.board import RatingChange
from bot.store import Store
from bot.table_policy import Outcome
from bot.viewers import Viewer
from engine import GAMES
from tests.bot.worker.test_secrecy import random_table
from tests.long import mostly_long
from tests.telegram.content import text_of
from tests.telegram.players import GROUP, Person, on_telegram, until
from tests.telegram.server import TelegramServer

NAMES = ("evil.com", "@someone", "https://evil.com/x?y#z", "a@b.org #tag $USD /resign")

# What Telegram finds, by TDLib's MessageEntity.cpp: addresses, mentions, hashtags, cashtags, commands.
FOUND = re.compile(
    r"[\w~-]+(?:\.[\w~-]+)*\.[^\W\d_]{2,}(?:[/?#]\S*)?|(?:tg|ton)://\w+|(?<!\w)@[A-Za-z0-9_]{2,}|#\w*[^\W\d]\w*"
    r"|\$[A-Z]{1,8}\b|(?<![\w/<>])/[A-Za-z0-9_]+",
    re.IGNORECASE,
)


def found_in(fields: dict[str, Any]) -> Iterator[str]:
    """Yield what Telegram finds in a text, outside of the code, mentions and links that its entities set."""
    units = fields["text"].encode("utf-16-le")
    for entity in fields.get("entities") or ():
        if entity["type"] in ("code", "text_mention", "text_link"):
            start, end = 2 * entity["offset"], 2 * (entity["offset"] + entity["length"])
            units = units[:start] + " ".encode("utf-16-le") * entity["length"] + units[end:]
    yield from FOUND.findall(units.decode("utf-16-le"))


@pytest.mark.parametrize("game", mostly_long(GAMES, "pizzichino", "tressette"))
def test_names_in_panels_of_tables_make_no_links(game: str) -> None:
    random = Random(game)
    outcome = Outcome("ABCD-123456", [RatingChange(NAMES[0], 1000, 1040)])
    for _ in range(10):
        table = random_table(game, random, names=NAMES)
        extras = BoardExtras((("web:p", NAMES[0]), ("web:q", NAMES[1])), False, ("web:p", NAMES[2]), "")
        for name in required_surfaces(table):
            for language in ("en", "it"):
                panel = draw_surface(table, name, MessageState(), Viewer(language, "italian"), extras, outcome)
                commands = {"/hand", "/resign"} if not isinstance(name, Hand) else set()
                found = set(found_in(text_fields(unlink_panel(panel), None))) - commands
                assert not found, f"{name} in {language}"
                assert not re.search(r"(?<!\\)@|(?<!\\)[\[<]|https?:(?!\\)//", markdown(panel)), f"{name} in {language}"


def test_own_addresses_and_handles_are_kept() -> None:
    own = "https://cards.example.org"
    text = f"Write /hand, see {own}/t/K7QF2M or \u2068{own}\u2069 and http://evil.com, 1.5 points. Next"
    shown = unlink(text, own)
    assert [*found_in({"text": shown})] == ["/hand", "cards.example.org/t/K7QF2M"]
    assert shown.replace(WORD_JOINER, "") == text
    spans = Span("@bea", "call"), Span("@bea", "quiet", "telegram:7"), Span("@bea", "mention", "web:guest")
    assert [span.text for span in unlink_panel(Panel(spans)).text] == ["@bea", "@bea", f"@{WORD_JOINER}bea"]
    plain = Panel((Span("Anna has won."),))
    assert unlink_panel(plain) is plain


def test_joiners_make_no_text_too_long() -> None:
    # A text that is too long is cut to the limit before joiners are added.
    panel = Panel((Span(f"evil.com {'x' * 5000}"),)).cut(LONGEST_TEXT)
    assert utf16_length(unlink_panel(panel).plain) == LONGEST_TEXT


async def test_names_in_messages_make_no_links(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, public_url="https://cards.example.org") as adapter:
        group = server.group(GROUP, "www.evil.com")
        people = [Person(server, number, name) for number, name in enumerate(NAMES[:2], 1)]
        for number, person in enumerate(people, 1):
            server.users[number]["username"] = f"person{number}"
            person.start()
        people[0].say("/challenge testa")
        await people[1].press("Join", group)
        await adapter.worker.wait_until_idle()
        people[0].say("/resign", people[0].private)
        await people[0].press("Yes, I resign")
        await adapter.worker.wait_until_idle()
        for word in ("leaderboard", "stats", "honours", "tables", "duel testa", "daily", "help"):
            for chat in (group, people[0].private):
                before = len(chat.messages)
                people[0].say(f"/{word}", chat)
                # The command and its answer.
                await until(lambda chat=chat, before=before: len(chat.messages) > before + 1)  # type: ignore[misc]
        messages = [*group.messages.values(), *people[0].private.messages.values()]
        sent = [message for message in messages if message["from"]["is_bot"]]
        assert len(sent) > 16
        assert any("evil" in text_of(message) for message in sent)
        for message in sent:
            fields = {"text": text_of(message), "entities": message.get("entities", message.get("caption_entities"))}
            # Our texts name commands. Names with commands are tested above.
            found = [each for each in found_in(fields) if not each.startswith("/")]
            assert not found, fields["text"]


def test_links_of_the_host_stay() -> None:
    panel = with_notice(Panel((Span("evil.com"),)), "Pause at 9: see status.example.org")
    assert unlink_panel(panel).plain == f"evil.{WORD_JOINER}com\n\n📢 Pause at 9: see status.example.org"
