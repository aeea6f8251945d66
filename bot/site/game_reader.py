"""Reads finished games for people and programs that know a game's id.

A game's id is its table's code and the first digits of its first seal. For new tables, 54 bits of an id follow from the
secrets of the store and of the deal. Ids appear only in results, in the chats that saw the game.
"""

from collections.abc import Callable
from hashlib import blake2b
from typing import NamedTuple

from cachetools import LRUCache
from pydantic import BaseModel

from bot.finished.analysis_pool import Analysis, AnalysisFailed, AnalysisPool
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame, UnreadableGame
from bot.identity.pseudonyms import localize_name
from bot.panels.offer import result_offer
from bot.pictures.results import game_sheet
from bot.pictures.sheet import Sheet
from bot.site.api_models import replayed_analysis, replayed_deal, replayed_game
from bot.site.costliest_cards import CostliestCards, costliest_cards
from engine.errors import FaultyRecord

CACHE_BYTES = 16 * 1024 * 1024  # cache of answers: about four hundred deals


class Reader(NamedTuple):
    """The reader's language and the suits of their cards."""

    language: str
    suits: str = "italian"


class Answer(NamedTuple):
    """A JSON answer and its ETag."""

    body: bytes
    tag: str

    @classmethod
    def from_body(cls, body: bytes) -> "Answer":
        return cls(body, blake2b(body, digest_size=12).hexdigest())


class AnalysisBusy(Exception):
    """Too many analyses are running. The caller can try again later."""


class NotAnalysed(Exception):
    """The game could not be analysed. The log has the reason."""


class GameReader:
    """Reads finished games as JSON. The methods return None if the game or deal is missing or unreadable."""

    def __init__(self, archive: Archive, analysis_pool: AnalysisPool) -> None:
        self._archive, self._analysis_pool = archive, analysis_pool
        self._bodies: LRUCache[str, bytes] = LRUCache(CACHE_BYTES, getsizeof=len)

    async def get_sheet(self, game_id: str, language: str) -> Sheet | None:
        """Return the picture of a game's course, with the names that its page shows."""
        game = _parse_game(await self._archive.get_bytes(game_id))
        if game is None:
            return None
        names = [localize_name(name, language) for name in game.record.seats]
        return game_sheet(game.record, game.code, names, language, ended=game.ended)

    async def get_record(self, game_id: str) -> Answer | None:
        """Return the record (docs/records.md)."""
        return await self._cached_answer(game_id, "record", lambda game: game.record)

    async def get_game(self, game_id: str, reader: Reader) -> Answer | None:
        return await self._cached_answer(game_id, f"game {reader}", lambda game: replayed_game(game, *reader))

    async def get_result(self, game_id: str, language: str) -> str:
        """Return a game's result in words, to send to friends; empty for a missing game."""
        game = _parse_game(await self._archive.get_bytes(game_id))
        return result_offer(game, language).panel.plain if game else ""

    async def find_seat(self, game_id: str, person: str) -> int | None:
        """Return a person's seat, or None if they did not play."""
        game = _parse_game(await self._archive.get_bytes(game_id))
        return game.people.index(person) if game and person in game.people else None

    async def get_deal(self, game_id: str, number: int, reader: Reader) -> Answer | None:
        """Return a `ReplayedDeal`. ``number`` starts at 1."""

        def build(game: FinishedGame) -> BaseModel | None:
            return replayed_deal(game, number, *reader) if 1 <= number <= len(game.record.deals) else None

        return await self._cached_answer(game_id, f"deal {number} {reader}", build)

    async def get_analysis(self, game_id: str, reader: Reader, *, begin: bool = False) -> Answer | None:
        """Return the analysis so far.

        ``begin`` starts a missing analysis. Only then can AnalysisBusy or NotAnalysed be raised.
        """
        game = _parse_game(await self._archive.get_bytes(game_id))
        if game is None:
            return None
        analysis = await self._analysis(game, begin=begin)
        return Answer.from_body(replayed_analysis(game, analysis, *reader).model_dump_json().encode())

    async def get_costliest(
        self, game_id: str, person: str, reader: Reader, *, begin: bool = False
    ) -> CostliestCards | None:
        """Return the cards that cost ``person`` most, or None if they did not play. ``begin``: see `get_analysis`."""
        game = _parse_game(await self._archive.get_bytes(game_id))
        if game is None or person not in game.people:
            return None
        analysis = await self._analysis(game, begin=begin)
        return costliest_cards(game, analysis, game.people.index(person), *reader)

    async def _analysis(self, game: FinishedGame, *, begin: bool) -> Analysis | None:
        try:
            analysis = await (self._analysis_pool.analyse(game) if begin else self._analysis_pool.known_analysis(game))
        except AnalysisFailed:
            raise NotAnalysed() from None
        if begin and analysis is None:
            raise AnalysisBusy()
        return analysis

    async def _cached_answer(
        self, game_id: str, name: str, build: Callable[[FinishedGame], BaseModel | None]
    ) -> Answer | None:
        """Return an answer about a game as it is stored now, so without the names of people forgotten after it.

        ``name`` distinguishes the answers about a game.
        """
        content = await self._archive.get_bytes(game_id)
        if content is None:
            return None
        key = f"{blake2b(content, digest_size=16).hexdigest()} {name}"
        body = self._bodies.get(key)
        if body is None:
            try:
                game = _parse_game(content)
                answer = build(game) if game else None
            except FaultyRecord:
                return None
            if answer is None:
                return None
            body = answer.model_dump_json().encode()
            if len(body) < CACHE_BYTES:
                self._bodies[key] = body
        return Answer.from_body(body)


def _parse_game(content: bytes | None) -> FinishedGame | None:
    try:
        return FinishedGame.parse(content) if content else None
    except UnreadableGame:
        return None
