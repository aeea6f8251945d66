"""The sentence about why the best card of a puzzle earns more."""

import re

import pytest

from bot.features.puzzles.collection import all_puzzles
from bot.features.puzzles.reasons import reason
from bot.features.puzzles.texts import PuzzleText
from bot.texts import LANGUAGES
from bot.words.spoken import card_in_sentence
from engine import GAMES
from engine.puzzles.puzzle import Puzzle


def find_puzzle(game: str, trick: int) -> Puzzle:
    """Return a puzzle of a game with this number of cards on the table."""
    return next(puzzle for puzzle in all_puzzles().values() if puzzle.game == game and len(puzzle.trick) == trick)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_reason_names_both_cards(game: str, language: str) -> None:
    for puzzle in [puzzle for puzzle in all_puzzles().values() if puzzle.game == game][:40]:
        position = PuzzleText(language, "codes", puzzle)
        codes = [puzzle.pack.codes[line.cards[0]] for line in puzzle.lines]
        for code in codes:
            text = reason(position, code)
            assert card_in_sentence(position.words, codes[0]) in text
            assert card_in_sentence(position.words, codes[1] if code == codes[0] else code) in text


def test_reason_names_what_the_opponents_get_otherwise() -> None:
    puzzle = all_puzzles()["c9bf1f1b"]
    assert reason(PuzzleText("en", "codes", puzzle), "5S") == (
        "With the 5 of swords your opponents take the ace of swords later."
    )


def test_reason_does_not_list_the_card_that_is_played() -> None:
    for puzzle in all_puzzles().values():
        position = PuzzleText("en", "codes", puzzle)
        best, other = (puzzle.pack.codes[line.cards[0]] for line in puzzle.lines[:2])
        text = reason(position, other)
        with_best = re.split("[.,] [Ww]ith ", text)[0]
        assert with_best.count(card_in_sentence(position.words, best)) <= 1, text


def test_reason_at_spades_counts_tricks_and_bids() -> None:
    position = PuzzleText("en", "codes", all_puzzles()["c5ef3ddb"])
    text = reason(position, "6D")
    assert text == (
        "With the king of diamonds you take 5 tricks and keep your bid of 5. With the 6 of diamonds you take 4."
    )


@pytest.mark.parametrize(
    ("trick", "order", "notes"),
    [
        (0, "You lead. After you: right, partner, left.", ["", "plays next", "", ""]),
        (1, "Left led. After you: right, partner.", ["", "plays next", "", "led"]),
        (2, "Partner led. After you: right.", ["", "plays next", "led", ""]),
        (3, "Right led. You play last.", ["", "led", "", ""]),
    ],
)
def test_position_tells_the_order_of_play(trick: int, order: str, notes: list[str]) -> None:
    position = PuzzleText("en", "codes", find_puzzle("tressette", trick))
    assert position.order() == order
    assert [position.seat_note(seat) for seat in range(4)] == notes


def test_position_tells_the_order_of_two_players() -> None:
    assert PuzzleText("en", "codes", find_puzzle("testa", 0)).order() == "You lead. After you: opponent."
    assert PuzzleText("en", "codes", find_puzzle("testa", 1)).order() == "Opponent led. You play last."
