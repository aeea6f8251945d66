"""Keys of duels in the store.

| key | type | contents |
|---|---|---|
| ``{duel:<code>}:duel`` | hash | a duel (`bot.features.duels.store`); kept for 400 days, a day if closed unaccepted |
| ``{duel:<code>}:games`` | hash | games of deals that one player has not played yet, in the archive's format |
| ``duels:due`` | sorted set | codes of duels to close; the score is their end in Unix seconds, 0 for now |
| ``duels:messages`` | sorted set | messages to send: code, kind and side; the score is the time, in Unix seconds |
| ``duels:of:<platform:id>`` | sorted set | codes of a person's duels and invitations, by their opening |
| ``duels:of:<platform>:@<handle>`` | sorted set | codes of invitations of a person known only by a handle |
| ``duels:in:<chat>`` | sorted set | codes of duels that were opened in a group, by their opening; kept for 30 days |
"""

from bot.store.keys import prefix_key

DUE = "duels:due"
MESSAGES = "duels:messages"

duel = prefix_key("{duel:", "}:duel")
games = prefix_key("{duel:", "}:games")
of_person = prefix_key("duels:of:")
in_chat = prefix_key("duels:in:")
