"""A reconciliation as a measurement, which a guarantee sheet lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.properties.evidence.measurements.measurement import (
    MeasuredCounts,
    MeasuredSum,
    Measurement,
    hashes_now,
)
from onceproof.spark_checks.reconcile.circumstances import moment

if TYPE_CHECKING:
    from decimal import Decimal

    from onceproof.spark_checks.reconcile.circumstances import Circumstances
    from onceproof.spark_checks.reconcile.reconciliation import Reconciliation


def measurement_of(found: Reconciliation, circumstances: Circumstances) -> Measurement:
    """Return what was counted with its tables and its moment."""
    asked, total = found.request, found.total
    command = circumstances.command
    return Measurement(
        source=circumstances.source,
        sink=circumstances.sink,
        key=tuple(map(str, asked.key)),
        owed=found.owed,
        by=asked.by,
        source_repeats=asked.repeats,
        began=moment(circumstances.began),
        ended=moment(circumstances.ended),
        verdicts=dict(found.verdicts),
        problems=found.problems,
        counts=MeasuredCounts(
            events=total.events,
            owed=total.owed,
            once=total.once,
            missing=total.missing,
            duplicated=total.duplicated,
            unexplained=total.unexplained,
            changed=total.changed,
            groups=len(found.groups),
            wrong_groups=sum(one.wrong for one in found.groups),
        ),
        sums=tuple(
            MeasuredSum(str(pair), _digits(ours), _digits(theirs))
            for pair, (ours, theirs) in zip(asked.sums, total.sums, strict=True)
        ),
        properties=hashes_now(tuple(prop.name for prop in asked.claims)),
        command=command and f"{command} --evidence",
        versions=dict(circumstances.versions),
    )


def _digits(value: Decimal | None) -> str | None:
    return None if value is None else f"{value:f}"
