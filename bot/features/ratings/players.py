"""Leaderboards and players for web pages and programs, with the names that a reader is allowed to know.

A reader who has played in the same group as a player reads the player's name. Others read a nickname. Platform ids are
never shown, and forgotten people are in no leaderboard.
"""

import time
from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b

from pydantic import Field

from bot.features.ratings.honours import HonourKind, Honours
from bot.features.ratings.honours_pages import honour_text
from bot.finished.archive import Archive
from bot.finished.player_ids import person_from_id, player_id
from bot.finished.ratings import EVERYTHING, Ratings, Scope
from bot.identity.names import tag_namesakes
from bot.identity.pseudonyms import NICKNAMES, localize_name
from bot.people import People
from bot.site.api_models import ApiModel
from bot.store import Store
from bot.texts import month_name

ALL = "all"
PERIODS = (ALL, "month")
MAX_RANKED, MAX_GAMES = 20, 10
EPOCH = date(1970, 1, 1)


class RankedPlayer(ApiModel):
    """A player in a leaderboard."""

    id: str = Field(description="Identifies the player's page.")
    name: str = Field(description="A nickname, or the name in a group of both the reader and the player.")
    is_you: bool
    rank: int | None = Field(description="From 1, shared by equal ratings. Null before three games.")
    rating: int = Field(description="1000 for a beginner.")
    games: int
    wins: int
    ratings: list[int] = Field(description="After each of the last thirty games, oldest first.")


class Leaderboard(ApiModel):
    """The best players, followed by the reader if they are not among them."""

    game: str
    period: str
    ranked: int = Field(description="Number of ranked players.")
    players: list[RankedPlayer]


class GameRating(ApiModel):
    """A player's rating in one game, or in all games together."""

    game: str
    rating: int
    games: int
    wins: int
    rank: int | None
    ranked: int


class RatedResult(ApiModel):
    """A rated game."""

    day: date = Field(description="The day on which it ended, in UTC.")
    won: bool
    rating: int = Field(description="In all games together, after this one.")


class PlayedGame(ApiModel):
    """A finished game."""

    id: str = Field(description="Identifies its replay.")
    game: str
    ended: datetime
    seats: list[str]
    won: bool | None = Field(description="Null if there was no winner.")


class PlayerHonour(ApiModel):
    """An honour of the player in a group, which is not named."""

    month: str = Field(description="Such as 2026-11, in UTC.")
    kind: HonourKind
    figure: int
    text: str = Field(description="The honour in words.")


class Player(ApiModel):
    """A player, as shown to the reader."""

    id: str
    name: str
    is_you: bool
    ratings: list[GameRating] = Field(description="All games together, then each game played.")
    history: list[RatedResult] = Field(description="The last thirty rated games, oldest first.")
    honours: list[PlayerHonour] = Field(description="Newest first.")
    games: list[PlayedGame] = Field(description="The last games, newest first. Empty for other readers.")


class Players:
    """Leaderboards and players of one store. ``reader`` is empty for a stranger. Methods can raise store errors."""

    def __init__(self, store: Store, people: People, ratings: Ratings, archive: Archive) -> None:
        self._store, self._people, self._ratings, self._archive = store, people, ratings, archive
        self._honours = Honours(store.client, archive, ratings)

    async def id_of(self, person: str) -> str:
        return player_id(person, await self._store.secret())

    async def leaderboard(self, reader: str, game: str, period: str, language: str) -> Leaderboard:
        """Return the leaderboard of all chats; ``game`` is an id or "all", ``period`` one of `PERIODS`."""
        scope = Scope(
            month=time.strftime("%Y-%m", time.gmtime()) if period == "month" else EVERYTHING,
            game=EVERYTHING if game == ALL else game,
        )
        chats = await self._chats_of(reader)
        places = await self._ratings.best_and_own(scope, reader, MAX_RANKED)
        names = tag_namesakes(
            {place.person: await self._visible_name(place.person, reader, chats, language) for place in places}
        )
        players = [
            RankedPlayer(
                id=await self.id_of(place.person),
                name=names[place.person],
                is_you=place.person == reader,
                rank=place.rank,
                rating=place.standing.rating,
                games=place.standing.games,
                wins=place.standing.wins,
                ratings=[game.rating for game in place.history],
            )
            for place in places
        ]
        return Leaderboard(game=game, period=period, ranked=await self._ratings.count_ranked(scope), players=players)

    async def player(self, id: str, reader: str, language: str) -> Player | None:
        """Return a player by id, or None if the id is unknown. Without rated games, only the player sees the page."""
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
                    rating=standing.rating,
                    games=standing.games,
                    wins=standing.wins,
                    rank=rank,
                    ranked=ranked_count,
                )
                for game, standing, rank, ranked_count in standings
            ],
            history=[
                RatedResult(day=EPOCH + timedelta(days=game.day), won=game.won, rating=game.rating) for game in history
            ],
            honours=[
                PlayerHonour(
                    month=own_honour.month,
                    kind=own_honour.honour.kind,
                    figure=own_honour.honour.figure,
                    text=f"{month_name(own_honour.month, language)}: {honour_text(language, own_honour.honour)}",
                )
                for own_honour in await self._honours.honours_of(person)
            ],
            games=await self._games_of(person, language) if person == reader else [],
        )

    async def _visible_name(self, person: str, reader: str, chats: set[str], language: str) -> str:
        """Return a person's name for a reader who plays in these chats."""
        profile = await self._people.person(person)
        if person == reader or (chats and chats & await self._chats_of(person)):
            return localize_name(profile.name, language)
        if profile.nickname:
            return profile.nickname
        # People without a nickname of their own get one that never changes.
        number = int.from_bytes(blake2b((await self.id_of(person)).encode(), digest_size=8).digest())
        return f"{NICKNAMES[number % len(NICKNAMES)]} {100 + number // len(NICKNAMES) % 900}"

    async def _chats_of(self, person: str) -> set[str]:
        return {scope.chat for scope in await self._ratings.scopes_of(person)} - {EVERYTHING} if person else set()

    async def _games_of(self, person: str, language: str) -> list[PlayedGame]:
        newest = (await self._archive.numbers_of(person))[: -MAX_GAMES - 1 : -1]
        return [
            PlayedGame(
                id=game.id,
                game=game.record.game,
                ended=datetime.fromtimestamp(game.ended, UTC),
                seats=[localize_name(name, language) for name in game.record.seats],
                won=game.people.index(person) in game.record.winner if game.record.winner else None,
            )
            for game in await self._archive.games_by_number(newest)
        ]
