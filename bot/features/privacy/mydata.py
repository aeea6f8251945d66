"""The file with all stored data of a person.

    {"format": "buongioco-mydata/1", "made": Unix seconds, "person": "platform:id",
     "profile": {...}, "private_chat": {...}, "platform": {...},
     "browsers": [{"made", "used"}], Unix seconds,
     "programs": [{"name", "scopes"}], with tokens from this person,
     "ban": {"since", "until"}, Unix seconds, 0 for no end; null without a ban by the host,
     "days": [{"day", "points": [own, other] or null, "tricks"}], results of daily deals,
     "days_asked_for": [{"day", "chat"}], groups in which they requested daily deals,
     "reminded_at": hour of their daily reminder, or null,
     "puzzles": {"solver": {"mu", "sigma", "answered", "solved", "run", "longest"}, "answers": {puzzle: card}}, or {},
     "duels": [{"code", "game", "opened", "accepted", "over", "side", "players", "results"}],
     "courses": {course: {"step", "is_done"}}, "known_games": [course], whose games they know,
     "notifications": [{"service", "kinds", "made"}], browsers that take them,
     "tournaments": [{"code", "game", "form", "state", "organiser", "player"}],
     "open_to_anyone": [code], their tables at which anyone may sit down,
     "looking_for": their search, in the format of the queue, or the code of their ready check,
     "blocked": names of the people they have blocked,
     "left": Unix seconds of each time they left a game with strangers,
     "reports": [{"at", "code", "game", "about"}],
     "honours": [{"month", "chat", "kind", "figure"}],
     "tables": [{"code", "game", "state", "seat", "players"}],
     "ratings": [{"chat", "month", "game", "rating", "games", "wins", "rank", "history": [{"day", "won", "rating"}]}],
     "games": [{"number", "id", "ended", "chats", "seat", "record"}], "games_without_record": [number]}

The fields from "days" to "honours" come from the features (`bot.feature.Feature.mydata`). A ``*`` in a rating means
all. Days count from 1970-01-01. Games are listed newest first. Games without a record exceed the size limit or are not
in the store, for example because the host moved them into files. Hands of running tables are secret and left out.
"""

import json
from collections.abc import Sequence
from typing import Any

from bot.feature import Feature
from bot.finished.archive import Archive
from bot.finished.ratings import Ratings
from bot.identity.adapter_data import read_adapter_data
from bot.identity.programs import Programs
from bot.platform import File, private_place
from bot.site.sessions import Sessions
from bot.store import keys
from bot.store.levers import Levers
from bot.tables.table import Table

FORMAT = "buongioco-mydata/1"
MAX_RECORD_BYTES = 2 * 1024 * 1024
"""Largest size of all records in a file. Other games are listed by number.

The playground queues at most four million bytes for a page, and Discord takes files of ten million.
"""

COOLDOWN_SECONDS = 60  # shortest time between two files for one person; a file costs as much as a thousand presses


def cooldown_key(person: str) -> str:
    """Return the key that exists until a person can ask for a file again."""
    return f"mydata:{person}"


class MyData:
    def __init__(
        self, client: Any, archive: Archive, ratings: Ratings, features: Sequence[Feature], levers: Levers
    ) -> None:
        self._levers = levers
        self._client, self._archive, self._ratings, self._features = client, archive, ratings, features

    async def start_cooldown(self, person: str) -> bool:
        return bool(await self._client.set(cooldown_key(person), 1, nx=True, ex=COOLDOWN_SECONDS))

    async def file(self, person: str, tables: list[Table], now: float) -> File:
        games, omitted_numbers = await self._games_data(person)
        of_features: dict[str, Any] = {}
        for feature in self._features:
            of_features |= await feature.mydata(person, now)
        sessions = await Sessions(self._client).sessions_of(person)
        programs = await Programs(self._client).owned_by(person)
        ban = self._levers.ban_of(person)
        document = {
            "format": FORMAT,
            "made": int(now),
            "person": person,
            "profile": await self._read_hash(keys.person(person)),
            "private_chat": await self._read_hash(keys.chat(private_place(person))),
            "platform": await read_adapter_data(self._client, person),
            "browsers": [{"made": session.made, "used": session.used} for session in sessions],
            "programs": [{"name": program.name, "scopes": program.scopes} for program in programs],
            "ban": {"since": ban.since, "until": ban.until} if ban else None,
            **of_features,
            "tables": [_table_data(table, person) for table in tables],
            "ratings": await self._ratings_data(person),
            "games": games,
            "games_without_record": omitted_numbers,
        }
        return File("buongioco-mydata.json", json.dumps(document, ensure_ascii=False).encode())

    async def _read_hash(self, key: str) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in (await self._client.hgetall(key)).items()}

    async def _ratings_data(self, person: str) -> list[dict[str, Any]]:
        ratings = []
        for scope in sorted(await self._ratings.scopes_of(person)):
            standing = await self._ratings.standing(scope, person)
            if standing.games:
                rank = await self._ratings.rank(scope, person)
                fields = {"rating": standing.rating, "games": standing.games, "wins": standing.wins, "rank": rank}
                history = (await self._ratings.histories(scope, [person]))[person]
                ratings.append({**scope._asdict(), **fields, "history": [game._asdict() for game in history]})
        return ratings

    async def _games_data(self, person: str) -> tuple[list[dict[str, Any]], list[int]]:
        """Return the newest games with their records, within the size limit, and the numbers of the other games."""
        numbers = (await self._archive.numbers_of(person))[::-1]
        games, omitted_numbers, size = list[dict[str, Any]](), list[int](), 0
        for index, number in enumerate(numbers):
            id = await self._archive.id_of(number)
            game = await self._archive.get(id) if id else None
            if game is None:
                omitted_numbers.append(number)
                continue
            text = game.record.to_json()
            size += len(text)
            if size > MAX_RECORD_BYTES:
                return games, omitted_numbers + numbers[index:]
            seat = game.people.index(person) if person in game.people else None
            fields = {"number": number, "id": game.id, "ended": game.ended, "chats": game.chats, "seat": seat}
            games.append({**fields, "record": json.loads(text)})
        return games, omitted_numbers


def _table_data(table: Table, person: str) -> dict[str, Any]:
    players = [chair.name if chair else None for chair in table.chairs]
    fields = {"code": table.code, "game": table.game_id, "state": table.phase}
    return {**fields, "seat": table.seat_of(person), "players": players}
