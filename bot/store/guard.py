"""Ends an embedded Valkey that its bot has left behind: a process beside them, run by its path, with nothing but what
Python brings.

    python guard.py FOLDER SOCKET SECONDS

Its standard input is a pipe whose other end the bot holds and never writes to: however the bot ends, the pipe ends.
From then on the guard waits for another bot to lock the folder, and goes when one has, for that one has a guard of its
own. Where none comes in time the guard locks the folder itself and has the Valkey shut down, everything written.
"""

import fcntl
import socket
import sys
import time
from pathlib import Path
from typing import IO

LOOK_SECONDS = 0.25
DYING_SECONDS = 5.0
"""How long a bot that was killed may hold its lock after its end of the pipe was closed; later it is another's."""

SHUTDOWN_SECONDS = 30.0
"""How long a Valkey may take to write what it has left to write."""


def main(folder: str, listening: str, seconds: str) -> None:
    """Wait for the bot's end, then for another bot or the Valkey's own end, so many seconds at most."""
    sys.stdin.buffer.read()
    ended = time.monotonic()
    with (Path(folder) / "bot.lock").open("r+") as lock:
        while _answered(listening, b"PING"):
            gone = time.monotonic() - ended
            if _locked(lock):
                if gone >= float(seconds):
                    # Under the lock, so that no bot takes over what is about to end.
                    _answered(listening, b"SHUTDOWN", SHUTDOWN_SECONDS)
                    return
                fcntl.flock(lock, fcntl.LOCK_UN)
            elif gone >= DYING_SECONDS:
                return
            time.sleep(LOOK_SECONDS)


def _locked(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _answered(listening: str, command: bytes, seconds: float = 2.0) -> bool:
    """Whether somebody listens there; waits for the answer to a command, or the end of the line."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(seconds)
        try:
            line.connect(listening)
        except OSError:
            return False
        try:
            line.sendall(command + b"\r\n")
            line.recv(64)
        except OSError:
            # It is slow, or just gone; the next look tells.
            return True
    return True


if __name__ == "__main__":
    main(*sys.argv[1:])
