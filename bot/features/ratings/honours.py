"""What a month is remembered for in a group, once it is over: its champion, and who did something rare.

| key | type | what |
|---|---|---|
| ``honours:chat:<chat>`` | hash | the honours of each month, as 2026-11: kind, people and figure, JSON; kept for good |
| ``honours:person:<platform:id>`` | set | the months and chats in which somebody has honours |
| ``honours:closed`` | string | the last month that was closed, and the last game's number before those of a later one |

Months are in UTC, as ratings' are. Only rated games count.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Literal, NamedTuple, get_args

from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.finished.rating_rules import does_winner_gain
from bot.finished.ratings import Ratings, Scope, with_current_chats
from bot.pseudonyms import ForgettingMark, forgetting_marks, is_pseudonym
from bot.store import keys

HonourKind = Literal["champion", "streak", "fours", "comeback"]
KINDS: tuple[HonourKind, ...] = get_args(HonourKind)

LEAST_STREAK = 3
"""So many games must be won in a row to be remembered for it."""

CLOSING_DELAY = timedelta(hours=1)
"""After the end of a month, for what was still being written down."""

FOUR_THREES = "declare four 3"
CUT_SHORT = ("resign", "timeout")


class Honour(NamedTuple):
    """What somebody is remembered for: as champion their rating, games won in a row, declarations of four threes, or by
    how much they were behind in a game that they won, in hundredths of its target. Partners share what they won
    together.
    """

    kind: HonourKind
    people: tuple[str, ...]
    figure: int

    def redact(self, person: str, somebody: str) -> "Honour":
        """The honour with somebody in place of a person."""
        return self._replace(people=tuple(somebody if one == person else one for one in self.people))


class Month(NamedTuple):
    """A month's honours in a chat; ``name`` is as 2026-11."""

    name: str
    honours: tuple[Honour, ...]


class OwnHonour(NamedTuple):
    """One of somebody's honours: the month, and in which chat."""

    month: str
    chat: str
    honour: Honour


def month_before(now: datetime) -> str:
    """The last month that is over, as 2026-11."""
    return (now.astimezone(UTC).replace(day=1) - timedelta(days=1)).strftime("%Y-%m")


class HonourTally:
    """What a chat's rated games of a month are remembered for, added up game by game in their order; of equals who was
    first. The games themselves are not kept: there may be a million.
    """

    def __init__(self) -> None:
        self._runs, self._fours = Counter[str](), Counter[str]()
        self._streak, self._comeback = Honour("streak", (), LEAST_STREAK - 1), Honour("comeback", (), 0)

    def add(self, game: FinishedGame) -> None:
        winners = game.record.winner or ()
        for seat, person in enumerate(game.people):
            self._runs[person] = self._runs[person] + does_winner_gain(game) if seat in winners else 0
        people = tuple(game.people[seat] for seat in winners)
        runs = {person: self._runs[person] for person in people if not is_pseudonym(person)}
        longest = max(runs.values(), default=0)
        if longest > self._streak.figure:
            self._streak = Honour("streak", tuple(one for one, run in runs.items() if run == longest), longest)
        for deal in game.record.deals:
            for seat, move, *_legal in deal.moves:
                if move == FOUR_THREES and seat is not None and not is_pseudonym(game.people[seat]):
                    self._fours[game.people[seat]] += 1
        behind = _largest_deficit(game)
        if behind > self._comeback.figure and not any(map(is_pseudonym, people)):
            self._comeback = Honour("comeback", people, behind)

    def honours(self) -> Iterator[Honour]:
        if self._streak.people:
            yield self._streak
        if self._fours:
            [(person, count)] = self._fours.most_common(1)
            yield Honour("fours", (person,), count)
        if self._comeback.people:
            yield self._comeback


def _largest_deficit(game: FinishedGame) -> int:
    """By how much the winners were behind after one of the deals, in hundredths of the target; 0 if they never were, or
    the others gave up.
    """
    record = game.record
    if not record.winner or record.ending in CUT_SHORT:
        return 0
    side = record.winner[0] & 1
    most = max((deal.totals[1 - side] - deal.totals[side] for deal in record.deals if deal.totals), default=0)
    return max(0, round(100 * most / int(record.rules["target"])))


async def closed_month(client: Any) -> str:
    """The last month whose honours are made, as 2026-11; empty before the first."""
    month, _number = await _read_closed(client)
    return month


async def _read_closed(client: Any) -> tuple[str, int]:
    """The month, and the number of the last game that was looked at."""
    found = await client.get(keys.HONOURS_CLOSED)
    month, number = found.decode().split() if found else ("", "0")
    return month, int(number)


class Honours:
    """All of them. Every method raises the store's errors."""

    def __init__(self, client: Any, archive: Archive, ratings: Ratings) -> None:
        self._client, self._archive, self._ratings = client, archive, ratings

    async def close_past_months(self, now: datetime) -> str:
        """Close the months that are over and are not closed; returns the last one, empty if there was none to close.

        Doing so twice changes nothing. None is closed that is later than every game: clocks are wrong now and then,
        and a month that is closed stays so.
        """
        month, (closed, number) = month_before(now - CLOSING_DELAY), await _read_closed(self._client)
        if closed >= month:
            return ""
        # Much may be unrated just after a start, and a champion is one for good.
        await self._ratings.catch_up()
        moved, deeds = await self._ratings.moved_chats(), defaultdict[tuple[str, str], HonourTally](HonourTally)
        latest, is_over, forgotten = closed, True, dict[str, ForgettingMark]()
        async for entry in self._archive.entries_after(number):
            # Each time, for a forgetting may begin and end while games are read; and others have their turn.
            forgotten |= await forgetting_marks(self._client)
            if game := entry.game:
                latest = max(latest, game.month)
                is_over = is_over and game.month <= month
            if is_over:
                # The next round begins with the first game of a later month; those that are older may come behind it.
                number = entry.number
            if game and game.is_rated and closed < game.month <= month:
                for chat in with_current_chats(game, moved).chats:
                    deeds[game.month, chat].add(game)
        month = min(month, latest)
        if month == closed:
            return ""
        for name, chat in sorted(deeds):
            forgotten |= await forgetting_marks(self._client)
            await self._close(name, chat, deeds[name, chat], forgotten)
        if meanwhile := (await self._ratings.moved_chats()).items() - moved.items():
            # What was written for the old one goes after it, and the next round writes it whole.
            for old, new in meanwhile:
                await self.move_chat(old, new)
            return ""
        await self._client.set(keys.HONOURS_CLOSED, f"{month} {number}")
        return month

    async def _close(self, month: str, chat: str, deeds: HonourTally, forgotten: Mapping[str, ForgettingMark]) -> None:
        first, shown = await self._ratings.leaders(Scope(chat=chat, month=month))
        champions = [Honour("champion", tuple(first), shown)] if first else []
        honours = _redact([*champions, *deeds.honours()], forgotten)
        if honours:
            await self._store(month, chat, honours, self._client.hset)

    async def _store(
        self, month: str, chat: str, honours: Sequence[Honour], write: Callable[..., Awaitable[object]]
    ) -> None:
        """Write a month's honours, with nobody who is being forgotten."""
        # Before, so that a kill leaves none that are not found; after, for whoever is forgotten in between.
        await self._index_people(month, chat, honours)
        kept = _redact(honours, await forgetting_marks(self._client))
        await write(keys.honours(chat), month, json.dumps(kept))
        await self._index_people(month, chat, kept)

    async def _index_people(self, month: str, chat: str, honours: Sequence[Honour]) -> None:
        for person in {person for honour in honours for person in honour.people if not is_pseudonym(person)}:
            await self._client.sadd(keys.honoured(person), f"{month} {chat}")

    async def months_of(self, chat: str, most: int) -> list[Month]:
        """The honours of a chat's latest months that have any, newest first."""
        found = await self._client.hgetall(keys.honours(chat))
        months = sorted(((name.decode(), text) for name, text in found.items()), reverse=True)
        return [Month(name, tuple(_parse_honours(text))) for name, text in islice(months, most)]

    async def honours_of(self, person: str) -> list[OwnHonour]:
        """Somebody's honours, newest first."""
        found = []
        for entry in sorted((one.decode() for one in await self._client.smembers(keys.honoured(person))), reverse=True):
            month, chat = entry.split(" ", 1)
            text = await self._client.hget(keys.honours(chat), month)
            found += [OwnHonour(month, chat, one) for one in _parse_honours(text or b"[]") if person in one.people]
        return found

    async def forget(self, person: str, somebody: str) -> None:
        """Have somebody stand where a person stood."""
        for entry in await self._client.smembers(keys.honoured(person)):
            month, chat = entry.decode().split(" ", 1)
            text = await self._client.hget(keys.honours(chat), month)
            honours = [one.redact(person, somebody) for one in _parse_honours(text or b"[]")]
            if honours:
                await self._client.hset(keys.honours(chat), month, json.dumps(honours))
        await self._client.delete(keys.honoured(person))

    async def move_chat(self, old: str, new: str) -> None:
        """A chat has another id: its honours are the new one's, but for months that the new one has already. Twice is
        once.
        """
        for stored, text in (await self._client.hgetall(keys.honours(old))).items():
            month, honours = stored.decode(), list(_parse_honours(text))
            await self._store(month, new, honours, self._client.hsetnx)
            for person in {person for honour in honours for person in honour.people}:
                await self._client.srem(keys.honoured(person), f"{month} {old}")
        await self._client.delete(keys.honours(old))


def _redact(honours: Iterable[Honour], forgotten: Mapping[str, ForgettingMark]) -> list[Honour]:
    for person, mark in forgotten.items():
        honours = [one.redact(person, mark.pseudonym) for one in honours]
    return list(honours)


def _parse_honours(text: bytes) -> Iterator[Honour]:
    for kind, people, figure in json.loads(text):
        yield Honour(kind, tuple(people), figure)
