"""Replies to commands: pages, files and toasts."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from telegram import Bot

from adapters.telegram import reading
from adapters.telegram.limits import LONGEST_CAPTION
from adapters.telegram.pages import Pages
from adapters.telegram.unlinked_text import unlink_panel
from bot.card_room import CardRoom
from bot.panel import Panel, Span
from bot.platform import Command, File, Reply, Unreachable, is_private, private_place
from bot.texts import language_of, texts

WriteAt = Callable[[str, Callable[[str], Awaitable[Any]]], Awaitable[Any]]
"""Makes a call that sends a message to a place; raises a `DeliveryError`."""


class CommandReplies:
    """Shows the card room's replies to commands."""

    def __init__(self, bot: Bot, pages: Pages, card_room: CardRoom, write: WriteAt) -> None:
        self._bot, self._pages, self._card_room, self._write = bot, pages, card_room, write

    def queue(self, command: Command, message: int, reply: Reply) -> None:
        """Queue the answer to a command, which is the text of a ``message``; 0 if it is ephemeral.

        The update does not wait for it.
        """
        if reply.optional:
            return
        if command.ephemeral and not reply.file:
            self._queue_at(command.ephemeral, partial(self._send_aside, command, reply))
            return
        if reply.panel and reply.private:
            self._queue_at(_private_place(command), partial(self._send_privately, command, message, reply))
            return
        if panel := reply.panel:
            self._queue_at(command.place, lambda: self._pages.send(command.place, panel, command.key))
        if reply.toast:
            send = partial(self._send_toast, reply.toast, message)
            self._queue_at(command.place, partial(self._write, command.place, send))

    def _queue_at(self, place: str, send: Callable[[], Awaitable[object]]) -> None:
        """Queue an answer. All topics of a private chat share its rate limit."""
        self._card_room.queue_answer(reading.main_place(place), send)

    async def _send_toast(self, text: str, message: int, place: str) -> None:
        chat, topic = reading.chat_and_topic(place)
        await self._bot.send_message(
            chat,
            text,
            message_thread_id=topic,
            reply_to_message_id=message or None,
            allow_sending_without_reply=True,
        )

    async def _send_aside(self, command: Command, reply: Reply) -> None:
        """Answer an ephemeral command for its author alone; if that is impossible, as other commands.

        An ordinary message cannot reply to an ephemeral one (core.telegram.org/bots/api#replyparameters), so a toast
        names the author instead.
        """
        toast = Panel((Span(reply.toast),)) if reply.toast and not reply.private else None
        try:
            for panel in filter(None, (reply.panel, toast)):
                await self._pages.send(command.ephemeral, panel, command.key)
        except Unreachable:
            visible, name = replace(command, ephemeral=""), Span(command.person.name, "mention", command.person.id)
            if reply.toast and not reply.panel:
                reply = Reply(panel=Panel((name, Span(f": {reply.toast}"))))
            self.queue(visible, 0, reply)

    async def _send_privately(self, command: Command, message: int, reply: Reply) -> None:
        """Send a reply to the person's private chat, and a toast to the place of the command."""
        assert reply.panel
        place = _private_place(command)
        try:
            if file := reply.file:
                caption = unlink_panel(reply.panel).cut(LONGEST_CAPTION).plain
                await self._write(place, partial(self._send_file, file, caption))
            else:
                await self._pages.send(place, reply.panel, command.key)
        except Unreachable:
            if place == command.place:
                raise
            if reply.is_forwardable:
                reply = replace(reply, private=False, toast="")
            else:
                _ = texts(language_of(command.person.language)).gettext
                reply = Reply(toast=_("Open our private chat first: this is for your eyes only."))
        else:
            reply = Reply(toast=reply.toast)
        self.queue(command, message, reply)

    async def _send_file(self, file: File, caption: str, place: str) -> None:
        chat, topic = reading.chat_and_topic(place)
        await self._bot.send_document(chat, file.content, caption=caption, filename=file.name, message_thread_id=topic)


def _private_place(command: Command) -> str:
    """Return where in the private chat a command is answered: in its own topic, if it has one."""
    return command.place if is_private(command.place) else private_place(command.person.id)
