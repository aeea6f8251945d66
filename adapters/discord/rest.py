"""Discord's REST API, as far as the bot uses it: through the library's client, which keeps to the rate limits, and with
bodies that are JSON already.

What an interaction's token allows goes another way, as in the library: it has limits of its own.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex
from typing import Any, NamedTuple

import aiohttp
import discord
from discord.http import Route
from discord.webhook.async_ import AsyncWebhookAdapter

from adapters.discord.budget import Budget
from adapters.discord.drawing import Body
from adapters.discord.errors import NO_WEBHOOK
from adapters.discord.pictures import Stopwatch, Upload, picture_of, trace_config
from adapters.discord.reading import InteractionToken
from bot.platform import PlatformFailure, SentMessage

TIMEOUT = aiohttp.ClientTimeout(total=20, connect=5)


class Rest:
    """Calls that raise what the library raises, and `SlowDown` when too much was refused."""

    def __init__(self, client: discord.Client, budget: Budget, proxy: str | None) -> None:
        self._client, self._budget, self._proxy = client, budget, proxy
        self._tokens: Any = AsyncWebhookAdapter()  # type: ignore[no-untyped-call]
        self._session: aiohttp.ClientSession | None = None
        self._is_closed = False

    async def close(self) -> None:
        self._is_closed = True
        if self._session:
            await self._session.close()

    # As the bot

    async def send(self, channel: str, body: Body, nonce: str, upload: Upload | None = None) -> SentMessage:
        """Send a message; the same ``nonce`` within a few minutes is the same message."""
        route = Route("POST", "/channels/{channel_id}/messages", channel_id=channel)
        return _message(await self._request(route, {**body, "nonce": nonce, "enforce_nonce": True}, upload))

    async def edit(self, channel: str, message: str, body: Body, upload: Upload | None = None) -> SentMessage:
        route = Route("PATCH", "/channels/{channel_id}/messages/{message_id}", channel_id=channel, message_id=message)
        said = await self._request(route, body, upload)
        return SentMessage(message, picture_of(said) if body["attachments"] else "")

    async def delete(self, channel: str, message: str) -> None:
        route = Route("DELETE", "/channels/{channel_id}/messages/{message_id}", channel_id=channel, message_id=message)
        await self._request(route)

    async def open_private_chat(self, user: str) -> str:
        """The channel of the private chat with somebody, whether they can be written to there or not."""
        return _id(await self._request(Route("POST", "/users/@me/channels"), {"recipient_id": user}))

    async def _request(self, route: Route, body: Body | None = None, upload: Upload | None = None) -> Any:
        self._budget.check()
        more: dict[str, Any] = {} if body is None else {"json": body}
        if upload:
            more = {"data": _form(body, upload), "trace_request_ctx": upload.stopwatch}
        try:
            with self._closing_is_trouble():
                return await self._client.http.request(route, timeout=TIMEOUT, **more)
        except discord.HTTPException as error:
            self._budget.count_refusal(error.status)
            raise

    @contextmanager
    def _closing_is_trouble(self) -> Iterator[None]:
        """Calls in this context end in trouble if all is closed while the library waits before it tries again."""
        try:
            yield
        except RuntimeError:
            if not self._is_closed:
                raise
            raise PlatformFailure("closed meanwhile") from None

    # By an interaction's token

    async def answer(
        self,
        token: InteractionToken,
        kind: int,
        body: Body | None = None,
        *,
        tell: bool = False,
        upload: Upload | None = None,
    ) -> SentMessage:
        """Answer an interaction; ``tell`` for the message that comes of it, or changes: otherwise it has no name."""
        route = Route(
            "POST",
            "/interactions/{webhook_id}/{webhook_token}/callback",
            webhook_id=token.interaction,
            webhook_token=token.value,
        )
        payload = {"type": kind} if body is None else {"type": kind, "data": body}
        said = await self._request_with_token(route, payload, {"with_response": "1"} if tell else None, upload=upload)
        return _message(said, "resource", "message") if tell else SentMessage("")

    async def follow_up(self, token: InteractionToken, body: Body, upload: Upload | None = None) -> SentMessage:
        """Send one more message where the interaction came from; returns it."""
        route = self._webhook("POST", "", token)
        return _message(
            await self._request_with_token(route, body, {"wait": "true"}, young=token.is_young, upload=upload)
        )

    async def get_original(self, token: InteractionToken) -> SentMessage:
        """The message that answered an interaction."""
        return _message(await self._request_with_token(self._webhook("GET", "/messages/@original", token)))

    async def edit_with_token(
        self, token: InteractionToken, message: str, body: Body, upload: Upload | None = None
    ) -> SentMessage:
        """Edit a message that came of an interaction (``@original`` is its answer); returns it."""
        route = self._webhook("PATCH", "/messages/{message_id}", token, message)
        return _message(await self._request_with_token(route, body, young=token.is_young, upload=upload))

    async def delete_with_token(self, token: InteractionToken, message: str) -> None:
        await self._request_with_token(self._webhook("DELETE", "/messages/{message_id}", token, message))

    def _webhook(self, method: str, path: str, token: InteractionToken, message: str = "") -> Route:
        return Route(
            method,
            "/webhooks/{webhook_id}/{webhook_token}" + path,
            webhook_id=self._client.application_id,
            webhook_token=token.value,
            **({"message_id": message} if message else {}),
        )

    async def _request_with_token(
        self,
        route: Route,
        body: Body | None = None,
        params: dict[str, str] | None = None,
        *,
        young: bool = False,
        upload: Upload | None = None,
    ) -> Any:
        """``young`` if the token's interaction may be waiting for its answer, from another worker."""
        self._budget.check()
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0)
            self._session = aiohttp.ClientSession(connector=connector, timeout=TIMEOUT, trace_configs=[trace_config()])
        uploading = _Uploading(self._session, _form(body, upload), upload.stopwatch) if upload else None
        session, payload = (uploading, None) if uploading else (self._session, body)
        ask = self._tokens.request(route, session=session, params=params, proxy=self._proxy, payload=payload)
        try:
            with self._closing_is_trouble():
                return await ask
        except discord.HTTPException as error:
            self._budget.count_refusal(error.status)
            if young and error.code == NO_WEBHOOK:
                raise PlatformFailure("the interaction has not been answered yet") from None
            raise


class _Uploading(NamedTuple):
    """A session for calls with a form that is put together already, which the library cannot be given otherwise."""

    session: aiohttp.ClientSession
    form: aiohttp.BytesPayload
    stopwatch: Stopwatch | None

    def request(self, method: str, url: str, **more: Any) -> Any:
        return self.session.request(method, url, **{**more, "data": self.form, "trace_request_ctx": self.stopwatch})


def _form(body: Body | None, upload: Upload) -> aiohttp.BytesPayload:
    """A body with a file, as multipart/form-data.

    It is put together at once: aiohttp's own forms take as long as all the rest of a call.
    """
    boundary = token_hex(16)
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="payload_json"\r\n'
        f"Content-Type: text/plain; charset=utf-8\r\n\r\n{json.dumps(body)}\r\n"
        f'--{boundary}\r\nContent-Disposition: form-data; name="files[0]"; filename="{upload.name}"\r\n'
        f"Content-Type: {upload.type}\r\n\r\n"
    )
    content = b"".join((head.encode(), upload.content, f"\r\n--{boundary}--\r\n".encode()))
    return aiohttp.BytesPayload(content, content_type=f"multipart/form-data; boundary={boundary}")


def _id(said: Any) -> str:
    """The id in an answer; Trouble if there is none, for a proxy on the way may say anything."""
    return str(_value_in(said, "id"))


def _message(said: Any, *path: str) -> SentMessage:
    """The message in an answer; Trouble if there is none."""
    found = _value_in(said, *path)
    return SentMessage(_id(found), picture_of(found))


def _value_in(said: Any, *path: str) -> Any:
    """What stands in an answer under some names, each in the one before; Trouble if nothing does."""
    try:
        for name in path:
            said = said[name]
    except (KeyError, TypeError):
        raise PlatformFailure("an answer without an id") from None
    return said
