"""The pages on which people play: they open a table or sit down at one (`live` shows it to them)."""

import re
import secrets
from http import HTTPStatus

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef

from adapters.web.codes import code_of
from adapters.web.cookie_check import cookie_check_url
from adapters.web.people import COOKIE, PLATFORM, WebPerson, set_cookie
from adapters.web.refusals import Refused
from adapters.web.site import Site, browser_language
from bot.card_room import CardRoom
from bot.commands import FIRST_GAME, ArgumentKind, choices_of
from bot.features.daily.feature import DailyFeature
from bot.features.daily.site import DaySite
from bot.features.ratings.feature import RatingsFeature
from bot.places import Place
from bot.platform import Command
from bot.pseudonyms import is_guest_name
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

KEY = re.compile(r"[0-9a-f]{16}")
ROBOTS = {"easy": _("🤖 Easy robot"), "medium": _("🤖 Medium robot"), "strong": _("🤖 Strong robot")}
"""Against whom one plays, by level."""

FULL = _("This table is full.")
FULL_TO_WATCH = _("This table is full, but you can watch the game.")
NO_INVITATION = _("Nobody waits at this table: the game has begun or is over, or the code is wrong.")


class Tables:
    """Answers for these pages."""

    def __init__(self, site: Site, card_room: CardRoom) -> None:
        self._site, self._card_room = site, card_room
        self.people = site.people

    @property
    def _day_site(self) -> DaySite:
        return self._card_room.feature(DailyFeature).site

    @property
    def routes(self) -> list[AbstractRouteDef]:
        return [
            web.get("/", self.home),
            web.post("/play", self.play),
            web.get("/daily", self.day),
            web.post("/daily", self.play_day),
            web.get("/t/{code}", self.table),
            web.post("/t/{code}", self.sit),
        ]

    # Pages

    async def home(self, request: web.Request) -> web.Response:
        """Where one begins."""
        reader = await self.people.identify(request)
        language = await self._language(request, reader)
        _ = texts(language).gettext
        page = self._site.page(
            request,
            "home.html",
            language,
            games=self._card_room.lobby.games(language),
            first_game=FIRST_GAME,
            robots={level: _(robot) for level, robot in ROBOTS.items()},
            name=_chosen_name(reader),
            called=_chat_name(reader),
            is_known=reader is not None,
            tables=await self._card_room.lobby.tables_of(reader.person) if reader else [],
            player=await self._card_room.feature(RatingsFeature).players.id_of(reader.person) if reader else "",
            key=secrets.token_hex(8),
        )
        # Its form is good once: a browser that comes back to it by Back asks for another one.
        page.headers["Cache-Control"] = "no-store"
        return page

    async def play(self, request: web.Request) -> web.Response:
        """Open a table, with robots or for friends, and lead its reader there."""
        said = await self._site.read_form(request)
        game, robot, key, name = (said.get(field, "") for field in ("game", "robot", "key", "name"))
        if "friend" in said:
            robot = ""
        if not KEY.fullmatch(key) or game not in choices_of(ArgumentKind.GAME) or robot not in ("", *ROBOTS):
            raise Refused("there is no such request")
        reader, cookie, language = await self._admit(request, await self.people.identify(request), name)
        update = f"web:{reader.tag}:{key}:{game}:{robot}"
        person = reader.as_person(browser_language(request))
        opened = await self._card_room.lobby.open_table(
            person, game, robot, update, self._site.guest_visitor(request, reader)
        )
        if not opened.code:
            return self._message_page(request, language, opened.why, cookie)
        return self._redirect(f"/t/{opened.code}", cookie)

    async def day(self, request: web.Request) -> web.Response:
        """The deal of the day, or with ``?yesterday`` how the one before went."""
        reader = await self.people.identify(request)
        language = await self._language(request, reader)
        yesterday = "yesterday" in request.query
        day = await self._day_site.page(reader.person if reader else "", language, yesterday=yesterday)
        named = {"name": _chosen_name(reader), "called": _chat_name(reader)}
        return self._site.page(request, "daily.html", language, day=day, yesterday=yesterday, **named)

    async def play_day(self, request: web.Request) -> web.Response:
        """Sit down to the deal of the day; whoever has played it is led to what came of it."""
        said = await self._site.read_form(request)
        reader, cookie, language = await self._admit(request, await self.people.identify(request), said.get("name", ""))
        code, why = await self._day_site.open(
            reader.as_person(browser_language(request)), self._site.guest_visitor(request, reader)
        )
        if not code:
            return self._message_page(request, language, why, cookie)
        return self._redirect(f"/t/{code}", cookie)

    async def table(self, request: web.Request) -> web.Response:
        """A table's page, for who sits there; who does not is asked whether they want to sit down."""
        code = code_of(request)
        reader = await self.people.identify(request)
        language = await self._language(request, reader)
        hand = await self._card_room.hands.at(code, reader.person) if reader else None
        if hand is None:
            if reader and (played := await self._card_room.lobby.played(code, reader.person)):
                return self._redirect(f"/g/{played}", "")
            return await self._invitation_page(request, code, reader, language)
        hand.close()
        given = {"code": code, "decks": self._site.assets.decks, "texts": _texts(language)}
        return self._site.page(request, "table.html", language, code=code, data=given)

    async def _invitation_page(
        self, request: web.Request, code: str, reader: WebPerson | None, language: str
    ) -> web.Response:
        """Who invites to what, or that the table is full. Codes may be guessed, so those that lead nowhere are counted,
        and nothing is told of a table that never invited its visitor.
        """
        self._site.limits.count_code(request)
        person = reader.person if reader else f"{PLATFORM}:"
        handle = reader.handle if reader else ""
        invitation = await self._card_room.lobby.invitation(code, person, language, handle)
        if invitation is None:
            full = await self._full_page(request, code, language)
            if full is None:
                why = texts(language).gettext(NO_INVITATION)
                return self._message_page(request, language, why, status=HTTPStatus.NOT_FOUND)
            self._site.limits.give_code_back(request)
            return full
        self._site.limits.give_code_back(request)
        named = {"name": _chosen_name(reader), "called": _chat_name(reader)}
        invited = {"code": code, "game": invitation.game, "panel": invitation.panel}
        return self._site.page(request, "sit.html", language, **invited, **named)

    async def _full_page(self, request: web.Request, code: str, language: str) -> web.Response | None:
        """A page that says that a table is full, with a link to watch it if that is allowed; None if it is not."""
        full = await self._card_room.lobby.full_table(code)
        if full is None:
            return None
        why = texts(language).gettext(FULL_TO_WATCH if full.watch_id else FULL)
        return self._site.page(request, "said.html", language, why=why, watch_id=full.watch_id)

    async def sit(self, request: web.Request) -> web.Response:
        """Sit down at a table, as /join does."""
        code, said = code_of(request), await self._site.read_form(request)
        if not (reader := await self.people.identify(request)):
            # Nobody new is kept for a code that leads nowhere.
            language = language_of(browser_language(request))
            page = await self._invitation_page(request, code, None, language)
            if page.status != HTTPStatus.OK:
                return page
            if full := await self._full_page(request, code, language):
                return full
        reader, cookie, language = await self._admit(request, reader, said.get("name", ""))
        person = reader.as_person(browser_language(request))
        command = Command(f"web{secrets.token_hex(10)}", person, _reply_place(reader), "join", (code,))
        reply = await self._card_room.handle_command(command)
        hand = await self._card_room.hands.at(code, reader.person)
        if hand is None:
            full = await self._full_page(request, code, language)
            if full is None:
                return self._message_page(request, language, reply.toast, cookie)
            self._set_cookie(full, cookie)
            return full
        hand.close()
        return self._redirect(f"/t/{code}", cookie)

    def _redirect(self, address: str, cookie: str) -> web.Response:
        response = web.Response(status=303, headers={"Location": cookie_check_url(address) if cookie else address})
        self._set_cookie(response, cookie)
        return response

    def _message_page(
        self,
        request: web.Request,
        language: str,
        why: str,
        cookie: str = "",
        status: HTTPStatus = HTTPStatus.OK,
    ) -> web.Response:
        """A page that says one thing, and leads back."""
        response = self._site.page(request, "said.html", language, why=why)
        response.set_status(status)
        self._set_cookie(response, cookie)
        return response

    def _set_cookie(self, response: web.Response, cookie: str) -> None:
        if cookie:
            set_cookie(response, COOKIE, cookie, secure=self._site.is_secure)

    async def _admit(self, request: web.Request, reader: WebPerson | None, name: str) -> tuple[WebPerson, str, str]:
        """Who asks, by the name that they want, what their cookie is to hold if they are new, and their language."""
        language = await self._language(request, reader)
        if reader:
            return await self.people.rename(reader, name), "", language
        self._site.limits.count_newcomer(request)
        reader, cookie = await self.people.add_guest(name)
        return reader, cookie, language

    async def _language(self, request: web.Request, reader: WebPerson | None) -> str:
        if reader is None:
            return language_of(browser_language(request))
        return await self._card_room.lobby.language_of(reader.person, browser_language(request))


def _chosen_name(reader: WebPerson | None) -> str:
    """The name that somebody has chosen; empty as long as they have not."""
    return "" if reader is None or is_guest_name(reader.name) else reader.name


def _chat_name(reader: WebPerson | None) -> str:
    """What somebody of a chat is called; empty for anybody else."""
    return "" if reader is None or reader.is_guest else reader.name


def _reply_place(reader: WebPerson) -> str:
    """Where what somebody writes here is heard. Of a chat's people nobody knows by that whether they have a private
    chat with the bot.
    """
    return reader.place if reader.is_guest else str(Place(PLATFORM, person=reader.tag))


def _texts(language: str) -> dict[str, str]:
    """What the table's script says by itself."""
    _ = texts(language).gettext
    return {
        "connecting": _("Connecting…"),
        "unsent": _("Not sent yet…"),
        "home": _("First page"),
        "in_words": _("In words"),
        "resign": _("Resign"),
        "menu": _("Menu"),
        "settings": _("Settings"),
        "only_here": _(
            "This address is good on this computer only: docs/hosting.md says how friends elsewhere reach the bot."
        ),
        "shut": _("Close"),
        "sounds_on": _("🔊 Sounds on"),
        "sounds_off": _("🔇 Sounds off"),
        "days": _("days"),
        "copy": _("Copy"),
        "copied": _("Copied"),
        "share": _("Share"),
        "rules": _("Rules"),
        "send_link": _("Send this link to whoever you want to play with:"),
        "go_on": _("Go on"),
        "your_hand": _("Your hand"),
        "your_packets": _("Your packets"),
        "on_the_table": _("On the table"),
        "cards": _("{count} cards"),
        "one_card": _("1 card"),
        "packet": _("packet {number}"),
        "gone": _("You do not sit at this table any more."),
        "new_game": _("Another game"),
        "replay": _("Replay"),
        "results": _("🏆 Today’s results"),
    }
