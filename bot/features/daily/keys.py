"""Keys of the deal of the day in the store.

| key | type | contents |
|---|---|---|
| ``daily:chain`` | string | the chains of secrets (`bot.features.daily.secret_chain.Chain`), a line each |
| ``daily:drawn`` | hash | the game of each day, by date |
| ``daily:open`` | set | days with games that are not in the archive yet |
| ``daily:reminders`` | hash | the hour of each person with a reminder, 0 to 23 |
| ``daily:asked:<platform:id>`` | set | days and groups where a person requested the deal; kept for 400 days |
| ``daily:days:<platform:id>`` | sorted set | days with a result of the person, by their ordinal |
| ``{daily:<day>}:results`` | hash | each person's result, JSON; kept for 400 days |
| ``{daily:<day>}:par`` | string | the robot's result, JSON; kept for 400 days |
| ``{daily:<day>}:chat:<chat>`` | set | people who requested the deal in a group; kept for 400 days |
| ``{daily:<day>}:games`` | hash | games of a day that is not over, by id, in the archive's format |
| ``{daily:<day>}:lines`` | hash | how each person played a past day (`bot.solo_deals.lines`); kept for a week |
| ``{daily:<day>}:reminded`` | set | people reminded on a day; kept for two days |
"""

from datetime import date

from bot.store.keys import prefix_key

CHAIN = "daily:chain"
DRAWN = "daily:drawn"
OPEN = "daily:open"
REMINDERS = "daily:reminders"


# keys of people, by their ids
requests_of_person = prefix_key("daily:asked:")
days = prefix_key("daily:days:")

# keys of days
results = prefix_key("{daily:", "}:results")
par = prefix_key("{daily:", "}:par")
games = prefix_key("{daily:", "}:games")
lines = prefix_key("{daily:", "}:lines")
reminded_people = prefix_key("{daily:", "}:reminded")


def requests(day: date, chat: str) -> str:
    return f"{{daily:{day}}}:chat:{chat}"
