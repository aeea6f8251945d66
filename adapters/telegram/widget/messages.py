"""Messages that show a hand as a widget (Bot API 10.4): a document that never changes, and its state.

core.telegram.org/bots/widgets: only in private chats, and only the state can be edited.
"""

from functools import cache
from typing import Any
from zlib import crc32

from adapters.telegram.new_feature import NewFeature
from adapters.telegram.transport import Post, json_body
from adapters.telegram.widget.document import hand_document
from adapters.telegram.widget.kept_states import KeptStates
from adapters.telegram.widget.state import hand_state
from bot.panel import Panel

WIDGET = "widget"  # begins the note of a message that is a widget, instead of its picture's digest
REFUSED_SECONDS = 6 * 3600.0  # how long a chat that refused a widget gets photos


@cache
def widget_note() -> str:
    """Return the note of a widget of this release. Widgets of other releases might not understand its states."""
    return f"{WIDGET} {crc32(hand_document().encode()):x}"


def is_widget(note: str) -> bool:
    return note.startswith(WIDGET)


class Widgets:
    """Sends and edits widgets. Without ``is_on`` it sends none."""

    def __init__(self, post: Post, states: KeptStates, *, is_on: bool) -> None:
        self._post, self.states, self._is_on = post, states, is_on
        self._feature = NewFeature("show a hand as a widget", "10.4", REFUSED_SECONDS)

    @property
    def is_on(self) -> bool:
        return self._is_on and not self._feature.is_missing

    def state_of(self, chat: int, panel: Panel) -> str | None:
        """Return the state that shows a panel in a chat; None if it cannot be a widget there."""
        is_live = panel.picture is not None and panel.picture.live is not None
        if not self.is_on or not is_live or chat < 0 or self._feature.is_refused(chat):
            return None
        return hand_state(panel)

    async def send(self, destination: dict[str, Any], state: str, markup: dict[str, Any] | None) -> Any:
        """Send a widget and return Telegram's answer; raise FeatureMissing if the server or chat refuses widgets."""
        fields = {"html": hand_document(), "chat_data": state, "allow_queries": True, "reply_markup": markup}
        call = self._post("sendWidget", json_body({**destination, **fields}))
        return await self._feature.attempt(int(destination["chat_id"]), call)

    async def edit(self, destination: dict[str, Any], state: str) -> None:
        """Change a widget's state; raise FeatureMissing if the server or chat refuses that."""
        call = self._post("editMessageWidgetData", json_body({**destination, "chat_data": state}))
        await self._feature.attempt(int(destination["chat_id"]), call)

    async def forget(self, chat: int, message: str) -> None:
        """Forget the state of a message that is deleted."""
        if self.is_on and chat > 0:
            await self.states.forget(chat, message)
