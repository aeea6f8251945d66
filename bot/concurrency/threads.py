"""Threads of the event loop, for name lookups and other blocking calls."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Thread
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class DaemonThreads(ThreadPoolExecutor):
    """An executor that does not delay the bot's exit.

    asyncio and Python both wait at exit for the threads of a `ThreadPoolExecutor`. A name lookup without a network can
    take over twenty seconds and cannot be cancelled. Here each call has its own daemon thread.
    """

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = function(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - raised in the awaiting code
                future.set_exception(error)
            else:
                future.set_result(result)

        Thread(target=work, daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Return at once, without waiting for threads."""
