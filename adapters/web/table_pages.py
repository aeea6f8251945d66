"""The pages to open a table, sit down at one, and play there (`table_socket` keeps them up to date)."""

import re
import secrets
from http import HTTPStatus

from aiohttp import web

from adapters.web import find_pages, sign_in
from adapters.web.codes import code_of
from adapters.web.link_previews import home_preview, link_preview
from adapters.web.people import COOKIE, PLATFORM, WebPerson, form_names
from adapters.web.refusals import Refused
from adapters.web.script_texts import table_texts
from adapters.web.site import Site, browser_language, is_activity_launch
from bot.command_names import FIRST_GAME, ArgumentKind, choices_of
from bot.features.daily.feature import DailyFeature
from bot.features.open_tables.feature import OpenTablesFeature
from bot.features.puzzles.feature import PuzzlesFeature
from bot.features.tournaments.feature import TournamentsFeature
from bot.places import Place
from bot.platform import Command
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

KEY = re.compile(r"[0-9a-f]{16}")
MAX_TOURNAMENTS = 3  # tournaments on the first page
ROBOTS = {"easy": _("🤖 Easy robot"), "medium": _("🤖 Medium robot"), "strong": _("🤖 Strong robot")}
FULL = _("This table is full: open another one from the first page.")
FULL_TO_WATCH = _("This table is full, but you can watch the game.")
NO_INVITATION = _("There’s no open table with this code: ask for a new link.")


async def home(site: Site, request: web.Request) -> web.Response:
    if is_activity_launch(request, site.card_room.mini_apps):
        return await sign_in.show_activity(site, request)
    reader, language = await site.reader(request)
    person, lobby = reader.person if reader else "", site.card_room.lobby
    _ = texts(language).gettext
    has_played = await lobby.has_played(person) if person else False
    targets = lobby.targets(language, has_played=has_played)
    return site.fresh_page(
        request,
        "home.html",
        language,
        games=lobby.games(language),
        diagrams=lobby.diagrams(),
        data={"targets": {game: list(choices.items()) for game, choices in targets.items()}},
        deck=site.assets.decks["italian-classic"],
        first_game=FIRST_GAME,
        robots={level: _(robot) for level, robot in ROBOTS.items()},
        **form_names(reader),
        has_played=has_played,
        day=await site.card_room.feature(DailyFeature).site.line(person, language),
        puzzle_rating=await site.card_room.feature(PuzzlesFeature).site.rating_line(person, language),
        tables=await lobby.tables_of(person) if person else [],
        tournaments=await site.card_room.feature(TournamentsFeature).site.public_lines(
            person, language, MAX_TOURNAMENTS
        ),
        player=await lobby.player_id(person) if person else "",
        is_link_unknown="unknown" in request.query,
        looking=await find_pages.looking_count_text(site, language),
        key=secrets.token_hex(8),
        link=home_preview(site, language),
    )


async def play(site: Site, request: web.Request) -> web.Response:
    """Open a table with a robot or for a friend, and redirect there; or start a search for an opponent."""
    form = await site.read_form(request)
    game, robot, key, name = (form.get(field, "") for field in ("game", "robot", "key", "name"))
    target = form.get("target", "")
    if "friend" in form:
        robot = ""
    if not KEY.fullmatch(key) or game not in choices_of(ArgumentKind.GAME) or robot not in ("", *ROBOTS):
        raise Refused("there is no such request")
    all_targets = site.card_room.lobby.targets("en")
    if target and not any(target in map(str, targets) for targets in all_targets.values()):
        raise Refused("there is no such request")
    # Before its script has loaded, the form offers the targets of the first game for all games.
    points = int(target) if target and int(target) in all_targets[game] else None
    if "find" in form:
        return await find_pages.start(site, request, form)
    reader, cookie, language = await site.admit(request, await site.people.identify(request), name)
    update = f"web:{reader.tag}:{key}:{game}:{robot}:{target}"
    person = reader.as_person(browser_language(request))
    visitor = site.guest_visitor(request, reader)
    opened_table = await site.card_room.lobby.open_table(person, game, robot, update, visitor, target=points)
    if not opened_table.code:
        return site.message_page(request, opened_table.refusal, language=language, cookie=cookie)
    return site.redirect(f"/t/{opened_table.code}", COOKIE, cookie, request)


async def table(site: Site, request: web.Request) -> web.Response:
    """Show the table to its players, and the invitation to all others.

    After the game its players are redirected to the replay. With ``?ended`` they get the page of the table, which shows
    the result that the browser's tab has kept.
    """
    code = code_of(request)
    reader, language = await site.reader(request)
    hand = await site.card_room.live_hands.open_hand(code, reader.person) if reader else None
    anyone, replay, state = None, "", None
    if hand:
        # The page shows the cards without waiting for its socket.
        state = await hand.first_state() if hand.table.phase == "playing" else None
        hand.close()
        anyone = await site.card_room.feature(OpenTablesFeature).site.choice(code, reader.person) if reader else None
    else:
        finished_game = await site.card_room.lobby.find_latest_game_id(code, reader.person) if reader else ""
        if not finished_game:
            return await _invitation_page(site, request, code, reader, language)
        replay = f"/g/{finished_game}"
        if "ended" not in request.query:
            return site.redirect(replay)
    card_size = (await site.card_room.lobby.profile(reader.person if reader else "")).card_size
    data = {"code": code, "decks": site.assets.decks, "anyone": anyone, "texts": table_texts(language), "ended": replay}
    return site.page(request, "table.html", language, code=code, data=data, card_size=card_size, state=state)


async def _invitation_page(
    site: Site, request: web.Request, code: str, reader: WebPerson | None, language: str
) -> web.Response:
    """Return the invitation. A table that never invited the visitor counts as unknown, because codes can be guessed."""
    site.limits.count_code(request)
    person = reader.person if reader else f"{PLATFORM}:"
    handle = reader.handle if reader else ""
    invitation = await site.card_room.lobby.invitation(code, person, language, handle)
    full = None if invitation else await _full_page(site, request, code, language)
    if invitation or full:
        site.limits.give_code_back(request)
    if invitation is None:
        refusal = texts(language).gettext(NO_INVITATION)
        return full or site.message_page(request, refusal, HTTPStatus.NOT_FOUND, language)
    game = texts(language).gettext(choices_of(ArgumentKind.GAME)[invitation.game])
    link = link_preview(site, language, game, invitation.panel, f"table/{invitation.game}")
    names = form_names(reader)
    return site.page(request, "sit.html", language, code=code, link=link, **invitation._asdict(), **names)


async def _full_page(
    site: Site, request: web.Request, code: str, language: str, cookie: str = ""
) -> web.Response | None:
    """Return the page of a full table, with a link to watch it if allowed; None if it is not full."""
    watch_id = await site.card_room.lobby.watch_id_of_full_table(code)
    if watch_id is None:
        return None
    refusal = texts(language).gettext(FULL_TO_WATCH if watch_id else FULL)
    return site.message_page(request, refusal, language=language, watch_id=watch_id, cookie=cookie)


async def sit(site: Site, request: web.Request) -> web.Response:
    """Sit down at a table, as /join does."""
    code, form = code_of(request), await site.read_form(request)
    if not (reader := await site.people.identify(request)):
        # A wrong code must not store a new person.
        language = language_of(browser_language(request))
        page = await _invitation_page(site, request, code, None, language)
        if page.status != HTTPStatus.OK:
            return page
        if full := await _full_page(site, request, code, language):
            return full
    reader, cookie, language = await site.admit(request, reader, form.get("name", ""))
    person = reader.as_person(browser_language(request))
    # For people of a chat the place is not their private chat, because this page does not prove that they have one.
    place = reader.place if reader.is_guest else str(Place(PLATFORM, person=reader.tag))
    command = Command(f"web{secrets.token_hex(10)}", person, place, "join", (code,))
    reply = await site.card_room.handle_command(command)
    hand = await site.card_room.live_hands.open_hand(code, reader.person)
    if hand is None:
        full = await _full_page(site, request, code, language, cookie)
        return full or site.message_page(request, reply.toast, language=language, cookie=cookie)
    hand.close()
    return site.redirect(f"/t/{code}", COOKIE, cookie, request)
