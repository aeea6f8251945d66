"""Reads finished games to people and programs who have their links: whoever knows a game's id may read it.

An id is a table's code and the first digits of its first seal: 54 bits, for new tables, that follow from the store's
secret and from a deal's. Nothing lists them but the results, in the chats where the game was played.
"""

from collections.abc import Callable
from hashlib import blake2b
from typing import NamedTuple

from cachetools import LRUCache
from pydantic import BaseModel

from bot.finished.analysis_pool import AnalysisFailed, AnalysisPool
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame, UnreadableGame
from bot.site.replayed import replayed_analysis, replayed_deal, replayed_game
from engine.errors import FaultyRecord

CACHE_BYTES = 16 * 1024 * 1024
"""How much of what was told is kept in memory: some four hundred deals."""


class Reader(NamedTuple):
    """Who reads: a language of ours, and the suits of their cards."""

    language: str
    suits: str = "italian"


class Answer(NamedTuple):
    """JSON, and what tells it from any other answer."""

    body: bytes
    tag: str

    @classmethod
    def from_body(cls, body: bytes) -> "Answer":
        return cls(body, blake2b(body, digest_size=12).hexdigest())


class AnalysisBusy(Exception):
    """As many analyses are under way as may be; this one may be asked for later."""


class NotAnalysed(Exception):
    """A game could not be analysed; why stands in the log."""


class GameReader:
    """Tells finished games. None where there is no such game or deal, or it cannot be read."""

    def __init__(self, archive: Archive, analysis_pool: AnalysisPool) -> None:
        self._archive, self._analysis_pool = archive, analysis_pool
        self._told: LRUCache[str, bytes] = LRUCache(CACHE_BYTES, getsizeof=len)

    async def get_record(self, game_id: str) -> Answer | None:
        """The record, as docs/records.md has it."""
        return await self._cached_answer(game_id, "record", lambda game: game.record)

    async def get_game(self, game_id: str, reader: Reader) -> Answer | None:
        """A `ReplayedGame`."""
        return await self._cached_answer(game_id, f"game {reader}", lambda game: replayed_game(game, *reader))

    async def get_deal(self, game_id: str, number: int, reader: Reader) -> Answer | None:
        """A `ReplayedDeal`, by its number from 1."""

        def tell(game: FinishedGame) -> BaseModel | None:
            return replayed_deal(game, number, *reader) if 1 <= number <= len(game.record.deals) else None

        return await self._cached_answer(game_id, f"deal {number} {reader}", tell)

    async def get_analysis(self, game_id: str, reader: Reader, *, begin: bool = False) -> Answer | None:
        """A `ReplayedAnalysis`, as far as it has come; with ``begin`` one that was not made is begun; TooMuchToDo
        or NotAnalysed where that cannot be.
        """
        stored = await self._archive.get_bytes(game_id)
        game = _parsed(stored)
        if game is None:
            return None
        try:
            known = await (self._analysis_pool.analyse(game) if begin else self._analysis_pool.known_analysis(game))
        except AnalysisFailed:
            raise NotAnalysed() from None
        if begin and known is None:
            raise AnalysisBusy()
        return Answer.from_body(replayed_analysis(game, known, *reader).model_dump_json().encode())

    async def _cached_answer(
        self, game_id: str, what: str, tell: Callable[[FinishedGame], BaseModel | None]
    ) -> Answer | None:
        """What is told of a game as it is stored now: people who are forgotten are gone from the next answer on."""
        stored = await self._archive.get_bytes(game_id)
        if stored is None:
            return None
        key = f"{blake2b(stored, digest_size=16).hexdigest()} {what}"
        body = self._told.get(key)
        if body is None:
            try:
                game = _parsed(stored)
                told = tell(game) if game else None
            except FaultyRecord:
                return None
            if told is None:
                return None
            body = told.model_dump_json().encode()
            if len(body) < CACHE_BYTES:
                self._told[key] = body
        return Answer.from_body(body)


def _parsed(stored: bytes | None) -> FinishedGame | None:
    try:
        return FinishedGame.parse(stored) if stored else None
    except UnreadableGame:
        return None
