"""Interleavings: one of each class, sound and counted."""

from __future__ import annotations

import pytest

from onceproof.model.errors import UsageError
from onceproof.model.interleavings import interleavings
from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    fault,
    not_,
    state,
    when,
)
from onceproof.model.language.plain import Reference
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.protocols.sinks.append import Append
from onceproof.model.traces import follow


class Writers(Protocol):
    """Each of some writers writes once; one crash may strike in between."""

    W = Sort("writer", size=3)
    done = state(False, per=W)

    @action(per=W)
    def write(self, w: Member) -> None:
        """Write."""
        when(not_(self.done[w]))
        self.done[w] = True

    @fault
    def crash(self) -> None:
        """Change nothing but the budget."""


class Lamp(Protocol):
    """Is switched on and off for ever."""

    on = state(False)

    @action
    def switch(self) -> None:
        """Change."""
        self.on = not_(self.on)


def test_steps_that_commute_make_one_class():
    """A fault that commutes with every write has no place among them."""
    found = interleavings(Writers())

    sizes = [one.size for one in found.classes]

    assert sizes == [24]


def test_every_representative_runs_in_plain_python():
    """A representative is a run of the reference, from start to rest."""
    protocol = MicroBatch(sink=Append)
    reference = Reference(protocol)

    found = interleavings(protocol)

    for one in found.classes:
        again = follow(reference, one.trace.start, one.trace.events)
        assert again == one.trace
        assert reference.resting(again.states[-1])
        assert one.faults


def test_each_durable_state_is_struck_by_some_class():
    """The classes cover every durable state that a fault can strike."""
    found = interleavings(MicroBatch(sink=Append))

    covered = found.covered({one.number for one in found.classes})

    assert covered == len(found.durable_states) == 9


def test_more_faults_make_more_classes():
    """Two faults strike pairs of durable states."""
    one = interleavings(MicroBatch(sink=Append, faults=1))
    two = interleavings(MicroBatch(sink=Append, faults=2))

    numbers = (len(one.classes), len(two.classes))

    assert numbers[1] > 3 * numbers[0]


def test_a_protocol_that_never_rests_is_refused():
    """Runs without end cannot be listed."""
    with pytest.raises(UsageError, match="go round for ever"):
        interleavings(Lamp())
