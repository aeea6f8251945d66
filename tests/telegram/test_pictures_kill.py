"""A bot killed while it sends pictures. Each message exists once, with text and picture of one state."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.kills.bot_process import Bot
from tests.kills.harness import Harness
from tests.telegram.content import payloads_of, text_of
from tests.telegram.kills import on_telegram
from tests.telegram.players import GROUP, Person, until
from tests.telegram.server import BOT, TOKEN, Chat, Failure, TelegramServer

PATIENCE = 60.0

PROGRAM_WITHOUT_TIMEOUTS = """
from adapters.telegram import photos
from bot.cli.main import main
from bot.pictures import pool

photos.UPLOAD_SECONDS = pool.MAX_WAIT_SECONDS = 3600.0
main()
"""
"""A bot without picture timeouts. On a slow machine it sends no text alone before the kill."""


def remove_timeouts(bot: Bot) -> Bot:
    bot.command = (sys.executable, "-c", PROGRAM_WITHOUT_TIMEOUTS)
    return bot


def panels(person: Person) -> list[dict[str, Any]]:
    """Return the bot's messages in a private chat, oldest first."""
    return [message for message in person.private.messages.values() if message["from"] == BOT]


def photos(chat: Chat) -> list[dict[str, Any]]:
    return [message for message in chat.messages.values() if message["from"] == BOT and "photo" in message]


def hand(person: Person) -> dict[str, Any]:
    return panels(person)[-1]


def card_payload(person: Person) -> str:
    return next(payload for payload in payloads_of(hand(person)) if ":play " in payload)


def chats_with_edits(server: TelegramServer, since: int) -> set[int]:
    """Return the chats with an edit of a photo among the calls after the first ``since``."""
    return {fields["chat_id"] for method, fields in server.calls[since:] if method == "editMessageMedia"}


async def wait_until_quiet(server: TelegramServer) -> None:
    """Wait until nothing was sent for two seconds."""
    before = -1
    while before != (calls := sum(method != "getUpdates" for method, _fields in server.calls)):
        before = calls
        await asyncio.sleep(2.0)


@pytest.mark.long
@pytest.mark.parametrize(
    "failure", [Failure(silent=True), Failure(silent=True, done_first=True)], ids=["edit lost", "edit made"]
)
async def test_kill_in_an_upload_leaves_one_message_per_person(
    server: TelegramServer, tmp_path: Path, failure: Failure
) -> None:
    bot = remove_timeouts(Bot(tmp_path, BUONGIOCO_TELEGRAM_TOKEN=TOKEN, BUONGIOCO_TELEGRAM_API_URL=server.url))
    people = [Person(server, number, name) for number, name in enumerate(("Anna", "Bruno"), 1)]
    group = server.group(GROUP)
    async with aiohttp.ClientSession() as session:
        try:
            await bot.start()
            await bot.wait_until_healthy(session)
            people[0].say("/challenge testa")
            await people[1].press("Join", group)
            await until(lambda: all(photos(person.private) for person in people) and len(photos(group)) == 1, PATIENCE)
            await wait_until_quiet(server)
            mover, other = sorted(people, key=lambda person: "Your turn" not in text_of(hand(person)))
            before, calls = [text_of(hand(person)) for person in people], len(server.calls)
            # Both hands and the board are edited.
            server.fail_next("editMessageMedia", failure, failure, failure)
            await mover.send_press(mover.private, hand(mover), card_payload(mover))
            await until(lambda: mover.number in chats_with_edits(server, calls), PATIENCE)
            await bot.kill()
            assert ("Your turn" not in text_of(hand(mover))) == failure.done_first
            server.clear_failures()
            calls = len(server.calls)
            await bot.start()
            await bot.wait_until_healthy(session)
            # The bot does not know which pictures are shown.
            await until(lambda: chats_with_edits(server, calls) == {mover.number, other.number, GROUP}, PATIENCE)
            await wait_until_quiet(server)
            assert all(len(panels(person)) == 1 and "photo" in hand(person) for person in people)
            assert not any(text_of(hand(person)) in before for person in people)
            assert ["Your turn" in text_of(hand(person)) for person in (mover, other)] == [False, True]
            [board] = photos(group)
            assert "On the table" in text_of(board)
        finally:
            await bot.kill()
            bot.kill_store()


@pytest.mark.long
async def test_board_is_sent_twice_if_a_kill_lost_its_answer(tmp_path: Path) -> None:
    """The board is sent twice, because Telegram does not recognise a repeated message.

    The first board is unknown to the bot. It keeps the text and picture from before the first card.
    """
    async with on_telegram(tmp_path) as page, aiohttp.ClientSession() as session:
        harness, server = Harness(page, 1), page.server
        remove_timeouts(harness.bot)
        page.patience = PATIENCE
        anna, bruno = people = page.persons["1"], page.persons["2"]
        group = server.group(GROUP - 1)
        try:
            await harness.bot.start()
            await page.connect(session)
            # A game at another table starts the painter. Its board can come after its hands.
            anna.say("/challenge testa")
            await bruno.press("Join", server.group(GROUP))
            await until(lambda: all(panels(person) and "photo" in hand(person) for person in people), PATIENCE)
            await until(lambda: len(photos(server.group(GROUP))) == 1, PATIENCE)
            # Two hands and a board are sent, but the bot gets no answer.
            server.fail_next("sendPhoto", *[Failure(silent=True, done_first=True)] * 3)
            anna.say("/challenge testa", group)
            await bruno.press("Join", group)
            await until(
                lambda: len(photos(group)) == 1 and all(len(panels(person)) == 2 for person in people), PATIENCE
            )
            mover = next(person for person in people if "Your turn" in text_of(hand(person)))
            payload = card_payload(mover)
            harness.players.pressed["a card"] = (str(mover.number), payload)
            press = {"as": str(mover.number), "message": hand(mover)["message_id"], "payload": payload}
            assert await page.ask("a card", do="press", **press) == "done"
            # Three messages are at risk. A count by age would depend on the machine's speed.
            harness._at_risk = 3
            await harness.bot.kill()
            server.clear_failures()
            await harness.check(session)
            unknown_photo, known_photo = photos(group)
            assert "On the table" not in text_of(unknown_photo)
            assert "On the table" in text_of(known_photo)
            pictures = [
                server.photos.files[message["photo"][-1]["file_id"]] for message in (unknown_photo, known_photo)
            ]
            assert pictures[0] != pictures[1]
        finally:
            await harness.bot.kill()
            harness.bot.kill_store()
