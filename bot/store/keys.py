"""The keys of the core in the store: their names, types and contents. Each feature lists its own keys.

Tables are in 64 shards. A shard is the hash tag of all its keys. One script can therefore change a table, its timer and
the list of changed tables, also on a cluster. Finished games have keys of their own.

| key | type | contents |
|---|---|---|
| ``schema`` | string | the number of this layout; ``schema:lock`` exists during a migration |
| ``{s17}:table:<code>`` | list | a table's log: a head, then the entries after it, oldest first (`bot.store.log`) |
| ``{s17}:shown:<code>`` | hash | the state of a table's messages, by surface (`bot.delivery.message_state`) |
| ``{s17}:changed`` | sorted set | codes of tables that delivery must check; the score is the version to reach |
| ``{s17}:timers`` | sorted set | codes of tables with a running clock; the score is when it rings, in playing time |
| ``{s17}:attended`` | hash | the shard's playing time and its owner (`bot.store.leases`) |
| ``{s17}:confirmed`` | string | written so that replicas confirm everything written before it; expires |
| ``{game:<id>}:confirmed`` | string | the same for a finished game |
| ``{s17}:probe`` | string | written during an outage to test whether the store accepts writes; expires |
| ``{s17}:set_aside`` | hash | codes of tables that cannot be read, with the seconds left on their clocks |
| ``{s17}:gone:<code>`` | string | the mark of a removed table's opener; expires after 26 hours |
| ``{s17}:ended:<code>`` | list | the log of a removed table; expires after a minute |
| ``secret`` | string | 32 random bytes from which tables' codes are made (`Store.secret`) |
| ``forgetting`` | hash | people who are being forgotten: a JSON mark of each (`ForgettingMark`) |
| ``sweeping:day`` | string | day of the last search, counted from 1970 (`bot.features.privacy.unused`) |
| ``workers`` | sorted set | workers with their time zones; the score is the last report, Unix seconds of the store |
| ``here`` | sorted set | people with an open page; the score is its last sign, Unix seconds (`bot.presence`) |
| ``person:<platform:id>`` | hash | the profile: name, handle, settings, last choices, last day (`bot.people`) |
| ``chat:<place>`` | hash | the chat's name and settings, or its new id if it has moved (`bot.people`) |
| ``handle:<platform>:<handle>`` | string | the last known person with this handle, which is in lower case |
| ``seated:<platform:id>`` | hash | codes of tables where the person sits, sat or is about to sit (`bot.store.index`) |
| ``hosted:<chat>`` | hash | codes of tables that are shown in the chat, in any of its topics |
| ``challenges:<chat>`` | hash | codes of the open challenges in the chat |
| ``opened_from:<digest>`` | hash | tables that guests opened from an address or network, by its HMAC; expires |
| ``offer:<signature>`` | string | the place of an offer's message (`bot.handlers.offer_terms`); expires |
| ``offered:<platform>:<message>`` | string | the signature of an inline message's offer; expires |
| ``tries:<platform:id>`` | string | when the person can try a code, Unix ms (`bot.tables.code_guard`); expires |
| ``pace:<chat>`` | string | when the next message there is due, Unix ms (`bot.delivery.shared_pace`); expires |
| ``named:<platform:id>`` | set | codes of live tables with the person in the log; also ``named:<platform>:@<handle>`` |
| ``{games}:moved_chats`` | hash | the new place of each chat whose id has changed, by its old place |
| ``moved`` | hash | the same for chats that moved before that key existed; only read |
| ``{games}:counter`` | string | the last number of a finished game, from 1; no number is used twice |
| ``{games}:moved`` | string | how many finished games were moved into files (`bot.finished.moving_to_file`) |
| ``{games}:order`` | sorted set | ids of finished games; the score is their number |
| ``game:<id>`` | string | a finished game, zlib of JSON (`bot.finished.archive`) |
| ``games_of:<platform:id>`` | set | numbers of the person's finished games |
| ``analysis:<id>`` | string | the analysis of a finished game, JSON; kept for a week |
| ``last:<person or chat>`` | string | the id of the last finished game of the person or chat |
| ``{games}:ratings:<scope>`` | hash | each person's rating, games and wins (`bot.finished.ratings`) |
| ``{games}:ranks:<scope>`` | sorted set | people with enough games to be ranked, by their shown rating |
| ``{games}:history:<scope>`` | hash | each person's last ratings, one word per game (`bot.finished.history`) |
| ``{games}:scopes:<platform:id>`` | set | the narrowest scopes in which the person has a rating |
| ``{games}:changes:<id>`` | string | how a game changed its players' ratings, JSON; kept for a week |
| ``{games}:rated_today`` | hash | rated games of two opponents on ``day``, by an HMAC under ``key`` |
| ``{games}:rated`` | string | the number of the last rated game |
| ``sessions:<platform:id>`` | hash | a person's browsers by id, JSON (`bot.site.sessions`); expires |
| ``entrance:<digest>`` | string | a valid link to a session, by the SHA-256 of its secret; expires |
| ``programs`` | hash | programs by id: name, scopes, owner, the token's SHA-256, JSON (`bot.identity.programs`) |
| ``used_keys:<id>`` | hash | idempotency keys that a program has used (`bot.site.idempotency`); expires after a day |
| ``daily:…``, ``{daily:<day>}:…`` | | the deals of the days (`bot.features.daily.keys`) |
| ``duels:…``, ``{duel:<code>}:…`` | | duels (`bot.features.duels.keys`) |
| ``matches:…``, ``{match:<code>}:…`` | | matches of groups (`bot.features.duels.keys`) |
| ``{learn}:…`` | | how far people are in courses (`bot.features.learn.keys`) |
| ``{push}:…`` | | browsers that take notifications, and the bot's key (`bot.features.web_push.keys`) |
| ``{puzzles}:…`` | | people's puzzle results (`bot.features.puzzles.keys`) |
| ``marked``, ``{marks:<day>}:…`` | | marks of activities that are possible once a day (`bot.days.once_a_day`) |
| ``{levers}:levers`` | hash | the host's bans, announcement and maintenance, and their version (`bot.store.levers`) |
| ``{levers}:pulls`` | list | the log of the host's levers, JSON, oldest first |
| ``{levers}:shown`` | hash | the announcement that a shard's boards show, by shard (`bot.announcements`) |
| ``{open}:tables`` | hash | tables at which anyone may sit down (`bot.features.open_tables.keys`) |
| ``{find}:blocks`` | hash | each person's blocked people and their shown names, JSON (`bot.tables.blocks`) |
| ``{find}:…`` | | the search for opponents (`bot.features.find.keys`) |
| ``<platform>:…`` | | an adapter's own keys, which its folder describes |
"""

import re
from collections.abc import Callable
from datetime import date
from functools import lru_cache
from zlib import crc32

SCHEMA_VERSION = 2
SHARDS = 64
PROBE_KEPT_SECONDS = 5

SCHEMA = "schema"
PROGRAMS = "programs"
SECRET = "secret"  # noqa: S105
WORKERS = "workers"
HERE = "here"
FORGETTING = "forgetting"
SWEEPING_DAY = "sweeping:day"
GAMES_COUNTER = "{games}:counter"
GAMES_MOVED = "{games}:moved"
GAMES_ORDER = "{games}:order"
MOVED = "{games}:moved_chats"
MOVED_BEFORE = "moved"
RATED = "{games}:rated"
RATED_TODAY = "{games}:rated_today"
FIND_BLOCKS = "{find}:blocks"
LEVERS = "{levers}:levers"
PULLS = "{levers}:pulls"
LEVERS_SHOWN = "{levers}:shown"
OFFER = "offer:"
OFFERED = "offered:"
MARKED = "marked"
NOTIFICATIONS = "buongioco:pokes"  # channel for workers: a table or a profile has changed


@lru_cache(maxsize=30_000)
def shard_of(code: str) -> int:
    return crc32(code.encode()) % SHARDS


def _table_key(kind: str) -> Callable[[str], str]:
    """Return the function from a table's code to its key of this kind."""
    return lambda code: f"{{s{shard_of(code)}}}:{kind}:{code}"


def prefix_key(prefix: str, suffix: str = "") -> Callable[[object], str]:
    """Return the function from an id to its key, which has the id between these texts."""
    return lambda id_: f"{prefix}{id_}{suffix}"


table = _table_key("table")
message_states = _table_key("shown")
tombstone = _table_key("gone")
removed_log = _table_key("ended")

changed = prefix_key("{s", "}:changed")
timers = prefix_key("{s", "}:timers")
attended = prefix_key("{s", "}:attended")
probe = prefix_key("{s", "}:probe")
set_aside = prefix_key("{s", "}:set_aside")

# keys of people, by their ids
person = prefix_key("person:")
tables_of_person = prefix_key("seated:")
tables_naming = prefix_key("named:")
games_of = prefix_key("games_of:")
sessions = prefix_key("sessions:")
tries = prefix_key("tries:")
scopes = prefix_key("{games}:scopes:")

# keys of finished games, by their ids
game = prefix_key("game:")
analysis = prefix_key("analysis:")
changes = prefix_key("{games}:changes:")

# keys of leaderboards, by their scopes
ratings = prefix_key("{games}:ratings:")
ranks = prefix_key("{games}:ranks:")
history = prefix_key("{games}:history:")

chat = prefix_key("chat:")
pace = prefix_key("pace:")
last_game = prefix_key("last:")  # of a person or chat
used_keys = prefix_key("used_keys:")
entrance = prefix_key("entrance:")
tables_from_address = prefix_key("opened_from:")
worker_channel = prefix_key("buongioco:worker:")  # channel for commits to the tables that a worker delivers


def handle(platform: str, handle: str) -> str:
    return f"handle:{platform}:{handle.lower()}"


def tables_of_chat(place: str) -> str:
    return f"hosted:{place.partition('/')[0]}"


def challenges(place: str) -> str:
    return f"challenges:{place.partition('/')[0]}"


def day_key(day: date) -> str:
    return f"{{marks:{day}}}:key"


def day_marks(day: date) -> str:
    return f"{{marks:{day}}}:marks"


def confirmation(key: str) -> str:
    """Return a key in the same slot. Writing it makes replicas confirm earlier writes to the given key."""
    tag = re.match("[^{]*{([^}]+)}", key)
    return f"{{{tag[1] if tag else key}}}:confirmed"


# Prefixes of keys that name a person, which a backup reads first.
PERSON_KEY_PREFIXES = (
    *(key("") for key in (person, games_of, scopes)),
    *("daily:asked:", "daily:days:", "duels:of:", "entered:", "honours:person:", "matches:of:"),  # features' keys
)
