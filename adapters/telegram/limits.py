"""Telegram's limits: the rate of messages and edits, their sizes, and the wait that a 429 asks for.

Delivery paces each place by `GROUP_LIMIT` or `PRIVATE_LIMIT`, and all places together by `MESSAGES_PER_SECOND`
(`bot.delivery.send_limiter`). Edits count like new messages (tdlib/telegram-bot-api issue 648). After a 429, delivery
waits as `slow_down_error` says.
"""

import datetime as dt

from telegram.error import RetryAfter

from bot.platform import SlowDown
from bot.rate_limiter import RateLimit

# Telegram accepts 20 messages a minute in a group, over all its topics. The burst counts too. This limit allows 20 in
# 63.75 seconds, so that a message delayed in the network does not push later ones over the limit.
GROUP_LIMIT = RateLimit(burst=3, interval=3.75, per_chat=True)
PRIVATE_LIMIT = RateLimit(burst=10, interval=1.05)
MESSAGES_PER_SECOND = 30  # messages of one bot in all its chats

LONGEST_TEXT = 4096  # UTF-16 units
LONGEST_CAPTION = 1024  # UTF-16 units
LONGEST_TOAST = 200  # characters of an answer to a press
MAX_OFFERS = 50  # results of an inline query: core.telegram.org/bots/api#answerinlinequery
MAX_UPDATES = 100  # updates in one response to getUpdates
EPHEMERAL_SECONDS = 15  # time after a press in which the bot can send the presser an ephemeral message


def slow_down_error(error: RetryAfter) -> SlowDown:
    wait = error.retry_after
    return SlowDown(wait.total_seconds() if isinstance(wait, dt.timedelta) else float(wait))
