"""The kill harness on Telegram: the bot is killed while the fake server and its people continue.

Every second challenge goes to a chat without the bot, in turn by inline mode and by guest mode.

python -m tests.telegram.kills --kills 100 --seed 1
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

from adapters.telegram.widget.state import SHORT_NAME, hand_state
from bot.panel import Panel
from bot.panel_picture import Live, Picture, Subject
from bot.pictures.painter import paint
from tests.kills.bot_process import Bot
from tests.kills.harness import main
from tests.kills.pages import PlatformPage
from tests.telegram.content import text_of
from tests.telegram.players import Person
from tests.telegram.server import BOT, CONTENT_FIELDS, TOKEN, Chat, TelegramServer
from tests.telegram.widgets import moves_of

AT_RISK_SECONDS = 3.0  # age at which a message is certainly stored, even on a busy machine, in seconds
BUSY_GROUP = -2001  # group of the challenges by command; it needs more messages than Telegram allows

NAMES = ("Anna", "Bruno", "Carla", "Dino", "Elsa", "Furio")


class TelegramPage(PlatformPage):
    """The messages of six people on Telegram."""

    platform = "telegram"
    can_be_duplicated = frozenset({"cards", "hands", "boards"})
    presses_invite = True

    def __init__(self, bot: Bot, server: TelegramServer) -> None:
        super().__init__(bot)
        self.server = server
        self.persons = {str(number): Person(server, number, name) for number, name in enumerate(NAMES, 1)}
        self.people = [{"id": number, "name": person.name} for number, person in self.persons.items()]
        self._groups = count(1)
        self._painted: dict[str, bytes] = {}
        self._sending: set[asyncio.Task[None]] = set()
        self._failed_sends: list[str] = []
        server.clock.process = lambda: bot.process.pid if bot.process and bot.is_running else None

    def complaints(self) -> list[str]:
        return [*self._failed_sends, *self.server.unanswered_presses(), *self.server.rate_violations()]

    def panels(self, person: str, code: str) -> list[dict[str, Any]]:
        return [message for message in super().panels(person, code) if "invites you to play" not in message["text"]]

    def chats(self) -> Iterator[tuple[str, dict[int, dict[str, Any]]]]:
        for chat in self._chats():
            yield f"@{chat.id}" if chat.type == "private" else "1", chat.messages

    def editable_parts(self, message: dict[str, Any]) -> tuple[object, ...]:
        data = message.get("widget", {}).get("chat_data")
        return (*[message.get(name) for name in CONTENT_FIELDS], data)

    def _chats(self) -> list[Chat]:
        """Return all chats, with and without the bot."""
        return [*self.server.chats.values(), *self.server.inline_chats.values()]

    def count_at_risk(self) -> int:
        # Dates are whole seconds, rounded down.
        since = int(time.time() - AT_RISK_SECONDS)
        messages = (message for chat in self.server.chats.values() for message in chat.messages.values())
        return max(1, len([message for message in messages if message["from"]["is_bot"] and message["date"] >= since]))

    def convert(self, message: dict[str, Any]) -> dict[str, Any]:
        rows = message.get("reply_markup", {}).get("inline_keyboard", ())
        if "widget" in message:
            data = message["widget"]["chat_data"]
            buttons = [{"payload": payload, "kind": "press"} for payload in moves_of(message)]
            return {"id": message["message_id"], "by": "bot", "text": data, "picture": data, "rows": [buttons]}
        return {
            "id": message["message_id"],
            "by": "bot" if message["from"]["is_bot"] else "person",
            "text": text_of(message),
            "picture": message["photo"][-1]["file_id"] if "photo" in message else None,
            "rows": [
                [{"payload": button["callback_data"], "kind": "press"} for button in row if "callback_data" in button]
                for row in rows
            ],
        }

    def has_picture(self, message: dict[str, Any], subject: Subject) -> bool:
        if message["picture"] is None:
            return False
        if message["picture"] == message["text"]:
            return shows_scene(message["picture"], subject)
        if subject.digest not in self._painted:
            self._painted[subject.digest] = paint(subject)
        return self.server.photos.files[message["picture"]] == self._painted[subject.digest]

    def say(self, person: str, text: str) -> None:
        number = next(self._groups)
        if number % 2:
            self.persons[person].say(text, self.server.group(BUSY_GROUP))
            return
        sending = asyncio.create_task(self._send_offer(int(person), text.split()[1], number))
        self._sending.add(sending)
        sending.add_done_callback(self._finish_sending)

    def _finish_sending(self, sending: asyncio.Task[None]) -> None:
        self._sending.discard(sending)
        if not sending.cancelled() and (error := sending.exception()):
            self._failed_sends.append(f"an offer was not sent: {error!r}")

    async def _send_offer(self, person: int, game: str, number: int) -> None:
        """Send a challenge to a new chat, unless the bot is killed before it offers one by inline mode."""
        elsewhere = Chat(-5000 - number, "elsewhere", "Two friends")
        if number % 4 == 0:
            self.server.call_guest(person, elsewhere, f"@{BOT['username']} challenge {game}")
            return
        query = self.server.type_inline(person, game)
        deadline = time.monotonic() + self.patience
        while not self.server.inline_answers[query]:
            if time.monotonic() > deadline:
                return
            await asyncio.sleep(0.005)
        self.server.send_result(person, query, self.server.result_id(query, game), elsewhere)

    def press_button(self, person: str, message: int, payload: str) -> str | None:
        for chat in self._chats():
            if "widget" in chat.messages.get(message, ()):
                return self.server.tap(chat.messages[message], int(person), payload)
            if message in chat.messages:
                return self.server.press(chat, chat.messages[message], int(person), payload)
        return None

    def answer_text(self, press: str) -> str | None:
        answer = self.server.answers[press]
        if "data" in answer:
            return str(json.loads(answer["data"] or "{}").get("toast", ""))
        return str(answer["text"]) if answer else None


def shows_scene(data: str, subject: Subject) -> bool:
    """Return whether the state of a widget shows the cards and points of a scene.

    A state that is too long lacks the previous trick and other hands, and has shorter names.
    """
    state = hand_state(Panel((), picture=Picture(subject, "", live=Live())))
    assert state
    shown, expected = json.loads(data), json.loads(state)
    is_complete = all(shown[part] in ([], expected[part]) for part in ("more", "others"))
    return is_complete and _with_short_names(shown) == _with_short_names(expected)


def _with_short_names(state: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a state that it always has, with the shortest names."""
    return {
        **{part: state[part] for part in ("target", "trick", "tally")},
        "names": [name[:SHORT_NAME] for name in state["names"]],
        "sides": [[name[: 2 * SHORT_NAME], *figures] for name, *figures in state["sides"]],
    }


@asynccontextmanager
async def on_telegram(folder: Path, *, widgets: bool = False) -> AsyncIterator[TelegramPage]:
    """Prepare a bot on a fake Telegram. With ``widgets``, hands are widgets."""
    server = TelegramServer()
    await server.start()
    try:
        settings = {
            "BUONGIOCO_TELEGRAM_TOKEN": TOKEN,
            "BUONGIOCO_TELEGRAM_API_URL": server.url,
            "BUONGIOCO_TELEGRAM_WIDGETS": str(widgets),
        }
        yield TelegramPage(Bot(folder, **settings), server)
    finally:
        await server.stop()


if __name__ == "__main__":
    main(on_telegram)
