"""Who sends a request to a store: the user's code, or Spark's JVM for a line of it.

Python code is where its process says that it is. While a line of the driver's code has
Spark work, such as ``df.write.jdbc(...)``, what Spark's threads send is of that line;
while no code runs, as in a query that Spark writes by itself, it is of the batch. A
thread of Spark's is known by its name: Spark gives it the name of the task that it
runs. So a request is known that a task sends, whichever comes first of several tasks.
"""

from __future__ import annotations

import re
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from onceproof.spark_checks.inject.running_batch import (
    BEFORE_BATCH,
    IN_BATCH,
    running_batch,
)
from onceproof.spark_checks.inject.tracing.whereabouts import (
    Whereabouts,
    processes,
    whereabouts_of,
)
from onceproof.spark_checks.plan.rules import EXCHANGE_OF, LINES
from onceproof.spark_checks.session.private_names import STREAM_THREAD
from onceproof.spark_checks.session.processes import client_processes
from onceproof.spark_checks.session.processes.waiting_threads import waiting_on
from onceproof.spark_checks.sinks.exchanges import (
    ELSEWHERE,
    READS,
    THREADS,
    of_client,
    of_driver,
    of_task,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from onceproof.spark_checks.stores.links import Asker, Link

OUTSIDE = "sent while none of your code runs"
ABORTS = "sent by code that aborts a batch"
_WORKS_ON = 0.3
_RESTS = 0.2
_TASK = re.compile(r"\btask (\d+)\.(\d+) in stage (\d+)\.(\d+) \(TID \d+\)")


class SparkThreads(Protocol):
    """The threads of Spark's JVM."""

    process: int
    """The id of the JVM."""

    def java_of(self, thread: int) -> int:
        """Return Java's number for a thread of the system's; 0 if it is not known."""

    def name_of(self, thread: int) -> str:
        """Return the name of a thread by Java's number; empty if it is not known."""


@dataclass(frozen=True)
class Sender:
    """Who has sent a request, and where the code was."""

    holder: int
    """The process."""
    where: Whereabouts
    """Where the user's code was."""
    by: str = ""
    """Who in Spark has sent it; empty where the code itself has."""


class UncutError(Exception):
    """A request is not cut: the text says why."""


class Senders:
    """Finds who sends the requests of one interleaving, on connections of its own."""

    def __init__(
        self,
        marks: Path,
        spark: SparkThreads | None,
        sent_for: Callable[[bytes], Asker | None] | None = None,
        checkpoint: Path | None = None,
    ) -> None:
        """Look for code that leaves its marks in a folder, and for ``spark``.

        ``sent_for`` reads from a request for which of Java's threads it is sent. Where
        none of the code has Spark work, what Spark sends is of the batch that the
        ``checkpoint`` of its query names.
        """
        self._marks = marks
        self._checkpoint = checkpoint
        self._spark = spark
        self._sent_for = sent_for or (lambda _: None)
        self._askers: dict[Link, Asker | None] = {}
        self._lock = threading.Lock()
        self._holders: dict[Link, tuple[int, int]] = {}
        self._worked: dict[Link, float] = {}
        self._rested: dict[Link, float] = {}
        self._threads: dict[Link, int] = {}
        self._stages: dict[Whereabouts, list[str]] = defaultdict(list)
        self._mine: dict[Whereabouts, int] = {}

    def begin(self) -> None:
        """Watch another run."""
        with self._lock:
            self._stages.clear()
            self._mine.clear()

    def of(self, link: Link, *, by_kind: bool = False) -> Sender:
        """Return who has sent the request that has come on a connection.

        One that is known ``by_kind`` comes from a thread of the client's own, and so
        from no task that is known.

        Raises ``UncutError``.
        """
        held = self._held(link)
        if held is None:
            raise UncutError(ELSEWHERE)
        process, _ = held
        if self._is_spark(process):
            line = self._line()
            by = of_client() if by_kind else self._by(link, line)
            return Sender(process, line, by)
        try:
            where = whereabouts_of(self._marks, process)
        except LookupError:
            raise UncutError(THREADS) from None
        if where is None or where.function not in EXCHANGE_OF:
            raise UncutError(OUTSIDE if where is None else ABORTS)
        return Sender(process, where)

    def waits(self, link: Link) -> bool:
        """Return whether the client waits for its answer.

        One whose threads work on and on is taken to wait by then. How long that takes
        is counted in its own time: on a busy machine it may just not get to run. Of
        Spark's threads, which are many, the one that waits on the connection is found.
        """
        held = self._held(link)
        if held is None:
            return True
        process, descriptor = held
        if not self._is_spark(process):
            return client_processes.waits(process) or self._works_on(link, process)
        thread = waiting_on(process, descriptor, first=self._threads.get(link))
        if thread is not None:
            self._threads[link] = thread
            self._worked.pop(link, None)
            self._rested.pop(link, None)
            return True
        self._threads.pop(link, None)
        return self._rests(link, process) or self._works_on(link, process)

    def _is_spark(self, process: int) -> bool:
        return self._spark is not None and self._spark.process == process

    def _held(self, link: Link) -> tuple[int, int] | None:
        """Return who holds a connection, and its number there."""
        with self._lock:
            if link not in self._holders:
                known = processes(self._marks)
                spark = [] if self._spark is None else [self._spark.process]
                found = client_processes.holder([*known, *spark], link.peer, link.port)
                if found is None:
                    return None
                self._holders[link] = found
            return self._holders[link]

    def _works_on(self, link: Link, process: int) -> bool:
        """Return whether a process has worked for so long that it is taken to wait."""
        worked = client_processes.worked(process)
        since = self._worked.setdefault(link, worked)
        if worked - since < _WORKS_ON:
            return False
        del self._worked[link]
        return True

    def _rests(self, link: Link, process: int) -> bool:
        """Return whether no thread of a process runs for a while."""
        if not client_processes.waits(process):
            self._rested.pop(link, None)
            return False
        now = time.monotonic()
        return now - self._rested.setdefault(link, now) > _RESTS

    def _line(self) -> Whereabouts:
        """Return the line of the driver's code, or the batch, for which Spark works.

        Raises ``UncutError`` where there is none, or more than one.
        """
        alive = filter(client_processes.alive, processes(self._marks))
        try:
            found = [whereabouts_of(self._marks, one) for one in alive]
        except LookupError:
            raise UncutError(THREADS) from None
        lines = [one for one in found if one is not None and one.function == LINES]
        if not lines and self._checkpoint is not None:
            return running_batch(self._checkpoint)
        if not lines:
            raise UncutError(ELSEWHERE)
        if len(lines) > 1:
            raise UncutError(THREADS)
        return lines[0]

    def _by(self, link: Link, where: Whereabouts) -> str:
        """Name the part of Spark that has sent a request for a line of the code.

        Raises ``UncutError`` where it is not known, or what comes first is up to
        threads that run at once.
        """
        threads = self._asking(link)
        if not threads:
            raise UncutError(ELSEWHERE)
        task = next(filter(None, map(_TASK.search, threads.values())), None)
        with self._lock:
            if task is None:
                if self._is_drivers(threads, where):
                    return of_driver()
                asker = self._askers.get(link)
                raise UncutError(READS if asker and asker.reads else THREADS)
            partition, attempt, *stage = task.groups()
            stages = self._stages[where]
            if ".".join(stage) not in stages:
                stages.append(".".join(stage))
            number = 1 + stages.index(".".join(stage))
            if number < len(stages):
                raise UncutError(THREADS)
            return of_task(int(partition), int(attempt), number)

    def _is_drivers(self, threads: dict[int, str], where: Whereabouts) -> bool:
        """Return whether one of some threads is the one that the driver sends from.

        For a line that is the first that sends; in a batch, the one of the query.
        """
        if where.line in (IN_BATCH, BEFORE_BATCH):
            return any(name.startswith(STREAM_THREAD) for name in threads.values())
        return self._mine.setdefault(where, next(reversed(threads))) in threads

    def _asking(self, link: Link) -> dict[int, str]:
        """Return the names of the threads that ask on a connection, by their numbers.

        That is the one that sends the request and, after it, the one that it is sent
        for, where the client says so. What follows on the connection without saying so
        is the rest of that request.
        """
        found: dict[int, str] = {}
        if self._spark is None:
            return found
        sends = self._threads.get(link)
        self._askers[link] = asker = self._sent_for(link.asked) or self._askers.get(
            link
        )
        for thread in (
            0 if sends is None else self._spark.java_of(sends),
            0 if asker is None else asker.thread,
        ):
            name = self._spark.name_of(thread) if thread else ""
            if name:
                found[thread] = name
        return found
