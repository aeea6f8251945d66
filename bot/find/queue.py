"""Where people wait for an opponent, and where two who were matched are asked whether they are ready.

It lies in the store, in one slot, and each change of it is one step (queue.lua): so a person is in one place at most,
waiting or asked, whatever workers do at once, and whatever is sent twice. Two who are both ready stay until their table
is there (`Queue.opened`), so a worker that dies before opens none, and the next one opens the same: the pairing has the
code from which the table gets its own.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.resources import files
from typing import Any

from bot.find.matching import Waiting
from bot.store import keys
from bot.store.batch import BatchedScript

SCRIPT = (files("bot.find") / "queue.lua").read_text(encoding="utf-8")

ANSWER_SECONDS = 60
"""How long two who were matched have to say that they are ready."""


class Answer(Enum):
    """How a pairing stands."""

    ASKED = b"asked"
    READY = b"ready"
    PARTED = b"parted"
    GONE = b"gone"


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two people who are asked: whether each is ready, in the same order."""

    code: str
    game: str
    people: tuple[str, str]
    ready: tuple[bool, bool]


class Queue:
    """The queue of one store."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._script = BatchedScript(client, SCRIPT)

    async def look(
        self, person: str, games: Sequence[str], language: str, rating: int, blocked: Collection[str] = ()
    ) -> bool:
        """Wait for an opponent; whoever waits already keeps their place. False for a person who is asked just now."""
        wish = json.dumps([list(games), language, rating, sorted(blocked)])
        return bool(await self._change("look", person, wish))

    async def leave(self, person: str) -> bool:
        """Wait no more; to whoever is asked it is a no. False if both are ready: the table opens."""
        return bool(await self._change("leave", person))

    async def waiting(self) -> list["InQueue"]:
        """All who wait, in no order."""
        found = await self._client.hgetall(keys.FIND_WAITING)
        return [InQueue.parse(person.decode(), text.decode()) for person, text in found.items()]

    async def pair(
        self, code: str, one: "InQueue", other: "InQueue", game: str, seconds: float = ANSWER_SECONDS
    ) -> bool:
        """Ask two people; False if one of them waits no more as they did. ``code`` is of this pairing alone."""
        texts = (one.waiting.person, one.text, other.waiting.person, other.text)
        return bool(await self._change("pair", code, game, seconds, *texts))

    async def answer(self, code: str, person: str, *, ready: bool) -> Answer:
        """Somebody is ready, or does not want to: then the other goes back to their place in the queue."""
        return Answer(await self._change("answer", code, person, int(ready)))

    async def expire(self, code: str) -> Answer:
        """If the time is up: whoever did not answer is out of the queue, the other goes back to their place in it."""
        return Answer(await self._change("expire", code))

    async def opened(self, code: str) -> bool:
        """The table of two who are ready is there."""
        return bool(await self._change("opened", code))

    async def due(self) -> list[str]:
        """Codes of pairings to see to: their time is up (`expire`), or both are ready and want their table."""
        found = await self._change("due")
        return [code.decode() for code in found]

    async def pairing(self, code: str) -> Pairing | None:
        """None once it is parted, or its table is there."""
        text = await self._client.hget(keys.FIND_PAIRINGS, code)
        if text is None:
            return None
        found = json.loads(text)
        return Pairing(code, found["game"], tuple(found["people"]), tuple(found["ready"]))

    async def asked(self, person: str) -> str | None:
        """The code of the pairing in which a person is asked."""
        code = await self._client.hget(keys.FIND_ASKED, person)
        return None if code is None else code.decode()

    async def _change(self, *args: Any) -> Any:
        return await self._script([keys.FIND_WAITING, keys.FIND_ASKED, keys.FIND_PAIRINGS, keys.FIND_DUE], args)


@dataclass(frozen=True, slots=True)
class InQueue:
    """A person who waits, and the text that says so in the store."""

    waiting: Waiting
    text: str

    @classmethod
    def parse(cls, person: str, text: str) -> "InQueue":
        since, _, wish = text.partition(" ")
        games, language, rating, blocked = json.loads(wish)
        return cls(Waiting(person, float(since), tuple(games), language, rating, frozenset(blocked)), text)
