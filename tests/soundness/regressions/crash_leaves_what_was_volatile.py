"""What a crash itself writes may depend on what it loses.

    onceproof check tests/soundness/regressions/crash_leaves_what_was_volatile.py
"""

from onceproof.model.language import (
    Protocol,
    action,
    fault,
    not_,
    state,
    when,
)


class Drawn(Protocol):
    """A crash saves what was in memory, and somebody takes it away."""

    memory = state(False, volatile=True)
    saved = state(False)
    ready = state(False)

    @action
    def think(self):
        when(not_(self.memory), not_(self.ready), not_(self.saved))
        self.memory = True

    @action
    def finish(self):
        when(not_(self.ready))
        self.ready = True

    @action
    def clean(self):
        when(self.ready, self.saved)
        self.saved = False

    @fault
    def crash(self):
        self.saved = self.memory
        self.lose_volatile()
