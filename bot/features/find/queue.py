"""Where people wait for opponents, and who was matched with whom.

It lies in the store, in one slot, and each change of it is one step (queue.lua): so a person is in one place at most,
waiting or asked, whatever workers do at once, and whatever is sent twice. Their table says whether
the people who were matched are ready (`bot.features.find.finder`). A pairing stays until the table has an outcome, so
a person who was ready keeps their place.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, cast

from bot.features.find.matching import Searcher
from bot.store import keys
from bot.store.batch import BatchedScript
from bot.store.lua import read_script
from bot.tables.blocks import Blocks

UPDATE_KEPT_SECONDS = 86400
"""For how long it is known that somebody's wish to look was heard: for longer than a platform tells it again."""

SCRIPT = read_script(__file__, "queue")

KEYS = [keys.FIND_WAITING, keys.FIND_ASKED, keys.FIND_PAIRINGS, keys.FIND_BLOCKS]

SearchState = Literal["waiting", "asked", "repeated"]
"""What came of a wish to look: the person waits, or is asked whether they are ready, or did so once."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """People who were matched, and are asked whether they are ready: two, or up to four at a game for four."""

    code: str
    game: str
    people: tuple[str, ...]

    def others(self, person: str) -> tuple[str, ...]:
        """Whom a person was matched with."""
        return tuple(other for other in self.people if other != person)


class Queue:
    """The queue of one store."""

    def __init__(self, client: Any) -> None:
        self._client, self.blocks = client, Blocks(client)
        self._script = BatchedScript(client, SCRIPT)

    async def now(self) -> float:
        """The store's clock, in Unix seconds: people wait by that."""
        return float(await self._run("now"))

    async def join(
        self,
        person: str,
        games: Sequence[str],
        language: str,
        rating: int,
        update: str,
        robots_after: float | None = None,
        *,
        on: bool = False,
    ) -> SearchState:
        """Wait for opponents; whoever waits already keeps their place. Once for each update: what came of it by now is
        found as it is. ``robots_after`` is as in `Waiting`, None for never. With ``on`` whoever does not wait by now is
        left alone, as if the update had been heard before.
        """
        wish = json.dumps([list(games), language, rating, *([] if robots_after is None else [robots_after])])
        found = await self._script(
            [*KEYS, keys.looked(update)], ["look", person, wish, UPDATE_KEPT_SECONDS, *(["on"] if on else [])]
        )
        return cast(SearchState, found.decode())

    async def leave(self, person: str) -> bool:
        """Wait no more. False for a person who is asked just now."""
        return bool(await self._run("leave", person))

    async def count(self) -> int:
        """How many wait."""
        return int(await self._client.hlen(keys.FIND_WAITING))

    async def entries(self) -> list["QueueEntry"]:
        """All who wait, in no order."""
        found = [(one.decode(), text.decode()) for one, text in (await self._client.hgetall(keys.FIND_WAITING)).items()]
        blocked = await self.blocks.of_each([person for person, _text in found])
        return [QueueEntry.parse(*one, theirs) for one, theirs in zip(found, blocked, strict=True)]

    async def pair(self, code: str, people: Sequence["QueueEntry"], game: str) -> bool:
        """Ask some people; False if one of them waits no more as they did, or has blocked another. ``code`` is of this
        pairing alone.
        """
        texts = [word for one in people for word in (one.searcher.person, one.text)]
        return bool(await self._run("pair", code, game, *texts))

    async def end_pairing(self, code: str, stay: Collection[str] = ()) -> bool:
        """A pairing is over, and these go back to the places that they had; False if it was over already."""
        return bool(await self._run("part", code, *stay))

    async def pairings(self) -> list[Pairing]:
        """All who are asked."""
        found = await self._client.hgetall(keys.FIND_PAIRINGS)
        return [_parse_pairing(code, text) for code, text in found.items()]

    async def pairing_of(self, person: str) -> Pairing | None:
        """The pairing in which a person is asked."""
        code = await self._client.hget(keys.FIND_ASKED, person)
        text = code and await self._client.hget(keys.FIND_PAIRINGS, code)
        return _parse_pairing(code, text) if text else None

    async def forget(self, person: str) -> None:
        """Nothing is kept of a person; whom they were matched with goes back to the place they had."""
        while not await self.leave(person):
            if pairing := await self.pairing_of(person):
                await self.end_pairing(pairing.code, pairing.others(person))
        await self.blocks.forget(person)

    async def _run(self, *args: Any) -> Any:
        return await self._script(KEYS, args)


def _parse_pairing(code: bytes, text: bytes) -> Pairing:
    found = json.loads(text)
    return Pairing(code.decode(), found["game"], tuple(found["people"]))


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A person who waits, and the text that says so in the store; whom they have blocked stands elsewhere."""

    searcher: Searcher
    text: str

    @classmethod
    def parse(cls, person: str, text: str, blocked: frozenset[str]) -> "QueueEntry":
        since, _, wish = text.partition(" ")
        games, language, rating, *after = json.loads(wish)
        robots_after = after[0] if after else inf
        return cls(Searcher(person, float(since), tuple(games), language, rating, blocked, robots_after), text)
