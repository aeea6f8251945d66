"""Tournaments in the store (`bot.features.tournaments.keys`). Each change is one commit to a tournament's log.

A code is added to a list before the commit, and again after it. Reading a list removes codes that do not belong there.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

import structlog
from cachetools import LRUCache

from bot.cluster.shards import LEADER_SHARD
from bot.features.tournaments import keys
from bot.features.tournaments.errors import NoSuchTournament, OrganisesTooMany, TooManyTournaments, UnreadableTournament
from bot.features.tournaments.log_entries import Cancel, Entry, Place, Redacted, encode
from bot.features.tournaments.tournament import Tournament
from bot.platform import chat_of
from bot.store import Store
from bot.store.batch import BatchedScript
from bot.store.log import add_stamp, strip_stamp
from bot.store.lua import read_script

KEPT_SECONDS = 400 * 86400  # lifetime of a finished tournament's log
SHOWN_SECONDS = 30 * 86400  # how long a finished tournament stays in its people's lists
CALLED_OFF_SECONDS = 86400  # lifetime of the log of a tournament called off before its start
MAX_AT_ONCE = 5  # live tournaments of a chat
MAX_ORGANISED = 10  # tournaments of a person that are live, or were recently called off before their start
TOURNAMENTS_REMEMBERED = 500

REDACTED = encode(Redacted()).encode()

Belongs = Callable[[Tournament], bool]
# Returns the entries to write. Raises an error if the action is not possible.
Decision = Callable[[Tournament], Sequence[Entry]]

log = structlog.get_logger()


class Tournaments:
    def __init__(self, store: Store) -> None:
        self._store, self.client = store, store.client
        self._append = BatchedScript(store.client, read_script(__file__, "append"), store.replicas)
        self._rewrite = BatchedScript(store.client, read_script(__file__, "rewrite"), store.replicas)
        self._cache: LRUCache[str, Tournament] = LRUCache(TOURNAMENTS_REMEMBERED)
        self._unreadable: LRUCache[str, None] = LRUCache(TOURNAMENTS_REMEMBERED)

    # Reading

    async def load(self, code: str) -> Tournament:
        """Load a tournament. Raises NoSuchTournament, or UnreadableTournament, which is logged once."""
        cached = self._cache.get(code) or Tournament(code)
        # Read the last known entry again, to detect a replaced log.
        first_index = max(0, cached.version - 1)
        stored_entries = await self.client.lrange(keys.log(code), first_index, -1)
        new_entries = stored_entries[cached.version - first_index :]
        if cached.entries and (stored_entries[:1] != [cached.entries[-1]] or REDACTED in map(strip_stamp, new_entries)):
            cached, new_entries = Tournament(code), await self.stored_entries(code)
        tournament = self._catch_up(cached, new_entries)
        if not tournament.entries:
            self._cache.pop(code, None)
            raise NoSuchTournament(code=code)
        self._cache[code] = tournament
        return tournament

    def _catch_up(self, cached: Tournament, stored_entries: Sequence[bytes]) -> Tournament:
        try:
            tournament = cached.catch_up(stored_entries)
        except UnreadableTournament as error:
            if cached.code not in self._unreadable:  # Log it only once, because it is loaded every second.
                reason = error.values["why"]
                log.error("tournament_unreadable", tournament=cached.code, why=reason)  # noqa: TRY400 - the reason is enough
            self._unreadable[cached.code] = None
            raise
        self._unreadable.pop(cached.code, None)
        return tournament

    async def stored_entries(self, code: str) -> list[bytes]:
        """Return a tournament's log, which can be unreadable; empty if it does not exist."""
        entries: list[bytes] = await self.client.lrange(keys.log(code), 0, -1)
        return entries

    async def live_codes(self) -> dict[str, int]:
        """Return codes of live tournaments, with their opening in Unix seconds. Some can be over by now."""
        tokens = await self._store.index.entries(keys.LIVE)
        return {code: int(token.partition(".")[0]) for code, token in sorted(tokens.items())}

    async def unreadable_codes(self) -> dict[str, int]:
        """Return the live codes that this release cannot read."""
        unreadable = {}
        for code, opened_at in (await self.live_codes()).items():
            entries = await self.stored_entries(code)
            if Tournament.read_prefix(code, entries).version < len(entries):
                unreadable[code] = opened_at
        return unreadable

    async def drop_code(self, code: str) -> None:
        """Remove the code of a missing tournament, unless it is just being opened."""
        if token := (await self._store.index.entries(keys.LIVE)).get(code):
            await self._store.index.remove_if_settled(keys.LIVE, code, token)

    async def in_chat(self, place: str) -> list[Tournament]:
        """Return a chat's live tournaments, the newest first."""
        return await self._load_list(keys.in_chat(place), partial(_is_live_in, chat_of(place)))

    async def of_person(self, person: str) -> list[Tournament]:
        """Return a person's tournaments that are live or ended recently, the newest first."""
        listed_tournaments = await self._load_list(keys.tournaments_of_person(person), lambda _t: True)
        own_tournaments = [tournament for tournament in listed_tournaments if tournament.involves(person)]
        async with self.client.pipeline(transaction=False) as pipe:
            for tournament in own_tournaments:
                pipe.ttl(keys.log(tournament.code))
            lifetimes = await pipe.execute()  # negative if the log does not expire
        oldest = KEPT_SECONDS - SHOWN_SECONDS
        return [
            tournament
            for tournament, seconds_left in zip(own_tournaments, lifetimes, strict=True)
            if tournament.is_live or seconds_left < 0 or seconds_left > oldest
        ]

    async def public(self) -> list[Tournament]:
        """Return the live tournaments that everyone can see on the web page, the newest first."""
        return await self._load_list(keys.PUBLIC, lambda tournament: tournament.is_live and tournament.is_public_on_web)

    async def _load_list(self, key: str, belongs: Belongs) -> list[Tournament]:
        """Return the tournaments of a list, the newest first, and remove wrong entries.

        An unreadable one is left out but stays on the list, because another release might read it.
        """
        entries = await self._store.index.entries(key)
        tournaments = await asyncio.gather(*map(self.load, entries), return_exceptions=True)
        live_entries = []
        for (code, token), tournament in zip(entries.items(), tournaments, strict=True):
            match tournament:
                case Tournament() if belongs(tournament):
                    # A token begins with the time at which it was made, in seconds.
                    live_entries.append((token, tournament))
                case Tournament() if not tournament.is_live:
                    await self._store.index.remove_if_unchanged(key, code, token)
                case Tournament() | NoSuchTournament():
                    # The commit for this entry might be in progress.
                    await self._store.index.remove_if_settled(key, code, token)
                case BaseException() if not isinstance(tournament, UnreadableTournament):
                    raise tournament
        return [tournament for _token, tournament in sorted(live_entries, key=lambda pair: pair[0], reverse=True)]

    # Lists

    @asynccontextmanager
    async def list_for_person(self, person: str, code: str) -> AsyncIterator[None]:
        """Put a tournament on a person's list around a commit that names them.

        It is added again afterwards, because `/forget` might have removed it in between.
        """
        key = keys.tournaments_of_person(person)
        async with self._store.index.reserve_for_commit(key, code):
            yield
        await self._store.index.reserve(key, code)

    @asynccontextmanager
    async def reserve_lists(self, place: str, person: str, code: str) -> AsyncIterator[None]:
        """Put a tournament on its lists while it is opened. Raises TooManyTournaments or OrganisesTooMany."""
        index, chat_list, person_list = self._store.index, keys.in_chat(place), keys.organised_by(person)
        clean_chat_list = partial(self._load_list, chat_list, partial(_is_live_in, chat_of(place)))
        clean_person_list = partial(self._load_list, person_list, partial(_counts_for, person))
        async with (
            index.reserve_for_commit(
                chat_list, code, MAX_AT_ONCE, clean_chat_list, TooManyTournaments(most=MAX_AT_ONCE)
            ),
            index.reserve_for_commit(
                person_list, code, MAX_ORGANISED, clean_person_list, OrganisesTooMany(most=MAX_ORGANISED)
            ),
            self.list_for_person(person, code),
        ):
            await index.reserve(keys.LIVE, code)
            yield

    async def seconds_left(self, tournament: Tournament) -> int | None:
        """Return the playing time left of the round, 0 or less if it is overdue; None if no round is being played."""
        if tournament.phase != "playing" or not tournament.ends_at:
            return None
        return tournament.ends_at[-1] - await self.playing_time()

    async def playing_time(self) -> int:
        """Return the playing time by which rounds end, in seconds."""
        return int(await self._store.leases.playing_time(LEADER_SHARD))

    # Writing

    async def commit(self, code: str, update: str, decide: Decision) -> Tournament:
        """Write the entries that ``decide`` returns for the current state, once for each update."""
        tournament = await self.load(code)
        while True:
            entries = [] if tournament.has_seen(update) else decide(tournament)
            if not entries:
                return tournament
            outcome = await self.write(tournament, entries, update)
            if isinstance(outcome, Tournament):
                return outcome
            tournament = self._catch_up(Tournament(code), outcome)
            self._cache[code] = tournament
            if not tournament.entries:
                raise NoSuchTournament(code=code)

    async def write(self, tournament: Tournament, entries: Sequence[Entry], update: str) -> Tournament | list[bytes]:
        """Write entries and return the new tournament. If the log has changed since, return the whole log instead."""
        stored_entries = [add_stamp(encode(entry), update) for entry in entries]
        new_state = tournament.with_stored_entries(stored_entries)
        expected = [tournament.version, *(tournament.entries[-1:] or [b""])]
        result = await self._append(
            [keys.log(tournament.code)], [*expected, _expiry(new_state), *stored_entries], confirmed=True
        )
        if result[0] != 1:
            return list(result[1:])
        self._cache[tournament.code] = new_state
        return new_state

    async def rewrite(self, code: str, expected_entries: Sequence[bytes], entries: Sequence[bytes]) -> bool:
        """Replace a tournament's log. Return False if it has changed since."""
        self._cache.pop(code, None)
        new_state = Tournament.read_prefix(code, entries)
        # An unreadable log does not show whether the tournament is over.
        expiry = _expiry(new_state) if new_state.version == len(entries) else ""
        return bool(
            await self._rewrite(
                [keys.log(code)], [len(expected_entries), expected_entries[-1], expiry, *entries], confirmed=True
            )
        )

    async def call_off_unreadable(self, code: str, update: str) -> None:
        """Cut off the unreadable end of a log at the host's request, and call the tournament off if it is live."""
        while True:
            stored_entries = await self.stored_entries(code)
            readable = Tournament.read_prefix(code, stored_entries)
            if readable.version == len(stored_entries):
                return
            cancellation = [add_stamp(encode(Cancel()), update)] if readable.is_live else []
            if await self.rewrite(code, stored_entries, [*readable.entries, *cancellation]):
                return

    async def unlist(self, tournament: Tournament) -> None:
        """Remove a finished tournament from the lists of live ones."""
        await self._store.index.remove(keys.in_chat(tournament.place), tournament.code)
        if not _counts_for(tournament.opener.person, tournament):
            await self._store.index.remove(keys.organised_by(tournament.opener.person), tournament.code)
        await self._store.index.remove(keys.LIVE, tournament.code)
        await self._store.index.remove(keys.PUBLIC, tournament.code)

    async def move_chat(self, old_id: str, new_id: str) -> None:
        """Move a chat's tournaments to its new id. Idempotent."""

        def decide(tournament: Tournament) -> list[Entry]:
            return [Place(new_id)] if chat_of(tournament.place) == chat_of(old_id) else []

        for code in await self._store.index.entries(keys.in_chat(old_id)):
            # The new chat can exceed its limit here.
            await self._store.index.reserve(keys.in_chat(new_id), code)
            try:
                await self.commit(code, f"moved:{new_id}", decide)
            except UnreadableTournament:
                # The tournament stays on the old list. A release that can read it moves it when the old chat refuses
                # its card.
                continue
            except NoSuchTournament:
                pass
            await self._store.index.remove(keys.in_chat(old_id), code)


def _is_live_in(chat: str, tournament: Tournament) -> bool:
    return tournament.is_live and chat_of(tournament.place) == chat


def _counts_for(person: str, tournament: Tournament) -> bool:
    """Return whether a tournament counts for a person's limit.

    A tournament called off before its start counts too: otherwise a person could leave many logs and cards.
    """
    return tournament.opener.person == person and (tournament.is_live or _is_called_off_before_start(tournament))


def _is_called_off_before_start(tournament: Tournament) -> bool:
    return tournament.phase == "cancelled" and not tournament.teams


def _expiry(tournament: Tournament) -> int | str:
    """Return the seconds until a tournament's log expires; empty for a live one."""
    if tournament.is_live:
        return ""
    return CALLED_OFF_SECONDS if _is_called_off_before_start(tournament) else KEPT_SECONDS
