"""Messages sent each day at an hour that a person or a group chose."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from bot.actions import BadPayload
from bot.panel import Row, choice_button
from bot.platform import DeliveryError, is_retryable
from bot.texts import texts

HOURS = (8, 13, 18, 21)  # in the host's time zone
LATE_HOURS = 2  # a message that an outage delays for longer than this is not sent
KEPT_DAYS = 2  # the store remembers the recipients of a day's message this long
OFF = "off"


def hour_row(language: str, chosen_hour: int | None, payload: Callable[[object], str]) -> Row:
    """Return buttons for the hours and for "off". ``payload`` makes a payload from an hour or `OFF`."""
    return (
        *(choice_button(f"{hour}:00", hour == chosen_hour, payload(hour)) for hour in HOURS),
        choice_button(texts(language).gettext("off"), chosen_hour is None, payload(OFF)),
    )


def parse_hour(word: str) -> int | None:
    """Return the hour of a pressed button, or None for `OFF`. Raise BadPayload for anything else."""
    if word not in (OFF, *map(str, HOURS)):
        raise BadPayload()
    return None if word == OFF else int(word)


class ChosenHours:
    """The chosen hours of people or places, and who got a day's message.

    ``key`` is the key of the hash of hours. ``sent_key`` makes the key of a day's set of recipients. A recipient gets
    the message at most once: a message lost in a crash is not sent again.
    """

    def __init__(self, client: Any, key: str, sent_key: Callable[[date], str]) -> None:
        self._client, self._key, self._sent_key = client, key, sent_key

    async def hour_of(self, name: str) -> int | None:
        hour = await self._client.hget(self._key, name)
        return int(hour) if hour else None

    async def choose(self, name: str, hour: int | None) -> None:
        if hour is None:
            await self._client.hdel(self._key, name)
        else:
            await self._client.hset(self._key, name, hour)

    async def all_hours(self) -> dict[str, int]:
        hours = await self._client.hgetall(self._key)
        return {name.decode(): int(hour) for name, hour in hours.items()}

    async def due_names(self, now: datetime) -> list[str]:
        """Return the people or places whose hour came less than `LATE_HOURS` ago, even if today's message was sent."""
        return [name for name, hour in (await self.all_hours()).items() if 0 <= now.hour - hour < LATE_HOURS]

    async def note_sent(self, day: date, name: str) -> bool:
        """Note that a person or place gets a day's message. Return False if it was noted before."""
        async with self._client.pipeline(transaction=False) as pipe:
            pipe.sadd(self._sent_key(day), name)
            pipe.expire(self._sent_key(day), KEPT_DAYS * 86400, nx=True)
            is_new, _ = await pipe.execute()
        return bool(is_new)

    async def note_failed(self, day: date, name: str, error: DeliveryError) -> None:
        """Allow a day's message to be sent again if its error can be temporary."""
        if is_retryable(error):
            await self._client.srem(self._sent_key(day), name)

    async def move(self, old_place: str, new_place: str, day: date) -> None:
        """Move a chat's hour, and the note that it got the day's message, to its new id. Safe to call twice.

        If the new id has an hour, it keeps that hour and the old one is deleted.
        """
        hour = await self.hour_of(old_place)
        if hour is not None:
            if await self.hour_of(new_place) is None:
                await self.choose(new_place, hour)
            await self.choose(old_place, None)
        if await self._client.sismember(self._sent_key(day), old_place):
            await self.note_sent(day, new_place)

    async def forget(self, name: str, today: date) -> None:
        """Delete the hour and all notes. The host's day can differ from ``today`` by one."""
        await self.choose(name, None)
        for days_ago in range(-1, KEPT_DAYS + 2):
            await self._client.srem(self._sent_key(today - timedelta(days=days_ago)), name)
