"""Pages of duels: a person's duels, one duel, whose address invites a friend, and a match of two groups."""

import re
import secrets
from http import HTTPStatus

from aiohttp import web

from adapters.web.codes import code_of
from adapters.web.link_previews import link_preview
from adapters.web.people import COOKIE, WebPerson, form_names
from adapters.web.refusals import Refused
from adapters.web.site import Site, browser_language
from bot.command_names import FIRST_GAME, ArgumentKind, choices_of
from bot.features.duels.feature import DuelsFeature
from bot.features.duels.site import DuelPage
from bot.texts import gettext_noop as _
from bot.texts import texts

KEY = re.compile(r"[0-9a-f]{16}")
NO_MATCH = _("There’s no match with this code: ask your group for the link.")
NO_DUEL = _("There’s no duel with this code: ask for a new link.")


async def show_all(site: Site, request: web.Request) -> web.Response:
    """Show the reader's duels and a form to open one, at ``/duel``."""
    reader, language = await site.reader(request)
    duels = await site.card_room.feature(DuelsFeature).site.own(reader.person, language) if reader else []
    return site.fresh_page(
        request,
        "duels.html",
        language,
        duels=duels,
        games=site.card_room.lobby.games(language),
        first_game=FIRST_GAME,
        key=secrets.token_hex(8),
        **form_names(reader),
    )


async def open_duel(site: Site, request: web.Request) -> web.Response:
    """Open a duel, and redirect to its page."""
    form = await site.read_form(request)
    game, key = form.get("game", ""), form.get("key", "")
    if not KEY.fullmatch(key) or game not in choices_of(ArgumentKind.GAME):
        raise Refused("there is no such request")
    reader, cookie, language = await site.admit(request, await site.people.identify(request), form.get("name", ""))
    person = reader.as_person(browser_language(request))
    duels = site.card_room.feature(DuelsFeature).site
    code, refusal = await duels.open(person, game, f"web:{reader.tag}:{key}:{game}")
    if not code:
        return site.message_page(request, refusal, language=language, cookie=cookie)
    return site.redirect(f"/duel/{code}", COOKIE, cookie, request)


async def show(site: Site, request: web.Request) -> web.Response:
    """Show a duel to its players, and the challenge to others. Codes can be guessed, so unknown ones are counted."""
    reader, language = await site.reader(request)
    duel = await _find(site, request, reader, language)
    if duel is None:
        return site.message_page(request, texts(language).gettext(NO_DUEL), HTTPStatus.NOT_FOUND, language)
    link = link_preview(site, language, duel.title, duel.panel, f"table/{duel.game}")
    names = form_names(reader)
    key = secrets.token_hex(8)
    address = f"{site.url}/duel/{duel.code}"
    return site.fresh_page(request, "duel.html", language, duel=duel, link=link, key=key, address=address, **names)


async def play(site: Site, request: web.Request) -> web.Response:
    """Accept a duel if needed and play its next deal, decline or withdraw it, or open a rematch."""
    code, form = code_of(request), await site.read_form(request)
    reader, language = await site.reader(request)
    # Each code counts, because the answer tells whether there is such a duel. A wrong code must not store a new person.
    if await _find(site, request, reader, language) is None:
        return site.message_page(request, texts(language).gettext(NO_DUEL), HTTPStatus.NOT_FOUND, language)
    reader, cookie, language = await site.admit(request, reader, form.get("name", ""))
    person, duels = reader.as_person(browser_language(request)), site.card_room.feature(DuelsFeature).site
    if "rematch" in form:
        if not KEY.fullmatch(form.get("key", "")):
            raise Refused("there is no such request")
        opened_code, refusal = await duels.rematch(code, person, f"web:{reader.tag}:{form['key']}:{code}")
        target = f"/duel/{opened_code}"
    elif "decline" in form:
        refusal = await duels.decline(code, person)
        opened_code, target = "" if refusal else code, "/duel"
    else:
        opened_code, refusal = await duels.play(code, person, site.guest_visitor(request, reader))
        target = f"/t/{opened_code}"
    if not opened_code:
        return site.message_page(request, refusal, language=language, cookie=cookie)
    return site.redirect(target, COOKIE, cookie, request)


async def show_match(site: Site, request: web.Request) -> web.Response:
    """Show a match of two groups, with all deals that both players of a pair have finished."""
    _reader, language = await site.reader(request)
    site.limits.count_code(request)
    match = await site.card_room.feature(DuelsFeature).match_site.page(code_of(request), language)
    if match is None:
        return site.message_page(request, texts(language).gettext(NO_MATCH), HTTPStatus.NOT_FOUND, language)
    site.limits.give_code_back(request)
    link = link_preview(site, language, match.title, match.panel, f"table/{match.game}")
    return site.page(request, "match.html", language, match=match, link=link)


async def _find(site: Site, request: web.Request, reader: WebPerson | None, language: str) -> DuelPage | None:
    """Return the duel as the reader sees it. An unknown code counts as a guess."""
    site.limits.count_code(request)
    person, handle = (reader.person, reader.handle) if reader else ("", "")
    duel = await site.card_room.feature(DuelsFeature).site.page(code_of(request), person, handle, language, site.url)
    if duel:
        site.limits.give_code_back(request)
    return duel
