"""A fake Discord with REST and gateway, written from the documentation and as strict as Discord.

Tests let calls fail with `fail_next`, and set rate limits with ``buckets``.
"""

import asyncio
import itertools
import json
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.discord.activities import Activities
from tests.discord.gateway import Gateway
from tests.discord.validation import (
    EPHEMERAL,
    LAYOUT,
    Refused,
    invalid_form,
    validate_body,
    validate_commands,
    validate_media,
    validate_message,
    validate_modal,
)

TOKEN = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs"
APPLICATION = 1000
BOT = {"id": "1000", "username": "buongioco", "global_name": None, "discriminator": "0", "avatar": None, "bot": True}
TEXT_CHANNEL, PRIVATE, GROUP, THREAD = 0, 1, 3, 11
COMMAND, COMPONENT, AUTOCOMPLETE, FORM = 2, 3, 4, 5
FORM_DATA = "multipart/form-data"
IN_SERVER, WITH_BOT, AMONG_PEOPLE = 0, 1, 2

LOADING = 1 << 7  # flag of the message of a deferred answer
VIEW, SEND, ATTACH, SEND_IN_THREADS = 1 << 10, 1 << 11, 1 << 15, 1 << 38
ENOUGH = VIEW | SEND | ATTACH | SEND_IN_THREADS

BAR = 7 << 22  # a server, on shard 0 of one and shard 3 of four
CHANNEL = 200
FILE_LIMIT = 10 * 1024 * 1024  # bytes of a file, sent to the bot as ``attachment_size_limit``
MAX_FILES = 10  # maximum number of new files in a request. Their ids are below this; kept files have higher ids.
MAX_FOLLOW_UPS = 5  # follow-ups if the bot is not a member
PATIENCE = 60.0  # seconds to answer on a busy machine; Discord allows three


@dataclass
class Channel:
    """A channel or chat. ``ephemerals`` are the messages that only one user sees, by user and id."""

    id: int
    type: int
    server: int = 0
    name: str = "bar-sport"
    users: tuple[int, ...] = ()
    messages: dict[int, dict[str, Any]] = field(default_factory=dict)
    ephemerals: dict[int, dict[int, dict[str, Any]]] = field(default_factory=lambda: defaultdict(dict))
    permissions: int = ENOUGH
    is_deleted: bool = False
    is_closed: bool = False
    archived: bool = False
    locked: bool = False

    @property
    def payload(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"id": str(self.id), "type": self.type, "flags": 0, "last_message_id": None}
        if self.type == PRIVATE:
            return fields
        fields |= {"name": self.name}
        if self.type == THREAD:
            state = {"archived": self.archived, "locked": self.locked, "auto_archive_duration": 1440}
            fields |= {
                "guild_id": str(self.server),
                "parent_id": "1",
                "owner_id": "1",
                "message_count": 1,
                "member_count": 1,
                "thread_metadata": {**state, "archive_timestamp": "2026-01-01T00:00:00+00:00"},
            }
        elif self.type == TEXT_CHANNEL:
            fields |= {"guild_id": str(self.server), "position": 0, "permission_overwrites": [], "nsfw": False}
        return fields


@dataclass
class Interaction:
    """A command, press or autocompletion. ``answer`` is the type of the bot's answer, or 0 if there is none."""

    id: int
    token: str
    type: int
    user: int
    channel: Channel
    since: float
    message: int = 0
    answer: int = 0
    original: int = 0
    follow_ups: int = 0
    data: dict[str, Any] = field(default_factory=dict)
    choices: list[dict[str, Any]] | None = None
    modal: dict[str, Any] = field(default_factory=dict)


@dataclass
class Failure:
    """A call's failure: a refusal, a cut connection, or ``body`` with the content type ``kind``.

    If ``done_first``, the call takes effect before it fails.
    """

    refusal: Refused | None = None
    body: bytes | None = None
    kind: str = "application/json"
    status: int = 200
    hang_up: bool = False
    done_first: bool = False
    silent: bool = False  # never answer the call
    after: float = 0.0  # seconds before the failure or answer
    gate: asyncio.Event | None = None  # event to wait for, like ``after``


class DiscordServer:
    """The server, its users and channels."""

    def __init__(self, shards: int = 1, seconds: float = 3.0) -> None:
        self.users: dict[int, dict[str, Any]] = {}
        self.permissions_by_user: dict[int, int] = {}  # permissions by user, in all servers
        self.channels: dict[int, Channel] = {}
        self.servers: set[int] = set()
        self.interactions: dict[str, Interaction] = {}
        self.commands: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}  # uploaded files by name
        self.attached: dict[int, dict[str, str]] = defaultdict(dict)  # file names by message and attachment id
        self.uploads = 0
        self.upload_failure: Failure | None = None  # failure of every call with a file
        self.command_uploads = 0
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.rate_limited: list[str] = []  # names of the calls above a limit of ``buckets``
        self.pings: list[tuple[int, int]] = []
        self.shards, self.seconds_to_answer, self.token_seconds = shards, seconds, 900.0
        self.buckets: dict[str, tuple[int, float]] = {}
        self.interactions_url: str | None = None
        self.outage: Failure | None = None  # failure of every call until this is None again
        self.calls_during_outage = 0
        self.gateway = Gateway(TOKEN, self._ready, self._guilds)
        self.activities = Activities(APPLICATION)
        self._failures: dict[str, deque[Failure]] = defaultdict(deque)
        self._nonces: dict[str, dict[str, Any]] = {}
        self._tokens_by_message: dict[int, str] = {}
        self._call_times: dict[str, deque[float]] = defaultdict(deque)
        self._ids = itertools.count(5_000_000)
        self._first_private = 100_000
        self._runner: web.AppRunner | None = None
        self.url, self.port = "", 0

    # Serving

    async def start(self, port: int = 0) -> None:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_get("/gateway", self.gateway.serve)
        for method, path, name in ROUTES:
            app.router.add_route(method, f"/api/v10{path}", self._handler(name))
        self._runner = web.AppRunner(app, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        self.port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{self.port}/api/v10"
        self.gateway.address = f"ws://127.0.0.1:{self.port}/gateway"

    async def stop(self) -> None:
        await self.gateway.drop()
        if self._runner:
            await self._runner.cleanup()

    def _handler(self, name: str) -> Any:
        async def handle(request: web.Request) -> web.Response:
            try:
                self._check_call(name, request)
                body = await self._read_body(request)
                self.calls.append((name, body))
                failure = self._failures[name].popleft() if self._failures[name] else self.outage
                self.calls_during_outage += failure is not None and failure is self.outage
                if request.content_type == FORM_DATA:
                    self.uploads += 1
                    failure = failure or self.upload_failure
                if failure and failure.after:
                    await asyncio.sleep(failure.after)
                if failure and failure.gate:
                    await failure.gate.wait()
                if failure and failure.silent:
                    await asyncio.Event().wait()
                if failure and not failure.done_first:
                    if failure.body is not None:
                        return web.Response(body=failure.body, content_type=failure.kind, status=failure.status)
                    self._fail(failure, request)
                self._take_from_bucket(name, request)
                result = await getattr(self, f"_{name}")(request, body)
                if failure:
                    if failure.body is not None:
                        return web.Response(body=failure.body, content_type=failure.kind, status=failure.status)
                    self._fail(failure, request)
                return _json(result, headers=self._bucket_headers(name, request))
            except Refused as refusal:
                headers = {}
                if refusal.status == 429:
                    wait = refusal.body["retry_after"]
                    headers = {"Via": "1.1 paper", "Retry-After": str(wait), "X-RateLimit-Scope": "user"}
                return _json(refusal.body, refusal.status, headers)

        return handle

    async def _read_body(self, request: web.Request) -> Any:
        """Parse a request's body.

        With files it is a form: the JSON in ``payload_json``, the files in ``files[n]``, each named by an entry of
        ``attachments`` (docs.discord.com/developers/reference#uploading-files). The other entries are the attachments
        that the message keeps.
        """
        is_form = request.content_type == FORM_DATA
        form = await request.post() if is_form else {}
        if request.content_type == "application/x-www-form-urlencoded":
            return {}
        body = json.loads(str(form["payload_json"]) if is_form else await request.read() or "{}")
        data = (body.get("data") or body) if isinstance(body, dict) else {}
        new_attachments = [
            attachment for attachment in data.get("attachments") or () if int(attachment["id"]) < MAX_FILES
        ]
        announced = {f"files[{attachment['id']}]": attachment["filename"] for attachment in new_attachments}
        uploaded = {name: value for name, value in form.items() if isinstance(value, web.FileField)}
        if {name: file.filename for name, file in uploaded.items()} != announced:
            raise invalid_form("attachments: they do not match the uploaded files")
        for file in uploaded.values():
            content = file.file.read()
            if len(content) > FILE_LIMIT:
                raise Refused(413, 40005, "Request entity too large")
            self.files[file.filename] = content
        return body

    def _check_call(self, name: str, request: web.Request) -> None:
        authorization = request.headers.get("Authorization")
        if name == "exchange" or (name == "me" and authorization and authorization.startswith("Bearer ")):
            return
        if name not in BY_TOKEN and authorization != f"Bot {TOKEN}":
            raise Refused(401, 0, "401: Unauthorized")

    @staticmethod
    def _fail(failure: Failure, request: web.Request) -> None:
        if failure.hang_up:
            assert request.transport
            request.transport.abort()
        if failure.refusal:
            raise failure.refusal

    def _bucket(self, name: str, request: web.Request) -> str:
        """Return the name of a call's rate limit. Each channel and each token has its own.

        docs.discord.com/developers/topics/rate-limits
        """
        target = request.match_info["token"] if name in BY_TOKEN else request.match_info.get("channel", "")
        return f"{name}:{target}"

    def _take_from_bucket(self, name: str, request: web.Request) -> None:
        limit, seconds = self.buckets.get(name, (1000, 1.0))
        call_times, now = self._call_times[self._bucket(name, request)], time.monotonic()
        while call_times and call_times[0] < now - seconds:
            call_times.popleft()
        if len(call_times) >= limit:
            self.rate_limited.append(name)
            raise Refused(
                429, 0, "You are being rate limited.", retry_after=call_times[0] + seconds - now, **{"global": False}
            )
        call_times.append(now)

    def _bucket_headers(self, name: str, request: web.Request) -> dict[str, str]:
        if name in BY_TOKEN:
            return {}
        limit, seconds = self.buckets.get(name, (1000, 1.0))
        call_times = self._call_times[self._bucket(name, request)]
        reset = max(0.0, call_times[0] + seconds - time.monotonic()) if call_times else 0.0
        return {
            "X-RateLimit-Bucket": f"bucket-{name}",
            "X-RateLimit-Limit": str(limit),
            "X-RateLimit-Remaining": str(limit - len(call_times)),
            "X-RateLimit-Reset-After": f"{reset:.3f}",
            "X-RateLimit-Reset": f"{time.time() + reset:.3f}",
        }

    # Set-up by tests

    def fail_next(self, name: str, *failures: Failure) -> None:
        """Let the next calls of a kind fail, one failure each."""
        self._failures[name].extend(failures)

    def add_server(self, number: int) -> int:
        """Add a server of which the bot is a member."""
        self.servers.add(number)
        return number

    def add_channel(self, number: int, server: int = 0, kind: int = TEXT_CHANNEL, **fields: Any) -> Channel:
        return self.channels.setdefault(number, Channel(number, kind, server, **fields))

    def private(self, user: int) -> Channel:
        number = self._first_private + user
        return self.channels.setdefault(number, Channel(number, PRIVATE, users=(user,)))

    def become_another_application(self, *, deletes_old_chats: bool) -> None:
        """Give the bot new private chats, as a new application has.

        If ``deletes_old_chats``, the old chats are unknown channels. Otherwise the bot cannot access them
        (github.com/discord/discord-api-docs/issues/7666).
        """
        for channel in self.channels.values():
            if channel.type == PRIVATE:
                channel.type, channel.is_deleted = GROUP, deletes_old_chats
            for message in channel.messages.values():
                message["author"] = {**BOT, "id": "999"}
        self._first_private += 100_000

    def add_bot(self, server: int) -> None:
        """Make the bot a member of a server."""
        self.servers.add(server)
        self.gateway.dispatch("GUILD_CREATE", self._guild(server), server)

    def remove_bot(self, server: int) -> None:
        self.servers.discard(server)
        self.gateway.dispatch("GUILD_DELETE", {"id": str(server)}, server)

    def new_id(self) -> int:
        return next(self._ids)

    def interact(
        self, kind: int, user: int, channel: Channel, data: dict[str, Any], message: dict[str, Any] | None = None
    ) -> Interaction:
        """Create an interaction and send it to the bot."""
        interaction = self.create_interaction(kind, user, channel, data, message)
        self.dispatch_interaction(interaction, message)
        return interaction

    def create_interaction(
        self, kind: int, user: int, channel: Channel, data: dict[str, Any], message: dict[str, Any] | None = None
    ) -> Interaction:
        """Create an interaction without sending it to the bot."""
        number = self.new_id()
        interaction = Interaction(number, f"token{number}", kind, user, channel, time.monotonic(), data=data)
        interaction.message = int(message["id"]) if message else 0
        self.interactions[interaction.token] = interaction
        return interaction

    def dispatch_interaction(self, interaction: Interaction, message: dict[str, Any] | None = None) -> None:
        self.gateway.dispatch("INTERACTION_CREATE", self.event_of(interaction, message), interaction.channel.server)

    def event_of(self, interaction: Interaction, message: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return an interaction's event for the bot."""
        channel = interaction.channel
        is_member = channel.server in self.servers
        owners = {"0": str(channel.server)} if is_member else {"1": str(interaction.user)}
        context = IN_SERVER if channel.server else WITH_BOT if channel.type == PRIVATE else AMONG_PEOPLE
        sender: dict[str, Any] = {"user": self.users[interaction.user]}
        if channel.server:
            member: dict[str, Any] = {
                "user": self.users[interaction.user],
                "nick": None,
                "roles": [],
                "permissions": str(self.permissions_by_user.get(interaction.user, 0)),
                "flags": 0,
            }
            member_fields = {"joined_at": "2026-01-01T00:00:00+00:00", "deaf": False, "mute": False, "avatar": None}
            guild = {"id": str(channel.server), "locale": "en-US", "features": []}
            sender = {
                "member": {**member, **member_fields},
                "guild_id": str(channel.server),
                "guild": guild,
                "guild_locale": "en-US",
            }
        return {
            "id": str(interaction.id),
            "application_id": str(APPLICATION),
            "type": interaction.type,
            "token": interaction.token,
            "version": 1,
            "data": interaction.data,
            "channel": channel.payload,
            "channel_id": str(channel.id),
            "locale": self.users[interaction.user]["locale"],
            "app_permissions": str(channel.permissions),
            "entitlements": [],
            "authorizing_integration_owners": {"0": "0"} if context == WITH_BOT else owners,
            "context": context,
            "attachment_size_limit": FILE_LIMIT,
            **sender,
            **({"message": message} if message else {}),
        }

    # Gateway

    def _ready(self) -> dict[str, Any]:
        return {"v": 10, "user": BOT, "application": {"id": str(APPLICATION), "flags": 0}, "private_channels": []}

    def _guilds(self) -> list[dict[str, Any]]:
        return [self._guild(number) for number in sorted(self.servers)]

    def _guild(self, number: int) -> dict[str, Any]:
        channels = [channel for channel in self.channels.values() if channel.server == number]
        return {
            "id": str(number),
            "name": "Circolo",
            "owner_id": "1",
            "roles": [],
            "emojis": [],
            "features": [],
            "members": [],
            "member_count": 3,
            "channels": [channel.payload for channel in channels if channel.type == TEXT_CHANNEL],
            "threads": [channel.payload for channel in channels if channel.type == THREAD],
            "verification_level": 0,
            "default_message_notifications": 0,
            "explicit_content_filter": 0,
            "mfa_level": 0,
            "system_channel_flags": 0,
            "system_channel_id": str(channels[0].id) if channels else None,
            "premium_tier": 0,
            "nsfw_level": 0,
            "preferred_locale": "en-US",
            "afk_timeout": 300,
            "stickers": [],
        }

    # REST, the bot

    async def _me(self, request: web.Request, body: Any) -> Any:
        kind, _space, token = request.headers["Authorization"].partition(" ")
        return self.users[self.activities.user_of(token)] if kind == "Bearer" else BOT

    async def _application(self, request: web.Request, body: Any) -> Any:
        return {
            "id": str(APPLICATION),
            "name": "Buongioco",
            "description": "",
            "icon": None,
            "bot_public": True,
            "bot_require_code_grant": False,
            "verify_key": "",
            "flags": 0,
            "team": None,
            "interactions_endpoint_url": self.interactions_url,
            "owner": {"id": "1", "username": "host", "discriminator": "0", "avatar": None, "global_name": None},
        }

    async def _commands(self, request: web.Request, body: Any) -> Any:
        return self.commands

    async def _exchange(self, request: web.Request, body: Any) -> Any:
        return self.activities.exchange({name: str(value) for name, value in (await request.post()).items()})

    async def _instance(self, request: web.Request, body: Any) -> Any:
        return self.activities.find(request.match_info["instance"])

    async def _gateway(self, request: web.Request, body: Any) -> Any:
        limits = {"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1}
        return {"url": self.gateway.address, "shards": self.shards, "session_start_limit": limits}

    async def _set_commands(self, request: web.Request, body: Any) -> Any:
        validate_commands(body)
        self.activities.check_commands(body)
        self.command_uploads += 1
        self.commands = body
        fields = {"application_id": str(APPLICATION), "version": "1", "default_member_permissions": None}
        return [
            {"description": "", **command, "id": str(self.new_id()), "type": command.get("type", 1), **fields}
            for command in body
        ]

    # REST, messages

    async def _open_private(self, request: web.Request, body: Any) -> Any:
        validate_body("private", body)
        user = int(body["recipient_id"])
        if user not in self.users:
            raise Refused(400, 50033, "Invalid Recipient(s)")
        return {**self.private(user).payload, "recipients": [self.users[user]]}

    async def _send(self, request: web.Request, body: Any) -> Any:
        channel = self._channel(request, writing=True)
        validate_body("send", body)
        validate_message(body, is_new=True)
        nonce = str(body.get("nonce", ""))
        if nonce and body.get("enforce_nonce") and nonce in self._nonces:
            return self._nonces[nonce]
        channel.archived = False
        message = self._create_message(channel, body)
        channel.messages[int(message["id"])] = message
        if nonce:
            self._nonces[nonce] = message
        return message

    async def _edit(self, request: web.Request, body: Any) -> Any:
        channel = self._channel(request)
        message = self._own_message(channel, request)
        validate_body("edit", body)
        if channel.archived:
            raise Refused(400, 50083, "Thread is archived")
        return self._change(message, body)

    async def _delete(self, request: web.Request, body: Any) -> Any:
        channel = self._channel(request)
        number = int(request.match_info["message"])
        if number in channel.messages and channel.messages[number]["author"]["id"] != BOT["id"]:
            # This needs Manage Messages (docs.discord.com/developers/resources/message#delete-message).
            raise Refused(403, 50013, "Missing Permissions")
        self._own_message(channel, request)
        del channel.messages[int(request.match_info["message"])]
        return None

    def _channel(self, request: web.Request, *, writing: bool = False) -> Channel:
        channel = self.channels.get(int(request.match_info["channel"]))
        if channel is None or channel.is_deleted:
            raise Refused(404, 10003, "Unknown Channel")
        if channel.type == GROUP or (channel.server and channel.server not in self.servers):
            raise Refused(403, 50001, "Missing Access")
        if channel.type == PRIVATE:
            if channel.is_closed and writing:
                raise Refused(403, 50007, "Cannot send messages to this user")
            return channel
        if not channel.permissions & VIEW:
            raise Refused(403, 50001, "Missing Access")
        if writing and not channel.permissions & (SEND_IN_THREADS if channel.type == THREAD else SEND):
            raise Refused(403, 50013, "Missing Permissions")
        if channel.locked and channel.archived:
            raise Refused(400, 50083, "Thread is archived")
        return channel

    @staticmethod
    def _own_message(channel: Channel, request: web.Request) -> dict[str, Any]:
        message = channel.messages.get(int(request.match_info["message"]))
        if message is None:
            raise Refused(404, 10008, "Unknown Message")
        if message["author"]["id"] != BOT["id"]:
            raise Refused(403, 50005, "Cannot edit a message authored by another user")
        return message

    def _create_message(self, channel: Channel, body: dict[str, Any]) -> dict[str, Any]:
        number = self.new_id()
        components = json.loads(json.dumps(body.get("components") or []))
        self.attached[number] = self._attachments(channel, {}, body, components)
        self._show_media(channel, self.attached[number], components)
        self._number_components(components)
        text = json.dumps(components) + (body.get("content") or "")
        allowed = body.get("allowed_mentions")
        for user in self.users:
            is_named = f"<@{user}>" in text
            is_pinged = (
                allowed is None or "users" in allowed.get("parse", ()) or str(user) in (allowed.get("users") or ())
            )
            if is_named and is_pinged and not (body.get("flags") or 0) & EPHEMERAL:
                self.pings.append((channel.id, user))
        return {
            "id": str(number),
            "type": 0,
            "channel_id": str(channel.id),
            "author": BOT,
            "content": body.get("content") or "",
            "embeds": [],
            "attachments": [],
            "mentions": [],
            "mention_roles": [],
            "mention_everyone": False,
            "pinned": False,
            "tts": False,
            "timestamp": "2026-01-01T00:00:00+00:00",
            "edited_timestamp": None,
            "flags": body.get("flags") or 0,
            "components": components,
            **({"nonce": body["nonce"]} if "nonce" in body else {}),
        }

    def _attachments(
        self, channel: Channel, earlier: dict[str, str], body: dict[str, Any], components: list[dict[str, Any]]
    ) -> dict[str, str]:
        """Return a message's attachments after a change: file names by id. ``earlier`` are those before it."""
        announced = body.get("attachments")
        attached = dict(earlier) if announced is None else {}
        for attachment in announced or ():
            if int(attachment["id"]) < MAX_FILES:
                if channel.type != PRIVATE and not channel.permissions & ATTACH:
                    raise Refused(403, 50013, "Missing Permissions")
                attached[str(self.new_id())] = attachment["filename"]
            elif attachment["id"] in earlier:
                attached[attachment["id"]] = earlier[attachment["id"]]
            else:
                raise invalid_form("attachments: unknown")
        validate_media(components, attached.values())
        return attached

    @staticmethod
    def _show_media(channel: Channel, attached: dict[str, str], components: list[dict[str, Any]]) -> None:
        """Add the URLs of the galleries' media. Discord leaves their files out of the message's attachments."""
        ids = {f"attachment://{name}": number for number, name in attached.items()}
        for component in components:
            for item in component.get("items", ()):
                number = ids[item["media"]["url"]]
                url = f"https://cdn.discordapp.com/attachments/{channel.id}/{number}/{attached[number]}?ex=0&is=0&hm=0"
                fields = {"content_type": "image/png", "width": 1, "height": 1, "attachment_id": number}
                item["media"] = {"url": url, "proxy_url": url, **fields}
            DiscordServer._show_media(channel, attached, component.get("components", []))

    def _change(self, message: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        if message["flags"] & LAYOUT and not body.get("flags", LAYOUT) & LAYOUT:
            raise invalid_form("flags: the flag for layout components cannot be removed")
        flags = message["flags"] | (body.get("flags") or 0)
        validate_message({**message, **body, "flags": flags, "embeds": body.get("embeds")}, is_new=False)
        if "components" in body:
            number, channel = int(message["id"]), self.channels[int(message["channel_id"])]
            components = json.loads(json.dumps(body["components"]))
            self.attached[number] = self._attachments(channel, self.attached[number], body, components)
            self._show_media(channel, self.attached[number], components)
            self._number_components(components)
            message["components"] = components
        message.update(flags=flags, edited_timestamp="2026-01-01T00:00:01+00:00")
        if body.get("content") is not None:
            message["content"] = body["content"]
        return message

    def _number_components(self, components: list[dict[str, Any]], first: int = 1) -> int:
        for component in components:
            component["id"] = first
            first = self._number_components(component.get("components", []), first + 1)
        return first

    # REST, interactions

    async def _answer(self, request: web.Request, body: Any) -> Any:
        interaction = self.interactions.get(request.match_info["token"])
        if interaction is None or str(interaction.id) != request.match_info["interaction"]:
            raise Refused(404, 10062, "Unknown interaction")
        if interaction.answer:
            raise Refused(400, 40060, "Interaction has already been acknowledged.")
        if time.monotonic() - interaction.since > self.seconds_to_answer:
            raise Refused(404, 10062, "Unknown interaction")
        kind, data = body.get("type"), body.get("data") or {}
        by_message = (6, 7) if interaction.message else ()
        allowed = {
            COMMAND: (4, 5, 9, 12),
            COMPONENT: (4, 5, 6, 7, 9, 12),
            AUTOCOMPLETE: (8,),
            FORM: (4, 5, *by_message, 12),
        }[interaction.type]
        if kind not in allowed:
            raise invalid_form(f"type: an interaction of type {interaction.type} takes {allowed}")
        if kind in (4, 7, 8):
            validate_body("answer", body)
        if kind == 9:
            validate_modal(body)
            interaction.modal = data
        elif kind == 8:
            interaction.choices = data["choices"]
        elif kind == 12:
            if "data" in body:
                raise invalid_form("data: launching an Activity takes none")
            launched = self.activities.launch(interaction.user, interaction.channel.id, interaction.channel.server)
        elif kind in (4, 7):
            validate_message(data, is_new=kind == 4)
        elif set(data) - {"flags"} or (data.get("flags") or 0) & ~EPHEMERAL:
            raise invalid_form("a deferred answer can only have the flag EPHEMERAL")
        message = self._carry_out(interaction, kind, data)
        interaction.answer = kind
        if "with_response" not in request.query:
            return None
        fields = {"id": str(interaction.id), "type": interaction.type}
        if kind == 12:
            resource = {"type": kind, "activity_instance": {"id": launched}}
            return {"interaction": {**fields, "activity_instance_id": launched}, "resource": resource}
        return {"interaction": fields, "resource": {"type": kind, **({"message": message} if message else {})}}

    def _carry_out(self, interaction: Interaction, kind: int, data: dict[str, Any]) -> dict[str, Any] | None:
        if kind in (6, 7):
            interaction.original = interaction.message
            message = self._find_message(interaction, interaction.message)
            return self._change(message, data) if kind == 7 else message
        if kind in (4, 5):
            return self._add_message(interaction, data, is_deferred=kind == 5)
        return None

    def _add_message(
        self, interaction: Interaction, data: dict[str, Any], *, is_deferred: bool = False
    ) -> dict[str, Any]:
        message = self._create_message(interaction.channel, data)
        if is_deferred:
            message["flags"] |= LOADING
        self._messages_with(interaction, message)[int(message["id"])] = message
        self._tokens_by_message[int(message["id"])] = interaction.token
        interaction.original = interaction.original or int(message["id"])
        return message

    def _messages_with(self, interaction: Interaction, message: dict[str, Any]) -> dict[int, dict[str, Any]]:
        return (
            interaction.channel.ephemerals[interaction.user]
            if message["flags"] & EPHEMERAL
            else interaction.channel.messages
        )

    def _find_message(self, interaction: Interaction, number: int) -> dict[str, Any]:
        for messages in (interaction.channel.messages, interaction.channel.ephemerals[interaction.user]):
            if number in messages:
                return messages[number]
        raise Refused(404, 10008, "Unknown Message")

    def _interaction_by_token(self, request: web.Request) -> Interaction:
        interaction = self.interactions.get(request.match_info["token"])
        if interaction is None or not interaction.answer or request.match_info["application"] != str(APPLICATION):
            raise Refused(404, 10015, "Unknown Webhook")
        if time.monotonic() - interaction.since > self.token_seconds:
            raise Refused(401, 50027, "Invalid Webhook Token")
        return interaction

    def _target_message(self, interaction: Interaction, request: web.Request) -> dict[str, Any]:
        name = request.match_info["message"]
        message = self._find_message(interaction, interaction.original if name == "@original" else int(name))
        number = int(message["id"])
        if (
            number not in (interaction.message, interaction.original)
            and self._tokens_by_message.get(number) != interaction.token
        ):
            raise Refused(404, 10008, "Unknown Message")
        return message

    async def _follow_up(self, request: web.Request, body: Any) -> Any:
        interaction = self._interaction_by_token(request)
        validate_body("follow_up", body)
        validate_message(body, is_new=True)
        if interaction.answer == 5:
            # The first follow-up replaces the deferred answer and is as private as that answer.
            interaction.answer = 4
            return self._fill_deferred(interaction, body)
        interaction.follow_ups += 1
        if (
            interaction.channel.server not in self.servers
            and interaction.channel.type != PRIVATE
            and interaction.follow_ups > MAX_FOLLOW_UPS
        ):
            raise Refused(400, 40094, "This interaction has too many follow-up messages.")
        return self._add_message(interaction, body)

    def _fill_deferred(self, interaction: Interaction, body: dict[str, Any]) -> dict[str, Any]:
        message = self._find_message(interaction, interaction.original)
        message["flags"] &= ~LOADING
        changed = self._change(message, {**body, "flags": (body.get("flags") or 0) & ~EPHEMERAL})
        for user in self.users:
            mentions = body.get("allowed_mentions") or {}
            if f"<@{user}>" in json.dumps(body) and str(user) in (mentions.get("users") or ()):
                self.pings.append((interaction.channel.id, user))
        return changed

    async def _original(self, request: web.Request, body: Any) -> Any:
        return self._target_message(self._interaction_by_token(request), request)

    async def _edit_with_token(self, request: web.Request, body: Any) -> Any:
        interaction = self._interaction_by_token(request)
        validate_body("edit_with_token", body)
        message = self._target_message(interaction, request)
        if interaction.answer == 5 and int(message["id"]) == interaction.original:
            interaction.answer = 4
            return self._fill_deferred(interaction, body)
        return self._change(message, body)

    async def _delete_with_token(self, request: web.Request, body: Any) -> Any:
        interaction = self._interaction_by_token(request)
        message = self._target_message(interaction, request)
        del self._messages_with(interaction, message)[int(message["id"])]
        if interaction.answer == 5:
            interaction.answer = 4
        return None


ROUTES = (
    ("GET", "/users/@me", "me"),
    ("GET", "/oauth2/applications/@me", "application"),
    ("GET", "/gateway/bot", "gateway"),
    ("GET", "/applications/{application}/commands", "commands"),
    ("PUT", "/applications/{application}/commands", "set_commands"),
    ("GET", "/applications/{application}/activity-instances/{instance}", "instance"),
    ("POST", "/oauth2/token", "exchange"),
    ("POST", "/users/@me/channels", "open_private"),
    ("POST", "/channels/{channel}/messages", "send"),
    ("PATCH", "/channels/{channel}/messages/{message}", "edit"),
    ("DELETE", "/channels/{channel}/messages/{message}", "delete"),
    ("POST", "/interactions/{interaction}/{token}/callback", "answer"),
    ("POST", "/webhooks/{application}/{token}", "follow_up"),
    ("GET", "/webhooks/{application}/{token}/messages/{message}", "original"),
    ("PATCH", "/webhooks/{application}/{token}/messages/{message}", "edit_with_token"),
    ("DELETE", "/webhooks/{application}/{token}/messages/{message}", "delete_with_token"),
)
BY_TOKEN = {"answer", "follow_up", "original", "edit_with_token", "delete_with_token"}


def _json(result: Any, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """Return an answer with Discord's content type, which discord.py requires for JSON."""
    if result is None:
        return web.Response(status=204, headers=headers)
    return web.Response(
        body=json.dumps(result).encode(), status=status, content_type="application/json", headers=headers
    )
