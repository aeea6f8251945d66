"""Odd values, payloads and checks of the store for all fuzzers."""

import asyncio
import gc
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import structlog

from bot.command_names import COMMANDS, find_command_spec
from bot.delivery.message_state import MessageState, State, decode_state
from bot.store import EmbeddedStore, Store, open_store
from bot.worker import Worker

# Suffixes of keys that change with time.
TIMED_KEYS = (b"}:attended", b"}:probe", b"}:confirmed", b"workers", b"sweeping")

TABLE_LISTS = (b"seated:", b"hosted:", b"challenges:")

NEW_KEYS_ALLOWED = (
    *(b"person:", b"handle:", b"tries:", b"mydata:", b"chat:", b"discord:pass:", b"discord:private"),
    *(b"seated:", b"hosted:", b"{find}:blocks", b"daily:chain", b"daily:drawn", b"{puzzles}:next", b"{puzzles}:drawn"),
    *(b"{duel:", b"duels:", b"{match:", b"matches:"),
)
"""Prefixes of keys that a run can create.

- People and chats are stored when they first write.
- /block stores the named people, /duel stores a duel, and /match stores a match.
- The first request for the deal of the day creates its chain of secrets. A request for a puzzle stores the puzzle.
- Two concurrent refusals can leave a stale entry in the index of a stranger's tables. Readers of the index check the
  table's log (`bot.store.index`).
"""

# Keys of strangers who asked for the deal of the day with /daily, by chat.
DAILY_KEYS_ALLOWED = re.compile(rb"\{daily:[0-9-]+\}:chat:|daily:asked:")

ODD_CHARACTERS = "\ud800\udfff\0\t\n\r\x1b\x7f\u0085\u2028\u202e\ufeff🂠²٣９à@/:~! "
ODD_TEXTS = (
    "",
    " ",
    "\0",
    "\t",
    "a\tb",
    "a\nb",
    "²",
    "٣٣",
    "९" * 6,
    "９９９９",
    "-1",
    "+1",
    "1_0",
    "1e9",
    "0x10",
    "9" * 20,
    "9" * 5000,
    "NaN",
    "__proto__",
    "{code}",
    "%s%n",
    "@",
    "@@",
    "@²",
    "@nobody_is_called_so",
    "telegram:1",
    "robot:1",
    "\ud800",
    "\udfff\ud800",
    "à" * 33,
    "🂠" * 65,
)
ODD_NUMBERS = (0, -1, -(2**31), 2**31, 2**53 + 1, 2**63, 2**64, -(10**30), 10**300)
VERBS = (
    "sit",
    "stand",
    "robot easy",
    "cancel",
    "decline",
    "menu",
    "menu rules",
    "form testa 0 0 0",
    "game testa",
    "rule target=21",
    "clock 60 1",
    "accept 0",
    "refuse 0",
    "draft",
    "draft 1 7D",
    "claim",
    "automatic",
    "wait",
    "aside",
    "hint 1",
    "resign",
)
PAGES = ("leaderboard chat all all", "settings language it", "settings", "forget", "forget yes", "hand", "rematch 1")
MOVES = ("play 7D", "play AS", "play 2C", "declare three A missing D", "pick 1", "bid 4", "resign", "claim", "pass")
COMMAND_WORDS = tuple(word for spec in COMMANDS for word in spec.words)

GAME_COMMANDS = ("challenge", "find", "tournament", "league")
NO_GAME = "no-such-game"  # argument of `GAME_COMMANDS`: a valid game would open a table or a tournament


class FuzzFailure(AssertionError):
    """A malformed request was not answered, caused an error or changed something."""


@dataclass
class Outcome:
    """The counts of a run."""

    sent: int = 0
    presses: int = 0
    commands: int = 0
    refused: int = 0
    seconds: float = 0.0
    warnings: dict[str, int] = field(default_factory=dict)

    def count_warning(self, name: str) -> None:
        self.warnings[name] = self.warnings.get(name, 0) + 1

    def __str__(self) -> str:
        warnings = ", ".join(f"{name} {count:,}" for name, count in sorted(self.warnings.items())) or "none"
        return (
            f"{self.sent:,} sent: {self.presses:,} presses and {self.commands:,} commands answered, "
            f"{self.refused:,} refused; {self.sent / max(self.seconds, 1e-9):.0f} a second; warnings: {warnings}"
        )


def odd_text(random: Random) -> str:
    if random.random() < 0.7:
        return random.choice(ODD_TEXTS)
    return "".join(random.choice(ODD_CHARACTERS) for _ in range(random.randrange(1, 12)))


def odd_value(random: Random, depth: int = 0) -> Any:
    """Return a random JSON value of any type."""
    kind = random.randrange(7 if depth > 2 else 9)
    if kind < 3:
        return odd_text(random)
    if kind < 5:
        return random.choice(ODD_NUMBERS)
    if kind < 7:
        return random.choice((None, True, False, 0.5, -1e308))
    if kind == 7:
        return [odd_value(random, depth + 1) for _ in range(random.randrange(4))]
    return {odd_text(random)[:40]: odd_value(random, depth + 1) for _ in range(random.randrange(4))}


def mutate_json(random: Random, value: Any, spare: Sequence[str] = ()) -> Any:
    """Return a copy of a JSON value with some values replaced, removed or duplicated. Keep those of ``spare`` keys."""
    copy = json.loads(json.dumps(value))
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        locations = [location for location in _iter_locations(copy) if location[1] not in spare]
        if not locations:
            return copy
        holder, key = random.choice(locations)
        match random.randrange(5):
            case 0:
                del holder[key]
            case 1 if isinstance(holder[key], str):
                text = holder[key]
                start = random.randrange(len(text) + 1)
                holder[key] = text[:start] + odd_text(random) + text[start + random.randrange(3) :]
            case 2 if isinstance(holder, dict):
                holder[odd_text(random)[:40]] = holder[key]
            case _:
                holder[key] = odd_value(random)
    return copy


def mutate_text(random: Random, text: str) -> str:
    """Return a text with odd characters inserted, or another text."""
    mutated = mutate_json(random, [text])
    return mutated[0] if mutated and isinstance(mutated[0], str) else odd_text(random)


def _iter_locations(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _iter_locations(value[key])


class Payloads:
    """Payloads of buttons: those on real messages, and variations of them."""

    def __init__(self, random: Random, worker: Worker, codes: Sequence[str], real: Sequence[str]) -> None:
        self.random, self.worker, self.codes, self.real = random, worker, codes, real

    def choose_for_stranger(self) -> str:
        """Return a payload for a person without a seat: an invalid one, one for another person, or one for a page."""
        random = self.random
        code = random.choice((*self.codes, "ABCDEF", "ZZZZ22", "A", "²²²²", "ABCDEFGHJ"))
        match random.randrange(8):
            case 0 | 1 | 2:
                return random.choice(self.real)
            case 3:
                return mutate_text(random, random.choice(self.real))
            case 4:
                text = random.choice(self.real)
                start = random.randrange(len(text))
                return text[:start] + odd_text(random) + text[start + random.randrange(4) :]
            case 5:
                return f"1t{code}:{random.choice(VERBS)}{random.choice(('', ' ', ' ' + odd_text(random)))}"
            case 6:
                version = random.choice(("0", "7", "999999", "9999999", "-1", "²", "٣", odd_text(random)))
                return f"1m{code}:{version}:{random.choice((*MOVES, odd_text(random)))}"
            case _:
                return f"1p{random.choice(PAGES)}{random.choice(('', ' ' + odd_text(random)))}"

    async def choose_illegal(self, person: str) -> str:
        """Return an illegal payload for a player."""
        random = self.random
        code = random.choice(self.codes)
        table = await self.worker.room.load_cached(code)
        seat, game = table.seat_of(person), table.game
        version = random.choice((table.version, table.version, 0, table.version - 1, 999999))
        legal: set[str] = set(game.legal_moves(seat)) if game and seat is not None else set()
        text = random.choice((*MOVES, *(move + odd_text(random) for move in legal), odd_text(random), "play", "7D"))
        if text.strip() in legal or any(text.startswith(move + " ") for move in legal):
            text = "play 8Z"
        if random.random() < 0.2:
            return (
                f"1t{code}:{random.choice(('sit 9', 'sit ²', 'robot god', 'rule x=1', 'clock ² 0', 'accept ²', 'no'))}"
            )
        return f"1m{code}:{version}:{text}"


def takes_a_game(word: object) -> bool:
    """Return whether a command with a valid game would open something. With `NO_GAME` it has no effect."""
    spec = find_command_spec(str(word).lower())
    return spec is not None and spec.name in GAME_COMMANDS


def make_arguments(random: Random, word: str, codes: Sequence[str]) -> list[str]:
    """Return arguments that have no effect for a person without a seat."""
    arguments = [
        random.choice((*codes, odd_text(random), "testa", "21", "²", "٣", "ABC123", "fair", "all"))
        for _ in range(random.choice((0, 1, 1, 2, 3, 9)))
    ]
    return [NO_GAME, *arguments] if takes_a_game(word) else arguments


CHECKS = 20  # comparisons of the store, half a second apart


async def read_state(store: Store) -> dict[bytes, object]:
    """Return the store's contents, without values that change even if nothing is done."""
    contents: dict[bytes, object] = {}
    async for key in store.client.scan_iter(count=1000):
        if key.endswith(TIMED_KEYS) or b":ended:" in key:
            continue
        if b":shown:" in key:
            contents[key] = {
                name: decode_state(text.decode())._replace(seen_at=0)
                for name, text in (await store.client.hgetall(key)).items()
            }
        elif key.startswith(b"person:"):
            # The first press in a private chat stores that the person has one.
            fields = await store.client.hgetall(key)
            contents[key] = sorted((name, value) for name, value in fields.items() if name != b"private")
        elif key.startswith(b"chat:"):
            # Servers can be renamed at any time, and the bot greets a chat when it joins.
            fields = await store.client.hgetall(key)
            contents[key] = sorted((name, value) for name, value in fields.items() if name not in (b"name", b"greeted"))
        elif key.startswith(TABLE_LISTS):
            # The values are the times of the last lookup.
            contents[key] = set(await store.client.hkeys(key))
        else:
            contents[key] = await store.client.dump(key)
    return contents


async def check_unchanged(
    before: dict[bytes, object], read_contents: Callable[[], Awaitable[dict[bytes, object]]]
) -> None:
    """Compare the store with its earlier contents, repeatedly.

    A press can be refused before its changes are rolled back.
    """
    for _ in range(CHECKS):
        try:
            compare(before, await read_contents())
        except FuzzFailure:
            await asyncio.sleep(0.5)
        else:
            return
    compare(before, await read_contents())


def compare(before: dict[bytes, object], after: dict[bytes, object]) -> None:
    """Raise `FuzzFailure` if a key has changed, or a key is new that a run must not create."""
    changed = [key for key in before if not _is_same(before[key], after.get(key))]
    created = [
        key
        for key in after.keys() - before.keys()
        if not key.startswith(NEW_KEYS_ALLOWED) and not DAILY_KEYS_ALLOWED.match(key)
    ]
    if changed or created:
        differences = {key: (before.get(key), after.get(key)) for key in sorted(changed)[:9]}
        raise FuzzFailure(f"changed: {differences}, new: {sorted(created)[:9]}")


def _is_same(before: object, after: object) -> bool:
    """Return whether a key's value is the same.

    The card of a started game can become final during a run. The next check of the table stores that, and a press can
    trigger the check. Nothing is sent or edited.
    """
    if not isinstance(before, dict) or not isinstance(after, dict):
        return before == after
    has_started = any(name.startswith(b"d") for name in before)
    cards = {name for name in before if name.startswith(b"c")} if has_started else set()
    finished = {
        name: MessageState(place_tag=state.place_tag, halted=State.DONE.value)
        for name, state in before.items()
        if name in cards
    }
    return before.keys() == after.keys() and all(
        after[name] in (surface, finished.get(name, surface)) for name, surface in before.items()
    )


async def turn_off_clocks(worker: Worker, chat: str) -> None:
    """Turn off clocks in a chat, so that players do not run out of time in a long run."""
    await worker.people.update_chat(chat, clock="0")


@asynccontextmanager
async def open_temporary_store(folder: Path) -> AsyncIterator[Store]:
    """Open a store for one run."""
    embedded = EmbeddedStore(folder / "data")
    await embedded.start()
    try:
        async with open_store(embedded.url) as store:
            yield store
    finally:
        await embedded.stop()


class _LibraryLogHandler(logging.Handler):
    """A handler that counts warnings of libraries and collects their errors."""

    def __init__(self, outcome: Outcome, failures: list[MutableMapping[str, Any]]) -> None:
        super().__init__(logging.WARNING)
        self._outcome, self._failures = outcome, failures

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.levelno >= logging.ERROR or record.exc_info or "\n" in text:
            self._failures.append({"event": text, "logger": record.name, "exception": repr(record.exc_info)})
        else:
            self._outcome.count_warning(f"{record.name}: {record.msg}")


@contextmanager
def fail_on_errors(outcome: Outcome) -> Iterator[Outcome]:
    """Count warnings, and raise `FuzzFailure` if the bot or a library logs an error or a traceback."""
    failures: list[MutableMapping[str, Any]] = []

    def check_event(_logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        name = str(event.get("event"))
        if name == "store_may_lose_data":
            # Test stores write to disk late.
            raise structlog.DropEvent
        if name == "store_failed" and event.get("why") == "TimeoutError":
            # The machine is too busy. The person gets an error message.
            outcome.count_warning(name)
        elif method in ("error", "exception", "critical") or event.get("exception") or name.endswith("_failed"):
            failures.append(dict(event))
        elif method == "warning" or name == "discord_answer_lost":
            outcome.count_warning(name)
        raise structlog.DropEvent

    processors, library = structlog.get_config()["processors"], _LibraryLogHandler(outcome, failures)
    structlog.configure(processors=[structlog.processors.format_exc_info, check_event])
    logging.getLogger().addHandler(library)
    start = time.monotonic()
    try:
        yield outcome
        outcome.seconds = time.monotonic() - start
        # Errors of tasks that were never awaited are logged when the tasks are collected.
        gc.collect()
    finally:
        structlog.configure(processors=processors)
        logging.getLogger().removeHandler(library)
    if failures:
        raise FuzzFailure(f"{len(failures)} failures, such as {failures[0]}")
