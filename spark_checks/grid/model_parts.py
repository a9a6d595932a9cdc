"""Which part of the model a query, a configuration and a fault of the grid are.

This is the only place that says so, and that says why a cell has no prediction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onceproof.spark_checks.grid.grid_faults import GridFault
from onceproof.spark_checks.queries.catalogue import every_query
from onceproof.spark_checks.queries.configuration import CHOICES
from onceproof.spark_checks.replay.conformance.omissions import (
    OMISSIONS,
    OMISSIONS_WITH_STATE,
)
from onceproof.spark_checks.replay.conformance.step_meanings import (
    BATCHES,
    FILES,
    MEANINGS,
    WRITERS,
)
from onceproof.spark_checks.replay.conformance.step_meanings import (
    WITH_STATE as STEPS_WITH_STATE,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onceproof.spark_checks.queries.configuration import QueryConfiguration
    from onceproof.spark_checks.queries.query_spec import QuerySpec
    from onceproof.spark_checks.replay.conformance.omissions import Omission
    from onceproof.spark_checks.replay.conformance.step_meanings import StepMeaning

    Settings = Mapping[str, Mapping[str, Mapping[str, str]]]

_SINKS = {
    "foreach-batch": BATCHES,
    "files": FILES,
    "skips": BATCHES,
    "kafka": WRITERS,
}
_SAME: Settings = {
    "provider": {"hdfs": {}, "rocksdb": {}},
    "changelog": {"off": {}, "on": {}},
    "trigger": {"available-now": {}, "processing-time": {}},
    "progress": {"logged": {}},
    "source": {"files": {}, "kafka": {}, "rate-micro-batch": {}},
}


@dataclass(frozen=True, eq=False)
class EngineModel:
    """A protocol of micro-batches, and what its slots are in a configuration."""

    protocol: str
    """The name of the protocol."""
    work: tuple[str, ...]
    """The steps by which an attempt of a task has done its work, its state included:
    one for each operator."""
    logs: Mapping[str, str]
    """What counts the batches in the offset log, and what counts those of them in the
    commit log: with data, and without where there are such batches."""
    settings: Settings
    """For each value of a setting, the parts of the protocol. A value without parts
    changes nothing in the model; one that is left out is not modelled."""
    meanings: tuple[StepMeaning, ...]
    """What each durable step of Spark's is in the protocol."""
    omissions: tuple[Omission, ...] = ()
    """Which steps of the protocol a run does not take, or not visibly."""
    later: EngineModel | None = None
    """The model where logs are written in the background; none if Spark runs no such
    query so."""
    eager: tuple[str, ...] = ()
    """The steps that a run without a fault takes as soon as it can, if others are
    possible, too. So a driver that dies at one does so before its batch starts; where
    it dies later, but before a task has done its work, readers see the same."""
    watermark: tuple[str, ...] = ()
    """What has the watermark that each batch begins with, and the one that is logged;
    nothing where the protocol has no watermark."""

    @property
    def sinks(self) -> Mapping[str, str]:
        """By which name the table of steps knows each sink of the grid."""
        return _SINKS


WITH_STATE = EngineModel(
    "micro-batch-stateful-idle",
    ("commit_state", "commit_second"),
    {"offsets": "commits", "ends_logged": "ends"},
    {
        **_SAME,
        "sink": {
            "foreach-batch": {"results": "results"},
            "files": {"results": "results-skipped"},
            "skips": {"results": "results-skipped"},
            "kafka": {"results": "results"},
        },
        "format": {
            "1": {"versions": "state-versions"},
            "2": {"versions": "state-versions-with-ids"},
        },
    },
    meanings=STEPS_WITH_STATE,
    omissions=OMISSIONS_WITH_STATE,
    watermark=("begins", "logged"),
)
"""The model of queries with state."""

LOGGED_LATER = EngineModel(
    "micro-batch-logged-later",
    ("write",),
    {"offsets": "commits"},
    {
        **_SAME,
        "progress": {"async": {}},
        "sink": {"kafka": {"sink": "topic-by-key"}},
        "format": {"1": {}},
    },
    meanings=MEANINGS,
    omissions=OMISSIONS,
    eager=("log_offsets", "log_commit"),
)
"""The model of queries without state whose logs are written in the background."""

WITHOUT_STATE = EngineModel(
    "micro-batch",
    ("write",),
    {"offsets": "commits"},
    {
        **_SAME,
        "sink": {
            "foreach-batch": {"sink": "upsert-whole"},
            "files": {"sink": "manifest"},
            "skips": {"sink": "batch-ledger"},
            "kafka": {"sink": "topic-by-key"},
        },
        "format": {"1": {}},
    },
    meanings=MEANINGS,
    omissions=OMISSIONS,
    later=LOGGED_LATER,
)
"""The model of queries without state: what readers see is up to the sink."""


@dataclass(frozen=True)
class ModelledQuery:
    """A query of the catalogue, as the model has it."""

    engine: EngineModel
    """The protocol that says what Spark does with it."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """What the query itself is, as parts of the protocol."""
    stores: int = 1
    """How many stores a task commits: with the last it has committed its state."""


_WINDOWS = {"output": "closed-windows"}
_TOTALS = {"output": "all-rows"}
_TWICE = {"actions": "two-actions"}
_NEW = {"output": "new-rows"}
_JOINED = {"output": "joined-rows"}
_OUTER = {"output": "outer-joined-rows"}

QUERIES: Mapping[str, ModelledQuery] = {
    "map": ModelledQuery(WITHOUT_STATE),
    "window-append": ModelledQuery(WITH_STATE, _WINDOWS),
    "window-append-two-writes": ModelledQuery(WITH_STATE, {**_WINDOWS, **_TWICE}),
    "window-update": ModelledQuery(WITH_STATE, {"output": "changed-rows"}),
    "window-complete": ModelledQuery(WITH_STATE, _TOTALS),
    "total-update": ModelledQuery(WITH_STATE, _TOTALS),
    "total-update-two-writes": ModelledQuery(WITH_STATE, {**_TOTALS, **_TWICE}),
    "apply-with-state": ModelledQuery(WITH_STATE, _TOTALS),
    "transform-totals": ModelledQuery(WITH_STATE, _TOTALS),
    "transform-totals-pandas": ModelledQuery(WITH_STATE, _TOTALS),
    "transform-windows": ModelledQuery(WITH_STATE, _WINDOWS),
    "distinct": ModelledQuery(WITH_STATE, {"output": "new-rows-for-ever"}),
    "distinct-by-time": ModelledQuery(WITH_STATE, _NEW),
    "distinct-within-watermark": ModelledQuery(WITH_STATE, _NEW),
    "join-inner": ModelledQuery(WITH_STATE, _JOINED, stores=4),
    "join-left": ModelledQuery(WITH_STATE, _OUTER, stores=4),
    "join-full": ModelledQuery(WITH_STATE, _OUTER, stores=4),
    "join-semi": ModelledQuery(WITH_STATE, _JOINED, stores=4),
    "session-append": ModelledQuery(WITH_STATE, {"output": "paired-windows"}),
    "window-of-windows": ModelledQuery(
        WITH_STATE, {"operators": "windows-first", "output": "paired-windows"}
    ),
    "distinct-then-window": ModelledQuery(
        WITH_STATE, {"operators": "duplicates-first", **_WINDOWS}
    ),
}
"""The queries of the catalogue that the model predicts."""

STEPS: Mapping[GridFault, tuple[str, str]] = {
    GridFault.BEFORE_OFFSETS: ("before", "log_offsets"),
    GridFault.AFTER_OFFSETS: ("after", "log_offsets"),
    GridFault.IN_TASKS: ("after", "work"),
    GridFault.BEFORE_COMMITS: ("before", "log_commit"),
    GridFault.BEFORE_LOGS: ("after", "end_batch"),
}
"""Where the driver dies: before the first step of that name for the batch, or after.
``work`` stands for the step of the engine's model."""

HELD_BACK: Mapping[GridFault, str] = {GridFault.BEFORE_LOGS: "log_offsets"}
"""The step of the fault's batch that was possible before the fault, and not taken."""

STEPS_WITHOUT_DATA: Mapping[str, str] = {
    "log_offsets": "log_without_data",
    "log_commit": "commit_without_data",
}
"""What these steps are of a batch without data, each for the batch before. Its tasks
have no step of their own."""

TASK_FAULTS: Mapping[GridFault, tuple[str, str]] = {
    GridFault.TASK_BEFORE_STATE: ("before", "fail_task"),
    GridFault.TASK_AFTER_STATE: ("after", "fail_task"),
}
"""The fault that hits the first attempt of each task, before its work or after."""

CRASH = "crash"
"""The fault that ends a driver."""
LOGGED = "log_offsets"
NEXT_BATCH = (LOGGED, "plan_batch", "start_batch")
"""The step that logs a batch of data, and those that are possible only if there is one.
"""

OWN_QUERY = "a query of yours"
IN_LAST_TASKS = "a fault in tasks of the batch without data"
NOT_THERE = "a fault in a batch that the model has not"

UNPREDICTED: Mapping[str, str] = {
    OWN_QUERY: "the model is of the queries of the catalogue",
    str(GridFault.TORN_COMMITS): "an entry of a log is there or not in the model",
    IN_LAST_TASKS: "these tasks are one step of the model",
    NOT_THERE: "no run of the model reaches the fault",
}
"""Why a query, a setting or a fault of the grid has no prediction."""


def parts_of(query: QuerySpec, configuration: QueryConfiguration) -> dict[str, str]:
    """Return the parts of the model of a query that is modelled so."""
    parts = dict(QUERIES[query.name].parts)
    settings = engine_of(query, configuration).settings
    for setting in CHOICES:
        parts |= settings[setting][getattr(configuration, setting)]
    return parts


def engine_of(query: QuerySpec, configuration: QueryConfiguration) -> EngineModel:
    """Return the model of a query of the catalogue that is modelled."""
    engine = QUERIES[query.name].engine
    if configuration.progress == "async" and engine.later is not None:
        return engine.later
    return engine


def unmodelled(query: QuerySpec, configuration: QueryConfiguration) -> str:
    """Return the name of what the model does not have; the empty text if it has all."""
    if query != every_query().get(query.name):
        return OWN_QUERY
    if query.name not in QUERIES:
        return query.name
    settings = engine_of(query, configuration).settings
    for setting in CHOICES:
        value = getattr(configuration, setting)
        if value not in settings[setting]:
            return f"{setting}={value}"
    return ""
