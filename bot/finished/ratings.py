"""Stored ratings of people, computed from the finished games in order (`bot.finished.rating_formula`).

A scope is the subject of a leaderboard: one chat or all, one month or all time, one game or all. Each scope has its own
ratings, computed from its own games.
"""

import asyncio
import hmac
import json
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import structlog

from bot.finished.archive import Archive, ArchiveEntry
from bot.finished.archive_file import FileEntry, merge_with_files
from bot.finished.game import FinishedGame
from bot.finished.history import DAY_SECONDS, RatedGame, history_text, parse_history
from bot.finished.rating_formula import Standing, rate_game
from bot.finished.unrated_games import GAMES_A_DAY, depends_on_day, does_winner_gain
from bot.identity.pseudonyms import forgetting_marks, is_pseudonym
from bot.store import StoreError, keys
from bot.store.lua import read_script
from engine import GAMES

MIN_GAMES = 3  # rated games before a person is ranked
EVERYTHING = "*"
KEEP_CHANGES_SECONDS = 7 * 86400
RATE = read_script(__file__, "rate")
MOVE = read_script(__file__, "move_chat")
HAND_OVER = read_script(__file__, "hand_over")
REDACT = read_script(__file__, "redact_changes")
BY_SCOPE = (keys.ratings, keys.ranks, keys.history)  # keys of a scope, in the order that the scripts expect
KEYS_AT_ONCE = 1000
FIRST_YEAR = 2025  # months start here: no game is older
log = structlog.get_logger()


class Scope(NamedTuple):
    """The subject of a leaderboard; ``*`` means all."""

    chat: str = EVERYTHING
    month: str = EVERYTHING  # such as 2026-11
    game: str = EVERYTHING

    @property
    def key(self) -> str:
        return "|".join(self)


class Change(NamedTuple):
    """A person's rating in all chats, all time and one game, before and after a finished game."""

    person: str
    before: int
    after: int


class RankedPerson(NamedTuple):
    person: str
    rank: int | None  # None before enough games
    standing: Standing
    history: list[RatedGame]


class GameStanding(NamedTuple):
    game: str  # id, or ``*`` for all
    standing: Standing
    rank: int | None
    ranked: int  # number of ranked people


class RebuildResult(NamedTuple):
    games: int
    holes: list[range]  # numbers without an entry
    lost: list[ArchiveEntry]  # entries without a readable game
    adopted: list[str]  # ids of games that had no number before


def with_current_chats(game: FinishedGame, moved_chats: Mapping[str, str]) -> FinishedGame:
    return replace(game, chats=list(dict.fromkeys(moved_chats.get(chat, chat) for chat in game.chats)))


def _wider_scopes(chats: Iterable[str], month: str, game: str) -> list[Scope]:
    """Return the scopes of a month and a game in these chats, and all wider ones, the widest first."""
    return [Scope(*scope) for scope in product((EVERYTHING, *chats), (EVERYTHING, month), (EVERYTHING, game))]


class DayCounts(NamedTuple):
    """Counts of a day's rated games by pair of opponents."""

    day: int
    key: str  # random key of the HMACs
    pairs: list[str]  # HMACs of the game's pairs of opponents
    games: int  # earlier games of the pair that has met most often on that day


NO_DAY = DayCounts(0, "", [], 0)


class Ratings:
    def __init__(self, client: Any, archive: Archive) -> None:
        self._client, self.archive = client, archive
        self._rate = client.register_script(RATE)
        self._move = client.register_script(MOVE)
        self._hand_over = client.register_script(HAND_OVER)
        self._redact = client.register_script(REDACT)
        self._catching_up = asyncio.Lock()

    async def catch_up(self) -> int:
        """Rate all unrated games in order, and return their number.

        Missing and unreadable games are skipped. They cannot appear later, because a game is stored before it gets its
        number.
        """
        rated_count = 0
        # Concurrent callers in one worker share the work.
        async with self._catching_up:
            while True:
                last_rated = await self.last_rated_number()
                async for entry in self.archive.entries_after(last_rated):
                    if not await self._rate_entry(entry, last_rated):
                        # Another worker was faster, or a chat has moved.
                        break
                    rated_count += entry.game is not None
                    last_rated = entry.number
                else:
                    return rated_count

    async def last_rated_number(self) -> int:
        return int(await self._client.get(keys.RATED) or 0)

    async def count_unrated(self) -> int:
        return int(await self._client.zcount(keys.GAMES_ORDER, f"({await self.last_rated_number()}", "+inf"))

    async def rebuild(self, games_in_files: Sequence[FileEntry] = ()) -> RebuildResult:
        """Delete all ratings and compute them again. Raise StoreError if a bot rates games at the same time.

        Games without a number get one first. There are such games only if the store has lost writes.
        """
        adopted = await self.archive.adopt_unnumbered()
        await self._delete_all()
        games, lost_entries, last_number = 0, [], 0
        holes = []
        async for entry in merge_with_files(self.archive, games_in_files):
            # A cluster's client can send a script twice. Then the first one rated the game, and the second one refused.
            if not await self._rate_entry(entry, last_number) and await self.last_rated_number() != entry.number:
                raise StoreError("A bot is rating games at the same time: stop every worker, then run this again.")
            holes.append(range(last_number + 1, entry.number))
            if entry.game:
                games += 1
            else:
                lost_entries.append(entry)
            last_number = entry.number
        await self.archive.reserve_numbers(last_number)
        holes.append(range(last_number + 1, await self.archive.last_number() + 1))
        return RebuildResult(games, [hole for hole in holes if hole], lost_entries, adopted)

    async def _delete_all(self) -> None:
        old_keys = [keys.RATED, keys.RATED_TODAY]
        for kind in BY_SCOPE:
            old_keys += [key async for key in self._client.scan_iter(match=kind(EVERYTHING), count=KEYS_AT_ONCE)]
        for start in range(0, len(old_keys), KEYS_AT_ONCE):
            await self._client.delete(*old_keys[start : start + KEYS_AT_ONCE])

    async def move_chat(self, old_id: str, new_id: str) -> None:
        """Atomically move a chat's leaderboards to its new id. Its later games are rated there. Idempotent."""
        # The month of a scope can be in the future, because a worker's clock can be ahead.
        years = range(FIRST_YEAR, time.gmtime().tm_year + 2)
        months = [EVERYTHING, *(f"{year}-{month:02}" for year in years for month in range(1, 13))]
        names = [
            kind(Scope(chat, month, game).key)
            for month, game in product(months, (EVERYTHING, *GAMES))
            for kind in BY_SCOPE
            for chat in (old_id, new_id)
        ]
        if unmoved_count := await self._move(keys=[keys.MOVED, *names], args=[old_id, new_id]):
            log.warning("leaderboards_not_moved", chat=old_id, new=new_id, keys=unmoved_count, fix="buongioco rebuild")

    async def changes(self, game_id: str) -> list[Change]:
        """Return a game's rating changes, or none if it is unrated or was rated long ago."""
        text = await self._client.get(keys.changes(game_id))
        return [Change(*change) for change in json.loads(text)] if text else []

    async def standing(self, scope: Scope, person: str) -> Standing:
        return Standing.parse(await self._client.hget(keys.ratings(scope.key), person))

    async def histories(self, scope: Scope, people: Sequence[str]) -> dict[str, list[RatedGame]]:
        if not people:
            return {}
        texts = await self._client.hmget(keys.history(scope.key), people)
        return {person: parse_history(text) for person, text in zip(people, texts, strict=True)}

    async def rank(self, scope: Scope, person: str) -> int | None:
        """Return a person's rank from 1, shared by equal ratings. None before enough games."""
        shown_rating = await self._client.zscore(keys.ranks(scope.key), person)
        if shown_rating is None:
            return None
        return 1 + int(await self._client.zcount(keys.ranks(scope.key), f"({shown_rating!r}", "+inf"))

    async def best(self, scope: Scope, limit: int) -> list[tuple[int | None, str, Standing]]:
        ranked_people = await self._client.zrange(keys.ranks(scope.key), 0, limit - 1, desc=True, withscores=True)
        if not ranked_people:
            return []
        standings = await self._client.hmget(keys.ratings(scope.key), [person for person, _rating in ranked_people])
        scores = [rating for _person, rating in ranked_people]
        return [
            (1 + scores.index(rating), person.decode(), Standing.parse(standing))
            for (person, rating), standing in zip(ranked_people, standings, strict=True)
        ]

    async def leaders(self, scope: Scope) -> tuple[list[str], int]:
        """Return all people of rank 1, and their shown rating. Partners who always play together share it."""
        best = await self._client.zrange(keys.ranks(scope.key), 0, 0, desc=True, withscores=True)
        if not best:
            return [], 0
        [(_person, shown_rating)] = best
        people = await self._client.zrange(keys.ranks(scope.key), shown_rating, shown_rating, byscore=True)
        return [person.decode() for person in people], round(shown_rating)

    async def best_and_own(self, scope: Scope, person: str, limit: int) -> list[RankedPerson]:
        """Return the best people, followed by ``person`` unless they are among them. ``person`` can be empty."""
        best = await self.best(scope, limit)
        if person and all(other != person for _rank, other, _standing in best):
            best.append((await self.rank(scope, person), person, await self.standing(scope, person)))
        histories = await self.histories(scope, [other for _rank, other, _standing in best])
        return [RankedPerson(other, rank, standing, histories[other]) for rank, other, standing in best]

    async def standings(self, person: str) -> list[GameStanding]:
        game_standings = []
        for game in (EVERYTHING, *GAMES):
            scope = Scope(game=game)
            standing = await self.standing(scope, person)
            if standing.games:
                rank, ranked_count = await self.rank(scope, person), await self.count_ranked(scope)
                game_standings.append(GameStanding(game, standing, rank, ranked_count))
        return game_standings

    async def count_ranked(self, scope: Scope) -> int:
        return int(await self._client.zcard(keys.ranks(scope.key)))

    async def scopes_of(self, person: str) -> set[Scope]:
        """Return all scopes in which a person has been rated, including wider ones."""
        moved_chats = await self.moved_chats()
        all_scopes: set[Scope] = set()
        for member in await self._client.smembers(keys.scopes(person)):
            chat, month, game = member.decode().split("|")
            all_scopes |= set(_wider_scopes([chat, moved_chats.get(chat, chat)], month, game))
        return all_scopes

    async def hand_over(self, person: str, pseudonym: str) -> int:
        """Move a person's ratings to a pseudonym, without ranks. Return the number of scopes. Idempotent.

        The person's last game must already be rated.
        """
        moved_count, finished_scopes = 0, set[Scope]()
        # A chat that moves in the meantime gets new scopes.
        while scopes := await self.scopes_of(person) - finished_scopes:
            for scope in scopes:
                scope_keys = [kind(scope.key) for kind in BY_SCOPE]
                moved_count += await self._hand_over(keys=scope_keys, args=[person, pseudonym])
            finished_scopes |= scopes
        await self._client.delete(keys.scopes(person))
        return moved_count

    async def redact_changes(self, game: str, person: str, pseudonym: str) -> None:
        await self._redact(keys=[keys.changes(game)], args=[person, pseudonym])

    async def moved_chats(self) -> dict[str, str]:
        """Return the new ids of moved chats by their old ids."""
        moved_chats = {**await self._client.hgetall(keys.MOVED_BEFORE), **await self._client.hgetall(keys.MOVED)}
        return {old_id.decode(): new_id.decode() for old_id, new_id in moved_chats.items()}

    async def _rate_entry(self, entry: ArchiveEntry, last_rated: int) -> bool:
        """Rate or skip a game. Do neither, and return False, if another game was rated last or a chat moved."""
        moves = await self._client.hlen(keys.MOVED)
        today, changes, standing_args, scopes = NO_DAY, list[Change](), list[str | int](), list[Scope]()
        if entry.game:
            today = await self._count_today(entry.game)
            game = await self._decide_winner_gain(entry.game, today.games)
            changes, standing_args, scopes = await self._calculate(game)
        ratings_keys = [kind(scope.key) for scope in scopes for kind in BY_SCOPE]
        header = [last_rated, entry.number, json.dumps(changes) if changes else "", KEEP_CHANGES_SECONDS, moves]
        is_rated = await self._rate(
            keys=[keys.RATED, keys.changes(entry.id), keys.MOVED, keys.RATED_TODAY, *ratings_keys],
            args=[*header, today.day, today.key, json.dumps(today.pairs) if scopes else "", *standing_args],
        )
        return bool(is_rated)

    async def rated_scopes(self, game: FinishedGame) -> list[Scope]:
        """Return the scopes in which a game is rated, the widest first, with the current ids of its chats."""
        if not game.is_rated:
            return []
        chats = with_current_chats(game, await self.moved_chats()).chats
        return _wider_scopes(chats, game.month, game.record.game)

    async def _decide_winner_gain(self, game: FinishedGame, games_today: int) -> FinishedGame:
        """Decide whether a game's winner gains rating. Store the decision for rebuilds, unless there is one already."""
        if game.winner_gains is not None or not depends_on_day(game):
            return game
        decided = replace(game, winner_gains=games_today < GAMES_A_DAY)

        def decide(stored_game: FinishedGame) -> FinishedGame:
            is_decided = stored_game.winner_gains is not None
            return stored_game if is_decided else replace(stored_game, winner_gains=decided.winner_gains)

        await self.archive.rewrite(game.id, decide)
        kept = await self.archive.get(game.id)
        return replace(game, winner_gains=kept.winner_gains) if kept else decided

    async def _calculate(self, game: FinishedGame) -> tuple[list[Change], list[str | int], list[Scope]]:
        """Return a game's changes, the arguments of `RATE` for its standings, and its scopes.

        Also store for each rated person that they are rated in these scopes.
        """
        forgotten = await forgetting_marks(self._client)
        for person, mark in forgotten.items():
            game = game.redact(person, mark.pseudonym)
        # A person's ratings are stored under the person's id until they are handed over.
        person_of = {mark.pseudonym: person for person, mark in forgotten.items()}
        scopes = await self.rated_scopes(game)
        winners = {game.people[seat] for seat in game.record.winner or []}
        # The game is unrated for a winner who gains nothing.
        rated_people = [
            person for person in dict.fromkeys(game.people) if does_winner_gain(game) or person not in winners
        ]
        await self._index_scopes(rated_people, scopes)
        standing_args: list[str | int] = []
        changes: list[Change] = []
        for index, scope in enumerate(scopes):
            people = dict.fromkeys(game.people)
            not_handed_over = [person_of.get(person, person) for person in people]
            texts = await self._client.hmget(keys.ratings(scope.key), [*people, *not_handed_over])
            earlier_texts = zip(people, texts[: len(people)], texts[len(people) :], strict=True)
            earlier = {person: Standing.parse(text or earlier_text) for person, text, earlier_text in earlier_texts}
            later = earlier | {
                person: standing
                for person, standing in rate_game(game.people, game.record.winner or [], earlier).items()
                if person in rated_people
            }
            histories = await self.histories(scope, rated_people)
            for person in rated_people:
                standing = later[person]
                is_ranked = standing.games >= MIN_GAMES and not is_pseudonym(person)
                shown_rating: str | int = standing.rating if is_ranked else ""
                latest = RatedGame(game.ended // DAY_SECONDS, standing.wins > earlier[person].wins, standing.rating)
                history = "" if is_pseudonym(person) else history_text([*histories[person], latest])
                standing_args += [index, person, standing.to_text(), history, shown_rating]
            if scope == Scope(game=game.record.game):
                changes = [Change(person, earlier[person].rating, later[person].rating) for person in people]
        return changes, standing_args, scopes

    async def _count_today(self, game: FinishedGame) -> DayCounts:
        """Count the rated games that a game's opponents have already played on its day (UTC)."""
        day = game.ended // DAY_SECONDS
        stored_day, key = await self._client.hmget(keys.RATED_TODAY, ["day", "key"])
        is_stored = stored_day is not None and int(stored_day) == day
        key = key.decode() if is_stored else secrets.token_hex(16)
        # People who are being forgotten still count under their own id, so that a game resigned by /forget counts too.
        person_of = {mark.pseudonym: person for person, mark in (await forgetting_marks(self._client)).items()}
        people = [person_of.get(person, person) for person in game.people]
        # /forget must not reset the counts, so they stay. They hold digests, because ids must not outlast /forget.
        opponents = {" ".join(sorted(pair)) for pair in product(people[::2], people[1::2])}
        pairs = sorted(hmac.digest(key.encode(), pair.encode(), "sha256").hex() for pair in opponents)
        counts = await self._client.hmget(keys.RATED_TODAY, pairs) if is_stored else []
        return DayCounts(day, key, pairs, max((int(count or 0) for count in counts), default=0))

    async def _index_scopes(self, people: Sequence[str], scopes: Sequence[Scope]) -> None:
        """Store the narrowest scopes of a game for people with a rating from it."""
        narrow = [scope.key for scope in scopes if EVERYTHING not in (scope.month, scope.game)]
        scope_keys = [key for key in narrow if not key.startswith(f"{EVERYTHING}|")] or narrow
        if scope_keys:
            async with self._client.pipeline(transaction=False) as pipe:
                for person in people:
                    if not is_pseudonym(person):
                        pipe.sadd(keys.scopes(person), *scope_keys)
                await pipe.execute()
