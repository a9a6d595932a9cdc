"""What a verdict of replays is limited to: sizes, faults, the version of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.language.tracing.trace import trace
from onceproof.model.versions import versions_of
from onceproof.properties.judges.bounds import faults_of
from onceproof.properties.judges.by_search import parameters_of

if TYPE_CHECKING:
    from onceproof.spark_checks.replay.sink_report import SinkReport


def bounds_of_replay(report: SinkReport) -> str:
    """Return the sizes, the faults and the version that the runs of a sink had."""
    numbers = parameters_of(report.protocol)
    sizes = ", ".join(
        (
            _counted(numbers["BATCH"], "batch", "batches"),
            f"{_counted(numbers['PARTITION'], 'partition', 'partitions')} each",
            f"{_counted(numbers['ATTEMPT'], 'attempt', 'attempts')} of a task",
            _counted(report.given.events, "event", "events"),
        )
    )
    version = versions_of("pyspark")["pyspark"]
    return f"{sizes}; {faults_of(trace(report.protocol))}; Spark {version}"


def _counted(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"
