"""Something is negated by itself: what holds before is not what holds after.

    onceproof check tests/soundness/regressions/lamp.py
"""

from onceproof.model.language import (
    Protocol,
    Sort,
    action,
    all_of,
    always,
    at_rest,
    not_,
    state,
    step,
)


class Drawn(Protocol):
    """Lamps that are switched on and off."""

    S = Sort("lamp")
    on = state(False)
    lit = state(False, per=S)

    @action
    def switch(self):
        self.on = not_(self.on)

    @action(per=S)
    def turn(self, s):
        self.lit[s] = not_(self.lit[s])

    @always
    def dark(self):
        return not_(self.on)

    @always
    def all_dark(self):
        return all_of(not_(self.lit[s]) for s in self.S)

    @step
    def stays(self, after):
        return after.on == self.on

    @at_rest
    def rests(self):
        return False
