"""Messages that show panels: texts or photos, in chats or to one person in a group.

A text can become a photo, so a message can start without its picture. A photo cannot become a text: a new message
replaces it. Texts and rich messages can become each other.

Only one member of a group sees an ephemeral message. The library lacks the methods for such messages, which are new in
Bot API 10.2 and 10.3. A bot can send one within 15 seconds of the person's press or ephemeral command, or at any time
as an administrator. An ephemeral message can fail to arrive and can vanish.
"""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from typing import Any

import structlog
from telegram.error import BadRequest, InvalidToken

from adapters.telegram import keyboard, reading, text_entities
from adapters.telegram.errors import CANNOT_BE_DELETED, NOT_MODIFIED
from adapters.telegram.limits import EPHEMERAL_SECONDS
from adapters.telegram.mini_app import TelegramApp
from adapters.telegram.new_feature import FeatureMissing
from adapters.telegram.photos import KnownFiles, LateEdit, Photo, Photos, ReadMessageId
from adapters.telegram.rich.messages import RichMessages
from adapters.telegram.transport import Body, Post, json_body
from adapters.telegram.unlinked_text import unlink_panel
from adapters.telegram.widget.messages import Widgets, is_widget, widget_note
from bot.panel import Panel
from bot.panel_picture import Picture
from bot.places import Place
from bot.platform import NotDrawn, NotEditable, PlatformFailure, SentMessage, Unreachable, is_ephemeral, is_inline

FACE_DOWN = "🂠"

log = structlog.get_logger()


class _VisibleToAll(PlatformFailure):
    """A message for one person came as an ordinary ``message`` of the group."""

    def __init__(self, message: str) -> None:
        super().__init__("the message is not ephemeral")
        self.message = int(message)


class Messages:
    """Sends, edits and deletes messages.

    Raises the library's errors, NotEditable, Unreachable or PlatformFailure. A picture is identified by the digest of
    its scene or sheet.
    """

    def __init__(
        self, post: Post, known_files: KnownFiles, widgets: Widgets, rich: RichMessages, app: TelegramApp
    ) -> None:
        self._post = post
        self.widgets, self._rich = widgets, rich
        self.photos = Photos(post, known_files)
        self._app = app
        self.has_inline_mode = False  # the host can turn it on at @BotFather
        self.has_ephemeral: bool | None = None  # None until the first attempt

    @property
    def username(self) -> str:
        """The bot's username; empty before it has connected."""
        return self._app.username

    async def send(self, place: str, panel: Panel, *, silent: bool = False) -> SentMessage:
        panel = unlink_panel(panel, self._app.pages_url)
        if is_inline(place):
            return await self._edit_inline(reading.inline_id(place), panel)
        if is_ephemeral(place):
            return await self._send_ephemeral(place, panel)
        chat, topic = reading.chat_and_topic(place)
        destination = {"chat_id": chat, "message_thread_id": topic, "disable_notification": silent or None}
        return await self._send(destination, panel, _message_id)

    async def _send(self, destination: dict[str, Any], panel: Panel, read_id: ReadMessageId) -> SentMessage:
        if state := self.widgets.state_of(destination["chat_id"], panel):
            try:
                message = read_id(await self.widgets.send(destination, state, self._widget_markup(panel)))
            except FeatureMissing as refused:
                raise NotDrawn(str(refused)) from None
            await self.widgets.states.keep(destination["chat_id"], message, state)
            return SentMessage(message, widget_note())
        if panel.document:
            with suppress(FeatureMissing):
                return SentMessage(read_id(await self._rich.send(destination, panel, self._markup(destination, panel))))
        picture = self.photos.picture_of(destination["chat_id"], panel)
        if picture is None:
            return SentMessage(read_id(await self._post("sendMessage", self._text_data(destination, panel))))
        message_id = await self.photos.send(self._photo(destination, panel, picture), read_id)
        return SentMessage(message_id, picture.subject.digest)

    async def _send_ephemeral(self, place: str, panel: Panel) -> SentMessage:
        """Send a message to one person in a group; raise Unreachable if the server has no ephemeral messages.

        Such a server ignores the field and shows the message to everyone. So the first message is only a card's back.
        The hand follows when the server's answer confirms that the message is ephemeral.
        """
        if self.has_ephemeral is False:
            raise Unreachable("the server has no ephemeral messages")
        destination = _recipient_fields(place)
        if self.has_ephemeral is None:
            async with self._withdrawing(destination["chat_id"]):
                sent = await self._post("sendMessage", json_body({**destination, "text": FACE_DOWN}))
                message = _ephemeral_message_id(sent)
            if self.photos.picture_of(destination["chat_id"], panel) is None:
                edited = await self.edit(place, SentMessage(message), panel)
                self.has_ephemeral = True
                return edited
            await self.delete(place, message)
            self.has_ephemeral = True
        async with self._withdrawing(destination["chat_id"]):
            return await self._send(destination, panel, _ephemeral_message_id)

    @asynccontextmanager
    async def _withdrawing(self, chat: int) -> AsyncIterator[None]:
        """Delete a message for one person that the server has shown to everyone, and raise Unreachable."""
        try:
            yield
        except _VisibleToAll as error:
            self._note_no_ephemeral()
            await self._post("deleteMessage", json_body({"chat_id": chat, "message_id": error.message}))
            raise Unreachable("the server has no ephemeral messages") from None

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        panel = unlink_panel(panel, self._app.pages_url)
        if is_inline(place):
            return await self._edit_inline(reading.inline_id(place), panel)
        destination, kind = (
            _message_fields(place, sent.message),
            "EphemeralMessage" if is_ephemeral(place) else "Message",
        )
        state = self.widgets.state_of(destination["chat_id"], panel)
        if state or is_widget(sent.picture):
            return await self._edit_widget(destination, sent, state)
        if panel.document and not sent.picture:
            # A photo cannot become a rich message.
            with suppress(FeatureMissing):
                _check_edited(await self._rich.edit(destination, panel, self._markup(destination, panel)))
                return SentMessage(sent.message)
        picture = self.photos.picture_of(destination["chat_id"], panel)
        if is_ephemeral(place) and not sent.picture:
            # A new message with a picture would need another press, so this one stays a text.
            picture = None
        if picture is None and sent.picture:
            raise NotEditable(sent.message)
        with _accepting_not_modified(), self._ephemeral_errors(place):
            if picture is None:
                edited = await self._post(f"edit{kind}Text", self._text_data(destination, panel))
                if not is_ephemeral(place):
                    _check_edited(edited)
            elif sent.is_certain and sent.picture == picture.subject.digest:
                # The message certainly shows this picture, so no upload is needed.
                caption = self._photo(destination, panel, picture).caption_fields
                await self._post(f"edit{kind}Caption", json_body(caption))
            else:
                try:
                    await self.photos.edit(self._photo(destination, panel, picture), f"edit{kind}Media")
                except LateEdit:
                    if sent.picture:
                        raise
                    # The late picture could overwrite later edits of the text.
                    raise NotEditable(sent.message) from None
        return SentMessage(sent.message, picture.subject.digest if picture else "")

    async def _edit_widget(self, destination: dict[str, Any], sent: SentMessage, state: str | None) -> SentMessage:
        """Change a widget's state.

        Raise NotEditable if the message is no widget of this release, or can be none any more. A widget cannot become
        another message, and another message cannot become a widget.
        """
        if state is None or sent.picture != widget_note():
            raise NotEditable(sent.message)
        try:
            with _accepting_not_modified():
                await self.widgets.edit(destination, state)
        except FeatureMissing:
            raise NotEditable(sent.message) from None
        await self.widgets.states.keep(destination["chat_id"], sent.message, state)
        return sent._replace(is_certain=True)

    async def _edit_inline(self, message: str, panel: Panel) -> SentMessage:
        """Show a panel's text in a chat without the bot.

        An inline message accepts no uploads (core.telegram.org/bots/api#editmessagemedia).
        """
        markup = self._keyboard(panel, "aside")
        fields = {"inline_message_id": message, **text_entities.text_fields(panel, markup)}
        with _accepting_not_modified():
            await self._post("editMessageText", json_body(fields))
        return SentMessage(reading.INLINE_MESSAGE)

    async def delete(self, place: str, message: str) -> None:
        if is_inline(place):
            # The bot cannot delete a message in a chat that it is not in.
            return
        destination = json_body(_message_fields(place, message))
        if is_ephemeral(place):
            with self._ephemeral_errors(place):
                await self._post("deleteEphemeralMessage", destination)
            return
        await self.widgets.forget(reading.chat_and_topic(place)[0], message)
        try:
            await self._post("deleteMessage", destination)
        except BadRequest as error:
            if not CANNOT_BE_DELETED.search(error.message):
                raise
            # A message cannot be deleted after 48 hours (core.telegram.org/bots/api#deletemessage), so remove its
            # buttons.
            with _accepting_not_modified():
                await self._post("editMessageReplyMarkup", destination)

    @contextmanager
    def _ephemeral_errors(self, place: str) -> Iterator[None]:
        """Raise Unreachable if the server does not know a method for an ephemeral message."""
        try:
            yield
        except InvalidToken:
            # Telegram answers 404 both for an unknown method and for an unknown token.
            if not is_ephemeral(place):
                raise
            self._note_no_ephemeral()
            raise Unreachable("the server has no ephemeral messages") from None

    def _note_no_ephemeral(self) -> None:
        self.has_ephemeral = False
        log.warning("telegram_feature_missing", what="show a hand in a group", why="Bot API before 10.3")

    def _widget_markup(self, panel: Panel) -> dict[str, Any] | None:
        """Return a widget's keyboard. It has only links, because a widget's keyboard cannot change."""
        links = tuple(tuple(button for button in row if button.kind not in ("press", "aside")) for row in panel.rows)
        return self._keyboard(replace(panel, rows=links), app=self._app.address)

    def _text_data(self, destination: dict[str, Any], panel: Panel) -> Body:
        return json_body({**destination, **text_entities.text_fields(panel, self._markup(destination, panel))})

    def _photo(self, destination: dict[str, Any], panel: Panel, picture: Picture) -> Photo:
        caption = panel.beside_picture
        entities = text_entities.entities_of(caption, folds=True)
        return Photo(destination, picture, caption.plain, entities or None, self._markup(destination, panel))

    def _markup(self, destination: dict[str, Any], panel: Panel) -> dict[str, Any] | None:
        """Return a panel's keyboard. The app opens only from private chats, which have positive ids."""
        return self._keyboard(panel, app=self._app.address if destination["chat_id"] > 0 else "")

    def _keyboard(self, panel: Panel, *without: str, app: str = "") -> dict[str, Any] | None:
        hidden = [*without, *self._hidden_kinds]
        return keyboard.markup_of(panel, self._app.username, hidden_kinds=hidden, app=app, link=self._app.link)

    @property
    def _hidden_kinds(self) -> list[str]:
        """The kinds of buttons that need a feature which the server or the bot lacks."""
        is_available = {"aside": self.has_ephemeral is not False, "share": self.has_inline_mode}
        return [kind for kind, available in is_available.items() if not available]


@contextmanager
def _accepting_not_modified() -> Iterator[None]:
    """Ignore Telegram's error for an edit that changes nothing."""
    try:
        yield
    except BadRequest as error:
        if not NOT_MODIFIED.search(error.message):
            raise


def _message_fields(place: str, message: str) -> dict[str, Any]:
    parsed_place = Place.parse(place)
    if is_ephemeral(place):
        receiver = int(parsed_place.person)
        return {"chat_id": int(parsed_place.chat), "receiver_user_id": receiver, "ephemeral_message_id": int(message)}
    return {"chat_id": int(parsed_place.person or parsed_place.chat), "message_id": int(message)}


def _recipient_fields(place: str) -> dict[str, Any]:
    """Return the fields that show a new message to one person."""
    destination = Place.parse(place)
    parameters: dict[str, Any] = {"receiver_user_id": int(destination.person)}
    topic = int(destination.part) if destination.part else None
    fields = {"chat_id": int(destination.chat), "message_thread_id": topic, "ephemeral_message_parameters": parameters}
    asked_at, _, asked = destination.token.partition(".")
    # A press can be in the future if the clock was set back, or if another worker's clock is ahead.
    if not asked or abs(time.time() - int(asked_at)) >= EPHEMERAL_SECONDS:
        return fields
    if asked.startswith(reading.EPHEMERAL_COMMAND):
        return fields | {"reply_parameters": {"ephemeral_message_id": int(asked[1:])}}
    parameters["callback_query_id"] = asked
    return fields


def _message_id(message: object) -> str:
    """Return the id of a message in Telegram's answer; raise PlatformFailure without one."""
    if not isinstance(message, dict) or type(message.get("message_id")) is not int:
        raise PlatformFailure("the response has no message id")
    return str(message["message_id"])


def _check_edited(answer: object) -> None:
    """Raise PlatformFailure for an answer to an edit without a message."""
    if answer is not True:
        _message_id(answer)


def _ephemeral_message_id(sent: object) -> str:
    """Return the ephemeral id in Telegram's answer; raise _VisibleToAll for an ordinary message."""
    if isinstance(sent, dict) and type(sent.get("ephemeral_message_id")) is int:
        return str(sent["ephemeral_message_id"])
    raise _VisibleToAll(_message_id(sent))
