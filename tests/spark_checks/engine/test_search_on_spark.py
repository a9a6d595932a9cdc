"""A search on Spark finds what the search in one process finds, and can be resumed."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import assume

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import make
from onceproof.model.search.limits import Limits
from onceproof.properties.judges import by_search
from onceproof.spark_checks.engine.search import DamagedSearchError, explore_on_spark
from onceproof.spark_checks.engine.state_table import StateTable
from tests.examples import drawn_from
from tests.model.random_protocols import protocols
from tests.model.test_readers_agree import SETTINGS, levels

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark(pool):
    """Give a session of Spark."""
    with pool.session(attempts=2, partitions=2) as session:
        yield session.spark


def both(spark, protocol, **words):
    """Judge a protocol in this process and on Spark."""
    engine = partial(explore_on_spark, spark, folder=words.pop("folder", None))
    here = by_search.check(protocol, symmetry=words.get("symmetry", False))
    there = by_search.check(protocol, engine=engine, **words)
    return here, there


def assert_alike(here, there, least=2):
    """Counts, depths, verdicts and the lengths of traces are the same."""
    mine, theirs = here.exploration, there.exploration
    assert theirs.distinct == mine.distinct >= least
    assert theirs.generated == mine.generated
    assert theirs.depth == mine.depth
    assert theirs.never_taken == mine.never_taken
    assert there.verdicts == here.verdicts
    for one, other in zip(here.findings, there.findings, strict=True):
        assert (one.trace is None) == (other.trace is None)
        if one.trace is not None and other.trace is not None:
            assert len(other.trace.steps) == len(one.trace.steps)


@pytest.mark.grid
def test_counts_are_those_that_are_published(spark):
    """Two participants have 56 states, as TLC counts them."""
    here, there = both(spark, make("two-phase-commit", {"RM": "2"}))

    assert_alike(here, there)
    assert here.exploration.distinct == 56


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "settings", "symmetry"),
    [
        pytest.param("micro-batch", {"sink": "append"}, False, marks=pytest.mark.grid),
        ("two-phase-commit", {"RM": "4"}, True),
        pytest.param("raft-election-forgetful", {}, False, marks=pytest.mark.grid),
        pytest.param("chandy-lamport-unordered", {}, False, marks=pytest.mark.grid),
        pytest.param("transactions", {}, False, marks=pytest.mark.grid),
    ],
)
def test_verdicts_are_those_of_the_native_search(spark, name, settings, symmetry):
    """So for claims about states, steps, rest and recovery, and under symmetry."""
    here, there = both(spark, make(name, settings), symmetry=symmetry)

    assert_alike(here, there)


@pytest.mark.ci
@drawn_from(protocols(), few=3, many=20, like=SETTINGS)
def test_drawn_protocols_have_the_states_that_plain_python_finds(spark, drawn):
    """The verdicts are those of the native search, and traces as short."""
    found = levels(Interpreter(drawn()))
    claims = [
        claim
        for claim in by_search.claims_of(drawn())
        if claim.name not in ("comes", "answers")
    ]
    assume(found is not None)
    engine = partial(explore_on_spark, spark)

    here = by_search.check(drawn(), claims)
    there = by_search.check(drawn(), claims, engine=engine)

    assert there.exploration.distinct == len(found)
    assert_alike(here, there, least=1)


@pytest.mark.grid
def test_a_claim_about_fair_runs_is_undecided(spark):
    """Spark does not judge it, says so, and never reports that it holds."""
    here, there = both(spark, make("two-phase-commit-log-blocked", {}))

    assert str(here.verdicts["is-decided"]) == "refuted"
    finding = next(f for f in there.findings if f.property.name == "is-decided")
    assert str(finding.verdict) == "undecided"
    assert "fair runs" in finding.note


@pytest.mark.grid
def test_a_search_that_was_stopped_goes_on(spark, tmp_path, monkeypatch):
    """Levels that are there are not written again, and the result is the same."""
    protocol = make("two-phase-commit", {"RM": "2"})
    folder = tmp_path / "with a blank, %20 and a ' sign"
    _, stopped = both(spark, protocol, folder=folder, limits=Limits(states=10))
    written, write = [], StateTable._write
    monkeypatch.setattr(
        StateTable,
        "_write",
        lambda self, found, level: written.append(level) or write(self, found, level),
    )

    here, there = both(spark, protocol, folder=folder)

    assert stopped.exploration.stopped
    assert str(stopped.verdicts["agreement"]) == "undecided"
    assert_alike(here, there)
    before = stopped.exploration.depth
    assert before > 2
    assert written == list(range(before, here.exploration.depth + 1))


@pytest.mark.ci
def test_a_level_that_was_not_noted_is_written_again(spark, tmp_path):
    """What a killed search left of its last level does not count."""
    protocol = make("two-phase-commit", {"RM": "2"})
    both(spark, protocol, folder=tmp_path, limits=Limits(states=10))
    levels = sorted((tmp_path / "levels").glob("level=*"))
    half = tmp_path / "levels" / f"level={len(levels)}"
    half.mkdir()
    for file in levels[0].glob("*.parquet"):
        (half / file.name).write_bytes(file.read_bytes())

    here, there = both(spark, protocol, folder=tmp_path)

    assert_alike(here, there)


def test_states_that_are_gone_are_noticed(spark, tmp_path):
    """A search that lost states is refused: it would find too few."""
    protocol = make("two-phase-commit", {"RM": "2"})
    both(spark, protocol, folder=tmp_path, limits=Limits(states=20))
    next((tmp_path / "levels" / "level=2").glob("*.parquet")).unlink()

    with pytest.raises(DamagedSearchError, match="states of level 2"):
        both(spark, protocol, folder=tmp_path)
