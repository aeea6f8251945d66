"""Migration step that indexes the people named in games and tables (`games_of:`, `named:` and others)."""

import json
import time
import zlib
from collections.abc import Sequence
from typing import Any

from bot.store import keys
from bot.store.log import unfold
from bot.store.naming import people_in

GAMES_AT_ONCE = 1000


async def index_people(client: Any) -> None:
    """Index finished games, rating scopes and live tables by person. Delete old handles."""
    # This does not use the modules that write these keys. They can change, and a migration must not.
    begin = 0
    while found := await client.zrange(keys.GAMES_ORDER, begin, begin + GAMES_AT_ONCE - 1, withscores=True):
        begin += len(found)
        async with client.pipeline(transaction=False) as pipe:
            for game, _number in found:
                pipe.get(keys.game(game.decode()))
            stored = await pipe.execute()
        async with client.pipeline(transaction=False) as pipe:
            for (_game, number), text in zip(found, stored, strict=True):
                _index_game(pipe, int(number), text)
            await pipe.execute()
    async for key in client.scan_iter(match="{s*}:table:*", count=GAMES_AT_ONCE):
        for person in _people_in_log(await client.lrange(key, 0, -1)):
            await client.sadd(keys.named(person), key.decode().rpartition(":")[2])
    async for key in client.scan_iter(match="handle:*", count=GAMES_AT_ONCE):
        person = (await client.get(key) or b"").decode()
        platform = person.partition(":")[0]
        known = await client.hget(keys.person(person), "handle") or b""
        if keys.handle(platform, known.decode()) != key.decode():
            await client.delete(key)


def _index_game(pipe: Any, number: int, text: bytes | None) -> None:
    try:
        game = json.loads(zlib.decompress(text or b""))
        month = time.strftime("%Y-%m", time.gmtime(game["ended"]))
        within = [f"{chat}|{month}|{game['record']['game']}" for chat in game["chats"] or ["*"]]
        people = [person for person in game["people"] if person and not person.startswith("robot:")]
        rated = bool(game["record"]["winner"]) and len(people) == len(game["people"])
    except (zlib.error, ValueError, KeyError, TypeError):
        # An unreadable game is not indexed.
        return
    for person in people:
        pipe.sadd(keys.games_of(person), number)
        if rated:
            pipe.sadd(keys.scopes(person), *within)


def _people_in_log(stored: Sequence[bytes]) -> set[str]:
    try:
        return people_in(unfold(stored).entries)
    except (ValueError, IndexError, zlib.error):
        return set()
