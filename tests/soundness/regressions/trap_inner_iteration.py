"""An inner list is no generator of the quantifier around it.

    onceproof check tests/soundness/regressions/trap_inner_iteration.py
"""

from onceproof.model.language import (
    Protocol,
    Sort,
    action,
    all_of,
    always,
    count,
    state,
    when,
)


class Drawn(Protocol):
    """Each process may vote for each candidate; the brackets of a claim differ."""

    P = Sort("process", size=2)
    C = Sort("candidate", size=2)
    vote = state(False, per=(P, C))

    @action(per=(P, C))
    def choose(self, p, c):
        self.vote[p, c] = True

    @always
    def once(self):
        return all_of(count(self.vote[p, c] for c in self.C) <= 1 for p in self.P)

    @always
    def listed(self):
        return all_of(count([self.vote[p, c] for c in self.C]) <= 1 for p in self.P)
