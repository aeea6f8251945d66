"""The storage keys of tournaments.

| key | type | contents |
|---|---|---|
| ``{tour:<code>}:log`` | list | a tournament's log (`bot.features.tournaments.log_entries`); expires after its end |
| ``{tour:<code>}:card`` | string | the state of its card, JSON (`bot.delivery.live_messages`) |
| ``{tour:<code>}:wish`` | string | a wish for its card, until the director applies it |
| ``{tour:<code>}:games`` | hash | duplicate games of open rounds, by round and id, as the archive keeps them |
| ``{tour:<code>}:reminded`` | set | reminders that were sent |
| ``tournaments`` | hash | codes of tournaments that are not over (`bot.store.index`) |
| ``tournaments_public`` | hash | codes of tournaments that everyone can see on the web page and that are not over |
| ``tournaments:<chat>`` | hash | codes of a chat's tournaments that are not over |
| ``entered:<platform:id>`` | hash | codes of tournaments that a person entered or opened, while the log exists |
| ``organised:<platform:id>`` | hash | codes of tournaments that count for a person's limit |
"""

from bot.platform import chat_of
from bot.store.keys import prefix_key

LIVE = "tournaments"
PUBLIC = "tournaments_public"


# keys of tournaments, by their codes
log = prefix_key("{tour:", "}:log")
card = prefix_key("{tour:", "}:card")
wish = prefix_key("{tour:", "}:wish")
games = prefix_key("{tour:", "}:games")
sent_reminders = prefix_key("{tour:", "}:reminded")

# keys of people, by their ids
tournaments_of_person = prefix_key("entered:")
organised_by = prefix_key("organised:")


def in_chat(place: str) -> str:
    return f"tournaments:{chat_of(place)}"
