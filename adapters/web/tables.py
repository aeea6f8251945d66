"""The pages on which people play: they open a table or sit down at one, and a WebSocket shows it to them live.

A page says ``{"n": name, "press": payload}``, and is told ``{"table": …}`` whenever there is something else to be seen,
``{"n": name, "toast": text, "refused": bool, "go": address}`` in answer to a press, ``{"gone": true}`` where there is
nothing more to come: ``why`` beside it, or ``go`` where it goes on elsewhere.
"""

import asyncio
import json
import re
import secrets
from collections import Counter
from contextlib import suppress
from http import HTTPStatus
from typing import Annotated, Any

import structlog
from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.web_routedef import AbstractRouteDef
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from adapters.web.api.operations import CODE
from adapters.web.limits import TooMany
from adapters.web.pages import FIRST_GAME
from adapters.web.people import COOKIE, PLATFORM, SESSIONS, WebPerson, set_cookie
from adapters.web.refusals import Refused
from adapters.web.site import TOO_MUCH, Site, spoken
from bot.commands import Kind, choices
from bot.idempotency import press_key
from bot.panel import LONGEST_PAYLOAD
from bot.places import Place
from bot.platform import CardRoom, Command, Press
from bot.somebody import is_guest
from bot.store import STORE_ERRORS
from bot.texts import language_of, texts
from bot.texts import marked as _

KEY = re.compile(r"[0-9a-f]{16}")
ROBOTS = {"easy": _("🤖 Easy robot"), "medium": _("🤖 Medium robot"), "strong": _("🤖 Strong robot")}
"""Against whom one plays, by level."""

LONGEST_WORD = 1024
"""Bytes of what a page may say at once; more ends the connection."""

MOST_PAGES, MOST_PAGES_EACH = 2000, 20
LOOK_SECONDS = 5.0
"""How often it is asked whether a page's session has been ended."""

TOO_MUCH_SECONDS = 1.0
"""How long a page is not listened to from where too much is said."""

PAGE = "page"
REMATCH = "1prematch "
SORRY = _("Something went wrong with me. Nothing is lost: try again.")

ENDED = _("You play in this browser no more: have a new link sent to you in your chat.")
NO_INVITATION = _("Nobody waits at this table: the game has begun or is over, or the code is wrong.")

log = structlog.get_logger()


class PressWord(BaseModel):
    """A press. The page names it ``n``: the same press sent twice under one name counts once."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    n: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{4,10}\z")]
    press: Annotated[str, Field(max_length=LONGEST_PAYLOAD)]


class Tables:
    """Answers for these pages."""

    def __init__(self, site: Site, card_room: CardRoom) -> None:
        self._site, self._card_room = site, card_room
        self.people = site.people
        self._open: Counter[str] = Counter()

    @property
    def routes(self) -> list[AbstractRouteDef]:
        return [
            web.get("/", self.home),
            web.post("/play", self.play),
            web.get("/daily", self.day),
            web.post("/daily", self.play_day),
            web.get("/t/{code}", self.table),
            web.post("/t/{code}", self.sit),
            web.get("/t/{code}/live", self.live),
        ]

    # Pages

    async def home(self, request: web.Request) -> web.Response:
        """Where one begins."""
        reader = await self.people.whose(request)
        language = await self._language(request, reader)
        _ = texts(language).gettext
        page = self._site.page(
            request,
            "home.html",
            language,
            games=self._card_room.hands.games(language),
            first_game=FIRST_GAME,
            robots={level: _(robot) for level, robot in ROBOTS.items()},
            name=_own_name(reader),
            called=_called(reader),
            is_known=reader is not None,
            tables=await self._card_room.hands.tables_of(reader.person) if reader else [],
            player=await self._card_room.players.id_of(reader.person) if reader else "",
            key=secrets.token_hex(8),
        )
        # Its form is good once: a browser that comes back to it by Back asks for another one.
        page.headers["Cache-Control"] = "no-store"
        return page

    async def play(self, request: web.Request) -> web.Response:
        """Open a table, with robots or for friends, and lead its reader there."""
        said = await self._site.form(request)
        game, robot, key, name = (said.get(field, "") for field in ("game", "robot", "key", "name"))
        if "friend" in said:
            robot = ""
        if not KEY.fullmatch(key) or game not in choices(Kind.GAME) or robot not in ("", *ROBOTS):
            raise Refused("there is no such request")
        reader, cookie, language = await self._known(request, await self.people.whose(request), name)
        update = f"web:{reader.tag}:{key}:{game}:{robot}"
        person = reader.spoken_to(spoken(request))
        opened = await self._card_room.hands.open_table(person, game, robot, update)
        if not opened.code:
            return self._said(request, language, opened.why, cookie)
        return self._led_to(f"/t/{opened.code}", cookie)

    async def day(self, request: web.Request) -> web.Response:
        """The deal of the day, or with ``?yesterday`` how the one before went."""
        reader = await self.people.whose(request)
        language = await self._language(request, reader)
        yesterday = "yesterday" in request.query
        day = await self._card_room.hands.day(reader.person if reader else "", language, yesterday=yesterday)
        named = {"name": _own_name(reader), "called": _called(reader)}
        return self._site.page(request, "daily.html", language, day=day, yesterday=yesterday, **named)

    async def play_day(self, request: web.Request) -> web.Response:
        """Sit down to the deal of the day; whoever has played it is led to what came of it."""
        said = await self._site.form(request)
        reader, cookie, language = await self._known(request, await self.people.whose(request), said.get("name", ""))
        opened = await self._card_room.hands.open_day(reader.spoken_to(spoken(request)))
        if not opened.code:
            return self._said(request, language, opened.why, cookie)
        return self._led_to(f"/t/{opened.code}", cookie)

    async def table(self, request: web.Request) -> web.Response:
        """A table's page, for who sits there; who does not is asked whether they want to sit down."""
        code = _code(request)
        reader = await self.people.whose(request)
        language = await self._language(request, reader)
        hand = await self._card_room.hands.at(code, reader.person) if reader else None
        if hand is None:
            if reader and (played := await self._card_room.hands.played(code, reader.person)):
                return self._led_to(f"/g/{played}", "")
            return await self._invitation(request, code, reader, language)
        hand.close()
        given = {"code": code, "decks": self._site.assets.decks, "texts": _words(language)}
        return self._site.page(request, "table.html", language, code=code, data=given)

    async def _invitation(
        self, request: web.Request, code: str, reader: WebPerson | None, language: str
    ) -> web.Response:
        """Who invites to what. Codes may be guessed: of a table that waits for nobody, or not for whoever asks, nothing
        is told, and codes that lead nowhere are counted.
        """
        self._site.limits.code(request)
        person = reader.person if reader else f"{PLATFORM}:"
        handle = reader.handle if reader else ""
        invitation = await self._card_room.hands.invitation(code, person, language, handle)
        if invitation is not None:
            self._site.limits.good_code(request)
        else:
            why = texts(language).gettext(NO_INVITATION)
            return self._said(request, language, why, status=HTTPStatus.NOT_FOUND)
        named = {"name": _own_name(reader), "called": _called(reader)}
        invited = {"code": code, "game": invitation.game, "panel": invitation.panel}
        return self._site.page(request, "sit.html", language, **invited, **named)

    async def sit(self, request: web.Request) -> web.Response:
        """Sit down at a table, as /join does."""
        code, said = _code(request), await self._site.form(request)
        if not (reader := await self.people.whose(request)):
            # Nobody new is kept for a code that leads nowhere.
            invitation = await self._invitation(request, code, None, language_of(spoken(request)))
            if invitation.status != HTTPStatus.OK:
                return invitation
        reader, cookie, language = await self._known(request, reader, said.get("name", ""))
        person = reader.spoken_to(spoken(request))
        command = Command(f"web{secrets.token_hex(10)}", person, _apart(reader), "join", (code,))
        reply = await self._card_room.command(command)
        hand = await self._card_room.hands.at(code, reader.person)
        if hand is None:
            return self._said(request, language, reply.toast, cookie)
        hand.close()
        return self._led_to(f"/t/{code}", cookie)

    def _led_to(self, address: str, cookie: str) -> web.Response:
        response = web.Response(status=303, headers={"Location": address})
        self._with_cookie(response, cookie)
        return response

    def _said(
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
        self._with_cookie(response, cookie)
        return response

    def _with_cookie(self, response: web.Response, cookie: str) -> None:
        if cookie:
            set_cookie(response, COOKIE, cookie, secure=self._site.is_secure)

    async def _known(self, request: web.Request, reader: WebPerson | None, name: str) -> tuple[WebPerson, str, str]:
        """Who asks, by the name that they want, what their cookie is to hold if they are new, and their language."""
        language = await self._language(request, reader)
        if reader:
            return await self.people.rename(reader, name), "", language
        self._site.limits.newcomer(request)
        reader, cookie = await self.people.admit(name)
        return reader, cookie, language

    async def _language(self, request: web.Request, reader: WebPerson | None) -> str:
        if reader is None:
            return language_of(spoken(request))
        return await self._card_room.hands.language_of(reader.person, spoken(request))

    # Live

    async def live(self, request: web.Request) -> web.StreamResponse:
        """The WebSocket of a table's page."""
        self._site.check_is_own_page(request)
        reader = await self.people.whose(request)
        if reader is None:
            return await self._refused(request)
        if self._open.total() >= MOST_PAGES or self._open[reader.person] >= MOST_PAGES_EACH:
            raise web.HTTPTooManyRequests()
        line = web.WebSocketResponse(max_msg_size=LONGEST_WORD, heartbeat=20)
        with self._site.limits.page(request):
            self._open[reader.person] += 1
            try:
                await line.prepare(request)
                await self._serve(line, request, reader)
            finally:
                self._open[reader.person] -= 1
                if not self._open[reader.person]:
                    del self._open[reader.person]
        return line

    @staticmethod
    async def _refused(request: web.Request) -> web.WebSocketResponse:
        """Tell a stranger's page: refused before there is a line, it would try again for ever."""
        line = web.WebSocketResponse()
        await line.prepare(request)
        await line.send_str(_gone(why=_why_nobody(request, language_of(spoken(request)))))
        await line.close()
        return line

    async def _serve(self, line: web.WebSocketResponse, request: web.Request, reader: WebPerson) -> None:
        code = _code(request)
        try:
            language = await self._language(request, reader)
            hand = await self._card_room.hands.at(code, reader.person)
            # The game may have ended while the page could not be told.
            played = "" if hand else await self._card_room.hands.played(code, reader.person)
        except STORE_ERRORS as error:
            self._card_room.store_away(error)
            await line.close()
            return
        if hand is None:
            why = _why_nobody(request, language) if reader.is_guest else ""
            await line.send_str(_gone(go=f"/g/{played}") if played else _gone(why=why))
            await line.close()
            return
        looking = self._look(line, request, reader, language)
        tasks = [asyncio.create_task(self._show(line, hand)), asyncio.create_task(looking)]
        try:
            async for said in line:
                if said.type is not WSMsgType.TEXT:
                    break
                try:
                    word = PressWord.model_validate_json(said.data)
                except ValidationError:
                    # No page of ours says this.
                    await line.close(code=WSCloseCode.POLICY_VIOLATION)
                    break
                try:
                    self._site.limits.word(request)
                except TooMany:
                    # Closed, a page of ours would come again at once, and cost more.
                    await asyncio.sleep(TOO_MUCH_SECONDS)
                    answer = {"n": word.n, "toast": texts(language).gettext(TOO_MUCH), "refused": True}
                else:
                    answer = await self._heard(word, hand, request, reader, language)
                with suppress(ConnectionError):
                    await line.send_str(json.dumps(answer))
        finally:
            for task in tasks:
                task.cancel()
            hand.close()

    async def _show(self, line: web.WebSocketResponse, hand: Any) -> None:
        """Tell the page what is to be seen, until nothing more comes; a page that lags gets the latest."""
        try:
            async for state in hand.states():
                await line.send_str(f'{{"table":{state}}}')
            if hand.is_gone:
                await line.send_str(_gone())
        except ConnectionError:
            # It is gone; who reads from it hears so.
            return
        except STORE_ERRORS as error:
            self._card_room.store_away(error)
            await line.close()
        except Exception:
            log.exception("table_page_failed", table=hand.table.code)
            await line.close()

    async def _look(self, line: web.WebSocketResponse, request: web.Request, reader: WebPerson, language: str) -> None:
        """End the page when its reader's session is ended, at this worker or another."""
        try:
            while not reader.is_guest:
                await asyncio.sleep(LOOK_SECONDS)
                if not await self.people.is_still(request, reader):
                    await line.send_str(_gone(why=texts(language).gettext(ENDED)))
                    await line.close()
                    return
        except ConnectionError:
            return
        except STORE_ERRORS as error:
            self._card_room.store_away(error)
            await line.close()

    async def _heard(
        self, word: PressWord, hand: Any, request: web.Request, reader: WebPerson, language: str
    ) -> dict[str, Any]:
        """Do what a page asks for; returns the answer to it, whatever it was."""
        try:
            # As they are called by now: what a press says of its person is kept.
            fresh = await self.people.whose(request)
            if fresh is None or fresh.person != reader.person:
                return {"n": word.n, "toast": texts(language).gettext(ENDED), "refused": True}
            reply = hand.choose(word.press, language)
            if reply is None:
                genuine = hand.has(word.press)
                message = PAGE if reader.is_guest else ""
                key = press_key(f"w{reader.tag}.{word.n}", word.press)
                person = fresh.spoken_to(spoken(request))
                press = Press(key, person, reader.place, message, word.press, genuine=genuine)
                reply = await self._card_room.press(press)
            go = await self._rematch(word.press) if word.press.startswith(REMATCH) and not reply.toast else ""
        except STORE_ERRORS as error:
            return {"n": word.n, "toast": self._card_room.store_away(error, language), "refused": True}
        except Exception:
            log.exception("table_press_failed")
            return {"n": word.n, "toast": texts(language).gettext(SORRY), "refused": True}
        return {"n": word.n, "toast": reply.toast, "refused": bool(reply.toast), "go": go}

    async def _rematch(self, payload: str) -> str:
        code = await self._card_room.hands.rematch_of(payload.removeprefix(REMATCH))
        return f"/t/{code}" if code else ""


def _code(request: web.Request) -> str:
    code = request.match_info["code"].upper()
    if not re.fullmatch(CODE, code):
        raise web.HTTPNotFound()
    return code


def _gone(**more: str) -> str:
    """The word that nothing more comes."""
    return json.dumps({"gone": True, **{name: said for name, said in more.items() if said}})


def _why_nobody(request: web.Request, language: str) -> str:
    """Why somebody is nobody of a chat; empty where their browser does not say that they ever were."""
    return texts(language).gettext(ENDED) if any(cookie in request.cookies for cookie in SESSIONS) else ""


def _own_name(reader: WebPerson | None) -> str:
    """The name that somebody has chosen; empty as long as they have not."""
    return "" if reader is None or is_guest(reader.name) else reader.name


def _called(reader: WebPerson | None) -> str:
    """What somebody of a chat is called; empty for anybody else."""
    return "" if reader is None or reader.is_guest else reader.name


def _apart(reader: WebPerson) -> str:
    """Where what somebody writes here is heard. Of a chat's people nobody knows by that whether they have a private
    chat with the bot.
    """
    return reader.place if reader.is_guest else str(Place(PLATFORM, person=reader.tag))


def _words(language: str) -> dict[str, str]:
    """What the table's script says by itself."""
    _ = texts(language).gettext
    return {
        "connecting": _("Connecting…"),
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
