"""The driver's death inside its callback: in a child that stands for it.

The child serves all batches of one run, as a driver does: what the user's code keeps
in memory is there from batch to batch, and is lost when the run ends.
"""

from __future__ import annotations

import faulthandler
import json
import os
import select
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from onceproof.spark_checks.failpoints import guard
from onceproof.spark_checks.failpoints.rules import (
    BATCH_PROPERTY,
    CALLBACK,
    EXIT_CODE,
    RUN_PROPERTY,
    Place,
    Plan,
)
from onceproof.spark_checks.failpoints.tracer import Tracer, trace_none

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame

_SAYS_WHERE = 0.8
_LEFT_BEHIND = 15.0
HUNG = "hung"
LOG = "driver.log"


class DriverDiedError(RuntimeError):
    """Ends a query whose callback died as a driver dies."""


class StandIn:
    """Runs a foreachBatch callback in a forked child, which a rule can end at once.

    Nothing of the child survives but what it made durable: that is the state a
    driver's death leaves. The query then fails, as it must, in the parent.

    A fork copies the calling thread alone: a lock that another holds at that moment,
    in SQLite or in pyarrow, stays locked in the child for good. So whatever a thread
    of ours does but wait, it does while it holds ``still``, and so is the fork done.
    """

    def __init__(
        self,
        write: Callable[[DataFrame, int], None],
        plan: Plan,
        still: AbstractContextManager[object],
    ) -> None:
        """Stand for the driver of one run, which calls ``write`` for each batch."""
        self._write = write
        self._plan = plan
        self._still = still
        self._marks = Path(plan.marks)
        self._child = 0
        self._thread = 0
        self._orders: IO[bytes] | None = None
        self._answers = -1

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        """Have the child handle a batch; raise where it dies of it."""
        mine: Any = batch
        if self._child and self._thread != threading.get_ident():
            self.close()
        if not self._child:
            with self._still:
                self._fork(batch)
        order = [batch_id, mine._jdf._target_id, mine.sparkSession._jsparkSession]
        order[2] = order[2]._target_id
        self._send(order)
        status = self._hear()
        if status:
            last = "" if status == EXIT_CODE else self._last_words()
            message = f"the driver died in batch {batch_id} (status {status}){last}"
            raise DriverDiedError(message)

    def close(self) -> bool:
        """End the child, if there is one; say whether it died before, by a rule.

        Threads that its code left behind end first, as at the end of any process.
        """
        if self._orders is None:
            return False
        # Another child may hold this pipe open too: its end would not be seen.
        self._send(None)
        died = self._reap() == EXIT_CODE
        self._orders.close()
        self._orders = None
        os.close(self._answers)
        return died

    def _fork(self, batch: DataFrame) -> None:
        held = _connections()
        order, orders = os.pipe()
        answer, answers = os.pipe()
        self._thread = threading.get_ident()
        child = os.fork()
        if child == 0:
            os.close(orders)
            os.close(answer)
            _serve(self._write, self._plan, batch, (order, answers))
        self._child = child
        os.close(order)
        os.close(answers)
        self._orders, self._answers = os.fdopen(orders, "wb", 0), answer
        del held

    def _send(self, order: list[Any] | None) -> None:
        try:
            if self._orders is not None:
                self._orders.write(json.dumps(order).encode() + b"\n")
        except BrokenPipeError:
            return

    def _hear(self) -> int:
        """Wait for the child to be done with a batch, or to end; 0 if it is done."""
        deadline = time.monotonic() + self._plan.patience
        os.set_blocking(self._answers, False)
        while True:
            try:
                said = os.read(self._answers, 1)
            except BlockingIOError:
                said = None
            if said:
                return 0
            if said == b"":
                return self._reap() or EXIT_CODE
            if time.monotonic() > deadline:
                (self._marks / HUNG).touch()
                os.kill(self._child, 9)
                return self._reap() or EXIT_CODE
            time.sleep(0.001)

    def _reap(self) -> int:
        """Wait for the child's end, and say how it was; end it if that takes long.

        It is up to threads that do not end by themselves how long it takes.
        """
        if not self._child:
            return 0
        deadline = time.monotonic() + min(self._plan.patience, _LEFT_BEHIND)
        ended, status = os.waitpid(self._child, os.WNOHANG)
        while not ended and time.monotonic() < deadline:
            time.sleep(0.001)
            ended, status = os.waitpid(self._child, os.WNOHANG)
        if not ended:
            os.kill(self._child, 9)
            _, status = os.waitpid(self._child, 0)
        self._child = 0
        return os.waitstatus_to_exitcode(status)

    def _last_words(self) -> str:
        """Tell what the child raised, if it did."""
        log = self._marks / LOG
        lines = log.read_text().splitlines() if log.exists() else []
        return f": {lines[-1]}" if lines else ""


def _connections() -> list[object]:
    """List the connections to Java of all threads.

    A fork ends the other threads in the child, and Python then drops what was local to
    them. The child must hold their connections, for one that is dropped is shut down,
    and with it the parent's.
    """
    from pyspark import SparkContext  # noqa: PLC0415 - slow to import

    gateway: Any = SparkContext._gateway
    return list(gateway._gateway_client.deque)


def _serve(
    write: Callable[[DataFrame, int], None],
    plan: Plan,
    batch: DataFrame,
    pipes: tuple[int, int],
) -> None:
    """Handle one batch after the other, until there are no more orders."""
    code = 70
    log = Path(plan.marks, LOG).open("a")  # noqa: SIM115 - closed with the process
    kept: list[object] = [batch]
    try:
        faulthandler.dump_traceback_later(_SAYS_WHERE * plan.patience, file=log)
        from py4j.java_gateway import ThreadSafeFinalizer  # noqa: PLC0415

        # Another thread may have held the lock at the fork: here nothing frees it.
        ThreadSafeFinalizer.lock = threading.RLock()
        # The child must not detach Java objects that the parent still uses.
        ThreadSafeFinalizer.clear_finalizers(True)
        guard.install([plan])
        guard.watch_writers()
        now = [0]
        theirs = _Properties()
        tracer = Tracer(
            plan, lambda _: Place(now[0], run=plan.run), begins=theirs.hand_on
        )
        for now[0], name, session in _orders(pipes[0]):
            faulthandler.dump_traceback_later(_SAYS_WHERE * plan.patience, file=log)
            frame = _frame(batch, name, session)
            kept.append(frame)
            place = Place(now[0], run=plan.run)
            tracer.fire(CALLBACK, "call", place)
            theirs.keep(frame)
            tracer.install()
            write(frame, now[0])
            trace_none()
            tracer.fire(CALLBACK, "return", place)
            faulthandler.cancel_dump_traceback_later()
            os.write(pipes[1], b".")
        code = 0
    except BaseException:  # noqa: BLE001 - a child must never run the parent's code
        trace_none()
        traceback.print_exc(file=log)
        log.flush()
    finally:
        with suppress(BaseException):
            threads: Any = threading
            threads._shutdown()
        os._exit(code)


class _Properties:
    """Local properties of Spark, by which tasks are known to be of a run and a batch.

    Java hands them on to threads that it starts, and not to those of Python.
    """

    def __init__(self) -> None:
        self._context: Any = None
        self._kept: Any = None

    def keep(self, frame: DataFrame) -> None:
        """Keep those of this thread."""
        context: Any = frame.sparkSession.sparkContext
        self._context = context._jsc.sc()
        self._kept = self._context.getLocalProperties().clone()

    def hand_on(self) -> None:
        """Give them to the thread that calls this, unless it has them."""
        for name in (RUN_PROPERTY, BATCH_PROPERTY):
            mine = self._context.getLocalProperty(name)
            if mine != self._kept.getProperty(name):
                self._context.setLocalProperties(self._kept.clone())


def _orders(pipe: int) -> Iterator[list[Any]]:
    """Yield orders until there is one to stop, or nobody is left to give any."""
    parent = os.getppid()
    held = b""
    while os.getppid() == parent:
        if not select.select([pipe], [], [], 1.0)[0]:
            continue
        piece = os.read(pipe, 1 << 12)
        if not piece:
            return
        held += piece
        while b"\n" in held:
            line, _, held = held.partition(b"\n")
            order = json.loads(line)
            if order is None:
                return
            yield order


def _frame(first: Any, frame: str, session: str) -> Any:
    """Give the DataFrame of a batch, by Java's names of it and of its session."""
    if first._jdf._target_id == frame:
        return first
    from py4j.java_gateway import JavaObject  # noqa: PLC0415

    client = first._jdf._gateway_client
    spark = type(first.sparkSession)(
        first.sparkSession.sparkContext, JavaObject(session, client)
    )
    return type(first)(JavaObject(frame, client), spark)
