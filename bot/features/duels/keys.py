"""Keys of duels, and of matches of groups, in the store.

| key | type | contents |
|---|---|---|
| ``{duel:<code>}:duel`` | hash | a duel (`bot.features.duels.store`); kept for 400 days, or a day if nobody accepted |
| ``{duel:<code>}:games`` | hash | games of deals that one player has not played yet, in the archive's format |
| ``duels:due`` | sorted set | codes of duels to close; the score is their end in Unix seconds, 0 for now |
| ``duels:messages`` | sorted set | messages to send: code, kind and side; the score is the time, in Unix seconds |
| ``duels:of:<platform:id>`` | sorted set | codes of a person's duels and invitations, by their opening |
| ``duels:of:<platform>:@<handle>`` | sorted set | codes of invitations of a person known only by a handle |
| ``duels:in:<chat>`` | sorted set | codes of duels that were opened in a group, by their opening; kept for 30 days |
| ``{match:<code>}:match`` | hash | a match of two groups (`bot.features.duels.matches.store`); kept for 400 days |
| ``{match:<code>:<side>}:board`` | string | the state of a group's message, JSON (`bot.delivery.live_messages`) |
| ``{match:<code>:<side>}:wish`` | string | a wish for this message, until the loop applies it |
| ``matches:due`` | sorted set | codes of matches to look at; the score is the next check, in Unix seconds |
| ``matches:of:<platform:id>`` | sorted set | codes of matches that a person entered or organises, by their opening |
| ``matches:in:<chat>`` | string | code of a group's last match |
"""

from bot.store.keys import prefix_key

DUE = "duels:due"
MESSAGES = "duels:messages"
MATCHES_DUE = "matches:due"

duel = prefix_key("{duel:", "}:duel")
games = prefix_key("{duel:", "}:games")
of_person = prefix_key("duels:of:")
in_chat = prefix_key("duels:in:")

match = prefix_key("{match:", "}:match")
board = prefix_key("{match:", "}:board")
board_wish = prefix_key("{match:", "}:wish")
matches_of = prefix_key("matches:of:")
match_in = prefix_key("matches:in:")
