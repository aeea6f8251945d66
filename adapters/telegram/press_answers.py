"""Answers to presses: each callback query is answered once, and within two seconds."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import structlog
from telegram.error import BadRequest, RetryAfter

from adapters.telegram import reading
from adapters.telegram.errors import LIBRARY_ERRORS, error_name
from adapters.telegram.limits import LONGEST_TOAST
from adapters.telegram.pages import Pages
from adapters.telegram.transport import ConnectionLost, InvalidAnswer, NotConnected, Post, ServerError, json_body
from bot.card_room import CardRoom
from bot.concurrency.background import TaskSet
from bot.panel import Panel, Span
from bot.platform import Press, Reply, Unreachable, is_ephemeral, is_inline, is_private, private_place
from bot.texts import language_of, texts

ANSWER_SECONDS = 1.5  # time until a query is answered without the outcome, to leave half a second for latency
RETRY_PAUSES = (0.3, 1.0)  # seconds before a lost answer is sent again; Telegram ignores a second answer
RETRIED_ERRORS = (NotConnected, ConnectionLost, InvalidAnswer, ServerError, RetryAfter)

log = structlog.get_logger()


class QueryAnswer:
    """The answer to one callback query: a context in which the press is handled.

    Only the first `give` counts. Without a `give`, the query gets the ``fallback`` answer after `ANSWER_SECONDS`, or an
    empty answer when the context ends. ``sent`` is set after the answer is sent or has failed.
    """

    def __init__(self, post: Post, query: str, language: str) -> None:
        self._post, self._query = post, query
        self.fallback: dict[str, str] = {"text": texts(language).gettext("One moment…")}
        self.sent = asyncio.Event()
        self._is_given = False
        self._timer = asyncio.get_running_loop().call_later(ANSWER_SECONDS, self._give_fallback)
        self._fallback_task: asyncio.Task[bool] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.give()
        await self.sent.wait()

    async def give(self, *, text: str = "", url: str = "") -> bool:
        """Answer the query with a toast or a link; return False if it was answered before."""
        if self._is_given:
            return False
        self._is_given = True
        self._timer.cancel()
        try:
            await self._send({"text": text[:LONGEST_TOAST] or None, "url": url or None})
        finally:
            self.sent.set()
        return True

    def _give_fallback(self) -> None:
        self._fallback_task = asyncio.create_task(self.give(**self.fallback))

    async def _send(self, answer: dict[str, Any]) -> None:
        method, fields = await self._call_for(answer)
        body = json_body(fields)
        for pause in (*RETRY_PAUSES, None):
            try:
                await self._post(method, body)
            except BadRequest:
                # The query is too old, or a killed bot has answered it.
                return
            except LIBRARY_ERRORS as error:
                if pause is None or not isinstance(error, RETRIED_ERRORS):
                    log.info("telegram_press_unanswered", why=error_name(error))
                    return
                await asyncio.sleep(pause)
            else:
                return

    async def _call_for(self, answer: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the method that answers the query, and its fields."""
        return "answerCallbackQuery", {"callback_query_id": self._query, **answer}


@dataclass
class PressReplies:
    """Shows the card room's replies to presses: as answers to queries, and as pages.

    ``link_of`` returns the address that opens the private chat with a start word. ``can_write_to`` returns whether a
    person who had a private chat still has one.
    """

    pages: Pages
    card_room: CardRoom
    link_of: Callable[[str], str]
    can_write_to: Callable[[str], Awaitable[bool]]
    background: TaskSet

    async def show(self, press: Press, reply: Reply, answer: QueryAnswer, *, is_photo: bool) -> None:
        """Answer the query and queue the page, if any. ``is_photo``: the pressed message is a photo."""
        if reply.panel and reply.private:
            await self._send_privately(press, reply, answer)
            return
        if reply.start_word:
            answer.fallback = {"url": self.link_of(reply.start_word)}
            if not (reply.has_private_chat and await self.can_write_to(press.person.id)):
                # The reply is sent to the private chat that this link opens.
                await answer.give(**answer.fallback)
                return
        text = reply.toast
        if panel := reply.panel:

            async def replace() -> None:
                # The answer stops the spinner on the button.
                await answer.sent.wait()
                await self.pages.replace(press, panel, is_photo=is_photo)

            # Messages and edits count towards a chat's limits even if they answer a press.
            if not self.card_room.queue_answer(reading.main_place(press.place), replace, message=press.message):
                text = _too_many_text(press)
        if not await answer.give(text=text) and text:
            # The query already has an answer, so the toast goes to the private chat.
            place = _private_place(press)
            send = partial(self.pages.send, place, Panel((Span(text),)), f"{press.key}.late")
            self.card_room.queue_answer(reading.main_place(place), send, message="late toast")

    async def _send_privately(self, press: Press, reply: Reply, answer: QueryAnswer) -> None:
        """Queue a page for the private chat, and return when the query is answered.

        The query is answered when the page is sent, or after `ANSWER_SECONDS` if that takes longer. If the page is lost
        later, the chat of the press gets a message about it.
        """
        _ = texts(language_of(press.person.language)).gettext
        on_its_way = {"text": _("It’s on its way to our private chat.")}
        answer.fallback = on_its_way if reply.has_private_chat else {"url": self.link_of(reply.start_word or "page")}
        will_be_sent = self.card_room.queue_answer(
            reading.main_place(_private_place(press)),
            partial(self._send, press, reply, answer),
            on_lost=lambda: self.background.start(self._report_lost(press, answer)),
        )
        if will_be_sent:
            await answer.sent.wait()
        else:
            await answer.give(text=_too_many_text(press))

    async def _send(self, press: Press, reply: Reply, answer: QueryAnswer) -> None:
        assert reply.panel
        try:
            await self.pages.send(_private_place(press), reply.panel, press.key)
        except Unreachable:
            if not await answer.give(url=self.link_of(reply.start_word or "page")):
                raise
        else:
            await answer.give(text=reply.toast)

    async def _report_lost(self, press: Press, answer: QueryAnswer) -> None:
        """Say that a page was lost: as the answer, or in the chat if the query is already answered."""
        _ = texts(language_of(press.person.language)).gettext
        if await answer.give(text=_("It might not have reached our private chat: if nothing comes, press again.")):
            return
        if is_inline(press.place) or is_ephemeral(press.place):
            # The bot cannot send a message there.
            return
        failure_text = _("I couldn’t send that to our private chat: press the button again.")
        panel = Panel((Span(press.person.name, "mention", press.person.id), Span(f": {failure_text}")))
        send = partial(self.pages.send, press.place, panel, f"{press.key}.lost")
        self.card_room.queue_answer(reading.main_place(press.place), send, message=f"lost {press.person.id}")


def _private_place(press: Press) -> str:
    """Return where in the private chat a press is answered: in its message's topic, if it has one."""
    is_there = is_private(press.place) and not is_ephemeral(press.place)
    return press.place if is_there else private_place(press.person.id)


def _too_many_text(press: Press) -> str:
    """Return the toast for a page that is dropped because its chat's queue is full."""
    _ = texts(language_of(press.person.language)).gettext
    return _("Too many messages are waiting: press again in a moment.")
