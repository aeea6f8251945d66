"""Monthly honours of a group: the champion, and people with rare feats.

| key | type | what |
|---|---|---|
| ``honours:chat:<chat>`` | hash | the honours of each month, such as 2026-11, as JSON; kept forever |
| ``honours:person:<platform:id>`` | set | the months and chats in which a person has honours |
| ``honours:closed`` | string | the last closed month, and the number of the last game before a later month |

Months are in UTC, like those of ratings. Only rated games count.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Literal, NamedTuple, get_args

from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.finished.ratings import Ratings, Scope, with_current_chats
from bot.finished.unrated_games import does_winner_gain
from bot.identity.pseudonyms import ForgettingMark, forgetting_marks, is_pseudonym

HonourKind = Literal["champion", "streak", "fours", "comeback"]
KINDS: tuple[HonourKind, ...] = get_args(HonourKind)
MIN_STREAK = 3  # wins in a row
CLOSING_DELAY = timedelta(hours=1)  # after the end of a month, for games still being stored
FOUR_THREES = "declare four 3"
CUT_SHORT = ("resign", "timeout")

CLOSED_KEY = "honours:closed"


def chat_key(chat: str) -> str:
    return f"honours:chat:{chat}"


def person_key(person: str) -> str:
    return f"honours:person:{person}"


class Honour(NamedTuple):
    """An honour of a person, or of partners who share it.

    ``figure`` is a champion's rating, the length of a streak, the number of declarations of four threes, or the deficit
    from which a side came back and won, in percent of the target.
    """

    kind: HonourKind
    people: tuple[str, ...]
    figure: int

    def redact(self, person: str, pseudonym: str) -> "Honour":
        return self._replace(people=tuple(pseudonym if player == person else player for player in self.people))


class Month(NamedTuple):
    name: str  # such as 2026-11
    honours: tuple[Honour, ...]


class OwnHonour(NamedTuple):
    month: str
    chat: str
    honour: Honour


def month_before(now: datetime) -> str:
    """Return the last full month, such as 2026-11."""
    return (now.astimezone(UTC).replace(day=1) - timedelta(days=1)).strftime("%Y-%m")


class HonourTally:
    """Collects a chat's honours of a month from its games, in order. If results are equal, the first wins."""

    def __init__(self) -> None:
        self._runs, self._fours = Counter[str](), Counter[str]()
        self._streak, self._comeback = Honour("streak", (), MIN_STREAK - 1), Honour("comeback", (), 0)

    def add(self, game: FinishedGame) -> None:
        winners = game.record.winner or ()
        for seat, person in enumerate(game.people):
            self._runs[person] = self._runs[person] + does_winner_gain(game) if seat in winners else 0
        people = tuple(game.people[seat] for seat in winners)
        runs = {person: self._runs[person] for person in people if not is_pseudonym(person)}
        longest = max(runs.values(), default=0)
        if longest > self._streak.figure:
            self._streak = Honour("streak", tuple(person for person, run in runs.items() if run == longest), longest)
        for deal in game.record.deals:
            for seat, move, *_legal in deal.moves:
                if move == FOUR_THREES and seat is not None and not is_pseudonym(game.people[seat]):
                    self._fours[game.people[seat]] += 1
        deficit = _largest_deficit(game)
        if deficit > self._comeback.figure and not any(map(is_pseudonym, people)):
            self._comeback = Honour("comeback", people, deficit)

    def honours(self) -> Iterator[Honour]:
        if self._streak.people:
            yield self._streak
        if self._fours:
            [(person, count)] = self._fours.most_common(1)
            yield Honour("fours", (person,), count)
        if self._comeback.people:
            yield self._comeback


def _largest_deficit(game: FinishedGame) -> int:
    """Return the winners' largest deficit after a deal, in percent of the target.

    A game that was resigned or lost on time counts as 0.
    """
    record = game.record
    if not record.winner or record.ending in CUT_SHORT:
        return 0
    side = record.winner[0] & 1
    deficit = max((deal.totals[1 - side] - deal.totals[side] for deal in record.deals if deal.totals), default=0)
    return max(0, round(100 * deficit / int(record.rules["target"])))


async def closed_month(client: Any) -> str:
    """Return the last month with final honours, such as 2026-11; empty before the first."""
    return (await _read_closed(client))[0]


async def _read_closed(client: Any) -> tuple[str, int]:
    """Return the last closed month, and the number of the last game before the first game of a later month."""
    stored_text = await client.get(CLOSED_KEY)
    month, number = stored_text.decode().split() if stored_text else ("", "0")
    return month, int(number)


class Honours:
    """The honours in one store. Methods can raise store errors."""

    def __init__(self, client: Any, archive: Archive, ratings: Ratings) -> None:
        self._client, self._archive, self._ratings = client, archive, ratings

    async def close_past_months(self, now: datetime) -> str:
        """Close all past months and return the last one. Idempotent.

        Returns "" if no month was closed: there was none to close, or a chat moved in the meantime. A month stays open
        until it or a later month has a game. Clocks are sometimes wrong, and closing is final.
        """
        month, (closed, number) = month_before(now - CLOSING_DELAY), await _read_closed(self._client)
        if closed >= month:
            return ""
        # Rate all games first: some can still be unrated when a worker starts, and a champion is final.
        await self._ratings.catch_up()
        moved, tallies = await self._ratings.moved_chats(), defaultdict[tuple[str, str], HonourTally](HonourTally)
        latest, is_over, forgotten = closed, True, dict[str, ForgettingMark]()
        async for entry in self._archive.entries_after(number):
            # Read the marks for each game, because a person can be forgotten during the loop. This also lets other
            # tasks run.
            forgotten |= await forgetting_marks(self._client)
            if game := entry.game:
                latest = max(latest, game.month)
                is_over = is_over and game.month <= month
            if is_over:
                # The next call starts at the first game of a later month. Games of this month can come after that game.
                number = entry.number
            if game and game.is_rated and closed < game.month <= month:
                for chat in with_current_chats(game, moved).chats:
                    tallies[game.month, chat].add(game)
        month = min(month, latest)
        if month == closed:
            return ""
        for name, chat in sorted(tallies):
            forgotten |= await forgetting_marks(self._client)
            leaders, shown_rating = await self._ratings.leaders(Scope(chat=chat, month=name))
            champions = [Honour("champion", tuple(leaders), shown_rating)] if leaders else []
            honours = _redact([*champions, *tallies[name, chat].honours()], forgotten)
            if honours:
                await self._store(name, chat, honours, self._client.hset)
        if newly_moved := (await self._ratings.moved_chats()).items() - moved.items():
            # Also move the honours that were just written. The next call writes them again and closes the month.
            for old_id, new_id in newly_moved:
                await self.move_chat(old_id, new_id)
            return ""
        await self._client.set(CLOSED_KEY, f"{month} {number}")
        return month

    async def _store(
        self, month: str, chat: str, honours: Sequence[Honour], write: Callable[..., Awaitable[object]]
    ) -> None:
        """Write a month's honours with ``write``. People who are being forgotten appear under pseudonyms."""
        # Index people before writing, so that a kill leaves no honours unindexed. Index them again afterwards,
        # because a /forget during the write can delete the index.
        await self._index_people(month, chat, honours)
        redacted_honours = _redact(honours, await forgetting_marks(self._client))
        await write(chat_key(chat), month, json.dumps(redacted_honours))
        await self._index_people(month, chat, redacted_honours)

    async def _index_people(self, month: str, chat: str, honours: Sequence[Honour]) -> None:
        for person in {person for honour in honours for person in honour.people if not is_pseudonym(person)}:
            await self._client.sadd(person_key(person), f"{month} {chat}")

    async def months_of(self, chat: str, limit: int) -> list[Month]:
        stored_months = await self._client.hgetall(chat_key(chat))
        months = sorted(((name.decode(), text) for name, text in stored_months.items()), reverse=True)
        return [Month(name, tuple(_parse_honours(text))) for name, text in islice(months, limit)]

    async def honours_of(self, person: str) -> list[OwnHonour]:
        own_honours = []
        for entry in sorted(map(bytes.decode, await self._client.smembers(person_key(person))), reverse=True):
            month, chat = entry.split(" ", 1)
            honours = _parse_honours(await self._client.hget(chat_key(chat), month) or b"[]")
            own_honours += [OwnHonour(month, chat, honour) for honour in honours if person in honour.people]
        return own_honours

    async def forget(self, person: str, pseudonym: str) -> None:
        for entry in await self._client.smembers(person_key(person)):
            month, chat = entry.decode().split(" ", 1)
            text = await self._client.hget(chat_key(chat), month)
            honours = [honour.redact(person, pseudonym) for honour in _parse_honours(text or b"[]")]
            if honours:
                await self._client.hset(chat_key(chat), month, json.dumps(honours))
        await self._client.delete(person_key(person))

    async def move_chat(self, old_id: str, new_id: str) -> None:
        """Move a chat's honours to its new id, except for months that the new id already has. Idempotent."""
        for stored_month, text in (await self._client.hgetall(chat_key(old_id))).items():
            month, honours = stored_month.decode(), list(_parse_honours(text))
            await self._store(month, new_id, honours, self._client.hsetnx)
            for person in {person for honour in honours for person in honour.people}:
                await self._client.srem(person_key(person), f"{month} {old_id}")
        await self._client.delete(chat_key(old_id))


def _redact(honours: Iterable[Honour], forgotten: Mapping[str, ForgettingMark]) -> list[Honour]:
    for person, mark in forgotten.items():
        honours = [honour.redact(person, mark.pseudonym) for honour in honours]
    return list(honours)


def _parse_honours(text: bytes) -> Iterator[Honour]:
    for kind, people, figure in json.loads(text):
        yield Honour(kind, tuple(people), figure)
