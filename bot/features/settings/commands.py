"""Settings of people and groups."""

from collections.abc import Mapping

from bot.actions import BadPayload
from bot.delivery.updates import Updates
from bot.features.settings.pages import Setting, appearance_settings, chat_settings_page, settings_page
from bot.panel import Panel
from bot.people import HANDS, SIZES, STYLES, SUITS, People, Profile
from bot.platform import Adapter, DeliveryError, Person, is_private, platform_of
from bot.tables.clock import CLOCKS
from bot.tables.errors import TableError
from bot.tables.table_lists import TableLists
from bot.texts import LANGUAGES

PICTURE_SETTINGS: dict[str, tuple[str, ...]] = {"pictures": ("0", "1"), "deck": STYLES}
# a person's settings and their values
OWN_SETTINGS: dict[str, tuple[str, ...]] = {
    **PICTURE_SETTINGS,
    "language": LANGUAGES,
    "suits": SUITS,
    "card_size": SIZES,
    "hands": HANDS,
    "called": ("0", "1"),
    "phrases": ("0", "1"),
    "live": ("0", "1"),
}
# a group's settings and their values
CHAT_SETTINGS: dict[str, tuple[str, ...]] = {
    **PICTURE_SETTINGS,
    "language": LANGUAGES,
    "clock": tuple(map(str, CLOCKS)),
    "strict": ("0", "1"),
    "watched": ("0", "1"),
}


class OnlyAdministrators(TableError):
    sentence = "Only this group’s administrators can change its settings: ask one of them."


class AdministratorsUnknown(TableError):
    sentence = "I couldn’t check if you’re an administrator here: try again in a moment."


class Settings:
    def __init__(self, people: People, adapters: Mapping[str, Adapter], lists: TableLists, updates: Updates) -> None:
        self._people, self._adapters, self._lists, self._updates = people, adapters, lists, updates

    @staticmethod
    def is_valid_choice(choices: Mapping[str, str]) -> bool:
        """Return whether these are settings of people, with valid values."""
        return all(value in OWN_SETTINGS.get(name, ()) for name, value in choices.items())

    async def choose_own(self, person: str, choices: Mapping[str, str]) -> None:
        """Change a person's settings and redraw their tables. Raises BadPayload for an unknown setting or value."""
        if not self.is_valid_choice(choices):
            raise BadPayload()
        await self._people.update_person(person, **choices)
        for table in await self._lists.tables_of(person):
            await self._updates.touch(table.code)

    async def choose_on_page(self, person: Person, choices: Mapping[str, str]) -> None:
        """Change some of a person's settings on a web page."""
        await self._people.meet(person)
        await self.choose_own(person.id, choices)

    async def appearance(self, person: str, language: str) -> tuple[Setting, ...]:
        """Return the settings that web pages show. ``person`` is empty for a stranger."""
        return appearance_settings(await self._people.person(person) if person else Profile(""), language)

    def own_page(self, profile: Profile, *, is_saved: bool = False) -> Panel:
        return settings_page(profile, self._adapters.get(platform_of(profile.id)), is_saved=is_saved)

    async def chat_page(self, place: str, *, is_saved: bool = False) -> Panel:
        adapter = self._adapters.get(platform_of(place))
        return chat_settings_page(
            await self._people.chat(place),
            shows_pictures=adapter is not None and adapter.shows_pictures,
            for_admins=adapter is not None and adapter.has_admins(place),
            is_saved=is_saved,
        )

    async def change(
        self, place: str, profile: Profile, name: str, value: str, *, is_admin: bool | None = None
    ) -> Panel:
        """Change a setting of the person or, in a group, of the chat.

        ``is_admin`` is whether the person administers the group, or None if the platform did not say. Raises
        `OnlyAdministrators`, or `AdministratorsUnknown` if the platform cannot answer now.
        """
        if is_private(place):
            await self.choose_own(profile.id, {name: value})
            return self.own_page(await self._people.person(profile.id), is_saved=True)
        await self._check_admin(place, profile.id, is_admin)
        if value not in CHAT_SETTINGS.get(name, ()):
            raise BadPayload()
        await self._people.update_chat(place, **{name: value})
        for table in await self._lists.tables_at(place):
            await self._updates.touch(table.code)
        return await self.chat_page(place, is_saved=True)

    async def _check_admin(self, place: str, person: str, is_admin: bool | None) -> None:
        """Check that a person can change a group's settings. In a chat without administrators, all members can."""
        adapter = self._adapters.get(platform_of(place))
        if is_admin is None and adapter and adapter.has_admins(place):
            try:
                is_admin = await adapter.is_admin(place, person)
            except DeliveryError:
                raise AdministratorsUnknown() from None
        if is_admin is False:
            raise OnlyAdministrators()
