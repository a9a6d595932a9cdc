"""A mistake: a wrong sink, what fixes it, and how both come out on real Spark."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onceproof.properties.judges.by_history import broken
from onceproof.properties.verdicts import Verdict
from onceproof.properties.words.readers import at_moment, readers_see
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.report.assessment import (
    CLAIMED,
    OFF,
    Assessment,
    AssessmentRequest,
    judge,
)
from onceproof.spark_checks.report.counterexamples import RequestingTest
from tests.docs.mistakes.table import ORDERS
from tests.test_house import ROOT

if TYPE_CHECKING:
    from onceproof.properties.property import Property
    from onceproof.spark_checks.session.session_pool import SessionPool
    from onceproof.spark_checks.sinks.interface import Build

HERE = ROOT / "tests" / "docs" / "mistakes"


@dataclass(frozen=True)
class Mistake:
    """What people do, and the fix.

    ``wrong`` and ``fixed`` begin with the function that builds the sink; what else
    is to be shown of its code follows. At ``most`` so many interleavings are replayed.
    """

    title: str
    wrong: tuple[Any, ...]
    fixed: tuple[Any, ...]
    fix: str
    claims: tuple[Property, ...] = field(default=CLAIMED)
    most: int = 60


def judged(build: Build, mistake: Mistake, pool: SessionPool) -> Assessment:
    """Judge a sink over eight orders in two batches, with one fault in each run."""
    question = AssessmentRequest(
        code=HERE,
        artifacts=HERE,
        events=ORDERS,
        test=RequestingTest(key=("order_id",), claims=mistake.claims),
        choice=Choice(most=mistake.most),
        trace=OFF,
        stop=True,
    )
    return judge(build, question, pool=pool)


@dataclass(frozen=True)
class Broken:
    """What a wrong sink breaks, what readers see of it, and the smallest failure."""

    guarantee: str
    moment: str
    seen: str
    failure: tuple[str, ...]


def how_it_breaks(found: Assessment, claims: tuple[Property, ...]) -> Broken:
    """Tell the smallest interleaving that breaks a claim.

    Raises ``ValueError`` where the sink is not refuted.
    """
    if found.verdict is not Verdict.REFUTED:
        message = f"{found.headline}: it is no mistake"
        raise ValueError(message)
    prop = next(p for p in claims if p.name == found.guarantee)
    outcome = found.report.first_break(prop)
    assert outcome is not None
    assert outcome.spark is not None
    place = broken(prop, outcome.spark)
    assert place is not None
    _, moment = place
    return Broken(
        prop.name,
        at_moment(outcome.spark.moments[moment]),
        readers_see(outcome.spark, moment).replace("events", "orders"),
        outcome.failpoints,
    )
