"""A member that a claim names is not interchangeable.

    onceproof check tests/soundness/regressions/named_member.py
"""

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    always,
    at_rest,
    not_,
    sometimes,
    state,
    when,
)


class Drawn(Protocol):
    """Of two things one is taken."""

    S = Sort("thing", size=2)
    taken = state(False, per=S)
    done = state(False)

    @action(per=S)
    def take(self, s):
        when(not_(self.done))
        self.taken[s] = True
        self.done = True

    @always
    def not_the_first(self):
        return not_(self.taken[Member(0, Drawn.S)])

    @always
    def not_the_last(self):
        return not_(self.taken[Member(1, Drawn.S)])

    @at_rest
    def rest_first(self):
        return self.taken[Member(0, Drawn.S)]

    @sometimes
    def first(self):
        return self.taken[Member(0, Drawn.S)]

    @sometimes
    def last(self):
        return self.taken[Member(1, Drawn.S)]
