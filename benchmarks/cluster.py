"""A local Valkey Cluster for benchmarks and tests: primaries with one replica each, on loopback.

Each node is the child of a shell, which kills it when this process ends for any reason.
"""

import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from benchmarks.limits import PATIENCE, BenchFailed
from bot.store.embedded import server_path

PRIMARIES = 3
SLOTS = 16384
NODE_TIMEOUT_MS = 1500  # time until a replica replaces a node that does not answer

# The shell's input ends when the process that started it ends.
KEEPER = '"$@" >/dev/null 2>&1 & node=$!; echo $node; cat >/dev/null; kill -9 $node 2>/dev/null; wait $node'


class Node:
    """A server of the cluster. Its folder holds its append-only file and its cluster state."""

    def __init__(self, folder: Path, port: int, bus_port: int) -> None:
        self.folder = folder
        folder.mkdir()
        self.port, self._bus_port = port, bus_port
        self.process = 0
        self._keeper: subprocess.Popen[str] | None = None

    def start(self) -> None:
        settings = {
            "port": self.port,
            "cluster-port": self._bus_port,
            "bind": "127.0.0.1",
            "dir": self.folder,
            "logfile": self.folder / "valkey.log",
            "save": "",
            "appendonly": "yes",
            "appendfsync": "always",
            "cluster-enabled": "yes",
            "cluster-node-timeout": NODE_TIMEOUT_MS,
            "cluster-allow-replica-migration": "no",
            "repl-diskless-sync-delay": 0,
        }
        arguments = [str(argument) for name, value in settings.items() for argument in (f"--{name}", value)]
        self._keeper = subprocess.Popen(
            ["/bin/sh", "-c", KEEPER, "keeper", str(server_path()), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=self.folder,
            # Ctrl-C must reach only this process, which then ends the others.
            start_new_session=True,
        )
        assert self._keeper.stdout
        self.process = int(self._keeper.stdout.readline())

    def kill(self) -> None:
        if self._keeper is None:
            return
        with suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)
        assert self._keeper.stdin
        assert self._keeper.stdout
        self._keeper.stdin.close()
        self._keeper.wait()
        self._keeper.stdout.close()
        self._keeper = None

    @property
    def is_running(self) -> bool:
        return self._keeper is not None

    def freeze(self) -> None:
        os.kill(self.process, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.process, signal.SIGCONT)

    def ask(self, *command: Any) -> Any:
        """Send a command and return its answer. Raises RedisError if none comes within two seconds."""
        with Redis(port=self.port, socket_timeout=2.0, retry=Retry(NoBackoff(), 0)) as client:
            return client.execute_command(*command)

    @property
    def is_primary(self) -> bool:
        try:
            return bool(self.ask("ROLE")[0] == b"master")
        except RedisError:
            return False

    @property
    def is_healthy(self) -> bool:
        """True if the node sees all slots served, and primary and replica are in sync."""
        try:
            if self.ask("CLUSTER INFO")["cluster_state"] != "ok":
                return False
            role = self.ask("ROLE")
        except RedisError:
            return False
        if role[0] == b"master":
            replication = self.ask("INFO", "replication")
            return bool(replication["connected_slaves"] and replication["slave0"]["state"] == "online")
        return bool(role[3] == b"connected")


class LocalCluster:
    """The whole cluster, as a context manager. Its methods block: in asyncio call them in a thread."""

    def __init__(self, folder: Path, primaries: int = PRIMARIES) -> None:
        # Hold all ports until the last one is found, so that none is found twice.
        ports = iter(_free_ports(4 * primaries))
        self.nodes = [Node(folder / f"node{number}", next(ports), next(ports)) for number in range(2 * primaries)]
        self._primaries = primaries

    @property
    def url(self) -> str:
        return f"redis+cluster://127.0.0.1:{self.nodes[0].port}"

    def __enter__(self) -> "LocalCluster":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        try:
            for node in self.nodes:
                node.start()
            self._form_cluster()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        for node in self.nodes:
            node.kill()

    def primaries(self) -> list[Node]:
        return [node for node in self.nodes if node.is_primary]

    def primary_of(self, key: str) -> Node:
        """Return the primary that serves a key now."""
        slot = self.nodes[0].ask("CLUSTER KEYSLOT", key)
        return next(node for node in self.nodes if node.is_primary and _owns(node, slot))

    def replica_of(self, primary: Node) -> Node:
        return next(node for node in self.nodes if node.ask("ROLE")[:3:2] == [b"slave", primary.port])

    def wait_until_healthy(self) -> None:
        """Wait until all slots are served and every replica is in sync."""
        self._wait_until(lambda: all(node.is_healthy for node in self.nodes))

    def clear(self) -> None:
        """Start killed nodes, and delete all data."""
        for node in self.nodes:
            if not node.is_running:
                node.start()
        self.wait_until_healthy()
        for node in self.primaries():
            node.ask("FLUSHALL")

    def _form_cluster(self) -> None:
        first, *others = self.nodes
        self._wait_until(lambda: all(_is_answering(node) for node in self.nodes))
        primaries, replicas = self.nodes[: self._primaries], self.nodes[self._primaries :]
        for number, node in enumerate(primaries):
            begin, end = (SLOTS * part // self._primaries for part in (number, number + 1))
            node.ask("CLUSTER ADDSLOTSRANGE", begin, end - 1)
            # The nodes resolve equal epochs themselves, but slowly.
            node.ask("CLUSTER SET-CONFIG-EPOCH", number + 1)
        for node in others:
            first.ask("CLUSTER MEET", "127.0.0.1", node.port, node._bus_port)
        self._wait_until(lambda: all(len(node.ask("CLUSTER NODES")) == len(self.nodes) for node in self.nodes))
        for primary, replica in zip(primaries, replicas, strict=True):
            replica.ask("CLUSTER REPLICATE", _node_id(primary))
        self.wait_until_healthy()

    @staticmethod
    def _wait_until(is_done: Any) -> None:
        deadline = time.monotonic() + PATIENCE
        while not is_done():
            if time.monotonic() > deadline:
                raise BenchFailed(f"waited {PATIENCE:g} s for a healthy cluster")
            time.sleep(0.05)


def _is_answering(node: Node) -> bool:
    try:
        return bool(node.ask("PING"))
    except RedisError:
        return False


def _node_id(node: Node) -> str:
    return str(node.ask("CLUSTER MYID").decode())


def _owns(node: Node, slot: int) -> bool:
    return any(
        begin <= slot <= end and primary[1] == node.port for begin, end, primary, *_ in node.ask("CLUSTER SLOTS")
    )


def _free_ports(count: int) -> list[int]:
    listeners = [socket.socket() for _ in range(count)]
    try:
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [int(listener.getsockname()[1]) for listener in listeners]
    finally:
        for listener in listeners:
            listener.close()
