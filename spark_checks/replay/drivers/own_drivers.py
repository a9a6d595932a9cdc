"""Starts drivers with a JVM of their own ahead of their use, and kills them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.inject.hosts.pickling import pack
from onceproof.spark_checks.replay.steering.query_start import QueryResult
from onceproof.spark_checks.session import scratch
from onceproof.spark_checks.session.processes.host_processes import HostError, answer
from onceproof.spark_checks.session.processes.process_sessions import end_leader
from onceproof.spark_checks.session.processes.wire import Channel

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from onceproof.spark_checks.inject.hosts.built_sink import BuiltSink
    from onceproof.spark_checks.inputs.event_files import InputFiles
    from onceproof.spark_checks.plan.rules import RuleSet
    from onceproof.spark_checks.plan.run_plan import RunPlan
    from onceproof.spark_checks.session.processes.wire import Message
    from onceproof.spark_checks.sinks.interface import ModelledSink

_START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from onceproof.spark_checks.replay.drivers.driver_process import main; main()"
)
_AHEAD, _AT_ONCE = 1, 2
"""How many drivers are ready ahead of their use, and how many start at once."""
_STARTS_WITHIN = 180.0
_MORE = 60.0
_CLOSED = "no driver is started any more: the replay ends"


class DriverProcess:
    """The process of a driver, with a JVM of its own, and all that it starts."""

    def __init__(self, folder: Path, given: str) -> None:
        """Start it in a ``folder``, and do not wait; its session is as ``given``."""
        folder.mkdir()
        self._folder = folder
        mine, theirs = socket.socketpair()
        over, alive = os.pipe()
        paths = json.dumps(sys.path)
        files = (theirs.fileno(), over)
        try:
            with theirs, (folder / "driver.log").open("wb") as log:
                self._process = subprocess.Popen(  # noqa: S603 - this Python
                    [sys.executable, "-P", "-c", _START, paths, *map(str, files)],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=files,
                    start_new_session=True,
                )
        finally:
            os.close(over)
        self.group = self._process.pid
        self._alive = alive
        self._control = Channel(mine)
        self._control.send({"folder": str(folder), "given": given})
        self._one_by_one = threading.Lock()

    def wait_ready(self) -> None:
        """Wait until its session is there. Raises ``HostError`` where none comes."""
        try:
            found = self._control.receive(_STARTS_WITHIN)
        except TimeoutError:
            found = None
        if found is None:
            log = self._folder / "driver.log"
            lines = log.read_text(errors="replace").splitlines() if log.exists() else []
            why = f": {lines[-1]}" if lines else ""
            message = f"a driver with a JVM of its own did not start{why}"
            raise HostError(message)
        answer(found)

    def ask(self, order: Message, seconds: float) -> Message | None:
        """Give an order; return the reply, or None where the process ended first.

        Raises ``HostError`` where there is none in time.
        """
        self._control.send(order)
        try:
            return self._control.receive(seconds)
        except TimeoutError:
            message = f"a driver did not answer within {seconds:.0f} s"
            raise HostError(message) from None

    def end(self) -> int:
        """Kill what runs of it, wait until all of it is gone; return how it ended.

        The number is negative for a signal, which may have ended it before. Raises
        ``HostError`` where some process of it outlives its SIGKILL.
        """
        with self._one_by_one:
            if self._process.returncode is None:
                gone = end_leader(self._process)
                self._control.close()
                os.close(self._alive)
                shutil.rmtree(self._folder, ignore_errors=True)
                if not gone:
                    message = "processes of a driver outlive its SIGKILL"
                    raise HostError(message)
        return self._process.returncode


class OwnDriverPool:
    """Has drivers ready, of which each is used for one start of a query."""

    def __init__(
        self, folder: Callable[[str], Path], root: Path, given: dict[str, Any]
    ) -> None:
        """Begin to start some; ``folder`` names a new one below the scratch ``root``.

        ``given`` are the arguments of each ``WarmSession``.
        """
        self._new_folder = folder
        self._root = root
        self._given = pack(given)
        self._lock = threading.Lock()
        self._live: list[DriverProcess] = []
        self._closed = False
        self._starters = ThreadPoolExecutor(_AT_ONCE)
        self._ready: deque[Future[DriverProcess]] = deque(
            self._starters.submit(self._started) for _ in range(_AHEAD)
        )

    def start_of(
        self,
        source: InputFiles,
        folder: Path,
        built: BuiltSink,
        sink: ModelledSink,
        patience: float,
    ) -> StartInOwnDriver:
        """Return what starts the query of a sink, whose runs are in a ``folder``."""
        order: Message = {
            "sink": built.travels(),
            "source": pack(source.without_lines()),
            "folder": str(folder),
            "callback": sink.callback,
            "into_files": sink.into_files,
            "patience": patience,
        }
        return StartInOwnDriver(self, order)

    def take(self) -> DriverProcess:
        """Return a driver that is ready, and start another. Raises ``HostError``."""
        with self._lock:
            if self._closed:
                raise HostError(_CLOSED)
            self._ready.append(self._starters.submit(self._started))
            promised = self._ready.popleft()
        try:
            return promised.result()
        except CancelledError:
            raise HostError(_CLOSED) from None

    def forget(self, driver: DriverProcess) -> None:
        """Know a driver no longer: it has ended."""
        with self._lock:
            if driver in self._live:
                self._live.remove(driver)

    def close(self) -> None:
        """End all drivers; start no more."""
        with self._lock:
            self._closed = True
            live = list(self._live)
        for driver in live:
            driver.end()
        self._starters.shutdown(cancel_futures=True)

    def _started(self) -> DriverProcess:
        with self._lock:
            if self._closed:
                raise HostError(_CLOSED)
            made = DriverProcess(self._new_folder("driver"), self._given)
            self._live.append(made)
            scratch.started(self._root, made.group)
        made.wait_ready()
        return made


class StartInOwnDriver:
    """Starts a query in a driver with a JVM of its own, which is killed."""

    def __init__(self, drivers: OwnDriverPool, order: Message) -> None:
        """Use a new one of the ``drivers`` for each run."""
        self._drivers = drivers
        self._order = order

    def run(self, rule_set: RuleSet, run: RunPlan) -> QueryResult:
        """Start the query with the rules of a run; return how it ended."""
        try:
            driver = self._drivers.take()
        except HostError as error:
            return QueryResult(str(error), failed=True)
        order = {
            **self._order,
            "rules": pack(replace(rule_set, group=driver.group)),
            "run": pack(run),
        }
        try:
            try:
                reply = driver.ask(order, self._order["patience"] + _MORE)
            finally:
                status = driver.end()
                self._drivers.forget(driver)
        except HostError as error:
            return QueryResult(str(error), failed=True)
        mark = None
        if any(rule.do == "kill" for rule in rule_set.rules) and run.end_mark:
            mark = Path(rule_set.marks, run.end_mark.mark)
        if reply is None:
            killed = status == -signal.SIGKILL and mark is not None and mark.exists()
            message = "the driver and its JVM were killed by SIGKILL"
            if not killed:
                message = f"the driver ended without a fault (status {status})"
            return QueryResult(message, failed=not killed)
        ended = QueryResult(**answer(reply)["ended"])
        if mark is not None and mark.exists():
            return QueryResult("a driver survived its SIGKILL", failed=True)
        if reply["lost"] and not reply["died"]:
            return QueryResult(reply["lost"], failed=True)
        if reply["died"] and not ended.error:
            return QueryResult("the driver died after the callback")
        return ended

    def leave(self) -> tuple[bool, str]:
        """Return that nothing is left of the driver: it ended with its run."""
        return False, ""

    def end(self, rule_set: RuleSet) -> None:
        """Do nothing: the rules are gone with the driver."""
