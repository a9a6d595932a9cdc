"""A bound of a model does not make it stop where a violation lies beyond it."""

from __future__ import annotations

import pytest

from onceproof.model.language import sometimes
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import make
from onceproof.model.protocols.parts.barriers.transactional_sinks import (
    TransactionTimeout,
)
from onceproof.model.protocols.transactions import Transactions
from onceproof.model.protocols.two_phase_commit_sink import TwoPhaseCommitSink
from onceproof.properties.judges.by_search import check
from onceproof.properties.property import own_properties
from onceproof.properties.verdicts import Verdict
from tests.model.zoo.flink import Flip147Duplicate

SMALL = {"S": "1", "E": "1"}


@pytest.mark.parametrize("checkpoints", [1, 2, 3])
def test_a_duplicate_is_found_however_few_checkpoints_there_are(checkpoints):
    """What is read again after the last one is written and committed again."""
    protocol = Flip147Duplicate(S=1, C=checkpoints)

    verdicts = check(protocol).verdicts

    assert verdicts["at-most-once"] is Verdict.REFUTED


PROTOCOLS = {
    "standard": make("two-phase-commit-sink", SMALL | {"faults": "2"}),
    "one checkpoint": make("two-phase-commit-sink", SMALL | {"C": "1", "faults": "2"}),
    "at least once": make("two-phase-commit-sink", {"S": "2", "E": "1", "C": "1"}),
    "lost notice": make("two-phase-commit-sink-lost-notice", SMALL),
    "impatient": TwoPhaseCommitSink(output=TransactionTimeout, S=1, E=1, C=1),
    "commits at end": Flip147Duplicate(S=1, E=1, C=1, faults=2),
}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_no_event_is_processed_and_written_nowhere(name):
    """The open transaction holds whatever was processed, in every reachable state."""
    reference = Interpreter(PROTOCOLS[name])
    todo = list(reference.initial_states())
    known = set(todo)
    processed = 0

    while todo:
        before = todo.pop()
        for event, after in reference.successors(before):
            if event.name == "process":
                processed += 1
                assert reference.look(after).output.current[event.members] > 0
            if after not in known:
                known.add(after)
                todo.append(after)

    assert processed


class Watched(Transactions):
    """Notes where no epoch is left."""

    E = Transactions.E
    EPOCH = Transactions.EPOCH

    @sometimes
    def uses_up_its_epochs(self) -> bool:
        """The last epoch is the current one."""
        return self.coordinator.epoch == self.EPOCH.last


@pytest.mark.parametrize(("faults", "epochs"), [(1, 8), (2, 8), (3, 9)])
def test_the_epochs_that_are_advised_are_not_used_up(faults, epochs):
    """So the end of a run is never for want of an epoch."""
    protocol = Watched(faults=faults, EPOCH=epochs)
    asked = [p for p in own_properties(protocol) if p.name == "uses-up-its-epochs"]

    (finding,) = check(protocol, asked).findings

    assert finding.verdict is Verdict.VACUOUS
