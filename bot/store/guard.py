"""Ends an embedded Valkey that its bot has left behind: a process beside them, run by its path, with nothing but what
Python brings.

    python guard.py FOLDER SOCKET SECONDS

Its standard input is a pipe whose other end the bot holds, and in which it writes the process number of each Valkey
that it starts or takes over: however the bot ends, the pipe ends. From then on the guard waits for another bot to lock
the folder, and goes when one has, for that one has a guard of its own. Where none comes in time the guard locks the
folder itself and has the Valkey shut down, everything written. Where the folder has been deleted nobody can come any
more, nor perhaps ask: the Valkey is ended by its number.
"""

import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

CHECK_SECONDS = 0.25
EXIT_SECONDS = 5.0
"""How long a bot that was killed may hold its lock after its end of the pipe was closed; later it is another's."""

SHUTDOWN_SECONDS = 30.0
"""How long a Valkey may take to write what it has left to write."""


def main(folder: str, listening: str, seconds: str) -> None:
    """Wait for the bot's end, then for another bot or the Valkey's own end, so many seconds at most."""
    path = Path(folder) / "bot.lock"
    try:
        # Opened before the bot's end, so that a folder made anew in the place of a deleted one is not taken for it.
        lock = path.open("r+")
    except FileNotFoundError:
        lock = None
    pids = sys.stdin.buffer.read().split()
    pid = int(pids[-1]) if pids else None
    if lock:
        with lock:
            is_deleted = _wait(lock, listening, float(seconds), pid)
    else:
        is_deleted = True
    if is_deleted and pid:
        _kill_valkey(pid, listening)


def _wait(lock: IO[str], listening: str, seconds: float, pid: int | None) -> bool:
    """Wait as `main` does, and have the Valkey shut down if need be; whether the folder has been deleted."""
    ended = time.monotonic()
    while os.fstat(lock.fileno()).st_nlink:
        if not _send_command(listening, b"PING"):
            return _is_being_deleted(lock, pid)
        gone = time.monotonic() - ended
        if _try_lock(lock):
            if gone >= seconds:
                # Under the lock, so that no bot takes over what is about to end.
                _send_command(listening, b"SHUTDOWN", SHUTDOWN_SECONDS)
                return False
            fcntl.flock(lock, fcntl.LOCK_UN)
        elif gone >= EXIT_SECONDS:
            return False
        time.sleep(CHECK_SECONDS)
    return True


def _is_being_deleted(lock: IO[str], pid: int | None) -> bool:
    """Whether the Valkey does not answer because its folder is just being deleted, the socket before the lock."""
    deadline = time.monotonic() + EXIT_SECONDS
    while os.fstat(lock.fileno()).st_nlink:
        if pid is None or not _is_alive(pid) or time.monotonic() > deadline:
            return False
        time.sleep(CHECK_SECONDS)
    return True


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _kill_valkey(pid: int, listening: str) -> None:
    """End the Valkey whose folder is gone: what it has can be read by nobody."""
    command = subprocess.run(["ps", "-ww", "-p", str(pid), "-o", "command="], check=False, capture_output=True).stdout
    # By now the number may be another program's, or another Valkey's.
    if b"valkey-server" in command and os.fsencode(listening) in command:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _try_lock(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _send_command(listening: str, command: bytes, seconds: float = 2.0) -> bool:
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
