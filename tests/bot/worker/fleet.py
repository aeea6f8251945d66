"""Fleets of workers on one store, and their visible state.

A test can give the same updates to a fleet of several workers and to a single worker, and compare the results. Packs
and codes depend only on tables and updates, so equal games have equal states.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from copy import deepcopy
from hashlib import blake2b
from typing import Any, NamedTuple

from bot.handlers import Dispatcher
from bot.handlers.press_limits import RequestLimits
from bot.panel import Panel
from bot.platform import Command, Person, Press, Reply, SentMessage, private_place
from bot.store import Store, keys, open_store
from bot.store.log import strip_stamp
from bot.tables.table import Table
from bot.worker import Worker
from tests.bot.fake_platform import NAMES, FakePlatform, open_worker

PEOPLE = tuple(Person(f"paper:{number}", name, name.lower(), "en") for number, name in enumerate(NAMES, 1))
GROUPS = ("paper:100", "paper:200")
PLACES = (*GROUPS, *(private_place(person.id) for person in PEOPLE))

ROBOT_PAUSE = 1e6  # seconds, so robots never move
REST_SECONDS = 20.0  # longest wait for pending messages

Update = Command | Press


class VisibleState(NamedTuple):
    """The visible state of an idle fleet."""

    logs: dict[str, list[bytes]]
    messages: dict[str, list[Panel]]
    games: list[str]
    settings: dict[str, dict[str, str]]


class LenientPlatform(FakePlatform):
    """A fake platform that permits edits without changes, which late presses can cause."""

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        if self.messages[place].get(sent.message) != panel:
            await super().edit(place, sent, panel)
        return sent


class Fleet:
    """Workers on one store and one platform, each with its own connections. The test reads through ``store``."""

    def __init__(self, store: Store, urls: Sequence[str]) -> None:
        """``urls`` has the store URL of each worker."""
        self.store, self.urls, self.count = store, urls, len(urls)
        self.fake = LenientPlatform()
        self.workers: list[Worker] = []
        self.dispatchers: list[Dispatcher] = []
        self._stack = AsyncExitStack()
        self._fences: list[set[str]] = []
        self._fence = 0

    async def open(self) -> None:
        """Start the workers and wait until they share the tables evenly."""
        self._stack = AsyncExitStack()
        for url in self.urls:
            store = await self._stack.enter_async_context(open_store(url))
            worker = await self._stack.enter_async_context(
                open_worker(store, self.fake, alone=self.count == 1, robot_pause=ROBOT_PAUSE)
            )
            make_packs_deterministic(worker)
            self.workers.append(worker)
            dispatcher = Dispatcher(worker)
            dispatcher.limits = RequestLimits(on=False)
            self.dispatchers.append(dispatcher)
            self._fences.append(_record_fences(worker))
        for worker in (*self.workers, *self.workers):
            await worker.shards.balance()
        async with asyncio.timeout(REST_SECONDS):
            while await self.store.client.publish(keys.NOTIFICATIONS, "[]") < self.count:
                await asyncio.sleep(0.005)
        assert {len(worker.shards.owned) for worker in self.workers} <= {64 // self.count, -(-64 // self.count), 20}

    async def close(self) -> None:
        await self._stack.aclose()
        self.workers, self.dispatchers, self._fences = [], [], []

    async def deliver(self, index: int, update: Update) -> Reply:
        """Give an update to a worker, and show its reply as an adapter would."""
        dispatcher, place = self.dispatchers[index % self.count], update.place
        private = private_place(update.person.id)
        if isinstance(update, Command):
            reply = await dispatcher.handle_command(update)
            if reply.panel:
                await self.fake.send(private if reply.private else place, reply.panel, update.key)
            return reply
        reply = await dispatcher.handle_press(update)
        if reply.panel and reply.private:
            await self.fake.send(private, reply.panel, update.key)
        elif reply.panel and update.message in self.fake.messages[place]:
            self.fake.messages[place][update.message] = reply.panel
        return reply

    async def wait_until_idle(self) -> None:
        """Wait until all notifications and messages are delivered, or raise TimeoutError."""
        async with asyncio.timeout(REST_SECONDS):
            while True:
                for worker in self.workers:
                    await worker.shards.tasks.wait()
                await self._wait_for_notifications()
                for worker in self.workers:
                    await worker.wait_until_idle()
                if not any(len(worker.shards.tasks) for worker in self.workers) and not await self.store.changed_tables(
                    range(64)
                ):
                    return
                await asyncio.sleep(0.01)

    async def _wait_for_notifications(self) -> None:
        """Wait until every worker has received all notifications."""
        self._fence += 1
        fence = f"fence:{self._fence}"
        await self.store.client.publish(keys.NOTIFICATIONS, f'[{{"forget": "{fence}", "by": ""}}]')
        while not all(fence in received for received in self._fences):
            await asyncio.sleep(0.001)
        for received in self._fences:
            received.clear()

    async def visible_state(self) -> VisibleState:
        games = [repr(game.record) for worker in self.workers[:1] async for game in worker.archive.games()]
        messages = {place: sorted_panels(self.fake.messages[place]) for place in PLACES}
        return VisibleState(await self.logs(), messages, games, await self.settings())

    async def logs(self) -> dict[str, list[bytes]]:
        """Return the entries of each table by code, without stamps."""
        names = [name.decode() async for name in self.store.client.scan_iter("{s*}:table:*", count=1000)]
        codes = sorted(name.rpartition(":")[2] for name in names)
        return {code: list(map(strip_stamp, (await self.store.load(code)).entries)) for code in codes}

    async def settings(self) -> dict[str, dict[str, str]]:
        """Return the stored settings of people and groups, without the last game.

        A repeated challenge stores its game again as the last one. No challenge of these tests uses the last game,
        because each names its own.
        """
        names = [*(keys.person(person.id) for person in PEOPLE), *map(keys.chat, GROUPS)]
        stored = [await self.store.client.hgetall(name) for name in names]
        return {
            name: {field.decode(): value.decode() for field, value in fields.items() if field != b"game"}
            for name, fields in zip(names, stored, strict=True)
        }

    def message_at(self, place: str, number: int) -> str:
        """Return a message of a place by its number in the order of `sorted_panels`, or "0" if there is none."""
        messages = self.fake.messages[place]
        ordered = sorted(messages, key=lambda message: _order(messages[message]))
        return ordered[number] if number < len(ordered) else "0"


class SavedState:
    """The state of an idle fleet, which can be restored."""

    def __init__(self, fleet: Fleet, stored: Mapping[bytes, tuple[bytes, int]]) -> None:
        self._fleet, self._stored = fleet, stored
        self._messages, self._keys = deepcopy(fleet.fake.messages), dict(fleet.fake._keys)

    @classmethod
    async def take(cls, fleet: Fleet) -> "SavedState":
        client = fleet.store.client
        names = [name async for name in client.scan_iter("*", count=1000)]
        async with client.pipeline(transaction=True) as pipe:
            for name in names:
                pipe.dump(name)
                pipe.pttl(name)
            values = await pipe.execute()
        return cls(fleet, dict(zip(names, zip(values[::2], values[1::2], strict=True), strict=True)))

    async def restore(self) -> None:
        fleet = self._fleet
        await fleet.close()
        await fleet.store.client.flushall()
        async with fleet.store.client.pipeline(transaction=True) as pipe:
            for name, (value, milliseconds) in self._stored.items():
                if value is not None:
                    pipe.restore(name, max(0, milliseconds), value)
            await pipe.execute()
        fleet.fake.messages, fleet.fake._keys = deepcopy(self._messages), dict(self._keys)
        await fleet.open()


def sorted_panels(messages: Mapping[str, Panel]) -> list[Panel]:
    """Return a place's messages in an order that is independent of their arrival."""
    return sorted(messages.values(), key=_order)


def _order(panel: Panel) -> tuple[str, str]:
    return panel.plain, repr(panel.rows)


def live_tables_of(person: str, logs: Mapping[str, Sequence[bytes]]) -> list[tuple[str, int]]:
    """Return codes and versions of a person's live tables, from the logs.

    A table counts even if the person has only asked for a chair.
    """
    tables = [Table(code).with_stored_entries(entries) for code, entries in logs.items()]
    return sorted((t.code, t.version) for t in tables if t.phase in ("open", "playing") and person in t.people)


def tables_shown_in(chat: str, logs: Mapping[str, Sequence[bytes]]) -> list[tuple[str, int]]:
    """Return codes and versions of the tables that a chat shows, from the logs."""
    tables = [Table(code).with_stored_entries(entries) for code, entries in logs.items()]
    return sorted((table.code, table.version) for table in tables if chat in table.hosts)


def make_packs_deterministic(worker: Worker) -> None:
    """Derive each deal's pack from the table's code and the deal's number."""

    original = worker.room.with_next_deal

    def with_next_deal(table: Table, *arguments: Any) -> Table:
        number = table.game.deal_number if table.game else 0
        secret = blake2b(f"{table.code} {number}".encode(), digest_size=64).digest()
        worker.room.new_secret = lambda length: secret[:length]
        return original(table, *arguments)

    setattr(worker.room, "with_next_deal", with_next_deal)  # noqa: B010


def _record_fences(worker: Worker) -> set[str]:
    """Return a set that collects the fences that this worker receives from now on.

    A fence arrives after all earlier notifications.
    """
    received: set[str] = set()
    original = worker.updates.on_profile_changed

    def record(key: str) -> None:
        if key.startswith("fence:"):
            received.add(key)
        else:
            original(key)

    setattr(worker.updates, "on_profile_changed", record)  # noqa: B010
    return received
