"""The queue of people who search for opponents, and their pairings.

All of it is in one slot of the store, and each change is atomic (queue.lua). So a person is either waiting or in one
pairing, even with concurrent workers and repeated updates. The table of a pairing records who is ready
(`bot.features.find.finder`). A pairing stays until the table has an outcome, so its people keep their places.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, cast

from bot.features.find import keys
from bot.features.find.matching import Searcher
from bot.store.batch import BatchedScript
from bot.store.keys import FIND_BLOCKS
from bot.store.lua import read_script
from bot.tables.blocks import Blocks

UPDATE_KEPT_SECONDS = 86400  # longer than the time in which platforms repeat an update
PAGE_SECONDS = 20.0  # a page without a request for this long has closed
SCRIPT = read_script(__file__, "queue")
KEYS = [keys.WAITING, keys.ASKED, keys.PAIRINGS, FIND_BLOCKS]

SearchState = Literal["waiting", "asked", "repeated"]
"""State after a join: waiting, in a ready check, or neither because the update is a repeated one."""


@dataclass(frozen=True, slots=True)
class Pairing:
    code: str
    game: str
    people: tuple[str, ...]

    @classmethod
    def parse(cls, code: bytes, text: bytes) -> "Pairing":
        fields = json.loads(text)
        return cls(code.decode(), fields["game"], tuple(fields["people"]))

    def others(self, person: str) -> tuple[str, ...]:
        return tuple(other for other in self.people if other != person)


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A person in the queue, and the stored text, which lacks their blocks."""

    searcher: Searcher
    text: str

    @classmethod
    def parse(cls, person: str, text: str, blocked_people: frozenset[str]) -> "QueueEntry":
        start, _, wish = text.partition(" ")
        games, language, rating, *optional_wait = json.loads(wish)
        robots_after = optional_wait[0] if optional_wait else inf
        return cls(Searcher(person, float(start), tuple(games), language, rating, blocked_people, robots_after), text)


class Queue:
    def __init__(self, client: Any) -> None:
        self._client, self.blocks = client, Blocks(client)
        self._script = BatchedScript(client, SCRIPT)

    async def now(self) -> float:
        """Return the time of the store's clock, which all searches use, in Unix seconds."""
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
        only_if_waiting: bool = False,
    ) -> SearchState:
        """Put a person into the queue, or change their search and keep their place. Idempotent for an update.

        ``robots_after`` is as in `Searcher`, or None for never. With ``only_if_waiting``, a person who is not in the
        queue is not added.
        """
        wish = json.dumps([list(games), language, rating, *([] if robots_after is None else [robots_after])])
        args = ["join", person, wish, UPDATE_KEPT_SECONDS, *(["only_if_waiting"] if only_if_waiting else [])]
        state = await self._script([*KEYS, keys.search_update(update)], args)
        return cast(SearchState, state.decode())

    async def leave(self, person: str) -> bool:
        """Remove a person from the queue. Return False if they are in a ready check."""
        return bool(await self._run("leave", person))

    async def count(self) -> int:
        return int(await self._client.hlen(keys.WAITING))

    async def entries(self) -> list[QueueEntry]:
        texts = {person.decode(): text.decode() for person, text in (await self._client.hgetall(keys.WAITING)).items()}
        blocked_lists = await self.blocks.blocked_people(list(texts))
        return [
            QueueEntry.parse(person, texts[person], blocked_people)
            for person, blocked_people in zip(texts, blocked_lists, strict=True)
        ]

    async def pair(self, code: str, people: Sequence[QueueEntry], game: str) -> bool:
        """Move people into a pairing. Return False if an entry has changed or a person has blocked another."""
        texts = [word for entry in people for word in (entry.searcher.person, entry.text)]
        return bool(await self._run("pair", code, game, *texts))

    async def end_pairing(self, code: str, returning_people: Collection[str] = ()) -> bool:
        """Delete a pairing, and return ``returning_people`` to their places. Return False if it is missing."""
        return bool(await self._run("end_pairing", code, *returning_people))

    async def pairings(self) -> list[Pairing]:
        texts = await self._client.hgetall(keys.PAIRINGS)
        return [Pairing.parse(code, text) for code, text in texts.items()]

    async def pairing_of(self, person: str) -> Pairing | None:
        code = await self._client.hget(keys.ASKED, person)
        text = code and await self._client.hget(keys.PAIRINGS, code)
        return Pairing.parse(code, text) if text else None

    async def games_of(self, person: str) -> tuple[str, ...]:
        """Return the games that a person searches for; empty without a search."""
        text = await self._client.hget(keys.WAITING, person)
        return QueueEntry.parse(person, text.decode(), frozenset()).searcher.games if text else ()

    async def note_page(self, person: str, *, is_new: bool = False) -> None:
        """Note a request of a person's search page. A page that is not noted yet counts only if it ``is_new``."""
        if is_new or await self._client.hexists(keys.PAGES, person):
            await self._client.hset(keys.PAGES, person, await self.now())

    async def closed_pages(self) -> dict[str, float]:
        """Return the people whose search pages have closed, each with the time of the page's last request."""
        pages = {
            person.decode(): float(requested_at)
            for person, requested_at in (await self._client.hgetall(keys.PAGES)).items()
        }
        now = await self.now() if pages else 0.0
        return {person: requested_at for person, requested_at in pages.items() if now - requested_at > PAGE_SECONDS}

    async def forget_page(self, person: str) -> None:
        await self._client.hdel(keys.PAGES, person)

    async def withdraw(self, person: str) -> None:
        """End a person's search or ready check. The people they were matched with return to their places."""
        while not await self.leave(person):
            if pairing := await self.pairing_of(person):
                await self.end_pairing(pairing.code, pairing.others(person))
        await self.forget_page(person)

    async def forget(self, person: str) -> None:
        """Delete a person's search, their blocks, and other people's blocks of them."""
        await self.withdraw(person)
        await self.blocks.forget(person)

    async def _run(self, *args: Any) -> Any:
        return await self._script(KEYS, args)
