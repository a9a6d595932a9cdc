"""A sink of which nothing is known but how many lines its driver's code runs."""

from __future__ import annotations

from onceproof.model.language import Member, Sort, action, all_of, if_else, state, when
from onceproof.model.protocols.sink import Sink

LINE = Sort("line that the driver runs", size=1, ordered=True)


class UserCode(Sink):
    """Code of a user's own, line by line: each may leave something that endures.

    What readers see of it is not modelled: that it is all there once every line has
    run stands for the order of steps alone. A real run is judged, and not compared.
    """

    LINE = LINE
    ran = state(False, per=(Sink.BATCH, LINE))
    at = state(0, high=LINE, per=Sink.BATCH, volatile=True)
    called = state(False, per=Sink.BATCH, volatile=True)

    def start_commit(self, b: Member) -> None:
        """The code is called."""
        self.called[b] = True

    @action(per=(Sink.BATCH, LINE))
    def run_line(self, b: Member, n: Member) -> None:
        """The next line is run."""
        when(self.called[b], self.at[b] == n)
        self.at[b] = n + 1
        self.ran[b, n] = True

    def finished(self, b: Member) -> bool:
        """The code returns after its last line."""
        return self.at[b] > self.LINE.last

    def visible(self, b: Member, e: Member) -> int:  # noqa: ARG002 - all events alike
        """All is there once every line has run."""
        return if_else(all_of(self.ran[b, n] for n in self.LINE), 1, 0)
