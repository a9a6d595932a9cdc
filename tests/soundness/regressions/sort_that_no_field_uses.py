"""A claim or a guard may range over a sort that nothing else is per.

    onceproof check tests/soundness/regressions/sort_that_no_field_uses.py
"""

from onceproof.model.language import (
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    state,
    when,
)


class Drawn(Protocol):
    """A switch, and a sort that nothing is per."""

    O = Sort("place", size=2, ordered=True)
    T = Sort("other", size=2)
    on = state(False)

    @action
    def switch(self):
        when(any_of(self.on == False for o in self.O))
        self.on = True

    @always
    def claimed(self):
        return all_of(self.on == False for t in self.T)
