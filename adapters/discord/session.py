"""The session with which the library sends requests.

It sends JSON with `bot.http.direct_requests`, which takes a third off the CPU of a request (`python -m benchmarks
requests`). Uploads, requests without a body and all requests through a proxy go through aiohttp's own session. Rate
limits and retries stay the library's.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

import aiohttp

from adapters.discord.errors import RATE_LIMITED
from adapters.discord.pictures import Stopwatch
from bot.http.direct_requests import DirectRequests, Response
from bot.metrics import RATE_LIMITED_ANSWERS

JSON = "application/json"
TIMEOUT = aiohttp.ClientTimeout(total=20, connect=5)


class RequestBody(NamedTuple):
    """A ready body, which the library only passes on. The ``stopwatch`` times an upload."""

    content: bytes
    content_type: str = JSON
    stopwatch: Stopwatch | None = None


class Session:
    """What the library uses of an aiohttp session."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._direct = DirectRequests(session)

    @property
    def closed(self) -> bool:
        return self._session.closed

    async def close(self) -> None:
        await self._session.close()

    async def ws_connect(self, url: str, **options: Any) -> Any:
        return await self._session.ws_connect(url, **options)

    def request(self, method: str, url: str, **options: Any) -> Any:
        """Return a context manager that sends a request and yields its response."""
        body = options.get("data")
        if not isinstance(body, RequestBody):
            return self._session.request(method, url, **options)
        if body.content_type != JSON or options.get("proxy"):
            content = aiohttp.BytesPayload(body.content, content_type=body.content_type)
            changed = {"data": content, "trace_request_ctx": body.stopwatch}
            return self._session.request(method, url, **{**options, **changed})
        if params := options.get("params"):
            url = f"{url}?{urlencode(params)}"
        headers = {**options["headers"], "Content-Type": JSON}
        return _Sending(self._direct, method, url, headers, body.content)


class _Sending(NamedTuple):
    requests: DirectRequests
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes

    async def __aenter__(self) -> Response:
        response = await self.requests.send(self.method, self.url, self.headers, self.body, TIMEOUT)
        if response.status == RATE_LIMITED:
            RATE_LIMITED_ANSWERS.labels("discord").inc()
        return response

    async def __aexit__(self, *_error: object) -> None:
        """Do nothing: the response was read to its end."""
