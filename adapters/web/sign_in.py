"""Ways to sign in, and to sign out.

A link from a chat (`bot.site.sessions`) and a chat platform's own app (`bot.site.mini_app`) put a secret behind a #.
Browsers do not send it, so no log, proxy or link preview sees it. The page's script moves the secret from the address
into a form. Only posting that form signs in; opening the page changes nothing.
"""

import re
from http import HTTPStatus

import structlog
from aiohttp import web

from adapters.web.codes import parse_code
from adapters.web.people import FRAMED, SESSION, SESSIONS, set_cookie
from adapters.web.refusals import Refused
from adapters.web.site import ACTIVITY, Site, browser_text
from bot.platform import PlatformFailure
from bot.site.mini_app import InvalidLaunch, MiniApp
from bot.texts import gettext_noop as _

log = structlog.get_logger()

ADDRESS = re.compile(r"/(?![/\\])[A-Za-z0-9/?=_-]*(?:#[a-z0-9]*)?")  # an address on this site
LINK_EXPIRED = _("This link no longer works: get a new one with the button below your cards.")
APP_EXPIRED = _("This page is too old or belongs to another bot: close it and press the button below your cards again.")
APP_AWAY = _("The chat app doesn’t answer right now: try again in a minute.")
BLOCKED = _("Your browser blocks cookies, and I need one to recognise you: allow them for this site and try again.")
BLOCKED_IN_APP = _(
    "This window can’t keep a cookie, so I can’t recognise you: play in the chat, or open it in another browser or app."
)


async def show_link(site: Site, request: web.Request) -> web.Response:
    """Ask whether to open the cards in this browser."""
    return site.page(request, "enter.html", to=parse_code(request.query.get("t", "")))


async def enter_by_link(site: Site, request: web.Request) -> web.Response:
    form = await site.read_form(request)
    person = await site.people.sessions.redeem_link(form.get("key", ""))
    # The person might have used /forget since the link was made.
    if not person or not (await site.card_room.lobby.profile(person)).is_known:
        return site.message_page(request, browser_text(request, LINK_EXPIRED), HTTPStatus.GONE)
    return await _start_session(site, request, person, SESSION, _table_address(form.get("t", "")))


async def show_activity(site: Site, request: web.Request) -> web.Response:
    """Show the launch page of a Discord Activity. Its script asks Discord who the person is."""
    app = site.card_room.mini_apps[ACTIVITY]
    if not app.page_origin:
        # The bot is not connected yet, so it does not know its application's id.
        return site.message_page(request, browser_text(request, APP_AWAY), HTTPStatus.SERVICE_UNAVAILABLE)
    return site.fresh_page(request, "activity.html", data=app.page_data(request.query))


async def show_app(site: Site, request: web.Request) -> web.Response:
    _app(site, request)
    to = parse_code(request.query.get("t", ""))
    return site.page(request, "app.html", platform=request.match_info["platform"], to=to)


async def enter_by_app(site: Site, request: web.Request) -> web.Response:
    """Sign in the person named in the app's signed data, and redirect to the table."""
    app = _app(site, request)
    form = await site.read_form(request)
    try:
        person, code, place, page = await app.verify_launch(form.get("data", ""))
    except InvalidLaunch as refusal:
        log.info("app_launch_refused", platform=request.match_info["platform"], why=str(refusal))
        return site.message_page(request, browser_text(request, APP_EXPIRED), HTTPStatus.FORBIDDEN)
    except PlatformFailure as failure:
        log.warning("app_launch_failed", platform=request.match_info["platform"], why=str(failure))
        return site.message_page(request, browser_text(request, APP_AWAY), HTTPStatus.SERVICE_UNAVAILABLE)
    await site.card_room.lobby.meet(person)
    # The person might have just opened the chat, so send the hands that could not be sent there before.
    await site.card_room.send_missed_hands(person)
    if app.page_origin:
        address = await site.card_room.lobby.find_page(person, code, place)
    else:
        address = page or _table_address(form.get("t", ""))
    if person.id == await site.people.sessions.authenticate(request.cookies.get(FRAMED, "")):
        response = site.redirect(address)
    else:
        response = await _start_session(site, request, person.id, FRAMED, address)
    # A proxy could follow a redirect itself and lose the cookie, so a script gets the address instead.
    return _as_json(response) if request.headers.get("Accept") == "application/json" else response


def _as_json(redirect: web.Response) -> web.Response:
    response = web.json_response({"to": redirect.headers["Location"]})
    response.headers.extend((name, value) for name, value in redirect.headers.items() if name == "Set-Cookie")
    return response


def _app(site: Site, request: web.Request) -> MiniApp:
    if app := site.card_room.mini_apps.get(request.match_info["platform"]):
        return app
    raise web.HTTPNotFound()


async def _start_session(site: Site, request: web.Request, person: str, cookie: str, address: str) -> web.Response:
    """Start a session and redirect to a page of this site. The browser's earlier session ends."""
    await site.people.sign_out(request)
    return site.redirect(address, cookie, await site.people.sessions.start(person))


def _table_address(table: str) -> str:
    return f"/t/{code}" if (code := parse_code(table)) else "/"


async def sign_out(site: Site, request: web.Request) -> web.Response:
    await site.read_form(request)
    await site.people.sign_out(request)
    response = site.redirect("/")
    for cookie in SESSIONS:
        set_cookie(response, cookie, "", secure=site.is_secure)
    return response


async def check_cookie(site: Site, request: web.Request) -> web.Response:
    """Redirect readers who sent the cookie that they were just given, and tell all others that it is missing.

    Without this check a browser that blocks cookies would reach the table as a stranger and read that the table does
    not exist.
    """
    address = request.query.get("to", "")
    if not ADDRESS.fullmatch(address):
        raise Refused("there is no such request")
    if await site.people.identify(request):
        return site.redirect(address)
    is_framed = request.headers.get("Sec-Fetch-Dest") == "iframe"
    return site.message_page(request, browser_text(request, BLOCKED_IN_APP if is_framed else BLOCKED))
