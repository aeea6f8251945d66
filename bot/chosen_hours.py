"""Messages that come once a day, at an hour that a person or a group chose."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from bot.actions import BadPayload
from bot.panel import Row, choice_button
from bot.platform import DeliveryError, is_retryable
from bot.texts import texts

HOURS = (8, 13, 18, 21)
"""The hours to choose from, in the host's time zone."""

LATE_HOURS = 2
"""Hours after which a message is not sent any more, because the bot was away."""

KEPT_DAYS = 2
"""Days for which the store remembers who got a day's message."""

OFF = "off"


def hour_row(language: str, icon: str, chosen_hour: int | None, payload: Callable[[object], str]) -> Row:
    """Buttons for the hours, and for none. ``payload`` makes a button's payload from an hour or `OFF`."""
    return (
        *(choice_button(f"{icon} {hour}:00", hour == chosen_hour, payload(hour)) for hour in HOURS),
        choice_button(texts(language).gettext("off"), chosen_hour is None, payload(OFF)),
    )


def parse_hour(word: str) -> int | None:
    """Return the hour of a pressed button; None for `OFF`. Raise BadPayload if no button says so."""
    if word not in (OFF, *map(str, HOURS)):
        raise BadPayload()
    return None if word == OFF else int(word)


class ChosenHours:
    """The hours of people or places, and who has had a day's message.

    ``key`` is the hash of the hours, ``sent_key`` makes the key of the set of those who had a day's message. Each has
    it once at most: one that is lost by a crash is not sent again.
    """

    def __init__(self, client: Any, key: str, sent_key: Callable[[date], str]) -> None:
        self._client, self._key, self._sent_key = client, key, sent_key

    async def hour_of(self, name: str) -> int | None:
        """Return somebody's hour; None if they get no message."""
        hour = await self._client.hget(self._key, name)
        return int(hour) if hour else None

    async def choose(self, name: str, hour: int | None) -> None:
        if hour is None:
            await self._client.hdel(self._key, name)
        else:
            await self._client.hset(self._key, name, hour)

    async def all_hours(self) -> dict[str, int]:
        """Return the hours of all who want the message."""
        found = await self._client.hgetall(self._key)
        return {name.decode(): int(hour) for name, hour in found.items()}

    async def due(self, now: datetime) -> list[str]:
        """Return those whose hour has come, and is not long past. They may have had today's message."""
        return [name for name, hour in (await self.all_hours()).items() if 0 <= now.hour - hour < LATE_HOURS]

    async def note_sent(self, day: date, name: str) -> bool:
        """Note that somebody has a day's message; False if it was noted before."""
        async with self._client.pipeline(transaction=False) as pipe:
            pipe.sadd(self._sent_key(day), name)
            pipe.expire(self._sent_key(day), KEPT_DAYS * 86400, nx=True)
            is_new, _ = await pipe.execute()
        return bool(is_new)

    async def note_failed(self, day: date, name: str, error: DeliveryError) -> None:
        """A message failed with this error: have it sent again if that may help."""
        if is_retryable(error):
            await self._client.srem(self._sent_key(day), name)

    async def move(self, old: str, new: str, day: date) -> None:
        """Give a chat's hour to its new id if that has none, and note a day's message for it. Twice is once."""
        hour = await self.hour_of(old)
        if hour is not None:
            if await self.hour_of(new) is None:
                await self.choose(new, hour)
            await self.choose(old, None)
        if await self._client.sismember(self._sent_key(day), old):
            await self.note_sent(day, new)

    async def forget(self, name: str, today: date) -> None:
        """Delete somebody's hour and every note. The host's day may be one before or after ``today``."""
        await self.choose(name, None)
        for ago in range(-1, KEPT_DAYS + 2):
            await self._client.srem(self._sent_key(today - timedelta(days=ago)), name)
