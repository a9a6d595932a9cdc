"""The judgement: counts of a source and a sink, as the properties see them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from onceproof.properties.judges.by_history import broken
from onceproof.properties.ledger import EventOutcome, History, Row, of_history
from onceproof.properties.verdicts import Verdict, exit_status
from onceproof.properties.words.readers import AT_REST
from onceproof.spark_checks.reconcile import event_counts
from onceproof.spark_checks.reconcile.event_counts import (
    EventCount,
    EventCounts,
    count_events,
)
from onceproof.spark_checks.reconcile.group_counts import (
    GroupCounts,
    counts_data,
    counts_of,
)
from onceproof.spark_checks.reconcile.request import ReconcileRequest, request_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyspark.sql import DataFrame

    from onceproof.properties.property import Property

SUMS_AGREE = "sums-agree"


@dataclass(frozen=True)
class Reconciliation:
    """What a source and a sink have in common, and what the guarantees make of it."""

    request: ReconcileRequest
    """What was asked."""
    counted: EventCounts
    """What was counted."""
    verdicts: dict[str, Verdict]
    """The verdict on each claim, and on the sums where there are any."""
    problems: tuple[str, ...]
    """Why nothing is decided, where nothing is."""
    total: GroupCounts
    """The counts of all events."""
    groups: tuple[GroupCounts, ...]
    """The counts of each group, where there are groups."""
    seconds: float
    """How long it took."""

    @property
    def holds(self) -> bool:
        """Whether every verdict holds."""
        return all(verdict.holds for verdict in self.verdicts.values())

    @property
    def status(self) -> int:
        """Return 0 where all holds, 1 where something is refuted, else 2."""
        return exit_status(self.verdicts.values())

    @property
    def owed(self) -> str:
        """Say which events are owed."""
        if self.request.until:
            return f"{self.request.time} <= {self.request.until}"
        return "all events of the source"

    def to_json(self) -> dict[str, Any]:
        """Return it as data."""
        asked = self.request
        return {
            "key": [str(pair) for pair in asked.key],
            "owed": self.owed,
            "verdicts": {name: str(found) for name, found in self.verdicts.items()},
            "problems": list(self.problems),
            "total": counts_data(self.total, asked),
            "by": asked.by,
            "groups": [counts_data(one, asked) for one in self.groups],
            "examples": {name: list(v) for name, v in self.counted.examples.items()},
            "seconds": round(self.seconds, 3),
        }


def reconcile(
    source: DataFrame,
    sink: DataFrame,
    *,
    key: str | Sequence[str],
    time: str = "",
    until: str = "",
    by: str = "",
    sums: Sequence[str] = (),
    source_repeats: bool = False,
    claims: Sequence[str] = (),
) -> Reconciliation:
    """Judge a sink by its source: which events are missing, repeated, or from nowhere.

    ``key`` identifies an event: a column or an SQL expression over both tables, or
    ``SOURCE=SINK`` where they differ, or several of these. Events whose ``time``, again
    over both, is at most ``until`` are owed; without them all are. Later ones may be in
    the sink, and so may rows that no event explains yet. Counts are given for
    each group of ``by``, and the ``sums`` of numbers must agree there.
    ``source_repeats`` says that the source may hold an event more than once, each time
    the same row. ``claims`` are names of guarantees, by default all three that one look
    can judge.

    Both are read once, and a second time for examples where something is wrong. What
    changes meanwhile is seen as it is then: make the sink's table first, and let
    ``until`` be a time that lies well before. Raises ``UsageError``.
    """
    request = request_of(
        key=key,
        time=time,
        until=until,
        by=by,
        sums=sums,
        source_repeats=source_repeats,
        claims=claims,
    )
    return judge(source, sink, request)


def judge(
    source: DataFrame, sink: DataFrame, request: ReconcileRequest
) -> Reconciliation:
    """Judge a sink by its source, as a request asks. Raises ``UsageError``."""
    began = perf_counter()
    found = count_events(source, sink, request)
    left_out = event_counts.left_out(source.sparkSession)
    return judged(found, request, left_out, seconds=perf_counter() - began)


def judged(
    found: EventCounts,
    request: ReconcileRequest,
    left_out: Iterable[str] = (),
    *,
    seconds: float = 0,
) -> Reconciliation:
    """Judge what was counted; ``left_out`` says why rows may not have been read."""
    problems = (*left_out, *_of_chance(found), *_problems(found.outcomes, request))
    groups: dict[str | None, list[EventCount]] = defaultdict(list)
    for one in found.outcomes:
        groups[one.by].append(one)
    sums = len(request.sums)
    whole = counts_of(None, found.outcomes, sums=sums)
    counts = [counts_of(by, some, sums=sums) for by, some in groups.items()]
    counts = counts if request.by else []
    verdicts = {p.name: _verdict(p, found.outcomes, problems) for p in request.claims}
    if request.sums:
        verdicts[SUMS_AGREE] = _of_sums([whole, *counts], problems)
    return Reconciliation(
        request, found, verdicts, problems, whole, tuple(counts), seconds
    )


def history_of(outcomes: Iterable[EventCount]) -> History:
    """Return counts as the history that the properties read."""
    rows: dict[tuple[bool, int], int] = defaultdict(int)
    strays = 0
    for one in outcomes:
        if one.sources:
            rows[one.owed, one.visible] += one.events
        elif one.owed:
            strays += one.visible * one.events
    return History(
        (AT_REST,),
        tuple(
            Row(0, owed, (EventOutcome(promised=False, visible=seen),), number)
            for (owed, seen), number in sorted(rows.items())
        ),
        (strays,),
    )


def _verdict(
    prop: Property, outcomes: Iterable[EventCount], problems: Sequence[str]
) -> Verdict:
    if problems:
        return Verdict.UNDECIDED
    history = history_of(outcomes)
    if broken(prop, history):
        return Verdict.REFUTED
    ledger = of_history(history, 0)
    premises = [clause.premise for clause in prop.clauses if clause.premise]
    met = all(premise(ledger) for premise in premises)
    return Verdict.HELD if met else Verdict.VACUOUS


def _of_sums(counts: Iterable[GroupCounts], problems: Sequence[str]) -> Verdict:
    if problems:
        return Verdict.UNDECIDED
    found = list(counts)
    if any(one.changed or not one.agree for one in found):
        return Verdict.REFUTED
    known = all(value is not None for pair in found[0].sums for value in pair)
    met = known and any(one.owed for one in found)
    return Verdict.HELD if met else Verdict.VACUOUS


def _of_chance(found: EventCounts) -> Iterable[str]:
    """Say that another reading may give other rows, if that is so."""
    if found.chance:
        yield (
            f"another reading may give other rows, because of {found.chance} in a "
            "query or a view; help: remove it, or add an ORDER BY to a LIMIT"
        )


def _problems(
    outcomes: Sequence[EventCount], request: ReconcileRequest
) -> Iterable[str]:
    """Say why the counts decide nothing, a sentence each."""
    key = ", ".join(str(pair) for pair in request.key)
    nameless = sum(o.rows for o in outcomes if event_counts.UNIDENTIFIED in o.faults)
    if nameless:
        yield f"{nameless} rows of the source have null in their key ({key})"
    repeated = [o for o in outcomes if event_counts.REPEATED in o.faults]
    unlike = [o for o in repeated if not o.alike]
    number = sum(o.events for o in unlike or repeated)
    if unlike:
        yield (
            f"{number} keys belong to rows of the source that are not the same; "
            f"add to the key ({key}) what tells them apart"
        )
    elif repeated and not request.repeats:
        yield (
            f"{number} keys belong to more than one row of the source; add to the key "
            f"({key}) what tells them apart, or say that the source may repeat events"
        )
    if any(o.overflows for o in outcomes):
        yield "a sum has more digits than Spark holds; cast to fewer"
