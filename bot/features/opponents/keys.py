"""Keys of challenges to recent opponents in the store.

| key | type | contents |
|---|---|---|
| ``opponents:asked:<hash>`` | string | code of a person's last challenge to another; kept for six hours |

The hash is of both ids, under the store's secret.
"""

from bot.store.keys import prefix_key

last_challenge = prefix_key("opponents:asked:")
