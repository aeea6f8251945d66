"""A minimal, fast Bot API server for benchmarks, with simulated people.

Table ``n`` has group ``-n``. The strict server is `tests/telegram/server.py`.
"""

import asyncio
import base64
import json
import time
from typing import Any

from aiohttp import web

from adapters.telegram.widget.state import moves_of
from benchmarks.platform_server import PlatformServer, read_form, serve

BOT = {"id": 1, "is_bot": True, "first_name": "Buongioco", "username": "buongioco_bot", "supports_inline_queries": True}
TYPED = ("", "t", "tre", "metamazzo", "31 pizzichino", "spades", "nothing like that")
ASKERS = 500
NOT_PRESSED = ("claim", "blind", "resign")
PNG = b"\x89PNG"
IN_JSON = ("results", "reply_markup", "entities", "caption_entities", "media")
SHOWING = (
    "sendMessage",
    "sendPhoto",
    "sendWidget",
    "editMessageText",
    "editMessageCaption",
    "editMessageMedia",
    "editMessageWidgetData",
)


class BenchServer(PlatformServer):
    """Counts calls by method, and hands out updates by long polling."""

    def __init__(self) -> None:
        super().__init__()
        self._updates: list[dict[str, Any]] = []
        self._new = asyncio.Event()
        self._numbers = 0
        self._widgets: set[int] = set()  # messages that are widgets
        self._typed: dict[str, asyncio.Future[float]] = {}  # inline queries without an answer

    async def handle(self, request: web.BaseRequest) -> web.Response:
        method = request.path.rpartition("/")[2]
        if method == "control":
            return web.json_response(await self.handle_control(await request.json()))
        fields = await _read_fields(request)
        if method == "getUpdates":
            result = await self._get_updates(float(fields.get("timeout", "0")))
        else:
            self.calls[method] += 1
            self.uploads += "png" in fields
            result = self._answer_call(method, fields)
        return web.json_response({"ok": True, "result": result})

    async def run_action(self, action: dict[str, Any]) -> Any:
        if action["do"] == "type":
            return await self._type_queries(action["queries"], action["rate"])
        return await super().run_action(action)

    async def _type_queries(self, queries: int, rate: float) -> dict[str, Any]:
        """Let people type inline queries, ``rate`` a second. Return the waiting times and the longest answer."""
        loop = asyncio.get_running_loop()
        start, waits = loop.time(), list[asyncio.Task[float]]()
        for number in range(queries):
            await asyncio.sleep(max(0.0, start + number / rate - loop.time()))
            self._numbers += 1
            query, asker = str(self._numbers), self._person(2 + number % ASKERS)
            self._typed[query] = loop.create_future()
            typed = TYPED[number % len(TYPED)]
            self._push(inline_query={"id": query, "from": asker, "query": typed, "offset": ""})
            waits.append(asyncio.create_task(_measure_wait(self._typed[query], time.perf_counter())))
        times = await asyncio.gather(*waits)
        return {"times": times, "answer": self.samples["answer"]}

    def _answer_call(self, method: str, fields: dict[str, Any]) -> Any:
        if method == "getMe":
            return BOT
        if method == "answerInlineQuery":
            self._typed.pop(fields["inline_query_id"]).set_result(time.perf_counter())
            if len(fields["results"]) > len(self.samples.get("answer", {"results": []})["results"]):
                self.samples["answer"] = fields
        if method == "deleteMessage":
            self.crowd.update_panel(int(fields["chat_id"]), str(fields["message_id"]), ())
        if method not in SHOWING:
            return True
        chat = int(fields["chat_id"])
        self._numbers += 1
        message = int(fields.get("message_id") or self._numbers)
        self._react(chat, message, fields)
        place = (
            {"id": chat, "type": "private", "first_name": "Anna"}
            if chat > 0
            else {"id": chat, "type": "supergroup", "title": "Bar"}
        )
        markup = fields.get("reply_markup")
        times = {"date": int(time.time()), **({"edit_date": int(time.time())} if "message_id" in fields else {})}
        message_fields = {**_message_content(fields, self._numbers), **({"reply_markup": markup} if markup else {})}
        return {"message_id": message, **times, "chat": place, "from": BOT, **message_fields}

    def _react(self, chat: int, message: int, fields: dict[str, Any]) -> None:
        """Let people react to a shown message."""
        markup = fields.get("reply_markup")
        buttons = [button for row in markup["inline_keyboard"] for button in row] if markup else []
        payloads = [button.get("callback_data", "") for button in buttons]
        if "chat_data" in fields:
            self._widgets.add(message)
            payloads += moves_of(json.loads(fields["chat_data"]))
        if chat > 0:
            moves = [data for data in payloads if data.startswith("1m") and not data.endswith(NOT_PRESSED)]
            self.crowd.update_panel(chat, str(message), moves or [data for data in payloads if data == "bare"])
            self.keep_sample("hand" if moves else "waiting", fields)
            self.count_hand(message)
        else:
            seats = [data for data in payloads if data.endswith(":sit")]
            if seats and not self.mark_accepted(-chat):
                self._push_press(self.person(-chat, 1), chat, message, seats[0])
            elif any(data.startswith("1prematch") for data in payloads):
                self.challenge_again(-chat)
            else:
                self.keep_sample("board", fields)

    def challenge(self, table: int) -> None:
        text = "/challenge metamazzo"
        entities = [{"type": "bot_command", "offset": 0, "length": 10}]
        chat = {"id": -table, "type": "supergroup", "title": "Bar"}
        self._numbers += 1
        message = {"message_id": self._numbers, "date": int(time.time()), "chat": chat, "text": text}
        self._push(message={**message, "from": self._person(self.person(table, 0)), "entities": entities})

    def press(self, person: int, message: str, payload: str) -> None:
        if int(message) in self._widgets:
            self._push_tap(person, int(message), payload)
        else:
            self._push_press(person, person, int(message), payload)

    def _push_press(self, person: int, chat: int, message: int, payload: str) -> None:
        chat_fields = {"id": chat, "type": "private" if chat > 0 else "supergroup", "title": "Bar"}
        pressed_message = {
            "message_id": message,
            "date": int(time.time()),
            "chat": chat_fields,
            "from": BOT,
            "text": "…",
        }
        self._numbers += 1
        self._push(
            callback_query={
                "id": str(self._numbers),
                "from": self._person(person),
                "chat_instance": "1",
                "message": pressed_message,
                "data": payload,
            }
        )

    def _push_tap(self, person: int, message: int, payload: str) -> None:
        self._numbers += 1
        self._push(
            widget_query={
                "id": str(self._numbers),
                "from": self._person(person),
                "chat_instance": "1",
                "type": {"type": "data"},
                "data": payload,
                "chat": {"id": person, "type": "private", "first_name": "Anna"},
                "message_id": message,
            }
        )

    @staticmethod
    def _person(number: int) -> dict[str, Any]:
        return {"id": number, "is_bot": False, "first_name": f"Person {number}", "language_code": "en"}

    def _push(self, **update: Any) -> None:
        self._numbers += 1
        self._updates.append({"update_id": self._numbers, **update})
        self._new.set()

    async def _get_updates(self, timeout: float) -> list[dict[str, Any]]:
        if not self._updates and timeout:
            self._new.clear()
            try:
                async with asyncio.timeout(timeout):
                    await self._new.wait()
            except TimeoutError:
                return []
        batch, self._updates = self._updates[:100], self._updates[100:]
        return batch

    async def wait_until_connected(self) -> None:
        """Return at once: updates wait until they are fetched."""

    def show_bare(self, tables: int, samples: dict[str, Any]) -> None:
        for table in range(1, tables + 1):
            self.crowd.update_panel(2 * table, "1", ["bare"])


async def _measure_wait(answer: asyncio.Future[float], since: float) -> float:
    """Return the number of seconds until the answer came."""
    return await answer - since


async def _read_fields(request: web.BaseRequest) -> dict[str, Any]:
    """Return the fields of a call, from JSON or from a form with JSON in its fields, as the library sends it.

    A picture is ``png``, in Base64. The fields of ``media`` are merged into the others.
    """
    if request.content_type == "application/json":
        return dict(await request.json())
    fields: dict[str, Any]
    if request.content_type == "multipart/form-data":
        form = await read_form(request)
        png = next(content for content in form.values() if content.startswith(PNG))
        fields = {name: content.decode() for name, content in form.items() if content is not png}
        fields["png"] = base64.b64encode(png).decode()
    else:
        fields = dict(await request.post())
    fields |= {name: json.loads(fields[name]) for name in IN_JSON if name in fields}
    return {**fields, **fields.get("media", {})}


def _message_content(fields: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the content of a message for the API's answer."""
    if "text" in fields:
        return {"text": fields["text"]}
    if "chat_data" in fields:
        return {"widget": {"html": fields.get("html", ""), "chat_data": fields["chat_data"]}}
    size = {"file_id": f"photo{number}", "file_unique_id": str(number), "width": 720, "height": 640}
    return {"caption": fields["caption"], "photo": [size]}


if __name__ == "__main__":
    asyncio.run(serve(BenchServer()))
