"""One crash is replayed for all points at which it leaves the same, and no other is."""

from __future__ import annotations

import pytest

from onceproof.spark_checks.plan.choice import Choice, faults_of
from onceproof.spark_checks.plan.expansion import expanded
from onceproof.spark_checks.plan.merged_points import alike, merged
from onceproof.spark_checks.plan.plans import Plans
from onceproof.spark_checks.plan.rules import LINES
from onceproof.spark_checks.plan.run_plan import InjectionPoint
from onceproof.spark_checks.sinks.code_points import CodePoint, SeenPoints
from tests.spark_checks.plan.test_fault_kinds import kind_and_sink

TEXTS = tuple(f"line {n} of x.py, write()" for n in range(5))


def points(*unchanged):
    """Five lines; those that are named have nothing before them."""
    return tuple(
        CodePoint(text, unchanged=n in unchanged) for n, text in enumerate(TEXTS)
    )
