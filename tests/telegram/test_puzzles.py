"""Puzzles on Telegram. In a group only the presser reads the result."""

from typing import Any

import pytest

from bot.features.puzzles.collection import all_puzzles
from bot.features.puzzles.feature import PuzzlesFeature
from bot.store import Store
from engine.puzzles.puzzle import Puzzle
from tests.telegram.content import buttons_of, payloads_of, text_of
from tests.telegram.players import GROUP, Person, on_telegram, seat_people, until
from tests.telegram.server import Chat, TelegramServer
from tests.telegram.test_pictures import painted_texts

pytestmark = pytest.mark.usefixtures("painted_texts")
__all__ = ["painted_texts"]


def puzzle_of(message: dict[str, Any]) -> Puzzle:
    return all_puzzles()[payloads_of(message)[0].split()[2]]


def puzzle_message(chat: Chat) -> dict[str, Any]:
    return next(message for message in chat.messages.values() if "🧩" in text_of(message))


def card_label(person: Person, chat: Chat, card: int) -> str:
    """Return the label of a card's button on a puzzle."""
    message = puzzle_message(chat)
    code = puzzle_of(message).pack.codes[card]
    return str(next(button["text"] for button in buttons_of(message) if button["callback_data"].endswith(f" {code}")))


async def test_puzzle_and_solution_share_one_message(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, pictures=True) as adapter:
        [anna, _bruno] = await seat_people(server, "testa")
        anna.say("/puzzle", anna.private)
        await until(lambda: any("🧩" in text_of(message) for message in anna.private.messages.values()))
        message = puzzle_message(anna.private)
        assert message["photo"]
        puzzle = puzzle_of(message)
        await anna.press(card_label(anna, anna.private, puzzle.best), anna.private)
        await until(lambda: "✅" in text_of(anna.private.messages[message["message_id"]]))
        await anna.press("Next puzzle", anna.private)
        await until(lambda: "✅" not in text_of(puzzle_message(anna.private)))
        assert puzzle_of(puzzle_message(anna.private)).id != puzzle.id
        await adapter.worker.wait_until_idle()


async def test_only_the_presser_reads_the_answer_in_a_group(store: Store, server: TelegramServer) -> None:
    group = server.group(GROUP)
    async with on_telegram(store, server, pictures=True) as adapter:
        [anna, bruno] = await seat_people(server, "testa")
        anna.say("/puzzle")
        await until(lambda: any("🧩" in text_of(message) for message in group.messages.values()))
        puzzle = puzzle_of(puzzle_message(group))
        puzzles = adapter.worker.feature(PuzzlesFeature).groups
        assert puzzle == await puzzles.puzzle(puzzles.today())
        assert "✅" in await anna.press(card_label(anna, group, puzzle.best), group)
        await until(lambda: "1 of 1 answer was right." in text_of(puzzle_message(group)))
        assert "❌" in await bruno.press(card_label(bruno, group, puzzle.lines[-1].cards[0]), group)
        await until(lambda: "1 of 2 answers were right." in text_of(puzzle_message(group)))
        assert "Best play" not in text_of(puzzle_message(group))
        await anna.press("18:00", group)
        await until(lambda: "• 18:00" in str(puzzle_message(group)["reply_markup"]))
