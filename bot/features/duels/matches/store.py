"""Matches in the store (`bot.features.duels.keys`). A match is one hash, which `change_match.lua` changes.

| field | contents |
|---|---|
| ``game``, ``opened``, ``accepted``, ``begun``, ``closed``, ``redacted``, ``version`` | as in `match.Match` |
| ``update`` | the update that opened it |
| ``side:<side>`` | the group's place and its organiser's id |
| ``in:<side>:<platform:id>`` | the name of a person who entered, and when |
| ``pair:<number>:<side>`` | the id and name of a player who was drawn |
| ``duel:<number>`` | the code of a pair's duel |

A code is on a person's list before the match names the person, so a crash leaves an extra code, which readers skip.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from bot.features.duels import keys
from bot.features.duels.duel import DAY, DAYS, SIDES, Player
from bot.features.duels.matches.errors import NoSuchMatch
from bot.features.duels.matches.match import Closing, Entrant, Match, Pair, Side
from bot.features.duels.store import KEPT_SECONDS, add_to_list
from bot.store.lua import read_script

UNFINISHED_SECONDS = 60  # time after which the loop removes a code whose match was never completed
GROUP_SECONDS = (2 * DAYS + 3) * DAY  # longer than any match: the time to accept, to enter and to play


class MatchStore:
    """The matches of one store. Methods can raise store errors."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._change = client.register_script(read_script(__file__, "change_match"))
        self._remove_due = client.register_script(read_script(__file__, "remove_due"))
        self._take_group = client.register_script(read_script(__file__, "take_group"))

    async def create(self, code: str, update: str, game: str, side: Side, now: int) -> bool:
        """Create a match and return True. Return False if another update has this code. Idempotent."""
        await self.list_for(side.organiser, code, now)
        await self.client.zadd(keys.MATCHES_DUE, {code: now + UNFINISHED_SECONDS}, nx=True)
        key = keys.match(code)
        fields = {"game": game, "opened": now, "side:0": json.dumps(side), "update": update}
        async with self.client.pipeline(transaction=False) as pipe:
            # The update comes last: a match without it is not complete.
            for name, value in fields.items():
                pipe.hsetnx(key, name, value)
            pipe.expire(key, KEPT_SECONDS, nx=True)
            pipe.hget(key, "update")
            *_others, stored_update = await pipe.execute()
        await self.list_for(side.organiser, code, now)
        await self.touch(code)
        return bool(stored_update.decode() == update)

    async def find(self, code: str) -> Match | None:
        stored_fields = await self.client.hgetall(keys.match(code))
        fields = {name.decode(): text.decode() for name, text in stored_fields.items()}
        return _parse(code, fields) if "update" in fields else None

    async def load(self, code: str) -> Match:
        """Return a match, or raise NoSuchMatch."""
        if match := await self.find(code):
            return match
        raise NoSuchMatch()

    # Changes

    async def change(
        self,
        code: str,
        fields: Mapping[str, object],
        *,
        excluded_fields: Sequence[str] = (),
        version: int | None = None,
    ) -> bool:
        """Set fields and return True. An empty value removes its field.

        Return False if the match has a field of ``excluded_fields``, or another version than ``version``.
        """
        pairs = [text for field in fields.items() for text in field]
        args = ["" if version is None else version, len(excluded_fields), *excluded_fields, *pairs]
        is_done = bool(await self._change(keys=[keys.match(code)], args=args))
        if is_done:
            await self.touch(code)
        return is_done

    async def touch(self, code: str) -> None:
        """Let the loop look at a match that is not over."""
        await self.client.zadd(keys.MATCHES_DUE, {code: 0}, xx=True, lt=True)

    async def accept(self, match: Match, side: Side, now: int) -> bool:
        """Add the other group. Return False if there is one already, or the match is over."""
        await self.list_for(side.organiser, match.code, match.opened_at)
        fields = {"side:1": json.dumps(side), "accepted": now}
        return await self.change(match.code, fields, excluded_fields=("closed", "side:1"))

    async def enter(self, match: Match, side: int, player: Player, now: int) -> bool:
        """Add a person. Return False if they have entered, or the match has changed in the meantime."""
        await self.list_for(player.person, match.code, match.opened_at)
        entry_fields = [f"in:{number}:{player.person}" for number in SIDES]
        fields = {entry_fields[side]: json.dumps([player.name, now])}
        excluded_fields = ("closed", "begun", *entry_fields)
        is_done = await self.change(match.code, fields, excluded_fields=excluded_fields, version=match.version)
        # A /forget might have deleted the list in between.
        await self.list_for(player.person, match.code, match.opened_at)
        return is_done

    async def leave(self, match: Match, side: int, person: str) -> bool:
        return await self.change(match.code, {f"in:{side}:{person}": ""}, excluded_fields=("closed", "begun"))

    async def begin(self, match: Match, pairs: Sequence[Pair], now: int) -> bool:
        """Store the draw, unless the match has changed since it was read."""
        fields: dict[str, object] = {"begun": now}
        for number, pair in enumerate(pairs):
            for side in SIDES:
                fields[f"pair:{number}:{side}"] = json.dumps(pair[side])
                fields[f"in:{side}:{pair[side].person}"] = ""
        return await self.change(match.code, fields, excluded_fields=("closed", "begun"), version=match.version)

    async def set_duel(self, code: str, number: int, duel: str) -> None:
        await self.change(code, {f"duel:{number}": duel}, excluded_fields=(f"duel:{number}",))

    async def close(
        self, code: str, closing: Closing, *, excluded_fields: Sequence[str] = (), version: int | None = None
    ) -> bool:
        excluded_fields = ("closed", *excluded_fields)
        return await self.change(code, {"closed": closing}, excluded_fields=excluded_fields, version=version)

    # Lists

    async def list_for(self, person: str, code: str, opened: int) -> None:
        await add_to_list(self.client, keys.matches_of(person), code, opened, KEPT_SECONDS)

    async def of_person(self, person: str) -> list[Match]:
        codes = await self.client.zrevrange(keys.matches_of(person), 0, -1)
        matches = [await self.find(code.decode()) for code in codes]
        return [match for match in matches if match]

    async def code_in(self, chat: str) -> str:
        stored_code = await self.client.get(keys.match_in(chat))
        return stored_code.decode() if stored_code else ""

    async def take_group(self, chat: str, known_code: str, code: str) -> bool:
        """Store a code as the group's match and return True. Return False if the stored code is not ``known_code``.

        An empty code means no match.
        """
        return bool(await self._take_group(keys=[keys.match_in(chat)], args=[known_code, code, GROUP_SECONDS]))

    async def move_chat(self, old_id: str, new_id: str) -> None:
        """Move a group's match to its new id. Idempotent."""
        code = await self.code_in(old_id)
        if not code:
            return
        while match := await self.find(code):
            side = match.side_at(old_id)
            if side is None:
                break
            fields = {f"side:{side}": json.dumps(match.sides[side]._replace(place=new_id))}
            # A /forget might change the same field.
            if await self.change(code, fields, version=match.version):
                break
        if match and match.redacted_at:
            # The old group might refuse the message without the name.
            await self.make_due(code)
        await self.take_group(new_id, "", code)
        await self.client.delete(keys.match_in(old_id))

    # Matches to look at

    async def due(self, now: int) -> list[str]:
        return [code.decode() for code in await self.client.zrange(keys.MATCHES_DUE, "-inf", now, byscore=True)]

    async def make_due(self, code: str) -> None:
        """Let the loop look at a match even if it is over."""
        await self.client.zadd(keys.MATCHES_DUE, {code: 0})

    async def set_due(self, code: str, when: int) -> None:
        await self.client.zadd(keys.MATCHES_DUE, {code: when}, xx=True)

    async def remove_due(self, code: str, checked: int) -> None:
        """Remove a code that was set due at ``checked``, unless the match has changed since."""
        await self._remove_due(keys=[keys.MATCHES_DUE], args=[code, checked])

    # Messages

    async def move_board(self, code: str, side: int) -> None:
        """Move the state of a group's message out of the match, where earlier versions stored it. Idempotent."""
        field = f"board:{side}"
        if stored_state := await self.client.hget(keys.match(code), field):
            state = json.loads(stored_state)
            state["edition"] = state.pop("phase")
            # After a kill in the last call, the message can have changed.
            await self.client.set(keys.board(f"{code}:{side}"), json.dumps(state), ex=KEPT_SECONDS, nx=True)
            await self.client.hdel(keys.match(code), field)

    # People

    async def redact(self, code: str, person: str, pseudonym: Player, now: int) -> None:
        """Replace a person by a pseudonym, and remove their entry. Idempotent."""
        while match := await self.find(code):
            if not match.names(person):
                break
            fields: dict[str, object] = {"redacted": now, **{f"in:{side}:{person}": "" for side in SIDES}}
            for side, group in enumerate(match.sides):
                if group.organiser == person:
                    fields[f"side:{side}"] = json.dumps(group._replace(organiser=pseudonym.person))
            for number, pair in enumerate(match.pairs):
                for side in SIDES:
                    if pair[side].person == person:
                        fields[f"pair:{number}:{side}"] = json.dumps(pseudonym)
            # The group might move at the same time.
            if await self.change(code, fields, version=match.version):
                break
        # The messages of a match that is over must lose the name too. A kill might have prevented this the last time.
        await self.make_due(code)

    async def forget_list(self, person: str) -> None:
        await self.client.delete(keys.matches_of(person))


def _parse(code: str, fields: Mapping[str, str]) -> Match:
    entrants: tuple[list[Entrant], list[Entrant]] = ([], [])
    for name, text in fields.items():
        if name.startswith("in:"):
            _in, side, person = name.split(":", 2)
            entrants[int(side)].append(Entrant(person, *json.loads(text)))
    first, second = (tuple(sorted(side, key=lambda entrant: (entrant.entered_at, entrant.person))) for side in entrants)
    numbers = sorted(int(name.split(":")[1]) for name in fields if name.startswith("pair:") and name.endswith(":0"))
    return Match(
        code=code,
        game=fields["game"],
        opened_at=int(fields["opened"]),
        sides=tuple(Side(*json.loads(fields[f"side:{side}"])) for side in SIDES if f"side:{side}" in fields),
        version=int(fields.get("version", 0)),
        accepted_at=int(fields.get("accepted", 0)),
        entrants=(first, second),
        begun_at=int(fields.get("begun", 0)),
        pairs=tuple((_player(fields[f"pair:{number}:0"]), _player(fields[f"pair:{number}:1"])) for number in numbers),
        duels={int(name.split(":")[1]): text for name, text in fields.items() if name.startswith("duel:")},
        closing=cast(Closing, fields.get("closed", "")),
        redacted_at=int(fields.get("redacted", 0)),
    )


def _player(text: str) -> Player:
    return Player(*json.loads(text))
