"""Right sinks are held and wrong ones refuted, each by the faults that show it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from onceproof.properties.counterexample.file import TraceStep
from onceproof.properties.judges.by_history import broken
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.plan.choice import Choice, faults_of
from onceproof.spark_checks.report.assessment import (
    CLAIMED,
    OFF,
    AssessmentRequest,
    judge,
)
from onceproof.spark_checks.report.counterexamples import RequestingTest
from tests.spark_checks.mutants import (
    data_sources,
    in_tasks,
    on_the_driver,
    whole_queries,
    with_a_writer,
)
from tests.spark_checks.mutants.mutant import DRIVER_DIES, KINDS, TWO_FAULTS, kind_of

HERE = Path(__file__).parent / "mutants"
ROOMS = (on_the_driver, in_tasks, with_a_writer, data_sources, whole_queries)
MUTANTS = {m.name: m for room in ROOMS for m in room.MUTANTS}
NAMED = [{"id": f"e{n}", "amount": 8**n, "name": "ab"[n % 2]} for n in range(4)]
QUICK = [
    pytest.param("trusts_any_file", "fail_in_task", marks=pytest.mark.grid),
    ("first_file_stays", "fail_above"),
    pytest.param("abort_rewrites_in_place", "crash_in_abort", marks=pytest.mark.grid),
]
"""Mutants whose mistake is looked for before each change, each by one fault."""


@pytest.fixture
def judged(pool, tmp_path):
    def ask(mutant, **more):
        few = {"events": NAMED, "partitions": 1, "choice": Choice()}
        words = {**few, **mutant.words, **more}
        claims = words.pop("claims", CLAIMED)
        test = RequestingTest("", ("id",), (), claims)
        question = AssessmentRequest(HERE, tmp_path, test=test, trace=OFF, **words)
        return judge(mutant.build, question, pool=pool)

    return ask


def kinds_that_break(found, mutant):
    """Give the kinds of fault of the interleavings that break a claim."""
    claims = mutant.words.get("claims", CLAIMED)
    return {
        kind_of(faults_of(o.interleaving))
        for o in found.report.replayed
        if o.spark is not None and any(broken(p, o.spark) for p in claims)
    }


def test_there_are_thirty_of_each_and_a_mistake_for_each_kind_of_fault():
    """A checker that leaves out any one kind of fault misses some mistake."""
    known = [m for room in ROOMS for m in room.MUTANTS]

    assert len(known) == len(MUTANTS)
    assert Counter(m.wrong for m in known)[True] >= 30
    assert Counter(m.wrong for m in known)[False] >= 30
    alone = {kind for m in known if len(m.shown_by) == 1 for kind in m.shown_by}
    assert alone == {*KINDS.values(), TWO_FAULTS}


@pytest.mark.spark
@pytest.mark.grid
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_judged_as_it_is(judged, name):
    """A right one is held; a wrong one is broken by the kinds of fault it names."""
    mutant = MUTANTS[name]

    found = judged(mutant)

    assert kinds_that_break(found, mutant) == mutant.shown_by
    assert found.verdict is (Verdict.REFUTED if mutant.wrong else Verdict.HELD)


@pytest.mark.spark
@pytest.mark.parametrize(("name", "fault"), QUICK)
def test_a_mistake_is_seen_by_one_kind_of_fault(judged, name, fault):
    """The one fault that shows it is enough."""
    mutant = MUTANTS[name]

    found = judged(mutant, choice=Choice(steps=(TraceStep(fault, (), True, {}),)))

    assert kinds_that_break(found, mutant) == mutant.shown_by
    assert found.verdict is Verdict.REFUTED


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "fault"),
    [("remembers_in_a_worker", "crash_in_commit"), ("commits_are_remembered", "crash")],
)
def test_what_a_worker_remembers_ends_with_the_driver(judged, name, fault):
    """It knows nothing of what was put, as a worker of another application does."""
    mutant = MUTANTS[name]

    death = TraceStep(fault, (), True, {})
    found = judged(mutant, choice=Choice(steps=(death,)))

    assert kinds_that_break(found, mutant) == {DRIVER_DIES}
    assert found.verdict is Verdict.REFUTED


@pytest.mark.spark
@pytest.mark.grid
def test_a_repair_that_is_cut_short_is_seen(judged):
    """A second fault hits a line that runs only after a first."""
    mutant = MUTANTS["forgets_while_it_recovers"]

    found = judged(mutant, stop=True)

    assert found.verdict is Verdict.REFUTED
    assert kinds_that_break(found, mutant) == {TWO_FAULTS}
