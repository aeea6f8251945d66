"""Keys of courses in the store.

| key | type | contents |
|---|---|---|
| ``{learn}:<course>`` | hash | each person's step, and their moves in the last one (`bot.features.learn.lesson.Spot`) |
"""


def spots(course: str) -> str:
    return f"{{learn}}:{course}"
