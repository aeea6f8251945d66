"""Tournaments: ``/tournaments`` lists those open to everyone, ``/tournament/{code}`` shows one."""

import re
import secrets
from http import HTTPStatus

from aiohttp import web

from adapters.web.codes import code_of
from adapters.web.people import COOKIE, form_names
from adapters.web.refusals import Refused
from adapters.web.site import Site, browser_language
from bot.features.tournaments.feature import TournamentsFeature
from bot.texts import gettext_noop as _
from bot.texts import texts

KEY = re.compile(r"[0-9a-f]{16}")
NO_TOURNAMENT = _("There’s no such tournament on the web: ask the person who organises it.")


async def show_all(site: Site, request: web.Request) -> web.Response:
    reader, language = await site.reader(request)
    tournaments = site.card_room.feature(TournamentsFeature).site
    public_lines = await tournaments.public_lines(reader.person if reader else "", language)
    return site.page(request, "tournaments.html", language, tournaments=public_lines)


async def show(site: Site, request: web.Request) -> web.Response:
    """Show a tournament to a reader who can see it. For others it is unknown."""
    code = code_of(request)
    reader, language = await site.reader(request)
    tournaments = site.card_room.feature(TournamentsFeature).site
    with site.limits.lookup(request) as lookup:
        tournament = await tournaments.page(code, reader.person if reader else "", language)
        lookup.end(missing=tournament is None)
    if tournament is None:
        return site.message_page(request, texts(language).gettext(NO_TOURNAMENT), HTTPStatus.NOT_FOUND, language)
    _ = texts(language).gettext
    return site.fresh_page(
        request,
        "tournament.html",
        language,
        tournament=tournament,
        key=secrets.token_hex(8),
        data={"texts": {"away": _("The connection is gone. Trying again…")}},
        **form_names(reader),
    )


async def change(site: Site, request: web.Request) -> web.Response:
    """Join or leave a tournament. A stranger who joins becomes a guest."""
    code, form = code_of(request), await site.read_form(request)
    action, key, partner = (form.get(field, "") for field in ("do", "key", "partner"))
    if not KEY.fullmatch(key) or action not in ("join", "leave") or not re.fullmatch(r"\d{0,3}", partner, re.ASCII):
        raise Refused("there is no such request")
    tournaments = site.card_room.feature(TournamentsFeature).site
    visitor = await site.people.identify(request)
    with site.limits.lookup(request) as lookup:
        # A wrong code must not store a new person.
        page = await tournaments.page(code, visitor.person if visitor else "", "en")
        lookup.end(missing=page is None)
    if page is None or (action == "leave" and visitor is None):
        raise web.HTTPNotFound()
    reader, cookie, language = await site.admit(request, visitor, form.get("name", ""))
    person, update = reader.as_person(browser_language(request)), f"web:{reader.tag}:{key}:{action}"
    if action == "leave":
        refusal = await tournaments.leave(person, code, update)
    else:
        refusal = await tournaments.enter(person, code, update, int(partner) if partner else None)
    if refusal:
        return site.message_page(request, refusal, language=language, cookie=cookie)
    return site.redirect(f"/tournament/{code}", COOKIE, cookie, request)
