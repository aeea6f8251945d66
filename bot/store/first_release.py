"""Migration of the first release's tables to layout 2.

Logs of the first release name only the chosen options. Today's name every option and the release of the rules. Lists of
tables were sets.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from bot.store import keys
from bot.store.entries import ChangeGame, Deal, Entry, FirstDeal, Open, Rule, decode, encode
from bot.store.forms import UnreadableEntry
from bot.store.log import make_head, strip_stamp, unfold
from bot.store.lua import read_script
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

# The first release's default rules. They are history and never change.
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

WITHOUT_DECLARATIONS = 31  # the first release's default target at a `pizzichino` without declarations

SWAP = read_script(__file__, "swap")

TO_HASH = read_script(__file__, "to_hash")


async def name_rules(client: Any) -> None:
    """Write all rules of each game in progress into the entry of its first deal."""
    swap = client.register_script(SWAP)
    async for key in client.scan_iter("{s*}:table:*"):
        done = False
        while not done:
            stored = await client.lrange(key, 0, -1)
            named = _with_named_rules(stored)
            done = named is None or bool(await swap(keys=[key], args=[len(stored), stored[0], *named]))


def _with_named_rules(stored: list[bytes]) -> list[bytes] | None:
    """Return the stored list of a log with the rules in its first deal; None if nothing must change."""
    try:
        entries = unfold(stored).entries
    except ValueError:
        # It was unreadable before: the next load sets it aside.
        return None
    for place, entry in _readable_entries(entries):
        match entry:
            case FirstDeal():
                return None
            case Deal(secret):
                named = FirstDeal(
                    secret, RELEASE, _rules_from(entry for _, entry in _readable_entries(entries[:place]))
                )
                stamp = entries[place].removeprefix(strip_stamp(entries[place]))
                entries[place] = encode(named).encode() + stamp
                folded = len(entries) - (len(stored) - 1)
                return [make_head(entries[:folded]), *entries[folded:]]
    return None


def _readable_entries(entries: Iterable[bytes]) -> Iterator[tuple[int, Entry]]:
    """Yield the entries that can be parsed, with their positions."""
    for place, entry in enumerate(entries):
        with suppress(UnicodeDecodeError, UnreadableEntry):
            yield place, decode(strip_stamp(entry).decode())


def _rules_from(before: Iterable[Entry]) -> dict[str, Value]:
    """Return every option of a game from the entries before it began."""
    rules: dict[str, Value] = {}
    chosen: set[str] = set()
    for entry in before:
        match entry:
            case Open(game) | ChangeGame(game):
                rules, chosen = dict(DEFAULTS[game]), set()
            case Rule(name, value):
                rules[name] = value
                chosen.add(name)
    if rules.get("declare") == "none" and rules.get("packets") and "target" not in chosen:
        rules["target"] = WITHOUT_DECLARATIONS
    return rules


async def convert_table_lists(client: Any) -> None:
    """Turn lists of tables into hashes of codes and tokens (`bot.store.index`)."""
    to_hash = client.register_script(TO_HASH)
    for pattern in (keys.seated("*"), keys.hosted("*")):
        async for key in client.scan_iter(pattern):
            await to_hash(keys=[key], args=["0.layout1"])
