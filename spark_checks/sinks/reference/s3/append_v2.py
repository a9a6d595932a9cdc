"""foreachBatch that appends parquet files by FileOutputCommitter, algorithm 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.committed_files import PublishedByTask
from onceproof.spark_checks.sinks.interface import ModelledSink
from onceproof.spark_checks.sinks.reference.s3 import files
from onceproof.spark_checks.stores.s3.store import S3

if TYPE_CHECKING:
    from onceproof.spark_checks.sinks.interface import ForeachBatch, Target

COMMITTER = {
    "fs.s3a.committer.name": "file",
    "mapreduce.fileoutputcommitter.algorithm.version": "2",
}


def build(target: Target) -> ForeachBatch:
    """Append, whatever lies there."""
    return files.appends(target, COMMITTER)


SINK = ModelledSink(
    name="s3-append-v2",
    build=build,
    model=PublishedByTask,
    refuted=frozenset({"at-most-once", "effectively-once"}),
    unseen=frozenset({"atomic-visibility"}),
    store=S3(),
)
