"""Tables as the first release left them, on their way to layout 2.

Its logs name only the options that were chosen; those of today name every option, and the release of the rules. Its
lists of tables were sets.
"""

from typing import Any

from bot.store import keys
from bot.store.log import head, unfold, unstamped

DEFAULTS = {
    "pizzichino": "target=51 layout=packets score_unit=1 declare=acquired reuse=false lead=eldest packets=blind",
    "spizzichino": "target=51 layout=packets score_unit=1 declare=acquired reuse=false lead=eldest packets=blind",
    "metamazzo": "target=51 layout=stock score_unit=1 declare=acquired reuse=true lead=eldest",
    "testa": "target=21 layout=stock score_unit=1 declare=three_tricks reuse=false lead=four_of_coins",
    "tressette": "target=21 layout=full score_unit=3 declare=after_first_trick reuse=false lead=eldest "
    "signals=true claim=true",
    "tavolo": "target=21 layout=full score_unit=1 declare=any_turn reuse=false lead=four_of_coins "
    "signals=false claim=false",
    "spades": "target=500 nil_bags=true",
}
"""What the first release's rules were where nothing was chosen. They are history, and never change."""

WITHOUT_DECLARATIONS = "31"
"""The first release's points to win at a `pizzichino` without declarations, where none were chosen."""

SWAP = """
-- Put another log in the place of one that is still as it was read.
-- KEYS  table
-- ARGV  how long the stored list was, its head, then the new list
if redis.call('LLEN', KEYS[1]) ~= tonumber(ARGV[1]) or redis.call('LINDEX', KEYS[1], 0) ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[1])
for place = 3, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[place]) end
return 1
"""

TO_HASH = """
-- Make a set of codes a hash of codes and tokens. KEYS  the set; ARGV  the token
if redis.call('TYPE', KEYS[1]).ok ~= 'set' then return 0 end
local codes = redis.call('SMEMBERS', KEYS[1])
redis.call('DEL', KEYS[1])
for _, code in ipairs(codes) do redis.call('HSET', KEYS[1], code, ARGV[1]) end
return 1
"""


async def name_rules(client: Any) -> None:
    """Each game under way says by which rules it is played, all of them, in the entry of its first deal."""
    swap = client.register_script(SWAP)
    async for key in client.scan_iter("{s*}:table:*"):
        done = False
        while not done:
            stored = await client.lrange(key, 0, -1)
            named = _named(stored)
            done = named is None or bool(await swap(keys=[key], args=[len(stored), stored[0], *named]))


def _named(stored: list[bytes]) -> list[bytes] | None:
    """The stored list of a log whose first deal names its rules; None if it does, or there is none to name them."""
    try:
        entries = unfold(stored).entries
    except ValueError:
        # It could not be read before either: it is set aside when somebody looks at it.
        return None
    first = next((place for place, entry in enumerate(entries) if entry.startswith(b"deal ")), None)
    if first is None or unstamped(entries[first]).count(b" ") > 1:
        return None
    deal, tab, stamp = entries[first].partition(b"\t")
    entries[first] = (
        deal + f" 1 {_rules([unstamped(entry).decode() for entry in entries[:first]])}".encode() + tab + stamp
    )
    folded = len(entries) - (len(stored) - 1)
    return [head(entries[:folded]), *entries[folded:]]


def _rules(before: list[str]) -> str:
    """Every option of a game, by what was chosen before it began."""
    rules: dict[str, str] = {}
    chosen: set[str] = set()
    for entry in before:
        word, _, rest = entry.partition(" ")
        if word in ("open", "game"):
            rules, chosen = dict(pair.split("=") for pair in DEFAULTS[rest.split(" ")[0]].split(" ")), set()
        elif word == "rule":
            name, value = rest.split(" ")
            rules[name] = value
            chosen.add(name)
    if rules.get("declare") == "none" and rules.get("packets") and "target" not in chosen:
        rules["target"] = WITHOUT_DECLARATIONS
    return " ".join(f"{name}={value}" for name, value in rules.items())


async def list_tables(client: Any) -> None:
    """Lists of tables are hashes of codes and tokens (`bot.store.index`)."""
    to_hash = client.register_script(TO_HASH)
    for pattern in (keys.seated("*"), keys.hosted("*")):
        async for key in client.scan_iter(pattern):
            await to_hash(keys=[key], args=["0.layout1"])
