"""What all adapters' nonsense has in common: odd values, real payloads bent out of shape, and what must stay as it is."""

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

from bot.commands import COMMANDS, find_command_spec
from bot.delivery.message_state import MessageState, State, decode_state
from bot.store import EmbeddedStore, Store, open_store
from bot.worker import Worker

TIMED_KEYS = (b"}:attended", b"}:probe", b"}:confirmed", b"workers", b"sweeping")
"""Ends of keys that change by themselves."""

TABLE_LISTS = (b"seated:", b"hosted:", b"challenges:")

NEW_KEYS_ALLOWED = (
    *(b"person:", b"handle:", b"tries:", b"mydata:", b"chat:", b"discord:pass:", b"discord:private"),
    *(b"seated:", b"hosted:", b"{find}:blocks", b"daily:chain", b"daily:drawn", b"{puzzles}:next", b"{puzzles}:drawn"),
)
"""Beginnings of keys that may come anew: a stranger is known from then on, and so is a chat; whoever they name after
/block is blocked; the first who asks for the deal of the day has the chain of its secrets made, and who asks for a
puzzle has one noted. Two refused at once may leave an entry in the index of a stranger's tables, which nothing bears
out (`bot.store.index`): the table's log is looked at.
"""

DAILY_KEYS_ALLOWED = re.compile(rb"\{daily:[0-9-]+\}:chat:|daily:asked:")
"""Who asked for the deal of the day in which chat: each stranger who writes /daily there."""

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
NO_GAME = "no-such-game"
"""Stands behind these, for one that makes sense would open a table, or a tournament, rightly."""

GAME_COMMANDS = ("challenge", "find", "tournament", "league")


class FuzzFailure(AssertionError):
    """What nonsense must not bring about."""


@dataclass
class Outcome:
    """What came of a run."""

    sent: int = 0
    presses: int = 0
    commands: int = 0
    refused: int = 0
    seconds: float = 0.0
    warnings: dict[str, int] = field(default_factory=dict)

    def count_warning(self, name: str) -> None:
        self.warnings[name] = self.warnings.get(name, 0) + 1

    def __str__(self) -> str:
        noted = ", ".join(f"{name} {count:,}" for name, count in sorted(self.warnings.items())) or "none"
        return (
            f"{self.sent:,} sent: {self.presses:,} presses and {self.commands:,} commands answered, "
            f"{self.refused:,} refused at the door; {self.sent / max(self.seconds, 1e-9):.0f} a second; warnings: {noted}"
        )


def odd_text(random: Random) -> str:
    if random.random() < 0.7:
        return random.choice(ODD_TEXTS)
    return "".join(random.choice(ODD_CHARACTERS) for _ in range(random.randrange(1, 12)))


def odd_value(random: Random, depth: int = 0) -> Any:
    """A JSON value of any kind."""
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
    """A copy of a JSON value in which one or a few things are odd, left out or doubled; keys in ``spare`` stay."""
    copy = json.loads(json.dumps(value))
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        places = [place for place in _iter_locations(copy) if place[1] not in spare]
        if not places:
            return copy
        holder, key = random.choice(places)
        match random.randrange(5):
            case 0:
                del holder[key]
            case 1 if isinstance(holder[key], str):
                text = holder[key]
                at = random.randrange(len(text) + 1)
                holder[key] = text[:at] + odd_text(random) + text[at + random.randrange(3) :]
            case 2 if isinstance(holder, dict):
                holder[odd_text(random)[:40]] = holder[key]
            case _:
                holder[key] = odd_value(random)
    return copy


def mutate_text(random: Random, text: str) -> str:
    """A text bent out of shape: some of it odd, another text in its place, or none."""
    bending = mutate_json(random, [text])
    return bending[0] if bending and isinstance(bending[0], str) else odd_text(random)


def _iter_locations(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _iter_locations(value[key])


class Payloads:
    """Payloads of buttons: real ones, as they stand on people's messages, and what may be made of them."""

    def __init__(self, random: Random, worker: Worker, codes: Sequence[str], real: Sequence[str]) -> None:
        self.random, self.worker, self.codes, self.real = random, worker, codes, real

    def choose_for_stranger(self) -> str:
        """One for somebody who sits nowhere: may be well formed, and then is somebody else's."""
        random = self.random
        code = random.choice((*self.codes, "ABCDEF", "ZZZZ22", "A", "²²²²", "ABCDEFGHJ"))
        match random.randrange(8):
            case 0 | 1 | 2:
                return random.choice(self.real)
            case 3:
                return mutate_text(random, random.choice(self.real))
            case 4:
                text = random.choice(self.real)
                at = random.randrange(len(text))
                return text[:at] + odd_text(random) + text[at + random.randrange(4) :]
            case 5:
                return f"1t{code}:{random.choice(VERBS)}{random.choice(('', ' ', ' ' + odd_text(random)))}"
            case 6:
                version = random.choice(("0", "7", "999999", "9999999", "-1", "²", "٣", odd_text(random)))
                return f"1m{code}:{version}:{random.choice((*MOVES, odd_text(random)))}"
            case _:
                return f"1p{random.choice(PAGES)}{random.choice(('', ' ' + odd_text(random)))}"

    async def choose_illegal(self, person: str) -> str:
        """One of somebody who plays, that cannot be legal: no move of theirs, or no words that are any."""
        random = self.random
        code = random.choice(self.codes)
        table = await self.worker.room.cached(code)
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


def needs_a_game(word: object) -> bool:
    """Whether a word is that of a command that needs `NO_GAME` to make no sense."""
    spec = find_command_spec(str(word).lower())
    return spec is not None and spec.name in GAME_COMMANDS


def command_arguments(random: Random, word: str, codes: Sequence[str]) -> list[str]:
    """What stands behind a command, from somebody who sits nowhere: nothing that would be done for them."""
    words = [
        random.choice((*codes, odd_text(random), "testa", "21", "²", "٣", "ABC123", "fair", "all"))
        for _ in range(random.choice((0, 1, 1, 2, 3, 9)))
    ]
    return [NO_GAME, *words] if needs_a_game(word) else words


CHECKS = 20
"""So often is looked, half a second apart."""


async def read_state(store: Store) -> dict[bytes, object]:
    """All that the store holds but what goes by time, and when people last looked at what they are shown."""
    held: dict[bytes, object] = {}
    async for key in store.client.scan_iter(count=1000):
        if key.endswith(TIMED_KEYS) or b":ended:" in key:
            continue
        if b":shown:" in key:
            held[key] = {
                name: decode_state(text.decode())._replace(seen_at=0)
                for name, text in (await store.client.hgetall(key)).items()
            }
        elif key.startswith(b"person:"):
            # Whoever presses in their private chat for the first time is known to have one, whatever they press.
            fields = await store.client.hgetall(key)
            held[key] = sorted((name, value) for name, value in fields.items() if name != b"private")
        elif key.startswith(b"chat:"):
            # A server may be called otherwise from one moment to the next.
            fields = await store.client.hgetall(key)
            held[key] = sorted((name, value) for name, value in fields.items() if name != b"name")
        elif key.startswith(TABLE_LISTS):
            # Behind each code stands when it was last looked for.
            held[key] = set(await store.client.hkeys(key))
        else:
            held[key] = await store.client.dump(key)
    return held


async def check_unchanged(before: dict[bytes, object], look: Callable[[], Awaitable[dict[bytes, object]]]) -> None:
    """`compare` with what is found, once what is refused has been taken back: an answer may come before that."""
    for _ in range(CHECKS):
        try:
            compare(before, await look())
        except FuzzFailure:
            await asyncio.sleep(0.5)
        else:
            return
    compare(before, await look())


def compare(before: dict[bytes, object], after: dict[bytes, object]) -> None:
    """Nonsense if anything is no more what it was; strangers may be known by now."""
    changed = [key for key in before if not _is_same(before[key], after.get(key))]
    new = [
        key
        for key in after.keys() - before.keys()
        if not key.startswith(NEW_KEYS_ALLOWED) and not DAILY_KEYS_ALLOWED.match(key)
    ]
    if changed or new:
        told = {key: (before.get(key), after.get(key)) for key in sorted(changed)[:9]}
        raise FuzzFailure(f"changed: {told}, new: {sorted(new)[:9]}")


def _is_same(before: object, after: object) -> bool:
    """Whether what a key holds is the same. What is known of surfaces may differ in one thing: that the card of a game
    which has begun will not change any more is noted when the table is next looked over, and a press can be why it is.
    Nothing is sent or edited for that.
    """
    if not isinstance(before, dict) or not isinstance(after, dict):
        return before == after
    has_begun = any(name.startswith(b"d") for name in before)
    cards = {name for name in before if name.startswith(b"c")} if has_begun else set()
    done = {
        name: MessageState(place_tag=known.place_tag, halted=State.DONE.value)
        for name, known in before.items()
        if name in cards
    }
    return before.keys() == after.keys() and all(
        after[name] in (surface, done.get(name, surface)) for name, surface in before.items()
    )


async def turn_off_clocks(worker: Worker, chat: str) -> None:
    """Have the games of a chat played without a clock: in a long run it would ring."""
    await worker.people.update_chat(chat, clock="0")


@asynccontextmanager
async def open_temporary_store(folder: Path) -> AsyncIterator[Store]:
    """A store for one run."""
    embedded = EmbeddedStore(folder / "data")
    await embedded.start()
    try:
        async with open_store(embedded.url) as store:
            yield store
    finally:
        await embedded.stop()


class _LibraryLogHandler(logging.Handler):
    """What libraries log, from warnings up."""

    def __init__(self, outcome: Outcome, bad: list[MutableMapping[str, Any]]) -> None:
        super().__init__(logging.WARNING)
        self._outcome, self._bad = outcome, bad

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.levelno >= logging.ERROR or record.exc_info or "\n" in text:
            self._bad.append({"event": text, "logger": record.name, "exception": repr(record.exc_info)})
        else:
            self._outcome.count_warning(f"{record.name}: {record.msg}")


@contextmanager
def fail_on_errors(outcome: Outcome) -> Iterator[Outcome]:
    """Warnings are counted; an error, or a traceback of whatever kind, also of a library's, is a failure."""
    bad: list[MutableMapping[str, Any]] = []

    def note(_logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        name = str(event.get("event"))
        if name == "store_may_lose_data":
            # Stores of tests write to the disk late.
            raise structlog.DropEvent
        if name == "store_failed" and event.get("why") == "TimeoutError":
            # The machine is too busy; whoever asked is told so.
            outcome.count_warning(name)
        elif method in ("error", "exception", "critical") or event.get("exception") or name.endswith("_failed"):
            bad.append(dict(event))
        elif method == "warning" or name == "discord_answer_lost":
            outcome.count_warning(name)
        raise structlog.DropEvent

    kept, library = structlog.get_config()["processors"], _LibraryLogHandler(outcome, bad)
    structlog.configure(processors=[structlog.processors.format_exc_info, note])
    logging.getLogger().addHandler(library)
    start = time.monotonic()
    try:
        yield outcome
        outcome.seconds = time.monotonic() - start
        # The failures of tasks that nobody waited for are told when the tasks are let go.
        gc.collect()
    finally:
        structlog.configure(processors=kept)
        logging.getLogger().removeHandler(library)
    if bad:
        raise FuzzFailure(f"{len(bad)} failures, such as {bad[0]}")
