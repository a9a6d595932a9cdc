"""A fault that writes volatile state as it is, is a crash all the same.

The write was dropped as the model was traced, and the fault was then none.
"""

from onceproof.model.language import Protocol, Sort, action, fault, state, when


class Drawn(Protocol):
    """Counts, and keeps in mind that it did."""

    S = Sort("thing", size=1)
    number = state(0, high=2)
    known = state(False, per=S, volatile=True)

    @action(per=S)
    def act0(self, p0):
        when(self.number < 2)
        self.number = self.number + 1
        self.known[p0] = True

    @fault(at_most=1)
    def harm0(self):
        self.known.set(lambda v0: self.known[v0])
