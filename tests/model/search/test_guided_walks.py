"""Guided walks meet more of what outlives a crash, and are as honest as random ones."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.tracing.durable_fields import durable_fields
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
from onceproof.model.search.exhaustive import explore
from onceproof.model.search.swarm import _joined
from onceproof.model.search.visited_states import VisitedStates
from onceproof.properties.judges.by_search import simulate
from onceproof.properties.verdicts import Verdict
from tests.examples import drawn_from
from tests.model.random_protocols import protocols
from tests.model.search.walks import assert_honest
from tests.model.test_readers_agree import SETTINGS, levels


@drawn_from(protocols(), few=5, many=60, like=SETTINGS)
def test_they_refute_only_what_the_search_refutes(drawn):
    """No verdict goes beyond "held", and each walk that is shown can be followed."""
    protocol = drawn()
    reference = Interpreter(protocol)
    if levels(reference) is None:
        return

    report = simulate(protocol, walks=60, depth=12, seed=1, guided=True)

    assert_honest(report, reference, depth=12)


def test_each_durable_state_that_can_be_met_counts_once():
    """Walks that met every state met the durable parts that plain Python counts."""
    protocol = make("micro-batch", {"BATCH": "1"})
    system = trace(protocol)
    every = explore(system, keep=10**6)
    durable = durable_fields(system)
    paths = [f.path for f in system.fields for _ in f.places(system.sizes)]
    parts = {
        tuple(v for v, path in zip(state, paths, strict=True) if path in durable)
        for state in every.kept
    }

    walked = simulate(protocol, walks=4000, depth=100, seed=1, guided=True).run

    assert walked.distinct == every.distinct
    assert walked.durable == len(parts) < walked.distinct
    assert walked.curve[0][0] == 0
    assert walked.curve[-1] == (walked.steps, len(parts))
    assert walked.curve == sorted(walked.curve)


def test_none_goes_further_than_it_may():
    """Enough walks of three steps meet what three steps reach, and no more."""
    protocol = make("chandy-lamport", {"P": "3"})
    near = VisitedStates(trace(protocol))
    near.start()
    for _ in range(3):
        near.grow()

    walked = simulate(protocol, walks=2000, depth=3, seed=1, guided=True).run

    assert walked.distinct == near.count


def test_what_either_process_met_counts_at_the_steps_of_both():
    """The first time counts; while one process takes a step, so does the other."""
    assert _joined({b"a": 3, b"b": 5}, {b"b": 2, b"c": 4}) == {
        b"a": 6,
        b"b": 4,
        b"c": 8,
    }


def test_they_meet_more_durable_states_than_random_walks():
    """With fewer steps: two faults are needed at the right moments."""
    protocol = make("transactions", {"faults": "2"})

    uniform = simulate(protocol, walks=2000, depth=100, seed=1).run
    guided = simulate(protocol, walks=2000, depth=100, seed=1, guided=True).run

    assert guided.steps < uniform.steps
    assert guided.durable > 2 * uniform.durable


def test_one_process_finds_what_two_find():
    """A second thread lets nothing be forked; another seed walks elsewhere."""
    protocol = make("chandy-lamport-unordered", {"P": "3"})

    def walked(seed: int):
        found = simulate(protocol, walks=300, depth=40, seed=seed, guided=True)
        run, traces = found.run, [f.trace for f in found.findings]
        return run.distinct, run.durable, run.steps, run.curve, run.taken, traces

    done = threading.Event()
    forked, other = walked(5), walked(6)
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        alone = walked(5)
    finally:
        done.set()
        thread.join()

    assert forked == alone
    assert forked != other


DIES = """
import os
from onceproof.model.errors import OnceproofError
from onceproof.model.library import make
from onceproof.model.search import swarm
from onceproof.properties.judges.by_search import simulate

mine, walked = os.getpid(), swarm._walked
swarm._walked = lambda *words: walked(*words) if os.getpid() == mine else os._exit(3)
try:
    simulate(make("transactions", {}), walks=20, depth=10, seed=1, guided=True)
except OnceproofError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux only")
def test_a_process_that_dies_leaves_no_verdict():
    """What one process met is not taken for what both met."""
    done = subprocess.run(
        [sys.executable, "-c", DIES], capture_output=True, text=True, check=True
    )

    assert "ended before it answered, with status 3; nothing is judged" in done.stdout


@pytest.mark.parametrize(("walks", "depth"), [(0, 10), (10, 0), (0, 0)])
def test_walks_that_take_no_step_hold_nothing(walks, depth):
    """Where nothing was tried, nothing is said to hold."""
    protocol = make("chandy-lamport", {"P": "3"})

    report = simulate(protocol, walks=walks, depth=depth, seed=1, guided=True)

    assert {f.verdict for f in report.findings} == {Verdict.UNDECIDED}
