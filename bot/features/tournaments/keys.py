"""The storage keys of tournaments.

| key | type | contents |
|---|---|---|
| ``{tour:<code>}:log`` | list | a tournament's log (`bot.features.tournaments.entries`); expires after its end |
| ``{tour:<code>}:card`` | string | the state of its card, JSON (`bot.features.tournaments.card`) |
| ``{tour:<code>}:wish`` | string | a wish for its card, until the director applies it |
| ``{tour:<code>}:games`` | hash | duplicate games of open rounds, by round and id, as the archive keeps them |
| ``{tour:<code>}:reminded`` | set | reminders that were sent |
| ``tournaments`` | hash | codes of tournaments that are not over (`bot.store.index`) |
| ``tournaments:<chat>`` | hash | codes of a chat's tournaments that are not over |
| ``entered:<platform:id>`` | hash | codes of tournaments that a person entered or opened, while the log exists |
| ``organised:<platform:id>`` | hash | codes of tournaments that count for a person's limit |
"""

from bot.platform import chat_of

LIVE = "tournaments"


def log(code: str) -> str:
    return f"{{tour:{code}}}:log"


def card(code: str) -> str:
    return f"{{tour:{code}}}:card"


def wish(code: str) -> str:
    return f"{{tour:{code}}}:wish"


def games(code: str) -> str:
    return f"{{tour:{code}}}:games"


def reminded(code: str) -> str:
    return f"{{tour:{code}}}:reminded"


def in_chat(place: str) -> str:
    return f"tournaments:{chat_of(place)}"


def entered(person: str) -> str:
    return f"entered:{person}"


def organised(person: str) -> str:
    return f"organised:{person}"
