"""Tournaments in the store: each change is one commit to a tournament's log.

| key | type | what |
|---|---|---|
| ``{tour:<code>}:log`` | list | a tournament's log (`bot.tournaments.entries`); expires some time after its end |
| ``{tour:<code>}:card`` | string | where its card stands and what that shows, JSON (`bot.tournaments.card`) |
| ``{tour:<code>}:wish`` | string | what somebody wishes of its card, until the director has taken it up |
| ``{tour:<code>}:games`` | hash | duplicate games of rounds under way, by round and id, as the archive keeps them |
| ``{tour:<code>}:reminded`` | set | who has been reminded of what |
| ``tournaments`` | hash | codes of tournaments that are not over (`bot.store.index`) |
| ``tournaments:<chat>`` | hash | codes of a chat's tournaments, those among them that ended lately |
| ``entered:<platform:id>`` | hash | the same of a person |

An entry in a list is made before the commit that it follows from; one of which there is no tournament is taken out.
"""

from collections.abc import Callable, Sequence

from cachetools import LRUCache

from bot.find.finder import MINDED_WITH
from bot.platform import chat_of
from bot.store import Store, keys
from bot.store.batch import BatchedScript
from bot.store.log import stamped, unstamped
from bot.tournaments.entries import Entry, Place, Redacted, encode
from bot.tournaments.errors import NoSuchTournament
from bot.tournaments.tournament import Tournament

KEPT_SECONDS = 400 * 86400
"""For how long a tournament is kept that is over."""

SHOWN_SECONDS = 30 * 86400
"""For how long one that is over stands in lists."""

TOURNAMENTS_REMEMBERED = 500

REDACTED = encode(Redacted()).encode()

APPEND = """
-- KEYS  a tournament's log
-- ARGV  how many entries the writer knows, the last of them or '', seconds until the log expires or '', entries...
-- Returns {1}, or {0, the log's entries...} where it is not as the writer knows it
local expected = tonumber(ARGV[1])
if redis.call('LLEN', KEYS[1]) ~= expected
  or (expected > 0 and redis.call('LINDEX', KEYS[1], -1) ~= ARGV[2]) then
  local found = redis.call('LRANGE', KEYS[1], 0, -1)
  table.insert(found, 1, 0)
  return found
end
for place = 4, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[place]) end
if ARGV[3] ~= '' then redis.call('EXPIRE', KEYS[1], ARGV[3]) end
return {1}
"""

REWRITE = """
-- KEYS  a tournament's log
-- ARGV  how many entries the writer knows, the last of them, the log anew...
-- Returns whether it was as the writer knows it
if redis.call('LLEN', KEYS[1]) ~= tonumber(ARGV[1]) or redis.call('LINDEX', KEYS[1], -1) ~= ARGV[2] then return 0 end
local left = redis.call('TTL', KEYS[1])
redis.call('DEL', KEYS[1])
for place = 3, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[place]) end
if left > 0 then redis.call('EXPIRE', KEYS[1], left) end
return 1
"""

Decision = Callable[[Tournament], Sequence[Entry]]
"""Given a tournament as it stands, what is to be written; raises what is wrong."""


class Tournaments:
    """The tournaments of one store."""

    def __init__(self, store: Store) -> None:
        self._store, self.client = store, store.client
        self._append = BatchedScript(store.client, APPEND, store.replicas)
        self._rewrite = BatchedScript(store.client, REWRITE, store.replicas)
        self._remembered: LRUCache[str, Tournament] = LRUCache(TOURNAMENTS_REMEMBERED)
        self.on_change: Callable[[Tournament], None] = lambda _tournament: None
        """Called with a tournament that this worker has changed."""

    # Reading

    async def load(self, code: str) -> Tournament:
        """A tournament as the store has it; NoSuchTournament if there is none."""
        known = self._remembered.get(code) or Tournament(code)
        # The last entry that is known comes first again, to tell this log from another.
        since = max(0, known.version - 1)
        found = await self.client.lrange(keys.tournament(code), since, -1)
        new = found[known.version - since :]
        if known.exists and (found[:1] != [known.entries[-1]] or any(unstamped(one) == REDACTED for one in new)):
            known, new = Tournament(code), await self.client.lrange(keys.tournament(code), 0, -1)
        loaded = known.after(new)
        if not loaded.exists:
            self._remembered.pop(code, None)
            raise NoSuchTournament(code=code)
        self._remembered[code] = loaded
        return loaded

    async def live(self) -> dict[str, int]:
        """The codes of the tournaments that are not over, with the Unix seconds since when; some may be over by now."""
        found = await self._store.index.entries(keys.TOURNAMENTS)
        return {code: int(token.partition(".")[0]) for code, token in sorted(found.items())}

    async def drop(self, code: str) -> None:
        """There is no tournament of that code, unless it is just being opened."""
        token = (await self._store.index.entries(keys.TOURNAMENTS)).get(code)
        if token:
            await self._store.index.drop(keys.TOURNAMENTS, code, token)

    async def at(self, place: str) -> list[Tournament]:
        """The tournaments of a chat, the newest first: those that are not over, and those that ended lately."""
        return await self._listed(keys.tournaments_at(place), lambda one: chat_of(one.place) == chat_of(place))

    async def of(self, person: str) -> list[Tournament]:
        """The tournaments that a person has entered or organises, the newest first, as in `at`."""
        return await self._listed(keys.entered(person), lambda one: one.names(person))

    async def _listed(self, key: str, belongs: Callable[[Tournament], bool]) -> list[Tournament]:
        found = []
        for code, token in (await self._store.index.entries(key)).items():
            try:
                tournament = await self.load(code)
            except NoSuchTournament:
                await self._store.index.drop(key, code, token)
                continue
            if belongs(tournament) and await self._is_shown(tournament):
                # A token begins with the seconds at which it was made.
                found.append((token, tournament))
        return [one for _token, one in sorted(found, key=lambda pair: pair[0], reverse=True)]

    async def _is_shown(self, tournament: Tournament) -> bool:
        if tournament.is_live:
            return True
        left = await self.client.ttl(keys.tournament(tournament.code))
        return bool(left < 0 or left > KEPT_SECONDS - SHOWN_SECONDS)

    async def left(self, tournament: Tournament) -> int | None:
        """How many seconds of playing time are left until the round ends, 0 or less if it should have; None where no
        round is being played.
        """
        if tournament.phase != "playing" or not tournament.ends_at:
            return None
        return tournament.ends_at[-1] - await self.played()

    async def played(self) -> int:
        """Playing time by which rounds end, in seconds."""
        return int(await self._store.attendance.played(MINDED_WITH))

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
            tournament = Tournament(code).after(written)
            self._remembered[code] = tournament
            if not tournament.exists:
                raise NoSuchTournament(code=code)

    async def write(self, tournament: Tournament, entries: Sequence[Entry], update: str) -> Tournament | list[bytes]:
        """The tournament with these entries; or all that its log has, where that has gone on meanwhile."""
        stored = [stamped(encode(entry), update) for entry in entries]
        after = tournament.after(stored)
        last = tournament.entries[-1] if tournament.exists else b""
        result = await self._append(
            [keys.tournament(tournament.code)],
            [tournament.version, last, "" if after.is_live else KEPT_SECONDS, *stored],
            confirmed=True,
        )
        if result[0] != 1:
            return list(result[1:])
        self._remembered[tournament.code] = after
        self.on_change(after)
        return after

    async def rewrite(self, tournament: Tournament, entries: Sequence[bytes]) -> bool:
        """Put another log in a tournament's place; False if it has gone on meanwhile."""
        self._remembered.pop(tournament.code, None)
        return bool(
            await self._rewrite(
                [keys.tournament(tournament.code)],
                [tournament.version, tournament.entries[-1], *entries],
                confirmed=True,
            )
        )

    async def ended(self, tournament: Tournament) -> None:
        """Nothing more is to come of a tournament."""
        await self._store.index.remove(keys.TOURNAMENTS, tournament.code)

    async def move_chat(self, old: str, new: str) -> None:
        """A chat has another id: its tournaments are the new one's. Twice is once."""
        for code in await self._store.index.entries(keys.tournaments_at(old)):
            await self._store.index.reserve(keys.tournaments_at(new), code)
            try:
                await self.commit(
                    code, f"moved:{new}", lambda one: [Place(new)] if chat_of(one.place) == chat_of(old) else []
                )
            except NoSuchTournament:
                continue
        await self.client.delete(keys.tournaments_at(old))
