"""The process of a driver that is killed: it has a JVM of its own, and runs one query.

It leads a session and a process group; its JVM and the processes of the sink are in
that group, so that one SIGKILL ends them all.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from onceproof.model.errors import OnceproofError
from onceproof.spark_checks.inject.adapters import kind_of
from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.inject.hosts import pickling
from onceproof.spark_checks.inject.hosts.built_sink import PackedSink
from onceproof.spark_checks.replay.steering.query_start import StartInSession
from onceproof.spark_checks.session.processes.wire import Channel
from onceproof.spark_checks.session.spark_internals import set_hadoop
from onceproof.spark_checks.session.warm_session import WarmSession

if TYPE_CHECKING:
    from onceproof.spark_checks.session.processes.wire import Message


def main() -> NoReturn:
    """Serve: ``argv`` names the socket of orders, and a pipe that ends with the run."""
    control = Channel(socket.socket(fileno=int(sys.argv[2])))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    over = int(sys.argv[3])
    threading.Thread(target=_die_with, args=(over,), daemon=True).start()
    session: WarmSession | None = None
    while (order := control.receive()) is not None:
        try:
            if session is None:
                session = _session(order)
                control.send({"ready": True})
            else:
                control.send(_once(session, order))
        except BaseException as error:  # noqa: BLE001 - it is reported
            kind = "usage" if isinstance(error, OnceproofError) else "host"
            text = str(error) or type(error).__name__
            control.send({"error": {"kind": kind, "text": text}})
    _end()


def _end() -> NoReturn:
    os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _die_with(over: int) -> NoReturn:
    """End with the run that started this process, however that ends."""
    os.read(over, 1)
    _end()


def _session(order: Message) -> WarmSession:
    folder = Path(order["folder"])
    given: dict[str, Any] = pickling.unpack(order["given"])
    return WarmSession(folder / "session", folder, ENTRY_POINTS, **given, together=True)


def _once(session: WarmSession, order: Message) -> Message:
    """Start the query once, and wait for its end; return how it ended."""
    built = PackedSink(session, session.spark, order["sink"])
    hadoop = pickling.unpack(order["sink"]["hadoop"])
    if hadoop is not None:
        set_hadoop(session.spark, dict(hadoop.settings))
    start = StartInSession(
        session,
        session.spark,
        pickling.unpack(order["source"]),
        Path(order["folder"]),
        built,
        kind_of(
            built.under_test,
            callback=order["callback"],
            into_files=order["into_files"],
        ),
        order["patience"],
    )
    rule_set = pickling.unpack(order["rules"])
    try:
        ended = start.run(rule_set, pickling.unpack(order["run"]))
        died, lost = start.leave()
    finally:
        start.leave()
        start.end(rule_set)
    return {"ended": vars(ended), "died": died, "lost": lost}
