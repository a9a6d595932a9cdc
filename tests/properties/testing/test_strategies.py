"""What is drawn of a protocol fails as it may, and shrinks to the simplest of it."""

from __future__ import annotations

import functools
import itertools
import random
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis.errors import NoSuchExample

from onceproof.model.errors import UsageError
from onceproof.model.interleavings import failing_runs
from onceproof.model.interleavings.enumeration import interleavings as enumerated
from onceproof.model.language import Protocol, action, fault, not_, state, when
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import make
from onceproof.model.traces import follow
from onceproof.properties.ledger import of_protocol
from onceproof.properties.testing.strategies import _walks, interleavings

FIXED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
)


class Lamp(Protocol):
    """Is switched on and off for ever, until it breaks."""

    on = state(False)
    broken = state(False)
    seen = state(False)

    @action
    def switch(self) -> None:
        """Change."""
        when(not_(self.broken))
        self.on = not_(self.on)

    @action
    def look(self) -> None:
        """Find it broken."""
        when(self.broken)
        self.seen = True

    @fault
    def crack(self) -> None:
        """Break while it is on."""
        when(self.on)
        self.broken = True


class Sound(Protocol):
    """No fault can happen."""

    on = state(False)

    @action
    def switch(self) -> None:
        """Change."""
        self.on = not_(self.on)


class Spared(Sound):
    """A fault could happen only in a state that is never met."""

    never = state(False)

    @action
    def switch(self) -> None:
        """Switch on, for good."""
        when(not_(self.on))
        self.on = True

    @fault
    def harm(self) -> None:
        """Strike."""
        when(self.never)
        self.on = False


@functools.cache
def micro_batch(faults: int):
    return make("micro-batch", {"sink": "append", "faults": str(faults)})


@functools.cache
def failing(faults: int):
    return interleavings(micro_batch(faults))


@functools.cache
def listed(faults: int):
    return [one.trace for one in enumerated(micro_batch(faults)).classes]


def simplest(strategy, claim=lambda _: True, *, seed=0):
    """Shrink to the simplest that is found."""
    return find(
        strategy,
        claim,
        settings=settings(FIXED, max_examples=100, derandomize=False),
        random=random.Random(seed),
    )


def faults_of(run) -> list[str]:
    return [event.name for event in run.events if event.fault]


@pytest.mark.parametrize("most", [1, 2])
def test_what_is_drawn_is_a_failing_behaviour_that_comes_to_rest(most):
    """Followed in plain Python it is the same run, and ends where nothing moves."""
    protocol = micro_batch(2)
    reference = Interpreter(protocol)

    @settings(FIXED, max_examples=60)
    @given(interleavings(protocol, faults=most))
    def judge(run):
        assert follow(reference, run.start, run.events) == run
        assert reference.resting(run.states[-1])
        assert 1 <= len(faults_of(run)) <= most

    judge()


def test_every_class_is_drawn_and_none_twice():
    """One fault makes few classes; as many examples draw each of them once."""
    drawn = Counter()

    @settings(FIXED, max_examples=100)
    @given(failing(1))
    def draw(run):
        drawn[run] += 1

    draw()

    assert set(drawn) == set(listed(1))
    assert set(drawn.values()) == {1}


def test_an_interleaving_shrinks_to_the_fewest_faults_steps_and_switches():
    """What one fault breaks is seldom shown by two, or by longer or restless runs."""
    reference = Interpreter(micro_batch(2))

    def repeated(run):
        ledger = of_protocol(reference.look(run.states[-1]))
        return any(ledger.visible(event) > 1 for event in ledger.events())

    found = [
        failing_runs.size(reference, simplest(failing(2), repeated, seed=seed))
        for seed in range(8)
    ]

    sizes = [failing_runs.size(reference, one) for one in listed(2) if repeated(one)]
    assert min(sizes)[0] == 1
    assert max(sizes)[0] == 2
    assert found.count(min(sizes)) >= 6


def test_the_simplest_interleaving_of_all_comes_first():
    """Fewest faults, then fewest steps, then fewest changes of process."""
    protocol = micro_batch(2)
    reference = Interpreter(protocol)

    found = simplest(failing(2))

    assert failing_runs.size(reference, found) == min(
        failing_runs.size(reference, one) for one in listed(2)
    )


def test_a_switch_is_counted_where_the_process_changes():
    """A task's steps are one process's, however many members each names."""
    reference = Interpreter(micro_batch(1))
    events = {str(event): event for event in reference.events()}

    def switches(*names):
        return failing_runs.context_switches(
            reference, [events[name] for name in names]
        )

    tasks = ["start_task(0, 0)", "write(0, 0, 0)", "start_task(1, 0)", "write(0, 1, 0)"]
    assert switches(*tasks) == 1
    assert switches(tasks[0], tasks[2], tasks[1], tasks[3]) == 3
    assert switches("crash()", "restart()") == 0
    assert switches("restart()", "log_offsets(0)") == 1


@pytest.mark.parametrize(
    "protocol",
    [
        Lamp(),
        make("micro-batch", {"BATCH": "3", "PARTITION": "3", "faults": "3"}),
        make("two-phase-commit-log", {}),
        make("two-phase-commit-sink", {}),
    ],
    ids=["round for ever", "too large", "a log", "too many runs"],
)
def test_what_cannot_be_listed_is_walked(protocol):
    """Each walk is a behaviour with a fault, within the bound on steps."""
    reference = Interpreter(protocol)
    seen, places = Counter(), set()

    @settings(FIXED, max_examples=40)
    @given(interleavings(protocol))
    def judge(run):
        assert follow(reference, run.start, run.events) == run
        assert 1 <= len(faults_of(run)) <= protocol.argument(Protocol.faults)
        assert len(run.steps) <= failing_runs.MOST_STEPS
        assert all(a != b for a, b in itertools.pairwise(run.states))
        seen.update(faults_of(run))
        places.add(next(i for i, event in enumerate(run.events) if event.fault) // 5)

    judge()

    assert len(places) > 1
    assert set(seen) <= {s.name for s in reference.steps.values() if s.fault}


def test_a_walk_shrinks_to_few_faults_and_steps():
    """What needs one fault and one batch is shown by no more."""
    protocol = make("micro-batch", {"BATCH": "2", "PARTITION": "1", "faults": "2"})
    reference = Interpreter(protocol)

    def repeated(run):
        ledger = of_protocol(reference.look(run.states[-1]))
        return any(ledger.visible(event) > 1 for event in ledger.events())

    found = simplest(_walks(reference, 2), repeated)

    names = [event.name for event in found.events]
    assert len(faults_of(found)) == 1
    assert names.count("write") == 2
    assert len(names) <= 10


def test_fewer_faults_than_the_protocol_allows_can_be_asked_for():
    """With one there is none that holds two; without a bound there is."""
    protocol = micro_batch(2)

    def twice(run):
        return len(faults_of(run)) == 2

    simplest(failing(2), twice)
    with pytest.raises(NoSuchExample):
        simplest(interleavings(protocol, faults=1), twice)


@pytest.mark.parametrize(
    ("protocol", "faults", "answer"),
    [
        (Sound(), None, "nothing can fail in sound; declare a @fault"),
        (Spared(), None, "no run of spared holds a fault; look at the guards of harm"),
        (Lamp(), 2, "faults must be 1 to 1, .*; make it with faults=2"),
        (Lamp(), 0, "make it with faults=1"),
    ],
)
def test_what_holds_no_failure_is_refused(protocol, faults, answer):
    """Up front, with the fix."""
    with pytest.raises(UsageError, match=answer):
        interleavings(protocol, faults=faults)


def test_only_strategies_and_machines_need_hypothesis():
    """All else of the floor is of use without it."""
    code = (
        "import sys; import onceproof.properties.testing.event_batches, "
        "onceproof.model.interleavings.failing_runs, "
        "onceproof.properties.judges.by_search; "
        "sys.exit('hypothesis' in sys.modules)"
    )

    status = subprocess.run([sys.executable, "-c", code], check=False).returncode

    assert status == 0
