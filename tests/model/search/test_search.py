"""The search reproduces published counts, and knows its limits."""

from __future__ import annotations

import pytest

from onceproof.model.language.tracing.trace import trace
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.protocols.transaction_commit import TransactionCommit
from onceproof.model.protocols.two_phase_commit import TwoPhaseCommit
from onceproof.model.search.compiling import compiled
from onceproof.model.search.exhaustive import explore
from onceproof.model.search.limits import Limits
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.sinks.reference import reference_sinks


def counts(protocol):
    found = explore(trace(protocol))
    return found.distinct, found.generated, found.depth


@pytest.mark.parametrize("n", range(2, 8))
def test_two_phase_commit_has_the_published_counts(n):
    """distinct, generated and depth are those of TLC on TwoPhase.tla."""
    expected = (
        6**n + 4**n + 2**n,
        (n + 1) * 4**n + 4 * n * 6**n // 3 + n * 2**n + 2,
        3 * n + 2,
    )

    found = counts(TwoPhaseCommit(RM=n))

    assert found == expected


@pytest.mark.grid
@pytest.mark.parametrize("n", [8, 9])
def test_two_phase_commit_has_the_published_counts_at_large_sizes(n):
    """The same for 8 and 9 participants: ten million states."""
    expected = 6**n + 4**n + 2**n

    found = counts(TwoPhaseCommit(RM=n))

    assert found[0] == expected


@pytest.mark.parametrize("n", range(2, 7))
def test_transaction_commit_has_the_published_counts(n):
    """distinct and depth are those of TLC on TCommit.tla; generated too at N=3."""
    expected = (3**n + 2**n - 1, 2 * n + 1)

    distinct, generated, depth = counts(TransactionCommit(RM=n))

    assert (distinct, depth) == expected
    assert n != 3 or generated == 94


@pytest.mark.parametrize("limits", [Limits(states=100), Limits(memory=1000)])
def test_a_limit_leaves_claims_undecided(limits):
    """A search that gave up has shown nothing."""
    report = check(TwoPhaseCommit(RM=6), limits=limits)

    agreement = report.verdicts["agreement"]

    assert agreement is Verdict.UNDECIDED
    assert report.exploration is not None
    assert report.exploration.stopped


def test_code_is_compiled_once(monkeypatch, tmp_path):
    """The second search of a model compiles nothing."""
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path))
    counts(TwoPhaseCommit(RM=2))

    monkeypatch.setattr(compiled, "_compile", None)

    assert counts(TwoPhaseCommit(RM=2))[0] == 56


@pytest.mark.parametrize("name", sorted(reference_sinks()))
def test_each_sink_of_the_model_breaks_what_its_file_states(name):
    """Exhaustive search refutes just what the sink's file names."""
    sink = reference_sinks()[name]

    report = check(MicroBatch(sink=sink.model, **sink.parameters))

    refuted = {n for n, v in report.verdicts.items() if v is Verdict.REFUTED}
    assert refuted == sink.refuted | sink.unseen
    assert Verdict.VACUOUS not in report.verdicts.values()
