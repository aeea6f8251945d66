"""/settings: a person's browsers and the tokens of their programs."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from bot.actions import BadPayload
from bot.features.settings.pages import browsers_page, link_panel, programs_page, token_panel
from bot.identity.programs import SCOPES, Programs
from bot.people import Profile
from bot.platform import Adapter, Press, Reply, platform_of
from bot.private_replies import private_reply, private_toast
from bot.site.sessions import Sessions
from bot.tables.errors import NotAtThisTable
from bot.tables.table import Table
from bot.texts import texts

LIST, HOME, END, ALL, MAKE, REVOKE = "list", "home", "end", "all", "make", "revoke"


class Browsers:
    """Links that open a browser session, and the page that lists and ends a person's own sessions."""

    def __init__(self, client: Any, adapters: Mapping[str, Adapter]) -> None:
        self._adapters = adapters
        self._sessions = Sessions(client)

    async def link_to_table(self, place: str, profile: Profile, table: Table) -> Reply:
        """Send a player a link to their table. Raises NotAtThisTable if the person has no seat there."""
        if profile.id not in table.people:
            raise NotAtThisTable(code=table.code)
        return await self._link(place, profile, table.code)

    async def answer(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        """Answer a press: show the page, end one session or all, or send a link to the home page."""
        if words == [HOME]:
            return await self._link(press.place, profile)
        if len(words) == 2 and words[0] == END:
            if words[1] == ALL:
                await self._sessions.end_all(profile.id)
            else:
                await self._sessions.end(profile.id, words[1])
        elif words != [LIST]:
            raise BadPayload()
        sessions = await self._sessions.sessions_of(profile.id)
        panel = browsers_page(profile.language, sessions, can_open=bool(_site_url(self._adapters, profile)))
        return private_reply(press.place, profile.language, panel)

    async def _link(self, place: str, profile: Profile, code: str = "") -> Reply:
        """Send a login link in a message of its own, because the link expires and a panel stays for hours."""
        pages = _site_url(self._adapters, profile)
        if not pages:
            raise BadPayload()
        key = quote(await self._sessions.create_link(profile.id), safe=":")
        panel = link_panel(profile.language, f"{pages}/in{f'?t={code}' if code else ''}#key={key}")
        return Reply(private_toast(place, profile.language), panel, private=True)


class OwnPrograms:
    """The page that lists, makes and revokes a person's own tokens."""

    def __init__(self, client: Any, adapters: Mapping[str, Adapter]) -> None:
        self._adapters = adapters
        self._programs = Programs(client)

    async def answer(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        pages = _site_url(self._adapters, profile)
        _ = texts(profile.language).gettext
        if words[:1] == [MAKE] and len(words) == 2 and words[1] in SCOPES and pages:
            try:
                scopes = SCOPES if words[1] == "play" else ("read",)
                program, token = await self._programs.add_owned(profile.id, scopes, press.key)
            except ValueError:
                return Reply(_("There are too many programs already: revoke one of yours."))
            return Reply(panel=token_panel(profile.language, program, token, pages), private=True)
        if words[:1] == [REVOKE] and len(words) == 2:
            await self._programs.revoke_owned(profile.id, words[1])
        elif words != [LIST]:
            raise BadPayload()
        panel = programs_page(profile.language, await self._programs.owned_by(profile.id))
        return private_reply(press.place, profile.language, panel)


def _site_url(adapters: Mapping[str, Adapter], profile: Profile) -> str:
    """Return the address of the web pages; empty without pages."""
    adapter = adapters.get(platform_of(profile.id))
    return adapter.pages_url if adapter else ""
