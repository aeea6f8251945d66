"""The host's levers: bans, an announcement, and maintenance. Commands pull them, and every worker follows.

Each pull changes one lever, its log and the version in one script. Workers read the version every second, and read all
levers when it has changed. While the store is unavailable, the last known levers apply.
"""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeVar

import structlog

from bot.metrics import ANNOUNCED, BANS, MAINTENANCE
from bot.store import keys
from bot.store.lua import read_script
from bot.store.outage import Outage

FOLLOW_SECONDS = 1.0
PULLS_KEPT = 1000
VERSION, MAINTENANCE_FIELD, ANNOUNCEMENT_FIELD, BAN_PREFIX = "version", "maintenance", "announcement", "ban:"

Lever = Literal["ban", "unban", "announce", "end announcement", "maintenance on", "maintenance off"]

T = TypeVar("T", "Ban", "Notice", "Pull")

log = structlog.get_logger()


class Ban(NamedTuple):
    """A ban from ``since`` to ``until``, in Unix seconds; 0 has no end. Only the host reads the ``reason``."""

    since: int
    until: int = 0
    reason: str = ""

    def holds_at(self, now: float) -> bool:
        return not self.until or now < self.until


class Notice(NamedTuple):
    """An announcement, or the maintenance with its text for players, which can be empty."""

    since: int
    text: str = ""


class Pull(NamedTuple):
    """An entry of the log: who pulled which lever, and when.

    ``text`` is the reason of a ban, or what players read. ``until`` is the end of a ban; 0 is none.
    """

    at: int
    by: str
    lever: Lever
    person: str = ""
    text: str = ""
    until: int = 0


class Levers:
    def __init__(self, client: Any, outage: Outage) -> None:
        self._client, self._outage = client, outage
        self._pull = client.register_script(read_script(__file__, "pull_lever"))
        self._forget_pulls = client.register_script(read_script(__file__, "forget_pulls"))
        self.contact = ""  # whom a banned person can ask; empty if the host has set none
        self.now: Callable[[], float] = time.time
        self.version = 0
        self.bans: dict[str, Ban] = {}
        self.announcement: Notice | None = None
        self.maintenance: Notice | None = None

    # For workers

    def ban_of(self, person: str) -> Ban | None:
        """Return the ban that holds for a person now."""
        ban = self.bans.get(person)
        return ban if ban and ban.holds_at(self.now()) else None

    async def follow(self) -> None:
        """Keep the levers current, until cancelled."""
        while True:
            with self._outage.suppress_errors():
                await self.refresh()
            await asyncio.sleep(FOLLOW_SECONDS)

    async def refresh(self) -> None:
        """Read the levers if they have changed."""
        if int(await self._client.hget(keys.LEVERS, VERSION) or 0) == self.version:
            return
        fields = {name.decode(): value.decode() for name, value in (await self._client.hgetall(keys.LEVERS)).items()}
        version = int(fields.pop(VERSION, 0))
        if version == self.version:
            # Another task has read these levers in the meantime.
            return
        self.version = version
        self.announcement = _parse_notice(fields.get(ANNOUNCEMENT_FIELD))
        self.maintenance = _parse_notice(fields.get(MAINTENANCE_FIELD))
        bans = [(name, text) for name, text in fields.items() if name.startswith(BAN_PREFIX)]
        self.bans = {name.removeprefix(BAN_PREFIX): _parse(Ban, text) for name, text in bans}
        is_announced, is_maintained = self.announcement is not None, self.maintenance is not None
        BANS.set(len(self.bans))
        ANNOUNCED.set(is_announced)
        MAINTENANCE.set(is_maintained)
        log.info("levers_changed", bans=len(self.bans), announcement=is_announced, maintenance=is_maintained)

    # For the host's commands. ``by`` is the account that gave the command.

    async def ban(self, person: str, by: str, until: int = 0, reason: str = "") -> None:
        """Ban a person, or change their ban."""
        now = int(self.now())
        pull = Pull(now, by, "ban", person, reason, until)
        await self._change(f"{BAN_PREFIX}{person}", Ban(now, until, reason), pull)

    async def unban(self, person: str, by: str) -> bool:
        """End a ban. Return False if there is none."""
        return await self._change(f"{BAN_PREFIX}{person}", None, Pull(int(self.now()), by, "unban", person))

    async def announce(self, text: str, by: str) -> None:
        now = int(self.now())
        await self._change(ANNOUNCEMENT_FIELD, Notice(now, text), Pull(now, by, "announce", text=text))

    async def end_announcement(self, by: str) -> bool:
        return await self._change(ANNOUNCEMENT_FIELD, None, Pull(int(self.now()), by, "end announcement"))

    async def begin_maintenance(self, text: str, by: str) -> None:
        now = int(self.now())
        await self._change(MAINTENANCE_FIELD, Notice(now, text), Pull(now, by, "maintenance on", text=text))

    async def end_maintenance(self, by: str) -> bool:
        return await self._change(MAINTENANCE_FIELD, None, Pull(int(self.now()), by, "maintenance off"))

    async def pulls(self) -> list[Pull]:
        """Return the log, oldest first."""
        return [_parse(Pull, text.decode()) for text in await self._client.lrange(keys.PULLS, 0, -1)]

    async def forget(self, person: str) -> None:
        """Delete what is stored about a person, except the times of their ban. Safe to call twice.

        The log does not get their pseudonym, because the log's times would reveal whose pseudonym it is.
        """
        field = f"{BAN_PREFIX}{person}"
        if text := await self._client.hget(keys.LEVERS, field):
            await self._client.hset(keys.LEVERS, field, _encode(_parse(Ban, text.decode())._replace(reason="")))
        await self._forget_pulls(keys=[keys.PULLS], args=[person])

    async def _change(self, field: str, value: Ban | Notice | None, pull: Pull) -> bool:
        arguments = [field, "" if value is None else _encode(value), _encode(pull), PULLS_KEPT]
        return bool(await self._pull(keys=[keys.LEVERS, keys.PULLS], args=arguments))


def _encode(value: Ban | Notice | Pull) -> str:
    return json.dumps(value._asdict(), ensure_ascii=False)


def _parse(kind: type[T], text: str) -> T:
    """Return a stored value. A later release can have added fields."""
    return kind(**{name: value for name, value in json.loads(text).items() if name in kind._fields})


def _parse_notice(text: str | None) -> Notice | None:
    return _parse(Notice, text) if text else None
