"""Keys of courses in the store.

| key | type | contents |
|---|---|---|
| ``{learn}:<course>`` | hash | each person's step, and moves in the last step (`bot.features.learn.lesson.Spot`) |
| ``{learn}:won:<course>`` | set | people who have finished the course |
| ``{learn}:known:<course>`` | set | people who know the course's games (`bot.features.learn.first_games`) |
"""

from bot.store.keys import prefix_key

# by course
spots = prefix_key("{learn}:")
known_games = prefix_key("{learn}:known:")
winners = prefix_key("{learn}:won:")
