"""Connections to the store. Each of their failures is a `redis.ConnectionError`."""

from functools import cache
from typing import Any

from redis.exceptions import ConnectionError  # noqa: A004

# redis-py raises these if a connection is closed during a call (redis-py issue 4287). Commands are already bytes when
# they are sent, so these errors have no other cause.
CLOSED_ERRORS = (AttributeError, TypeError, RuntimeError)


class Guard:
    """Mixed into a connection class of redis-py."""

    async def send_packed_command(self, *args: Any, **kwargs: Any) -> None:
        try:
            await super().send_packed_command(*args, **kwargs)  # type: ignore[misc]
        except CLOSED_ERRORS as error:
            raise ConnectionError(f"The connection was lost while writing ({type(error).__name__}).") from error

    async def read_response(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return await super().read_response(*args, **kwargs)  # type: ignore[misc]
        except CLOSED_ERRORS as error:
            raise ConnectionError(f"The connection was lost while reading ({type(error).__name__}).") from error


@cache
def guard_connection(connection_class: Any) -> Any:
    """Return a subclass of a connection class that turns these errors into `redis.ConnectionError`."""
    return type(f"Guarded{connection_class.__name__}", (Guard, connection_class), {})
