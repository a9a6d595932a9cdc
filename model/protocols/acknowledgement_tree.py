"""Tuples that are acknowledged as a tree, and replayed after a time-out."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.records.anchoring import Anchored
from onceproof.model.protocols.parts.records.effects import Adds

E = Sort("event", size=1)
H = Sort("half", size=2, ordered=True)
MOST = 2


class AcknowledgementTree(Protocol):
    """At-least-once by trees of acknowledgements. Toshniwal and others, SIGMOD 2014.

    Storm @Twitter. A spout emits a tuple for each event. A bolt splits it into two
    halves, and another bolt writes each half. The acker XORs the ids of all tuples as
    they are emitted and as they are acknowledged. The tree is complete once the result
    is zero, which is a parity for each tuple here. If it is not complete in time, the
    spout emits the tuple again, under another id. Tuples of an earlier tree go on.
    """

    E = E
    H = H

    anchoring = part(Anchored)
    effect = part(Adds)

    pending = state(False, per=E)
    completed = state(False, per=E)

    root = state(False, per=E)
    late_root = state(False, per=E)
    half = state(False, per=(E, H))
    late_half = state(False, per=(E, H))
    written = state(False, per=(E, H))

    root_parity = state(False, per=E)
    half_parity = state(False, per=(E, H))
    counted = state(0, high=MOST, per=(E, H))

    @action(per=E, by="spout")
    def emit(self, e: Member) -> None:
        """The spout emits the tuple of an event, whose id goes to the acker."""
        when(not_(self.pending[e]), not_(self.completed[e]))
        self.pending[e] = True
        self._emit(e)

    @action(per=E, by="first bolt")
    def split(self, e: Member) -> None:
        """The bolt emits two halves, and acknowledges the tuple, in one message."""
        when(self.root[e])
        self.root[e] = False
        self.root_parity[e] = not_(self.root_parity[e])
        self.half.set(lambda x, h: any_of(x == e, self.half[x, h]))
        waits = self.anchoring.waits_for()
        self.half_parity.set(
            lambda x, h: if_else(
                all_of(x == e, waits),
                not_(self.half_parity[x, h]),
                self.half_parity[x, h],
            )
        )

    @action(per=E, by="first bolt")
    def split_late(self, e: Member) -> None:
        """The bolt splits a tuple of an earlier tree; nobody waits for its halves."""
        when(self.late_root[e])
        self.late_root[e] = False
        self.late_half.set(lambda x, h: any_of(x == e, self.late_half[x, h]))

    @action(per=(E, H), by="second bolt")
    def write(self, e: Member, h: Member) -> None:
        """The bolt writes a half, and is about to acknowledge it."""
        when(self.half[e, h])
        self.half[e, h] = False
        self._count(e, h)
        self.written[e, h] = self.anchoring.waits_for()

    @action(per=(E, H), by="second bolt")
    def write_late(self, e: Member, h: Member) -> None:
        """The bolt writes a half of an earlier tree."""
        when(self.late_half[e, h])
        self.late_half[e, h] = False
        self._count(e, h)

    @action(per=(E, H), by="second bolt")
    def acknowledge(self, e: Member, h: Member) -> None:
        """The acker is sent the id of the half once more."""
        when(self.written[e, h])
        self.written[e, h] = False
        self.half_parity[e, h] = not_(self.half_parity[e, h])

    @action(per=E, by="acker")
    def complete(self, e: Member) -> None:
        """Each id has come twice, and the spout forgets the tuple."""
        when(self.pending[e], not_(self.root_parity[e]))
        when(all_of(not_(self.half_parity[e, h]) for h in self.H))
        self.pending[e] = False
        self.completed[e] = True

    @action(per=E, by="spout")
    def time_out(self, e: Member) -> None:
        """The spout emits a tuple again whose tree is not complete in time."""
        when(self.pending[e])
        self.late_root[e] = any_of(self.late_root[e], self.root[e])
        self.late_half.set(
            lambda x, h: any_of(self.late_half[x, h], all_of(x == e, self.half[x, h]))
        )
        self.half.set(lambda x, h: all_of(x != e, self.half[x, h]))
        self.written.set(lambda x, h: all_of(x != e, self.written[x, h]))
        self.root_parity[e] = False
        self.half_parity.set(lambda x, h: all_of(x != e, self.half_parity[x, h]))
        self._emit(e)

    @fault(per=E, by="first bolt")
    def lose(self, e: Member) -> None:
        """The worker of the first bolt dies with a tuple."""
        when(self.root[e])
        self.root[e] = False

    @fault(per=(E, H), by="second bolt")
    def lose_half(self, e: Member, h: Member) -> None:
        """The worker of the second bolt dies with a half."""
        when(self.half[e, h])
        self.half[e, h] = False

    @fault(per=(E, H), by="second bolt")
    def lose_acknowledgement(self, e: Member, h: Member) -> None:
        """The worker of the second bolt dies after it wrote a half."""
        when(self.written[e, h])
        self.written[e, h] = False

    def _emit(self, e: Member) -> None:
        self.root[e] = True
        self.root_parity[e] = not_(self.root_parity[e])

    def _count(self, e: Member, h: Member) -> None:
        self.counted[e, h] = self.effect.applied(self.counted[e, h])

    @observe(per=(E, H))
    def visible(self, e: Member, h: Member) -> int:
        """A half is visible as often as it was written."""
        return self.counted[e, h]

    @observe(per=(E, H))
    def accepted(self, e: Member, h: Member) -> bool:
        """The spout is to deliver every event, both halves of it."""
        return True

    @observe(per=(E, H))
    def promised(self, e: Member, h: Member) -> bool:
        """The spout has heard that the tree is complete."""
        return self.completed[e]

    @sometimes
    def completes(self) -> bool:
        """Every tree can be complete."""
        return all_of(self.completed[e] for e in self.E)

    @sometimes
    def tries_again_for_a_part(self) -> bool:
        """A tuple can be replayed though one of its halves is written."""
        return any_of(
            all_of(self.root[e], any_of(self.counted[e, h] > 0 for h in self.H))
            for e in self.E
        )

    @lemma
    def waits_for_what_is_under_way(self) -> bool:
        """What is not acknowledged has a parity, and its tree is not complete."""
        return all_of(
            all_of(
                implies(self.root[e], self.root_parity[e]),
                implies(self.root_parity[e], self.pending[e]),
                implies(self.half[e, h], self.half_parity[e, h]),
                implies(self.written[e, h], self.half_parity[e, h]),
                implies(self.half_parity[e, h], self.pending[e]),
            )
            for e in self.E
            for h in self.H
        )

    @lemma
    def splits_a_tuple_once(self) -> bool:
        """No half of a tuple is there before it is split, nor before it is written."""
        return all_of(
            all_of(
                implies(self.root[e], not_(self.half_parity[e, h])),
                implies(self.half[e, h], not_(self.written[e, h])),
            )
            for e in self.E
            for h in self.H
        )

    @lemma
    def counts_what_it_need_not_wait_for(self) -> bool:
        """A half that nobody waits for any more is written."""
        return all_of(
            all_of(
                implies(self.written[e, h], self.counted[e, h] > 0),
                implies(self.completed[e], self.counted[e, h] > 0),
                implies(
                    all_of(
                        self.pending[e],
                        not_(self.root_parity[e]),
                        not_(self.half_parity[e, h]),
                    ),
                    self.counted[e, h] > 0,
                ),
            )
            for e in self.E
            for h in self.H
        )
