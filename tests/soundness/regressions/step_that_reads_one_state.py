"""A claim about steps may read one of the two states alone.

    onceproof check tests/soundness/regressions/step_that_reads_one_state.py
"""

from onceproof.model.language import (
    Protocol,
    action,
    not_,
    state,
    step,
)


class Drawn(Protocol):
    """A lamp that is switched on and off."""

    on = state(False)

    @action
    def switch(self):
        self.on = not_(self.on)

    @step
    def before(self, after):
        return not_(self.on)

    @step
    def later(self, after):
        return not_(after.on)

    @step
    def neither(self, after):
        return self.on == self.on
