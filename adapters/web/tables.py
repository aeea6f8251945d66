"""The pages to open a table, sit down at one, and play there (`live` keeps them up to date)."""

import re
import secrets
from http import HTTPStatus

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef

from adapters.web.codes import code_of
from adapters.web.people import COOKIE, PLATFORM, WebPerson, set_cookie
from adapters.web.refusals import Refused
from adapters.web.site import Site, browser_language
from bot.card_room import CardRoom
from bot.commands import FIRST_GAME, ArgumentKind, choices_of
from bot.features.daily.feature import DailyFeature
from bot.features.daily.site import DaySite
from bot.features.ratings.feature import RatingsFeature
from bot.identity.pseudonyms import is_guest_name
from bot.places import Place
from bot.platform import Command
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

KEY = re.compile(r"[0-9a-f]{16}")
ROBOTS = {"easy": _("🤖 Easy robot"), "medium": _("🤖 Medium robot"), "strong": _("🤖 Strong robot")}
FULL = _("This table is full.")
FULL_TO_WATCH = _("This table is full, but you can watch the game.")
NO_INVITATION = _("Nobody waits at this table: the game has begun or is over, or the code is wrong.")


class Tables:
    """The handlers of ``/``, ``/play``, ``/daily`` and ``/t/{code}``."""

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
        reader = await self.people.identify(request)
        language = await self._site.language(request, reader)
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
        # The form can be sent once, so the browser's Back must load the page again.
        page.headers["Cache-Control"] = "no-store"
        return page

    async def play(self, request: web.Request) -> web.Response:
        """Open a table, with a robot or for a friend, and redirect there."""
        form = await self._site.read_form(request)
        game, robot, key, name = (form.get(field, "") for field in ("game", "robot", "key", "name"))
        if "friend" in form:
            robot = ""
        if not KEY.fullmatch(key) or game not in choices_of(ArgumentKind.GAME) or robot not in ("", *ROBOTS):
            raise Refused("there is no such request")
        reader, cookie, language = await self._admit(request, await self.people.identify(request), name)
        update = f"web:{reader.tag}:{key}:{game}:{robot}"
        person = reader.as_person(browser_language(request))
        visitor = self._site.guest_visitor(request, reader)
        opened = await self._card_room.lobby.open_table(person, game, robot, update, visitor)
        if not opened.code:
            return self._with_cookie(self._site.message_page(request, opened.why, language=language), cookie)
        return self._site.redirect(f"/t/{opened.code}", COOKIE, cookie)

    async def day(self, request: web.Request) -> web.Response:
        """Show the deal of the day, or with ``?yesterday`` the last one's result."""
        reader = await self.people.identify(request)
        language = await self._site.language(request, reader)
        yesterday = "yesterday" in request.query
        day = await self._day_site.page(reader.person if reader else "", language, yesterday=yesterday)
        named = {"name": _chosen_name(reader), "called": _chat_name(reader)}
        return self._site.page(request, "daily.html", language, day=day, yesterday=yesterday, **named)

    async def play_day(self, request: web.Request) -> web.Response:
        """Start the deal of the day, or show the result if it has been played."""
        form = await self._site.read_form(request)
        reader, cookie, language = await self._admit(request, await self.people.identify(request), form.get("name", ""))
        person, visitor = reader.as_person(browser_language(request)), self._site.guest_visitor(request, reader)
        code, why = await self._day_site.open_table(person, visitor)
        if not code:
            return self._with_cookie(self._site.message_page(request, why, language=language), cookie)
        return self._site.redirect(f"/t/{code}", COOKIE, cookie)

    async def table(self, request: web.Request) -> web.Response:
        """Show the table to its players, and the invitation to all others."""
        code = code_of(request)
        reader = await self.people.identify(request)
        language = await self._site.language(request, reader)
        hand = await self._card_room.hands.open_hand(code, reader.person) if reader else None
        if hand is None:
            if reader and (played := await self._card_room.lobby.find_played(code, reader.person)):
                return self._site.redirect(f"/g/{played}")
            return await self._invitation_page(request, code, reader, language)
        hand.close()
        data = {"code": code, "decks": self._site.assets.decks, "texts": _texts(language)}
        return self._site.page(request, "table.html", language, code=code, data=data)

    async def _invitation_page(
        self, request: web.Request, code: str, reader: WebPerson | None, language: str
    ) -> web.Response:
        """Return the invitation to a table, or a page that says that it is full or unknown.

        Codes can be guessed: wrong ones are limited, and a table that never invited the visitor counts as unknown.
        """
        self._site.limits.count_code(request)
        person = reader.person if reader else f"{PLATFORM}:"
        handle = reader.handle if reader else ""
        invitation = await self._card_room.lobby.invitation(code, person, language, handle)
        full = None if invitation else await self._full_page(request, code, language)
        if invitation or full:
            self._site.limits.give_code_back(request)
        if invitation is None:
            why = texts(language).gettext(NO_INVITATION)
            return full or self._site.message_page(request, why, HTTPStatus.NOT_FOUND, language)
        named = {"name": _chosen_name(reader), "called": _chat_name(reader)}
        invited = {"code": code, "game": invitation.game, "panel": invitation.panel}
        return self._site.page(request, "sit.html", language, **invited, **named)

    async def _full_page(self, request: web.Request, code: str, language: str) -> web.Response | None:
        """Return the page of a full table, with a link to watch it if allowed; None if it is not full."""
        full = await self._card_room.lobby.full_table(code)
        if full is None:
            return None
        why = texts(language).gettext(FULL_TO_WATCH if full.watch_id else FULL)
        return self._site.message_page(request, why, language=language, watch_id=full.watch_id)

    async def sit(self, request: web.Request) -> web.Response:
        """Sit down at a table, as /join does."""
        code, form = code_of(request), await self._site.read_form(request)
        if not (reader := await self.people.identify(request)):
            # A wrong code must not store a new person.
            language = language_of(browser_language(request))
            page = await self._invitation_page(request, code, None, language)
            if page.status != HTTPStatus.OK:
                return page
            if full := await self._full_page(request, code, language):
                return full
        reader, cookie, language = await self._admit(request, reader, form.get("name", ""))
        person = reader.as_person(browser_language(request))
        command = Command(f"web{secrets.token_hex(10)}", person, _reply_place(reader), "join", (code,))
        reply = await self._card_room.handle_command(command)
        hand = await self._card_room.hands.open_hand(code, reader.person)
        if hand is None:
            full = await self._full_page(request, code, language)
            return self._with_cookie(full or self._site.message_page(request, reply.toast, language=language), cookie)
        hand.close()
        return self._site.redirect(f"/t/{code}", COOKIE, cookie)

    def _with_cookie(self, response: web.Response, cookie: str) -> web.Response:
        if cookie:
            set_cookie(response, COOKIE, cookie, secure=self._site.is_secure)
        return response

    async def _admit(self, request: web.Request, reader: WebPerson | None, name: str) -> tuple[WebPerson, str, str]:
        """Return the reader under their chosen name, a new guest's cookie (else ""), and their language."""
        language = await self._site.language(request, reader)
        if reader:
            return await self.people.rename(reader, name), "", language
        self._site.limits.count_newcomer(request)
        reader, cookie = await self.people.add_guest(name)
        return reader, cookie, language


def _chosen_name(reader: WebPerson | None) -> str:
    """Return the name that a reader has chosen, or ""."""
    return "" if reader is None or is_guest_name(reader.name) else reader.name


def _chat_name(reader: WebPerson | None) -> str:
    """Return the name of a reader from a chat, or "" for guests and strangers."""
    return "" if reader is None or reader.is_guest else reader.name


def _reply_place(reader: WebPerson) -> str:
    """Return the place of a reader's command.

    For people of a chat it is not their private chat: this page must not count as proof that they have one.
    """
    return reader.place if reader.is_guest else str(Place(PLATFORM, person=reader.tag))


def _texts(language: str) -> dict[str, str]:
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
