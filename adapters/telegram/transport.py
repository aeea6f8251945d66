"""HTTP for python-telegram-bot over aiohttp: its default client costs several times as much CPU a call."""

from typing import Any

import aiohttp
from telegram.error import NetworkError, TimedOut
from telegram.request import BaseRequest, RequestData

CONNECT_SECONDS, READ_SECONDS, WRITE_SECONDS, POOL_SECONDS = 5.0, 10.0, 20.0, 5.0


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
            self._session = aiohttp.ClientSession(connector=connector, trust_env=True)

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
        timeout = aiohttp.ClientTimeout(
            total=None,
            connect=_or(pool_timeout, POOL_SECONDS) + _or(connect_timeout, CONNECT_SECONDS),
            sock_connect=_or(connect_timeout, CONNECT_SECONDS),
            sock_read=_or(read_timeout, self._read_timeout) + _or(write_timeout, WRITE_SECONDS)
            if request_data and request_data.contains_files
            else _or(read_timeout, self._read_timeout),
        )
        try:
            async with self._session.request(
                method, url, data=_body(request_data), timeout=timeout, headers={"User-Agent": self.USER_AGENT}
            ) as answer:
                return answer.status, await answer.read()
        except TimeoutError:
            raise TimedOut() from None
        except (aiohttp.ClientError, OSError) as error:
            raise NetworkError(f"aiohttp.{type(error).__name__}") from None


def _or(given: Any, default: float) -> float:
    """A timeout in seconds; the library's mark for "not given", and None, are the default."""
    return float(given) if isinstance(given, int | float) else default


def _body(data: RequestData | None) -> Any:
    if data is None:
        return None
    if not data.contains_files:
        return data.json_parameters
    form = aiohttp.FormData(data.json_parameters)
    for name, (filename, content, kind) in data.multipart_data.items():
        form.add_field(name, content, filename=filename, content_type=kind)
    return form
