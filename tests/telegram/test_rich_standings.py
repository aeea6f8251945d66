"""Standings of a tournament as rich messages, also after refusals and a kill."""

import re
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.store import Store
from bot.texts import LANGUAGES, texts
from tests.kills.bot_process import Bot
from tests.telegram.content import text_of
from tests.telegram.players import GROUP, Person, on_telegram, until
from tests.telegram.rich import all_blocks, rich_lines, table_texts
from tests.telegram.server import TOKEN, Chat, Failure, TelegramServer

HEADS = {"en": ["#", "Player", "Rounds won"], "it": ["#", "Nome", "Turni vinti"]}
FIRST = "🥇", "\u2068Anna\u2069"


@pytest.fixture(autouse=True)
def _frequent_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.features.tournaments.feature.POLL_SECONDS", 0.05)


def lines_of(message: dict[str, Any]) -> list[str]:
    return rich_lines(message) if "rich_message" in message else text_of(message).split("\n")


def messages_with(chat: Chat, text: str) -> list[dict[str, Any]]:
    """Return the bot's messages whose first line contains a text."""
    return [message for message in chat.messages.values() if message["from"]["is_bot"] and text in lines_of(message)[0]]


async def play_tournament(server: TelegramServer, language: str) -> Chat:
    """Let Anna win a tournament of two by Bruno's resignation, and return its group."""
    _ = texts(language).gettext
    anna, bruno = (Person(server, number, name, language) for number, name in ((1, "Anna"), (2, "Bruno")))
    group = server.group(GROUP)
    anna.say("/tournament testa 11")
    await bruno.press(_("Sign up"), group)
    await anna.press(_("Start"))
    await until(lambda: bool(find_codes(anna) + find_codes(bruno)))
    bruno.say(f"/resign {(find_codes(anna) + find_codes(bruno))[0]}", bruno.private)
    await bruno.press(_("Yes, I resign"))
    return group


def find_codes(person: Person) -> list[str]:
    """Return the codes of the tables where a person can make a move."""
    return re.findall(r"'callback_data': '1m(\w+):", str(list(person.private.messages.values())))


@pytest.mark.parametrize("is_missing", [False, True], ids=["rich", "missing"])
@pytest.mark.parametrize("language", LANGUAGES)
async def test_standings_are_a_table_or_lines(
    store: Store, server: TelegramServer, language: str, is_missing: bool
) -> None:
    if is_missing:
        server.missing_methods.add("sendRichMessage")
    async with on_telegram(store, server, telegram_rich_messages=True) as adapter:
        group = await play_tournament(server, language)
        await until(lambda: bool(messages_with(group, "🥇")))
        await adapter.worker.wait_until_idle()
        [card], [winner] = messages_with(group, "🏆"), messages_with(group, "🥇")
        for message in (card, winner):
            assert ("rich_message" in message, "text" in message) == (not is_missing, is_missing)
            if is_missing:
                assert f"{' '.join(FIRST)} · 1" in lines_of(message)
                continue
            [table] = [block for block in all_blocks(message["rich_message"]["blocks"]) if block["type"] == "table"]
            assert table_texts(table) == [HEADS[language], [*FIRST, "1"], ["🥈", "\u2068Bruno\u2069", "0"]]


@pytest.mark.long
async def test_kill_between_send_and_store_leaves_rich_messages(server: TelegramServer, tmp_path: Path) -> None:
    """The announcement can come twice, because Telegram does not recognise a repeated message."""
    settings = {"BUONGIOCO_TELEGRAM_TOKEN": TOKEN, "BUONGIOCO_TELEGRAM_API_URL": server.url}
    bot = Bot(tmp_path, **settings, BUONGIOCO_TELEGRAM_RICH_MESSAGES="true")
    async with aiohttp.ClientSession() as session:
        try:
            await bot.start()
            await bot.wait_until_healthy(session)
            server.fail_next("sendRichMessage", Failure(silent=True, done_first=True))
            group = await play_tournament(server, "en")
            await until(lambda: bool(messages_with(group, "🥇")))
            await bot.kill()
            server.clear_failures()
            await bot.start()
            await bot.wait_until_healthy(session)
            await until(lambda: len(messages_with(group, "🥇")) == 2)
            [card] = messages_with(group, "🏆")
            assert all("rich_message" in message for message in (card, *messages_with(group, "🥇")))
            first, second = map(rich_lines, messages_with(group, "🥇"))
            assert first == second
        finally:
            await bot.kill()
            bot.kill_store()
