"""Taps in a widget: each is a query, which is answered with the state after it.

core.telegram.org/bots/api/methods/answerwidgetquery: within 15 seconds, with at most 1,024 bytes.
"""

from typing import Any

from telegram import Update, User

from adapters.telegram import reading
from adapters.telegram.press_answers import QueryAnswer
from adapters.telegram.transport import Post
from adapters.telegram.widget.kept_states import KeptStates
from adapters.telegram.widget.state import with_toast
from bot.places import Place
from bot.platform import Press
from bot.texts import language_of

SHOW = "show"  # the query of a widget that cannot read its state


def read_widget_press(update: Update, query: dict[str, Any]) -> Press | None:
    """Return a tap as a press. Raises TypeError or ValueError; None if Telegram does not name the message."""
    if "message_id" not in query or "chat" not in query:
        return None
    sender = User.de_json(query["from"], None)
    if not isinstance(query.get("data"), str) or query["chat"].get("id") != sender.id:
        raise ValueError("not a tap in a private chat")
    place = str(Place(reading.PLATFORM, person=str(sender.id)))
    key, message = f"tg{update.update_id}", str(query["message_id"])
    return Press(key, reading.read_person(sender), place, message, query["data"])


class WidgetAnswer(QueryAnswer):
    """The answer to one tap: a toast and the message's state, as soon as the tap has changed it.

    ``state`` is the message's state before the tap, empty if unknown.
    """

    def __init__(self, post: Post, query: str, press: Press, states: KeptStates, state: str) -> None:
        super().__init__(post, query, language_of(press.person.language))
        self._press, self._states, self._state = press, states, state

    async def _call_for(self, answer: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        toast, state = answer["text"] or "", self._state
        chat = reading.chat_and_topic(self._press.place)[0]
        if not toast and self._press.payload != SHOW:
            state = await self._states.wait_for_change(chat, self._press.message, state)
        return "answerWidgetQuery", {"widget_query_id": self._query, "data": with_toast(state, toast)}
