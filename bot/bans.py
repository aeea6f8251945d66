"""Enforces bans: banned people leave their tables, searches and tournaments. Bans that have ended are removed.

`bot.tables.checks.check_not_banned` refuses new actions of banned people. But a worker can learn of a ban a second late
and accept one more action, so each banned person is checked again every minute.
"""

from secrets import token_hex

import structlog

from bot.core import Core
from bot.store import STORE_ERRORS, keys
from bot.tables.errors import NoSuchTable, SetAside
from bot.tables.forgetting import leaving_entries

BAN_SECONDS = 1.0  # interval of checks by the leader
RECHECK_SECONDS = 60.0  # time between two checks of one banned person
BY_THE_BOT = "buongioco"  # author, in the log, of the end of a ban whose time is up

log = structlog.get_logger()


class BanEnforcer:
    def __init__(self, core: Core) -> None:
        self._core, self._levers = core, core.store.levers
        self._due: dict[str, float] = {}  # time of the next check of each banned person

    async def work(self) -> None:
        """Enforce all bans. Idempotent, also in two workers at once."""
        await self._levers.refresh()
        now = self._levers.now()
        self._due = {person: check_time for person, check_time in self._due.items() if person in self._levers.bans}
        for person, ban in list(self._levers.bans.items()):
            if not ban.holds_at(now):
                await self._levers.unban(person, BY_THE_BOT)
                continue
            if self._due.get(person, 0) > now:
                continue
            self._due[person] = now + RECHECK_SECONDS
            try:
                if tables := await self.remove(person):
                    log.info("ban_enforced", tables=tables)
            except STORE_ERRORS:
                del self._due[person]
                raise
            except Exception:
                # Continue with other people's bans. The log does not name this person.
                log.exception("ban_not_enforced")

    async def remove(self, person: str) -> int:
        """Take a person out of searches, tournaments and tables. Return the number of tables that they left."""
        update = f"ban:{token_hex(8)}"
        for feature in self._core.features:
            await feature.remove_banned(person, update)
        codes = set(await self._core.store.index.entries(keys.tables_of_person(person)))
        codes |= {code.decode() for code in await self._core.store.client.smembers(keys.tables_naming(person))}
        return sum([await self._leave(code, person, update) for code in sorted(codes)])

    async def _leave(self, code: str, person: str, update: str) -> bool:
        """Let a person leave a table: they resign a running game, and give back their chair before it.

        Return whether they left.
        """
        room = self._core.room
        try:
            table = await room.load(code)
            if table.phase == "open" and table.matched and table.invites(person, ""):
                return await self._core.policies.policy_of(table).decline(table, person, update)
            token = await room.lists.read_token(person, code)
            table = await room.commit(code, update, lambda latest: leaving_entries(latest, person, ""))
            await room.lists.remove_person(person, table, token)
            return table.log.has_update(update)
        except (NoSuchTable, SetAside):
            return False
