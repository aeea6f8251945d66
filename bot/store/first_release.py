"""Steps of the migration from layout 1, of the first release, to layout 2.

Logs of the first release name only the chosen options. Logs of layout 2 name every option and the release of the rules.
In layout 1, lists of tables were sets, and lists of games and tables by person did not exist.
"""

import json
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from bot.store import keys
from bot.store.entries import ChangeGame, Deal, Entry, FirstDeal, Open, Rule, decode, encode
from bot.store.entry_text import UnreadableEntry
from bot.store.log import make_head, strip_stamp, unfold
from bot.store.lua import read_script
from bot.store.people_in_logs import people_in
from engine.options import Value

RELEASE = 1  # the first release's rules, as `engine.options.RELEASE` counts

PACKETS: dict[str, Value] = {
    "target": 51,
    "layout": "packets",
    "score_unit": 1,
    "declare": "acquired",
    "reuse": False,
    "lead": "eldest",
    "packets": "blind",
}

# The first release's default rules. They never change.
DEFAULTS: dict[str, dict[str, Value]] = {
    "pizzichino": PACKETS,
    "spizzichino": PACKETS,
    "metamazzo": {
        "target": 51,
        "layout": "stock",
        "score_unit": 1,
        "declare": "acquired",
        "reuse": True,
        "lead": "eldest",
    },
    "testa": {
        "target": 21,
        "layout": "stock",
        "score_unit": 1,
        "declare": "three_tricks",
        "reuse": False,
        "lead": "four_of_coins",
    },
    "tressette": {
        "target": 21,
        "layout": "full",
        "score_unit": 3,
        "declare": "after_first_trick",
        "reuse": False,
        "lead": "eldest",
        "signals": True,
        "claim": True,
    },
    "tavolo": {
        "target": 21,
        "layout": "full",
        "score_unit": 1,
        "declare": "any_turn",
        "reuse": False,
        "lead": "four_of_coins",
        "signals": False,
        "claim": False,
    },
    "spades": {"target": 500, "nil_bags": True},
}

WITHOUT_DECLARATIONS = 31  # the first release's default target of `pizzichino` without declarations

SWAP = read_script(__file__, "swap")
TO_HASH = read_script(__file__, "to_hash")
GAMES_AT_ONCE = 1000


async def name_rules(client: Any) -> None:
    """Write all rules of each game in progress into the entry of its first deal."""
    swap = client.register_script(SWAP)
    async for key in client.scan_iter("{s*}:table:*"):
        is_done = False
        while not is_done:
            stored_log = await client.lrange(key, 0, -1)
            new_log = _with_named_rules(stored_log)
            is_done = new_log is None or bool(await swap(keys=[key], args=[len(stored_log), stored_log[0], *new_log]))


def _with_named_rules(stored_log: list[bytes]) -> list[bytes] | None:
    """Return the stored list of a log with the rules in its first deal; None if it does not change."""
    try:
        entries = unfold(stored_log).entries
    except ValueError:
        # The log was unreadable before. The next load sets the table aside.
        return None
    for index, entry in _readable_entries(entries):
        match entry:
            case FirstDeal():
                return None
            case Deal(secret):
                rules = _rules_from(entry for _, entry in _readable_entries(entries[:index]))
                first_deal = FirstDeal(secret, RELEASE, rules)
                stamp = entries[index].removeprefix(strip_stamp(entries[index]))
                entries[index] = encode(first_deal).encode() + stamp
                folded_count = len(entries) - (len(stored_log) - 1)
                return [make_head(entries[:folded_count]), *entries[folded_count:]]
    return None


def _readable_entries(entries: Iterable[bytes]) -> Iterator[tuple[int, Entry]]:
    for index, entry in enumerate(entries):
        with suppress(UnicodeDecodeError, UnreadableEntry):
            yield index, decode(strip_stamp(entry).decode())


def _rules_from(entries: Iterable[Entry]) -> dict[str, Value]:
    """Return every option of a game from the entries before it began."""
    rules: dict[str, Value] = {}
    chosen_names: set[str] = set()
    for entry in entries:
        match entry:
            case Open(game) | ChangeGame(game):
                rules, chosen_names = dict(DEFAULTS[game]), set()
            case Rule(name, value):
                rules[name] = value
                chosen_names.add(name)
    if rules.get("declare") == "none" and rules.get("packets") and "target" not in chosen_names:
        rules["target"] = WITHOUT_DECLARATIONS
    return rules


async def convert_table_lists(client: Any) -> None:
    """Turn lists of tables into hashes of codes and tokens (`bot.store.index`)."""
    to_hash = client.register_script(TO_HASH)
    for pattern in (keys.tables_of_person("*"), keys.tables_of_chat("*")):
        async for key in client.scan_iter(pattern):
            await to_hash(keys=[key], args=["0.layout1"])


async def index_people(client: Any) -> None:
    """Index finished games, rating scopes and live tables by person. Delete old handles."""
    # The modules that write these keys are not used. They can change, and a migration must not.
    start = 0
    while games := await client.zrange(keys.GAMES_ORDER, start, start + GAMES_AT_ONCE - 1, withscores=True):
        start += len(games)
        async with client.pipeline(transaction=False) as pipe:
            for game, _number in games:
                pipe.get(keys.game(game.decode()))
            texts = await pipe.execute()
        async with client.pipeline(transaction=False) as pipe:
            for (_game, number), text in zip(games, texts, strict=True):
                _index_game(pipe, int(number), text)
            await pipe.execute()
    async for key in client.scan_iter(match="{s*}:table:*", count=GAMES_AT_ONCE):
        # Unreadable logs are not indexed.
        with suppress(ValueError, IndexError, zlib.error):
            for person in people_in(unfold(await client.lrange(key, 0, -1)).entries):
                await client.sadd(keys.tables_naming(person), key.decode().rpartition(":")[2])
    async for key in client.scan_iter(match="handle:*", count=GAMES_AT_ONCE):
        person = (await client.get(key) or b"").decode()
        platform = person.partition(":")[0]
        stored_handle = await client.hget(keys.person(person), "handle") or b""
        if keys.handle(platform, stored_handle.decode()) != key.decode():
            await client.delete(key)


def _index_game(pipe: Any, number: int, text: bytes | None) -> None:
    try:
        game = json.loads(zlib.decompress(text or b""))
        month = time.strftime("%Y-%m", time.gmtime(game["ended"]))
        scopes = [f"{chat}|{month}|{game['record']['game']}" for chat in game["chats"] or ["*"]]
        people = [person for person in game["people"] if person and not person.startswith("robot:")]
        is_rated = bool(game["record"]["winner"]) and len(people) == len(game["people"])
    except (zlib.error, ValueError, KeyError, TypeError):
        # An unreadable game is not indexed.
        return
    for person in people:
        pipe.sadd(keys.games_of(person), number)
        if is_rated:
            pipe.sadd(keys.scopes(person), *scopes)
