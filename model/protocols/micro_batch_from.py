"""Micro-batches whose source is a part: one that may not give its events again."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.micro_batch import Driver, MicroBatch
from onceproof.model.protocols.parts.sinks.sink import Sink
from onceproof.model.protocols.parts.sinks.upsert import Upsert
from onceproof.model.protocols.parts.sources.replayable import Replayable


class MicroBatchFrom(MicroBatch):
    """Micro-batches from a source of any kind. Spark Structured Streaming, SIGMOD 2018.

    Armbrust and others, Structured Streaming, section 6.1: the engine requires a source
    that gives the events between two offsets again. The steps are those of
    ``MicroBatch``. If the source has the events of a logged batch no more, the batch
    runs empty: no task has a row, the sink gets none, and the engine goes on.
    """

    sink = part(Sink, default=Upsert)
    source = part(Replayable)

    @action
    def restart(self) -> None:
        """The driver starts, and reads where its logs end."""
        when(self.driver == Driver.DOWN)
        self.driver = Driver.PLANNING
        self.source.restart()

    @action(per=MicroBatch.BATCH)
    def start_batch(self, b: Member) -> None:
        """The driver runs a logged batch that is not committed."""
        when(
            self.driver == Driver.PLANNING,
            self.offsets == b + 1,
            self.commits == b,
            self.source.has(b),
        )
        self.driver = Driver.RUNNING
        self.source.read(b)

    @action(per=MicroBatch.BATCH)
    def run_empty(self, b: Member) -> None:
        """A logged batch has no events any more, and is logged as done."""
        when(
            self.driver == Driver.PLANNING,
            self.offsets == b + 1,
            self.commits == b,
            not_(self.source.has(b)),
        )
        self.commits = b + 1

    @lemma
    def keeps_what_is_committed(self) -> bool:
        """So it is of a batch whose events were never gone."""
        return all_of(
            implies(
                all_of(self._has_returned(b), self.source.has(b)), self.sink.kept(b)
            )
            for b in self.BATCH
        )
