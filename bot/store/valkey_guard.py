"""Stops an embedded Valkey after its bot has died.

It is a separate process that imports only Python's standard library. It is started by the path of this file:

    python valkey_guard.py FOLDER SOCKET SECONDS

Standard input is a pipe from the bot, which writes the pid of each Valkey it starts or takes over. The pipe ends when
the bot ends. Then the guard waits for another bot to lock the folder. That bot has its own guard, so this one exits. If
no bot locks the folder in time, the guard locks it and shuts the Valkey down with everything written. If the folder was
deleted, the guard kills the Valkey by its pid.
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
EXIT_SECONDS = 5.0  # how long a killed bot can hold its lock after its pipe has ended; a later lock is another bot's
SHUTDOWN_SECONDS = 30.0  # how long a Valkey can take to write its data


def main(folder: str, socket_path: str, seconds: str) -> None:
    """Wait for the bot's end, then up to ``seconds`` for another bot or the Valkey's end."""
    path = Path(folder) / "bot.lock"
    try:
        # Open the folder before the bot ends, so that a new folder at the same path is not mistaken for it.
        lock = path.open("r+")
    except FileNotFoundError:
        lock = None
    pids = sys.stdin.buffer.read().split()
    pid = int(pids[-1]) if pids else None
    if lock:
        with lock:
            is_deleted = _wait(lock, socket_path, float(seconds), pid)
    else:
        is_deleted = True
    if is_deleted and pid:
        _kill_valkey(pid, socket_path)


def _wait(lock: IO[str], socket_path: str, seconds: float, pid: int | None) -> bool:
    """Wait as `main` does, and shut the Valkey down if needed. Return whether the folder was deleted."""
    start = time.monotonic()
    while os.fstat(lock.fileno()).st_nlink:
        if not _send_command(socket_path, b"PING"):
            return _is_being_deleted(lock, pid)
        waiting_seconds = time.monotonic() - start
        if _try_lock(lock):
            if waiting_seconds >= seconds:
                # Keep the lock, so that no bot takes over a Valkey that is ending.
                _send_command(socket_path, b"SHUTDOWN", SHUTDOWN_SECONDS)
                return False
            fcntl.flock(lock, fcntl.LOCK_UN)
        elif waiting_seconds >= EXIT_SECONDS:
            return False
        time.sleep(CHECK_SECONDS)
    return True


def _is_being_deleted(lock: IO[str], pid: int | None) -> bool:
    """Return whether the Valkey is silent because its folder is being deleted, the socket before the lock."""
    deadline = time.monotonic() + EXIT_SECONDS
    while os.fstat(lock.fileno()).st_nlink:
        if pid is None or time.monotonic() > deadline:
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        time.sleep(CHECK_SECONDS)
    return True


def _kill_valkey(pid: int, socket_path: str) -> None:
    """Kill the Valkey of a deleted folder, whose data is lost."""
    command = subprocess.run(["ps", "-ww", "-p", str(pid), "-o", "command="], check=False, capture_output=True).stdout
    # The pid can belong to another program or Valkey by now.
    if b"valkey-server" in command and os.fsencode(socket_path) in command:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _try_lock(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _send_command(socket_path: str, command: bytes, seconds: float = 2.0) -> bool:
    """Send a command and wait for an answer. Return whether a server listens."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(seconds)
        try:
            connection.connect(socket_path)
        except OSError:
            return False
        try:
            connection.sendall(command + b"\r\n")
            connection.recv(64)
        except OSError:
            # The Valkey is slow or has just ended. The next check shows which.
            return True
    return True


if __name__ == "__main__":
    main(*sys.argv[1:])
