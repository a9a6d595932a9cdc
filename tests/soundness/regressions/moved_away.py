"""A value is moved, and its source is overwritten.

    onceproof check tests/soundness/regressions/moved_away.py
"""

from onceproof.model.language import (
    Protocol,
    action,
    always,
    if_else,
    not_,
    state,
    when,
)


class Drawn(Protocol):
    """What c holds goes to a."""

    a = state(0, high=1)
    c = state(0, high=1)
    on = state(False)
    off = state(False)

    @action
    def move(self):
        self.a = self.c
        self.c = 0

    @action
    def fill(self):
        when(self.a == 0)
        self.c = 1

    @action
    def flip(self):
        self.on = if_else(self.off, self.on, not_(self.off))
        self.off = False

    @always
    def nothing(self):
        return self.a + self.c == 0

    @always
    def no_difference(self):
        return self.a - self.c <= 0

    @always
    def dark(self):
        return if_else(self.on, self.off, True)
