"""The driver's side of one run, in a host: it serves callbacks and starts queries.

The host serves all batches of one run, as a driver does: what the user's code keeps in
memory is there from batch to batch, and is lost when the run ends.
"""

from __future__ import annotations

import faulthandler
import os
import threading
import traceback
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from onceproof.model.errors import OnceproofError
from onceproof.spark_checks.inject import sandbox
from onceproof.spark_checks.inject.adapters import kind_of
from onceproof.spark_checks.inject.failures.failure_reason import is_lost, named
from onceproof.spark_checks.inject.forked_driver import LOST, RAISED
from onceproof.spark_checks.inject.start import Start
from onceproof.spark_checks.inject.tracing.tracer import Tracer, trace_none
from onceproof.spark_checks.plan.rules import (
    BATCH_PROPERTY,
    CALLBACK,
    RUN_PROPERTY,
    Place,
    RuleSet,
)
from onceproof.spark_checks.session import spark_internals
from onceproof.spark_checks.session.java import jvm_link
from onceproof.spark_checks.sinks.interface import BatchJob, ForeachBatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.spark_checks.session.processes.wire import Channel, Message

SAYS_WHERE = 0.8


def serve_run(sink: Any, order: Message, orders: Channel, asks: Channel) -> int:
    """Serve one run of a sink until there are no more orders; return the status."""
    log = Path(order["log"]).open("a")  # noqa: SIM115 - closed with the process
    code = LOST
    try:
        plan = RuleSet.read(Path(order["plan"]))
        if plan is None:
            log.write("the plan of the run is gone\n")
            return LOST
        jvm_link.connect(order["link"])
        sandbox.install([plan])
        sandbox.watch_writers()
        driver = _Driver(sink, plan, log)
        if order["starts"]:
            threading.Thread(target=driver.starts, args=(asks,), daemon=True).start()
        code = driver.serve(orders)
    except BaseException as error:  # noqa: BLE001 - the server must not go on here
        trace_none()
        traceback.print_exc(file=log)
        code = LOST if is_lost(error) or code == LOST else RAISED
        log.flush()
    with suppress(BaseException):
        threads: Any = threading
        threads._shutdown()  # noqa: SLF001 - as at the end of any process
    return code


class _Driver:
    """Takes the place of the driver of one run."""

    def __init__(self, sink: Any, rule_set: RuleSet, log: TextIO) -> None:
        self._sink = sink
        self._plan = rule_set
        self._log = log
        self._callbacks: list[Callable[[Any, int], None]] = []
        if isinstance(sink, ForeachBatch):
            self._callbacks.append(sink.write)
        if isinstance(sink, BatchJob):
            self._callbacks.append(lambda events, _: sink.run(events))

    def serve(self, orders: Channel) -> int:
        """Handle one batch after the other."""
        plan, now = self._plan, [0]
        theirs = _Properties()
        tracer = Tracer(
            plan, lambda _: Place(now[0], run=plan.run), begins=theirs.hand_on
        )
        while (order := orders.receive()) is not None and order["op"] == "batch":
            now[0] = order["batch"]
            faulthandler.dump_traceback_later(
                SAYS_WHERE * plan.patience, file=self._log
            )
            spark = jvm_link.session_of(order["session"])
            frame = jvm_link.frame_of(order["frame"], spark)
            jvm_link.activate(spark)
            theirs.keep(frame, order["properties"])
            place = Place(now[0], run=plan.run)
            try:
                tracer.fire(CALLBACK, "call", place)
                tracer.install()
                self._callbacks[order["callback"]](frame, now[0])
                trace_none()
                tracer.fire(CALLBACK, "return", place)
            except BaseException as error:  # noqa: BLE001 - as a driver dies of it
                trace_none()
                traceback.print_exc(file=self._log)
                self._log.flush()
                return LOST if is_lost(error) else RAISED
            faulthandler.cancel_dump_traceback_later()
            orders.send({"done": now[0]})
        return 0

    def starts(self, asks: Channel) -> None:
        """Start the query on request, and serve callbacks meanwhile."""
        while (order := asks.receive()) is not None:
            try:
                found = self._started(order, asks)
            except BaseException as error:  # noqa: BLE001 - it is reported
                traceback.print_exc(file=self._log)
                self._log.flush()
                kind = "usage" if isinstance(error, OnceproofError) else "user"
                kind = "host" if is_lost(error) else kind
                text = str(error) if kind == "usage" else named(error)
                found = {"error": {"kind": kind, "text": text}}
            asks.send(found)

    def _started(self, order: Message, asks: Channel) -> Message:
        spark = jvm_link.session_of(order["session"])
        spark_internals.set_active(spark, here=True)
        spark.sparkContext.setLocalProperty(RUN_PROPERTY, self._plan.run)
        start = Start(
            jvm_link.frame_of(order["frame"], spark),
            Path(order["checkpoint"]),
            self._plan,
            called_back=partial(self._register, asks),
        )
        query: Any = kind_of(self._sink).start(start)
        jvm_link.keep(query)
        java = spark_internals.java_query(query)
        return {"query": spark_internals.target(java)}

    def _register(self, asks: Channel, writer: Any, call: Any) -> None:
        """Have a writer of Spark's call a function: Java knows one Python process."""
        self._callbacks.append(call)
        number = len(self._callbacks) - 1
        jvm_link.keep(writer)
        name = spark_internals.target(spark_internals.java_writer(writer))
        asks.send({"register": name, "callback": number})
        if asks.receive() is None:
            os._exit(LOST)


class _Properties:
    """Local properties of Spark, by which tasks are known to be of a run and a batch.

    Java hands them on to threads that it starts, and not to those of Python.
    """

    def __init__(self) -> None:
        self._context: Any = None
        self._kept: Any = None

    def keep(self, frame: Any, properties: str) -> None:
        """Keep the properties of the thread in Java that calls back."""
        context = frame.sparkSession.sparkContext
        self._context = spark_internals.java_context(context).sc()
        self._kept = jvm_link.properties_of(properties)
        self._context.setLocalProperties(self._kept.clone())

    def hand_on(self) -> None:
        """Set them in the calling thread, unless it has them."""
        for name in (RUN_PROPERTY, BATCH_PROPERTY):
            mine = self._context.getLocalProperty(name)
            if mine != self._kept.getProperty(name):
                self._context.setLocalProperties(self._kept.clone())
