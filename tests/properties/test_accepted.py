"""An event is owed from the start where a protocol neither accepts nor rejects any."""

from __future__ import annotations

import pytest

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    fault,
    not_,
    observe,
    state,
    when,
)
from onceproof.properties.guarantees import guarantees_of, why_not_judged
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict

OWED = {"at-most-once", "at-least-once", "effectively-once", "recoverable"}


class Writer(Protocol):
    """Writes each event once, and observes only what readers see."""

    EVENT = Sort("event")

    written = state(0, per=EVENT, high=2)

    @action(per=EVENT)
    def write(self, e: Member) -> None:
        """Write an event that is not written."""
        when(self.written[e] == 0)
        self.written[e] = 1

    @observe(per=EVENT)
    def visible(self, e: Member) -> int:
        """Readers see what is written."""
        return self.written[e]


class Loser(Writer):
    """Gives an event up."""

    lost = state(False, per=Writer.EVENT)

    @fault(per=Writer.EVENT)
    def lose(self, e: Member) -> None:
        """An event is lost before it is written."""
        self.lost[e] = True

    @action(per=Writer.EVENT)
    def write(self, e: Member) -> None:
        """Write an event that is not lost."""
        when(not_(self.lost[e]))
        super().write(e)


class Known(Loser):
    """Says that a lost event was never accepted."""

    @observe(per=Writer.EVENT)
    def accepted(self, e: Member) -> bool:
        """Accept what is not lost."""
        return not_(self.lost[e])


class All(Loser):
    """Says what the default is."""

    @observe(per=Writer.EVENT)
    def accepted(self, e: Member) -> bool:
        """Accept every event."""
        return True


class Refuser(Loser):
    """An event that is lost is rejected: it need not be seen."""

    @observe(per=Writer.EVENT)
    def rejected(self, e: Member) -> bool:
        """What is lost is given up for good."""
        return self.lost[e]


def named(protocol: Protocol) -> set[str]:
    """Name the guarantees that a protocol is judged by."""
    return {guarantee.name for guarantee in guarantees_of(protocol)}


def test_a_protocol_that_observes_only_what_is_visible_owes_every_event():
    """The search and z3 judge it, and the verdict says what it rests on."""
    report, proved = check(Writer()), prove(Writer(), depth=4)

    assert named(Writer()) == OWED
    assert report.verdicts["effectively-once"] is Verdict.EXHAUSTED
    assert proved.verdicts["at-least-once"].holds
    assert all("every event is accepted" in f.bounds for f in report.findings)


def test_the_default_is_that_every_event_is_accepted():
    """What is lost is missing, just as where the protocol says so itself."""
    verdicts = check(Loser()).verdicts

    assert verdicts == check(All()).verdicts
    assert verdicts["at-least-once"] is Verdict.REFUTED
    assert verdicts["at-most-once"] is Verdict.EXHAUSTED
    assert not any("is accepted" in f.bounds for f in check(All()).findings)


def test_what_a_protocol_says_of_accepted_goes_before_the_default():
    """An event that is not accepted is not owed."""
    assert check(Known()).verdicts["at-least-once"] is Verdict.EXHAUSTED


def test_an_event_that_may_be_rejected_is_not_owed():
    """No guarantee is claimed that the protocol does not mean; the reason is given."""
    assert named(Refuser()) == {"agreement"}
    why = why_not_judged(Refuser(), "effectively-once")
    assert "does not observe `accepted`; it observes `rejected`" in why
    assert why_not_judged(Refuser(), "agreement") == ""
    assert why_not_judged(Writer(), "durable").endswith("not observe `promised`")


@pytest.mark.parametrize("name", sorted(OWED))
def test_no_property_is_judged_by_default_and_in_vain(name):
    """Every event is accepted in each state, so that a premise is always met."""
    assert check(Writer()).verdicts[name] is not Verdict.VACUOUS
