"""The kill harness: a real bot in a process of its own, people who press buttons through its playground, and SIGKILL.

    python -m tests.bot.kills --kills 1000 --seed 1

Each round lets people play for a moment and kills the bot, the store, or both. After each restart, for every table:

- every press that was answered "done" is in the log exactly once, and no press is there twice;
- every surface agrees with the table: each player's panel offers exactly what may be played, and each person has one
  panel a table;
- a kill has doubled no message but such as were on their way just then, and none that its platform knows again
  (`Page.doubles`).
"""

import argparse
import asyncio
import itertools
import json
import os
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import aiohttp

from bot.finished.archive import Archive, FinishedGame
from bot.store import EmbeddedStore, keys, opened
from bot.tables.table import Table
from engine import verify

GAMES = ("metamazzo", "spizzichino", "testa", "spades", "tressette", "tavolo", "pizzichino")
SEATS = {"tressette": 4, "tavolo": 4}


class Disagreement(AssertionError):
    """What a kill must not do."""


def free_port() -> int:
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        return int(line.getsockname()[1])


class Bot:
    """The bot as a host starts it."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder, self.port, self.settings = folder, free_port(), settings
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("BUONGIOCO", "REDIS"))},
            "BUONGIOCO_DATA": str(self.folder / "data"),
            "BUONGIOCO_PLAYGROUND_PORT": str(self.port),
            "BUONGIOCO_RATE_LIMITS": "false",
            **self.settings,
        }
        log = (self.folder / "bot.log").open("ab")
        self.process = await asyncio.create_subprocess_exec(
            Path(sys.executable).with_name("buongioco"), "run", env=environment, stdout=log, stderr=log, cwd=self.folder
        )
        log.close()

    async def kill(self) -> None:
        if self.process:
            if self.process.returncode is None:
                self.process.kill()
            await self.process.wait()

    async def stop(self) -> float:
        """SIGTERM; returns the seconds that it took."""
        assert self.process
        start = time.perf_counter()
        self.process.terminate()
        await self.process.wait()
        return time.perf_counter() - start

    def kill_store(self) -> None:
        try:
            os.kill(int((self.folder / "data" / "valkey.pid").read_text()), signal.SIGKILL)
        except (OSError, ValueError):
            return

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.returncode is None

    async def until_healthy(self, session: aiohttp.ClientSession) -> None:
        deadline = time.monotonic() + 90
        while True:
            try:
                async with session.get(f"{self.url}/healthz") as answer:
                    if answer.status == 200:
                        return
            except (aiohttp.ClientError, OSError):
                pass
            if time.monotonic() > deadline:
                raise AssertionError("the bot does not come back")
            await asyncio.sleep(0.05)


class Page:
    """A browser's tab, without the browser: it sees messages, presses buttons, and asks again after a lost line."""

    platform = "playground"
    doubles: frozenset[str] = frozenset()
    """Which messages a kill may double here, "cards" and "hands": those of which the platform cannot tell, when they are
    sent again, that it has them.
    """

    def at_risk(self) -> int:
        """How many messages a kill at this moment may double: those that were sent and perhaps not yet written down."""
        return 1

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.messages: dict[str, dict[int, dict[str, Any]]] = {}
        self.people: list[dict[str, Any]] = []
        self.waiting: dict[str, asyncio.Future[str]] = {}
        self.done: set[str] = set()
        self.refused: set[str] = set()
        self.asked: dict[str, dict[str, Any]] = {}
        self._line: aiohttp.ClientWebSocketResponse | None = None
        self._number = 0

    async def connect(self, session: aiohttp.ClientSession) -> None:
        self._session, deadline = session, time.monotonic() + 40
        while self.bot.is_running:
            try:
                self._line = await session.ws_connect(f"{self.bot.url}/ws", headers={"Origin": self.bot.url})
                hello = json.loads((await self._line.receive()).data)
            except (aiohttp.ClientError, OSError, TypeError, ValueError):
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.05)
                continue
            self.people = hello["people"]
            self.messages = {chat: {one["id"]: one for one in found} for chat, found in hello["messages"].items()}
            return

    async def listen(self) -> None:
        """Until the bot is no more. A line that breaks while it lives is opened anew, as the page does."""
        while self.bot.is_running:
            await self._listen_to_line()
            await self.connect(self._session)

    async def _listen_to_line(self) -> None:
        assert self._line
        async for word in self._line:
            if word.type is not aiohttp.WSMsgType.TEXT:
                break
            heard = json.loads(word.data)
            if heard["type"] == "message":
                self.messages.setdefault(heard["chat"], {})[heard["message"]["id"]] = heard["message"]
            elif heard["type"] == "deleted":
                self.messages.get(heard["chat"], {}).pop(heard["id"], None)
            elif heard["type"] == "people":
                self.people = heard["people"]
            elif heard.get("n") in self.waiting:
                future = self.waiting.pop(heard["n"])
                if not future.done():
                    future.set_result(heard["type"] if not heard.get("toast") else "toast")
        for future in self.waiting.values():
            if not future.done():
                future.set_result("lost")
        self.waiting.clear()

    async def ask(self, name: str = "", /, **wish: Any) -> str:
        """A request; "done", "toast" (answered, and nothing was done), "refused", or "lost" with the line.

        ``name`` is the request's own: asked again under it, it is the same request.
        """
        self._number += 1
        name = name or f"k{self._number:07}"
        self.asked[name] = wish
        future = self.waiting[name] = asyncio.get_running_loop().create_future()
        assert self._line
        try:
            await self._line.send_str(json.dumps({**wish, "n": name}))
        except (ConnectionError, RuntimeError, aiohttp.ClientError):
            self.waiting.pop(name, None)
            return "lost"
        answer: str = await future
        if answer == "done":
            self.done.add(name)
        elif answer != "lost":
            self.refused.add(name)
        return answer

    def panels(self, person: str, code: str) -> list[dict[str, Any]]:
        """The bot's messages in somebody's private chat that are about a table."""
        found = self.messages.get(f"@{person}", {}).values()
        return [one for one in found if one["by"] == "bot" and any(span[0] == code for span in one["spans"])]

    def buttons(self, person: str) -> list[tuple[int, str]]:
        """Everything that makes a move, on any of this person's panels."""
        return [
            (message["id"], button["payload"])
            for message in self.messages.get(f"@{person}", {}).values()
            for row in message.get("rows", ())
            for button in row
            if button["payload"].startswith(("1m", "1t")) and button["kind"] == "press"
        ]


class Elsewhere(Page):
    """What people see on a platform of its own, which lives on while the bot is killed.

    A press waits for its answer for a while; asked again it is the same press. Each challenge is made in a chat of its
    own, for a group is slow.
    """

    patience = 3.0
    """Seconds after which a person gives up a button that turns: a bot that is killed may have taken a press along."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.people = []
        self.done: set[str] = set()
        self.refused: set[str] = set()
        self.asked: dict[str, dict[str, Any]] = {}
        self._presses: dict[str, Any] = {}
        self._names = itertools.count(1)

    def say(self, person: str, text: str) -> None:
        """Somebody gives a command in a new group."""
        raise NotImplementedError

    def touch(self, person: str, message: int, payload: str) -> Any:
        """Somebody presses a button; what the press is called, None if the message is gone."""
        raise NotImplementedError

    def answer_to(self, press: Any) -> str | None:
        """What a press was answered: a word, empty if it was done; None as long as it was not."""
        raise NotImplementedError

    def panels(self, person: str, code: str) -> list[dict[str, Any]]:
        found = self.messages.get(f"@{person}", {}).values()
        return [one for one in found if one["by"] == "bot" and code in one["text"]]

    async def connect(self, session: aiohttp.ClientSession) -> None:
        await self.bot.until_healthy(session)

    async def listen(self) -> None:
        """Until the bot is no more."""
        assert self.bot.process
        await self.bot.process.wait()

    async def ask(self, name: str = "", /, **wish: Any) -> str:
        name = name or f"t{next(self._names):07}"
        self.asked[name] = wish
        if wish["do"] == "say":
            self.say(wish["as"], wish["text"])
            return "done"
        if name not in self._presses:
            press = self.touch(wish["as"], wish["message"], wish["payload"])
            if press is None:
                return "lost"
            self._presses[name] = press
        return await self._answered(name)

    async def _answered(self, name: str) -> str:
        deadline = time.monotonic() + self.patience
        while (word := self.answer_to(self._presses[name])) is None:
            if not self.bot.is_running or time.monotonic() > deadline:
                return "lost"
            await asyncio.sleep(0.005)
        (self.refused if word else self.done).add(name)
        return "toast" if word else "done"


class Village:
    """People who play, and what must be true of their games."""

    victims = ("bot", "store", "both")
    patience = 60.0
    """Seconds in which delivery comes to rest once nobody plays."""

    def __init__(self, page: Page, seed: int, least: int = 0) -> None:
        """``least`` is how many presses must be acknowledged in a round before the kill: a short run plays, too."""
        self.page, self.bot, self.least = page, page.bot, least
        self.random = Random(seed)
        self.pressed: dict[str, tuple[str, str]] = {}
        self.doubled: Counter[str] = Counter()
        self.kills: Counter[str] = Counter()
        self.at_risk = 0
        self.down: list[float] = []

    async def press_something(self, person: str) -> None:
        # A move that a robot makes for somebody is one that nobody pressed.
        buttons = [
            (m, p)
            for m, p in self.page.buttons(person)
            if not p.endswith(":automatic") and (not p.endswith("resign") or self.random.random() < 0.02)
        ]
        bids = [(m, p) for m, p in buttons if ":bid " in p]
        buttons = [(m, p) for m, p in bids if p.endswith(("bid 4", "bid 5"))] or buttons
        if not buttons:
            await asyncio.sleep(0.01)
            return
        message, payload = self.random.choice(buttons)
        name = f"m{len(self.pressed):07}"
        self.pressed[name] = (person, payload)
        answer = await self.page.ask(
            name, do="press", chat=f"@{person}", message=message, payload=payload, **{"as": person}
        )
        if answer != "done":
            await asyncio.sleep(0.02)

    async def press_again(self) -> None:
        """What a page does after a lost line: it asks again what was not answered."""
        lost = [name for name in self.pressed if name not in self.page.done | self.page.refused][-20:]
        await asyncio.gather(*(self.page.ask(name, **self.page.asked[name]) for name in lost))

    async def keep_tables(self, wanted: int) -> None:
        """Have people sit at so many tables."""
        ids = [person["id"] for person in self.page.people]
        cards = [
            message
            for message in self.page.messages.get("1", {}).values()
            if any(
                button["payload"].endswith(("sit", "sit 1", "sit 2", "sit 3"))
                for row in message.get("rows", ())
                for button in row
            )
        ]
        for message in cards:
            for row in message["rows"]:
                for button in row:
                    if " ".join(button["payload"].split(" ")[:1]).endswith("sit"):
                        who = self.random.choice(ids)
                        await self.page.ask(
                            do="press", chat="1", message=message["id"], payload=button["payload"], **{"as": who}
                        )
        if len(cards) < wanted:
            game = self.random.choice(GAMES)
            await self.page.ask(do="say", chat="1", text=f"/challenge {game}", **{"as": self.random.choice(ids)})

    async def round(self, session: aiohttp.ClientSession, kill: str) -> None:
        """Start, check, play for a moment, kill."""
        start = time.perf_counter()
        await self.bot.start()
        await self.page.connect(session)
        self.down.append(time.perf_counter() - start)
        listening = asyncio.create_task(self.page.listen())
        if len(self.page.people) < 6:
            here = {person["name"] for person in self.page.people}
            for name in sorted({"Carla", "Dino", "Elsa", "Furio"} - here):
                answer = await self.page.ask(do="add_person", name=name)
                assert answer in ("done", "lost"), f"{name} may not come in: {answer}"
        await self.press_again()
        people = [person["id"] for person in self.page.people]
        players = [asyncio.create_task(self._play(person)) for person in people]
        await self.keep_tables(2)
        await self._until_played()
        await asyncio.sleep(self.random.uniform(0.0, 0.5))
        self.kills[kill] += 1
        self.at_risk += self.page.at_risk()
        if kill in ("store", "both"):
            self.bot.kill_store()
        if kill == "store":
            # The bot starts it again, and people play on.
            await self._until_presses_count()
            await asyncio.sleep(self.random.uniform(0.0, 0.2))
        else:
            await self.bot.kill()
        for task in players:
            task.cancel()
        await asyncio.gather(*players, return_exceptions=True)
        if kill == "store":
            self.at_risk += self.page.at_risk()
            await self.bot.kill()
        await listening

    async def _until_played(self) -> None:
        wanted = self._presses_done() + self.least
        async with asyncio.timeout(60):
            while self._presses_done() < wanted:
                await asyncio.sleep(0.2)
                await self.keep_tables(2)

    async def _until_presses_count(self) -> None:
        """Until some more presses were acknowledged; a game may end meanwhile, so there is always another one."""
        before = self._presses_done()
        for _ in range(20):
            async with asyncio.timeout(20):
                await self.keep_tables(2)
            for _ in range(20):
                await asyncio.sleep(0.05)
                if self._presses_done() > before + 3:
                    return
        shown = {one["id"]: self.page.buttons(one["id"]) for one in self.page.people}
        log = (self.bot.folder / "bot.log").read_text().splitlines()[-20:]
        raise Disagreement(f"the store was killed, and no press counts any more: {shown}\n{log}")

    def _presses_done(self) -> int:
        return len(self.pressed.keys() & self.page.done)

    async def _play(self, person: str) -> None:
        while True:
            await self.press_something(person)

    async def check(self, session: aiohttp.ClientSession) -> None:
        """Start once more, let delivery come to rest, and hold everything against everything."""
        await self.bot.start()
        await self.page.connect(session)
        listening = asyncio.create_task(self.page.listen())
        await self.press_again()
        async with opened(EmbeddedStore(self.bot.folder / "data").url) as there:
            await self._rest(there)
        stopped_in = await self.bot.stop()
        await listening
        if stopped_in > 5:
            raise Disagreement(f"the bot took {stopped_in:.1f} s to stop")
        store = EmbeddedStore(self.bot.folder / "data")
        await store.start()
        try:
            async with opened(store.url) as there:
                await self._check_logs(there)
        finally:
            await store.stop()

    async def _rest(self, store: Any) -> None:
        """Until nothing is marked as changed any more and nothing has been shown for a moment."""
        deadline, before, changed = time.monotonic() + self.patience, "", {}
        while time.monotonic() < deadline:
            await asyncio.sleep(0.5)
            changed = await store.all_changed(range(keys.SHARDS))
            now = json.dumps(self.page.messages, sort_keys=True)
            if not changed and now == before:
                return
            before = now
        raise Disagreement(f"delivery does not come to rest; marked as changed are {changed}")

    async def _check_logs(self, store: Any) -> None:
        stamps: Counter[str] = Counter()
        tables = []
        async for key in store.client.scan_iter("{s*}:table:*"):
            code = key.decode().rpartition(":")[2]
            table = Table.from_log(code, await store.load(code))
            tables.append(table)
            moves = [entry for entry in table.log.entries if entry[:1].isdigit()]
            for entry in moves:
                stamp = entry.partition(b"\t")[2].decode()
                if stamp:
                    stamps[stamp] += 1
        twice = [stamp for stamp, count in stamps.items() if count > 1]
        if twice:
            raise Disagreement(f"made twice: {twice}")
        await self._check_moves(store, tables, stamps)
        if await store.all_changed(range(keys.SHARDS)):
            raise Disagreement("tables are still marked as changed")
        self.doubled.clear()
        self._check_cards(tables)
        for table in tables:
            self._check_panels(table)
        if self.doubled.total() > self.at_risk or self.doubled.keys() - self.page.doubles:
            raise Disagreement(
                f"{self.kills.total()} kills, {self.at_risk} messages at risk, and doubled are {dict(self.doubled)}"
            )

    async def _check_moves(self, store: Any, tables: list[Table], stamps: Counter[str]) -> None:
        """Every acknowledged move is in its table's log, or in the record of its finished game."""
        made: dict[str, Counter[tuple[str, str]]] = {}
        for table in tables:
            made[table.code] = Counter()
            for entry in table.log.entries:
                seat, _, move = entry.partition(b"\t")[0].decode().partition(" ")
                chair = table.chairs[int(seat)] if seat.isdigit() else None
                if chair:
                    made[table.code][chair.person, move] += 1
        async for game in Archive(store.client).all():
            verify(game.record)
            made[game.code] = self._moves_of(game)
        asked, acknowledged = self._count(self.pressed), self._count(self.page.done)
        for code, moves in acknowledged.items():
            if code not in made:
                raise Disagreement(f"table {code} is lost")
            if lost := moves - made[code]:
                raise Disagreement(f"table {code} lost {lost}")
        for code, moves in made.items():
            if more := moves - asked.get(code, Counter()):
                raise Disagreement(f"table {code} has moves that nobody made: {more}")

    def _count(self, names: Iterable[str]) -> dict[str, Counter[tuple[str, str]]]:
        """Moves by table: who pressed what, how often."""
        counted: dict[str, Counter[tuple[str, str]]] = {}
        for name in names:
            person, payload = self.pressed.get(name, ("", ""))
            if payload.startswith("1m"):
                code, _version, move = payload[2:].split(":", 2)
                counted.setdefault(code, Counter())[f"{self.page.platform}:{person}", move] += 1
        return counted

    @staticmethod
    def _moves_of(game: FinishedGame) -> Counter[tuple[str, str]]:
        """What its people did; what chance gave is not counted."""
        moves = (move for deal in game.record.deals for move in deal.moves)
        return Counter((game.people[move[0]], move[1]) for move in moves if move[0] is not None)

    def _check_cards(self, tables: list[Table]) -> None:
        """Each open table has a card, whose last offers the chairs that nobody has or asks for; a table that is not
        open has a card with buttons only on a message that was doubled.
        """
        cards: dict[str, list[set[str]]] = {}
        for chat, messages in self.page.messages.items():
            if chat.startswith("@"):
                continue
            for message in messages.values():
                wishes = {
                    button["payload"][2:]
                    for row in message.get("rows", ())
                    for button in row
                    if button["payload"].startswith("1t")
                }
                if code := next((wish.partition(":")[0] for wish in wishes if wish.endswith(":cancel")), ""):
                    cards.setdefault(code, []).append({wish for wish in wishes if ":sit" in wish})
        waiting = [table for table in tables if table.phase == "open"]
        for table in waiting:
            free = [seat for seat, chair in enumerate(table.chairs) if not chair and seat not in table.asking]
            chairs = {f"{table.code}:sit"} if len(table.chairs) == 2 else {f"{table.code}:sit {seat}" for seat in free}
            offered = cards.get(table.code, [set()])[-1]
            if table.code not in cards or offered != chairs:
                raise Disagreement(f"table {table.code} has chairs {chairs}, and offered are {offered}")
        if more := sum(map(len, cards.values())) - len(waiting):
            self.doubled["cards"] = more

    def _check_panels(self, table: Table) -> None:
        if table.game is None:
            return
        for seat, chair in enumerate(table.chairs):
            if chair is None or chair.is_robot:
                continue
            number = chair.person.partition(":")[2]
            panels = self.page.panels(number, table.code)
            if not panels:
                raise Disagreement(f"no panel of table {table.code} for person {number}")
            if more := len(panels) - 1:
                self.doubled["hands"] += more
            offered = {
                payload.partition(":")[2].partition(":")[2]
                for message, payload in self.page.buttons(number)
                if payload.startswith(f"1m{table.code}:") and message == panels[-1]["id"]
            }
            legal = {m for m in table.game.legal_moves(seat) if m.startswith("play") and m.count(" ") == 1}
            shown = {" ".join(m.split(" ")[:2]) for m in offered if m.startswith("play")}
            if table.game.turn == seat and legal != shown:
                raise Disagreement(f"table {table.code}, seat {seat}: legal {sorted(legal)}, shown {sorted(shown)}")
            if table.game.turn != seat and shown:
                raise Disagreement(f"table {table.code}, seat {seat}: cards are offered out of turn")


async def harness(
    kills: int,
    seed: int,
    page: Page,
    *,
    check_every: int = 10,
    least: int = 0,
    show: bool = False,
    kind: type[Village] = Village,
) -> Village:
    """So many kills; a check after every few of them and at the end."""
    village = kind(page, seed, least)
    async with aiohttp.ClientSession() as session:
        try:
            for number in range(1, kills + 1):
                await village.round(session, village.random.choice(village.victims))
                if number % check_every == 0 or number == kills:
                    await village.check(session)
                    if show:
                        print(f"{number} kills, {len(village.page.done)} presses acknowledged", flush=True)  # noqa: T201
        finally:
            await village.bot.kill()
            village.bot.kill_store()
    return village


@asynccontextmanager
async def on_playground(folder: Path) -> AsyncIterator[Page]:
    yield Page(Bot(folder))


def main(platform: Callable[[Path], AbstractAsyncContextManager[Page]], kind: type[Village] = Village) -> None:
    """The harness from the command line, showing how it goes."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=60)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--folder", type=Path)
    given = options.parse_args()

    async def run(kills: int, seed: int, folder: Path) -> Village:
        async with platform(folder) as page:
            return await harness(kills, seed, page, show=True, kind=kind)

    with tempfile.TemporaryDirectory() as temporary:
        start = time.perf_counter()
        village = asyncio.run(run(given.kills, given.seed, given.folder or Path(temporary)))
        down = sorted(village.down)
        print(  # noqa: T201
            f"{dict(village.kills)}: {len(village.page.done)} requests acknowledged, {len(village.pressed)} presses made;"
            f" back after {down[len(down) // 2]:.2f} s (median), {down[-1]:.2f} s (longest);"
            f" doubled at the end: {dict(village.doubled) or 'nothing'}; {time.perf_counter() - start:.0f} s in all"
        )


if __name__ == "__main__":
    main(on_playground)
