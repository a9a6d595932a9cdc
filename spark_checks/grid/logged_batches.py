"""What a query's logs name when a run ends, in terms of the model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.conformance.observed import Condition
from onceproof.spark_checks.inject.checkpoint_edits import entries
from onceproof.spark_checks.queries import events
from onceproof.spark_checks.replay.conformance.run_trace import EndOfRun, NumberedBatch

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from onceproof.spark_checks.grid.model_parts import EngineModel
    from onceproof.spark_checks.queries.sources.event_source import QueryInput

_MARKS = (0, *(events.millis(second) for second in events.WATERMARKS))
_OTHER = -1
"""The watermark after no batch: no state of the model has it."""


@dataclass(frozen=True)
class LoggedBatch:
    """An entry of the offset log."""

    sources: tuple[str, ...]
    """Where the batch ends, in each source."""
    read: int
    """How many of the batches that were offered have been read by then."""
    watermark: int
    """The watermark that it runs with, in milliseconds."""


@dataclass(frozen=True)
class BatchLogs:
    """The entries of both logs, by the ids of batches."""

    offsets: Mapping[int, LoggedBatch]
    """The offset log, with what earlier runs have read and Spark has purged since."""
    commits: Mapping[int, int]
    """The watermark after each batch that the commit log names, in milliseconds."""
    purged: frozenset[int] = frozenset()
    """The batches whose commits were logged and purged by Spark within one run."""

    @property
    def batches(self) -> dict[int, NumberedBatch]:
        """Number the batches with data; none where the first ones are not known.

        A batch without data ends where the one before it has ended.
        """
        found: dict[int, NumberedBatch] = {}
        numbers, before = 0, None
        for batch, logged in sorted(self.offsets.items()):
            if batch != len(found):
                return {}
            with_data = before is None or logged.sources != before.sources
            numbers += with_data
            found[batch] = NumberedBatch(numbers - 1, with_data)
            before = logged
        return found

    def end(self, engine: EngineModel, *, watermarked: bool) -> EndOfRun:
        """Say what is known of the end of the run that has left these logs.

        Nothing is where the first entries of the offset log are not known, or one is
        missing in between. A commit without offsets, or with none of the batch before,
        is no state of the model.
        """
        batches = self.batches
        if self.offsets and not batches:
            return EndOfRun(batches={})
        holds = []
        ids = {*self.commits, *self.purged}
        committed = {one: batches[one] for one in ids if one in batches}
        whole = ids == set(range(len(committed)))
        for number, logs in enumerate(engine.logs.items()):
            for name, known in zip(logs, (batches, committed), strict=True):
                at = _after(known, with_data=number == 0)
                if known is committed and not whole:
                    at = _OTHER
                kind = "batches" if number == 0 else "batches with one without data"
                what = f"{name}: the logs name {at} {kind}"
                holds.append((what, Condition(name, (), at)))
        if watermarked and engine.watermark and batches:
            holds += self._watermarks(batches, engine)
        # Without batches that have no data, each batch is numbered by its id, also one
        # that the log does not name yet.
        numbers = batches if len(engine.logs) > 1 else None
        return EndOfRun(holds=tuple(holds), batches=numbers)

    def _watermarks(
        self, batches: Mapping[int, NumberedBatch], engine: EngineModel
    ) -> list[tuple[str, Condition]]:
        """Say after which batch each watermark in the logs is the right one.

        A batch that was planned anew after a crash may have read more than one that was
        offered.
        """
        after = {0: 0}
        for batch, entry in self.offsets.items():
            if batches[batch].with_data and entry.read in range(len(_MARKS)):
                after[_MARKS[entry.read]] = batches[batch].number + 1
        begins, logged = engine.watermark
        found = []
        for batch, entry in sorted(self.offsets.items()):
            if batches[batch].with_data:
                at = after.get(entry.watermark, _OTHER)
                what = f"batch {batch} begins with the watermark {_named(at)}"
                place = (batches[batch].number,)
                found.append((what, Condition(begins, place, at)))
        if self.commits:
            at = after.get(self.commits[max(self.commits)], _OTHER)
            what = f"the commit log's last watermark is the one {_named(at)}"
            found.append((what, Condition(logged, (), at)))
        return found


def read_logs(
    checkpoint: Path,
    source: QueryInput,
    earlier: BatchLogs | None = None,
) -> BatchLogs:
    """Read the logs of a query that does not run; ``earlier`` is what they named."""
    offsets = {
        batch: _logged(checkpoint / "offsets" / str(batch), source)
        for batch in entries(checkpoint, "offsets")
    }
    kept = min(offsets, default=0)
    read = {} if earlier is None else earlier.offsets
    offsets = {n: one for n, one in read.items() if n < kept} | offsets
    commits = {
        batch: _last_line(checkpoint / "commits" / str(batch))["nextBatchWatermarkMs"]
        for batch in entries(checkpoint, "commits")
    }
    before = {} if earlier is None else earlier.commits
    first = min(commits, default=0)
    commits = {n: one for n, one in before.items() if n < first} | commits
    # Spark purges what it has of a batch in both logs, once a later one is committed.
    return BatchLogs(offsets, commits, frozenset(range(kept)) - set(commits))


def _after(known: Mapping[int, NumberedBatch], *, with_data: bool) -> int:
    numbers = [b.number for b in known.values() if b.with_data is with_data]
    return max(numbers, default=-1) + 1


def _logged(path: Path, source: QueryInput) -> LoggedBatch:
    version, settings, *sources = path.read_text(encoding="utf-8").splitlines()
    del version
    watermark = json.loads(settings)["batchWatermarkMs"]
    return LoggedBatch(tuple(sources), source.read_by(sources), watermark)


def _last_line(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8").splitlines()[-1])


def _named(number: int) -> str:
    if number == _OTHER:
        return "after no batch of these"
    return f"after {number} batches"
