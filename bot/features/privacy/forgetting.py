"""Forgetting a person: their data is deleted, and finished games name a pseudonym instead.

A forgetting begins with a mark in the store (`bot.identity.pseudonyms.ForgettingMark`) and ends when the mark is
deleted. In between, any worker can continue it. Every step is idempotent and can run in two workers at once; an
interrupted step runs again. Games that end while the mark exists are stored and rated with the pseudonym. A minute
after the first pass a second one deletes late writes of a worker that hung. It keeps new data of a person who came
back.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

import structlog

from bot.feature import Feature, Forgetting, Step
from bot.features.privacy.mydata import cooldown_key
from bot.features.privacy.rewrite_schedule import ask_for_rewrite
from bot.finished.archive import Archive
from bot.finished.game import UnreadableGame
from bot.finished.ratings import Ratings
from bot.identity.adapter_data import delete_adapter_data
from bot.identity.programs import Programs
from bot.identity.pseudonyms import ForgettingMark, forgetting_marks, new_pseudonym
from bot.people import People
from bot.platform import platform_of, private_place
from bot.store import STORE_ERRORS, keys
from bot.store.lua import read_script
from bot.store.people_in_logs import person_by_handle
from bot.tables.errors import NoSuchTable
from bot.tables.forgetting import remove_person
from bot.tables.room import Room

POLL_SECONDS = 5.0  # interval of checks for forgettings that other processes began
SECOND_PASS_SECONDS = 60.0  # pause between the first pass and the second
FORGETTING_LEASE_SECONDS = 60
WORKER_KEY = "forgetting:worker"  # exists while a worker is forgetting people; expires
DROP_MARK = read_script(__file__, "drop_mark")
log = structlog.get_logger()


class ForgetResult(NamedTuple):
    """Numbers of tables, ratings and finished games that named the person."""

    tables: int
    ratings: int
    games: int


class Forgetter:
    """Forgets people in one store. ``evict`` makes the other workers drop a cached profile, by its key."""

    def __init__(
        self,
        room: Room,
        people: People,
        archive: Archive,
        ratings: Ratings,
        features: Sequence[Feature],
        evict: Callable[[str], Awaitable[None]],
    ) -> None:
        self._room, self._people, self._archive, self._ratings, self._evict = room, people, archive, ratings, evict
        self._features = features
        self._client = room.store.client
        self._drop_mark = self._client.register_script(DROP_MARK)
        self._woken = asyncio.Event()
        self.now: Callable[[], float] = time.time

    async def begin(self, person: str) -> ForgettingMark:
        """Mark a person, so that `run` forgets them in any worker.

        A repeated call changes nothing, unless it comes between the two passes: then the person has come back, and the
        forgetting starts again.
        """
        mark = ForgettingMark(new_pseudonym(person), self.now())
        while not await self._client.hsetnx(keys.FORGETTING, person, mark.to_text()):
            # The mark might have been deleted since.
            if existing_mark := (await forgetting_marks(self._client)).get(person):
                mark = existing_mark
                break
        if mark.is_erased:
            mark = ForgettingMark(mark.pseudonym, self.now())
            await self._client.hset(keys.FORGETTING, person, mark.to_text())
        self._woken.set()
        return mark

    async def run(self) -> None:
        while True:
            try:
                await self.work()
            except STORE_ERRORS as error:
                self._room.store.outage.begin(error)
            try:
                async with asyncio.timeout(POLL_SECONDS):
                    await self._woken.wait()
            except TimeoutError:
                continue
            self._woken.clear()

    async def work(self) -> None:
        """Continue all forgettings, unless another worker does."""
        self._people.being_forgotten = marks = await forgetting_marks(self._client)
        waiting = {
            person: mark
            for person, mark in marks.items()
            if not mark.is_erased or self.now() - mark.since >= SECOND_PASS_SECONDS
        }
        if not waiting or not await self._client.set(WORKER_KEY, "1", nx=True, ex=FORGETTING_LEASE_SECONDS):
            return
        try:
            for person, mark in waiting.items():
                try:
                    await (self.finish(person, mark) if mark.is_erased else self.forget(person, mark))
                except STORE_ERRORS:
                    raise
                except Exception:
                    # The log must not name the person. The forgetting is retried, and others continue.
                    log.exception("forgetting_failed")
        finally:
            await self._client.delete(WORKER_KEY)

    async def forget(self, person: str, mark: ForgettingMark) -> ForgetResult:
        """Run the first pass: delete all data of a person except the mark."""
        tables = 0
        async for step in self._leave_steps(person, mark):
            tables += await step() is True
        # Rate the person's games first. A game rated later would use a new rating instead of the handed-over one.
        await self._ratings.catch_up()
        ratings = await self._ratings.hand_over(person, mark.pseudonym)
        games = await self._redact_games(person, mark)
        for step in self._after_games(person, mark):
            await step()
        # Erase the profile first: a profile that exists later belongs to a person who came back.
        await self._people.erase(person)
        for step in self._delete_steps(person, mark):
            await step()
        erased_mark = mark._replace(is_erased=True, since=self.now())
        await self._client.hset(keys.FORGETTING, person, erased_mark.to_text())
        log.info("person_forgotten", tables=tables, games=games)
        return ForgetResult(tables, ratings, games)

    async def finish(self, person: str, mark: ForgettingMark) -> None:
        """Run the second pass: delete late writes and then the mark.

        Games stored while the mark exists name the pseudonym. All other data could be a late write or belong to a
        person who came back. So it stays if there is a profile again, which is checked before each step.
        """
        await self._redact_games(person, mark)
        await self._client.delete(keys.last_game(person))
        await self._ratings.hand_over(person, mark.pseudonym)
        for step in self._after_games(person, mark):
            await step()
        async for step in self._second_pass_steps(person, mark):
            if (await self._people.reload(person)).is_known:
                break
            await step()
        # Request a rewrite before the mark is deleted, in case of a kill, and again afterwards, because the mark names
        # the person.
        await ask_for_rewrite(self._room.store)
        # After a second request the mark is different, and stays.
        await self._drop_mark(keys=[keys.FORGETTING], args=[person, mark.to_text()])
        await ask_for_rewrite(self._room.store)

    async def _second_pass_steps(self, person: str, mark: ForgettingMark) -> AsyncIterator[Step]:
        async for step in self._leave_steps(person, mark):
            yield step
        yield partial(self._people.erase, person, if_unknown=True)
        for step in self._delete_steps(person, mark):
            yield step

    async def _leave_steps(self, person: str, mark: ForgettingMark) -> AsyncIterator[Step]:
        """Yield the steps that remove a person from tables and features. A step that leaves a table returns True."""
        for feature in self._features:
            for step in feature.steps_before_leaving(self._forgetting(person, mark)):
                yield step
        handle = (await self._people.reload(person)).handle
        names = [person, *([person_by_handle(platform_of(person), handle)] if handle else [])]
        # The index also has tables at which the person is just sitting down.
        codes = set(await self._room.store.index.entries(keys.tables_of_person(person)))
        for name in names:
            codes |= {code.decode() for code in await self._client.smembers(keys.tables_naming(name))}
        for code in codes:
            yield partial(self._leave_table, code, person, handle, names, mark)

    async def _leave_table(
        self, code: str, person: str, handle: str, names: Sequence[str], mark: ForgettingMark
    ) -> bool:
        """Remove a person and their private messages from a table; return whether they were at it."""
        has_left = False
        try:
            has_left = await remove_person(self._room, code, person, handle, mark.pseudonym)
            place, states = private_place(person), await self._room.store.load_shown(code)
            surface_names = [name for name, text in states.items() if f"{place}~" in text or f"{place}|" in text]
            if surface_names:
                await self._client.hdel(keys.message_states(code), *surface_names)
        except NoSuchTable:
            log.debug("table_already_removed", table=code)
        for name in names:
            await self._client.srem(keys.tables_naming(name), code)
        return has_left

    async def _redact_games(self, person: str, mark: ForgettingMark) -> int:
        redacted_count = 0
        for number in await self._archive.numbers_of(person):
            game = await self._archive.id_of(number)
            if game:
                try:
                    redacted_count += await self._archive.rewrite(
                        game, lambda game_: game_.redact(person, mark.pseudonym)
                    )
                except UnreadableGame:
                    log.warning("game_unreadable", game=game)
                await self._ratings.redact_changes(game, person, mark.pseudonym)
            await self._archive.unlist_game(person, number)
        return redacted_count

    def _delete_steps(self, person: str, mark: ForgettingMark) -> Iterator[Step]:
        """Yield the steps that delete a person's own data, after they have left their tables."""
        yield partial(self._evict, keys.person(person))
        yield partial(Programs(self._client).revoke_owned, person)
        yield partial(delete_adapter_data, self._client, person)
        # A ban stays in force.
        yield partial(self._room.store.levers.forget, person)
        for key_of_place in (keys.chat, keys.tables_of_chat, keys.challenges):
            yield partial(self._client.delete, key_of_place(private_place(person)))
        for key_of_person in (keys.tables_of_person, keys.last_game, cooldown_key, keys.sessions):
            yield partial(self._client.delete, key_of_person(person))
        for feature in self._features:
            yield from feature.steps_at_the_end(self._forgetting(person, mark))

    def _after_games(self, person: str, mark: ForgettingMark) -> Iterator[Step]:
        for feature in self._features:
            yield from feature.steps_after_games(self._forgetting(person, mark))

    def _forgetting(self, person: str, mark: ForgettingMark) -> Forgetting:
        return Forgetting(person, mark.pseudonym, datetime.fromtimestamp(self.now(), UTC).date())
