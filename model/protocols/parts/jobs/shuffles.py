"""In what order a shuffle's rows are dealt out, and what runs again if it is lost."""

from __future__ import annotations

from onceproof.model.language import *

ROW = Sort("row", size=2, ordered=True)
REDUCER = Sort("reducer", size=2, ordered=True)
_MIXES = (
    "at-most-once",
    "at-least-once",
    "effectively-once",
    "atomic-visibility",
    "durable",
    "recoverable",
)


class SortedRows(Part):
    """Rows are sorted first, so that each run deals them out in the same order.

    SPARK-23207 sorts the rows before a round-robin repartition.
    """

    ROW = ROW

    def can_be_next(self, earlier_left: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether a row can be next, while an earlier one is left or not."""
        return not_(earlier_left)


class ArrivalOrder(SortedRows):
    """Rows are dealt out as they arrive, which another run may see in another order.

    SPARK-23207: what a shuffle fetches arrives in any order.
    """

    breaks = _MIXES

    def can_be_next(self, earlier_left: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Any row can."""
        return any_of(earlier_left, not_(earlier_left))


class MissingReducers(Part):
    """Only the reducers that have no result run again."""

    REDUCER = REDUCER

    def keeps(self, q: Member) -> bool:
        """Return whether a reducer's result stays where its input is computed again."""
        return q == q


class AllReducers(MissingReducers):
    """All reducers run again.

    SPARK-23243 does so where the order of their input may differ. If a reducer has
    published its result by then, Spark fails the job instead.
    """

    def keeps(self, q: Member) -> bool:
        """No result stays."""
        return q != q
