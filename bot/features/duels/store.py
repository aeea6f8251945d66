"""Duels in the store (`bot.features.duels.keys`). A duel is one hash. Its results and its closing are set once.

A code is on all lists before its duel exists, so a crash can leave an extra code, which readers skip.
"""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import asdict
from secrets import token_bytes
from typing import Any, cast

from bot.features.duels import keys
from bot.features.duels.duel import DAY, DAYS, Closing, Duel, Played, Player
from bot.features.duels.errors import NoSuchDuel
from bot.finished.archive import parse_or_none
from bot.finished.game import FinishedGame
from bot.platform import chat_of, is_private, platform_of
from bot.solo_deals.results import SoloResult
from bot.store.lua import read_script
from bot.store.people_in_logs import person_by_handle
from bot.tables.chairs import Invited
from engine.shuffle import SECRET_BYTES

KEPT_SECONDS = 400 * DAY
UNACCEPTED_KEPT_SECONDS = DAY  # lifetime of a duel that closed before anyone accepted it
CHAT_KEPT_SECONDS = 30 * DAY
CHECK_SECONDS = 60  # delay until the loop checks a duel, in case a crash interrupts the closing
READ_AT_ONCE = 100
NUMBERED = re.compile(r"(?P<field>played|begun):(?P<side>[01]):(?P<deal>[0-9])")


class DuelStore:
    """The duels of one store. Methods can raise store errors."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._set_unless_closed = client.register_script(read_script(__file__, "set_unless_closed"))
        self._link_rematch = client.register_script(read_script(__file__, "link_rematch"))

    async def create(self, code: str, update: str, game: str, player: Player, now: int, **optional: Any) -> bool:
        """Create a duel and return True. Return False if another update has this code. Idempotent.

        ``optional`` are the place and the invited person, or the opponent and the match of two groups.
        """
        place, invited, opponent = optional.get("place", ""), optional.get("invited"), optional.get("opponent")
        await self.client.zadd(keys.DUE, {code: now + DAYS * DAY}, nx=True)
        people = [player.person, *([_name_in_lists(invited, player.person)] if invited else [])]
        if opponent:
            people.append(opponent.person)
        for person in people:
            await self.list_for(person, code, now)
        if place:
            await add_to_list(self.client, keys.in_chat(chat_of(place)), code, now, CHAT_KEPT_SECONDS)
        key = keys.duel(code)
        # The update comes last: a duel without it is not complete, and the same update completes it.
        fields = {
            "game": game,
            "root": token_bytes(SECRET_BYTES).hex(),
            "opened": now,
            "player:0": json.dumps(player),
            "place": place,
            "invited": json.dumps(invited) if invited else "",
            **({"player:1": json.dumps(opponent), "accepted": now, "match": optional["match"]} if opponent else {}),
            "update": update,
        }
        async with self.client.pipeline(transaction=False) as pipe:
            for name, value in fields.items():
                pipe.hsetnx(key, name, value)
            pipe.expire(key, KEPT_SECONDS, nx=True)
            pipe.hget(key, "update")
            *_others, stored_update = await pipe.execute()
        for person in people:
            # A /forget might have deleted the list in between.
            await self.list_for(person, code, now)
        return bool(stored_update.decode() == update)

    async def find(self, code: str) -> Duel | None:
        return self._parse(code, await self.client.hgetall(keys.duel(code)))

    def _parse(self, code: str, stored_fields: dict[bytes, bytes]) -> Duel | None:
        fields = {name.decode(): text.decode() for name, text in stored_fields.items()}
        if "update" not in fields:
            return None
        players = [Player(*json.loads(fields[name])) for name in ("player:0", "player:1") if name in fields]
        fields_by_deal: dict[str, dict[tuple[int, int], Any]] = {"played": {}, "begun": {}}
        for name, text in fields.items():
            if parts := NUMBERED.fullmatch(name):
                fields_by_deal[parts["field"]][int(parts["side"]), int(parts["deal"])] = json.loads(text)
        played = fields_by_deal["played"].items()
        played_deals = {key: Played(SoloResult.parse(result), game) for key, (result, game) in played}
        return Duel(
            code=code,
            game=fields["game"],
            root=bytes.fromhex(fields["root"]),
            opened_at=int(fields["opened"]),
            players=tuple(players),
            place=fields["place"],
            invited=Invited(*json.loads(fields["invited"])) if fields["invited"] else None,
            accepted_at=int(fields.get("accepted", 0)),
            played_deals=played_deals,
            begun_at=fields_by_deal["begun"],
            closing=cast(Closing, fields.get("closed", "")),
            is_ended="ended" in fields,
            rematch=fields.get("rematch", ""),
            match=fields.get("match", ""),
        )

    async def load(self, code: str) -> Duel:
        """Return a duel, or raise NoSuchDuel."""
        if duel := await self.find(code):
            return duel
        raise NoSuchDuel()

    async def of_person(self, person: str, *, first_time: int = 0, limit: int = -1) -> list[Duel]:
        """Return a person's duels and invitations opened at ``first_time`` or later, the newest first.

        Return at most ``limit``, or all if it is -1. Remove the codes of duels that are gone.
        """
        key = keys.of_person(person)
        codes = [
            code.decode() for code in await self.client.zrevrangebyscore(key, "+inf", first_time, start=0, num=limit)
        ]
        person_duels: list[Duel] = []
        for start in range(0, len(codes), READ_AT_ONCE):
            batch = codes[start : start + READ_AT_ONCE]
            async with self.client.pipeline(transaction=False) as pipe:
                for code in batch:
                    pipe.hgetall(keys.duel(code))
                stored_duels = await pipe.execute()
            duels = [self._parse(code, fields) for code, fields in zip(batch, stored_duels, strict=True)]
            person_duels += [duel for duel in duels if duel]
            for code, duel in zip(batch, duels, strict=True):
                # A duel that is just being opened has its end in `DUE` already, so its code stays.
                if duel is None and await self.client.zscore(keys.DUE, code) is None:
                    await self.client.zrem(key, code)
        return person_duels

    async def list_for(self, person: str, code: str, opened: int) -> None:
        await add_to_list(self.client, keys.of_person(person), code, opened, KEPT_SECONDS)

    async def is_listed(self, code: str, person: str, place: str) -> bool:
        """Return whether a person's or a group's list has a code."""
        lists = [keys.of_person(person), *([] if is_private(place) else [keys.in_chat(chat_of(place))])]
        return any([await self.client.zscore(key, code) is not None for key in lists])

    # Changes of a duel

    async def accept(self, duel: Duel, player: Player, now: int) -> bool:
        """Add the opponent. Return False if there is one already, or the duel is over."""
        await self.list_for(player.person, duel.code, duel.opened_at)
        # Delete the answered invitation: its handle could later belong to another person.
        fields = ("player:1", json.dumps(player), "accepted", now, "invited", "")
        if await self._set(duel.code, *fields) != 1:
            return False
        # A /forget might have deleted the list in between.
        await self.list_for(player.person, duel.code, duel.opened_at)
        if duel.invited and not duel.invited.person:
            invited = _name_in_lists(duel.invited, duel.players[0].person)
            await self.client.zrem(keys.of_person(invited), duel.code)
        await self.client.zadd(keys.DUE, {duel.code: now + DAYS * DAY})
        return True

    async def note_begun(self, code: str, side: int, deal: int, now: int) -> None:
        await self._set(code, f"begun:{side}:{deal}", now)

    async def store_result(self, code: str, side: int, deal: int, played: Played) -> bool:
        """Store a result unless there is one. Return False if the duel is over."""
        text = json.dumps([asdict(played.result), played.game])
        return await self._set(code, f"played:{side}:{deal}", text) >= 0

    async def close(self, code: str, closing: Closing, now: int) -> None:
        """Close a duel, and let the loop handle the closing. Idempotent.

        An accepted duel stays open if ``closing`` is "declined" or "cancelled".
        """
        if await self.client.hexists(keys.duel(code), "ended"):
            return
        # After a kill in between, the loop checks the duel.
        await self.client.zadd(keys.DUE, {code: now + CHECK_SECONDS}, lt=True)
        await self._set(code, "closed", closing)
        await self.client.zadd(keys.DUE, {code: 0})

    async def touch_match(self, duel: Duel) -> None:
        """Let the loop look at the match to which a duel belongs."""
        if duel.match:
            await self.client.zadd(keys.MATCHES_DUE, {duel.match: 0}, xx=True, lt=True)

    async def note_ended(self, duel: Duel) -> None:
        """Note that the loop has handled the closing."""
        await self.client.hset(keys.duel(duel.code), "ended", 1)
        if not duel.is_accepted:
            await self.client.expire(keys.duel(duel.code), UNACCEPTED_KEPT_SECONDS, lt=True)

    async def _set(self, code: str, *fields: object) -> int:
        return int(await self._set_unless_closed(keys=[keys.duel(code)], args=fields))

    async def link_rematch(self, duel: Duel, rematch: str) -> str:
        """Store the code of the next duel, unless another was stored since ``duel`` was read.

        Return the code that is then stored.
        """
        return str((await self._link_rematch(keys=[keys.duel(duel.code)], args=[duel.rematch, rematch])).decode())

    # Duels to close

    async def due(self, now: int) -> list[str]:
        return [code.decode() for code in await self.client.zrange(keys.DUE, "-inf", now, byscore=True)]

    async def set_due(self, code: str, due_at: int) -> None:
        await self.client.zadd(keys.DUE, {code: due_at})

    async def remove_due(self, code: str) -> None:
        await self.client.zrem(keys.DUE, code)

    # Games that one player still has to play

    async def add_pending(self, code: str, side: int, deal: int, game: FinishedGame) -> None:
        await self.client.hset(keys.games(code), f"{side} {deal} {game.id}", game.to_bytes())
        await self.client.expire(keys.games(code), KEPT_SECONDS)

    async def pending(self, code: str) -> AsyncIterator[tuple[str, int, FinishedGame]]:
        """Yield each game with its field and deal. Games that this version cannot read are skipped, but kept."""
        for field, data in (await self.client.hgetall(keys.games(code))).items():
            _side, deal, id_ = field.decode().split(" ")
            if game := parse_or_none(id_, data):
                yield field.decode(), int(deal), game

    async def remove_pending(self, code: str, field: str) -> None:
        await self.client.hdel(keys.games(code), field)

    # Chats and people

    async def move_chat(self, old_id: str, new_id: str) -> None:
        """Move a chat's duels to its new id. Idempotent."""
        for code, opened in await self.client.zrange(keys.in_chat(old_id), 0, -1, withscores=True):
            await self.client.zadd(keys.in_chat(new_id), {code: opened})
            await self.client.expire(keys.in_chat(new_id), CHAT_KEPT_SECONDS)
            if await self.client.hexists(keys.duel(code.decode()), "update"):
                await self.client.hset(keys.duel(code.decode()), "place", new_id)
        await self.client.delete(keys.in_chat(old_id))

    async def forget_from_list(self, person: str, code: str) -> None:
        await self.client.zrem(keys.of_person(person), code)

    async def forget_list(self, person: str) -> None:
        await self.client.delete(keys.of_person(person))

    async def redact(self, duel: Duel, person: str, handle: str, pseudonym: Player) -> None:
        """Replace a person by a pseudonym in a duel."""
        if (side := duel.side_of(person)) is not None:
            await self.client.hset(keys.duel(duel.code), f"player:{side}", json.dumps(pseudonym))
        if duel.is_invited(person, handle):
            invited = Invited(pseudonym.person, "", pseudonym.name, is_notified=False)
            await self.client.hset(keys.duel(duel.code), "invited", json.dumps(invited))

    async def redact_games(self, code: str, person: str, pseudonym: str) -> None:
        async for field, _deal, game in self.pending(code):
            if person in game.people:
                await self.client.hset(keys.games(code), field, game.redact(person, pseudonym).to_bytes())


def _name_in_lists(invited: Invited, challenger: str) -> str:
    return invited.person or person_by_handle(platform_of(challenger), invited.handle)


async def add_to_list(client: Any, key: str, code: str, opened: int, kept_seconds: int) -> None:
    """Add a code to a list by its opening, and remove the codes that are older than ``kept_seconds``."""
    await client.zadd(key, {code: opened}, nx=True)
    await client.zremrangebyscore(key, "-inf", opened - kept_seconds)
    await client.expire(key, kept_seconds)
