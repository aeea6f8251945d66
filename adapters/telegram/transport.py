"""HTTP for python-telegram-bot over aiohttp. The library's own client needs several times as much CPU for a call."""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, NamedTuple

import aiohttp
from telegram.error import NetworkError, TimedOut
from telegram.request import BaseRequest, RequestData
from yarl import URL

from bot.http.bodies import dump_json, load_json, multipart
from bot.http.proxies import proxy_for
from bot.metrics import RATE_LIMITED_ANSWERS

CONNECT_SECONDS, READ_SECONDS, WRITE_SECONDS, POOL_SECONDS = 5.0, 10.0, 20.0, 5.0

# Fields of a sent message that the bot or the library needs.
KEPT_FIELDS = ("message_id", "ephemeral_message_id", "date", "chat", "photo")
BAD_REQUEST, TOO_MANY_REQUESTS, SERVER_ERROR = 400, 429, 500

HEADERS = {"User-Agent": BaseRequest.USER_AGENT}
FORM_HEADERS = HEADERS | {"Content-Type": "application/x-www-form-urlencoded"}
JSON_HEADERS = HEADERS | {"Content-Type": "application/json"}


class InvalidAnswer(NetworkError):
    """The answer is malformed or not from the Bot API, for example a proxy's page."""


class NotConnected(NetworkError):
    """The connection failed, so the server did not receive the request."""


class ConnectionLost(NetworkError):
    """The connection ended before the answer came."""


class ServerError(NetworkError):
    """The server or a gateway reports an internal error. The request might have taken effect."""


class Body(NamedTuple):
    """The body of a request. The library only passes it on."""

    content: bytes
    headers: dict[str, str] = JSON_HEADERS
    contains_files: bool = False


def json_body(fields: dict[str, Any]) -> Body:
    """Return the fields, without unset ones, as JSON. The library would send a form of JSON values."""
    return Body(dump_json({name: value for name, value in fields.items() if value is not None}))


def upload_body(fields: dict[str, Any], part: str, content: bytes) -> Body:
    """Return a form with the fields and a picture. ``part`` is the name of the picture's field."""
    texts = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in fields.items()
        if value is not None
    }
    form, content_type = multipart(texts, part, f"{part}.png", content, "image/png")
    return Body(form, HEADERS | {"Content-Type": content_type}, contains_files=True)


Post = Callable[[str, Body], Awaitable[Any]]
"""Calls a method of the Bot API and returns its result; raises the library's errors."""


class AiohttpRequest(BaseRequest):
    """The library's requests over one aiohttp session.

    ``connections`` is the limit of open connections. Proxies come from the environment (``HTTPS_PROXY``). Errors never
    contain the address because it contains the token.
    """

    def __init__(self, connections: int = 64, read_timeout: float = READ_SECONDS) -> None:
        self._connections, self._read_timeout = connections, read_timeout
        self._session: aiohttp.ClientSession | None = None

    @property
    def read_timeout(self) -> float:
        return self._read_timeout

    async def initialize(self) -> None:
        if self._session is None or self._session.closed:
            connector = aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=30)
            self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())

    async def shutdown(self) -> None:
        if self._session:
            await self._session.close()

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | Body | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        if self._session is None or self._session.closed:
            raise RuntimeError("This request is not initialized!")
        # The bot gives no timeouts for single calls. For aiohttp, connecting includes the wait for a free connection.
        read_seconds = self._read_timeout + (WRITE_SECONDS if request_data and request_data.contains_files else 0.0)
        connect_seconds = POOL_SECONDS + CONNECT_SECONDS
        timeout = aiohttp.ClientTimeout(
            total=None, connect=connect_seconds, sock_connect=CONNECT_SECONDS, sock_read=read_seconds
        )
        body, headers = _body_and_headers(request_data)
        try:
            async with self._session.request(
                method, url, data=body, timeout=timeout, headers=headers, proxy=proxy_for(url)
            ) as answer:
                payload = await answer.read()
                status = answer.status
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise NotConnected(f"aiohttp.{type(error).__name__}") from None
        except TimeoutError:
            raise TimedOut() from None
        except (aiohttp.ClientError, OSError) as error:
            raise ConnectionLost(f"aiohttp.{type(error).__name__}") from None
        return _checked_status(status, payload), payload

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """Return the answer's fields. InvalidAnswer does not quote the answer, which can contain a hand."""
        try:
            answer = load_json(payload)
        except (ValueError, RecursionError):
            raise InvalidAnswer("an answer that is not JSON") from None
        if not isinstance(answer, dict) or not isinstance(answer.get("parameters", {}), dict):
            raise InvalidAnswer("a malformed answer")
        if answer.get("ok") is not False and "result" not in answer:
            raise InvalidAnswer("an answer without a result")
        return answer


class SendingRequest(AiohttpRequest):
    """Requests about messages. They return only `KEPT_FIELDS` of a sent message, and True for an edited text."""

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        answer = AiohttpRequest.parse_json_payload(payload)
        result = answer.get("result")
        if isinstance(result, dict) and "edit_date" in result and "photo" not in result:
            answer["result"] = True
        elif isinstance(result, dict) and "message_id" in result:
            answer["result"] = {name: result[name] for name in KEPT_FIELDS if name in result}
        return answer


async def post(request: SendingRequest, base_url: str, method: str, body: Body) -> Any:
    """Call a method of the Bot API and return its result. The library's methods would build a form and objects."""
    return await request.post(f"{base_url}/{method}", body)  # type: ignore[arg-type]


def _checked_status(status: int, payload: bytes) -> int:
    """Return the status of an answer; raise ServerError, or InvalidAnswer if a proxy refuses instead of the Bot API.

    A proxy's 403 or 404 says nothing about chats and tokens. Some Bot API servers report a refusal only in the body.
    """
    if status < BAD_REQUEST and b"false" not in payload[:20]:
        return status
    body: Any = None
    with suppress(ValueError, RecursionError):
        body = json.loads(payload)
    if not isinstance(body, dict) or body.get("ok") is not False:
        if status >= BAD_REQUEST:
            raise InvalidAnswer(f"status {status}, not from the Bot API")
        return status
    code = status
    if status < BAD_REQUEST:
        code = body["error_code"] if isinstance(body.get("error_code"), int) else BAD_REQUEST
    if code >= SERVER_ERROR:
        raise ServerError(f"error {code} from the Bot API")
    if code == TOO_MANY_REQUESTS:
        RATE_LIMITED_ANSWERS.labels("telegram").inc()
    return code


def _body_and_headers(data: RequestData | Body | None) -> tuple[Any, dict[str, str]]:
    if data is None:
        return None, HEADERS
    if isinstance(data, Body):
        return data.content, data.headers
    if not data.contains_files:
        # aiohttp's form would have the same content, but its quoting in Python is slower.
        return URL.build(query=data.json_parameters).raw_query_string.encode(), FORM_HEADERS
    form = aiohttp.FormData(data.json_parameters)
    for name, (filename, content, kind) in data.multipart_data.items():
        form.add_field(name, content, filename=filename, content_type=kind)
    return form, HEADERS
