"""`buongioco doctor` on the modes that a host can turn on and off."""

import json

import pytest
from pydantic import SecretStr

from adapters.telegram import examine
from adapters.telegram.modes import MODES, NO_TOPICS_NEEDED
from bot.settings import Settings
from tests.telegram.server import BOT, TOKEN, Failure, TelegramServer

WANTED = {mode.name: mode.should_be_on for mode in (*MODES, NO_TOPICS_NEEDED)}


async def examine_bot(server: TelegramServer, *, table_topics: bool = False, **modes: bool) -> list[tuple[bool, str]]:
    """Return the doctor's findings about a bot with these modes, except the first."""
    answer = {"ok": True, "result": {**BOT, **modes}}
    server.fail_next("getMe", Failure(body=json.dumps(answer).encode()))
    settings = Settings(
        _env_file=None,
        telegram_token=SecretStr(TOKEN),
        telegram_api_url=server.url,
        telegram_table_topics=table_topics,
    )
    return [finding async for finding in examine(settings)][1:]


async def test_doctor_has_no_advice_on_wanted_modes(server: TelegramServer) -> None:
    assert await examine_bot(server, **WANTED) == []


async def test_doctor_ignores_modes_that_an_old_server_lacks(server: TelegramServer) -> None:
    assert await examine_bot(server) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("can_join_groups", "/setjoingroups"),
        ("supports_inline_queries", "/setinline"),
        ("supports_guest_queries", "Guest Mode"),
        ("can_read_all_group_messages", "/setprivacy"),
        ("needs_inline_query_location", "/setinlinegeo"),
        ("supports_join_request_queries", "Bot Settings"),
        ("has_topics_enabled", "Threaded Mode"),
        ("can_connect_to_business", "Bot Settings"),
        ("can_manage_bots", "Bot Settings"),
        ("can_communicate_with_bots", "Bot Settings"),
    ],
)
async def test_doctor_says_how_to_change_a_mode(server: TelegramServer, name: str, words: str) -> None:
    [(is_well, line)] = await examine_bot(server, **(WANTED | {name: not WANTED[name]}))
    assert "@BotFather" in line
    assert words in line
    # Without groups there is no game for most people.
    assert is_well == (name != "can_join_groups")


async def test_doctor_says_that_tables_have_topics(server: TelegramServer) -> None:
    [(is_well, line)] = await examine_bot(server, table_topics=True, **(WANTED | {"has_topics_enabled": True}))
    assert is_well
    assert line == "telegram: each table has a topic in the private chat"


async def test_doctor_says_how_to_turn_topics_on(server: TelegramServer) -> None:
    [(is_well, line)] = await examine_bot(server, table_topics=True, **WANTED)
    assert is_well
    assert "topics in private chats are off" in line
    assert "Threaded Mode" in line
