"""Puzzles on Discord. In a server only the presser reads the result."""

from typing import Any

from bot.features.puzzles.collection import all_puzzles
from bot.store import Store
from engine.puzzles.puzzle import Puzzle
from tests.discord.players import Person, buttons_of, on_discord, picture_of, seat_people, text_of, until
from tests.discord.server import CHANNEL, Channel, DiscordServer
from tests.discord.test_pictures import _fast_pictures

__all__ = ["_fast_pictures"]


def puzzle_message(person: Person, channel: Channel) -> dict[str, Any]:
    return next(message for message in person.visible_messages(channel) if "🧩" in text_of(message))


def card_buttons(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the buttons of a puzzle's cards, without those that choose the hour of the daily puzzle."""
    return [
        button
        for button in buttons_of(message)
        if "1ppuzzle" in button["custom_id"] and " hour " not in button["custom_id"]
    ]


def puzzle_of(message: dict[str, Any]) -> Puzzle:
    words = card_buttons(message)[0]["custom_id"].split("1ppuzzle ")[1].split()
    return all_puzzles()[words[1]]


def card_label(message: dict[str, Any], card: int) -> str:
    code = puzzle_of(message).pack.codes[card]
    return str(
        next(button["label"] for button in card_buttons(message) if button["custom_id"].split()[-1].startswith(code))
    )


async def test_puzzle_is_asked_and_explained_in_one_message(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server, pictures=True):
        [anna, _bruno] = await seat_people(server, "testa")
        await anna.slash("puzzle", anna.private)
        await until(
            lambda: any(
                "🧩" in text_of(message) and picture_of(message) for message in anna.visible_messages(anna.private)
            )
        )
        message = puzzle_message(anna, anna.private)
        puzzle = puzzle_of(message)
        await anna.press(card_label(message, puzzle.best), anna.private)
        await until(lambda: "✅" in text_of(puzzle_message(anna, anna.private)))
        assert puzzle_message(anna, anna.private)["id"] == message["id"]
        await anna.press("Next puzzle", anna.private)
        await until(lambda: "Which card earns most" in text_of(puzzle_message(anna, anna.private)))
        assert puzzle_of(puzzle_message(anna, anna.private)).id != puzzle.id


async def test_only_the_presser_reads_the_answer_in_a_server(store: Store, server: DiscordServer) -> None:
    channel = server.channels[CHANNEL]
    async with on_discord(store, server, pictures=True):
        [anna, bruno] = await seat_people(server, "testa")
        await anna.slash("puzzle")
        await until(lambda: any("🧩" in text_of(message) for message in anna.visible_messages(channel)))
        message = puzzle_message(anna, channel)
        puzzle = puzzle_of(message)
        await anna.press(card_label(message, puzzle.best), channel)
        await until(lambda: any("✅" in text_of(message) for message in channel.ephemerals[anna.number].values()))
        await until(lambda: "1 of 1 answer was right." in text_of(puzzle_message(anna, channel)))
        await bruno.press(card_label(message, puzzle.lines[-1].cards[0]), channel)
        await until(lambda: any("❌" in text_of(message) for message in channel.ephemerals[bruno.number].values()))
        await until(lambda: "1 of 2 answers were right." in text_of(puzzle_message(bruno, channel)))
        assert not [message for message in channel.messages.values() if {"✅", "❌"} & set(text_of(message))]
