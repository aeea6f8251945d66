"""Sends and edits rich messages. A message that the server refuses as a rich one becomes a text or a photo.

core.telegram.org/bots/api#editmessagetext changes a text into a rich message and back, so an edit needs no new message.
"""

from typing import Any

from telegram.error import BadRequest

from adapters.telegram.errors import NOT_MODIFIED
from adapters.telegram.new_feature import FeatureMissing, NewFeature
from adapters.telegram.rich.blocks import rich_message_of
from adapters.telegram.transport import Post, json_body
from bot.panel import Panel

REFUSED_SECONDS = 3600.0  # time without rich messages after the server has refused one

EPHEMERAL = {"ephemeral_message_parameters", "receiver_user_id"}
"""Fields of ephemeral messages. These stay texts, because their errors do not say what was refused."""


class RichMessages:
    """Shows panels with a document as rich messages, if ``is_on``.

    Both methods return Telegram's answer, and raise FeatureMissing if the panel cannot be a rich message here.
    """

    def __init__(self, post: Post, *, is_on: bool) -> None:
        self._post, self._is_on = post, is_on
        self._feature = NewFeature(
            "show a page as a rich message", "10.2", REFUSED_SECONDS, missing_seconds=REFUSED_SECONDS, for_all=True
        )

    async def send(self, destination: dict[str, Any], panel: Panel, markup: dict[str, Any] | None) -> Any:
        return await self._call("sendRichMessage", destination, panel, markup)

    async def edit(self, destination: dict[str, Any], panel: Panel, markup: dict[str, Any] | None) -> Any:
        """Change a text or rich message."""
        try:
            return await self._call("editMessageText", destination, panel, markup)
        except BadRequest as error:
            if NOT_MODIFIED.search(error.message):
                return True
            # The edit as a text tells whether the message itself cannot be edited.
            raise FeatureMissing from None

    async def _call(self, method: str, destination: dict[str, Any], panel: Panel, markup: dict[str, Any] | None) -> Any:
        chat = int(destination["chat_id"])
        is_possible = self._is_on and not EPHEMERAL & destination.keys() and not self._feature.is_refused(chat)
        content = rich_message_of(panel.document) if is_possible else None
        if content is None:
            raise FeatureMissing
        body = json_body({**destination, "rich_message": content, "reply_markup": markup})
        return await self._feature.attempt(chat, self._post(method, body))
