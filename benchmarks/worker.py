"""One worker of `python -m benchmarks scale`: the whole bot on a store, with lines of JSON as its platform.

Run it as ``python -m benchmarks.worker NUMBER REPLICAS URL``. It reads presses from standard input and prints changed
panels.
"""

import asyncio
import itertools
import json
import sys
import time
from typing import Any

from benchmarks.presses import GAME, CountingAdapter
from bot.concurrency.background import TaskSet
from bot.handlers import Dispatcher
from bot.panel import Panel
from bot.platform import Command, Person, Press, SentMessage, is_private, person_of, private_place
from bot.running import logs
from bot.running.run import tune_garbage_collector
from bot.settings import Settings
from bot.store import open_store
from bot.worker import Worker

UNPLAYED = ("claim", "resign", "hint")  # buttons that are not pressed, because they end games or change nothing


def print_line(**message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


class LineAdapter(CountingAdapter):
    """An adapter that prints the panels of private chats. Message numbers begin with the worker's number."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._sent = (f"{number}.{count}" for count in itertools.count(1))

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        return await self.edit(place, SentMessage(next(self._sent)), panel)

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        self._show(place, sent.message, panel)
        return sent

    @staticmethod
    def _show(place: str, message: str, panel: Panel) -> None:
        if is_private(place):
            buttons = (button for row in panel.rows for button in row if button.kind == "press")
            payloads = [button.payload for button in buttons if button.payload.startswith("1m")]
            print_line(
                person=int(person_of(place).partition(":")[2]),
                message=message,
                payloads=[move for move in payloads if not move.endswith(UNPLAYED) and ":hint" not in move],
            )


class BenchWorker:
    """Runs the benchmark's actions, one per input line."""

    def __init__(self, worker: Worker) -> None:
        self._worker, self._dispatcher = worker, Dispatcher(worker)

    @staticmethod
    def _person(number: int) -> Person:
        return Person(f"bench:{number}", f"Person {number}", "", "en")

    async def handle(self, action: dict[str, Any]) -> None:
        if action["do"] == "press":
            person = self._person(action["person"])
            place = private_place(person.id)
            reply = await self._dispatcher.handle_press(
                Press(action["key"], person, place, action["message"], action["payload"])
            )
            if reply.toast:
                print_line(refused=reply.toast)
        elif action["do"] == "open":
            await self._open(action["number"])
        else:
            print_line(cpu=time.process_time(), shards=len(self._worker.shards.owned))

    async def _open(self, number: int) -> None:
        """Open a table in its own group, with two people."""
        first, second, place = self._person(2 * number), self._person(2 * number + 1), f"bench:g{number}"
        await self._worker.people.update_chat(place, clock="86400")
        await self._dispatcher.handle_command(Command(f"o{number}", first, place, "challenge", (GAME,)))
        [table] = await self._worker.room.lists.tables_of(first.id)
        await self._dispatcher.handle_press(Press(f"s{number}", second, place, "1", f"1t{table.code}:sit"))


async def main(number: int, replicas: int, url: str) -> None:
    reader = asyncio.StreamReader(limit=2**20)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    tasks = TaskSet()
    async with open_store(url, replicas) as store:
        worker = Worker(store, Settings(_env_file=None, playground=False, analyse_results=False), alone=False)
        worker.add_adapter(LineAdapter(number))
        await worker.start()
        bench_worker = BenchWorker(worker)
        try:
            while line := await reader.readline():
                tasks.start(bench_worker.handle(json.loads(line)))
        finally:
            await worker.stop()


if __name__ == "__main__":
    logs.set_up("error")
    tune_garbage_collector()
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
