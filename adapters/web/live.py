"""The WebSocket of a table's page: it shows the table live, and takes what its reader presses.

A page says ``{"n": name, "press": payload}``; the name makes a press that is sent twice count once. It is told
``{"table": …}`` whenever the table looks different, ``{"n": name, "toast": text, "refused": bool, "go": address}`` in
answer to a press, and ``{"gone": true}`` when nothing more will come: ``why`` beside it, or ``go`` where it goes on.
``{"beat": true}`` asks whether the bot is there, which says the same at once: a page has no other way to notice a dead
network. The bot notices by WebSocket pings, which browsers answer themselves.
"""

import asyncio
import json
from collections import Counter
from contextlib import suppress
from typing import Annotated, Any

import structlog
from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.web_routedef import AbstractRouteDef
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from adapters.web.codes import code_of
from adapters.web.limits import LimitExceeded
from adapters.web.people import SESSIONS, WebPerson
from adapters.web.site import TOO_MUCH, Site, browser_language
from bot.card_room import CardRoom
from bot.idempotency import press_key
from bot.panel import LONGEST_PAYLOAD
from bot.platform import Press
from bot.store import STORE_ERRORS
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

LONGEST_MESSAGE = 1024
"""Bytes that a page may send at once; more ends the connection."""

MOST_PAGES, MOST_PAGES_EACH = 2000, 20
PING_SECONDS = 20.0
"""How often a page is pinged; one that does not answer within half of that is gone."""

MOST_PENDING = 16
"""Presses of one page that wait to be made; the page is not read further until one of them is done."""

SESSION_CHECK_SECONDS = 5.0
"""How often it is asked whether a page's session has been ended."""

LIMIT_PAUSE_SECONDS = 1.0
"""How long a page is not read after too much came from its address."""

PAGE = "page"
SORRY = _("Something went wrong with me. Nothing is lost: try again.")
ENDED = _("You play in this browser no more: have a new link sent to you in your chat.")

log = structlog.get_logger()


class PressMessage(BaseModel):
    """A press. The page names it ``n``: the same press sent twice under one name counts once."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    n: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{4,10}\z")]
    press: Annotated[str, Field(max_length=LONGEST_PAYLOAD)]


class Beat(BaseModel):
    """A page asks whether the bot is still there, and hears the same word."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    beat: bool


MESSAGE: TypeAdapter[PressMessage | Beat] = TypeAdapter(PressMessage | Beat)


class Live:
    """Serves these WebSockets."""

    def __init__(self, site: Site, card_room: CardRoom) -> None:
        self._site, self._card_room = site, card_room
        self._open: Counter[str] = Counter()
        self.routes: list[AbstractRouteDef] = [web.get("/t/{code}/live", self.open_page)]

    async def open_page(self, request: web.Request) -> web.StreamResponse:
        """The WebSocket of a table's page."""
        self._site.check_own_page(request)
        reader = await self._site.people.identify(request)
        if reader is None:
            return await _turn_away(request)
        if self._open.total() >= MOST_PAGES or self._open[reader.person] >= MOST_PAGES_EACH:
            raise web.HTTPTooManyRequests()
        line = web.WebSocketResponse(max_msg_size=LONGEST_MESSAGE, heartbeat=PING_SECONDS)
        with self._site.limits.open_page(request):
            self._open[reader.person] += 1
            try:
                await line.prepare(request)
                await self._serve(line, request, reader)
            finally:
                self._open[reader.person] -= 1
                if not self._open[reader.person]:
                    del self._open[reader.person]
        return line

    async def _serve(self, line: web.WebSocketResponse, request: web.Request, reader: WebPerson) -> None:
        code, hands = code_of(request), self._card_room.hands
        try:
            language = await self._card_room.lobby.language_of(reader.person, browser_language(request))
            hand = await hands.at(code, reader.person)
            # The game may have ended while the page could not be told.
            played = "" if hand else await self._card_room.lobby.played(code, reader.person)
        except STORE_ERRORS as error:
            self._card_room.report_store_error(error)
            await line.close()
            return
        if hand is None:
            why = _stranger_reason(request, language) if reader.is_guest else ""
            await line.send_str(_gone_message(go=f"/g/{played}") if played else _gone_message(why=why))
            await line.close()
            return
        try:
            await _OpenPage(self._site, self._card_room, line, request, reader, hand, language).serve()
        finally:
            hand.close()


class _OpenPage:
    """One page of a table, as long as it is open."""

    def __init__(
        self,
        site: Site,
        card_room: CardRoom,
        line: web.WebSocketResponse,
        request: web.Request,
        reader: WebPerson,
        hand: Any,
        language: str,
    ) -> None:
        self._site, self._card_room = site, card_room
        self._line, self._request = line, request
        self._reader, self._hand, self._language = reader, hand, language
        self._presses: asyncio.Queue[PressMessage] = asyncio.Queue(MOST_PENDING)

    async def serve(self) -> None:
        """Show the table and make presses until the page is gone."""
        tasks = [asyncio.create_task(one) for one in (self._send_states(), self._check_session(), self._make_presses())]
        try:
            await self._receive()
            # A press counts although its page is gone.
            await self._presses.join()
        finally:
            for task in tasks:
                task.cancel()

    async def _receive(self) -> None:
        """Take what the page says. A beat is answered at once, even while a press is being made."""
        async for said in self._line:
            if said.type is not WSMsgType.TEXT:
                return
            try:
                word = MESSAGE.validate_json(said.data)
            except ValidationError:
                # No page of ours says this.
                await self._line.close(code=WSCloseCode.POLICY_VIOLATION)
                return
            try:
                self._site.limits.count_message(self._request)
            except LimitExceeded:
                # A page of ours that is closed would come again at once, and cost more.
                await asyncio.sleep(LIMIT_PAUSE_SECONDS)
                if isinstance(word, PressMessage):
                    await self._send(self._answer(word, texts(self._language).gettext(TOO_MUCH)))
                    continue
            if isinstance(word, PressMessage):
                await self._presses.put(word)
            else:
                await self._send(word.model_dump())

    async def _make_presses(self) -> None:
        """Make the page's presses in their order, and answer each."""
        while True:
            word = await self._presses.get()
            try:
                await self._send(await self._make_press(word))
            finally:
                self._presses.task_done()

    async def _send(self, word: dict[str, Any]) -> None:
        """Tell the page something, if it is still there."""
        with suppress(ConnectionError):
            await self._line.send_str(json.dumps(word))

    @staticmethod
    def _answer(word: PressMessage, toast: str, go: str = "") -> dict[str, Any]:
        return {"n": word.n, "toast": toast, "refused": bool(toast), "go": go}

    async def _send_states(self) -> None:
        """Tell the page how the table looks until nothing more comes; a page that lags gets the latest state."""
        try:
            async for state in self._hand.states():
                await self._line.send_str(f'{{"table":{state}}}')
            if self._hand.is_gone:
                await self._line.send_str(_gone_message())
        except ConnectionError:
            # The page is gone, as its reader hears, too.
            return
        except STORE_ERRORS as error:
            self._card_room.report_store_error(error)
            await self._line.close()
        except Exception:
            log.exception("table_page_failed", table=self._hand.table.code)
            await self._line.close()

    async def _check_session(self) -> None:
        """End the page when its reader's session is ended, at this worker or another."""
        try:
            while not self._reader.is_guest:
                await asyncio.sleep(SESSION_CHECK_SECONDS)
                if not await self._site.people.is_signed_in(self._request, self._reader):
                    await self._line.send_str(_gone_message(why=texts(self._language).gettext(ENDED)))
                    await self._line.close()
                    return
        except ConnectionError:
            return
        except STORE_ERRORS as error:
            self._card_room.report_store_error(error)
            await self._line.close()

    async def _make_press(self, word: PressMessage) -> dict[str, Any]:
        """Make a press; returns the answer to it, whatever happened."""
        reader, request, _ = self._reader, self._request, texts(self._language).gettext
        try:
            # A press carries its person's present name, which is kept.
            fresh = await self._site.people.identify(request)
            if fresh is None or fresh.person != reader.person:
                return self._answer(word, _(ENDED))
            reply = self._hand.choose(word.press, self._language)
            if reply is None:
                genuine = self._hand.has(word.press)
                message = PAGE if reader.is_guest else ""
                key = press_key(f"w{reader.tag}.{word.n}", word.press)
                person = fresh.as_person(browser_language(request))
                visitor = self._site.guest_visitor(request, reader)
                press = Press(key, person, reader.place, message, word.press, genuine=genuine, visitor=visitor)
                reply = await self._card_room.handle_press(press)
            code = "" if reply.toast else await self._card_room.lobby.rematch_of(word.press)
        except STORE_ERRORS as error:
            return self._answer(word, self._card_room.report_store_error(error, self._language))
        except Exception:
            log.exception("table_press_failed")
            return self._answer(word, _(SORRY))
        return self._answer(word, reply.toast, f"/t/{code}" if code else "")


async def _turn_away(request: web.Request) -> web.WebSocketResponse:
    """Tell a stranger's page that it sees nothing here: refused before it is open, it would try again for ever."""
    line = web.WebSocketResponse()
    await line.prepare(request)
    await line.send_str(_gone_message(why=_stranger_reason(request, language_of(browser_language(request)))))
    await line.close()
    return line


def _gone_message(**more: str) -> str:
    """The word that nothing more comes."""
    return json.dumps({"gone": True, **{name: said for name, said in more.items() if said}})


def _stranger_reason(request: web.Request, language: str) -> str:
    """Why somebody is nobody of a chat; empty where their browser does not say that they ever were."""
    return texts(language).gettext(ENDED) if any(cookie in request.cookies for cookie in SESSIONS) else ""
