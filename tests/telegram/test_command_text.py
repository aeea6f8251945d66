"""The bot recognises commands in every encoding that clients use, and no other texts."""

from typing import Any

import pytest
from telegram import Bot, User

from adapters.telegram.raw_updates import build_update
from adapters.telegram.reading import read_command
from bot.command_names import STANDING
from bot.panel import utf16_length
from bot.parsing.plain_text import UNCLEAR
from bot.platform import Command
from bot.store import Store
from tests.telegram.players import GROUP, Person, on_telegram, until
from tests.telegram.server import BOT, TelegramServer

ME = User(BOT["id"], BOT["first_name"], True, username=BOT["username"])
LINK = "tg://bot_command?command=tables"


def entity(kind: str, offset: int, length: int, **entity_fields: Any) -> dict[str, Any]:
    return {"type": kind, "offset": offset, "length": length, **entity_fields}


def parse(text: str, *entities: dict[str, Any], private: bool = False, part: str = "text") -> Command | None:
    chat = {"id": 1, "type": "private"} if private else {"id": GROUP, "type": "supergroup", "title": "Bar"}
    entities_field = {"text": "entities", "caption": "caption_entities"}[part]
    message = {
        "message_id": 7,
        "date": 1,
        "chat": chat,
        "from": {"id": 1, "is_bot": False, "first_name": "Anna"},
        part: text,
        entities_field: list(entities),
    }
    return read_command(build_update({"update_id": 5, "message": message}, Bot("1:test")), ME)


def word_and_arguments(command: Command | None) -> tuple[str, tuple[str, ...]] | None:
    return (command.word, command.words) if command else None


@pytest.mark.parametrize(
    "kind", ["bold", "italic", "underline", "strikethrough", "spoiler", "blockquote", "expandable_blockquote"]
)
def test_formatted_command_counts_in_groups(kind: str) -> None:
    text = "/join ABCDEF"
    style, command = entity(kind, 0, len(text)), entity("bot_command", 0, 5)
    for entities in ([style, command], [command, style], [style]):
        assert word_and_arguments(parse(text, *entities)) == ("join", ("ABCDEF",))


@pytest.mark.parametrize("kind", ["code", "pre"])
def test_command_in_code_counts_in_groups(kind: str) -> None:
    """Telegram marks no commands inside code."""
    assert word_and_arguments(parse("/tables", entity(kind, 0, 7))) == ("tables", ())
    assert word_and_arguments(parse("/join ABCDEF", entity(kind, 0, 12))) == ("join", ("ABCDEF",))
    assert word_and_arguments(parse("/tables now", entity(kind, 0, 3))) is None


def test_join_line_copied_with_formatting_counts() -> None:
    marks = entity("italic", 0, 12), entity("bot_command", 0, 5), entity("code", 6, 6)
    assert word_and_arguments(parse("/join ABCDEF", *marks)) == ("join", ("ABCDEF",))


@pytest.mark.parametrize("part", ["text", "caption"])
def test_command_counts_in_texts_and_captions(part: str) -> None:
    assert word_and_arguments(parse("/join ABCDEF", entity("bot_command", 0, 5), part=part)) == ("join", ("ABCDEF",))


@pytest.mark.parametrize(
    "url",
    [
        LINK,
        f"{LINK}&bot=buongioco_bot",
        f"{LINK}&bot=@Buongioco_Bot",
        f"{LINK}&bot={BOT['id']}",
        "tg:bot_command?command=tables@buongioco_bot",
        "TG://bot_command?command=%2Ftables",
    ],
)
@pytest.mark.parametrize("text", ["/tables", "The tables", "/TABLES"])
def test_linked_command_counts(text: str, url: str) -> None:
    assert word_and_arguments(parse(text, entity("text_link", 0, len(text), url=url))) == ("tables", ())


@pytest.mark.parametrize(
    "url",
    [
        f"{LINK}&bot=other_bot",
        "tg://bot_command?command=tables@other_bot",
        "tg://bot_command",
        "tg://bot_command?command=no+such",
        "https://example.org/bot_command?command=tables",
        "tg://[bot_command?command=tables",
        "",
    ],
)
def test_other_link_is_not_a_command(url: str) -> None:
    assert parse("The tables", entity("text_link", 0, 10, url=url)) is None


@pytest.mark.parametrize("before", [" ", "\n", "\u200b", "\ufeff", "\u2066\u200e ", "\u00a0\u2060"])
def test_invisible_characters_before_a_command_are_skipped(before: str) -> None:
    offset = utf16_length(before)
    assert word_and_arguments(parse(f"{before}/join ABCDEF", entity("bot_command", offset, 5))) == ("join", ("ABCDEF",))
    assert word_and_arguments(parse(f"{before}/tables", entity("code", 0, offset + 7))) == ("tables", ())


def test_offsets_count_utf16_units() -> None:
    mention = entity("text_mention", 15, 3, user={"id": 2, "is_bot": False, "first_name": "🂠"})
    command = parse("/challenge 🂠🂠 🂠! 21", entity("bot_command", 0, 10), mention | {"offset": 16})
    assert command
    assert command.words == ("🂠🂠", "21")
    assert [person.id for person in command.about] == ["telegram:2"]


@pytest.mark.parametrize("word", ["/tables@buongioco_bot", "/Tables@BUONGIOCO_BOT"])
def test_bot_name_counts_in_any_case(word: str) -> None:
    assert word_and_arguments(parse(word, entity("bot_command", 0, len(word)))) == ("tables", ())


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("kind", ["bot_command", "code", "bold"])
def test_another_bots_command_is_ignored(kind: str, private: bool) -> None:
    text = "/tables@other_bot"
    assert parse(text, entity(kind, 0, len(text)), private=private) is None
    assert parse(text, entity("bold", 0, len(text)), entity("bot_command", 0, len(text)), private=private) is None


def test_command_in_the_middle_is_ignored_in_groups() -> None:
    assert parse("try /tables", entity("bot_command", 4, 7)) is None
    assert parse("try /tables", entity("bold", 0, 11), entity("bot_command", 4, 7)) is None
    assert parse("try /tables", entity("code", 4, 7)) is None
    assert parse("/tables\nWhat is that?", entity("blockquote", 0, 7), entity("bot_command", 0, 7)) is None
    assert parse("/tables") is None
    assert parse("/home/anna", entity("code", 0, 10)) is None


def test_private_chat_needs_no_marks() -> None:
    assert word_and_arguments(parse("/join ABCDEF", private=True)) == ("join", ("ABCDEF",))
    assert word_and_arguments(parse("\u2066/JOIN ABCDEF", private=True)) == ("join", ("ABCDEF",))
    for text in ("/home/anna", "/shrug", "ciao /tables"):
        assert word_and_arguments(parse(text, private=True)) == (STANDING, (UNCLEAR,))
    assert word_and_arguments(parse("/shrug", entity("bot_command", 0, 6), private=True)) == ("shrug", ())


async def test_join_line_copied_from_a_card_seats_the_person(store: Store, server: TelegramServer) -> None:
    anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
    async with on_telegram(store, server) as adapter:
        anna.say("/challenge metamazzo")
        await until(lambda: anna.button("Join", server.group(GROUP)) is not None)
        [table] = await adapter.worker.room.lists.tables_of("telegram:1")
        text = f"\u2068/join \u2068{table.code}\u2069"
        marks = (
            entity("italic", 0, utf16_length(text)),
            entity("bot_command", 1, 5),
            entity("code", 7, utf16_length(text) - 7),
        )
        bruno.say(text, bruno.private, entities=list(marks))
        await until(lambda: any("deal 1" in message["text"] for message in bruno.private.messages.values()))


async def test_bold_command_is_answered_in_a_group(store: Store, server: TelegramServer) -> None:
    anna, group = Person(server, 1, "Anna"), server.group(GROUP)
    async with on_telegram(store, server):
        anna.say("/tables", group, entities=[entity("bold", 0, 7), entity("bot_command", 0, 7)])
        await until(lambda: any(message["from"] == BOT for message in group.messages.values()))


def test_plain_words_mean_a_command_only_in_private() -> None:
    assert word_and_arguments(parse("Mi arrendo", private=True)) == ("resign", ())
    assert word_and_arguments(parse("how are you?", private=True)) == (STANDING, (UNCLEAR,))
    assert parse("mi arrendo") is None


def test_words_of_other_bots_are_ignored_in_groups() -> None:
    assert parse("/play", entity("bot_command", 0, 5)) is None
    assert word_and_arguments(parse("/play", entity("bot_command", 0, 5), private=True)) == ("play", ())
    command = f"/play@{BOT['username']}"
    assert word_and_arguments(parse(command, entity("bot_command", 0, len(command)))) == ("play", ())
    assert word_and_arguments(parse("/arrenditi", entity("bot_command", 0, 10))) == ("arrenditi", ())
