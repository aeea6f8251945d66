"""Pages of features: the deal of the day, puzzles, courses, and a player's settings."""

import secrets
from http import HTTPStatus

from aiohttp import web
from yarl import URL

from adapters.web.codes import parse_code
from adapters.web.link_previews import link_preview
from adapters.web.people import COOKIE, form_names
from adapters.web.push import push_form
from adapters.web.refusals import Refused
from adapters.web.site import Site, browser_language
from bot.actions import BadPayload
from bot.command_names import ArgumentKind, choices_of
from bot.features.daily.feature import DailyFeature
from bot.features.learn.feature import LearnFeature
from bot.features.learn.lesson import Spot
from bot.features.puzzles.feature import PuzzlesFeature
from bot.features.settings.feature import SettingsFeature
from bot.texts import day_name, texts
from bot.texts import gettext_noop as _

NO_PUZZLE = _("This puzzle doesn’t exist: try another one.")
ALL_ANSWERED = _("🧩 You’ve answered all my puzzles.")


async def show_daily(site: Site, request: web.Request) -> web.Response:
    """Show the deal of the day at ``/daily``, or yesterday's results with ``?yesterday``."""
    reader, language = await site.reader(request)
    yesterday = "yesterday" in request.query
    daily, person = site.card_room.feature(DailyFeature).site, reader.person if reader else ""
    day = await daily.page(person, language, yesterday=yesterday)
    _ = texts(language).gettext
    title = _("Yesterday’s deal") if yesterday else _("Deal of the day")
    game = _(choices_of(ArgumentKind.GAME)[day.game])
    link = link_preview(site, language, title, f"{day_name(day.day, language)} · {game}", f"daily/{day.day}")
    return site.page(request, "daily.html", language, day=day, yesterday=yesterday, link=link, **form_names(reader))


async def play_daily(site: Site, request: web.Request) -> web.Response:
    """Start or continue the deal of the day. If the reader cannot play it, say why."""
    form = await site.read_form(request)
    reader, cookie, language = await site.admit(request, await site.people.identify(request), form.get("name", ""))
    person, visitor = reader.as_person(browser_language(request)), site.guest_visitor(request, reader)
    code, refusal = await site.card_room.feature(DailyFeature).site.open_table(person, visitor)
    if not code:
        return site.message_page(request, refusal, language=language, cookie=cookie)
    return site.redirect(f"/t/{code}", COOKIE, cookie, request)


async def show_puzzle(site: Site, request: web.Request) -> web.Response:
    """Show a puzzle at ``/puzzle``; ``?id=`` names one, for sharing."""
    reader, language = await site.reader(request)
    id_ = request.query.get("id", "")[:16]
    puzzles = site.card_room.feature(PuzzlesFeature).site
    puzzle = await puzzles.page(reader.person if reader else "", language, id_)
    if puzzle is None:
        status, refusal = (HTTPStatus.NOT_FOUND, NO_PUZZLE) if id_ else (HTTPStatus.OK, ALL_ANSWERED)
        return site.message(request, status, texts(language).gettext(refusal))
    _ = texts(language).gettext
    title = " · ".join((_("Puzzle"), _(choices_of(ArgumentKind.GAME)[puzzle.game])))
    link = link_preview(site, language, title, puzzle.question, f"puzzle/{puzzle.id}")
    return site.page(request, "puzzle.html", language, puzzle=puzzle, deck=site.assets.decks[puzzle.deck], link=link)


async def answer_puzzle(site: Site, request: web.Request) -> web.Response:
    """Record an answer and redirect to its result. A stranger who answers becomes a guest, with a rating."""
    form = await site.read_form(request)
    id_, card = form.get("id", ""), form.get("card", "")
    puzzles = site.card_room.feature(PuzzlesFeature).site
    if not puzzles.is_answer(id_, card):
        raise Refused("there is no such answer")
    reader, cookie, _language = await site.admit(request, await site.people.identify(request))
    await puzzles.answer(reader.as_person(browser_language(request)), id_, card)
    return site.redirect(f"/puzzle?id={id_}", COOKIE, cookie, request)


async def show_courses(site: Site, request: web.Request) -> web.Response:
    reader, language = await site.reader(request)
    courses = await site.card_room.feature(LearnFeature).site.courses(reader.person if reader else "", language)
    return site.page(request, "learn.html", language, courses=courses)


async def show_lesson(site: Site, request: web.Request) -> web.Response:
    """Show a step of a course, after a tap if the query has one. Without a step, continue where the reader left off."""
    reader, language = await site.reader(request)
    spot = Spot(request.match_info["course"], request.query.get("step", ""), request.query.get("taps", ""))
    try:
        page = await site.card_room.feature(LearnFeature).site.page(reader.person if reader else "", language, spot)
    except BadPayload:
        raise web.HTTPNotFound() from None
    deck, key = site.assets.decks[page.deck], secrets.token_hex(8)
    return site.fresh_page(request, "lesson.html", language, lesson=page, deck=deck, key=key)


async def tap_lesson(site: Site, request: web.Request) -> web.Response:
    """Store the reader's next step, and redirect to it. A stranger's step is only in the address."""
    form = await site.read_form(request)
    spot = Spot(request.match_info["course"], form.get("step", ""), form.get("taps", ""))
    reader = await site.people.identify(request)
    person = reader.as_person(browser_language(request)) if reader else None
    try:
        await site.card_room.feature(LearnFeature).site.note_tap(person, spot)
    except BadPayload:
        raise web.HTTPNotFound() from None
    return site.redirect(str(URL.build(path=f"/learn/{spot.course}", query={"step": spot.step, "taps": spot.taps})))


async def show_settings(site: Site, request: web.Request) -> web.Response:
    """Show a visitor's settings; ``?t=CODE`` returns to that table, and ``?saved`` says that they are stored."""
    reader, language = await site.reader(request)
    person = reader.person if reader else ""
    settings = await site.card_room.feature(SettingsFeature).settings.appearance(person, language)
    push = await push_form(site, person, language) if reader and reader.is_guest else {}
    to = parse_code(request.query.get("t", ""))
    return site.page(
        request, "settings.html", language, settings=settings, to=to, is_saved="saved" in request.query, **push
    )


async def choose_settings(site: Site, request: web.Request) -> web.Response:
    """Store a visitor's settings. A stranger who chooses becomes a guest."""
    form = await site.read_form(request)
    table = parse_code(form.pop("t", ""))
    settings = site.card_room.feature(SettingsFeature).settings
    if not settings.is_valid_choice(form):
        raise Refused("there is no such setting")
    reader, cookie, _language = await site.admit(request, await site.people.identify(request))
    await settings.choose_on_page(reader.as_person(browser_language(request)), form)
    return site.redirect(f"/t/{table}" if table else "/settings?saved", COOKIE, cookie, request)
