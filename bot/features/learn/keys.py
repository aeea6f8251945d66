"""Keys of courses in the store.

| key | type | contents |
|---|---|---|
| ``{learn}:<course>`` | hash | each person's step, and moves in the last step (`bot.features.learn.lesson.Spot`) |
| ``{learn}:won:<course>`` | set | people who have finished the course |
| ``{learn}:known:<course>`` | set | people who know the course's games (`bot.features.learn.first_games`) |
"""


def spots(course: str) -> str:
    return f"{{learn}}:{course}"


def known_games(course: str) -> str:
    return f"{{learn}}:known:{course}"


def winners(course: str) -> str:
    return f"{{learn}}:won:{course}"
