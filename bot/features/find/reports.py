"""Reports to the host about strangers.

A report stays in the store until the host drops it. `buongioco reports` lists all of them, and
`bot.features.find.report_messages` sends them if the host wants that.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, cast

from bot.features.find import keys
from bot.identity.pseudonyms import NAME
from bot.store.lua import read_script

SCRIPT = read_script(__file__, "reports")

REPORTS_A_DAY, DAY_SECONDS = 3, 86400  # a person's reports; the day begins with the first one


@dataclass(frozen=True, slots=True)
class Report:
    game_id: str  # in the archive, once the game is over
    game: str
    code: str
    at: int  # Unix seconds
    by: str
    by_name: str  # at the table
    about: str
    about_name: str

    @property
    def people(self) -> tuple[str, str]:
        return self.by, self.about


class Reports:
    def __init__(self, client: Any) -> None:
        self._client = client
        self._script = client.register_script(SCRIPT)

    async def file(self, report: Report, seat: int) -> Literal["filed", "again", "many"]:
        """File a report by the player in this seat.

        Return "again" if the player has reported this game already, "many" after `REPORTS_A_DAY` reports.
        """
        outcome = await self._script(
            keys=[keys.REPORTS, keys.UNSENT_REPORTS, keys.report_count(report.by)],
            args=[f"{report.game_id}.{seat}", json.dumps(asdict(report)), REPORTS_A_DAY, DAY_SECONDS],
        )
        return cast(Literal["filed", "again", "many"], outcome.decode())

    async def all_reports(self) -> AsyncIterator[tuple[str, Report]]:
        async for id, text in self._client.hscan_iter(keys.REPORTS):
            yield id.decode(), Report(**json.loads(text))

    async def get(self, id: str) -> Report | None:
        text = await self._client.hget(keys.REPORTS, id)
        return Report(**json.loads(text)) if text else None

    async def unsent(self) -> list[str]:
        return sorted(id.decode() for id in await self._client.smembers(keys.UNSENT_REPORTS))

    async def mark_sent(self, id: str) -> None:
        await self._client.srem(keys.UNSENT_REPORTS, id)

    async def delete(self, id: str) -> bool:
        """Delete a report. Return False if it is missing."""
        await self.mark_sent(id)
        return bool(await self._client.hdel(keys.REPORTS, id))

    async def forget(self, person: str, pseudonym: str) -> None:
        """Delete the reports by a person, and put a pseudonym into reports about them."""
        await self._client.delete(keys.report_count(person))
        async for id, report in self.all_reports():
            if report.by == person:
                await self.delete(id)
            elif report.about == person:
                redacted_report = replace(report, about=pseudonym, about_name=NAME)
                await self._client.hset(keys.REPORTS, id, json.dumps(asdict(redacted_report)))
