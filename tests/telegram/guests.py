"""Guest mode of the fake Bot API server.

Sources: core.telegram.org/api/bots/guest-mode, core.telegram.org/bots/api#answerguestquery and aiogram's models.
"""

from itertools import count
from typing import Any

from tests.telegram.content import Refused, text_content
from tests.telegram.models import type_model

MAX_GUESTS = 3  # guest bots that one message can call


def checked_article(result: dict[str, Any]) -> dict[str, Any]:
    """Return the content of an inline result. Its id has 1 to 64 bytes.

    Source: core.telegram.org/bots/api#inlinequeryresultarticle. Only articles are known here.
    """
    if not 1 <= len(result["id"].encode()) <= 64:
        raise Refused(400, "Bad Request: RESULT_ID_INVALID")
    if result["type"] != "article" or not result["title"]:
        raise Refused(400, "Bad Request: a result that this server does not know")
    if unknown := set(result) - set(type_model("InlineQueryResultArticle").model_fields):
        raise Refused(400, f"Bad Request: unknown fields {sorted(unknown)}")
    content = result["input_message_content"]
    return text_content({**content, "text": content["message_text"], "reply_markup": result.get("reply_markup")})


class GuestQueries:
    """The open guest queries, by id, each with the chat of its message.

    A query has one answer: projects that use guest mode agree on that, and the documentation does not say what a second
    one does. Late answers fail after a time that is not documented, so tests expire queries themselves.
    """

    def __init__(self) -> None:
        self._ids = count(1)
        self.open: dict[str, Any] = {}
        self.answered: list[str] = []

    def begin(self, chat: Any) -> str:
        query = f"guest{next(self._ids)}"
        self.open[query] = chat
        return query

    def expire(self) -> None:
        """Let the time for all answers run out."""
        self.open.clear()

    def finish(self, query: str) -> Any:
        """Return the chat of a query that gets its answer now."""
        if query not in self.open:
            raise Refused(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
        self.answered.append(query)
        return self.open.pop(query)
