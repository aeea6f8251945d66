"""Keys of puzzles in the store.

| key | type | contents |
|---|---|---|
| ``{puzzles}:people`` | hash | each person's standing, JSON (`bot.features.puzzles.puzzle_ratings.PuzzleStanding`) |
| ``{puzzles}:ratings`` | hash | a puzzle's mu and sigma, by its id |
| ``{puzzles}:next`` | hash | a person's next puzzle, until they answer it |
| ``{puzzles}:answers:<platform:id>`` | hash | the card that a person answered with, by the puzzle's id |
| ``{puzzles}:chat:<chat>:<day>`` | hash | right and wrong answers to a day's puzzle in a group; kept for three days |
| ``{puzzles}:drawn`` | hash | the puzzle of each day, by date |
| ``{puzzles}:hours`` | hash | the hour at which each chat wants a puzzle, 0 to 23, by place |
| ``{puzzles}:sent:<day>`` | set | places to which a day's puzzle was sent; kept for two days |
"""

from datetime import date

from bot.store.keys import prefix_key

PEOPLE = "{puzzles}:people"
RATINGS = "{puzzles}:ratings"
NEXT = "{puzzles}:next"
DRAWN = "{puzzles}:drawn"
HOURS = "{puzzles}:hours"

answers = prefix_key("{puzzles}:answers:")  # by a person's id
sent = prefix_key("{puzzles}:sent:")  # by day


def chat_answers(chat: str, day: date) -> str:
    return f"{{puzzles}}:chat:{chat}:{day}"
