"""Which batch a streaming query works on now, as its checkpoint says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.spark_checks.inject.checkpoint_edits import entries
from onceproof.spark_checks.inject.tracing.whereabouts import Whereabouts
from onceproof.spark_checks.plan.rules import LINES

if TYPE_CHECKING:
    from pathlib import Path

IN_BATCH = "a step of Spark's own in the batch"
BEFORE_BATCH = "a step of Spark's own before the batch"
"""The points of what Spark does where it runs none of the user's code."""


def running_batch(checkpoint: Path) -> Whereabouts:
    """Return where a query is that runs none of the user's code.

    A batch begins once its offsets are logged, and is done once its commit is. What
    comes before is of the batch that is next. A commit without content is a trap for
    the query, and says nothing.
    """
    last = max(entries(checkpoint, "offsets"), default=-1)
    try:
        done = (checkpoint / "commits" / str(last)).stat().st_size > 0
    except OSError:
        done = last < 0
    batch, point = (last + 1, BEFORE_BATCH) if done else (last, IN_BATCH)
    return Whereabouts(LINES, batch, None, None, point, 1)
