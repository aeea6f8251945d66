"""Messages that show panels: texts or photos, in chats or to one person in a group.

A text can become a photo, so a picture can follow its text. A photo cannot become a text: a new message replaces it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from telegram.error import BadRequest

from adapters.telegram import drawing, reading
from adapters.telegram.ephemeral import EphemeralMessages, EphemeralTarget
from adapters.telegram.errors import CANNOT_BE_DELETED, NOT_MODIFIED
from adapters.telegram.photos import KnownFiles, LateEdit, Photo, Photos
from adapters.telegram.transport import JsonData, Post
from bot.panel import Panel
from bot.panel_picture import Picture
from bot.platform import NotEditable, PlatformFailure, SentMessage, is_ephemeral, is_inline


class Messages:
    """Sends, edits and deletes messages; raises the library's errors, or a more precise `DeliveryError`.

    A message's picture is identified by its scene's digest. ``app`` is the address of the Mini App, or empty.
    """

    def __init__(self, post: Post, known_files: KnownFiles, app: str = "") -> None:
        self._post = post
        self.photos = Photos(post, known_files)
        self.ephemerals = EphemeralMessages(post, self.photos)
        self.username = ""  # the bot's, set after connecting
        self._app = app
        self.has_inline_mode = False  # the host can turn it on at @BotFather

    async def send(self, place: str, panel: Panel, *, silent: bool = False) -> SentMessage:
        if is_ephemeral(place):
            return await self._send_ephemeral(EphemeralTarget.parse(place), panel)
        if is_inline(place):
            return await self._edit_inline(reading.inline_id(place), panel)
        chat, topic = reading.chat_and_topic(place)
        where = {"chat_id": chat, "message_thread_id": topic, "disable_notification": silent or None}
        picture = self.photos.picture_of(chat, panel)
        if picture is None:
            fields = {**where, **drawing.text_fields(panel, self._markup(panel, chat))}
            return SentMessage(_message_id(await self._post("sendMessage", JsonData(fields))))
        sent = await self.photos.send(self._photo(where, panel, picture), _message_id)
        return SentMessage(sent, picture.subject.digest)

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        try:
            if is_ephemeral(place):
                return await self._edit_ephemeral(EphemeralTarget.parse(place), sent, panel)
            if is_inline(place):
                return await self._edit_inline(reading.inline_id(place), panel)
            return await self._edit(reading.chat_and_topic(place)[0], sent, panel)
        except BadRequest as error:
            if not NOT_MODIFIED.search(error.message):
                raise
            picture = panel.picture.subject.digest if sent.picture and panel.picture else ""
            return SentMessage(sent.message, picture)

    async def _edit(self, chat: int, sent: SentMessage, panel: Panel) -> SentMessage:
        where = {"chat_id": chat, "message_id": int(sent.message)}
        picture = self.photos.picture_of(chat, panel)
        if picture is None and sent.picture:
            raise NotEditable(sent.message)
        if picture is None:
            fields = {**where, **drawing.text_fields(panel, self._markup(panel, chat))}
            edited = await self._post("editMessageText", JsonData(fields))
            if edited is not True:
                _message_id(edited)
            return sent
        photo = self._photo(where, panel, picture)
        try:
            with _accepting_not_modified():
                if _has_picture(sent, picture):
                    await self.photos.edit_caption(photo)
                else:
                    await self.photos.edit(photo)
        except LateEdit:
            if sent.picture:
                raise
            # The late picture could overwrite later edits of the text.
            raise NotEditable(sent.message) from None
        return SentMessage(sent.message, picture.subject.digest)

    async def delete(self, place: str, message: str) -> None:
        if is_ephemeral(place):
            await self.ephemerals.delete(EphemeralTarget.parse(place), message)
        elif not is_inline(place):
            # The bot cannot delete a message in a chat that it is not in.
            where = JsonData({"chat_id": reading.chat_and_topic(place)[0], "message_id": int(message)})
            try:
                await self._post("deleteMessage", where)
            except BadRequest as error:
                if not CANNOT_BE_DELETED.search(error.message):
                    raise
                # It cannot be deleted after 48 hours (core.telegram.org/bots/api#deletemessage): remove its buttons.
                with _accepting_not_modified():
                    await self._post("editMessageReplyMarkup", where)

    # Messages in chats that the bot is not in

    async def _edit_inline(self, message: str, panel: Panel) -> SentMessage:
        """Show a panel's text; nothing can be uploaded there (core.telegram.org/bots/api#editmessagemedia)."""
        markup = drawing.markup_of(panel, self.username, without={"aside", *self._hidden_kinds})
        fields = {"inline_message_id": message, **drawing.text_fields(panel, markup)}
        with _accepting_not_modified():
            await self._post("editMessageText", JsonData(fields))
        return SentMessage(reading.INLINE_MESSAGE)

    # Messages to one person in a group

    async def _send_ephemeral(self, target: EphemeralTarget, panel: Panel) -> SentMessage:
        picture = self.photos.picture_of(target.chat, panel)
        if picture is None:
            fields = drawing.text_fields(panel, self._markup(panel))
            return SentMessage(await self.ephemerals.send_text(target, fields))
        number = await self.ephemerals.send_photo(target, self._photo({}, panel, picture))
        return SentMessage(number, picture.subject.digest)

    async def _edit_ephemeral(self, target: EphemeralTarget, sent: SentMessage, panel: Panel) -> SentMessage:
        if not sent.picture:
            # A new message with a picture would need another press, so this one stays a text.
            await self.ephemerals.edit_text(target, sent.message, drawing.text_fields(panel, self._markup(panel)))
            return sent
        picture = self.photos.picture_of(target.chat, panel)
        if picture is None:
            raise NotEditable(sent.message)
        photo = self._photo({}, panel, picture)
        await self.ephemerals.edit_photo(target, sent.message, photo, caption_alone=_has_picture(sent, picture))
        return SentMessage(sent.message, picture.subject.digest)

    # Contents

    def _photo(self, where: dict[str, Any], panel: Panel, picture: Picture) -> Photo:
        shown = panel.beside_picture
        entities = drawing.entities_of(shown, folds=True)
        return Photo(where, picture, shown.plain, entities or None, self._markup(panel, where.get("chat_id", 0)))

    def _markup(self, panel: Panel, chat: int = 0) -> dict[str, Any] | None:
        """Return a panel's keyboard; ``chat`` is positive for a private chat, 0 for one person in a group."""
        app = self._app if chat > 0 else ""
        return drawing.markup_of(panel, self.username, without=self._hidden_kinds, app=app)

    @property
    def _hidden_kinds(self) -> list[str]:
        """The kinds of buttons that do not work here."""
        is_available = {"aside": self.ephemerals.is_supported is not False, "share": self.has_inline_mode}
        return [kind for kind, available in is_available.items() if not available]


@contextmanager
def _accepting_not_modified() -> Iterator[None]:
    """Ignore Telegram's error for an edit that changes nothing."""
    try:
        yield
    except BadRequest as error:
        if not NOT_MODIFIED.search(error.message):
            raise


def _has_picture(sent: SentMessage, picture: Picture) -> bool:
    """Return whether a message certainly shows this picture, which then needs no upload."""
    return sent.is_certain and sent.picture == picture.subject.digest


def _message_id(sent: object) -> str:
    """Return the id of a message in Telegram's answer; raise PlatformFailure without one."""
    if not isinstance(sent, dict) or type(sent.get("message_id")) is not int:
        raise PlatformFailure("a message without an id")
    return str(sent["message_id"])
