"""Settings for web pages."""

from collections.abc import Mapping

from bot.actions import BadPayload
from bot.features.settings.commands import Settings
from bot.features.settings.pages import Setting, appearance_settings
from bot.people import People
from bot.platform import Person


class SettingsSite:
    """A person's settings on web pages. Every method can raise a store error."""

    def __init__(self, people: People, settings: Settings) -> None:
        self._people, self._settings = people, settings

    async def settings_of(self, person: str, language: str) -> tuple[Setting, ...]:
        return appearance_settings(await self._people.person(person), language)

    async def choose(self, person: Person, chosen: Mapping[str, str]) -> bool:
        """Change some of a person's settings; return False if one does not exist."""
        await self._people.meet(person)
        try:
            await self._settings.choose_own(person.id, chosen)
        except BadPayload:
            return False
        return True
