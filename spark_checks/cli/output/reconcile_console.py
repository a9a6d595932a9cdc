"""What a reconciliation says to people: verdicts, counts, and a few events."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.sql.utils import is_remote
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from onceproof.model.text import printable
from onceproof.spark_checks.cli.output.console import marked, stderr, stdout

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from pyspark.sql import SparkSession
    from rich.console import Console

    from onceproof.spark_checks.reconcile.group_counts import GroupCounts
    from onceproof.spark_checks.reconcile.reconciliation import Reconciliation

MOST_GROUPS = 20
_PAUSE = 0.5


@contextmanager
def shown_progress(spark: SparkSession) -> Iterator[None]:
    """Show on a terminal how many tasks of the stage under way are done."""
    there = stderr()
    if not there.is_terminal or is_remote():
        yield
        return
    tracker, over = spark.sparkContext.statusTracker(), threading.Event()
    with Progress(console=there, transient=True) as progress:
        task = progress.add_task("reading", total=None)

        def follow() -> None:
            while not over.wait(_PAUSE):
                stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
                known = [stage for stage in stages if stage is not None]
                if known:
                    done = sum(stage.numCompletedTasks for stage in known)
                    total = sum(stage.numTasks for stage in known)
                    what = f"stage {max(stage.stageId for stage in known)}"
                    progress.update(task, description=what, completed=done, total=total)

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def show(found: Reconciliation, *, source: str, sink: str) -> None:
    """Print verdicts, counts by group, and examples of what is wrong."""
    out = stdout()
    out.print(Text(printable(f"source: {source}")), soft_wrap=True)
    out.print(Text(printable(f"sink:   {sink}")), soft_wrap=True)
    out.print(Text(printable(f"owed:   {found.owed}")), soft_wrap=True)
    out.print()
    verdicts = Table(box=None, pad_edge=False)
    verdicts.add_column("claim")
    verdicts.add_column("verdict")
    for name, verdict in found.verdicts.items():
        verdicts.add_row(name, marked(verdict))
    out.print(verdicts)
    for problem in found.problems:
        out.print(Text(printable(f"undecided: {problem}")), soft_wrap=True)
    out.print()
    _counts(out, found)
    for name, events in found.counted.examples.items():
        keys = "; ".join(
            ", ".join(f"{key}={value}" for key, value in event.items())
            for event in events
        )
        out.print(Text(printable(f"{name}, such as {keys}")), soft_wrap=True)


def _counts(out: Console, found: Reconciliation) -> None:
    """Print the counts of all, and of the groups in which something is wrong."""
    wrong = [one for one in found.groups if one.wrong]
    table = Table(box=None, pad_edge=False)
    if found.groups:
        table.add_column(printable(found.request.by))
    words = ("events", "owed", "once", "missing", "duplicated", "unexplained")
    for word in words:
        table.add_column(word, justify="right")
    for pair in found.request.sums:
        table.add_column(f"sum of {printable(str(pair))}", justify="right")
        table.add_column("in the sink", justify="right")
    if found.request.sums:
        table.add_column("changed", justify="right")
    for one in [*wrong[:MOST_GROUPS], found.total]:
        name = "all" if one is found.total else printable(one.by or "-")
        cells = [name] if found.groups else []
        cells += [f"{getattr(one, word)}" for word in words]
        cells += [_number(value) for pair in one.sums for value in pair]
        table.add_row(*cells, *([str(one.changed)] if found.request.sums else []))
    out.print(table)
    if found.groups:
        out.print(_of_groups(found, wrong))


def _of_groups(found: Reconciliation, wrong: list[GroupCounts]) -> str:
    more = len(wrong) - MOST_GROUPS
    shown = f"; {more} of them are not shown, --json has all" if more > 0 else ""
    return f"something is wrong in {len(wrong)} of {len(found.groups)} groups{shown}"


def _number(value: Decimal | None) -> str:
    return "-" if value is None else f"{value:f}"
