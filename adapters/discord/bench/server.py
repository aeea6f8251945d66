"""Discord for the bench: as little of it as a game takes, as fast as may be, with a crowd of people in it.

Table ``n`` has channel ``BOARDS + n`` and persons ``2n`` and ``2n + 1``, whose private channels have their numbers.
`tests/discord/server.py` is the one that is strict.
"""

import asyncio
import json
import sys
import time
import zlib
from collections import Counter
from typing import Any

from aiohttp import WSMsgType, web

from bot.bench.crowd import Crowd

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
AT_ONCE = 20
"""How many tables are being opened at a time."""

NOT_PRESSED = ("claim", "blind", "resign")


class BenchServer:
    """Counts calls by kind, and dispatches what people do."""

    def __init__(self) -> None:
        self.crowd = Crowd(self._press)
        self.calls: Counter[str] = Counter()
        self.samples: dict[str, dict[str, Any]] = {}
        self.port = 0
        self._socket: web.WebSocketResponse | None = None
        self._compressor = zlib.compressobj()
        self._sequence = 0
        self._numbers = 100_000_000
        self._messages: dict[int, dict[str, Any]] = {}
        self._waiting: dict[str, tuple[float, int, int]] = {}
        self._acknowledged: list[float] = []
        self._open: set[int] = set()
        self._sending: set[asyncio.Task[None]] = set()

    # What the bot asks for

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.path.removeprefix("/api/v10")
        if path == "/gateway":
            return await self._serve_gateway(request)
        body = await request.json(loads=json.loads) if request.can_read_body else {}
        if path == "/control":
            return _json({"result": await self._control(body)})
        return _json(self._do(request.method, path.strip("/").split("/"), body, tell=bool(request.query_string)))

    def _do(self, method: str, path: list[str], body: Any, *, tell: bool) -> Any:
        if path == ["users", "@me"]:
            return BOT
        if path[0] == "oauth2":
            return APPLICATION
        if path[0] == "gateway":
            limits = {"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1}
            return {"url": f"ws://127.0.0.1:{self.port}/gateway", "shards": 1, "session_start_limit": limits}
        if path[0] == "applications":
            return []
        self.calls[f"{method} {path[0]}"] += 1
        if path[:2] == ["users", "@me"]:
            return {"id": body["recipient_id"], "type": 1, "recipients": []}
        if path[0] == "interactions":
            said = self._answer(path[1], body)
            about = {"id": path[1], "type": 3}
            return {"interaction": about, "resource": {"type": body["type"], "message": said}} if tell else None
        if path[0] == "channels" and method == "POST":
            return self._stands(int(path[1]), None, body)
        if path[0] == "channels" and method == "PATCH":
            return self._stands(int(path[1]), int(path[3]), body)
        if path[0] == "webhooks":
            return {"id": "1"}
        return None

    def _answer(self, interaction: str, body: dict[str, Any]) -> Any:
        since, channel, message = self._waiting.pop(interaction)
        self._acknowledged.append(time.perf_counter() - since)
        if body["type"] == 7:
            return self._stands(channel, message, body["data"])
        if body["type"] == 4 and not body["data"]["flags"] & 64:
            return self._stands(channel, None, body["data"])
        return {"id": "1"}

    def _stands(self, channel: int, message: int | None, body: dict[str, Any]) -> dict[str, Any]:
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
            "components": _numbered(body["components"]),
            **{name: [] for name in ("embeds", "attachments", "mentions", "mention_roles")},
            **dict.fromkeys(("mention_everyone", "pinned", "tts"), False),
        }
        self._see(channel, number, body)
        return self._messages[number]

    def _see(self, channel: int, message: int, body: dict[str, Any]) -> None:
        """Somebody looks at what is shown, and will press what is of use."""
        payloads = [one["custom_id"] for one in _walk(body["components"]) if one["type"] == 2]
        if channel < BOARDS:
            moves = [data for data in payloads if data.startswith("1m") and not data.endswith(NOT_PRESSED)]
            self.crowd.shown(channel, str(message), moves or [data for data in payloads if data.startswith("bare")])
            self.samples["hand" if moves else "waiting"] = body
            return
        table = channel - BOARDS
        seats = [data for data in payloads if data.endswith(":sit")]
        if seats and table not in self._open:
            self._open.add(table)
            self._touch(2 * table + 1, channel, message, seats[0])
        elif any(data.startswith("1prematch") for data in payloads):
            self._open.discard(table)
            self.challenge(table)
        else:
            self.samples["board"] = body

    # What people do

    def challenge(self, table: int) -> None:
        option = {"name": "game", "type": 3, "value": "metamazzo"}
        data = {"id": "1", "name": "challenge", "type": 1, "options": [option]}
        self._interact(2, 2 * table, BOARDS + table, 0, data)

    def _press(self, person: int, message: str, payload: str) -> None:
        self._touch(person, person, int(message), payload)

    def _touch(self, person: int, channel: int, message: int, payload: str) -> None:
        self._interact(3, person, channel, message, {"custom_id": payload, "component_type": 2})

    def _interact(self, kind: int, person: int, channel: int, message: int, data: dict[str, Any]) -> None:
        self._numbers += 1
        name = str(self._numbers)
        self._waiting[name] = time.perf_counter(), channel, message
        user = {"id": str(person), "username": f"person{person}", "discriminator": "0", "avatar": None}
        where: dict[str, Any] = {"id": str(channel), "type": 1, "flags": 0}
        who: dict[str, Any] = {"user": user}
        if channel >= BOARDS:
            where |= {"type": 0, "name": "bar", "guild_id": str(SERVER), "position": 0, "permission_overwrites": []}
            member = {"user": user, "roles": [], "permissions": "0", "flags": 0, "deaf": False, "mute": False}
            member["joined_at"] = "2026-01-01T00:00:00+00:00"
            who = {"member": member, "guild_id": str(SERVER), "guild": {"id": str(SERVER), "locale": "en-US"}}
        event = {
            "id": name,
            "application_id": "1",
            "type": kind,
            # As long as Discord's are.
            "token": name.rjust(200, "x"),
            "version": 1,
            "data": data,
            "channel": where,
            "channel_id": str(channel),
            "locale": "en-US",
            "app_permissions": str(1 << 10 | 1 << 11),
            "entitlements": [],
            "authorizing_integration_owners": {"0": str(SERVER if channel >= BOARDS else 0)},
            "context": int(channel < BOARDS),
            "attachment_size_limit": 10_485_760,
            **who,
            **({"message": self._messages[message]} if message else {}),
        }
        self._dispatch("INTERACTION_CREATE", event)

    def _dispatch(self, name: str, data: Any) -> None:
        self._sequence += 1
        self._send({"op": 0, "t": name, "s": self._sequence, "d": data})

    def _send(self, said: dict[str, Any]) -> None:
        assert self._socket
        packed = self._compressor.compress(json.dumps(said).encode()) + self._compressor.flush(zlib.Z_SYNC_FLUSH)
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
                about = {
                    "v": 10,
                    "user": BOT,
                    "application": {"id": "1", "flags": 0},
                    "session_id": "1",
                    "shard": [0, 1],
                }
                self._dispatch(
                    "READY", {**about, "resume_gateway_url": url, "guilds": [{"id": str(SERVER), "unavailable": True}]}
                )
                self._dispatch("GUILD_CREATE", GUILD)
        return socket

    # What the bench wishes

    async def _control(self, wish: dict[str, Any]) -> Any:
        if wish["do"] == "open":
            while self._socket is None or not self._sequence:
                await asyncio.sleep(0.05)
            for table in range(wish["from"], wish["to"]):
                self.challenge(table)
                while len(self._open) < table - AT_ONCE:
                    await asyncio.sleep(0.01)
            return True
        if wish["do"] == "bare":
            for table in range(1, wish["tables"] + 1):
                self._stands(2 * table, None, wish["like"]["hand"])
                number = self._numbers
                self.crowd.shown(2 * table, str(number), ["bare"])
            return True
        if wish["do"] == "ready":
            return self.crowd.ready
        if wish["do"] == "samples":
            return self.samples
        before, self._acknowledged = sum(self.calls.values()), []
        result = await self.crowd.play(wish["presses"], wish["rate"], wish["at_once"])
        return {**result, "calls": sum(self.calls.values()) - before, "acknowledged": self._acknowledged}


def _walk(components: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for part in components for one in (part, *_walk(part.get("components", [])))]


def _numbered(components: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for number, one in enumerate(_walk(components), 1):
        one["id"] = number
    return components


def _json(result: Any) -> web.Response:
    if result is None:
        return web.Response(status=204)
    return web.Response(body=json.dumps(result).encode(), content_type="application/json")


async def serve() -> None:
    """Serve until the bench, whose child this process is, closes its end of standard input."""
    bench = BenchServer()
    runner = web.ServerRunner(web.Server(bench.handle))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    bench.port = runner.addresses[0][1]
    print(bench.port, flush=True)  # noqa: T201
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve())
