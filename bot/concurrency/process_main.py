"""The main function of worker processes (`Processes`). Every such process imports this, so it imports little itself."""

import multiprocessing
import os
import pickle
import signal
import socket
import threading
import traceback
from contextlib import suppress
from multiprocessing.connection import wait

SIZE_BYTES = 4  # length prefix of pickled work and answers


def _end_with_parent(niceness: int) -> None:
    """Set the process's niceness, ignore Ctrl-C in the shared terminal, and exit when the bot exits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(niceness)
    parent = multiprocessing.parent_process()
    if parent is not None:
        sentinel = parent.sentinel

        def watch() -> None:
            wait([sentinel])
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


def run_worker(link: socket.socket, niceness: int) -> None:
    """Do the work that arrives, in order, until the bot closes the link."""
    _end_with_parent(niceness)
    with link, suppress(ConnectionError), link.makefile("rb") as stream:
        while size := stream.read(SIZE_BYTES):
            link.sendall(frame(_run(stream.read(int.from_bytes(size, "big")))))


def _run(message: bytes) -> bytes:
    try:
        function, args = pickle.loads(message)  # noqa: S301 - from the bot itself
        return pickle.dumps((True, function(*args)), pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001 - the bot handles it
        error.add_note("".join(traceback.format_tb(error.__traceback__)))
        try:
            answer = pickle.dumps((False, error))
            pickle.loads(answer)  # noqa: S301 - it was just made
        except Exception:  # noqa: BLE001 - the error cannot be pickled
            answer = pickle.dumps((False, RuntimeError(type(error).__name__)))
        return answer


def frame(message: bytes) -> bytes:
    return len(message).to_bytes(SIZE_BYTES, "big") + message
