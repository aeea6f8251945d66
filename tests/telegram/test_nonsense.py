"""Nonsense answers from a proxy or a broken server count as failed calls."""

import asyncio
import logging

import pytest
from structlog.testing import capture_logs

from adapters.telegram import examine
from adapters.telegram import polling as polling_module
from adapters.telegram import webhook as webhook_module
from bot.delivery import surface_waits
from bot.running import supervisor
from bot.settings import Settings
from bot.store import Store
from tests.kills.bot_process import free_port
from tests.telegram.players import GROUP, Person, on_telegram, seat_people, until
from tests.telegram.server import TOKEN, Failure, TelegramServer
from tests.telegram.test_telegram import panels, play_to_trick
from tests.telegram.test_webhook import webhook_settings

PAGE = b"<html><h1>Your network has a message for you</h1></html>"
NONSENSE = [
    PAGE,
    b'{"ok":true,"result":{"message_id":12,"te',
    b'{"ok":true,"result":{}}',
    b'{"ok":true,"result":[1]}',
    b'{"ok":true,"result":null}',
    b'{"ok":true,"result":{"message_id":"x","date":[],"chat":7}}',
    b'{"ok":true,"result":{"message_id":"x","date":1,"chat":{"id":1,"type":"private"}}}',
    b'{"ok":true}',
    b"[]",
    b"",
    b"[" * 100_000,
]


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(polling_module, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(webhook_module, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(supervisor, "FIRST_RETRY_SECONDS", 0.02)


def bot_texts(server: TelegramServer) -> list[str]:
    return [message["text"] for message in server.group(GROUP).messages.values() if message["from"]["is_bot"]]


@pytest.mark.parametrize("body", NONSENSE)
async def test_nonsense_answer_makes_a_send_uncertain(
    store: Store, server: TelegramServer, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with capture_logs() as logs, caplog.at_level(logging.WARNING):
        async with on_telegram(store, server) as adapter:
            anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
            anna.say("/challenge metamazzo")
            await until(lambda: bruno.button("Join", server.group(GROUP)) is not None)
            server.fail_next("sendMessage", *[Failure(body=body, done_first=True)] * 2)
            await bruno.press("Join", server.group(GROUP))
            await until(lambda: all(panels(person) for person in (anna, bruno)))
            await adapter.worker.wait_until_idle()
            # A card, a board, two hands and two duplicates.
            assert sum(len(panels(person)) for person in (anna, bruno)) + len(bot_texts(server)) == 4 + 2
            await play_to_trick(server, [anna, bruno], 2)
    assert not [line for line in logs if line["event"] == "surface_failed"]
    # The library would log the whole answer, including a hand.
    assert not caplog.records


@pytest.mark.parametrize("body", [body for body in NONSENSE if b"chat" not in body or b"[]" in body])
async def test_edit_answered_with_nonsense_is_retried(store: Store, server: TelegramServer, body: bytes) -> None:
    with capture_logs() as logs:
        async with on_telegram(store, server) as adapter:
            people = await seat_people(server, "metamazzo")
            server.fail_next(
                "editMessageText", *[Failure(body=body, done_first=done_first) for done_first in (True, False)] * 2
            )
            await play_to_trick(server, people, 3)
            await adapter.worker.wait_until_idle()
            assert all(len(panels(person)) == 1 for person in people)
    assert not [line for line in logs if line["event"] == "surface_failed"]


@pytest.mark.parametrize("status", [401, 403, 404, 400, 502])
async def test_proxy_error_does_not_mean_the_chat_is_gone(store: Store, server: TelegramServer, status: int) -> None:
    """A proxy's page with status 403 does not mean that the bot was blocked or kicked."""
    with capture_logs() as logs:
        async with on_telegram(store, server) as adapter:
            people = await seat_people(server, "metamazzo")
            await until(lambda: all(panels(person) for person in people))
            server.fail_next("editMessageText", *[Failure(body=PAGE, status=status)] * 6)
            await play_to_trick(server, people, 3)
            await adapter.worker.wait_until_idle()
    assert not [line for line in logs if line["event"] == "surface_given_up"]


async def test_command_is_answered_once_despite_nonsense(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server):
        anna = Person(server, 1, "Anna")
        server.fail_next("sendMessage", Failure(body=PAGE, done_first=True))
        anna.say("/honours")
        await until(lambda: bool(bot_texts(server)))
        anna.say("/leaderboard")
        await until(lambda: len(bot_texts(server)) == 2)
        await asyncio.sleep(0.1)
        assert len(bot_texts(server)) == 2


@pytest.mark.parametrize("body", [*NONSENSE, b'{"ok":true,"result":true}', b'{"ok":true,"result":{"id":1}}'])
async def test_unreadable_bot_name_is_requested_again(store: Store, server: TelegramServer, body: bytes) -> None:
    server.fail_next("getMe", *[Failure(body=body)] * 2)
    with capture_logs() as logs:
        async with on_telegram(store, server) as adapter:
            await until(lambda: adapter.healthy)
    # On a slow machine the outage can end between two failures.
    events = [line["event"] for line in logs if "platform" in line]
    assert [event for event in events if event != "platform_back"] == ["platform_away"]
    assert not any("exc_info" in line for line in logs)
    assert sum(method == "getMe" for method, _fields in server.calls) == 3


@pytest.mark.long
@pytest.mark.parametrize("has_webhook", [False, True])
async def test_revoked_token_is_logged_once(
    store: Store, server: TelegramServer, has_webhook: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "REFUSED_SECONDS", 0.05)
    monkeypatch.setattr(supervisor, "STEADY_SECONDS", 0.0)
    monkeypatch.setattr(webhook_module, "CHECK_SECONDS", 0.05)
    settings_fields = webhook_settings(free_port()) if has_webhook else {}
    with capture_logs() as logs:
        async with on_telegram(store, server, **settings_fields) as adapter:
            await until(lambda: adapter.healthy)
            server.token = "123456:another-one"
            worker = adapter.worker
            await until(lambda: worker.errors.get("telegram") == "token refused")
            monkeypatch.setattr(supervisor, "STEADY_SECONDS", 60.0)
            assert not adapter.healthy
            calls = sum(method == "getMe" for method, _ in server.calls)
            await asyncio.sleep(0.3)
            server.token = TOKEN
            await until(lambda: adapter.healthy)
            assert sum(method == "getMe" for method, _ in server.calls) > calls
            Person(server, 1, "Anna").say("/challenge testa")
            await until(lambda: bool(bot_texts(server)))
    refusals = [line for line in logs if line["event"] == "platform_refused"]
    assert [line["platform"] for line in refusals] == ["telegram"]
    assert "BUONGIOCO_TELEGRAM_TOKEN" in refusals[0]["what_to_do"]
    assert not [line for line in logs if TOKEN in str(line)]


@pytest.mark.parametrize("body", NONSENSE)
async def test_doctor_reports_nonsense_as_no_answer(server: TelegramServer, body: bytes) -> None:
    server.fail_next("getMe", Failure(body=body))
    settings = Settings(_env_file=None, telegram_token=TOKEN, telegram_api_url=server.url)
    [(is_well, line)] = [finding async for finding in examine(settings)]
    assert (is_well, "does not answer" in line) == (False, True)
