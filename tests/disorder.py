"""Updates that are repeated and out of order must have the same result as the same updates in order.

    python -m tests.disorder --sequences 10000 --seed 1

A sequence is a challenge, a second player who sits down, and some moves. Each is an update with its own key. At one
table the updates come in order. At a second table a few updates at a time are shuffled and delivered at once, one to
three times each. Refused updates are sent again, as a person would press again. In the end both logs are equal, no
update is in a log twice, and people see the same panels.
"""

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from bot.platform import Command, Press, Reply
from bot.store import EmbeddedStore, open_store
from bot.worker import Worker
from engine import legal_moves_for_record
from tests.bot.fake_platform import FakePlatform, Player, open_worker

GAMES = ("metamazzo", "pizzichino", "testa", "spades")
WINDOW = 4  # updates delivered at once, in any order

PLACE = "paper:g1"


class Update(NamedTuple):
    """An update: the index of its player and the pressed payload, with ``{code}`` for the table's code."""

    player: int
    payload: str


class Disorder(AssertionError):
    """A difference caused by order or repeats."""


class Comparison:
    """One sequence, in order at one table and out of order at another."""

    def __init__(self, worker: Worker, fake: FakePlatform, number: int, seed: int) -> None:
        self.worker, self.fake, self.number = worker, fake, number
        self.random = Random(f"{seed}/{number}")
        # All deals of both tables use one secret, so the cards are the same.
        secret = self.random.randbytes(32)
        worker.room.new_secret = lambda length: secret[:length]
        self.players = [Player(worker, fake, name, number) for number, name in enumerate(("Anna", "Bruno"), 1)]
        self.game = self.random.choice(GAMES)

    async def run(self, moves: int) -> int:
        """Play both tables. Return how many updates were delivered out of order."""
        updates = await self._play_in_order(await self._open_table("a"), moves)
        code, delivered = await self._play_out_of_order(updates)
        await self.worker.wait_until_idle()
        await self._compare(self.code, code)
        for table_code in (self.code, code):
            version = (await self.worker.room.load_cached(table_code)).version
            await self.worker.room.make_move(
                table_code, self.players[0].person.id, version, "resign", f"{table_code}.end"
            )
        await self.worker.wait_until_idle()
        self.fake.messages.clear()
        self.fake._keys.clear()
        self.fake.calls.clear()
        return delivered

    async def _open_table(self, suffix: str, times: int = 1) -> str:
        """Open a table with a challenge, delivered ``times`` times at once."""
        key = f"d{self.number}{suffix}"
        command = Command(key, self.players[0].person, PLACE, "challenge", (self.game,))
        replies: list[Reply] = await asyncio.gather(
            *(self.players[0].dispatcher.handle_command(command) for _ in range(times))
        )
        self._check_accepted(replies)
        before = {self.code} if suffix == "b" else set()
        tables = await self.worker.room.lists.tables_of(self.players[0].person.id)
        [code] = {table.code for table in tables} - before
        return code

    async def _play_in_order(self, code: str, moves: int) -> list[Update]:
        self.code = code
        updates = [Update(1, "1t{code}:sit")]
        self._check_accepted([await self._deliver(code, updates[0], "a0")])
        for number in range(1, moves + 1):
            table = await self.worker.room.load_cached(code)
            game = table.game
            if game is None or game.turn is None:
                break
            legal = [move for move in legal_moves_for_record(game, game.turn) if move not in ("resign", "claim")]
            move = self.random.choice(legal)
            updates.append(Update(game.turn, f"1m{{code}}:{table.version}:{move}"))
            self._check_accepted([await self._deliver(code, updates[-1], f"a{number}")])
        return updates

    async def _play_out_of_order(self, updates: Sequence[Update]) -> tuple[str, int]:
        code = await self._open_table("b", self.random.randint(1, 3))
        waiting_updates, delivered = dict(enumerate(updates)), 0
        while waiting_updates:
            window = list(waiting_updates)[:WINDOW]
            numbers = [number for number in window for _ in range(self.random.randint(1, 3))]
            self.random.shuffle(numbers)
            replies = await asyncio.gather(
                *(self._deliver(code, waiting_updates[number], f"b{number}") for number in numbers)
            )
            delivered += len(numbers)
            answered_numbers = {number for number, reply in zip(numbers, replies, strict=True) if not reply.toast}
            if not answered_numbers:
                raise Disorder(f"sequence {self.number}: all refused, {[reply.toast for reply in replies]}")
            waiting_updates = {
                number: update for number, update in waiting_updates.items() if number not in answered_numbers
            }
        # Repeat one update, although all updates have been answered.
        late = self.random.randrange(len(updates))
        await self._deliver(code, updates[late], f"b{late}")
        return code, delivered

    async def _deliver(self, code: str, update: Update, key: str) -> Reply:
        player = self.players[update.player]
        place = PLACE if update.payload.endswith("sit") else player.private
        press = Press(f"{self.number}.{key}", player.person, place, "0", update.payload.replace("{code}", code))
        return await player.dispatcher.handle_press(press)

    async def _compare(self, first: str, second: str) -> None:
        logs = [(await self.worker.store.load(code)).entries for code in (first, second)]
        texts = [[entry.partition(b"\t")[0] for entry in log] for log in logs]
        if texts[0] != texts[1]:
            raise Disorder(f"sequence {self.number}: the logs differ, {texts}")
        # Count moves only. A deal has the same stamp as the move or the `sit` before it.
        stamps = Counter(stamp for entry in logs[1] if (stamp := entry.partition(b"\t")[2]) and entry[:1].isdigit())
        if repeated := [stamp for stamp, count in stamps.items() if count > 1]:
            raise Disorder(f"sequence {self.number}: in the log twice, {repeated}")
        for player in self.players:
            messages = self.fake.messages[player.private].values()
            panels = [
                [panel.plain for panel in messages if code in repr(panel.rows) + panel.plain]
                for code in (first, second)
            ]
            if len(panels[0]) != 1 or len(panels[1]) != 1:
                raise Disorder(f"sequence {self.number}: not one panel at each table, {panels}")
            if panels[0][0].replace(first, second) != panels[1][0]:
                raise Disorder(f"sequence {self.number}: {player.person.name} sees {panels}")

    def _check_accepted(self, replies: Sequence[Reply]) -> None:
        if toasts := [reply.toast for reply in replies if reply.toast]:
            raise Disorder(f"sequence {self.number}: refused in order, {toasts}")


async def run_sequences(sequences: int, seed: int, folder: Path, *, moves: int = 10, show: bool = False) -> int:
    """Run the sequences. Return how many updates were delivered out of order."""
    embedded = EmbeddedStore(folder / "data")
    await embedded.start()
    try:
        async with open_store(embedded.url) as store:
            fake = FakePlatform()
            async with open_worker(store, fake) as worker:
                delivered, start = 0, time.monotonic()
                for number in range(sequences):
                    delivered += await Comparison(worker, fake, number, seed).run(moves)
                    if show and (number + 1) % 500 == 0:
                        seconds = time.monotonic() - start
                        print(f"{number + 1:,} sequences, {delivered:,} updates, {seconds:.0f} s", flush=True)  # noqa: T201
                return delivered
    finally:
        await embedded.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run_sequences(arguments.sequences, arguments.seed, Path(folder), show=True))


if __name__ == "__main__":
    main()
