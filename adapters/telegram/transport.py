"""HTTP for python-telegram-bot over aiohttp: its default client costs several times as much CPU a call."""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache
from secrets import token_hex
from typing import Any

import aiohttp
import orjson
from telegram.error import NetworkError, TimedOut
from telegram.request import BaseRequest, RequestData
from yarl import URL

from bot.proxies import proxy_for

CONNECT_SECONDS, READ_SECONDS, WRITE_SECONDS, POOL_SECONDS = 5.0, 10.0, 20.0, 5.0

KEPT_FIELDS = ("message_id", "ephemeral_message_id", "date", "chat", "photo")
"""Of a message of ours that comes back: what it and its picture are called, and what the library asks for."""

BAD_REQUEST, SERVER_ERROR = 400, 500

HEADERS = {"User-Agent": BaseRequest.USER_AGENT}
FORM_HEADERS = HEADERS | {"Content-Type": "application/x-www-form-urlencoded"}
JSON_HEADERS = HEADERS | {"Content-Type": "application/json"}


class InvalidAnswer(NetworkError):
    """What came back is no answer of the Bot API's: a proxy's page, or half of something."""


class NotConnected(NetworkError):
    """The server could not be connected to: it has heard nothing."""


class ConnectionLost(NetworkError):
    """The connection ended before the answer came."""


class ServerError(NetworkError):
    """The server, or a gateway of Telegram's, says that something went wrong within: what was asked for may have been
    done.
    """


class JsonData:
    """Fields that go out as one document of JSON, where the library's data is a form whose fields are JSON each.

    ``fields`` that are None are left out. There are no files among them.
    """

    contains_files = False

    def __init__(self, fields: dict[str, Any]) -> None:
        given = {name: value for name, value in fields.items() if value is not None}
        try:
            self.body = orjson.dumps(given)
        except orjson.JSONEncodeError:
            # Half a surrogate pair in somebody's name.
            self.body = json.dumps(given).encode()


class UploadData:
    """Fields and one file, as multipart/form-data; ``part`` is what the file is called in it.

    It is put together at once: aiohttp's own forms take longer than all the rest of a call.
    """

    contains_files = True

    def __init__(self, fields: dict[str, Any], part: str, content: bytes) -> None:
        boundary = token_hex(16)
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{_form_value(value)}\r\n'
            for name, value in fields.items()
            if value is not None
        ]
        about = f'name="{part}"; filename="{part}.png"\r\nContent-Type: image/png'
        head = f"{''.join(parts)}--{boundary}\r\nContent-Disposition: form-data; {about}\r\n\r\n"
        self.body = b"".join((head.encode("utf-8", "replace"), content, f"\r\n--{boundary}--\r\n".encode()))
        self.headers = HEADERS | {"Content-Type": f"multipart/form-data; boundary={boundary}"}


Post = Callable[[str, JsonData | UploadData], Awaitable[Any]]
"""A call of the Bot API by its method; returns the result, and raises the library's errors."""


class AiohttpRequest(BaseRequest):
    """The library's requests over one aiohttp session.

    ``connections`` is how many may be open at a time. Proxies come from the environment (``HTTPS_PROXY``). Errors never
    name the address, for the token stands in it.
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
        request_data: RequestData | JsonData | UploadData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        if self._session is None or self._session.closed:
            raise RuntimeError("This request is not initialized!")
        read = _seconds(read_timeout, self._read_timeout)
        if request_data and request_data.contains_files:
            read += _seconds(write_timeout, WRITE_SECONDS)
        timeout = _timeout(_seconds(pool_timeout, POOL_SECONDS), _seconds(connect_timeout, CONNECT_SECONDS), read)
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
        """The answer's fields; Nonsense for what is no answer of the Bot API's, and not logged: it may hold a hand."""
        try:
            answer = _parse_json(payload)
        except (ValueError, RecursionError):
            raise InvalidAnswer("an answer that is not JSON") from None
        if not isinstance(answer, dict) or not isinstance(answer.get("parameters", {}), dict):
            raise InvalidAnswer("an answer of another shape")
        if answer.get("ok") is not False and "result" not in answer:
            raise InvalidAnswer("an answer without a result")
        return answer


class SendingRequest(AiohttpRequest):
    """For what the bot sends: its messages come back whole, and of them only what they are called is news."""

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        answer = AiohttpRequest.parse_json_payload(payload)
        result = answer.get("result")
        if isinstance(result, dict) and "edit_date" in result and "photo" not in result:
            answer["result"] = True
        elif isinstance(result, dict) and "message_id" in result:
            answer["result"] = {name: result[name] for name in KEPT_FIELDS if name in result}
        return answer


async def post(request: SendingRequest, base_url: str, method: str, data: JsonData | UploadData) -> Any:
    """Call a method of the Bot API and return its result.

    The library's own methods cost more: they build objects of what is sent and of what comes back, and a form.
    """
    # The library only hands the data on to the request.
    return await request.post(f"{base_url}/{method}", data)  # type: ignore[arg-type]


def _parse_json(payload: bytes) -> Any:
    """As the standard library reads it, which orjson is quicker at but for half a surrogate pair, and for what is no
    JSON elsewhere.
    """
    try:
        return orjson.loads(payload)
    except orjson.JSONDecodeError:
        return json.loads(payload)


def _checked_status(status: int, payload: bytes) -> int:
    """The status of an answer; ServerError if it is one of those, Nonsense for a refusal that is not the Bot API's.

    What a proxy on the way says of itself, with 403 or 404, says nothing of chats and tokens. And some servers other
    than Telegram's refuse in the body alone.
    """
    if status < BAD_REQUEST and b"false" not in payload[:20]:
        return status
    body: Any = None
    with suppress(ValueError, RecursionError):
        body = json.loads(payload)
    if not isinstance(body, dict) or body.get("ok") is not False:
        if status >= BAD_REQUEST:
            raise InvalidAnswer(f"{status}, and not by the Bot API")
        return status
    said = body.get("error_code")
    code = status if status >= BAD_REQUEST else said if isinstance(said, int) else BAD_REQUEST
    if code >= SERVER_ERROR:
        raise ServerError(f"{code}, by the Bot API")
    return code


def _seconds(given: Any, default: float) -> float:
    """A timeout in seconds; the library's mark for "not given", and None, are the default."""
    return float(given) if isinstance(given, int | float) else default


@cache
def _timeout(pool: float, connect: float, read: float) -> aiohttp.ClientTimeout:
    """In seconds. What aiohttp calls connecting begins with the wait for a free place in the pool."""
    return aiohttp.ClientTimeout(total=None, connect=pool + connect, sock_connect=connect, sock_read=read)


def _form_value(value: Any) -> str:
    """A field of a form: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _body_and_headers(data: RequestData | JsonData | UploadData | None) -> tuple[Any, dict[str, str]]:
    """A request's body, and its headers."""
    if data is None:
        return None, HEADERS
    if isinstance(data, JsonData):
        return data.body, JSON_HEADERS
    if isinstance(data, UploadData):
        return data.body, data.headers
    if not data.contains_files:
        # As aiohttp would, but for quoting in C.
        return URL.build(query=data.json_parameters).raw_query_string.encode(), FORM_HEADERS
    form = aiohttp.FormData(data.json_parameters)
    for name, (filename, content, kind) in data.multipart_data.items():
        form.add_field(name, content, filename=filename, content_type=kind)
    return form, HEADERS
