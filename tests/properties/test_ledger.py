"""The ledger of a protocol is read from what it observes."""

from __future__ import annotations

import itertools

import pytest

from onceproof.model.language import Protocol, Sort, observe, state
from onceproof.model.language.interpreter import Interpreter
from onceproof.properties.ledger import of_protocol


class Table(Protocol):
    """Two events of two units."""

    E = Sort("event", size=2)
    rows = state(0, per=E, high=2)
    done = state(False, per=E)

    @observe(per=E)
    def visible(self, e):
        """How often the event is there."""
        return self.rows[e]

    @observe(per=E)
    def promised(self, e):
        """Whether the engine is done with it."""
        return self.done[e]

    @observe(per=E)
    def unit(self, e):
        """Each event is a unit of its own."""
        return 0 if e == 0 else 1


@pytest.mark.parametrize("rows", list(itertools.product(range(3), repeat=2)))
@pytest.mark.parametrize("done", list(itertools.product((False, True), repeat=2)))
def test_a_protocols_ledger_says_what_its_observations_say(rows, done):
    """What is visible, promised, rejected and together is read event by event."""
    ledger = of_protocol(Interpreter(Table()).look((*rows, *done)))
    first, other = ledger.events()

    assert [ledger.visible(e) for e in (first, other)] == list(rows)
    assert [bool(ledger.shows(e)) for e in (first, other)] == [n > 0 for n in rows]
    assert [ledger.promised(e) for e in (first, other)] == list(done)
    assert [ledger.rejected(e) for e in (first, other)] == [
        d and n == 0 for d, n in zip(done, rows, strict=True)
    ]
    assert ledger.together(first, first)
    assert not ledger.together(first, other)
    assert ledger.accepted(first)
    assert ledger.unexplained() == 0
