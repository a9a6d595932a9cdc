"""Shows that close(None) follows a truncated input. Needs onceproof[spark]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.inputs.event_files import InputFiles
from onceproof.spark_checks.inputs.flights import flights_input
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.plan.rules import RUN_PROPERTY, Rule, RuleSet
from onceproof.spark_checks.session.scratch import Scratch
from onceproof.spark_checks.session.warm_session import WarmSession


class Writer:
    """Notes what each call to close was told."""

    def __init__(self, log: str) -> None:
        """Write notes to ``log``."""
        self.log = log
        self.rows = 0
        self.key = (0, 0)

    def open(self, partition_id: int, epoch_id: int) -> bool:
        """Begin a task."""
        self.key, self.rows = (partition_id, epoch_id), 0
        return True

    def process(self, row: Any) -> None:  # noqa: ARG002 - only counted
        """Count a row."""
        self.rows += 1

    def close(self, error: Exception | None) -> None:
        """Note how the task ended."""
        with Path(self.log).open("a") as log:
            log.write(f"task {self.key}: {self.rows} rows, error={error}\n")


def main() -> None:
    """Let the first attempt of a task fail above the writer, and print the notes."""
    scratch = Scratch()
    session = WarmSession(scratch.path / "session", scratch.path, ENTRY_POINTS)
    try:
        sizes = Sizes(events=100, batches=1, partitions=2)
        source = InputFiles(scratch.path / "flights", flights_input(sizes))
        source.offer(scratch.path / "input", 1)
        rule = Rule("begin_task", "call", 0, "die", partition=0, attempt=0)
        RuleSet((rule,), str(scratch.path), "shown").write(session.plans)
        session.spark.sparkContext.setLocalProperty(RUN_PROPERTY, "shown")
        log = scratch.path / "notes.txt"
        session.spark.conf.set("spark.sql.files.minPartitionNum", "2")
        session.spark.conf.set("spark.sql.files.openCostInBytes", str(4 * 2**20))
        frame = source.stream(session.spark, scratch.path / "input")
        started = (
            frame.writeStream.option("checkpointLocation", str(scratch.path / "ck"))
            .trigger(availableNow=True)
            .foreach(Writer(str(log)))
            .start()
        )
        started.awaitTermination()
        print(log.read_text())
    finally:
        session.stop()
        scratch.remove()


if __name__ == "__main__":
    main()
