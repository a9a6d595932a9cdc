"""The faults of the model that a real run can be given, and what each does to it.

Whatever fault a model of micro-batches has is here: a test holds the two to each other,
and each protocol that no sink is replayed by says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from onceproof.spark_checks.plan.rules import (
    DRIVER_EXCHANGE,
    LATE_REQUEST,
    LINES,
    LOSE_REPLY,
    LOSE_REQUEST,
    TASK_EXCHANGE,
    UNDO,
    WORK,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


class Effect(Enum):
    """What becomes of the run that a fault is injected into."""

    ENDS_RUN = "the run ends, unless the code tries again, and a restart follows"
    GOES_ON = "the code gets an error, and the run goes on"
    FAILS_ATTEMPT = "an attempt of a task fails, or tries again, or another follows"
    LOSES_ATTEMPT = "an attempt of a task is given up, and lives on"


@dataclass(frozen=True)
class FaultKind:
    """A fault that a replay can inject.

    ``failpoint`` says where. One that is ``in_task`` hits whichever task comes to the
    point: its first members are a batch, a partition and an attempt. With ``code`` its
    last member is a point of the user's own code there, or an exchange of it. One that
    ``raises`` is an error, and no death. One ``of_attempt`` ends the run by an attempt
    that dies, while the driver lives. One that ``cuts`` breaks a connection: that is an
    error, too.
    """

    effect: Effect
    """What becomes of the run, or of the attempt."""
    failpoint: str
    in_task: bool = False
    code: str = ""
    raises: bool = False
    of_attempt: bool = False
    cuts: str = ""

    @property
    def kills_driver(self) -> bool:
        """Whether the driver dies, and nothing else is at fault."""
        ends = self.effect is Effect.ENDS_RUN
        return ends and not (self.raises or self.of_attempt or self.cuts)


FAULT_KINDS: Mapping[str, FaultKind] = {
    "crash": FaultKind(
        Effect.ENDS_RUN, "before the step that follows, of the sink or of Spark's log"
    ),
    "rescale": FaultKind(
        Effect.ENDS_RUN, "as a crash; the restart reads one partition in place of all"
    ),
    "new_checkpoint": FaultKind(
        Effect.ENDS_RUN, "as a crash; the restart finds an empty checkpoint"
    ),
    "fail_commit": FaultKind(
        Effect.ENDS_RUN, "at a step of the sink's commit", raises=True
    ),
    "fail_job": FaultKind(
        Effect.ENDS_RUN,
        "at the last attempt of a task, of which Spark fails the job",
        of_attempt=True,
    ),
    "fail_task": FaultKind(
        Effect.FAILS_ATTEMPT, "before or after the work of an attempt", in_task=True
    ),
    "lose_contact": FaultKind(
        Effect.LOSES_ATTEMPT, "before the work of an attempt", in_task=True
    ),
    "crash_in_commit": FaultKind(
        Effect.ENDS_RUN, "before a line of the code on the driver", code=LINES
    ),
    "fail_in_commit": FaultKind(
        Effect.ENDS_RUN,
        "before a line of the code on the driver",
        code=LINES,
        raises=True,
    ),
    "crash_in_abort": FaultKind(
        Effect.ENDS_RUN, "before a line of the code that aborts", code=UNDO
    ),
    "crash_in_task": FaultKind(
        Effect.ENDS_RUN, "before a line of the code in a task", in_task=True, code=WORK
    ),
    "fail_in_task": FaultKind(
        Effect.FAILS_ATTEMPT,
        "before a line of the code in a task",
        in_task=True,
        code=WORK,
    ),
    "raise_in_task": FaultKind(
        Effect.FAILS_ATTEMPT,
        "before a line of the code in a task",
        in_task=True,
        code=WORK,
        raises=True,
    ),
    "fail_above": FaultKind(
        Effect.FAILS_ATTEMPT, "where Spark feeds the code in a task", in_task=True
    ),
    "lose_in_task": FaultKind(
        Effect.LOSES_ATTEMPT,
        "before a line of the code in a task",
        in_task=True,
        code=WORK,
    ),
    "lose_request_in_commit": FaultKind(
        Effect.ENDS_RUN,
        "before a request of the code on the driver reaches the store",
        code=DRIVER_EXCHANGE,
        cuts=LOSE_REQUEST,
    ),
    "lose_reply_in_commit": FaultKind(
        Effect.ENDS_RUN,
        "after the store has replied to the code on the driver",
        code=DRIVER_EXCHANGE,
        cuts=LOSE_REPLY,
    ),
    "late_request_in_commit": FaultKind(
        Effect.ENDS_RUN,
        "at a request of the code on the driver, which reaches the store later",
        code=DRIVER_EXCHANGE,
        cuts=LATE_REQUEST,
    ),
    "catch_lost_request_in_commit": FaultKind(
        Effect.GOES_ON,
        "before a request of the code on the driver reaches the store",
        code=DRIVER_EXCHANGE,
        cuts=LOSE_REQUEST,
    ),
    "catch_lost_reply_in_commit": FaultKind(
        Effect.GOES_ON,
        "after the store has replied to the code on the driver",
        code=DRIVER_EXCHANGE,
        cuts=LOSE_REPLY,
    ),
    "catch_late_request_in_commit": FaultKind(
        Effect.GOES_ON,
        "at a request of the code on the driver, which reaches the store later",
        code=DRIVER_EXCHANGE,
        cuts=LATE_REQUEST,
    ),
    "lose_request_in_task": FaultKind(
        Effect.FAILS_ATTEMPT,
        "before a request of the code in a task reaches the store",
        in_task=True,
        code=TASK_EXCHANGE,
        cuts=LOSE_REQUEST,
    ),
    "lose_reply_in_task": FaultKind(
        Effect.FAILS_ATTEMPT,
        "after the store has replied to the code in a task",
        in_task=True,
        code=TASK_EXCHANGE,
        cuts=LOSE_REPLY,
    ),
    "late_request_in_task": FaultKind(
        Effect.FAILS_ATTEMPT,
        "at a request of the code in a task, which reaches the store later",
        in_task=True,
        code=TASK_EXCHANGE,
        cuts=LATE_REQUEST,
    ),
    "catch_lost_request_in_task": FaultKind(
        Effect.GOES_ON,
        "before a request of the code in a task reaches the store",
        in_task=True,
        code=TASK_EXCHANGE,
        cuts=LOSE_REQUEST,
    ),
    "catch_lost_reply_in_task": FaultKind(
        Effect.GOES_ON,
        "after the store has replied to the code in a task",
        in_task=True,
        code=TASK_EXCHANGE,
        cuts=LOSE_REPLY,
    ),
    "catch_late_request_in_task": FaultKind(
        Effect.GOES_ON,
        "at a request of the code in a task, which reaches the store later",
        in_task=True,
        code=TASK_EXCHANGE,
        cuts=LATE_REQUEST,
    ),
    "lose_request": FaultKind(
        Effect.FAILS_ATTEMPT,
        "before the last request of a task's work reaches the store",
        in_task=True,
        cuts=LOSE_REQUEST,
    ),
    "lose_reply": FaultKind(
        Effect.FAILS_ATTEMPT,
        "after the store has replied to the last request of a task's work",
        in_task=True,
        cuts=LOSE_REPLY,
    ),
    "late_request": FaultKind(
        Effect.FAILS_ATTEMPT,
        "at the last request of a task's work, which reaches the store later",
        in_task=True,
        cuts=LATE_REQUEST,
    ),
    "lose_commit_request": FaultKind(
        Effect.ENDS_RUN,
        "before the last request of a step of the sink's commit reaches the store",
        cuts=LOSE_REQUEST,
    ),
    "lose_commit_reply": FaultKind(
        Effect.ENDS_RUN,
        "after the store has replied to the last request of the sink's commit",
        cuts=LOSE_REPLY,
    ),
    "late_commit_request": FaultKind(
        Effect.ENDS_RUN,
        "at the last request of a step of the sink's commit, which arrives later",
        cuts=LATE_REQUEST,
    ),
}
"""By its name in the model, each fault that a replay injects."""

_NO_SPARK = "no sink of Spark is written in it, so a replay never meets its faults"
_OWN_LOG = "it is about a log of Kafka's kind, which a replay has no process of"
_ENGINE = "it is about another engine's checkpoints, of which Spark has none"
_QUERIES = "it is about queries with state, which the grid replays at steps of its own"

NOT_REPLAYED: Mapping[str, str] = {
    "acknowledgement_tree": _ENGINE,
    "approximate_results": _NO_SPARK,
    "barrier_snapshot": _ENGINE,
    "chained_windows": _QUERIES,
    "change_capture": _NO_SPARK,
    "chandy_lamport": _ENGINE,
    "deduplication_log": _ENGINE,
    "event_time": _QUERIES,
    "filter_and_join": _QUERIES,
    "idempotent_producer": _OWN_LOG,
    "kafka_streams": _OWN_LOG,
    "kappa_architecture": _NO_SPARK,
    "lambda_architecture": _NO_SPARK,
    "micro_batch_stateful": _QUERIES,
    "multi_version_store": _NO_SPARK,
    "non_blocking_commit": _NO_SPARK,
    "ordered_batches": _ENGINE,
    "output_commit": _NO_SPARK,
    "raft_election": _NO_SPARK,
    "simple_broadcast_commit": _NO_SPARK,
    "stage_retry": _NO_SPARK,
    "table_commit": _NO_SPARK,
    "transaction_commit": _NO_SPARK,
    "transactional_outbox": _NO_SPARK,
    "transactions": _OWN_LOG,
    "two_phase_commit": _NO_SPARK,
    "two_phase_commit_log": _NO_SPARK,
    "two_phase_commit_sink": _ENGINE,
    "write_ahead_log": _NO_SPARK,
}
"""By its module, each protocol of the library whose faults no replay injects: why."""


def with_effect(*effects: Effect) -> frozenset[str]:
    """Name the faults that have one of some effects."""
    return frozenset(n for n, kind in FAULT_KINDS.items() if kind.effect in effects)
