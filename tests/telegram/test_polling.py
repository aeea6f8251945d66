"""Updates are confirmed after they were handled. No update is lost or counts twice."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs
from telegram import Bot, Update

from adapters.telegram import polling as polling_module
from adapters.telegram.polling import Polling
from adapters.telegram.transport import AiohttpRequest, SendingRequest
from bot.delivery.outages import Outages
from bot.store import WorkDropped
from tests.kills.bot_process import Bot as BotProcess
from tests.telegram import server as server_module
from tests.telegram.content import buttons_of
from tests.telegram.players import GROUP, Person, until
from tests.telegram.server import TOKEN, Failure, TelegramServer


class Recorder:
    """A record of handled updates. Updates with held ids wait at their gates."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self.done: list[int] = []
        self.gates: dict[int, asyncio.Event] = {}

    def hold(self, *numbers: int) -> None:
        self.gates |= {number: asyncio.Event() for number in numbers}

    async def handle(self, update: Update) -> None:
        self.received.append(update.update_id)
        if update.update_id in self.gates:
            await self.gates[update.update_id].wait()
        self.done.append(update.update_id)


@asynccontextmanager
async def run_polling(server: TelegramServer, recorder: Recorder) -> AsyncIterator[Polling]:
    bot = Bot(
        TOKEN, base_url=f"{server.url}/bot", request=SendingRequest(), get_updates_request=AiohttpRequest(connections=1)
    )
    await bot.initialize()
    outages = Outages(lambda _platform: True, lambda _platform: None)
    polling = Polling(
        bot, recorder.handle, lambda platform, reason: outages.record_failure(platform, reason, certain=True)
    )
    task = asyncio.create_task(polling.run())
    try:
        yield polling
    finally:
        task.cancel()
        await asyncio.wait([task])
        await bot.shutdown()


def push_texts(server: TelegramServer, count: int = 1) -> None:
    anna = server.users.get(1) or Person(server, 1, "Anna").server.users[1]
    for _ in range(count):
        message = {"message_id": 1, "date": 1, "chat": server.group(GROUP).as_json, "from": anna, "text": "ciao"}
        server.push(message=message)


def pending_ids(server: TelegramServer) -> list[int]:
    return [update["update_id"] for update in server._updates]


async def test_update_is_confirmed_after_it_was_handled(server: TelegramServer) -> None:
    recorder = Recorder()
    recorder.hold(1000, 1001)
    push_texts(server, 2)
    async with run_polling(server, recorder):
        await until(lambda: recorder.received == [1000, 1001])
        calls = len(server.calls)
        await until(lambda: len(server.calls) > calls + 3)
        assert pending_ids(server) == [1000, 1001]
        # Updates are confirmed in order, and a repeated one is recognised.
        recorder.gates[1001].set()
        await until(lambda: recorder.done == [1001])
        calls = len(server.calls)
        await until(lambda: len(server.calls) > calls + 2)
        assert pending_ids(server) == [1000, 1001]
        recorder.gates[1000].set()
        await until(lambda: not pending_ids(server))
    assert recorder.received == [1000, 1001]


async def test_unhandled_updates_come_again_after_a_stop(
    server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = Recorder(), Recorder()
    first.hold(1001)
    push_texts(server, 3)
    async with run_polling(server, first):
        await until(lambda: first.done == [1000, 1002])
    assert pending_ids(server) == [1001, 1002]
    async with run_polling(server, second):
        await until(lambda: not pending_ids(server))
    assert second.done == [1001, 1002]


async def test_slow_update_does_not_hide_newer_ones(server: TelegramServer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert polling_module.SAME_OFFSET_SECONDS > server_module.SAME_OFFSET_SECONDS
    # A poll can arrive later than the next one, especially on a slow machine.
    monkeypatch.setattr(server_module, "SAME_OFFSET_SECONDS", 0.1)
    recorder = Recorder()
    recorder.hold(1000)
    push_texts(server)
    async with run_polling(server, recorder):
        await until(lambda: recorder.received == [1000])
        for number in (1001, 1002, 1003):
            push_texts(server)
            await until(partial(recorder.done.__contains__, number))
        recorder.gates[1000].set()
        await until(lambda: not pending_ids(server))
        assert not server.short_answers
    assert recorder.received == [1000, 1001, 1002, 1003]


async def test_first_update_is_confirmed_as_soon_as_it_is_handled(
    server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polling_module, "SAME_OFFSET_SECONDS", 3600.0)
    recorder = Recorder()
    recorder.hold(1000, 1001)
    push_texts(server, 2)
    async with run_polling(server, recorder):
        # The second poll brings the same update, so there is no third.
        await until(lambda: count_polls(server) == 2)
        recorder.gates[1000].set()
        await until(lambda: pending_ids(server) == [1001])
        push_texts(server)
        recorder.gates[1001].set()
        await until(lambda: recorder.done == [1000, 1001, 1002])
        await until(lambda: not pending_ids(server))


async def test_updates_after_a_slow_one_are_confirmed_together(server: TelegramServer) -> None:
    recorder = Recorder()
    recorder.hold(1000)
    push_texts(server, 3)
    polling = Polling(Bot(TOKEN), recorder.handle, lambda _platform, _reason: None)
    polling._start(server.pending)
    await until(lambda: recorder.done == [1001, 1002])
    # Telegram's answer to a poll that comes too soon.
    polling._start(server.pending[:1])
    recorder.gates[1000].set()
    await until(lambda: polling._offset != 1000)
    assert polling._offset == 1003


async def test_stuck_update_is_confirmed_early_for_a_full_batch(
    server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polling_module, "STUCK_SECONDS", 0.05)
    monkeypatch.setattr(polling_module, "SAME_OFFSET_SECONDS", 0.05)
    monkeypatch.setattr(server_module, "SAME_OFFSET_SECONDS", 0.0)
    recorder = Recorder()
    recorder.hold(1000, 1010)
    push_texts(server, 350)
    with capture_logs() as logs:
        async with run_polling(server, recorder):
            await until(lambda: len(recorder.done) == 348)
            # The second slow update hides none of the last hundred.
            assert len(recorder.received) == len(set(recorder.received)) == 350
            recorder.gates[1000].set()
            recorder.gates[1010].set()
            await until(lambda: not pending_ids(server))
    assert sorted(recorder.done) == list(range(1000, 1350))
    confirmed_early = [line["update"] for line in logs if line["event"] == "telegram_update_confirmed_early"]
    assert confirmed_early == [1000, 1010]


async def test_unreadable_update_is_skipped_and_logged(server: TelegramServer) -> None:
    recorder = Recorder()
    push_texts(server)
    server.push(message=7)
    server.push(my_chat_member=[1])
    push_texts(server)
    with capture_logs() as logs:
        async with run_polling(server, recorder):
            await until(lambda: not pending_ids(server))
    assert recorder.done == [1000, 1003]
    unreadable = [line["update"] for line in logs if line["event"] == "telegram_update_unreadable"]
    assert unreadable == [1001, 1002]


@pytest.mark.parametrize(
    "body",
    [
        b"<html><h1>502 Bad Gateway</h1></html>",
        b'{"ok":true,"result":[{"upda',
        b'{"ok":true}',
        b'{"ok":true,"result":{"update_id":1}}',
        b'{"ok":true,"result":true}',
        b"[]",
        b"[" * 100_000,
        b"",
    ],
)
async def test_nonsensical_answers_are_requested_again(
    server: TelegramServer, body: bytes, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(polling_module, "FIRST_PAUSE", 0.01)
    recorder = Recorder()
    server.fail_next("getUpdates", *[Failure(body=body, done_first=True)] * 3)
    push_texts(server)
    async with run_polling(server, recorder) as polling:
        await until(lambda: polling.is_receiving)
        await until(lambda: not pending_ids(server))
    assert recorder.done == [1000]
    assert "Traceback" not in "".join(capfd.readouterr())


async def test_updates_without_an_id_are_ignored(server: TelegramServer) -> None:
    recorder = Recorder()
    answer = {"ok": True, "result": [7, None, {}, {"update_id": None}, {"update_id": "9"}]}
    server.fail_next("getUpdates", *[Failure(body=json.dumps(answer).encode())] * 4)
    push_texts(server)
    async with run_polling(server, recorder):
        await until(lambda: not pending_ids(server))
    assert recorder.done == [1000]


# A kill between polling and answering


@pytest.mark.long
async def test_press_lost_in_a_kill_is_answered_by_the_next_bot(tmp_path: Path, server: TelegramServer) -> None:
    bot = BotProcess(tmp_path, BUONGIOCO_TELEGRAM_TOKEN=TOKEN, BUONGIOCO_TELEGRAM_API_URL=server.url)
    await bot.start()
    try:
        anna = Person(server, 1, "Anna")
        anna.say("/challenge testa")
        await until(lambda: anna.button("Add robot", server.group(GROUP)) is not None, 60)
        await anna.press("Add robot", server.group(GROUP))
        await until(lambda: anna.button("🤖 Easy", server.group(GROUP)) is not None)
        await until(lambda: not pending_ids(server))
        message, button = anna.button("🤖 Easy", server.group(GROUP)) or ({}, {})
        # The store does not answer, so the press is not answered.
        store = int((tmp_path / "data" / "valkey.pid").read_text())
        os.kill(store, signal.SIGSTOP)
        # A late answer is lost too.
        server.fail_next("answerCallbackQuery", Failure(silent=True))
        query = server.press(server.group(GROUP), message, 1, button["callback_data"])
        polls = count_polls(server)
        # One poll brings the press, and the next poll would confirm it.
        await until(lambda: count_polls(server) >= polls + 2)
        await bot.kill()
        os.kill(store, signal.SIGCONT)
        assert not server.answers[query]
        server.clear_failures()
        await bot.start()
        await until(lambda: "answered" in server.answers[query], 60)
        assert server.answers[query]["text"] == ""
        await until(lambda: bool(card_buttons(anna)))
    finally:
        await bot.kill()
        bot.kill_store()


def count_polls(server: TelegramServer) -> int:
    return sum(method == "getUpdates" for method, _ in server.calls)


def card_buttons(person: Person) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [
        (message, button)
        for message in person.private.messages.values()
        for button in buttons_of(message)
        if ":play" in button.get("callback_data", "")
    ]


async def test_dropped_update_is_retried_before_it_is_confirmed(
    server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polling_module, "FIRST_PAUSE", 0.05)

    class OverloadedRecorder(Recorder):
        dropped = 0

        async def handle(self, update: Update) -> None:
            if self.dropped < 3:
                self.dropped += 1
                assert polling._offset == update.update_id
                raise WorkDropped
            await super().handle(update)

    recorder = OverloadedRecorder()
    async with run_polling(server, recorder) as polling:
        push_texts(server)
        await until(lambda: len(recorder.done) == 1)
        await until(lambda: polling._offset == recorder.done[0] + 1)
    assert recorder.dropped == 3
