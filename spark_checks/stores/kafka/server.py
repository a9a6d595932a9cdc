"""Starts a Kafka broker from its jars, in a process that ends it with the run.

It is one node in KRaft mode, controller and broker in one, with a folder and ports of
its own; it listens on loopback alone.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.stores.interface import StoreError
from onceproof.spark_checks.stores.jars.connectors import server_jars
from onceproof.spark_checks.stores.jars.maven import fetched, unreachable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_HOST = "127.0.0.1"
_SECONDS = 60.0
_ENDS = 10.0
_TRIES = 3
_JAVA = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "auto.create.topics.enable": "false",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "num.network.threads": "2",
    "num.io.threads": "4",
    "log.cleaner.dedupe.buffer.size": "2097152",
    "log.index.size.max.bytes": "65536",
}


class KeptBrokers:
    """Brokers, and the process beside the run that makes and drops topics there."""

    def __init__(self, folder: Path) -> None:
        """Start the process."""
        self._lock = threading.Lock()
        with (folder / "keeper.log").open("ab") as log:
            self._keeper = subprocess.Popen(  # noqa: S603 - this Python
                [sys.executable, "-P", "-m", _KEEPER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=folder,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                },
                start_new_session=True,
            )

    @property
    def process(self) -> int:
        """The id of the process, which leads the group that the broker is in."""
        return self._keeper.pid

    def ask(self, do: str, **what: Any) -> Any:
        """Let the process do something. Raises ``StoreError`` where that fails."""
        request = json.dumps({"do": do, **what}).encode() + b"\n"
        with self._lock:
            try:
                self._keeper.stdin.write(request)  # type: ignore[union-attr]
                self._keeper.stdin.flush()  # type: ignore[union-attr]
                line = self._keeper.stdout.readline()  # type: ignore[union-attr]
            except OSError:
                line = b""
        if not line:
            message = "the process that keeps the Kafka broker has ended"
            raise StoreError(message)
        reply = json.loads(line)
        if "error" in reply:
            raise StoreError(reply["error"])
        return reply["value"]

    def stop(self) -> None:
        """End the process, and the broker with it."""
        with self._lock, suppress(OSError):
            self._keeper.stdin.close()  # type: ignore[union-attr]
        try:
            self._keeper.wait(_ENDS)
        except subprocess.TimeoutExpired:
            with suppress(OSError):
                os.killpg(self._keeper.pid, signal.SIGKILL)
            self._keeper.wait()
        self._keeper.stdout.close()  # type: ignore[union-attr]


_KEEPER = "onceproof.spark_checks.stores.kafka.keeper"


def missing() -> tuple[str, ...]:
    """Say, a sentence each, what is needed to start a broker and is not there."""
    java = () if _java() else ("there is no Java: install Java 17 or later",)
    return (*java, *unreachable(server_jars("kafka", "broker")))


def version() -> str:
    """Return the version of the broker."""
    [main] = [j for j in server_jars("kafka", "broker") if ":kafka_2" in j.coordinate]
    return main.coordinate.rpartition(":")[2]


def start(folder: Path) -> tuple[KeptBrokers, str]:
    """Start a broker in an empty folder; return it and its address once it answers.

    Raises ``StoreError`` with what the broker said.
    """
    classes = os.pathsep.join(map(str, fetched(server_jars("kafka", "broker"))))
    java = [_java() or "java", *_JAVA, "-cp", classes]
    why = ""
    for number in range(_TRIES):
        own = folder / f"broker-{number}"
        own.mkdir()
        address = _configured(own)
        _format(java, own)
        brokers = KeptBrokers(own)
        try:
            command = [*java, "kafka.Kafka", "server.properties"]
            brokers.ask("start", command=command, folder=str(own))
            client = {"bootstrap.servers": address}
            brokers.ask("connect", client=client, seconds=_SECONDS)
            brokers.ask("warm_up", name="onceproof")
        except StoreError as error:
            # Another process may have taken a port meanwhile.
            brokers.stop()
            why = f"{error}: {_tail(own / 'broker.log')}"
        except BaseException:
            brokers.stop()
            raise
        else:
            return brokers, address
    message = f"the Kafka broker does not start: {why}"
    raise StoreError(message)


def connected(folder: Path, client: Mapping[str, str], seconds: float) -> KeptBrokers:
    """Connect to brokers that run. Raises ``StoreError`` where they do not answer."""
    brokers = KeptBrokers(folder)
    try:
        brokers.ask("connect", client=dict(client), seconds=seconds)
    except StoreError as error:
        brokers.stop()
        where = client["bootstrap.servers"]
        message = f"the Kafka brokers at {where} do not answer: {error}"
        raise StoreError(message) from None
    except BaseException:
        brokers.stop()
        raise
    return brokers


def _configured(folder: Path) -> str:
    """Write a broker's settings; return its address."""
    with socket.socket() as first, socket.socket() as second:
        for one in (first, second):
            one.bind((_HOST, 0))
        address, controller = (
            f"{_HOST}:{one.getsockname()[1]}" for one in (first, second)
        )
    settings = {
        **_SETTINGS,
        "listeners": f"PLAINTEXT://{address},CONTROLLER://{controller}",
        "advertised.listeners": f"PLAINTEXT://{address}",
        "controller.quorum.voters": f"1@{controller}",
        "log.dirs": str(folder / "data"),
    }
    lines = "".join(f"{name}={value}\n" for name, value in settings.items())
    (folder / "server.properties").write_text(lines, encoding="utf-8")
    return address


def _format(java: list[str], folder: Path) -> None:
    """Format the folder for a broker's data."""
    name = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
    tool = ["kafka.tools.StorageTool", "format", f"--cluster-id={name}"]
    with (folder / "broker.log").open("ab") as log:
        done = subprocess.run(  # noqa: S603 - a list, with our own Java
            [*java, *tool, "--config=server.properties"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            timeout=_SECONDS,
            check=False,
        )
    if done.returncode:
        message = f"Kafka's StorageTool fails: {_tail(folder / 'broker.log')}"
        raise StoreError(message)


def _tail(log: Path) -> str:
    return log.read_text(errors="replace").strip()[-500:] if log.exists() else ""


def _java() -> str | None:
    """Return the Java that Spark uses too."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=os.path.join(home, "bin") if home else None)  # noqa: PTH118
