"""Updates by webhook, to one worker or to several behind a load balancer."""

import asyncio
import socket
import time
from contextlib import AsyncExitStack
from random import Random
from typing import Any

import aiohttp
import pytest
from structlog.testing import capture_logs

from adapters.telegram import webhook as webhook_module
from adapters.telegram.webhook import Webhook, secret_of
from bot.delivery import outages
from bot.settings import BadSetting
from bot.store import Store, keys, retries
from tests.kills.bot_process import free_port
from tests.telegram.balancer import run_balancer
from tests.telegram.content import Refused
from tests.telegram.players import GROUP, Person, on_telegram, until
from tests.telegram.server import BOT, TOKEN, Failure, TelegramServer
from tests.tricks import has_reached_trick


def webhook_settings(port: int) -> dict[str, Any]:
    return {"telegram_webhook_url": f"http://127.0.0.1:{port}/cards", "telegram_webhook_port": port}


def dated_message(date: int) -> dict[str, Any]:
    return {"message_id": 1, "date": date, "chat": {"id": 1, "type": "private"}, "text": "x"}


def command_fields(text: str, user: dict[str, Any]) -> dict[str, Any]:
    entity = {"type": "bot_command", "offset": 0, "length": len(text)}
    return {"text": text, "entities": [entity], "from": {"is_bot": False, "first_name": "Zeno", **user}}


def upgrade_group(server: TelegramServer) -> None:
    """Send the update that turns the group into a supergroup."""
    chat = server.group(GROUP).as_json
    server.push(message={"message_id": 1, "date": 1, "chat": chat, "migrate_to_chat_id": -100777})


async def test_game_can_be_played_by_webhook(store: Store, server: TelegramServer) -> None:
    port = free_port()
    async with on_telegram(store, server, **webhook_settings(port)) as adapter:
        await until(lambda: adapter.healthy)
        assert server.webhook["allowed_updates"] == [
            "message",
            "callback_query",
            "inline_query",
            "chosen_inline_result",
            "guest_message",
            "my_chat_member",
        ]
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        anna.say("/challenge metamazzo")
        await bruno.press("Join", server.group(GROUP))
        random = Random(1)
        for _ in range(300):
            await anna.play(random)
            await bruno.play(random)
            await asyncio.sleep(0.01)
            if has_reached_trick(3, (message["text"] for message in server.group(GROUP).messages.values())):
                break
        else:
            raise AssertionError("trick 3 was not reached")
    # The webhook stays set for the next start.
    assert server.webhook


async def test_any_worker_handles_any_update(store: Store, server: TelegramServer) -> None:
    ports = [free_port(), free_port()]
    async with run_balancer(ports) as front, AsyncExitStack() as stack:
        adapters = []
        for port in ports:
            settings = webhook_settings(port) | {"telegram_webhook_url": f"http://127.0.0.1:{front}/cards"}
            running = on_telegram(store, server, alone=False, **settings)
            adapters.append(await stack.enter_async_context(running))
        await until(lambda: all(adapter.healthy for adapter in adapters))
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        anna.say("/challenge metamazzo")
        await bruno.press("Join", server.group(GROUP))
        random = Random(1)

        def texts() -> list[str]:
            return [message["text"] for message in server.group(GROUP).messages.values()]

        for _ in range(300):
            if has_reached_trick(6, texts()):
                break
            await anna.play(random)
            await bruno.play(random)
            await asyncio.sleep(0.02)
        else:
            raise AssertionError("trick 6 was not reached")
        for person in (anna, bruno):
            assert sum(message["from"] == BOT for message in person.private.messages.values()) == 1


async def test_redelivered_update_counts_once(store: Store, server: TelegramServer) -> None:
    port = free_port()
    async with on_telegram(store, server, **webhook_settings(port)) as adapter:
        await until(lambda: adapter.healthy)
        server.redeliver = True
        Person(server, 1, "Anna").say("/challenge metamazzo")
        await until(lambda: len(server.refused_by_webhook) > 5)
        server.redeliver = False
        await adapter.worker.wait_until_idle()
        assert sum(message["from"] == BOT for message in server.group(GROUP).messages.values()) == 1


async def test_refused_chat_move_is_delivered_again(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_telegram(store, server, **webhook_settings(free_port())) as adapter:
        await until(lambda: adapter.healthy)
        monkeypatch.setattr(retries, "MAX_WAITING", 0)
        upgrade_group(server)
        await until(lambda: len(server.refused_by_webhook) > 2)
        assert set(server.refused_by_webhook) == {503}
        monkeypatch.setattr(retries, "MAX_WAITING", 10)
        await until(lambda: not server._updates)
        assert await store.client.hgetall(keys.MOVED) == {f"telegram:{GROUP}".encode(): b"telegram:-100777"}


async def test_impossible_chat_move_is_logged_and_dropped(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, **webhook_settings(free_port())) as adapter:
        await until(lambda: adapter.healthy)
        await store.client.set(keys.MOVED, "no hash")
        with capture_logs() as logs:
            upgrade_group(server)
            await until(lambda: not server._updates)
    assert [line["event"] for line in logs if "exc_info" in line] == ["work_failed"]
    assert "telegram_update_lost" in [line["event"] for line in logs]
    assert not server.refused_by_webhook


async def test_webhook_refuses_strangers_and_odd_bodies(store: Store, server: TelegramServer) -> None:
    port = free_port()
    with capture_logs() as logs:
        await check_refusals(store, server, port)
    assert not [line for line in logs if line["log_level"] == "error"]


async def check_refusals(store: Store, server: TelegramServer, port: int) -> None:
    async with on_telegram(store, server, **webhook_settings(port)) as adapter, aiohttp.ClientSession() as session:
        await until(lambda: adapter.healthy)
        url = f"http://127.0.0.1:{port}"
        secret = {"X-Telegram-Bot-Api-Secret-Token": secret_of(TOKEN)}
        wrong = {"X-Telegram-Bot-Api-Secret-Token": "è" * 9}
        update = {"update_id": 1}
        for headers, body, status in (
            ({}, update, 403),
            (wrong, update, 403),
            (secret, update, 200),
            # Telegram would repeat these if they were refused, and hold back later updates.
            (secret, [], 200),
            (secret, {"update_id": 2, "message": 7}, 200),
            (secret, {"update_id": 3, "callback_query": {"id": []}}, 200),
            (secret, {"update_id": "3\n4\t5", "message": dated_message(1)}, 200),
            (secret, {"update_id": 5, "callback_query": {"id": "1", "chat_instance": "1", "data": "x"}}, 200),
            (secret, {"update_id": 6, "message": {**dated_message(1), **command_fields("/help", {"id": "1\n2"})}}, 200),
            (
                secret,
                {"update_id": 7, "message": {**dated_message(1), **command_fields("/help", {"id": 10**300})}},
                200,
            ),
            (secret, {"update_id": 8, "message": {**dated_message(1), **command_fields("/\ud800 x", {"id": 9})}}, 200),
            *((secret, {"update_id": 4, "message": dated_message(date)}, 200) for date in (2**63, 2**53, -(10**300))),
        ):
            async with session.post(f"{url}/cards", json=body, headers=headers) as answer:
                assert answer.status == status, (body, status)
                assert TOKEN not in await answer.text()
        async with session.post(f"{url}/cards", data=b"{", headers=secret) as answer:
            assert answer.status == 400
        for charset in ("no-such", "utf-16"):
            odd = {**secret, "Content-Type": f"application/json; charset={charset}"}
            async with session.post(f"{url}/cards", data=b'{"update_id": 4}', headers=odd) as answer:
                assert answer.status == 200
        for malformed in (b"[" * 100_000, b"9" * 5000, b'"\xff"', b""):
            async with session.post(f"{url}/cards", data=malformed, headers=secret) as answer:
                assert answer.status == 400
        async with session.post(f"{url}/elsewhere", json=update, headers=secret) as answer:
            assert answer.status == 404

        # A secret that is not valid UTF-8.
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = b"POST /cards HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nX-Telegram-Bot-Api-Secret-Token: "
        writer.write(head + b"\xff\xfe\r\n\r\n")
        assert await reader.readline() == b"HTTP/1.1 403 Forbidden\r\n"
        writer.close()

        # A request from a proxy that forwards no headers.
        for path in (b"healthz", b"metrics"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /" + path + b" HTTP/1.0\r\nHost: a\r\n\r\n")
            assert await reader.readline() == b"HTTP/1.0 403 Forbidden\r\n"
            writer.close()

        async with session.get(f"{url}/healthz") as answer:
            assert (answer.status, (await answer.json())["adapters"]) == (200, {"telegram": "up"})
        async with session.get(f"{url}/metrics") as answer:
            assert "buongioco_presses" in await answer.text()
        for host in ("cards.example.org", "evil.example", ""):
            for page in ("healthz", "metrics"):
                async with session.get(f"{url}/{page}", headers={"Host": host}) as answer:
                    assert answer.status == 403, (host, page)
    assert TOKEN.partition(":")[2] not in secret_of(TOKEN)


async def test_webhook_errors_are_logged_and_it_is_set_again(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_module, "CHECK_SECONDS", 0.05)
    port = free_port()
    with capture_logs() as logs:
        async with on_telegram(store, server, **webhook_settings(port)) as adapter:
            await until(lambda: adapter.healthy)
            server.refused_by_webhook.append(502)
            await until(lambda: any(line["event"] == "telegram_webhook_unreachable" for line in logs))
            # Another program has removed the webhook.
            server.webhook = {}
            await until(lambda: bool(server.webhook))


@pytest.mark.parametrize("has_pending", [False, True])
async def test_old_webhook_error_is_logged_only_with_pending_updates(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch, has_pending: bool
) -> None:
    monkeypatch.setattr(webhook_module, "CHECK_SECONDS", 0.05)
    server.refused_by_webhook.append(502)
    server.webhook_failed_at = int(time.time()) - 3600
    if has_pending:
        Person(server, 1, "Anna").say("ciao")
    with capture_logs() as logs:
        async with on_telegram(store, server, **webhook_settings(free_port())):
            # The second check comes after everything logged by the first.
            await until(lambda: sum(method == "getWebhookInfo" for method, _ in server.calls) > 2)
    assert [line["event"] for line in logs].count("telegram_webhook_unreachable") == has_pending


async def test_rate_limited_set_webhook_is_retried(store: Store, server: TelegramServer) -> None:
    """Telegram allows one call a second (tdlib/telegram-bot-api, Client::process_set_webhook_query)."""
    server.fail_next("setWebhook", Failure(Refused(429, "Too Many Requests: retry after 1", retry_after=1)))
    with capture_logs() as logs:
        async with on_telegram(store, server, **webhook_settings(free_port())) as adapter:
            await until(lambda: adapter.healthy)
    assert sum(method == "setWebhook" for method, _ in server.calls) == 2
    assert "platform_away" not in [line["event"] for line in logs]


async def test_outage_is_logged_once_at_its_start_and_its_end(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bot stays unhealthy although it sends no message during the outage and checks rarely."""
    monkeypatch.setattr(webhook_module, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(webhook_module, "FIRST_PAUSE", 0.3)
    monkeypatch.setattr(outages, "QUIET_SECONDS", 0.05)
    with capture_logs() as logs:
        async with on_telegram(store, server, **webhook_settings(free_port())) as adapter:
            await until(lambda: adapter.healthy)
            server.outage = Failure(Refused(502, "Bad Gateway"))
            await until(lambda: not adapter.healthy)
            states = set()
            for _ in range(60):
                states.add((await adapter.worker.check_health())["adapters"]["telegram"][:5])
                await asyncio.sleep(0.02)
            assert states == {"down:"}
            before = server.webhook
            server.outage = None
            await until(lambda: any(line["event"] == "platform_back" for line in logs))
            assert (await adapter.worker.check_health())["adapters"]["telegram"] == "up"
            assert server.webhook is before, "the bot must not set the webhook again"
    events = [line["event"] for line in logs if line["event"].startswith("platform_")]
    assert events == ["platform_away", "platform_back"]


async def test_server_without_webhook_info_still_works(store: Store, server: TelegramServer) -> None:
    server.missing_methods = {"getWebhookInfo"}
    async with on_telegram(store, server, **webhook_settings(free_port())) as adapter:
        await until(lambda: adapter.healthy)
        Person(server, 1, "Anna").say("/challenge testa")
        await until(lambda: any(message["from"] == BOT for message in server.group(GROUP).messages.values()))


async def test_polling_removes_the_webhook(store: Store, server: TelegramServer) -> None:
    server.webhook = {"url": "https://cards.example.org/telegram"}
    async with on_telegram(store, server) as adapter:
        await until(lambda: adapter.healthy)
        assert not server.webhook


async def test_taken_port_names_its_setting(store: Store, server: TelegramServer) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = int(listener.getsockname()[1])
        async with on_telegram(store, server) as adapter:
            worker = adapter.worker
            worker.settings = worker.settings.model_copy(update=webhook_settings(port))
            with pytest.raises(BadSetting, match="BUONGIOCO_TELEGRAM_WEBHOOK_PORT"):
                await Webhook(adapter.bot, adapter._handle, adapter.card_room).run()
