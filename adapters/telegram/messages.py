"""Panels as Telegram's messages: texts or photos, in chats and to one person in a group.

A text can become a photo, so a picture that is late comes to its text; a photo cannot become a text, and gives way to a
new message.
"""

from typing import Any

from telegram.error import BadRequest

from adapters.telegram import drawing, reading
from adapters.telegram.ephemeral import EphemeralMessages, EphemeralTarget
from adapters.telegram.errors import CANNOT_BE_DELETED, NOT_MODIFIED
from adapters.telegram.photos import KnownFiles, LateEdit, Photo, Photos
from adapters.telegram.transport import JsonData, Post
from bot.panel import Panel
from bot.picture import Picture
from bot.platform import NotEditable, PlatformFailure, SentMessage, is_ephemeral, is_inline


class Messages:
    """Sends, edits and deletes; all three raise the library's errors, and `DeliveryError` where they know better.

    What is known of a message's picture is its scene's digest. ``app`` is where the Mini App is; empty without one.
    """

    def __init__(self, post: Post, known: KnownFiles, app: str = "") -> None:
        self._post = post
        self._photos = Photos(post, known)
        self.ephemerals = EphemeralMessages(post, self._photos)
        self.username = ""
        """The bot's, as soon as it is known."""
        self._app = app
        self.has_inline_mode = False
        """Whether people may type the bot's name in any chat: the host has to turn that on."""

    def stop(self) -> None:
        """Give up what is late."""
        self._photos.stop()

    async def send(self, place: str, panel: Panel, *, silent: bool = False) -> SentMessage:
        if is_ephemeral(place):
            return await self._send_ephemeral(EphemeralTarget.parse(place), panel)
        if is_inline(place):
            return await self._edit_inline(reading.inline_id(place), panel)
        chat, topic = reading.chat_and_topic(place)
        where = {"chat_id": chat, "message_thread_id": topic, "disable_notification": silent or None}
        picture = self._photos.picture_of(chat, panel)
        if picture is None:
            fields = {**where, **drawing.text_fields(panel, self._markup(panel, chat))}
            return SentMessage(_message_id(await self._post("sendMessage", JsonData(fields))))
        sent = await self._photos.send(self._photo(where, panel, picture), _message_id)
        return SentMessage(sent, picture.subject.digest)

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        try:
            if is_ephemeral(place):
                return await self._edit_ephemeral(EphemeralTarget.parse(place), sent, panel)
            if is_inline(place):
                return await self._edit_inline(reading.inline_id(place), panel)
            return await self._edit(reading.chat_and_topic(place)[0], sent, panel)
        except BadRequest as error:
            if NOT_MODIFIED not in error.message.lower():
                raise
            picture = panel.picture.subject.digest if sent.picture and panel.picture else ""
            return SentMessage(sent.message, picture)

    async def _edit(self, chat: int, sent: SentMessage, panel: Panel) -> SentMessage:
        where = {"chat_id": chat, "message_id": int(sent.message)}
        picture = self._photos.picture_of(chat, panel)
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
            if _has_picture(sent, picture):
                await self._photos.edit_caption(photo)
            else:
                await self._photos.edit(photo)
        except LateEdit:
            if sent.picture:
                raise
            # As a text it could be edited on, and then the late picture come over something newer.
            raise NotEditable(sent.message) from None
        except BadRequest as error:
            if NOT_MODIFIED not in error.message.lower():
                raise
        return SentMessage(sent.message, picture.subject.digest)

    async def delete(self, place: str, message: str) -> None:
        if is_ephemeral(place):
            await self.ephemerals.delete(EphemeralTarget.parse(place), message)
        elif not is_inline(place):
            # No method takes away what stands in a chat that the bot is not in, and there is but one message.
            await self._delete(reading.chat_and_topic(place)[0], message)

    async def _delete(self, chat: int, message: str) -> None:
        where = JsonData({"chat_id": chat, "message_id": int(message)})
        try:
            await self._post("deleteMessage", where)
        except BadRequest as error:
            if CANNOT_BE_DELETED not in error.message.lower():
                raise
            # After 48 hours (core.telegram.org/bots/api#deletemessage) it has to stay: then it is not to be pressed.
            try:
                await self._post("editMessageReplyMarkup", where)
            except BadRequest as refusal:
                if NOT_MODIFIED not in refusal.message.lower():
                    raise

    # In a chat that the bot is not in

    async def _edit_inline(self, message: str, panel: Panel) -> SentMessage:
        """Have the one message there show a panel, by its text: nothing can be uploaded for it
        (core.telegram.org/bots/api#editmessagemedia).
        """
        markup = drawing.markup_of(panel, self.username, without={"aside", *self._hidden_kinds})
        try:
            fields = {"inline_message_id": message, **drawing.text_fields(panel, markup)}
            await self._post("editMessageText", JsonData(fields))
        except BadRequest as error:
            if NOT_MODIFIED not in error.message.lower():
                raise
        return SentMessage(reading.INLINE_MESSAGE)

    # To one person in a group

    async def _send_ephemeral(self, target: EphemeralTarget, panel: Panel) -> SentMessage:
        picture = self._photos.picture_of(target.chat, panel)
        if picture is None:
            fields = drawing.text_fields(panel, self._markup(panel))
            return SentMessage(await self.ephemerals.send_text(target, fields))
        number = await self.ephemerals.send_photo(target, self._photo({}, panel, picture))
        return SentMessage(number, picture.subject.digest)

    async def _edit_ephemeral(self, target: EphemeralTarget, sent: SentMessage, panel: Panel) -> SentMessage:
        if not sent.picture:
            # A new message, with a picture, would take another press: this one stays a text.
            fields = drawing.text_fields(panel, self._markup(panel))
            await self.ephemerals.edit_text(target, sent.message, fields)
            return sent
        picture = self._photos.picture_of(target.chat, panel)
        if picture is None:
            raise NotEditable(sent.message)
        photo = self._photo({}, panel, picture)
        await self.ephemerals.edit_photo(target, sent.message, photo, caption_alone=_has_picture(sent, picture))
        return SentMessage(sent.message, picture.subject.digest)

    # What both show

    def _photo(self, where: dict[str, Any], panel: Panel, picture: Picture) -> Photo:
        shown = panel.beside_picture
        entities = drawing.entities_of(shown, folds=True)
        return Photo(where, picture, shown.plain, entities or None, self._markup(panel, where.get("chat_id", 0)))

    def _markup(self, panel: Panel, chat: int = 0) -> dict[str, Any] | None:
        """A panel's buttons in a chat, whose number is positive where it is private; 0 to one person in a group."""
        app = self._app if chat > 0 else ""
        return drawing.markup_of(panel, self.username, without=self._hidden_kinds, app=app)

    @property
    def _hidden_kinds(self) -> list[str]:
        """The kinds of buttons that lead nowhere."""
        is_possible = {"aside": self.ephemerals.is_supported is not False, "share": self.has_inline_mode}
        return [kind for kind, possible in is_possible.items() if not possible]


def _has_picture(sent: SentMessage, picture: Picture) -> bool:
    """Whether a message shows this very picture for certain: then it need not be uploaded again."""
    return sent.is_certain and sent.picture == picture.subject.digest


def _message_id(sent: object) -> str:
    """The number of a message that came back; Trouble if it has none."""
    if not isinstance(sent, dict) or type(sent.get("message_id")) is not int:
        raise PlatformFailure("a message without a number")
    return str(sent["message_id"])
