"""A minimal, fast Discord server for benchmarks, with simulated people.

Table ``n`` has channel ``BOARDS + n``. A person's private channel has the person's number. The strict server is
`tests/discord/server.py`.
"""

import asyncio
import base64
import json
import time
import zlib
from typing import Any

from aiohttp import WSMsgType, web

from benchmarks.platform_server import PlatformServer, read_form, serve

BOT = {"id": "1", "username": "buongioco", "discriminator": "0", "avatar": None, "bot": True}
SERVER, BOARDS = 7 << 22, 10_000_000
OWNER = {"id": "1", "username": "host", "discriminator": "0", "avatar": None, "global_name": None}
APPLICATION = {
    "id": "1",
    "name": "Buongioco",
    "description": "",
    "icon": None,
    "bot_public": True,
    "bot_require_code_grant": False,
    "verify_key": "",
    "flags": 0,
    "team": None,
    "owner": OWNER,
}
GUILD: dict[str, Any] = {
    "id": str(SERVER),
    "name": "Circolo",
    "owner_id": "1",
    **{name: [] for name in ("roles", "emojis", "features", "members", "channels", "threads", "stickers")},
    **dict.fromkeys(("verification_level", "default_message_notifications", "explicit_content_filter"), 0),
    **dict.fromkeys(("mfa_level", "system_channel_flags", "premium_tier", "nsfw_level", "afk_timeout"), 0),
    "member_count": 3,
    "preferred_locale": "en-US",
}
MESSAGE, CHANGE = 4, 7  # kinds of answers: a new message, an edit of the pressed message
EPHEMERAL = 1 << 6
ANSWERED = 40060  # Discord's error code for an interaction that was answered before

NOT_PRESSED = ("claim", "blind", "resign")


class BenchServer(PlatformServer):
    """Counts calls by kind, and dispatches interactions."""

    def __init__(self) -> None:
        super().__init__()
        self._socket: web.WebSocketResponse | None = None
        self._compressor = zlib.compressobj()
        self._sequence = 0
        self._numbers = 100_000_000
        self._messages: dict[int, dict[str, Any]] = {}
        # Time, channel and pressed message (0 for a command) of each interaction.
        self._waiting: dict[str, tuple[float, int, int]] = {}
        # Channel and number of the answer, or of the deferred answer, by token.
        self._originals: dict[str, tuple[int, int]] = {}
        self._acknowledged: list[float] = []
        self._sending: set[asyncio.Task[None]] = set()

    # Calls of the bot

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.path.removeprefix("/api/v10")
        if path == "/gateway":
            return await self._serve_gateway(request)
        body = await _read_body(request)
        if path == "/control":
            return _json(await self.handle_control(body))
        return _json(
            self._answer_call(request.method, path.strip("/").split("/"), body, tell=bool(request.query_string))
        )

    def _answer_call(self, method: str, path: list[str], body: Any, *, tell: bool) -> Any:
        if path == ["users", "@me"]:
            return BOT
        if path[0] == "oauth2":
            return APPLICATION
        if path[0] == "gateway":
            limits = {"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1}
            return {"url": f"ws://127.0.0.1:{self.port}/gateway", "shards": 1, "session_start_limit": limits}
        if path[0] == "applications":
            return [_command_object(number, command) for number, command in enumerate(body, 1)]
        self.calls[f"{method} {path[0]}"] += 1
        if path[:2] == ["users", "@me"]:
            return {"id": body["recipient_id"], "type": 1, "recipients": []}
        if path[0] == "interactions":
            return self._answer_interaction(path[1], body, tell=tell)
        if path[0] == "channels" and method == "POST":
            return self._store_message(int(path[1]), None, body)
        if path[0] == "channels" and method == "PATCH":
            return self._store_message(int(path[1]), int(path[3]), body)
        if path[0] == "channels":
            self.crowd.update_panel(int(path[1]), path[3], ())
        if path[0] == "webhooks":
            return self._handle_webhook(method, path[2], path[4] if len(path) > 3 else "", body)
        return None

    def _handle_webhook(self, method: str, token: str, message: str, body: dict[str, Any]) -> Any:
        """Send or edit a message by an interaction's token."""
        channel, original = self._originals[token]
        if method == "DELETE":
            return None
        if method == "POST":
            return {"id": "1"} if body.get("flags", 0) & EPHEMERAL else self._store_message(channel, None, body)
        return self._store_message(channel, original if message == "@original" else int(message), body)

    def _answer_interaction(self, interaction: str, body: dict[str, Any], *, tell: bool) -> Any:
        if interaction not in self._waiting:
            return {"code": ANSWERED, "message": "Interaction has already been acknowledged."}
        message = self._apply_answer(interaction, body)
        resource = {"type": body["type"], "message": message}
        return {"interaction": {"id": interaction, "type": 3}, "resource": resource} if tell else None

    def _apply_answer(self, interaction: str, body: dict[str, Any]) -> Any:
        """Return the message that an answer sends or edits."""
        waiting_since, channel, message = self._waiting.pop(interaction)
        self._acknowledged.append(time.perf_counter() - waiting_since)
        token = _token(interaction)
        self._originals[token] = channel, message
        if body["type"] == CHANGE:
            return self._store_message(channel, message, body["data"])
        if body["type"] == MESSAGE and not body["data"]["flags"] & EPHEMERAL:
            sent = self._store_message(channel, None, body["data"])
            self._originals[token] = channel, int(sent["id"])
            return sent
        if not message:
            self._numbers += 1
            self._originals[token] = channel, self._numbers
        return {"id": "1"}

    def _store_message(self, channel: int, message: int | None, body: dict[str, Any]) -> dict[str, Any]:
        self._numbers += 1
        number = message or self._numbers
        self._messages[number] = {
            "id": str(number),
            "type": 0,
            "channel_id": str(channel),
            "author": BOT,
            "content": "",
            "timestamp": "2026-01-01T00:00:00+00:00",
            "edited_timestamp": None,
            "flags": 1 << 15,
            "components": _number_components(body["components"], self._numbers),
            **{name: [] for name in ("embeds", "attachments", "mentions", "mention_roles")},
            **dict.fromkeys(("mention_everyone", "pinned", "tts"), False),
        }
        self._react(channel, number, body)
        return self._messages[number]

    def _react(self, channel: int, message: int, body: dict[str, Any]) -> None:
        """Let people react to a shown message."""
        payloads = [part["custom_id"] for part in _walk(body["components"]) if part["type"] == 2]
        if channel < BOARDS:
            moves = [data for data in payloads if data.startswith("1m") and not data.endswith(NOT_PRESSED)]
            self.crowd.update_panel(
                channel, str(message), moves or [data for data in payloads if data.startswith("bare")]
            )
            self._count_panel("hand" if moves else "waiting", body)
            self.count_hand(message)
            return
        table = channel - BOARDS
        seats = [data for data in payloads if data.endswith(":sit")]
        if seats and not self.mark_accepted(table):
            self._press_button(self.person(table, 1), channel, message, seats[0])
        elif any(data.startswith("1prematch") for data in payloads):
            self.challenge_again(table)
        else:
            self._count_panel("board", body)

    def _count_panel(self, kind: str, body: dict[str, Any]) -> None:
        """Count a shown panel. A panel without its picture's bytes is not a sample for the bare library."""
        self.uploads += "png" in body
        if "png" in body or not body.get("attachments"):
            self.keep_sample(kind, body)

    # Actions of people

    def challenge(self, table: int) -> None:
        option = {"name": "game", "type": 3, "value": "metamazzo"}
        data = {"id": "1", "name": "challenge", "type": 1, "options": [option]}
        self._interact(2, self.person(table, 0), BOARDS + table, 0, data)

    def press(self, person: int, message: str, payload: str) -> None:
        self._press_button(person, person, int(message), payload)

    def _press_button(self, person: int, channel: int, message: int, payload: str) -> None:
        self._interact(3, person, channel, message, {"custom_id": payload, "component_type": 2})

    def _interact(self, kind: int, person: int, channel: int, message: int, data: dict[str, Any]) -> None:
        self._numbers += 1
        name = str(self._numbers)
        self._waiting[name] = time.perf_counter(), channel, message
        user = {"id": str(person), "username": f"person{person}", "discriminator": "0", "avatar": None}
        channel_fields: dict[str, Any] = {"id": str(channel), "type": 1, "flags": 0}
        user_fields: dict[str, Any] = {"user": user}
        if channel >= BOARDS:
            channel_fields |= {
                "type": 0,
                "name": "bar",
                "guild_id": str(SERVER),
                "position": 0,
                "permission_overwrites": [],
            }
            member = {"user": user, "roles": [], "permissions": "0", "flags": 0, "deaf": False, "mute": False}
            member["joined_at"] = "2026-01-01T00:00:00+00:00"
            user_fields = {"member": member, "guild_id": str(SERVER), "guild": {"id": str(SERVER), "locale": "en-US"}}
        event = {
            "id": name,
            "application_id": "1",
            "type": kind,
            "token": _token(name),
            "version": 1,
            "data": data,
            "channel": channel_fields,
            "channel_id": str(channel),
            "locale": "en-US",
            "app_permissions": str(1 << 10 | 1 << 11 | 1 << 15),
            "entitlements": [],
            "authorizing_integration_owners": {"0": str(SERVER if channel >= BOARDS else 0)},
            "context": int(channel < BOARDS),
            "attachment_size_limit": 10_485_760,
            **user_fields,
            **({"message": self._messages[message]} if message else {}),
        }
        self._dispatch("INTERACTION_CREATE", event)

    def _dispatch(self, name: str, data: Any) -> None:
        self._sequence += 1
        self._send({"op": 0, "t": name, "s": self._sequence, "d": data})

    def _send(self, payload: dict[str, Any]) -> None:
        assert self._socket
        packed = self._compressor.compress(json.dumps(payload).encode()) + self._compressor.flush(zlib.Z_SYNC_FLUSH)
        task = asyncio.ensure_future(self._socket.send_bytes(packed))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _serve_gateway(self, request: web.BaseRequest) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        self._socket, self._compressor = socket, zlib.compressobj()
        self._send({"op": 10, "d": {"heartbeat_interval": 41_250}, "s": None, "t": None})
        async for message in socket:
            if message.type is not WSMsgType.TEXT:
                break
            op = json.loads(message.data)["op"]
            if op == 1:
                self._send({"op": 11, "d": None, "s": None, "t": None})
            elif op == 2:
                url = f"ws://127.0.0.1:{self.port}/gateway"
                ready = {
                    "v": 10,
                    "user": BOT,
                    "application": {"id": "1", "flags": 0},
                    "session_id": "1",
                    "shard": [0, 1],
                }
                self._dispatch(
                    "READY", {**ready, "resume_gateway_url": url, "guilds": [{"id": str(SERVER), "unavailable": True}]}
                )
                self._dispatch("GUILD_CREATE", GUILD)
        return socket

    # Actions of the benchmark

    async def wait_until_connected(self) -> None:
        while self._socket is None or not self._sequence:
            await asyncio.sleep(0.05)

    def show_bare(self, tables: int, samples: dict[str, Any]) -> None:
        for table in range(1, tables + 1):
            self._store_message(2 * table, None, samples["hand"])
            self.crowd.update_panel(2 * table, str(self._numbers), ["bare"])

    async def run_action(self, action: dict[str, Any]) -> Any:
        self._acknowledged = []
        result = await super().run_action(action)
        return {**result, "acknowledged": self._acknowledged} if action["do"] == "play" else result


def _token(interaction: str) -> str:
    """Return a token as long as Discord's."""
    return interaction.rjust(200, "x")


def _command_object(number: int, command: dict[str, Any]) -> dict[str, Any]:
    """Return a registered command as Discord does."""
    ids = {"id": str(number), "application_id": "1", "version": "1", "default_member_permissions": None}
    return {"description": "", "type": 1, **command, **ids}


def _walk(components: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [component for part in components for component in (part, *_walk(part.get("components", [])))]


def _number_components(components: list[dict[str, Any]], attachment: int) -> list[dict[str, Any]]:
    """Number components as Discord does, and give pictures their attachment's id."""
    for number, component in enumerate(_walk(components), 1):
        component["id"] = number
        for item in component.get("items", ()):
            name = item["media"]["url"].rpartition("/")[2]
            item["media"] = {"url": f"https://cdn/{attachment}/{name}", "attachment_id": str(attachment)}
    return components


async def _read_body(request: web.BaseRequest) -> Any:
    """Return a request's body. Its ``png`` is the attached file, in Base64."""
    if request.content_type != "multipart/form-data":
        return await request.json(loads=json.loads) if request.can_read_body else {}
    form = await read_form(request)
    body = json.loads(form["payload_json"])
    body.get("data", body)["png"] = base64.b64encode(form["files[0]"]).decode()
    return body


def _json(result: Any) -> web.Response:
    if result is None:
        return web.Response(status=204)
    status = 400 if isinstance(result, dict) and "code" in result else 200
    return web.Response(body=json.dumps(result).encode(), content_type="application/json", status=status)


if __name__ == "__main__":
    asyncio.run(serve(BenchServer()))
