"""Keys in the store for the search for opponents.

| key | type | contents |
|---|---|---|
| ``{find}:waiting`` | hash | each searching person's start in Unix seconds, and their wishes as JSON |
| ``{find}:asked`` | hash | each matched person's pairing, by its code (`bot.features.find.queue`) |
| ``{find}:pairings`` | hash | pairings by code: the people, their queue entries and their game, JSON |
| ``{find}:pages`` | hash | when each searching person's page last asked for the state, Unix seconds |
| ``{find}:looked:<update>`` | string | an update that began a search and was handled; expires after a day |
| ``{find}:left:<platform:id>`` | sorted set | found games that the person left; the score is the time; expires |
| ``{find}:farewell:<game>.<seat>`` | string | set once the player has said a phrase after the game; expires in a day |
| ``{find}:reports`` | hash | reports about strangers, by game and seat, JSON (`bot.features.find.reports`) |
| ``{find}:reports:untold`` | set | ids of reports that have not been sent to the host |
| ``{find}:reported:<platform:id>`` | string | number of reports that the person made; expires after a day |

The lists of blocked people are in the same slot (`bot.store.keys.FIND_BLOCKS`).
"""

from bot.store.keys import prefix_key

WAITING = "{find}:waiting"
ASKED = "{find}:asked"
PAIRINGS = "{find}:pairings"
PAGES = "{find}:pages"
REPORTS = "{find}:reports"
UNSENT_REPORTS = "{find}:reports:untold"

search_update = prefix_key("{find}:looked:")  # by an update's key
left_games = prefix_key("{find}:left:")  # by a person's id
report_count = prefix_key("{find}:reported:")  # by the id of the person who reports


def farewell(game_id: str, seat: int) -> str:
    return f"{{find}}:farewell:{game_id}.{seat}"
