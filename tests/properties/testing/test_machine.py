"""A machine finds where plain Python code differs from a protocol, and shows it."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from onceproof.model.errors import UsageError
from onceproof.model.language import (
    Part,
    Protocol,
    action,
    fault,
    not_,
    one_of,
    part,
    state,
    when,
)
from onceproof.model.protocols.two_phase_commit import TwoPhaseCommit
from onceproof.properties.testing.state_machine import machine

FIXED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=40,
    phases=[Phase.generate, Phase.shrink],
    print_blob=False,
)


class Manager:
    """Counts votes as two-phase commit does."""

    def __init__(self) -> None:
        self.voted: set[int] = set()
        self.shares = ["working"] * 3
        self.decision = "init"

    def rm_prepare(self, r: int) -> None:
        self.shares[r] = "prepared"

    def rm_choose_to_abort(self, r: int) -> None:
        self.shares[r] = "aborted"

    def tm_rcv_prepared(self, r: int) -> None:
        self.voted.add(r)

    def tm_commit(self) -> None:
        self.decision = "committed"

    def tm_abort(self) -> None:
        self.decision = "aborted"

    def rm_rcv_commit(self, r: int) -> None:
        self.shares[r] = "committed"

    def rm_rcv_abort(self, r: int) -> None:
        self.shares[r] = "aborted"

    def ready(self) -> bool:
        return len(self.voted) == 3

    def check(self, view) -> None:
        assert self.shares == [view.rm[r].value for r in view.RM]
        assert self.decision == view.tm.value
        assert self.ready() == all(view.prepared_seen[r] for r in view.RM)


class Impatient(Manager):
    """Counts a vote again that arrives again."""

    def __init__(self) -> None:
        super().__init__()
        self.votes = 0

    def tm_rcv_prepared(self, r: int) -> None:
        self.votes += 1

    def ready(self) -> bool:
        return self.votes >= 3


class Store(Part):
    """Keeps one value."""

    kept = state(0, high=3)

    @action
    def publish(self) -> None:
        """Keep one more."""
        when(self.kept < 3)
        self.kept = self.kept + 1


class Keeper(Protocol):
    """Comes to rest; begins empty or not; may lose all."""

    sink = part(Store)
    old = state(one_of(0, 1), high=1)
    lost = state(False)

    @fault
    def lose(self) -> None:
        """Lose what was kept."""
        when(not_(self.lost))
        self.sink.kept = 0
        self.lost = True


class Shelf:
    """Keeps as ``Keeper`` does."""

    def start(self, view) -> None:
        self.old, self.kept = view.old, 0

    def sink_publish(self) -> None:
        self.kept += 1

    def lose(self) -> None:
        self.kept = 0

    def check(self, view) -> None:
        assert (self.old, self.kept) == (view.old, view.sink.kept)


def told(made, **changes) -> list[str]:
    """Give the steps of the failing example, as Hypothesis shows them."""
    with pytest.raises(AssertionError) as raised:
        run_state_machine_as_test(made, settings=settings(FIXED, **changes))
    notes = "\n".join(raised.value.__notes__).splitlines()
    return [n.removeprefix("state.") for n in notes if n.startswith("state.")][:-1]


def test_a_system_that_does_what_the_protocol_says_passes():
    """Through every action, and with it as a test case of unittest's."""
    case = machine(TwoPhaseCommit(), Manager).TestCase
    case.settings = FIXED

    case("runTest").runTest()


def test_a_seeded_bug_is_found_and_shown_in_the_fewest_steps():
    """One participant votes; its vote arrives three times."""
    steps = told(machine(TwoPhaseCommit(), Impatient))

    assert steps == ["rm_prepare(0)"] + ["tm_rcv_prepared(0)"] * 3


def test_parts_starts_faults_and_rest_are_taken_care_of():
    """The right one passes, past the state in which nothing can happen."""
    run_state_machine_as_test(machine(Keeper(), Shelf), settings=FIXED)


def test_a_start_is_shown_by_what_differs():
    """A system that begins wrongly is found wrong at its first step."""

    class Fresh(Shelf):
        def start(self, view):
            self.old, self.kept = 0, 0

    assert told(machine(Keeper(), Fresh)) == ["start(old=1)", "sink_publish()"]


def test_an_action_is_preferred_to_a_fault_and_the_first_to_a_later_one():
    """Where any step shows the bug, it is the first action that is shown."""

    class Blind(Manager):
        def check(self, view):
            raise AssertionError

    class Careless(Shelf):
        def check(self, view):
            raise AssertionError

    assert told(machine(TwoPhaseCommit(), Blind)) == ["tm_abort()"]
    assert told(machine(Keeper(), Careless))[1:] == ["sink_publish()"]


def test_a_step_that_is_ignored_happens_in_the_protocol_alone():
    """Its name may be spelled as the protocol's, or as the method's."""

    class Blank:
        def start(self, view):
            """Begin."""

        def lose(self):
            """Lose what is not there."""

        def check(self, view):
            assert view.sink.kept < 3

    for name in ("sink.publish", "sink_publish"):
        steps = told(machine(Keeper(), Blank, ignore=[name]))
        assert steps[-3:] == ["sink_publish()"] * 3


def test_what_is_missing_is_told_up_front():
    """All of it at once, with what may have been meant."""

    class Odd(Manager):
        rm_prepare = None
        tm_abort = None
        tm_rcv_prepare = None

        def rm_prepares(self, r):
            """Named otherwise."""

        def tm_commit(self, r):
            """Takes too much."""

    with pytest.raises(UsageError) as raised:
        machine(TwoPhaseCommit(), Odd, ignore=["tm_abort"])

    text = str(raised.value)
    assert "Odd does not go with two-phase-commit" in text
    assert "it lacks rm_prepare(rm), did you mean rm_prepares?" in text
    assert "tm_commit must take ()" in text
    assert "name it in ignore=" in text
    assert "tm_abort" not in text


def test_check_is_asked_for_and_start_where_there_are_several():
    """They are what a system is compared by."""
    with pytest.raises(UsageError, match=r"lacks check\(view\); it lacks start\(view"):
        machine(Keeper(), object, ignore=["sink.publish", "lose"])


def test_what_is_ignored_must_be_a_step():
    """A slip of the pen would ignore nothing."""
    with pytest.raises(UsageError, match="did you mean 'tm_commit'"):
        machine(TwoPhaseCommit(), Manager, ignore=["tm_comit"])
