"""Profiles of people and chats: names, languages, suits and other settings."""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, fields
from typing import Any

from bot.identity.names import plain_name, tag_namesakes
from bot.identity.programs import name_of
from bot.panel_picture import CardStyle
from bot.platform import Person, chat_of, is_inline, is_private, platform_of, private_place
from bot.store import keys
from bot.store.entries import DEFAULT_CLOCK_SECONDS
from bot.store.lua import DELETE_IF, read_script
from bot.tables.game_choice import Choice
from bot.texts import language_of
from engine import GAMES
from engine.games import default_game

SUITS = ("italian", "french")
HANDS = ("private", "aside")  # where hands are shown: in the private chat, or ephemeral in the group
STYLES: tuple[CardStyle, ...] = ("classic", "easy")  # how pictures draw cards
SIZES = ("normal", "large")  # of cards at a table on a page, and of hands with cards to tap

MOVED = "moved"  # field of a chat's settings with its new id, if it has one
ERASE_UNKNOWN = read_script(__file__, "erase_unknown")
TODAY = read_script(__file__, "today")
DAY_CACHED_SECONDS = 3600.0  # how long the store's current day is cached

PROFILES_CACHED = 200_000
FRESH_SECONDS = 600.0  # how long a cached profile is used: the notice of another worker's change can get lost
UNKNOWN = "?"  # name of an unknown person. `plain_name` never returns it.


@dataclass(frozen=True)
class Profile:
    """A person's profile. ``nickname`` is shown to strangers; it is empty until the person meets one."""

    id: str
    name: str = UNKNOWN
    handle: str = ""
    nickname: str = ""
    language: str = "en"
    suits: str = "italian"
    hands: str = "private"
    called: str = "0"
    pictures: str = "1"
    deck: CardStyle = "classic"
    private: str = "0"
    phrases: str = "1"
    live: str = "1"
    card_size: str = "normal"

    @property
    def is_known(self) -> bool:
        return self.name != UNKNOWN

    @property
    def has_private_chat(self) -> bool:
        """True if the person ever wrote or pressed in the private chat. They might have closed it since."""
        return self.private == "1"

    @property
    def wants_ephemeral(self) -> bool:
        """True if the person wants ephemeral hands in the group instead of the private chat."""
        return self.hands == "aside"

    @property
    def wants_calls(self) -> bool:
        """True if the person wants a notification in the group when it is their turn."""
        return self.called == "1"

    @property
    def wants_pictures(self) -> bool:
        return self.pictures == "1"

    @property
    def wants_live_hands(self) -> bool:
        """True if the person wants hands with cards to tap, where their platform has them."""
        return self.live == "1"

    @property
    def wants_large_cards(self) -> bool:
        return self.card_size == "large"

    @property
    def wants_phrases(self) -> bool:
        """True if the person wants to read the phrases of others."""
        return self.phrases == "1"


STORED_FIELDS = [field.name for field in fields(Profile) if field.name != "id"]


@dataclass(frozen=True)
class ChatProfile:
    """A chat's profile.

    ``clock`` is in seconds per move. ``game`` is the game last chosen there, or the usual one unless
    ``has_chosen_game``. ``name`` is empty if unknown. ``can_be_watched``: spectators with the link can watch its
    tables.
    """

    id: str
    language: str = "en"
    clock: int = DEFAULT_CLOCK_SECONDS
    strict: bool = False
    game: str = default_game("chat")
    wants_pictures: bool = True
    deck: CardStyle = "classic"
    name: str = ""
    can_be_watched: bool = True
    has_chosen_game: bool = False


@dataclass(slots=True)
class CachedProfile:
    """Stored fields and the profile made from them. ``read_at`` is the monotonic time before they were read."""

    read_at: float
    fields: dict[str, str]
    profile: Profile | None = None
    chat: ChatProfile | None = None


class People:
    """Profiles in the store, with a cache in memory."""

    def __init__(self, client: Any, on_change: Callable[[str], Awaitable[None]] | None = None) -> None:
        """``on_change`` gets the key of a changed profile, to notify other workers. `erase` does not call it."""
        self._client = client
        self._delete_if = client.register_script(DELETE_IF)
        self._erase_unknown = client.register_script(ERASE_UNKNOWN)
        self._day_in_store = client.register_script(TODAY)
        self._day = (float("-inf"), 0)
        self.now: Callable[[], float] = time.time
        self._on_change = on_change
        self.being_forgotten: Collection[str] = ()  # people being forgotten, as of some seconds ago
        self._cache: OrderedDict[str, CachedProfile] = OrderedDict()
        # The current read of each key, until the key changes: after that, the read can return old values.
        self._reads: dict[str, object] = {}

    async def person(self, id: str) -> Profile:
        """Return a person's profile, with defaults for a stranger."""
        cached = await self._load(keys.person(id))
        if cached.profile is None:
            values: dict[str, Any] = {name: cached.fields[name] for name in STORED_FIELDS if name in cached.fields}
            if "name" in values:
                # An earlier release allowed the robot sign in all names.
                values["name"] = name_of(id, values["name"])
            cached.profile = Profile(id, **values)
        return cached.profile

    async def names(self, people: Iterable[str]) -> dict[str, str]:
        """Return people's names for a list, by person, with tags for namesakes (`bot.identity.names.tag_namesakes`)."""
        return tag_namesakes({person: (await self.person(person)).name for person in people})

    async def chat(self, place: str) -> ChatProfile:
        cached = await self._load(_chat_key(place))
        if new_id := cached.fields.get(MOVED):
            return await self.chat(new_id)
        # Inline messages in a chat without the bot share a key.
        if cached.chat is None or cached.chat.id != place:
            field = cached.fields.get
            cached.chat = ChatProfile(
                place,
                language=field("language", "en"),
                clock=int(field("clock", DEFAULT_CLOCK_SECONDS)),
                strict=field("strict") == "1",
                game=field("game", default_game("chat")),
                wants_pictures=field("pictures", "1") == "1",
                deck="easy" if field("deck") == "easy" else "classic",
                name=field("name", ""),
                can_be_watched=field("watched", "1") == "1",
                has_chosen_game="game" in cached.fields,
            )
        return cached.chat

    async def meet(self, person: Person, place: str = "", chat_name: str = "") -> Profile:
        """Update a person's name, their handle and the day they were last seen. Return their profile.

        At the first meeting, set their language and the language of the chat at ``place`` from their client. In their
        private chat, note that they have one.
        """
        if person.id in self.being_forgotten:
            # Another worker could have deleted the profile without notice here. With only a cached profile, the last
            # step of the forgetting would treat the person as a stranger and delete their new data.
            self.forget(keys.person(person.id))
        known_fields = await self._fields(keys.person(person.id))
        # Never store an earlier day: a clock that is set back must not make profiles look unused.
        used = max(await self._today(), int(known_fields.get("used", 0)))
        new_fields = {"name": name_of(person.id, person.name), "handle": person.handle, "used": str(used)}
        language = language_of(person.language)
        if "language" not in known_fields:
            new_fields["language"] = language
        if place == private_place(person.id):
            new_fields["private"] = "1"
        if known_fields.get("handle", "") != person.handle:
            # Store this first, because the stored handle shows that it was done.
            await self._move_handle(person.id, known_fields.get("handle", ""), person.handle)
        await self._store_new(keys.person(person.id), new_fields)
        if place and not is_private(place):
            await self.note_chat(place, language, chat_name)
        return await self.person(person.id)

    async def _today(self) -> int:
        """Return the store's day since 1970, at most an hour old: workers' clocks can be years wrong."""
        read_at, day = self._day
        if time.monotonic() - read_at >= DAY_CACHED_SECONDS:
            day = int(await self._day_in_store(keys=[keys.SWEEPING_DAY]))
            self._day = (time.monotonic(), day)
        return day

    async def _move_handle(self, id: str, old_handle: str, new_handle: str) -> None:
        platform = platform_of(id)
        if new_handle:
            await self._client.set(keys.handle(platform, new_handle), id)
        if old_handle and old_handle.lower() != new_handle.lower():
            # Another person might have the handle now.
            await self._delete_if(keys=[keys.handle(platform, old_handle)], args=[id])

    async def reload(self, id: str) -> Profile:
        self.forget(keys.person(id))
        return await self.person(id)

    async def erase(self, id: str, *, if_unknown: bool = False) -> None:
        """Delete a profile; the person becomes a stranger. With ``if_unknown``, keep a profile that has a name."""
        handle = (await self.reload(id)).handle
        if handle:
            await self._move_handle(id, handle, "")
        if if_unknown:
            await self._erase_unknown(keys=[keys.person(id)])
        else:
            await self._client.delete(keys.person(id))
        self.forget(keys.person(id))

    async def update_person(self, id: str, **choices: str) -> None:
        await self._store(keys.person(id), choices)

    async def last_choices(self, id: str) -> list[Choice]:
        """Return a person's last choice for each game, or the usual one. The game chosen last comes first."""
        stored_fields = await self._fields(keys.person(id))
        games = sorted(GAMES, key=lambda game: game != stored_fields.get("game"))
        stored_choices = {game: stored_fields.get(f"game:{game}") for game in games}
        return [Choice.parse(game, text) if text else Choice.default(game) for game, text in stored_choices.items()]

    async def note_choice(self, id: str, choice: Choice) -> None:
        await self._store_new(keys.person(id), {"game": choice.game, f"game:{choice.game}": choice.text})

    async def update_chat(self, place: str, **choices: str) -> None:
        await self._store(_chat_key(place), choices)

    async def note_chat(self, place: str, language: str, name: str = "") -> None:
        """Set a chat's language once, and update its name if known."""
        changes = {"name": plain_name(name)} if name else {}
        if "language" not in await self._fields(_chat_key(place)):
            changes["language"] = language
        await self._store_new(_chat_key(place), changes)

    async def mark_greeted(self, chat: str) -> bool:
        """Note that a chat has been greeted. Return False if it was noted before."""
        is_new = bool(await self._client.hsetnx(_chat_key(chat), "greeted", "1"))
        self.forget(_chat_key(chat))
        return is_new

    async def move_chat(self, old_id: str, new_id: str) -> None:
        """Copy a chat's settings to its new id, unless set there. Lookups by the old id return the new one."""
        old_fields = await self._fields(keys.chat(old_id))
        known_names = {MOVED, *await self._fields(keys.chat(new_id))}
        new_fields = {name: value for name, value in old_fields.items() if name not in known_names}
        await self._store(keys.chat(new_id), new_fields)
        await self._store(keys.chat(old_id), {MOVED: new_id})

    async def find_by_handle(self, platform: str, handle: str) -> Profile | None:
        """Return the person who last had this handle on a platform."""
        person_id = await self._client.get(keys.handle(platform, handle))
        return await self.person(person_id.decode()) if person_id else None

    async def _fields(self, key: str) -> dict[str, str]:
        return (await self._load(key)).fields

    async def _load(self, key: str) -> CachedProfile:
        cached = self._cache.get(key)
        if cached and time.monotonic() - cached.read_at < FRESH_SECONDS:
            return cached
        read = self._reads[key] = object()
        try:
            read_at = time.monotonic()
            stored_fields = await self._client.hgetall(key)
        finally:
            is_latest = self._reads.get(key) is read
            if is_latest:
                del self._reads[key]
        found = CachedProfile(read_at, {name.decode(): value.decode() for name, value in stored_fields.items()})
        if is_latest:
            self._cache[key] = found
            self._cache.move_to_end(key)
            if len(self._cache) > PROFILES_CACHED:
                self._cache.popitem(last=False)
        return found

    async def _store(self, key: str, changes: dict[str, str]) -> None:
        if changes:
            await self._client.hset(key, mapping=changes)
            self._reads.pop(key, None)
            if cached := self._cache.get(key):
                # The other fields keep their age.
                self._cache[key] = CachedProfile(cached.read_at, {**cached.fields, **changes})
            if self._on_change:
                await self._on_change(key)

    async def _store_new(self, key: str, values: dict[str, str]) -> None:
        """Store those of the values that have changed."""
        known_fields = await self._fields(key)
        await self._store(key, {name: value for name, value in values.items() if known_fields.get(name) != value})

    def forget(self, key: str) -> None:
        self._reads.pop(key, None)
        self._cache.pop(key, None)


def _chat_key(place: str) -> str:
    """Return the key of a chat's settings. All inline messages in a chat without the bot share one."""
    return keys.chat(chat_of(place) if is_inline(place) else place)
