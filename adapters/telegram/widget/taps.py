"""Taps in a widget: each is a query, which is answered with the state after it.

core.telegram.org/bots/api/methods/answerwidgetquery: within 15 seconds, with at most 1,024 bytes.
"""

from dataclasses import dataclass, replace
from typing import Any

from telegram import Update, User

from adapters.telegram import reading
from adapters.telegram.press_answers import PressReplies, QueryAnswer
from adapters.telegram.transport import Post
from adapters.telegram.widget.kept_states import KeptStates
from adapters.telegram.widget.state import has_move, with_toast
from bot.card_room import CardRoom
from bot.places import Place
from bot.platform import Press
from bot.texts import language_of

SHOW = "show"  # the query of a widget that cannot read its state


def read_tap(update: Update, query: dict[str, Any]) -> Press | None:
    """Return a tap as a press; None if Telegram does not name the message. Malformed data raises LIBRARY_ERRORS."""
    if "message_id" not in query or "chat" not in query:
        return None
    sender = User.de_json(query["from"], None)
    if not isinstance(query.get("data"), str) or query["chat"].get("id") != sender.id:
        raise ValueError("not a tap in a private chat")
    place = str(Place(reading.PLATFORM, person=str(sender.id)))
    key, message = f"tg{update.update_id}", str(query["message_id"])
    return Press(key, reading.read_person(sender), place, message, query["data"])


class TapAnswer(QueryAnswer):
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


@dataclass
class Taps:
    """Handles taps. ``post`` sends the answers."""

    post: Post
    states: KeptStates
    card_room: CardRoom
    press_replies: PressReplies

    async def handle(self, press: Press, query: str) -> None:
        """Handle a tap as a press, and answer the query. The press is genuine if the message's state offers it."""
        state = await self.states.find(reading.chat_and_topic(press.place)[0], press.message)
        async with TapAnswer(self.post, query, press, self.states, state) as answer:
            if press.payload != SHOW:
                reply = await self.card_room.handle_press(replace(press, genuine=has_move(state, press.payload)))
                await self.press_replies.show(press, reply, answer, is_photo=True)
