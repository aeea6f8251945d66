"""Duels in the store (`bot.features.duels.keys`). A duel is one hash, whose fields are set once.

A code is on all lists before its duel exists, so a crash leaves an extra code, which readers skip.
"""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import asdict
from secrets import token_bytes
from typing import Any

from bot.features.duels import keys
from bot.features.duels.duel import DAY, DAYS, Closing, Duel, Played, Player
from bot.features.duels.errors import NoSuchDuel
from bot.finished.archive import parse_or_none
from bot.finished.game import FinishedGame
from bot.platform import chat_of
from bot.solo_deals.results import SoloResult
from bot.store.lua import read_script
from bot.tables.chairs import Invited
from engine.shuffle import SECRET_BYTES

KEPT_SECONDS = 400 * DAY
CHAT_KEPT_SECONDS = 30 * DAY
NUMBERED = re.compile(r"(?P<field>played|begun):(?P<side>[01]):(?P<deal>[0-9])")


class DuelStore:
    """The duels of one store. Methods can raise store errors."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._set_unless_closed = client.register_script(read_script(__file__, "set_unless_closed"))

    async def create(self, code: str, update: str, game: str, player: Player, now: int, **optional: Any) -> bool:
        """Create a duel and return True. Return False if another update has this code. Idempotent.

        ``optional`` are the place and the invited person.
        """
        place, invited = optional.get("place", ""), optional.get("invited")
        await self.client.zadd(keys.DUE, {code: now + DAYS * DAY}, nx=True)
        await self.list_for(player.person, code, now)
        if invited and invited.person and invited.is_notified:
            await self.list_for(invited.person, code, now)
        if place:
            await self.client.zadd(keys.in_chat(chat_of(place)), {code: now}, nx=True)
            await self.client.expire(keys.in_chat(chat_of(place)), CHAT_KEPT_SECONDS)
        key = keys.duel(code)
        # The update comes last: a duel without it is not complete, and the same update completes it.
        fields = {
            "game": game,
            "root": token_bytes(SECRET_BYTES).hex(),
            "opened": now,
            "player:0": json.dumps(player),
            "place": place,
            "invited": json.dumps(invited) if invited else "",
            "update": update,
        }
        async with self.client.pipeline(transaction=False) as pipe:
            for name, value in fields.items():
                pipe.hsetnx(key, name, value)
            pipe.expire(key, KEPT_SECONDS, nx=True)
            pipe.hget(key, "update")
            *_others, found = await pipe.execute()
        return bool(found.decode() == update)

    async def find(self, code: str) -> Duel | None:
        fields = {name.decode(): text.decode() for name, text in (await self.client.hgetall(keys.duel(code))).items()}
        if "update" not in fields:
            return None
        players = [Player(*json.loads(fields[name])) for name in ("player:0", "player:1") if name in fields]
        numbered: dict[str, dict[tuple[int, int], Any]] = {"played": {}, "begun": {}}
        for name, text in fields.items():
            if found := NUMBERED.fullmatch(name):
                numbered[found["field"]][int(found["side"]), int(found["deal"])] = json.loads(text)
        return Duel(
            code,
            fields["game"],
            bytes.fromhex(fields["root"]),
            int(fields["opened"]),
            tuple(players),
            fields["place"],
            Invited(*json.loads(fields["invited"])) if fields["invited"] else None,
            int(fields.get("accepted", 0)),
            {place: Played(SoloResult.parse(result), game) for place, (result, game) in numbered["played"].items()},
            numbered["begun"],
            _closing(fields.get("closed", "")),
            fields.get("rematch", ""),
        )

    async def load(self, code: str) -> Duel:
        """Return a duel, or raise NoSuchDuel."""
        if found := await self.find(code):
            return found
        raise NoSuchDuel()

    async def of_person(self, person: str) -> list[Duel]:
        """Return a person's duels and invitations, the newest first."""
        codes = await self.client.zrange(keys.of_person(person), 0, -1, desc=True)
        found = [await self.find(code.decode()) for code in codes]
        return [duel for duel in found if duel]

    async def list_for(self, person: str, code: str, opened: int) -> None:
        await self.client.zadd(keys.of_person(person), {code: opened}, nx=True)
        await self.client.expire(keys.of_person(person), KEPT_SECONDS)

    # Changes of a duel that is not closed

    async def accept(self, duel: Duel, player: Player, now: int) -> bool:
        """Add the opponent. Return False if there is one already, or the duel is over."""
        await self.list_for(player.person, duel.code, duel.opened)
        if await self._set(duel.code, "player:1", json.dumps(player), "accepted", now) != 1:
            return False
        await self.client.zadd(keys.DUE, {duel.code: now + DAYS * DAY})
        return True

    async def note_begun(self, code: str, side: int, deal: int, now: int) -> None:
        await self._set(code, f"begun:{side}:{deal}", now)

    async def store_result(self, code: str, side: int, deal: int, played: Played) -> bool:
        """Store a result unless there is one. Return False if the duel is over."""
        text = json.dumps([asdict(played.result), played.game])
        return await self._set(code, f"played:{side}:{deal}", text) >= 0

    async def close(self, code: str, why: Closing) -> None:
        """Close a duel unless it is closed. The loop then handles the rest."""
        await self._set(code, "closed", why)
        await self.client.zadd(keys.DUE, {code: 0})

    async def _set(self, code: str, *fields: object) -> int:
        return int(await self._set_unless_closed(keys=[keys.duel(code)], args=fields))

    async def link_rematch(self, code: str, rematch: str) -> str:
        """Store the code of the next duel unless there is one. Return the stored one."""
        await self.client.hsetnx(keys.duel(code), "rematch", rematch)
        return str((await self.client.hget(keys.duel(code), "rematch")).decode())

    # Duels to close

    async def due(self, now: int) -> list[str]:
        return [code.decode() for code in await self.client.zrange(keys.DUE, "-inf", now, byscore=True)]

    async def set_due(self, code: str, when: int) -> None:
        await self.client.zadd(keys.DUE, {code: when})

    async def remove_due(self, code: str) -> None:
        await self.client.zrem(keys.DUE, code)

    # Games that one player still has to play

    async def add_pending(self, code: str, side: int, deal: int, game: FinishedGame) -> None:
        await self.client.hset(keys.games(code), f"{side} {deal} {game.id}", game.to_bytes())
        await self.client.expire(keys.games(code), KEPT_SECONDS)

    async def pending(self, code: str) -> AsyncIterator[tuple[str, int, FinishedGame]]:
        """Yield each game with its field and deal. Games that this version cannot read are skipped, and stay."""
        for field, stored in (await self.client.hgetall(keys.games(code))).items():
            _side, deal, id_ = field.decode().split(" ")
            if game := parse_or_none(id_, stored):
                yield field.decode(), int(deal), game

    async def remove_pending(self, code: str, field: str) -> None:
        await self.client.hdel(keys.games(code), field)

    # Chats and people

    async def move_chat(self, old: str, new: str) -> None:
        """Move a chat's duels to its new id. Idempotent."""
        for code, opened in await self.client.zrange(keys.in_chat(old), 0, -1, withscores=True):
            await self.client.zadd(keys.in_chat(new), {code: opened})
            await self.client.expire(keys.in_chat(new), CHAT_KEPT_SECONDS)
            if await self.client.hexists(keys.duel(code.decode()), "update"):
                await self.client.hset(keys.duel(code.decode()), "place", new)
        await self.client.delete(keys.in_chat(old))

    async def forget_list(self, person: str) -> None:
        await self.client.delete(keys.of_person(person))

    async def redact(self, duel: Duel, person: str, pseudonym: Player) -> None:
        """Replace a person by a pseudonym in a duel."""
        if (side := duel.side_of(person)) is not None:
            await self.client.hset(keys.duel(duel.code), f"player:{side}", json.dumps(pseudonym))
        if duel.invited and duel.invited.person == person:
            invited = Invited(pseudonym.person, "", pseudonym.name)
            await self.client.hset(keys.duel(duel.code), "invited", json.dumps(invited))

    async def redact_games(self, code: str, person: str, pseudonym: str) -> None:
        async for field, _deal, game in self.pending(code):
            if person in game.people:
                await self.client.hset(keys.games(code), field, game.redact(person, pseudonym).to_bytes())


def _closing(text: str) -> Closing:
    names: dict[str, Closing] = {
        "done": "done",
        "time": "time",
        "left": "left",
        "declined": "declined",
        "cancelled": "cancelled",
    }
    return names.get(text, "")
