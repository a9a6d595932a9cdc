"""Judges a sink on a store as a test of one batch does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.properties.guarantees import EFFECTIVELY_ONCE
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.report.assessment import AssessmentRequest, judge
from onceproof.spark_checks.report.counterexamples import RequestingTest

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.spark_checks.report.assessment import Assessment
    from onceproof.spark_checks.session.session_pool import SessionPool
    from onceproof.spark_checks.stores.interface import Store

EVENTS = "id string, amount long"


def judged_on(
    store: Store,
    build: Callable[[Any], Any],
    pool: SessionPool,
    folder: Path,
    choice: Choice | None = None,
) -> Assessment:
    """Judge whether a batch takes effect once."""
    test = RequestingTest("", ("id",), (), (EFFECTIVELY_ONCE,), ())
    request = AssessmentRequest(
        Path(__file__).parent,
        folder,
        events=EVENTS,
        test=test,
        choice=choice or Choice(),
        batches=1,
        store=store,
    )
    return judge(build, request, pool=pool)
