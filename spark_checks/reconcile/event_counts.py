"""How often each event of a source is seen in a sink, counted by Spark."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from decimal import Context, Inexact
from functools import reduce
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.spark_checks.own_session import sentences
from onceproof.spark_checks.reconcile import spark_job
from onceproof.spark_checks.reconcile.chance import by_chance
from onceproof.spark_checks.reconcile.comparable import key_names, sum_names

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from pyspark.sql import DataFrame, Row, SparkSession

    from onceproof.spark_checks.reconcile.request import ReconcileRequest

MOST_OUTCOMES = 100_000
# Python adds up to 28 digits, and Spark has 38; what is not exact raises.
_EXACT = Context(prec=100, traps=[Inexact])

_LEAVE_OUT = (
    "spark.sql.files.ignoreCorruptFiles",
    "spark.sql.files.ignoreMissingFiles",
)

MISSING, DUPLICATED, UNEXPLAINED = "missing", "duplicated", "unexplained"
CHANGED, REPEATED, UNIDENTIFIED = "changed", "repeated", "unidentified"


@dataclass(frozen=True)
class EventCount:
    """What became of some events of one group: the same of each."""

    by: str | None
    """The group that they belong to; None without groups, or where it is not known."""
    owed: bool
    """Whether they are owed; of rows without an event, whether they are judged."""
    sources: int
    """How many rows of the source each has: 0, 1, or 2 for more."""
    alike: bool
    """Whether these rows are the same; only looked at where the source may repeat."""
    visible: int
    """How often each is seen in the sink."""
    changed: bool
    """Whether each is seen once, and with other numbers than in the source."""
    identified: bool
    """Whether no part of their keys is null."""
    events: int
    """How many there are."""
    rows: int
    """How many rows of the source they have together."""
    sums: tuple[tuple[Decimal | None, Decimal | None], ...] = ()
    """The sum of each number, over the events and over their rows in the sink."""
    overflows: bool = False
    """Whether a sum has more digits than Spark holds."""

    @property
    def faults(self) -> tuple[str, ...]:
        """Return what is wrong with each of them."""
        if not self.identified and self.sources:
            return (UNIDENTIFIED,)
        found = {
            MISSING: self.owed and not self.visible,
            DUPLICATED: self.sources > 0 and self.visible > 1,
            UNEXPLAINED: self.owed and not self.sources,
            CHANGED: self.changed,
            REPEATED: self.sources > 1,
        }
        return tuple(name for name, wrong in found.items() if wrong)


@dataclass(frozen=True)
class EventCounts:
    """What became of all events, and a few of those of which something is wrong."""

    outcomes: tuple[EventCount, ...]
    """The outcomes, in order of their groups."""
    examples: dict[str, tuple[dict[str, str | None], ...]]
    """For each fault a few keys, each by the expressions over the source."""
    chance: str = ""
    """What in a query or a view gives other rows when it is read again, if anything."""


def count_events(
    source: DataFrame, sink: DataFrame, request: ReconcileRequest
) -> EventCounts:
    """Count how often each event of the source is in the sink, and sum up numbers.

    Raises ``UsageError`` for expressions that Spark cannot read, keys or numbers that
    cannot be compared, tables that cannot be read, and too many groups.
    """
    with sentences():
        rows = spark_job.rows_of(source, sink, request)
        chance = by_chance(rows)
        counted = spark_job.by_outcome(spark_job.by_key(rows, request), request)
        found = counted.limit(MOST_OUTCOMES + 1).collect()
        if len(found) > MOST_OUTCOMES:
            message = (
                f"by={request.by!r} gives more groups than can be listed; take one "
                "that gives fewer, such as a day"
            )
            raise UsageError(message)
        numbers = _numbers_of_examples(found, request)
        keys = (
            spark_job.with_numbers(rows, numbers, request).collect() if numbers else []
        )
    return EventCounts(
        _joined(_outcome(row, request) for row in found),
        _by_fault(keys, request),
        chance,
    )


def left_out(spark: SparkSession) -> tuple[str, ...]:
    """Say by which settings Spark may leave out rows, a sentence each."""
    with sentences():
        on = [name for name in _LEAVE_OUT if _on(spark, name)]
    return tuple(
        f"{name} is on, so that rows may have been left out; turn it off" for name in on
    )


def _on(spark: SparkSession, name: str) -> bool:
    return str(spark.conf.get(name)).strip().lower() == "true"


def _numbers_of_examples(found: Iterable[Row], request: ReconcileRequest) -> list[int]:
    wanted: dict[str, set[int]] = defaultdict(set)
    for row in found:
        for name in _outcome(row, request).faults:
            wanted[name].update(row["numbers"])
    return sorted(
        {n for some in wanted.values() for n in sorted(some)[: spark_job.EXAMPLES]}
    )


def _outcome(row: Row, request: ReconcileRequest) -> EventCount:
    """Read a row of counted events, or of a single one."""
    given = row.asDict()
    sums = [(given[f"{n}_source"], given[f"{n}_sink"]) for n in sum_names(request)]
    sides = [f"{n}_{side}" for n in sum_names(request) for side in ("source", "sink")]
    return EventCount(
        by=given["by"],
        owed=given["owed"],
        sources=given["sources"],
        alike=given["alike"],
        visible=given["visible"],
        changed=given["changed"],
        identified=given["identified"],
        events=given.get("events", 1),
        rows=given["rows"],
        sums=tuple(sums),
        overflows=any(given.get(f"{name}_overflows") for name in sides),
    )


def _joined(found: Iterable[EventCount]) -> tuple[EventCount, ...]:
    """Join the outcomes that differ in nothing but in how many events have them."""
    alike: dict[tuple[Any, ...], EventCount] = {}
    for one in found:
        by = (one.by is not None, one.by or "")
        counted = (not one.owed, one.sources, one.visible)
        key = (by, *counted, one.alike, one.changed, one.identified)
        alike[key] = _added(alike[key], one) if key in alike else one
    return tuple(alike[key] for key in sorted(alike))


def _added(one: EventCount, other: EventCount) -> EventCount:
    pairs = zip(one.sums, other.sums, strict=True)
    return replace(
        one,
        events=one.events + other.events,
        rows=one.rows + other.rows,
        sums=tuple((total((a[0], b[0])), total((a[1], b[1]))) for a, b in pairs),
        overflows=one.overflows or other.overflows,
    )


def total(values: Iterable[Decimal | None]) -> Decimal | None:
    """Add up what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return reduce(_EXACT.add, known) if known else None


def _by_fault(
    keys: Iterable[Row], request: ReconcileRequest
) -> dict[str, tuple[dict[str, str | None], ...]]:
    found: dict[str, list[dict[str, str | None]]] = defaultdict(list)
    texts = [f"{name}_text" for name in key_names(request)]
    names = [pair.source for pair in request.key]
    for row in sorted(keys, key=lambda row: [row[text] or "" for text in texts]):
        shown = {name: row[text] for name, text in zip(names, texts, strict=True)}
        for fault in _outcome(row, request).faults:
            found[fault].append(shown)
    return {fault: tuple(some[: spark_job.EXAMPLES]) for fault, some in found.items()}
