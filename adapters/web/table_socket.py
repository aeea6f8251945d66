"""The WebSocket of a table's page: it shows the table live and receives the player's presses.

The page sends ``{"n": name, "press": payload}``; a press sent twice under one name counts once. The bot sends

- ``{"table": …}`` whenever the table looks different;
- ``{"n": name, "toast": text, "refused": bool, "go": address}`` in answer to a press; ``"again": true`` in a refusal
  says that the same press can succeed later;
- ``{"gone": true}`` before it closes, with the reason as ``why`` or the next address as ``go``. ``"stranger": true``
  says that this browser no longer belongs to the page's reader.

The page names its reader in the socket's address (`WebPerson.tag`), so no press counts for another person. A page that
already shows the result of the game adds ``ended``. Then the bot keeps the socket open for a press of *Rematch*.

``{"pace": "slow"}`` sets how fast robots move in practice. ``{"beat": true}`` is echoed at once, so that the page
notices a dead network. The bot notices it by WebSocket pings, which browsers answer.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any

import structlog
from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.web_routedef import AbstractRouteDef
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from adapters.web.codes import code_of
from adapters.web.limits import LimitExceeded
from adapters.web.people import SESSIONS, WebPerson
from adapters.web.site import TOO_MUCH, Site, browser_language
from bot.card_room import EndedHand, LiveHand
from bot.metrics import PAGES
from bot.panel import LONGEST_PAYLOAD
from bot.platform import Press
from bot.robots.pace import Pace
from bot.site.idempotency import press_key
from bot.store import STORE_ERRORS
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

LONGEST_MESSAGE = 1024  # bytes of a message; a longer one ends the connection
MAX_PAGES, MAX_PAGES_EACH = 2000, 20
PING_SECONDS = 20.0  # time between pings; a page that does not answer within half of this is gone
MAX_PENDING = 16  # unanswered presses of one page; reading from the page pauses at this number
SESSION_CHECK_SECONDS = 5.0
LIMIT_PAUSE_SECONDS = 1.0  # pause in reading a page after a limit was exceeded
PAGE = "page"
SORRY = _("Something went wrong, but nothing is lost: try again.")
SESSION_ENDED = _("You no longer play in this browser: get a new link in your chat.")

log = structlog.get_logger()


class PageMessage(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class PressMessage(PageMessage):
    """A press, named ``n`` by the page. A press sent twice under one name counts once."""

    n: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{4,10}\z")]
    press: Annotated[str, Field(max_length=LONGEST_PAYLOAD)]


class Beat(PageMessage):
    """A page's heartbeat, which the bot echoes."""

    beat: bool


class PaceMessage(PageMessage):
    """The pace that the reader chose for robots."""

    pace: Pace


Message = PressMessage | Beat | PaceMessage
MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)


class TableSockets:
    """The open sockets of tables' pages."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._open: Counter[str] = Counter()
        self.routes: list[AbstractRouteDef] = [web.get("/t/{code}/live", self.open_page)]

    async def open_page(self, request: web.Request) -> web.StreamResponse:
        self._site.check_own_page(request)
        reader = await self._site.people.identify(request)
        socket = web.WebSocketResponse(max_msg_size=LONGEST_MESSAGE, heartbeat=PING_SECONDS)
        if reader is None or request.query.get("reader", reader.tag) != reader.tag:
            # Tell a stranger's page to stop. A page that is refused before it opens would retry forever.
            await socket.prepare(request)
            reason = _stranger_reason(request, language_of(browser_language(request)))
            await _send_gone(socket, reason=reason, stranger=True)
            return socket
        if self._open.total() >= MAX_PAGES or self._open[reader.person] >= MAX_PAGES_EACH:
            raise web.HTTPTooManyRequests()
        with self._site.limits.open_page(request), PAGES.labels("table").track_inprogress():
            self._open[reader.person] += 1
            try:
                await socket.prepare(request)
                await self._serve(socket, request, reader)
            finally:
                self._open[reader.person] -= 1
                if not self._open[reader.person]:
                    del self._open[reader.person]
        return socket

    async def _serve(self, socket: web.WebSocketResponse, request: web.Request, reader: WebPerson) -> None:
        code, card_room = code_of(request), self._site.card_room
        try:
            language = await card_room.lobby.language_of(reader.person, browser_language(request))
            hand: LiveHand | EndedHand | None = await card_room.live_hands.open_hand(code, reader.person)
            # The game might have ended while the page was disconnected.
            finished_game = "" if hand else await card_room.lobby.find_latest_game_id(code, reader.person)
        except STORE_ERRORS as error:
            card_room.report_store_error(error)
            await socket.close()
            return
        if hand is None and finished_game and "ended" in request.query:
            hand = EndedHand(finished_game)
        if hand is None:
            reason = _stranger_reason(request, language) if reader.is_guest and not finished_game else ""
            await _send_gone(socket, reason=reason, go=f"/g/{finished_game}" if finished_game else "")
            return
        try:
            await _OpenPage(self._site, socket, request, reader, hand, language).serve()
        finally:
            hand.close()


@dataclass
class _OpenPage:
    site: Site
    socket: web.WebSocketResponse
    request: web.Request
    reader: WebPerson
    hand: LiveHand | EndedHand
    language: str
    presses: asyncio.Queue[PressMessage] = field(default_factory=lambda: asyncio.Queue(MAX_PENDING))

    async def serve(self) -> None:
        """Send states and handle presses until the page closes."""
        parts = self._send_states, self._check_session, self._make_presses
        self.site.card_room.presence.note(self.reader.person)
        tasks = [asyncio.create_task(self._run(part)) for part in parts]
        try:
            await self._receive()
            # A press counts even if its page has closed.
            await self.presses.join()
        finally:
            for task in tasks:
                task.cancel()

    async def _run(self, part: Callable[[], Awaitable[None]]) -> None:
        """Run a part of the page, and close the page after an error."""
        try:
            with suppress(ConnectionError):
                await part()
        except STORE_ERRORS as error:
            self.site.card_room.report_store_error(error)
            await self.socket.close()
        except Exception:
            log.exception("table_page_failed", table=code_of(self.request))
            await self.socket.close()

    async def _receive(self) -> None:
        """Read messages. A heartbeat is answered at once, even during a press."""
        async for received in self.socket:
            if received.type is not WSMsgType.TEXT:
                return
            try:
                message = MESSAGE.validate_json(received.data)
            except ValidationError:
                # Our pages never send this.
                await self.socket.close(code=WSCloseCode.POLICY_VIOLATION)
                return
            self.site.card_room.presence.note(self.reader.person)
            try:
                if isinstance(message, Beat):
                    self.site.limits.count_beat(self.request)
                else:
                    self.site.limits.count_message(self.request)
            except LimitExceeded:
                # A closed page would reconnect at once, which costs more.
                await asyncio.sleep(LIMIT_PAUSE_SECONDS)
                if isinstance(message, PressMessage):
                    await self._send(_answer(message, texts(self.language).gettext(TOO_MUCH), again=True))
                    continue
            if isinstance(message, PressMessage):
                await self.presses.put(message)
            elif isinstance(message, PaceMessage):
                self.hand.set_pace(message.pace)
            else:
                await self._send(message.model_dump())

    async def _make_presses(self) -> None:
        """Handle the page's presses in order, and answer each."""
        while True:
            message = await self.presses.get()
            try:
                await self._send(await self._make_press(message))
            finally:
                self.presses.task_done()

    async def _send(self, message: dict[str, Any]) -> None:
        """Send a message, unless the page is gone."""
        with suppress(ConnectionError):
            await self.socket.send_str(json.dumps(message))

    async def _send_states(self) -> None:
        """Send each state of the table until its game ends; a slow page gets only the latest."""
        async for state in self.hand.states():
            await self.socket.send_str(f'{{"table":{state}}}')
        if self.hand.has_ended:
            await _send_gone(self.socket, keeps_open=True)

    async def _check_session(self) -> None:
        """Close the page when its reader's session ends, at this worker or another."""
        while not self.reader.is_guest:
            await asyncio.sleep(SESSION_CHECK_SECONDS)
            if self.reader.person not in await self.site.people.session_people(self.request):
                await _send_gone(self.socket, reason=texts(self.language).gettext(SESSION_ENDED), stranger=True)
                return

    async def _make_press(self, message: PressMessage) -> dict[str, Any]:
        """Handle a press and return the answer, even after an error."""
        reader, request, _ = self.reader, self.request, texts(self.language).gettext
        try:
            # The press is stored with the person's current name.
            fresh = await self.site.people.identify(request)
            if fresh is None or fresh.person != reader.person:
                return _answer(message, _(SESSION_ENDED))
            reply = self.hand.handle_choice(message.press, self.language)
            if reply is None:
                genuine = self.hand.has_button(message.press)
                guest_page = PAGE if reader.is_guest else ""
                key = press_key(f"w{reader.tag}.{message.n}", message.press)
                person = fresh.as_person(browser_language(request))
                visitor = self.site.guest_visitor(request, reader)
                press = Press(key, person, reader.place, guest_page, message.press, genuine=genuine, visitor=visitor)
                reply = await self.site.card_room.handle_press(press)
            code = "" if reply.toast else await self.site.card_room.lobby.rematch_of(message.press)
        except STORE_ERRORS as error:
            return _answer(message, self.site.card_room.report_store_error(error, self.language), again=True)
        except Exception:
            log.exception("table_press_failed")
            return _answer(message, _(SORRY), again=True)
        return _answer(message, reply.toast, f"/t/{code}" if code else "", again=reply.is_temporary)


def _answer(message: PressMessage, toast: str, go: str = "", *, again: bool = False) -> dict[str, Any]:
    answer = {"n": message.n, "toast": toast, "refused": bool(toast), "go": go}
    return answer | {"again": True} if again else answer


async def _send_gone(
    socket: web.WebSocketResponse, *, reason: str = "", go: str = "", stranger: bool = False, keeps_open: bool = False
) -> None:
    """Tell the page that it can no longer show the table. Close the socket, unless ``keeps_open``."""
    fields = {"why": reason, "go": go, "stranger": stranger}
    await socket.send_str(json.dumps({"gone": True} | {name: value for name, value in fields.items() if value}))
    if not keeps_open:
        await socket.close()


def _stranger_reason(request: web.Request, language: str) -> str:
    """Say that the session has ended, if the browser still has its cookie. Otherwise return an empty string."""
    return texts(language).gettext(SESSION_ENDED) if any(cookie in request.cookies for cookie in SESSIONS) else ""
