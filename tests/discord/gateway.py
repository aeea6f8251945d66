"""The gateway of the fake Discord."""

import asyncio
import itertools
import json
import zlib
from typing import Any

from aiohttp import WSMsgType, web

HEARTBEAT, IDENTIFY, RESUME, RECONNECT, INVALID_SESSION, HELLO, HEARTBEAT_ACK = 1, 2, 6, 7, 9, 10, 11
PRIVILEGED = 1 << 1 | 1 << 8 | 1 << 15
HEARTBEAT_MILLISECONDS = 41_250


class Session:
    """A bot's session on one shard: the events sent to it, and its current connection."""

    def __init__(self, name: str, shard: int, total: int) -> None:
        self.name, self.shard, self.total = name, shard, total
        self.events: list[dict[str, Any]] = []
        self.connection: Connection | None = None


class Connection:
    """A WebSocket, compressed if its URL requests compression."""

    def __init__(self, socket: web.WebSocketResponse, *, compressed: bool) -> None:
        self.socket = socket
        self._compressor = zlib.compressobj() if compressed else None

    async def send(self, op: int, data: Any, **fields: Any) -> None:
        await self.send_text(json.dumps({"op": op, "d": data, "s": None, "t": None, **fields}))

    async def send_text(self, text: str | bytes) -> None:
        """Send text, compressed if the connection is. Bytes are sent unchanged."""
        try:
            if isinstance(text, bytes):
                await self.socket.send_bytes(text)
                return
            if self._compressor is None:
                await self.socket.send_str(text)
            else:
                packed = self._compressor.compress(text.encode()) + self._compressor.flush(zlib.Z_SYNC_FLUSH)
                await self.socket.send_bytes(packed)
        except (ConnectionError, RuntimeError):
            # The bot is gone. It gets the missed events when it resumes.
            return


class Gateway:
    """Sessions and the events sent to them.

    ``ready`` returns the fields of READY, ``guilds`` the servers with the bot.
    """

    def __init__(self, token: str, ready: Any, guilds: Any) -> None:
        self.token, self._ready, self._guilds = token, ready, guilds
        self.sessions: dict[str, Session] = {}
        self.connections: set[Connection] = set()
        self.identified: list[tuple[int, int]] = []
        self.resumed = 0
        self.heartbeats = 0
        self.refuses_with = 0  # HTTP status for new connections, 0 to accept them
        self.silent = False  # accept connections and send nothing
        self.attempted_at: list[float] = []  # loop times of the bot's attempts to connect
        self._names = itertools.count(1)
        self._sending: set[asyncio.Task[None]] = set()
        self.address = ""

    def dispatch(self, event: str, data: dict[str, Any], server: int = 0) -> None:
        """Send an event to the sessions of the shard of ``server``, which is 0 for private chats."""
        for session in self.sessions.values():
            if (server >> 22) % session.total == session.shard:
                self._push(session, event, data)

    def _push(self, session: Session, event: str, data: dict[str, Any]) -> None:
        session.events.append({"t": event, "s": len(session.events) + 1, "d": data})
        if session.connection and not self.silent:
            self._send(session, session.events[-1])

    def _send(self, session: Session, event: dict[str, Any]) -> None:
        assert session.connection
        task = asyncio.ensure_future(session.connection.send(0, event["d"], t=event["t"], s=event["s"]))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def drop(self, code: int = 1001) -> None:
        """Close every connection. Sessions can be resumed."""
        for session in self.sessions.values():
            if session.connection:
                connection, session.connection = session.connection, None
                await connection.socket.close(code=code)

    async def ask_to_reconnect(self) -> None:
        for session in self.sessions.values():
            if session.connection:
                await session.connection.send(RECONNECT, None)

    async def invalidate(self) -> None:
        """End every session and tell the bot."""
        connections = [session.connection for session in self.sessions.values() if session.connection]
        self.sessions.clear()
        for connection in connections:
            await connection.send(INVALID_SESSION, False)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.attempted_at.append(asyncio.get_running_loop().time())
        if self.refuses_with:
            return web.Response(status=self.refuses_with)
        if self.silent:
            await asyncio.Event().wait()
        socket = web.WebSocketResponse(max_msg_size=4096)
        await socket.prepare(request)
        connection = Connection(socket, compressed=request.query.get("compress") == "zlib-stream")
        await connection.send(HELLO, {"heartbeat_interval": HEARTBEAT_MILLISECONDS})
        self.connections.add(connection)
        session: Session | None = None
        async for message in socket:
            if message.type is not WSMsgType.TEXT:
                await socket.close(code=4002)
                break
            payload = json.loads(message.data)
            if payload["op"] == HEARTBEAT:
                self.heartbeats += 1
                if not self.silent:
                    await connection.send(HEARTBEAT_ACK, None)
            elif payload["op"] == IDENTIFY and session is None:
                session = await self._identify(connection, payload["d"])
            elif payload["op"] == RESUME and session is None:
                session = await self._resume(connection, payload["d"])
            elif session is None:
                await socket.close(code=4003)
        self.connections.discard(connection)
        if session and session.connection is connection:
            session.connection = None
        return socket

    async def _identify(self, connection: Connection, data: dict[str, Any]) -> Session | None:
        shard, total = data.get("shard") or (0, 1)
        if data["token"] != self.token:
            await connection.socket.close(code=4004)
            return None
        if data["intents"] & PRIVILEGED:
            await connection.socket.close(code=4014)
            return None
        if not 0 <= shard < total or not {"os", "browser", "device"} <= set(data["properties"]):
            await connection.socket.close(code=4010)
            return None
        session = Session(f"session{next(self._names)}", shard, total)
        # Discord keeps an abandoned session for minutes. With many kills, that would fill the memory.
        self.sessions = {name: old for name, old in self.sessions.items() if old.connection or old.shard != shard}
        self.sessions[session.name] = session
        self.identified.append((shard, total))
        session.connection = connection
        guilds = [guild for guild in self._guilds() if (int(guild["id"]) >> 22) % total == shard]
        unavailable = [{"id": guild["id"], "unavailable": True} for guild in guilds]
        fields = {"session_id": session.name, "resume_gateway_url": self.address, "shard": [shard, total]}
        self._push(session, "READY", {**self._ready(), "guilds": unavailable, **fields})
        for guild in guilds:
            self._push(session, "GUILD_CREATE", guild)
        return session

    async def _resume(self, connection: Connection, data: dict[str, Any]) -> Session | None:
        session = self.sessions.get(data["session_id"])
        if session is None or data["token"] != self.token:
            await connection.send(INVALID_SESSION, False)
            return None
        self.resumed += 1
        index = data["seq"]
        while index < len(session.events):
            event = session.events[index]
            await connection.send(0, event["d"], t=event["t"], s=event["s"])
            index += 1
        session.connection = connection
        self._push(session, "RESUMED", {})
        return session
