"""Keys of Web Push in the store.

| key | type | contents |
|---|---|---|
| ``{push}:key`` | string | the bot's private VAPID key, 32 bytes |
| ``{push}:of:<platform:id>`` | hash | a person's browsers by id, JSON (`bot.features.web_push.subscriptions`) |
| ``{push}:due`` | sorted set | messages to send, JSON, by due time in Unix seconds (`bot.features.web_push.sending`) |
"""

from bot.store.keys import prefix_key

KEY = "{push}:key"
DUE = "{push}:due"

subscriptions = prefix_key("{push}:of:")  # by a person's id
