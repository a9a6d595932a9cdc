"""A claim about steps says nothing where there is no step.

    onceproof check tests/soundness/regressions/no_step_at_all.py
"""

from onceproof.model.language import (
    Protocol,
    action,
    state,
    step,
)


class Drawn(Protocol):
    """Nothing ever changes."""

    on = state(False)

    @action
    def rest(self):
        self.on = False

    @step
    def stays(self, after):
        return after.on == self.on
