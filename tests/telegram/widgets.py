"""Widgets of the fake Bot API server, as Bot API 10.4 documents them.

Sources: core.telegram.org/bots/widgets, and the pages of sendWidget, editMessageWidgetData and answerWidgetQuery under
core.telegram.org/bots/api/methods.
"""

import json
import zlib
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from tests.telegram.content import Refused

LONGEST_HTML, LONGEST_COMPRESSED, LONGEST_DATA = 32_768, 4_096, 1_024


class SendWidget(BaseModel):
    """The method sendWidget, with the fields that we send. aiogram has it from Bot API 10.4 on."""

    model_config = ConfigDict(strict=True)

    chat_id: int
    html: str
    message_thread_id: int | None = None
    chat_data: str | None = None
    allow_queries: bool | None = None
    disable_notification: bool | None = None
    reply_markup: dict[str, Any] | None = None


class EditMessageWidgetData(BaseModel):
    model_config = ConfigDict(strict=True)

    chat_id: int
    message_id: int
    chat_data: str


class AnswerWidgetQuery(BaseModel):
    model_config = ConfigDict(strict=True)

    widget_query_id: str
    data: str = Field("")


MODELS: dict[str, type[BaseModel]] = {
    "sendWidget": SendWidget,
    "editMessageWidgetData": EditMessageWidgetData,
    "answerWidgetQuery": AnswerWidgetQuery,
}


def widget_content(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a message's widget; raise Refused if it is too large or not in a private chat."""
    html = fields["html"].encode()
    if fields["chat_id"] < 0:
        raise Refused(400, "Bad Request: widgets can be sent to private chats only")
    if not 1 <= len(html) <= LONGEST_HTML or len(zlib.compress(html, 9)) > LONGEST_COMPRESSED:
        raise Refused(400, "Bad Request: INPUT_MEDIA_WIDGET_TOO_LARGE")
    return {"widget": {"html": fields["html"], "chat_data": checked_data(fields)}}


def checked_data(fields: dict[str, Any]) -> str:
    data = fields.get("chat_data") or ""
    if len(data.encode()) > LONGEST_DATA:
        raise Refused(400, "Bad Request: WIDGET_DATA_TOO_LONG")
    return str(data)


def moves_of(message: dict[str, Any]) -> list[str]:
    """Return what taps in a message's widget send, as `hand.js` reads its state."""
    state = json.loads(message["widget"]["chat_data"])
    taps = [part[1] for part in state["hand"] if len(part) > 1]
    taps += [part[3] for part in (*state["middle"], *state["packets"]) if len(part) > 3]
    taps += [button[1] for row in state["rows"] for button in row]
    return [state["prefix"] + tap for tap in taps]
