"""The people on the first page: challenges, recent opponents and open tables.

The page requests this part regularly while it is visible.
"""

import secrets

from aiohttp import web

from adapters.web.codes import code_of
from adapters.web.people import WebPerson
from adapters.web.refusals import Refused
from adapters.web.site import Site, browser_language
from adapters.web.table_socket import PAGE
from bot import actions
from bot.features.open_tables.feature import OpenTablesFeature
from bot.features.opponents.feature import OpponentsFeature
from bot.platform import Press
from bot.texts import texts


async def show(site: Site, request: web.Request) -> web.Response:
    reader, language = await site.reader(request)
    person, presence = reader.person if reader else "", site.card_room.presence
    opponents = site.card_room.feature(OpponentsFeature).site
    if person:
        presence.note(person)
    count = await presence.count()
    here = texts(language).ngettext("{count} here now", "{count} here now", count).format(count=count)
    text = site.templates.page(
        "lobby.html",
        language,
        challenges=await opponents.challenges_to(person, language) if person else [],
        opponents=await opponents.opponents(person, language) if person else [],
        open_tables=await site.card_room.feature(OpenTablesFeature).site.table_lines(person, language),
        here=here if count > 1 else "",
    )
    return web.Response(text=text, content_type="text/html", headers={"Cache-Control": "no-store"})


async def choose_openness(site: Site, request: web.Request) -> web.Response:
    """Open the reader's table to anyone, or close it again."""
    code, form = code_of(request), await site.read_form(request)
    reader, language = await _require_reader(site, request)
    if form.get("anyone") not in ("", "1"):
        raise Refused("there is no such request")
    tables = site.card_room.feature(OpenTablesFeature).site
    site.limits.count_code(request)
    refusal = await tables.choose(code, reader.person, language, is_open=bool(form["anyone"]))
    if not refusal:
        site.limits.give_code_back(request)
    return web.json_response({"why": refusal})


async def challenge(site: Site, request: web.Request) -> web.Response:
    """Challenge a recent opponent, and redirect to the table."""
    game_id, _, seat = (await site.read_form(request)).get("opponent", "").rpartition(".")
    reader, language = await _require_reader(site, request)
    if not game_id or not (seat.isascii() and seat.isdecimal()):
        raise Refused("there is no such request")
    if refusal := site.card_room.lobby.ban_text(reader.person, language):
        raise Refused(refusal)
    with site.limits.lookup(request) as lookup:
        code, refusal = await site.card_room.feature(OpponentsFeature).site.challenge(
            reader.as_person(browser_language(request)), game_id, int(seat), site.guest_visitor(request, reader)
        )
        lookup.end(missing=not code)
    return site.redirect(f"/t/{code}") if code else site.message_page(request, refusal, language=language)


async def decline(site: Site, request: web.Request) -> web.Response:
    """Decline a challenge, as the button in a chat does. Any other code gets the same answer, known or not."""
    code = code_of(request)
    await site.read_form(request)
    reader, language = await _require_reader(site, request)
    challenges = await site.card_room.feature(OpponentsFeature).site.challenges_to(reader.person, language)
    if code not in {line.code for line in challenges}:
        return site.redirect("/")
    payload, key = actions.table(code, "decline"), f"w{reader.tag}.{secrets.token_hex(5)}"
    guest_page = PAGE if reader.is_guest else ""
    press = Press(key, reader.as_person(browser_language(request)), reader.place, guest_page, payload, genuine=False)
    reply = await site.card_room.handle_press(press)
    return site.message_page(request, reply.toast, language=language) if reply.toast else site.redirect("/")


async def _require_reader(site: Site, request: web.Request) -> tuple[WebPerson, str]:
    reader, language = await site.reader(request)
    if reader is None:
        raise Refused("there is no such request")
    return reader, language
