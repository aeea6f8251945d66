"""/settings: the programs for which a person makes tokens."""

from collections.abc import Mapping
from typing import Any

from bot.actions import BadPayload
from bot.features.settings.pages import programs_page, token_panel
from bot.identity.programs import SCOPES, Programs
from bot.people import Profile
from bot.platform import Adapter, Press, Reply, platform_of
from bot.replies import private_reply
from bot.texts import texts

LIST, MAKE, REVOKE = "list", "make", "revoke"


class OwnPrograms:
    """The page that lists, makes and revokes a person's own tokens."""

    def __init__(self, client: Any, adapters: Mapping[str, Adapter]) -> None:
        self._adapters = adapters
        self._programs = Programs(client)

    async def answer(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        adapter = self._adapters.get(platform_of(profile.id))
        pages = adapter.pages_url if adapter else ""
        _ = texts(profile.language).gettext
        if words[:1] == [MAKE] and len(words) == 2 and words[1] in SCOPES and pages:
            try:
                scopes = SCOPES if words[1] == "play" else ("read",)
                program, token = await self._programs.add_owned(profile.id, scopes, press.key)
            except ValueError:
                return Reply(_("There are too many programs already: revoke one."))
            return Reply(panel=token_panel(profile.language, program, token, pages), private=True)
        if words[:1] == [REVOKE] and len(words) == 2:
            await self._programs.revoke_owned(profile.id, words[1])
        elif words != [LIST]:
            raise BadPayload()
        panel = programs_page(profile.language, await self._programs.owned_by(profile.id))
        return private_reply(press.place, profile.language, panel)
