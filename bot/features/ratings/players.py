"""Tells leaderboards and players to whoever looks at pages, by names that they may know.

Strangers read a nickname; who shares a group with somebody, in which both have played, reads the name that is read
there. Nobody is told who has what id on which platform, and who was forgotten stands in no leaderboard.
"""

import time
from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b

from pydantic import Field

from bot.features.ratings.honours import HonourKind, Honours
from bot.features.ratings.honours_pages import honour_text
from bot.finished.archive import Archive
from bot.finished.history import RatedGame
from bot.finished.player_ids import person_from_id, player_id
from bot.finished.ratings import EVERYTHING, RankedPerson, Ratings, Scope
from bot.names import NICKNAMES, tag_namesakes
from bot.people import People
from bot.pseudonyms import localize_name
from bot.site.replayed import ApiModel
from bot.store import Store
from bot.texts import month_name

ALL = "all"
PERIODS = (ALL, "month")
MOST_RANKED, MOST_GAMES = 20, 10
EPOCH = date(1970, 1, 1)


class RankedPlayer(ApiModel):
    """Somebody in a leaderboard."""

    id: str = Field(description="By which the player's page is found.")
    name: str = Field(description="As the reader may know it: a nickname, or the name that is read in a group of both.")
    is_you: bool
    rank: int | None = Field(description="From 1; those of the same rating share it. Null before three games.")
    rating: int = Field(description="1000 for a beginner.")
    games: int
    wins: int
    ratings: list[int] = Field(description="After each of the last thirty games, oldest first.")


class Leaderboard(ApiModel):
    """The best, and the reader last if they are not among them."""

    game: str
    period: str
    ranked: int = Field(description="How many are ranked.")
    players: list[RankedPlayer]


class GameRating(ApiModel):
    """How somebody stands in a game, or in all together."""

    game: str
    rating: int
    games: int
    wins: int
    rank: int | None
    ranked: int


class RatedResult(ApiModel):
    """A rated game: the day it ended, in UTC, whether it was won, and the rating in all games after it."""

    day: date
    won: bool
    rating: int


class PlayedGame(ApiModel):
    """A finished game: its ``id`` leads to its replay. ``won`` is null where nobody has."""

    id: str
    game: str
    ended: datetime
    seats: list[str]
    won: bool | None


class PlayerHonour(ApiModel):
    """What a month is remembered for in a group of the player's; the group is not told."""

    month: str = Field(description="As 2026-11, in UTC.")
    kind: HonourKind
    figure: int
    text: str = Field(description="All of it in words.")


class Player(ApiModel):
    """Somebody, as the reader may know them."""

    id: str
    name: str
    is_you: bool
    ratings: list[GameRating] = Field(description="All games together first, then each that was played.")
    history: list[RatedResult] = Field(description="The last thirty rated games, oldest first.")
    honours: list[PlayerHonour] = Field(description="Newest first.")
    games: list[PlayedGame] = Field(description="The last games, newest first; for the player alone.")


class Players:
    """All of them. ``reader`` is who looks, as ``platform:id``; empty for a stranger. Raises the store's errors."""

    def __init__(self, store: Store, people: People, ratings: Ratings, archive: Archive) -> None:
        self._store, self._people, self._ratings, self._archive = store, people, ratings, archive
        self._honours = Honours(store.client, archive, ratings)

    async def id_of(self, person: str) -> str:
        return player_id(person, await self._store.secret())

    async def leaderboard(self, reader: str, game: str, period: str, language: str) -> Leaderboard:
        """Who is best everywhere: ``game`` is an id or "all", ``period`` one of `PERIODS`."""
        scope = Scope(
            month=time.strftime("%Y-%m", time.gmtime()) if period == "month" else EVERYTHING,
            game=EVERYTHING if game == ALL else game,
        )
        chats = await self._chats_of(reader)
        places = await self._ratings.best_and_own(scope, reader, MOST_RANKED)
        names = tag_namesakes(
            {one.person: await self._visible_name(one.person, reader, chats, language) for one in places}
        )
        players = [await self._ranked_player(place, reader, names[place.person]) for place in places]
        return Leaderboard(game=game, period=period, ranked=await self._ratings.count_ranked(scope), players=players)

    async def player(self, id: str, reader: str, language: str) -> Player | None:  # noqa: A002
        """A player by their id; None where there is none, or nothing to be told of them."""
        person = person_from_id(id, await self._store.secret())
        if not person:
            return None
        standings = await self._ratings.standings(person)
        if not standings and person != reader:
            return None
        name = await self._visible_name(person, reader, await self._chats_of(reader), language)
        history = (await self._ratings.histories(Scope(), [person]))[person]
        return Player(
            id=id,
            name=name,
            is_you=person == reader,
            ratings=[
                GameRating(
                    game=ALL if game == EVERYTHING else game,
                    rating=standing.shown,
                    games=standing.games,
                    wins=standing.wins,
                    rank=rank,
                    ranked=ranked,
                )
                for game, standing, rank, ranked in standings
            ],
            history=list(map(_rated_result, history)),
            honours=[
                PlayerHonour(
                    month=one.month,
                    kind=one.honour.kind,
                    figure=one.honour.figure,
                    text=f"{month_name(one.month, language)}: {honour_text(language, one.honour)}",
                )
                for one in await self._honours.honours_of(person)
            ],
            games=await self._games_of(person, language) if person == reader else [],
        )

    async def _ranked_player(self, place: RankedPerson, reader: str, name: str) -> RankedPlayer:
        return RankedPlayer(
            id=await self.id_of(place.person),
            name=name,
            is_you=place.person == reader,
            rank=place.rank,
            rating=place.standing.shown,
            games=place.standing.games,
            wins=place.standing.wins,
            ratings=[game.rating for game in place.history],
        )

    async def _visible_name(self, person: str, reader: str, chats: set[str], language: str) -> str:
        """What the reader, who plays in these chats, may call somebody."""
        profile = await self._people.person(person)
        if person == reader or (chats and chats & await self._chats_of(person)):
            return localize_name(profile.name, language)
        return profile.nickname or self._default_nickname(await self.id_of(person))

    @staticmethod
    def _default_nickname(id: str) -> str:  # noqa: A002
        """A nickname for somebody who has none, always the same."""
        number = int.from_bytes(blake2b(id.encode(), digest_size=8).digest())
        return f"{NICKNAMES[number % len(NICKNAMES)]} {100 + number // len(NICKNAMES) % 900}"

    async def _chats_of(self, person: str) -> set[str]:
        """The groups in which a person has played rated games."""
        return {scope.chat for scope in await self._ratings.scopes_of(person)} - {EVERYTHING} if person else set()

    async def _games_of(self, person: str, language: str) -> list[PlayedGame]:
        """The games that a person finished last."""
        found = []
        for number in reversed((await self._archive.numbers_of(person))[-MOST_GAMES:]):
            id_ = await self._archive.id_of(number)
            game = await self._archive.get(id_) if id_ else None
            if game is None:
                continue
            seats, winner = [localize_name(name, language) for name in game.record.seats], game.record.winner
            found.append(
                PlayedGame(
                    id=game.id,
                    game=game.record.game,
                    ended=datetime.fromtimestamp(game.ended, UTC),
                    seats=seats,
                    won=game.people.index(person) in winner if winner else None,
                )
            )
        return found


def _rated_result(game: RatedGame) -> RatedResult:
    return RatedResult(day=EPOCH + timedelta(days=game.day), won=game.won, rating=game.rating)
