"""The driver's death inside its callback: it runs in a host, which a rule can end.

Nothing of the host survives but what it made durable: that is the state a driver's
death leaves. The query then fails, as it must, in this process.
"""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from onceproof.spark_checks.plan.rules import CALLED_BACK, EXIT_CODE
from onceproof.spark_checks.session import spark_internals
from onceproof.spark_checks.session.java import jvm_link
from onceproof.spark_checks.session.java.callback_connections import (
    CallbackConnections,
)
from onceproof.spark_checks.session.processes.host_processes import (
    HostError,
    answer,
    ended,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from onceproof.spark_checks.plan.rules import RuleSet
    from onceproof.spark_checks.session.processes.host_processes import Host
    from onceproof.spark_checks.session.processes.wire import Message

LEFT_BEHIND = 15.0
RAISED, LOST = 70, 74
"""The exit status of a host whose user code raised, and of one that failed itself."""
HUNG = "hung"
LOG = "driver.log"


class DriverDiedError(RuntimeError):
    """The host of a query's callback died, as a driver dies."""


class ForkedDriver:
    """Takes the place of the driver of one run: callbacks of Spark's run in a host.

    ``lost`` says why the host failed, where the sink is not the cause.
    """

    def __init__(
        self,
        host: Host,
        rule_set: RuleSet,
        placed: Path,
        spark: SparkSession,
        *,
        starts: bool,
    ) -> None:
        """Let a ``host`` serve the run of a plan, which is ``placed`` in a file.

        ``starts`` says that it starts the query, too.
        """
        self._host: Host | None = host
        self._plan = rule_set
        self._marks = Path(rule_set.marks)
        self._one_by_one = threading.Lock()
        self._kept: list[object] = []
        self._connections = CallbackConnections()
        self.lost = ""
        host.orders.send(
            {
                "op": "run",
                "plan": str(placed),
                "log": str(self._marks / LOG),
                "link": jvm_link.address(spark),
                "starts": starts,
            }
        )

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        """Have the host handle a batch by the sink's own function."""
        self._handle(0, batch, batch_id)

    def called_back(self) -> None:
        """Leave a mark that the sink has code which is called for each batch."""
        (self._marks / CALLED_BACK).touch()

    def start(self, events: DataFrame, checkpoint: Path) -> StreamingQuery:
        """Have the host start the query; return it.

        Raises ``UsageError`` for a query that cannot be steered, ``UserCodeError``
        where the user's code raised, ``DriverDiedError`` where the host died of it.
        """
        host, frame = self._alive(), _java(events)
        spark = events.sparkSession
        session = spark_internals.target(spark_internals.java_session(spark))
        self._kept.append(events)
        host.asks.send(
            {"frame": frame, "session": session, "checkpoint": str(checkpoint)}
        )
        while True:
            try:
                reply = host.receive(host.asks, self._plan.patience)
            except TimeoutError:
                message = "the function that starts the query did not return"
                self.lost = message
                host.kill()
                raise HostError(message) from None
            if reply is None:
                self._died(host.wait(LEFT_BEHIND), "as it started the query")
            if "register" not in reply:
                query: StreamingQuery = spark_internals.query_of(answer(reply)["query"])
                return query
            self._register(reply, spark)
            host.asks.send({})

    def close(self) -> bool:
        """End the host, if there is one; return whether a rule had ended it before.

        Threads that its code left behind end first, as at the end of any process.
        """
        host, self._host = self._host, None
        self._connections.close()
        if host is None:
            return False
        host.orders.send({"op": "end"})
        code = host.wait(min(self._plan.patience, LEFT_BEHIND))
        host.close()
        if code == LOST and not self.lost:
            self.lost = self._last_words() or f"a process of ours ended ({ended(code)})"
        return code == EXIT_CODE

    def _register(self, message: Message, spark: Any) -> None:
        """Have Java call back into this process, which hands the call on."""
        self.called_back()
        writer = spark_internals.stream_writer_of(message["register"], spark)
        writer.foreachBatch(partial(self._handle, message["callback"]))

    def _handle(self, callback: int, batch: DataFrame, batch_id: int) -> None:
        """Have the host handle a batch; raise where it dies of it."""
        self._connections.note()
        spark = batch.sparkSession
        context = spark_internals.java_context(spark.sparkContext)
        properties = context.sc().getLocalProperties()
        # Java forgets what nobody here holds, and the host may still use it.
        self._kept += [batch, properties]
        with self._one_by_one:
            host = self._alive()
            host.orders.send(
                {
                    "op": "batch",
                    "callback": callback,
                    "batch": batch_id,
                    "frame": _java(batch),
                    "session": spark_internals.target(
                        spark_internals.java_session(spark)
                    ),
                    "properties": spark_internals.target(properties),
                }
            )
            try:
                done = host.receive(host.orders, self._plan.patience)
            except TimeoutError:
                (self._marks / HUNG).touch()
                host.kill()
                done = None
            if done is None:
                self._died(host.wait(LEFT_BEHIND), f"in batch {batch_id}")

    def _alive(self) -> Host:
        if self._host is None:
            message = "the driver of this run has ended"
            raise DriverDiedError(message)
        return self._host

    def _died(self, code: int, when: str) -> NoReturn:
        last = "" if code == EXIT_CODE else self._last_words()
        ending = f": {last}" if last else ""
        message = f"the driver died {when} ({_status(code)}){ending}"
        if code == RAISED and last:
            message = f"the sink's code raised an error {when}: {last}"
        if code == LOST or (code < 0 and not (self._marks / HUNG).exists()):
            self.lost = message
        raise DriverDiedError(message)

    def _last_words(self) -> str:
        """Return what the host raised, or the empty text."""
        log = self._marks / LOG
        lines = log.read_text().splitlines() if log.exists() else []
        return lines[-1] if lines else ""


def _status(code: int) -> str:
    return ended(code) if code < 0 else f"status {code}"


def _java(frame: Any) -> str:
    return spark_internals.target(spark_internals.java_frame(frame))
