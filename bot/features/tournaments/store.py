"""Tournaments in the store: each change is one commit to a tournament's log.

| key | type | what |
|---|---|---|
| ``{tour:<code>}:log`` | list | a tournament's log (`bot.features.tournaments.entries`); expires after its end |
| ``{tour:<code>}:card`` | string | where its card stands and what that shows, JSON (`bot.features.tournaments.card`) |
| ``{tour:<code>}:wish`` | string | what somebody wishes of its card, until the director has taken it up |
| ``{tour:<code>}:games`` | hash | duplicate games of rounds under way, by round and id, as the archive keeps them |
| ``{tour:<code>}:reminded`` | set | who has been reminded of what |
| ``tournaments`` | hash | codes of tournaments that are not over (`bot.store.index`) |
| ``tournaments:<chat>`` | hash | codes of a chat's tournaments that are not over |
| ``entered:<platform:id>`` | hash | codes of those that a person has entered or opened, for as long as there is a log |
| ``organised:<platform:id>`` | hash | codes of those that a person opened, and that count for how many they may |

An entry in a list is made before the commit that it follows from, and again after it; what a tournament does not bear
out is taken out when the list is read.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

import structlog
from cachetools import LRUCache

from bot.cluster.shards import LEADER_SHARD
from bot.features.tournaments.entries import Cancel, Entry, Place, Redacted, encode
from bot.features.tournaments.errors import (
    NoSuchTournament,
    OrganisesTooMany,
    TooManyTournaments,
    UnreadableTournament,
)
from bot.features.tournaments.tournament import Tournament
from bot.platform import chat_of
from bot.store import Store, keys
from bot.store.batch import BatchedScript
from bot.store.index import Reservation
from bot.store.log import stamped, unstamped
from bot.store.lua import read_script
from bot.tables.errors import TableError
from bot.tables.lists import CodeTaken

KEPT_SECONDS = 400 * 86400
"""For how long a tournament is kept that is over."""

SHOWN_SECONDS = 30 * 86400
"""For how long one that is over is shown to its people."""

CALLED_OFF_SECONDS = 86400
"""For how long one is kept that was called off before it began. It is shown to nobody, and counts for its organiser."""

MOST_AT_ONCE = 5
"""Tournaments that are not over, in one chat."""

MOST_ORGANISED = 10
"""Tournaments of one person that are not over, or were called off before they began, of late."""

TOURNAMENTS_REMEMBERED = 500

REDACTED = encode(Redacted()).encode()

APPEND = read_script(__file__, "append")

REWRITE = read_script(__file__, "rewrite")

Belongs = Callable[[Tournament], bool]

Decision = Callable[[Tournament], Sequence[Entry]]
"""Given a tournament as it stands, what is to be written; raises what is wrong."""

log = structlog.get_logger()


class Tournaments:
    """The tournaments of one store."""

    def __init__(self, store: Store) -> None:
        self._store, self.client = store, store.client
        self._append = BatchedScript(store.client, APPEND, store.replicas)
        self._rewrite = BatchedScript(store.client, REWRITE, store.replicas)
        self._cache: LRUCache[str, Tournament] = LRUCache(TOURNAMENTS_REMEMBERED)
        self._unreadable: LRUCache[str, None] = LRUCache(TOURNAMENTS_REMEMBERED)

    # Reading

    async def load(self, code: str) -> Tournament:
        """A tournament as the store has it; NoSuchTournament if there is none, UnreadableTournament, and one line in
        the log, if it cannot be read.
        """
        known = self._cache.get(code) or Tournament(code)
        # The last entry that is known comes first again, to tell this log from another.
        since = max(0, known.version - 1)
        found = await self.client.lrange(keys.tournament(code), since, -1)
        new = found[known.version - since :]
        if known.exists and (found[:1] != [known.entries[-1]] or any(unstamped(one) == REDACTED for one in new)):
            known, new = Tournament(code), await self.stored(code)
        loaded = self._caught_up(known, new)
        if not loaded.exists:
            self._cache.pop(code, None)
            raise NoSuchTournament(code=code)
        self._cache[code] = loaded
        return loaded

    def _caught_up(self, known: Tournament, stored: Sequence[bytes]) -> Tournament:
        try:
            loaded = known.caught_up(stored)
        except UnreadableTournament as error:
            # Whoever looks comes by it again and again.
            if known.code not in self._unreadable:
                why = error.values["why"]
                log.error("tournament_unreadable", tournament=known.code, why=why)  # noqa: TRY400 - it says it all
            self._unreadable[known.code] = None
            raise
        self._unreadable.pop(known.code, None)
        return loaded

    async def stored(self, code: str) -> list[bytes]:
        """A tournament's log, whether it can be read or not; empty if there is none."""
        found: list[bytes] = await self.client.lrange(keys.tournament(code), 0, -1)
        return found

    async def live_codes(self) -> dict[str, int]:
        """The codes of the tournaments that are not over, with the Unix seconds since when; some may be over by now."""
        found = await self._store.index.entries(keys.TOURNAMENTS)
        return {code: int(token.partition(".")[0]) for code, token in sorted(found.items())}

    async def unreadable_codes(self) -> dict[str, int]:
        """Those of them that this release cannot read."""
        found = {}
        for code, since in (await self.live_codes()).items():
            stored = await self.stored(code)
            if Tournament.as_far_as_readable(code, stored).version < len(stored):
                found[code] = since
        return found

    async def drop_code(self, code: str) -> None:
        """There is no tournament of that code, unless it is just being opened."""
        token = (await self._store.index.entries(keys.TOURNAMENTS)).get(code)
        if token:
            await self._store.index.drop(keys.TOURNAMENTS, code, token)

    async def in_chat(self, place: str) -> list[Tournament]:
        """The tournaments of a chat that are not over, the newest first."""
        return await self._load_list(keys.tournaments_at(place), partial(_is_live_in, chat_of(place)))

    async def of_person(self, person: str) -> list[Tournament]:
        """The tournaments that a person has entered or organises, the newest first: those that are not over, and those
        that ended lately.
        """
        listed = await self._load_list(keys.entered(person), lambda _one: True)
        theirs = [one for one in listed if one.involves(person)]
        async with self.client.pipeline(transaction=False) as pipe:
            for one in theirs:
                pipe.ttl(keys.tournament(one.code))
            lefts = await pipe.execute()
        return [one for one, left in zip(theirs, lefts, strict=True) if one.is_live or _is_shown(left)]

    async def _load_list(self, key: str, belongs: Belongs) -> list[Tournament]:
        """The tournaments of a list that bear it out, the newest first; the others are taken out of it. One that cannot
        be read is left out, and stays on the list: another release may know it.
        """
        entries = await self._store.index.entries(key)
        # All at once, over as many connections as there are.
        loaded = await asyncio.gather(*map(self._try_load, entries))
        found = []
        for (code, token), tournament in zip(entries.items(), loaded, strict=True):
            if isinstance(tournament, UnreadableTournament):
                continue
            if tournament and belongs(tournament):
                # A token begins with the seconds at which it was made.
                found.append((token, tournament))
            elif tournament and not tournament.is_live:
                await self._store.index.release(key, code, token)
            else:
                # A commit may be on its way that bears it out.
                await self._store.index.drop(key, code, token)
        return [one for _token, one in sorted(found, key=lambda pair: pair[0], reverse=True)]

    async def _try_load(self, code: str) -> Tournament | UnreadableTournament | None:
        try:
            return await self.load(code)
        except NoSuchTournament:
            return None
        except UnreadableTournament as error:
            return error

    # Lists

    @asynccontextmanager
    async def list_for_person(self, person: str, code: str) -> AsyncIterator[None]:
        """While a commit is made that names a person in a tournament: it stands in the person's list before, and again
        after, for who was forgotten in between is to be found there.
        """
        key = keys.entered(person)
        made = await self._store.index.reserve(key, code)
        async with self._reserved(key, code, made):
            yield
        await self._store.index.reserve(key, code)

    @asynccontextmanager
    async def reserve_lists(self, place: str, person: str, code: str) -> AsyncIterator[None]:
        """While a person opens a tournament in a chat; TooManyTournaments where that has as many as it may,
        OrganisesTooMany where the person does.
        """
        shown, own = keys.tournaments_at(place), keys.organised(person)
        made = await self._reserve(shown, code, MOST_AT_ONCE, partial(_is_live_in, chat_of(place)))
        if made is None:
            raise TooManyTournaments(most=MOST_AT_ONCE)
        async with self._reserved(shown, code, made):
            made = await self._reserve(own, code, MOST_ORGANISED, partial(_counts_for, person))
            if made is None:
                raise OrganisesTooMany(most=MOST_ORGANISED)
            async with self._reserved(own, code, made), self.list_for_person(person, code):
                await self._store.index.reserve(keys.TOURNAMENTS, code)
                yield

    async def _reserve(self, key: str, code: str, most: int, belongs: Belongs) -> Reservation | None:
        """An entry; a list that is full is looked through first, for some of its tournaments may count no more."""
        made = await self._store.index.reserve(key, code, most)
        if made is None:
            await self._load_list(key, belongs)
            made = await self._store.index.reserve(key, code, most)
        return made

    @asynccontextmanager
    async def _reserved(self, key: str, code: str, made: Reservation | None) -> AsyncIterator[None]:
        assert made
        try:
            yield
        except (TableError, CodeTaken):
            # The commit was refused. Where it is not known whether it came the entry stays, until somebody reads it.
            await self._store.index.give_back(key, code, made)
            raise

    async def seconds_left(self, tournament: Tournament) -> int | None:
        """How many seconds of playing time are left until the round ends, 0 or less if it should have; None where no
        round is being played.
        """
        if tournament.phase != "playing" or not tournament.ends_at:
            return None
        return tournament.ends_at[-1] - await self.playing_time()

    async def playing_time(self) -> int:
        """Playing time by which rounds end, in seconds."""
        return int(await self._store.attendance.played(LEADER_SHARD))

    # Writing

    async def commit(self, code: str, update: str, decide: Decision) -> Tournament:
        """Decide on the tournament as the store has it, and write what follows, once for each update."""
        tournament = await self.load(code)
        while True:
            entries = [] if tournament.has_seen(update) else decide(tournament)
            if not entries:
                return tournament
            written = await self.write(tournament, entries, update)
            if isinstance(written, Tournament):
                return written
            tournament = self._caught_up(Tournament(code), written)
            self._cache[code] = tournament
            if not tournament.exists:
                raise NoSuchTournament(code=code)

    async def write(self, tournament: Tournament, entries: Sequence[Entry], update: str) -> Tournament | list[bytes]:
        """The tournament with these entries; or all that its log has, where that has gone on meanwhile."""
        stored = [stamped(encode(entry), update) for entry in entries]
        after = tournament.after(stored)
        last = tournament.entries[-1] if tournament.exists else b""
        result = await self._append(
            [keys.tournament(tournament.code)],
            [tournament.version, last, _expiry(after), *stored],
            confirmed=True,
        )
        if result[0] != 1:
            return list(result[1:])
        self._cache[tournament.code] = after
        return after

    async def rewrite(self, code: str, known: Sequence[bytes], entries: Sequence[bytes]) -> bool:
        """Put another log in place of a tournament's, as it is known; False if it has gone on meanwhile."""
        self._cache.pop(code, None)
        after = Tournament.as_far_as_readable(code, entries)
        # Of one that cannot be read it is not known whether it is over.
        expiring = _expiry(after) if after.version == len(entries) else ""
        return bool(
            await self._rewrite([keys.tournament(code)], [len(known), known[-1], expiring, *entries], confirmed=True)
        )

    async def call_off_unreadable(self, code: str, update: str) -> None:
        """Whoever hosts the bot ends a tournament that cannot be read: it stands as before what cannot be read of it,
        and is called off if it is not over. Nothing happens where it can be read.
        """
        while True:
            stored = await self.stored(code)
            known = Tournament.as_far_as_readable(code, stored)
            if known.version == len(stored):
                return
            ending = [stamped(encode(Cancel()), update)] if known.is_live else []
            if await self.rewrite(code, stored, [*known.entries, *ending]):
                return

    async def unlist(self, tournament: Tournament) -> None:
        """Nothing more is to come of a tournament."""
        await self._store.index.remove(keys.tournaments_at(tournament.place), tournament.code)
        if not _counts_for(tournament.opener.person, tournament):
            await self._store.index.remove(keys.organised(tournament.opener.person), tournament.code)
        await self._store.index.remove(keys.TOURNAMENTS, tournament.code)

    async def move_chat(self, old: str, new: str) -> None:
        """A chat has another id: its tournaments are the new one's. Twice is once."""
        for code in await self._store.index.entries(keys.tournaments_at(old)):
            # However many there are.
            await self._store.index.reserve(keys.tournaments_at(new), code)
            try:
                await self.commit(
                    code, f"moved:{new}", lambda one: [Place(new)] if chat_of(one.place) == chat_of(old) else []
                )
            except UnreadableTournament:
                # Whoever can read it finds it there, when its card is refused in the old chat.
                continue
            except NoSuchTournament:
                pass
            await self._store.index.remove(keys.tournaments_at(old), code)


def _is_live_in(chat: str, tournament: Tournament) -> bool:
    return tournament.is_live and chat_of(tournament.place) == chat


def _is_shown(left: int) -> bool:
    """Whether one that is over is shown still whose log has so many seconds ``left``, less than none if it stays."""
    return left < 0 or left > KEPT_SECONDS - SHOWN_SECONDS


def _counts_for(person: str, tournament: Tournament) -> bool:
    """Whether a tournament counts for how many a person may organise: also when it was called off before it began, for
    whoever opens one after the other would leave as many logs and cards.
    """
    return tournament.opener.person == person and (tournament.is_live or _is_called_off_unbegun(tournament))


def _is_called_off_unbegun(tournament: Tournament) -> bool:
    return tournament.phase == "cancelled" and not tournament.teams


def _expiry(tournament: Tournament) -> int | str:
    """Seconds from now until the log of a tournament expires, if it does not yet; nothing as long as it is not over."""
    if tournament.is_live:
        return ""
    return CALLED_OFF_SECONDS if _is_called_off_unbegun(tournament) else KEPT_SECONDS
