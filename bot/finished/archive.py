"""The archive of finished games, for replays, exports and ratings.

A game's id consists of the table's code and the first digits of the first commitment, so archiving a game twice stores
it once. Games are numbered in the order of arrival. A removed game leaves a gap, because no number is used twice.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import structlog

from bot.finished.game import FinishedGame, UnreadableGame
from bot.finished.unrated_games import GAMES_ON_TRIAL, RULES, is_finished_by, is_given_up
from bot.identity.programs import is_web_guest
from bot.identity.pseudonyms import forgetting_marks, is_guest_name
from bot.platform import chat_of, is_private
from bot.store import keys
from bot.store.lua import read_script
from bot.tables.errors import GameNotKept
from bot.tables.fixtures import FixtureName
from bot.tables.table import Table

NUMBER = read_script(__file__, "number_game")
REWRITE = read_script(__file__, "rewrite_game")
NOTE_IN_FILE = read_script(__file__, "note_in_file")

# Field of a guest's profile: numbers of finished games that were moved into files, up to `GAMES_ON_TRIAL`.
FINISHED_IN_FILES = "finished_in_files"

GAMES_AT_ONCE = 100  # games in one round trip
GAMES_SEARCHED = 20  # last games of a person in which `Archive.find_latest_game_id` searches
log = structlog.get_logger()


class ArchiveEntry(NamedTuple):
    number: int
    id: str
    game: FinishedGame | None  # None if it is missing or unreadable


def game_id(table: Table) -> str:
    """Return the id in the archive of a table's game."""
    assert table.game
    commitment = table.game.first_commitment
    return f"{table.code}-{commitment[:6] if commitment else '0'}"


class Archive:
    def __init__(self, client: Any) -> None:
        self._client = client
        self._number = client.register_script(NUMBER)
        self._rewrite = client.register_script(REWRITE)
        self._note_in_file = client.register_script(NOTE_IN_FILE)

    async def add(self, table: Table, now: float) -> FinishedGame:
        """Store the game of a table unless it is stored already. Return the stored game."""
        game = await self.build_game(table, now)
        return await self.keep(replace(game, trial=await self._is_on_trial(game)))

    async def _is_on_trial(self, game: FinishedGame) -> bool:
        """Return whether a guest on trial makes a game unrated. Guests forgotten since its start count as on trial."""
        if not game.is_rated:
            return False
        person_of = {mark.pseudonym: person for person, mark in (await forgetting_marks(self._client)).items()}
        for person in game.people:
            if is_web_guest(person_of.get(person, "")):
                return True
            if not is_web_guest(person):
                continue
            if is_guest_name(game.record.seats[game.people.index(person)]):
                return True
            # A guest with ratings has passed the trial, or an earlier release rated them.
            is_rated = await self._client.exists(keys.scopes(person))
            if not is_rated and await self._count_finished(person) < GAMES_ON_TRIAL:
                return True
        return False

    async def _count_finished(self, person: str) -> int:
        """Return how many games count towards the end of a guest's trial, up to `GAMES_ON_TRIAL`."""
        in_files = await self._client.hget(keys.person(person), FINISHED_IN_FILES) or b""
        count, numbers = len(in_files.split()), (await self.numbers_of(person))[::-1]
        for start in range(0, len(numbers), GAMES_AT_ONCE):
            if count >= GAMES_ON_TRIAL:
                break
            games = await self.games_by_number(numbers[start : start + GAMES_AT_ONCE])
            count += sum(is_finished_by(game, person) for game in games)
        return min(count, GAMES_ON_TRIAL)

    async def games_by_number(self, numbers: Sequence[int]) -> list[FinishedGame]:
        """Return the games with these numbers, without missing and unreadable ones."""
        async with self._client.pipeline(transaction=False) as pipe:
            for number in numbers:
                pipe.zrange(keys.GAMES_ORDER, number, number, byscore=True)
            ids = [answer[0].decode() for answer in await pipe.execute() if answer]
        games = [parse_or_none(game_id, text) for game_id, text in zip(ids, await self._read(ids), strict=True)]
        return [game for game in games if game]

    async def _read(self, ids: Sequence[str]) -> list[bytes | None]:
        async with self._client.pipeline(transaction=False) as pipe:
            for game_id in ids:
                pipe.get(keys.game(game_id))
            contents: list[bytes | None] = await pipe.execute()
        return contents

    async def note_in_file(self, number: int, game: FinishedGame) -> None:
        """Record in guests' profiles that a game counts towards the end of their trial, before it moves into a file."""
        for person in game.known_people:
            if is_web_guest(person) and is_finished_by(game, person):
                await self._note_in_file(keys=[keys.person(person)], args=[FINISHED_IN_FILES, number, GAMES_ON_TRIAL])

    async def build_game(self, table: Table, now: float) -> FinishedGame:
        """Build the finished game of a table, with pseudonyms for people who are being forgotten."""
        assert table.game
        # A tournament's games are played in private chats, but belong to the chat of its card.
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
            fixture=FixtureName.from_fixture(table.fixture).text if table.fixture else "",
            origin=table.origin,
            has_cuts=table.has_cuts,
            # Only games that were given up have this field, because workers of earlier releases cannot read it.
            rating_rules=RULES if is_given_up(record) else 1,
        )
        for person, mark in (await forgetting_marks(self._client)).items():
            game = game.redact(person, mark.pseudonym)
        return game

    async def keep(self, game: FinishedGame) -> FinishedGame:
        """Store a finished game unless it is stored already. Return the stored game."""
        if not await self._client.set(keys.game(game.id), game.to_bytes(), nx=True):
            game = await self.get(game.id) or game
        # Assign the number last, so that each number has a game. After an interruption, delivery adds the game again.
        await self._list_game(game)
        for person_or_chat in (*game.known_people, *game.chats):
            # Games of a day's deal or of a duplicate's round are archived hours after they ended.
            last_game = await self.last_game(person_or_chat)
            if last_game is None or last_game.ended <= game.ended:
                await self._client.set(keys.last_game(person_or_chat), game.id)
        return game

    async def _list_game(self, game: FinishedGame) -> None:
        """Assign a number to a stored game if it has none, and add the number to its players' games."""
        number = await self.assign_number(game.id)
        for person in game.known_people:
            await self._client.sadd(keys.games_of(person), number)

    async def has_games(self, person: str) -> bool:
        """Return whether a person has finished a game."""
        return bool(await self._client.exists(keys.games_of(person)))

    async def numbers_of(self, person: str) -> list[int]:
        """Return the numbers of a person's finished games in order. Some games can be missing."""
        return sorted(map(int, await self._client.smembers(keys.games_of(person))))

    async def find_latest_game_id(self, code: str, person: str) -> str:
        """Return the id of a person's latest game at a table, or "" if it is not among their last games."""
        for number in (await self.numbers_of(person))[: -GAMES_SEARCHED - 1 : -1]:
            game_id = await self.id_of(number)
            if game_id and game_id.partition("-")[0] == code:
                return game_id
        return ""

    async def kept_ids(self, ids: Sequence[str]) -> set[str]:
        numbers = await self._client.zmscore(keys.GAMES_ORDER, ids) if ids else []
        return {game_id for game_id, number in zip(ids, numbers, strict=True) if number is not None}

    async def id_of(self, number: int) -> str | None:
        """Return the id of the game with this number, or None if it is missing."""
        ids = await self._client.zrange(keys.GAMES_ORDER, number, number, byscore=True)
        return ids[0].decode() if ids else None

    async def unlist_game(self, person: str, number: int) -> None:
        """Remove a game's number from a person's games."""
        await self._client.srem(keys.games_of(person), number)

    async def last_game(self, person_or_chat: str) -> FinishedGame | None:
        game_id = await self._client.get(keys.last_game(person_or_chat))
        return await self.get(game_id.decode()) if game_id else None

    async def assign_number(self, game_id: str) -> int:
        """Return a stored game's number. A game without a number gets the next one."""
        return int(await self._number(keys=[keys.GAMES_ORDER, keys.GAMES_COUNTER], args=[game_id]))

    async def get(self, game_id: str) -> FinishedGame | None:
        """Return a game, or None if it is missing or unreadable."""
        return parse_or_none(game_id, await self.get_bytes(game_id))

    async def require(self, game_id: str) -> FinishedGame:
        """Return a game, or raise GameNotKept for players."""
        if game := await self.get(game_id):
            return game
        raise GameNotKept()

    async def get_bytes(self, game_id: str) -> bytes | None:
        """Return a game in the format of `FinishedGame.to_bytes`, or None if it is missing."""
        content: bytes | None = await self._client.get(keys.game(game_id))
        return content

    async def count(self) -> int:
        return int(await self._client.zcard(keys.GAMES_ORDER))

    async def last_number(self) -> int:
        """Return the highest number assigned so far, or 0."""
        return int(await self._client.get(keys.GAMES_COUNTER) or 0)

    async def entries_after(self, number: int) -> AsyncIterator[ArchiveEntry]:
        """Yield the entries with higher numbers in order, skipping gaps."""
        async for entry_number, game_id, content in self.stored_entries_after(number):
            yield ArchiveEntry(entry_number, game_id, parse_or_none(game_id, content))

    async def reserve_numbers(self, number: int) -> None:
        """Assign only higher numbers from now on, because games in files have numbers too."""
        if await self.last_number() < number:
            await self._client.set(keys.GAMES_COUNTER, number)

    async def count_moved(self) -> int:
        return int(await self._client.get(keys.GAMES_MOVED) or 0)

    async def stored_entries_after(self, number: int) -> AsyncIterator[tuple[int, str, bytes | None]]:
        """Yield number, id and bytes of the entries with higher numbers."""
        while True:
            page = await self._client.zrange(
                keys.GAMES_ORDER, f"({number}", "+inf", byscore=True, offset=0, num=GAMES_AT_ONCE, withscores=True
            )
            if not page:
                return
            ids = [game_id.decode() for game_id, _score in page]
            for game_id, (_, score), text in zip(ids, page, await self._read(ids), strict=True):
                number = int(score)
                yield number, game_id, text

    async def games(self) -> AsyncIterator[FinishedGame]:
        """Yield the readable games in order."""
        async for entry in self.entries_after(0):
            if entry.game:
                yield entry.game

    async def adopt_unnumbered(self) -> list[str]:
        """Assign numbers to the readable games without one, in the order of their ends. Return these games' ids."""
        game_keys = self._client.scan_iter(match=keys.game("*"), count=1000)
        ids = [key.decode().removeprefix(keys.game("")) async for key in game_keys]
        games: list[FinishedGame] = []
        for start in range(0, len(ids), 10 * GAMES_AT_ONCE):
            batch = ids[start : start + 10 * GAMES_AT_ONCE]
            numbered_ids = await self.kept_ids(batch)
            unnumbered = [await self.get(game_id) for game_id in batch if game_id not in numbered_ids]
            games += [game for game in unnumbered if game]
        games.sort(key=lambda game: (game.ended, game.id))
        for game in games:
            await self._list_game(game)
        return [game.id for game in games]

    async def rewrite(self, game_id: str, change: Callable[[FinishedGame], FinishedGame]) -> bool:
        """Change a stored game and keep its number. Return False if it is missing.

        A concurrent write makes this call ``change`` again. Raise UnreadableGame if the game cannot be parsed.
        """
        while content := await self.get_bytes(game_id):
            new_content = change(FinishedGame.parse(content)).to_bytes()
            if new_content == content or await self._rewrite(keys=[keys.game(game_id)], args=[content, new_content]):
                return True
        return False


def parse_or_none(game_id: str, content: bytes | None) -> FinishedGame | None:
    """Parse a stored game. Return None if it is missing, or unreadable, which is logged."""
    try:
        return FinishedGame.parse(content) if content else None
    except UnreadableGame as error:
        log.warning("game_unreadable", game=game_id, why=str(error))
        return None
