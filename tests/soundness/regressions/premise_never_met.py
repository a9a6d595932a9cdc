"""A premise that no run meets is vacuous.

    onceproof check tests/soundness/regressions/premise_never_met.py
"""

from onceproof.model.language import (
    Protocol,
    action,
    leads_to,
    not_,
    state,
)


class Drawn(Protocol):
    """A lamp that is switched on and off."""

    on = state(False)

    @action
    def switch(self):
        self.on = not_(self.on)

    @leads_to()
    def answers(self):
        return False, False
