"""The part of Discord's REST API that the bot uses.

Requests as the bot go through the library's client, which respects rate limits. Requests with an interaction's token
have their own limits, so they go through the library's webhook adapter.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import aiohttp
import discord
from discord.http import Route
from discord.webhook.async_ import AsyncWebhookAdapter

from adapters.discord.components import Body
from adapters.discord.errors import NO_WEBHOOK
from adapters.discord.limits import COUNTED_STATUSES, RefusalBudget
from adapters.discord.pictures import Stopwatch, Upload, picture_of, trace_config
from adapters.discord.places import InteractionToken
from bot.http.bodies import dump_json, multipart
from bot.platform import PlatformFailure, SentMessage

LAUNCH_ACTIVITY = 12  # a type of answer to interactions
CALLBACK = "/interactions/{webhook_id}/{webhook_token}/callback"
TIMEOUT = aiohttp.ClientTimeout(total=20, connect=5)


class Rest:
    """REST calls. They raise the library's errors, and `SlowDown` after too many refusals."""

    def __init__(self, client: discord.Client, budget: RefusalBudget, proxy: str | None) -> None:
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
        """Send a message. Repeating a ``nonce`` within a few minutes returns the same message."""
        route = Route("POST", "/channels/{channel_id}/messages", channel_id=channel)
        return _message(await self._request(route, {**body, "nonce": nonce, "enforce_nonce": True}, upload))

    async def edit(self, channel: str, message: str, body: Body, upload: Upload | None = None) -> SentMessage:
        route = Route("PATCH", "/channels/{channel_id}/messages/{message_id}", channel_id=channel, message_id=message)
        response = await self._request(route, body, upload)
        return SentMessage(message, picture_of(response) if body["attachments"] else "")

    async def delete(self, channel: str, message: str) -> None:
        route = Route("DELETE", "/channels/{channel_id}/messages/{message_id}", channel_id=channel, message_id=message)
        await self._request(route)

    async def open_private_chat(self, user: str) -> str:
        """Return the channel of a person's private chat, even if they do not accept messages from the bot."""
        return _id(await self._request(Route("POST", "/users/@me/channels"), {"recipient_id": user}))

    async def get_activity_instance(self, instance: str) -> Any:
        """Return a running instance of the Activity: its ``location`` and ``users``."""
        path = "/applications/{application_id}/activity-instances/{instance}"
        return await self._request(Route("GET", path, application_id=self._client.application_id, instance=instance))

    async def _request(self, route: Route, body: Body | None = None, upload: Upload | None = None) -> Any:
        content: dict[str, Any] = {} if body is None else {"data": _content(body, upload)}
        if upload:
            content["trace_request_ctx"] = upload.stopwatch
        with self._request_errors():
            return await self._client.http.request(route, timeout=TIMEOUT, **content)

    @contextmanager
    def _request_errors(self) -> Iterator[None]:
        """Count a refused request. Raise SlowDown after too many, and PlatformFailure if the session is closed."""
        self._budget.check()
        try:
            yield
        except discord.HTTPException as error:
            if error.status in COUNTED_STATUSES:
                self._budget.count()
            raise
        except RuntimeError:
            # The library was waiting to retry the request when the session closed.
            if not self._is_closed:
                raise
            raise PlatformFailure("the session was closed") from None

    # With an interaction's token

    async def answer(
        self,
        token: InteractionToken,
        kind: int,
        body: Body | None = None,
        *,
        wants_message: bool = False,
        upload: Upload | None = None,
    ) -> SentMessage:
        """Answer an interaction.

        With ``wants_message``, return the message that the answer creates or changes. Otherwise the id is empty.
        """
        route = Route("POST", CALLBACK, webhook_id=token.interaction, webhook_token=token.value)
        payload = {"type": kind} if body is None else {"type": kind, "data": body}
        if not wants_message:
            await self._request_with_token(route, payload, upload=upload)
            return SentMessage("")
        response = await self._request_with_token(route, payload, {"with_response": "1"}, upload=upload)
        resource = response.get("resource") if isinstance(response, dict) else None
        return _message(resource.get("message") if isinstance(resource, dict) else None)

    async def launch_activity(self, token: InteractionToken) -> str:
        """Answer an interaction by opening the Activity for the person. Return the id of its instance."""
        route = Route("POST", CALLBACK, webhook_id=token.interaction, webhook_token=token.value)
        response = await self._request_with_token(route, {"type": LAUNCH_ACTIVITY}, {"with_response": "1"})
        try:
            return str(response["interaction"]["activity_instance_id"])
        except (KeyError, TypeError):
            raise PlatformFailure("an answer without the instance") from None

    async def follow_up(self, token: InteractionToken, body: Body, upload: Upload | None = None) -> SentMessage:
        """Send one more message where the interaction came from."""
        route, wait = self._webhook("POST", "", token), {"wait": "true"}
        return _message(await self._request_with_token(route, body, wait, young=token.is_young, upload=upload))

    async def get_original(self, token: InteractionToken) -> SentMessage:
        return _message(await self._request_with_token(self._webhook("GET", "/messages/@original", token)))

    async def edit_with_token(
        self, token: InteractionToken, message: str, body: Body, upload: Upload | None = None
    ) -> SentMessage:
        """Edit a message of an interaction. ``@original`` is its answer or the pressed message."""
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
        """Send a request.

        Set ``young`` if the interaction might still wait for its answer. An unknown token is then a PlatformFailure,
        because it can still become valid.
        """
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0)
            self._session = aiohttp.ClientSession(connector=connector, timeout=TIMEOUT, trace_configs=[trace_config()])
        session: Any = self._session
        if body is not None:
            session = _Sending(session, _content(body, upload), upload.stopwatch if upload else None)
        try:
            with self._request_errors():
                return await self._tokens.request(route, session=session, params=params, proxy=self._proxy)
        except discord.HTTPException as error:
            if young and error.code == NO_WEBHOOK:
                raise PlatformFailure("the interaction has not been answered yet") from None
            raise


class _Sending(NamedTuple):
    """A session that sends a ready body, which the library does not accept."""

    session: aiohttp.ClientSession
    body: aiohttp.BytesPayload
    stopwatch: Stopwatch | None

    def request(self, method: str, url: str, **options: Any) -> Any:
        return self.session.request(method, url, **{**options, "data": self.body, "trace_request_ctx": self.stopwatch})


def _content(body: Body, upload: Upload | None) -> aiohttp.BytesPayload:
    """Return a request's JSON, or a form with the JSON and a file.

    The library would make a text of the JSON, which aiohttp would encode again.
    """
    if upload is None:
        return aiohttp.BytesPayload(dump_json(body), content_type="application/json")
    fields = {"payload_json": json.dumps(body)}
    content, content_type = multipart(fields, "files[0]", upload.name, upload.content, upload.type)
    return aiohttp.BytesPayload(content, content_type=content_type)


def _message(response: Any) -> SentMessage:
    return SentMessage(_id(response), picture_of(response))


def _id(response: Any) -> str:
    """Return the id in a response. Raises PlatformFailure if it is missing, for example in a proxy's response."""
    try:
        return str(response["id"])
    except (KeyError, TypeError):
        raise PlatformFailure("the response has no id") from None
