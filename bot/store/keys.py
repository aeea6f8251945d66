"""Every key in the store: its name, its type and what is in it.

Tables live in 64 shards. A shard is the hash tag of all its keys, so that one script may touch a table, its timer and
the list of changed tables, also on a cluster. What follows from a finished table lies elsewhere.

| key | type | what |
|---|---|---|
| ``schema`` | string | the number of the layout described here; ``schema:lock`` while it is being raised |
| ``{s17}:table:<code>`` | list | a table's log: a head, then the entries after it, oldest first (`bot.store.log`) |
| ``{s17}:shown:<code>`` | hash | what is shown of a table, by surface (`bot.delivery.message_state`) |
| ``{s17}:changed`` | sorted set | codes of tables that delivery has yet to look at; the score is the version to reach |
| ``{s17}:timers`` | sorted set | codes of tables with a clock running; the score is when it rings, in playing time |
| ``{s17}:attended`` | hash | the shard's playing time and who attends it (`bot.store.attendance`) |
| ``{s17}:confirmed`` | string | written where replicas confirm all that was written before it; expires by itself |
| ``{game:<id>}:confirmed`` | string | the same for what follows from a finished table |
| ``{s17}:probe`` | string | whether the store takes anything down, asked while it is away; expires by itself |
| ``{s17}:set_aside`` | hash | codes of tables whose log its owner's rules refuse: what their clocks had left, seconds |
| ``{s17}:gone:<code>`` | string | a table was removed a short while ago; whose it was; expires after 26 hours |
| ``{s17}:ended:<code>`` | list | the log of a table that was removed a moment ago; expires after a minute |
| ``secret`` | string | 32 random bytes from which tables' codes are made (`Store.secret`) |
| ``forgetting`` | hash | people who are being forgotten: what stands in their place, JSON (`bot.pseudonyms.Mark`) |
| ``forgetting:worker`` | string | whoever does so just now; expires by itself |
| ``rewrites`` | sorted set | when the append-only file must be rewritten (`bot.features.privacy.rewriting`) |
| ``sweeping`` | string | unused profiles are being looked for; expires by itself |
| ``sweeping:day`` | string | when that was last done, days from 1970 (`bot.features.privacy.unused`) |
| ``workers`` | sorted set | workers, each with its time zone, by when last alive, Unix seconds of the store's clock |
| ``person:<platform:id>`` | hash | name, handle, nickname, language, suits, hands, called, used (`bot.people`) |
| ``chat:<place>`` | hash | name, language, clock, strict, game; its new id once it has one |
| ``handle:<platform>:<handle>`` | string | the person last known by it, in lower case |
| ``seated:<platform:id>`` | hash | codes of tables where the person sits, sat or is about to (`bot.store.index`) |
| ``hosted:<chat>`` | hash | the same of tables that are shown in the chat, in any of its topics |
| ``challenges:<chat>`` | hash | the same of tables there that wait for players |
| ``opened_from:<digest>`` | hash | tables that guests opened from an address or network, by its HMAC; expires |
| ``offer:<signature>`` | string | the place of the message that an offer stands in (`bot.offers`); expires |
| ``offered:<platform>:<message>`` | string | the signature of the offer that an inline message belongs to; expires |
| ``tries:<platform:id>`` | string | when the person may try one more code, Unix ms (`bot.handlers.limits`); expires |
| ``pace:<chat>`` | string | when the next message there is due, Unix ms (`bot.delivery.shared_pace`); expires |
| ``named:<platform:id>`` | set | codes of live tables whose log names the person; ``named:<platform>:@<handle>`` too |
| ``mydata:<platform:id>`` | string | the person has asked for their data a moment ago; expires by itself |
| ``{games}:moved_chats`` | hash | chats that have another id by now: the old place's new one |
| ``moved`` | hash | the same of chats that moved before that key was: it is read, and no more written |
| ``{games}:counter`` | string | the last number that a finished game was given, from 1; none is given twice |
| ``{games}:moved`` | string | how many finished games were moved out into files (`bot.finished.moving`) |
| ``{games}:order`` | sorted set | ids of finished games; the score is their number |
| ``game:<id>`` | string | a finished game, zlib of JSON (`bot.finished.archive`) |
| ``games_of:<platform:id>`` | set | numbers of the games that the person has finished |
| ``analysis:<id>`` | string | what was found out about a finished game, JSON; kept for a week |
| ``last:<person or chat>`` | string | the id of the game that was last finished there |
| ``{games}:ratings:<scope>`` | hash | a person's rating, games and wins (`bot.finished.ratings`) |
| ``{games}:ranks:<scope>`` | sorted set | people with enough games to be ranked, by the rating that is shown |
| ``{games}:history:<scope>`` | hash | a person's last ratings there, a word a game (`bot.finished.history`) |
| ``{games}:scopes:<platform:id>`` | set | the narrowest scopes in which the person has been rated |
| ``{games}:changes:<id>`` | string | what a game did to its players' ratings, JSON; kept for a week |
| ``{games}:rated_today`` | hash | rated games of two opponents on ``day``, by an HMAC under ``key`` |
| ``{games}:rated`` | string | the number of the last game that is in the ratings |
| ``sessions:<platform:id>`` | hash | a person's browsers by id, JSON (`bot.sessions`); expires |
| ``entrance:<digest>`` | string | a link to a session is good, by the SHA-256 of what it holds; expires |
| ``programs`` | hash | other people's programs, by id: name, scopes and their token's SHA-256, JSON (`bot.programs`) |
| ``used_keys:<id>`` | hash | idempotency keys that a program has used (`bot.idempotency`); expires after a day |
| ``daily:…``, ``{daily:<day>}:…`` | | the deals of the days (`bot.features.daily.store`, `games`, `loop`) |
| ``honours:…`` | | what months are remembered for in groups (`bot.features.ratings.honours`) |
| ``{puzzles}:…`` | | how people solve puzzles (`bot.features.puzzles.ladder`, `bot.features.puzzles.groups`) |
| ``marked``, ``{marks:<day>}:…`` | | what people have done that can be done once a day (`bot.day_marks`) |
| ``{find}:waiting`` | hash | people who look for an opponent: since when, Unix seconds, and a JSON of what they want |
| ``{find}:asked`` | hash | people who were matched and are asked: the pairing's code (`bot.features.find.queue`) |
| ``{find}:blocks`` | hash | whom people have blocked, and by what names, JSON (`bot.tables.blocks`) |
| ``{find}:reports`` | hash | reports about strangers, by game and seat, JSON (`bot.features.find.reports`) |
| ``{find}:reports:untold`` | set | the ids of those that the host was not told of yet |
| ``{find}:reported:<platform:id>`` | string | how many a person has filed of late; expires after a day |
| ``{find}:left:<platform:id>`` | sorted set | games that were found for a person and that they left, by when; expires |
| ``{find}:farewell:<game>.<seat>`` | string | who sat there has said something after the game; expires after a day |
| ``{find}:looked:<update>`` | string | an update that was a wish to look, and has been heard; expires after a day |
| ``{find}:pairings`` | hash | pairings by code: their people and what each had in the queue, and their game, JSON |
| ``{tour:<code>}:log`` | list | a tournament's log; the keys beside it are told in `bot.features.tournaments.store` |
| ``tournaments`` | hash | codes of tournaments that are not over (`bot.store.index`) |
| ``tournaments:<chat>`` | hash | codes of a chat's tournaments that are not over |
| ``entered:<platform:id>`` | hash | codes of the tournaments that the person has entered or opened |
| ``organised:<platform:id>`` | hash | codes of those that the person opened and that count for how many they may |
| ``<platform>:…`` | | an adapter's own; each says in its folder what |
"""

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
FORGETTING = "forgetting"
FORGETTING_WORKER = "forgetting:worker"
REWRITES = "rewrites"
SWEEPING = "sweeping"
SWEEPING_DAY = "sweeping:day"
GAMES_COUNTER = "{games}:counter"
GAMES_MOVED = "{games}:moved"
GAMES_ORDER = "{games}:order"
MOVED = "{games}:moved_chats"
MOVED_BEFORE = "moved"
RATED = "{games}:rated"
RATED_TODAY = "{games}:rated_today"
FIND_WAITING = "{find}:waiting"
FIND_ASKED = "{find}:asked"
FIND_PAIRINGS = "{find}:pairings"
FIND_BLOCKS = "{find}:blocks"
REPORTS = "{find}:reports"
REPORTS_UNTOLD = "{find}:reports:untold"
OFFER = "offer:"
OFFERED = "offered:"
DAILY_CHAIN = "daily:chain"
DAILY_DRAWN = "daily:drawn"
DAILY_OPEN = "daily:open"
DAILY_REMINDERS = "daily:reminders"
PUZZLE_PEOPLE, PUZZLE_RATINGS = "{puzzles}:people", "{puzzles}:ratings"
MARKED = "marked"
HONOURS_CLOSED = "honours:closed"
TOURNAMENTS = "tournaments"
PUZZLE_NEXT, PUZZLE_HOURS = "{puzzles}:next", "{puzzles}:hours"
PUZZLES_DRAWN = "{puzzles}:drawn"
NOTIFICATIONS = "buongioco:pokes"
"""The channel on which workers tell each other that a table, or what is known of a person, has changed."""


@lru_cache(maxsize=30_000)
def shard_of(code: str) -> int:
    """The shard in which a table lies."""
    return crc32(code.encode()) % SHARDS


def table(code: str) -> str:
    return f"{{s{shard_of(code)}}}:table:{code}"


def shown(code: str) -> str:
    return f"{{s{shard_of(code)}}}:shown:{code}"


def changed(shard: int) -> str:
    return f"{{s{shard}}}:changed"


def timers(shard: int) -> str:
    return f"{{s{shard}}}:timers"


def attended(shard: int) -> str:
    return f"{{s{shard}}}:attended"


def probe(shard: int) -> str:
    return f"{{s{shard}}}:probe"


def set_aside(shard: int) -> str:
    return f"{{s{shard}}}:set_aside"


def gone(code: str) -> str:
    return f"{{s{shard_of(code)}}}:gone:{code}"


def ended(code: str) -> str:
    return f"{{s{shard_of(code)}}}:ended:{code}"


def worker_channel(worker: str) -> str:
    """The channel on which a worker hears of commits to the tables that it delivers (`bot.store.committed`)."""
    return f"buongioco:worker:{worker}"


def person(id: str) -> str:  # noqa: A002
    return f"person:{id}"


def chat(place: str) -> str:
    return f"chat:{place}"


def handle(platform: str, handle: str) -> str:
    return f"handle:{platform}:{handle.lower()}"


def looked(update: str) -> str:
    return f"{{find}}:looked:{update}"


def farewell(game_id: str, seat: int) -> str:
    return f"{{find}}:farewell:{game_id}.{seat}"


def daily_results(day: date) -> str:
    return f"{{daily:{day}}}:results"


def daily_games(day: date) -> str:
    return f"{{daily:{day}}}:games"


def daily_lines(day: date) -> str:
    return f"{{daily:{day}}}:lines"


def daily_par(day: date) -> str:
    return f"{{daily:{day}}}:par"


def daily_chat(day: date, chat: str) -> str:
    return f"{{daily:{day}}}:chat:{chat}"


def daily_reminded(day: date) -> str:
    return f"{{daily:{day}}}:reminded"


def daily_asked(person: str) -> str:
    return f"daily:asked:{person}"


def daily_days(person: str) -> str:
    return f"daily:days:{person}"


def day_key(day: date) -> str:
    return f"{{marks:{day}}}:key"


def day_marks(day: date) -> str:
    return f"{{marks:{day}}}:marks"


def honours(chat: str) -> str:
    return f"honours:chat:{chat}"


def honoured(person: str) -> str:
    return f"honours:person:{person}"


def puzzle_answers(person: str) -> str:
    return f"{{puzzles}}:answers:{person}"


def puzzle_chat(chat: str, day: date) -> str:
    return f"{{puzzles}}:chat:{chat}:{day}"


def puzzle_sent(day: date) -> str:
    return f"{{puzzles}}:sent:{day}"


def tournament(code: str) -> str:
    return f"{{tour:{code}}}:log"


def tournament_card(code: str) -> str:
    return f"{{tour:{code}}}:card"


def tournament_wish(code: str) -> str:
    return f"{{tour:{code}}}:wish"


def tournament_games(code: str) -> str:
    return f"{{tour:{code}}}:games"


def tournament_reminded(code: str) -> str:
    return f"{{tour:{code}}}:reminded"


def tournaments_at(place: str) -> str:
    return f"tournaments:{place.partition('/')[0]}"


def entered(person: str) -> str:
    return f"entered:{person}"


def organised(person: str) -> str:
    return f"organised:{person}"


def left(person: str) -> str:
    return f"{{find}}:left:{person}"


def reported(person: str) -> str:
    return f"{{find}}:reported:{person}"


def confirmed(key: str) -> str:
    """The key beside another, in its slot, that is written to have replicas confirm what was written to that one."""
    begin = key.find("{")
    end = key.find("}", begin + 1)
    tag = key[begin + 1 : end] if begin >= 0 and end > begin + 1 else key
    return f"{{{tag}}}:confirmed"


def seated(person: str) -> str:
    return f"seated:{person}"


def tries(person: str) -> str:
    return f"tries:{person}"


def pace(chat: str) -> str:
    return f"pace:{chat}"


def named(person: str) -> str:
    return f"named:{person}"


def sessions(person: str) -> str:
    return f"sessions:{person}"


def used_keys(program: str) -> str:
    return f"used_keys:{program}"


def entrance(digest: str) -> str:
    return f"entrance:{digest}"


def mydata(person: str) -> str:
    return f"mydata:{person}"


def opened_from(digest: str) -> str:
    return f"opened_from:{digest}"


def hosted(place: str) -> str:
    return f"hosted:{place.partition('/')[0]}"


def challenges(place: str) -> str:
    return f"challenges:{place.partition('/')[0]}"


def game(id: str) -> str:  # noqa: A002
    return f"game:{id}"


def games_of(person: str) -> str:
    return f"games_of:{person}"


def analysis(id: str) -> str:  # noqa: A002
    return f"analysis:{id}"


def last_game(whose: str) -> str:
    return f"last:{whose}"


def scopes(person: str) -> str:
    return f"{{games}}:scopes:{person}"


def changes(id: str) -> str:  # noqa: A002
    return f"{{games}}:changes:{id}"


def ratings(scope: str) -> str:
    return f"{{games}}:ratings:{scope}"


def ranks(scope: str) -> str:
    return f"{{games}}:ranks:{scope}"


def history(scope: str) -> str:
    return f"{{games}}:history:{scope}"


PERSON_KEY_PREFIXES = tuple(key("") for key in (person, games_of, scopes, honoured, daily_days, daily_asked, entered))
"""Prefixes of keys that name a person, where forgetting looks for them. A forgetting deletes these last."""
