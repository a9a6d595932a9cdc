"""The death of a driver inside its callback: in a child that stands for it."""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.failpoints.rules import EXIT_CODE, Place, Plan, Tracer

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame

_PATIENCE = 50.0
HUNG = "hung"
LOG = "driver.log"


class DriverDiedError(RuntimeError):
    """Ends a query whose callback died as a driver dies."""


def mortal(
    write: Callable[[DataFrame, int], None],
    plan: Plan,
    still: AbstractContextManager[object],
) -> Callable[[DataFrame, int], None]:
    """Run a foreachBatch callback in a forked child, which a rule can end at once.

    Nothing of the child survives but what it made durable: that is the state a
    driver's death leaves. The query then fails, as it must, in the parent.

    A fork copies the calling thread alone: a lock that another holds at that moment,
    in SQLite or in pyarrow, stays locked in the child for good. So whatever a thread
    of ours does but wait, it does while it holds ``still``, and so is the fork done.
    """

    def callback(batch: DataFrame, batch_id: int) -> None:
        with still:
            held = _connections()
            child = os.fork()
            if child == 0:
                _run(write, plan, batch, batch_id)
        del held
        status = _wait(child, Path(plan.marks))
        if status:
            last = "" if status == EXIT_CODE else _last_words(Path(plan.marks, LOG))
            message = f"the driver died in batch {batch_id} (status {status}){last}"
            raise DriverDiedError(message)

    return callback


def _last_words(log: Path) -> str:
    """Tell what the child raised, if it did."""
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


def _run(
    write: Callable[[DataFrame, int], None], plan: Plan, batch: DataFrame, batch_id: int
) -> None:
    code = 70
    log = Path(plan.marks, LOG).open("a")  # noqa: SIM115 - closed with the process
    try:
        faulthandler.dump_traceback_later(_PATIENCE * 0.9, file=log)
        from py4j.java_gateway import ThreadSafeFinalizer  # noqa: PLC0415

        # Another thread may have held the lock at the fork: here nothing frees it.
        ThreadSafeFinalizer.lock = threading.RLock()
        # The child must not detach Java objects that the parent still uses.
        ThreadSafeFinalizer.clear_finalizers(True)
        Tracer(plan, lambda _: Place(batch_id, run=plan.run)).install()
        write(batch, batch_id)
        code = 0
    except BaseException:  # noqa: BLE001 - a child must never run the parent's code
        sys.settrace(None)
        traceback.print_exc(file=log)
        log.flush()
    finally:
        os._exit(code)


def _wait(child: int, marks: Path) -> int:
    deadline = time.monotonic() + _PATIENCE
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            (marks / HUNG).touch()
            os.kill(child, 9)
            os.waitpid(child, 0)
            return -9
        time.sleep(0.001)
