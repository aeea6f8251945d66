"""HTTP for python-telegram-bot over aiohttp: its default client costs several times as much CPU a call."""

import json
from contextlib import suppress
from functools import cache
from typing import Any

import aiohttp
from telegram.error import NetworkError, TimedOut
from telegram.request import BaseRequest, RequestData
from yarl import URL

from bot.proxies import proxy_for

CONNECT_SECONDS, READ_SECONDS, WRITE_SECONDS, POOL_SECONDS = 5.0, 10.0, 20.0, 5.0

KEPT = ("message_id", "ephemeral_message_id", "date", "chat")
"""Of a message of ours that comes back: what it is called, and what the library asks for."""

BAD_REQUEST = 400

HEADERS = {"User-Agent": BaseRequest.USER_AGENT}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Nonsense(NetworkError):
    """What came back is no answer of the Bot API's: a proxy's page, or half of something."""


class NotConnected(NetworkError):
    """The server could not be connected to: it has heard nothing."""


class CutOff(NetworkError):
    """The connection ended before the answer came."""


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
            self._session = aiohttp.ClientSession(connector=connector)

    async def shutdown(self) -> None:
        if self._session:
            await self._session.close()

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        if self._session is None or self._session.closed:
            raise RuntimeError("This request is not initialized!")
        read = _or(read_timeout, self._read_timeout)
        if request_data and request_data.contains_files:
            read += _or(write_timeout, WRITE_SECONDS)
        timeout = _timeout(_or(pool_timeout, POOL_SECONDS), _or(connect_timeout, CONNECT_SECONDS), read)
        body = _body(request_data)
        headers = HEADERS | FORM if isinstance(body, bytes) else HEADERS
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
            raise CutOff(f"aiohttp.{type(error).__name__}") from None
        return _status(status, payload), payload

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """The answer's fields; Nonsense for what is no answer of the Bot API's, and not logged: it may hold a hand."""
        try:
            answer = json.loads(payload)
        except (ValueError, RecursionError):
            raise Nonsense("an answer that is not JSON") from None
        if not isinstance(answer, dict) or not isinstance(answer.get("parameters", {}), dict):
            raise Nonsense("an answer of another shape")
        if answer.get("ok") is not False and "result" not in answer:
            raise Nonsense("an answer without a result")
        return answer


class SendingRequest(AiohttpRequest):
    """For what the bot sends: its messages come back whole, and of them only what they are called is news."""

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        answer = AiohttpRequest.parse_json_payload(payload)
        result = answer.get("result")
        if isinstance(result, dict) and "edit_date" in result:
            answer["result"] = True
        elif isinstance(result, dict) and "message_id" in result:
            answer["result"] = {name: result[name] for name in KEPT if name in result}
        return answer


def _status(status: int, payload: bytes) -> int:
    """The status of an answer; Nonsense for a refusal that is not the Bot API's.

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
            raise Nonsense(f"{status}, and not by the Bot API")
        return status
    code = body.get("error_code")
    return status if status >= BAD_REQUEST else code if isinstance(code, int) else BAD_REQUEST


def _or(given: Any, default: float) -> float:
    """A timeout in seconds; the library's mark for "not given", and None, are the default."""
    return float(given) if isinstance(given, int | float) else default


@cache
def _timeout(pool: float, connect: float, read: float) -> aiohttp.ClientTimeout:
    """In seconds. What aiohttp calls connecting begins with the wait for a free place in the pool."""
    return aiohttp.ClientTimeout(total=None, connect=pool + connect, sock_connect=connect, sock_read=read)


def _body(data: RequestData | None) -> Any:
    if data is None:
        return None
    if not data.contains_files:
        # As aiohttp would, but for quoting in C.
        return URL.build(query=data.json_parameters).raw_query_string.encode()
    form = aiohttp.FormData(data.json_parameters)
    for name, (filename, content, kind) in data.multipart_data.items():
        form.add_field(name, content, filename=filename, content_type=kind)
    return form
