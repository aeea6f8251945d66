"""Places of Telegram's ephemeral messages, which only one member of a group sees.

They came with Bot API 10.2 and 10.3, so the library lacks their methods. A bot can send one within 15 seconds of the
person's press, or at any time as an administrator. Such a message can fail to arrive and can vanish.
"""

import time
from dataclasses import replace
from typing import Any

from adapters.telegram.limits import EPHEMERAL_SECONDS
from bot.places import Place


def recipient_fields(place: str) -> dict[str, Any]:
    """Return the fields that show a new message to one person."""
    where = Place.parse(place)
    parameters: dict[str, Any] = {"receiver_user_id": int(where.person)}
    pressed_at, _, query = where.token.partition(".")
    # A press can be in the future if the clock was set back, or if another worker's clock is ahead.
    if query and abs(time.time() - int(pressed_at)) < EPHEMERAL_SECONDS:
        parameters["callback_query_id"] = query
    topic = int(where.part) if where.part else None
    return {"chat_id": int(where.chat), "message_thread_id": topic, "ephemeral_message_parameters": parameters}


def ephemeral_message_fields(place: str, message: str) -> dict[str, Any]:
    """Return the fields that identify an ephemeral message."""
    where = Place.parse(place)
    return {
        "chat_id": int(where.chat),
        "receiver_user_id": int(where.person),
        "ephemeral_message_id": int(message),
    }


def ephemeral_place_of(place: str, user: int, query: str) -> str:
    """Return the ephemeral place of a person in a group who has just pressed a button."""
    return str(replace(Place.parse(place), person=str(user), token=f"{int(time.time())}.{query}"))
