"""The archive: every finished game's record, for replays, exports and ratings.

A game is stored as zlib of JSON. Its id is its table's code and the first digits of its first commitment, so that
archiving it twice stores it once; games are numbered in the order in which they came in. A game that is gone leaves a
hole in the numbers, which everybody passes over: no number is given twice.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import structlog

from bot.finished.game import FinishedGame, UnreadableGame
from bot.finished.rating_rules import GAMES_ON_TRIAL, RULES, has_default_name, is_finished_by, is_given_up
from bot.guests import is_web_guest
from bot.platform import chat_of, is_private
from bot.pseudonyms import forgetting_marks
from bot.store import keys
from bot.store.lua import read_script
from bot.tables.fixtures import FixtureName
from bot.tables.table import Table

NUMBER = read_script(__file__, "number_game")

REWRITE = read_script(__file__, "rewrite_game")

NOTE_IN_FILE = read_script(__file__, "note_in_file")

FINISHED_IN_FILES = "finished_in_files"
"""Field of a guest's profile: the numbers of finished games that were moved into files, up to `GAMES_ON_TRIAL`."""

GAMES_AT_ONCE = 100
"""How many games are read in one round trip."""

GAMES_SEARCHED = 20
"""In how many of a person's games, the last first, one is looked for by its table."""

log = structlog.get_logger()


class ArchiveEntry(NamedTuple):
    """A place in the order of finished games: its game, or None where that is gone or cannot be read."""

    number: int
    id: str
    game: FinishedGame | None


def game_id(table: Table) -> str:
    """What a table's game is called in the archive."""
    assert table.game
    proof = table.game.record().deals[0].proof
    return f"{table.code}-{proof.commitment[:6] if proof else '0'}"


class Archive:
    """The finished games of one store."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._number = client.register_script(NUMBER)
        self._rewrite = client.register_script(REWRITE)
        self._note_in_file = client.register_script(NOTE_IN_FILE)

    async def add(self, table: Table, now: float) -> FinishedGame:
        """Keep a game that is over; one that is kept already stays as it is."""
        game = await self.build_game(table, now)
        return await self.keep(replace(game, trial=await self._is_on_trial(game)))

    async def _is_on_trial(self, game: FinishedGame) -> bool:
        """Return whether the game would be rated, were it not for a guest whose games are not rated yet.

        A guest who was forgotten during the game counts as one, because nobody knows any more what they had finished.
        """
        if not game.is_rated:
            return False
        forgotten = {mark.pseudonym: person for person, mark in (await forgetting_marks(self._client)).items()}
        for person in game.people:
            if is_web_guest(forgotten.get(person, "")):
                return True
            if not is_web_guest(person):
                continue
            if has_default_name(game, person):
                return True
            # The guest was rated before, perhaps by an earlier release.
            if await self._client.exists(keys.scopes(person)):
                continue
            if await self._count_finished(person) < GAMES_ON_TRIAL:
                return True
        return False

    async def _count_finished(self, person: str) -> int:
        """Count a guest's finished games against people, up to `GAMES_ON_TRIAL`."""
        in_files = await self._client.hget(keys.person(person), FINISHED_IN_FILES) or b""
        count, numbers = len(in_files.split()), (await self.numbers_of(person))[::-1]
        for begin in range(0, len(numbers), GAMES_AT_ONCE):
            if count >= GAMES_ON_TRIAL:
                break
            found = await self._games_by_number(numbers[begin : begin + GAMES_AT_ONCE])
            count += sum(is_finished_by(game, person) for game in found)
        return min(count, GAMES_ON_TRIAL)

    async def _games_by_number(self, numbers: Sequence[int]) -> list[FinishedGame]:
        """Return the games with these numbers; those that are gone or cannot be read are left out."""
        async with self._client.pipeline(transaction=False) as pipe:
            for number in numbers:
                pipe.zrange(keys.GAMES_ORDER, number, number, byscore=True)
            ids = [found[0].decode() for found in await pipe.execute() if found]
        async with self._client.pipeline(transaction=False) as pipe:
            for id_ in ids:
                pipe.get(keys.game(id_))
            stored = await pipe.execute()
        games = [parse_or_none(id_, text) for id_, text in zip(ids, stored, strict=True)]
        return [game for game in games if game]

    async def note_in_file(self, number: int, game: FinishedGame) -> None:
        """Note with its guests that a game counts towards the end of their trial, before it moves into a file."""
        for person in game.known_people:
            if is_web_guest(person) and is_finished_by(game, person):
                await self._note_in_file(keys=[keys.person(person)], args=[FINISHED_IN_FILES, number, GAMES_ON_TRIAL])

    async def build_game(self, table: Table, now: float) -> FinishedGame:
        """The game of a table, which is over, as it is to be kept: with nobody who is being forgotten."""
        assert table.game
        # A tournament's games are played in private chats, and are games of the chat where its card stands.
        places = [*table.hosts, table.fixture.place] if table.fixture else table.hosts
        record = table.game.record()
        game = FinishedGame(
            id=game_id(table),
            code=table.code,
            ended=int(now),
            people=[chair.person if chair else "" for chair in table.chairs],
            chats=list(dict.fromkeys(chat_of(place) for place in places if not is_private(place))),
            clock=table.clock,
            strict=table.strict,
            record=record,
            fixture=FixtureName.of(table.fixture).text if table.fixture else "",
            origin=table.origin,
            # Only if it matters: workers of an earlier release cannot read a game with a number, and rate the others.
            rating_rules=RULES if is_given_up(record) else 1,
        )
        for person, mark in (await forgetting_marks(self._client)).items():
            game = game.redact(person, mark.pseudonym)
        return game

    async def keep(self, game: FinishedGame) -> FinishedGame:
        """Keep a finished game; returns it as it is kept."""
        if not await self._client.set(keys.game(game.id), game.to_bytes(), nx=True):
            game = await self.get(game.id) or game
        # Only now: whoever finds a number finds its game. Cut short here, delivery adds the game again.
        await self._add_to_players(game, await self.assign_number(game.id))
        for whose in (*game.known_people, *game.chats):
            # Games of a day or of a duplicate's round come here hours after they ended.
            last = await self.last_game(whose)
            if last is None or last.ended <= game.ended:
                await self._client.set(keys.last_game(whose), game.id)
        return game

    async def _add_to_players(self, game: FinishedGame, number: int) -> None:
        """Enter a game with those who played it."""
        for person in game.known_people:
            await self._client.sadd(keys.games_of(person), number)

    async def numbers_of(self, person: str) -> list[int]:
        """The numbers of the games that a person has finished, in order; some may be gone."""
        return sorted(map(int, await self._client.smembers(keys.games_of(person))))

    async def find_played(self, code: str, person: str) -> str:
        """The id of the game that a person played at a table, if it is among their last; empty otherwise."""
        for number in (await self.numbers_of(person))[: -GAMES_SEARCHED - 1 : -1]:
            id = await self.id_of(number)  # noqa: A001
            if id and id.partition("-")[0] == code:
                return id
        return ""

    async def kept_ids(self, ids: Sequence[str]) -> set[str]:
        """Which of these games are kept."""
        if not ids:
            return set()
        numbers = await self._client.zmscore(keys.GAMES_ORDER, ids)
        return {id for id, number in zip(ids, numbers, strict=True) if number is not None}  # noqa: A001

    async def id_of(self, number: int) -> str | None:
        """What the game with this number is called; None where it is gone."""
        found = await self._client.zrange(keys.GAMES_ORDER, number, number, byscore=True)
        return found[0].decode() if found else None

    async def remove_person(self, person: str, number: int) -> None:
        """A game does not name a person any more."""
        await self._client.srem(keys.games_of(person), number)

    async def last_game(self, whose: str) -> FinishedGame | None:
        """The game that a person or a chat finished last."""
        found = await self._client.get(keys.last_game(whose))
        return await self.get(found.decode()) if found else None

    async def assign_number(self, id: str) -> int:  # noqa: A002
        """The number of a game that is kept: the one that it has, or the next."""
        return int(await self._number(keys=[keys.GAMES_ORDER, keys.GAMES_COUNTER], args=[id]))

    async def get(self, id: str) -> FinishedGame | None:  # noqa: A002
        """A game; None where it is not kept, or cannot be read."""
        return parse_or_none(id, await self.get_bytes(id))

    async def get_bytes(self, id: str) -> bytes | None:  # noqa: A002
        """A game as it is stored, which `FinishedGame.parse` reads; None where it is not kept."""
        found: bytes | None = await self._client.get(keys.game(id))
        return found

    async def count(self) -> int:
        """How many games are kept."""
        return int(await self._client.zcard(keys.GAMES_ORDER))

    async def last_number(self) -> int:
        """The highest number that was ever given; 0 before the first game."""
        return int(await self._client.get(keys.GAMES_COUNTER) or 0)

    async def entries_after(self, number: int) -> AsyncIterator[ArchiveEntry]:
        """What has a higher number than this one, in order. Numbers whose entry is gone are passed over."""
        async for found, id, stored in self.stored_entries_after(number):  # noqa: A001
            yield ArchiveEntry(found, id, parse_or_none(id, stored))

    async def count_after(self, number: int) -> int:
        """How many have a higher number than this one."""
        return int(await self._client.zcount(keys.GAMES_ORDER, f"({number}", "+inf"))

    async def reserve_numbers(self, number: int) -> None:
        """Give no game this number any more, or a lower one: files have games with numbers, too."""
        if await self.last_number() < number:
            await self._client.set(keys.GAMES_COUNTER, number)

    async def count_moved(self) -> int:
        """How many games were moved out into files."""
        return int(await self._client.get(keys.GAMES_MOVED) or 0)

    async def stored_entries_after(self, number: int) -> AsyncIterator[tuple[int, str, bytes | None]]:
        """The same as `after`, as it is stored: number, id, and the game's bytes."""
        while True:
            found = await self._client.zrange(
                keys.GAMES_ORDER, f"({number}", "+inf", byscore=True, offset=0, num=GAMES_AT_ONCE, withscores=True
            )
            if not found:
                return
            ids = [id.decode() for id, _score in found]  # noqa: A001
            async with self._client.pipeline(transaction=False) as pipe:
                for id in ids:  # noqa: A001
                    pipe.get(keys.game(id))
                stored = await pipe.execute()
            for id, (_, score), text in zip(ids, found, stored, strict=True):  # noqa: A001
                number = int(score)
                yield number, id, text

    async def all(self) -> AsyncIterator[FinishedGame]:
        """Every game that can be read, in order."""
        async for entry in self.entries_after(0):
            if entry.game:
                yield entry.game

    async def adopt_unnumbered(self) -> list[str]:
        """Number what is kept without a number, by when it ended; returns the ids."""
        games: list[FinishedGame] = []
        batch: list[str] = []

        async def look() -> None:
            numbers = await self._client.zmscore(keys.GAMES_ORDER, batch) if batch else []
            for id, number in zip(batch, numbers, strict=True):  # noqa: A001
                if number is None and (game := await self.get(id)):
                    games.append(game)
            batch.clear()

        async for key in self._client.scan_iter(match=keys.game("*"), count=1000):
            batch.append(key.decode().removeprefix(keys.game("")))
            if len(batch) >= 10 * GAMES_AT_ONCE:
                await look()
        await look()
        games.sort(key=lambda game: (game.ended, game.id))
        for game in games:
            await self._add_to_players(game, await self.assign_number(game.id))
        return [game.id for game in games]

    async def rewrite(self, id: str, change: Callable[[FinishedGame], FinishedGame]) -> bool:  # noqa: A002
        """Change a game where it is kept, its place in the order with it; whether there is such a game.

        ``change`` may be called more than once, for another may write meanwhile. UnreadableGame if it cannot be read.
        """
        while stored := await self._client.get(keys.game(id)):
            changed = change(FinishedGame.parse(stored)).to_bytes()
            if changed == stored or await self._rewrite(keys=[keys.game(id)], args=[stored, changed]):
                return True
        return False


def parse_or_none(id: str, stored: bytes | None) -> FinishedGame | None:  # noqa: A002
    """A game as it is stored; None, and a line in the log, for what this version cannot read."""
    try:
        return FinishedGame.parse(stored) if stored else None
    except UnreadableGame as error:
        log.warning("game_unreadable", game=id, why=str(error))
        return None
