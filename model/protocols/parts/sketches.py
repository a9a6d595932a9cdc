"""Sketches: what a stream keeps of its events where there is no room for them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from onceproof.model.language import *

if TYPE_CHECKING:
    from collections.abc import Mapping

EVENT = Sort("event", size=3, ordered=True)
KEY = Sort("key", size=3)
BUCKET = Sort("bucket", size=2)
BIT = Sort("bit", size=2)
RUN = Sort("run", size=2, ordered=True)

_IN_PLACE = "store-of-its-own"
_MISSES = "misses-no-frequent-key"


class CountMinSketch(Part):
    """A counter for each bucket of keys: a count-min sketch with one row.

    Cormode and Muthukrishnan, 2005. Keys that share a bucket are counted together, so a
    key may be shown that is not frequent, and no frequent one is missed. Counters do
    not depend on the order of events, and count twice what is added twice. The stream
    has a sketch, and so has the batch run that it is compared with.
    """

    breaks_in: ClassVar[Mapping[str, tuple[str, ...]]] = {
        _IN_PLACE: ("at-most-once", "effectively-once", "batch-equivalence")
    }

    EVENT = EVENT
    KEY = KEY
    BUCKET = BUCKET
    RUN = RUN

    bucket = state(member_of(BUCKET), per=KEY)
    times = state(0, high=EVENT + 1, per=(RUN, BUCKET))

    def add(self, r: Member, e: Member, k: Member) -> None:
        """Add an event of a key to the sketch of a run."""
        self.times.where(lambda x, b: all_of(x == r, self.bucket[k] == b)).set(
            lambda x, b: self.one_more(self.times[x, b])
        )

    def shows(self, r: Member, k: Member) -> bool:
        """Return whether a run shows a key as that of most events."""
        return any_of(
            all_of(self.bucket[k] == b, self.is_most(self.times[r, b]))
            for b in self.BUCKET
        )

    def one_more(self, number: int) -> int:
        """Count on, up to one more than there are events."""
        return min_of(number + 1, self.EVENT.last + 2)

    def is_most(self, number: int) -> bool:
        """Return whether that is more than half of the events."""
        return number + number > self.EVENT.last + 1


class Bitmap(CountMinSketch):
    """A bitmap for each bucket of keys: an event that is added twice sets one bit.

    The bitmap of linear counting (Whang, Vander-Zanden and Taylor, 1990), without its
    correction for events that share a bit. Those count once, so a frequent key may be
    missed, in a batch run as well.
    """

    breaks: ClassVar[tuple[str, ...]] = (_MISSES,)
    breaks_in: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    BIT = BIT

    times = None  # type: ignore[assignment]

    bit = state(member_of(BIT), per=EVENT)
    is_set = state(False, per=(RUN, BUCKET, BIT))

    def add(self, r: Member, e: Member, k: Member) -> None:
        """Set the event's bit in the bitmap of its key's bucket."""
        self.is_set.where(
            lambda x, b, i: all_of(x == r, self.bucket[k] == b, self.bit[e] == i)
        ).fill(value=True)

    def shows(self, r: Member, k: Member) -> bool:
        """Return whether as many bits are set as most events would set."""
        return any_of(
            all_of(
                self.bucket[k] == b,
                self.is_most(count(self.is_set[r, b, i] for i in self.BIT)),
            )
            for b in self.BUCKET
        )


class MajorityVote(CountMinSketch):
    """One candidate with a lead. Boyer and Moore, 1981; Misra and Gries, 1982.

    The key of more than half of the events is the candidate in the end, in whatever
    order they come. Where there is none, the candidate depends on their order, and the
    result is not that of a batch run, without any failure. An event that is added twice
    can keep the key of most events from being shown.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-most-once",
        "at-least-once",
        "effectively-once",
        "recoverable",
        "batch-equivalence",
    )
    breaks_in: ClassVar[Mapping[str, tuple[str, ...]]] = {_IN_PLACE: (_MISSES,)}

    bucket = None  # type: ignore[assignment]
    times = None  # type: ignore[assignment]

    candidate = state(nobody_of(KEY), per=RUN)
    lead = state(0, high=EVENT + 1, per=RUN)

    def add(self, r: Member, e: Member, k: Member) -> None:
        """Count for the candidate or against it; at zero the key is the candidate."""
        lead = self.lead[r]
        gains = any_of(lead == 0, self.candidate[r] == k)
        self.candidate[r] = if_else(lead == 0, k, self.candidate[r])
        self.lead[r] = if_else(gains, self.one_more(lead), max_of(lead - 1, 0))

    def shows(self, r: Member, k: Member) -> bool:
        """Return whether the key is the candidate, and leads."""
        return all_of(self.candidate[r] == k, self.lead[r] > 0)
