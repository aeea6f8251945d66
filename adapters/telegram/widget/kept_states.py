"""The latest state of each widget, because a widget can ask for it (`hand.js`)."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from bot.identity.adapter_data import ALL_FIELDS, StoredField
from bot.store import STORE_ERRORS

CHANGE_SECONDS = 1.0  # how long a tap waits for its change
STATE_SECONDS = 7 * 24 * 3600  # how long the states of a person's messages are kept, from the first one


def states_key(person: int | str) -> str:
    """Return the key of the states of a person's messages: a hash by message."""
    return f"telegram:widgets:{person}"


def topics_key(person: int | str) -> str:
    """Return the key of a person's topics: a hash by table, of the topic and the Unix time of the game's end."""
    return f"telegram:topics:{person}"


def list_stored_fields(person: str) -> list[StoredField]:
    """Return the fields that hold the states of a person's widgets, and the topics of their tables."""
    user = person.partition(":")[2]
    return [StoredField(states_key(user), ALL_FIELDS), StoredField(topics_key(user), ALL_FIELDS)]


class KeptStates:
    """The states in the store. Without the store, none are known."""

    def __init__(self, redis: Any, report_store_error: Callable[[BaseException], object]) -> None:
        self._redis, self._report_store_error = redis, report_store_error
        self._changes: dict[tuple[int, str], asyncio.Event] = {}  # by message, while a tap waits for its change

    async def keep(self, chat: int, message: str, state: str) -> None:
        try:
            await self._redis.hset(states_key(chat), message, state)
            # Not renewed, so that states of removed tables do not stay with a person who plays on.
            await self._redis.expire(states_key(chat), STATE_SECONDS, nx=True)
        except STORE_ERRORS as error:
            self._report_store_error(error)
        if changed := self._changes.get((chat, message)):
            changed.set()

    async def forget(self, chat: int, message: str) -> None:
        try:
            await self._redis.hdel(states_key(chat), message)
        except STORE_ERRORS as error:
            self._report_store_error(error)

    async def find(self, chat: int, message: str) -> str:
        """Return the latest state of a message; empty if unknown."""
        try:
            return (await self._redis.hget(states_key(chat), message) or b"").decode()
        except STORE_ERRORS as error:
            self._report_store_error(error)
            return ""

    async def wait_for_change(self, chat: int, message: str, old_state: str) -> str:
        """Return the state of a message when it differs from ``old_state``, or the latest after `CHANGE_SECONDS`.

        A change by another worker is returned only after that time.
        """
        has_changed = self._changes.setdefault((chat, message), asyncio.Event())
        try:
            if (state := await self.find(chat, message)) == old_state:
                with suppress(TimeoutError):
                    async with asyncio.timeout(CHANGE_SECONDS):
                        await has_changed.wait()
                state = await self.find(chat, message)
            return state
        finally:
            self._changes.pop((chat, message), None)
