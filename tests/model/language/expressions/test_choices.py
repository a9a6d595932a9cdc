"""The first or last member that is so, and the least or greatest of some values."""

from __future__ import annotations

import pytest

from onceproof.model.errors import ModelError
from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    first_of,
    implies,
    last_of,
    max_of,
    min_of,
    nobody,
    nobody_of,
    not_,
    state,
    when,
)
from onceproof.model.language.tracing.trace import trace
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.model.language.composition.test_part_families import after
from tests.model.test_readers_agree import compare_successors


class Slots(Protocol):
    """Readers that take the first free slot, and read up to the greatest mark."""

    R = Sort("reader", size=2)
    SLOT = Sort("slot", size=3, ordered=True)

    taken = state(False, per=SLOT)
    mark = state(0, low=-1, high=2, per=R)
    least = state(0, low=-1, high=2)
    most = state(0, low=-1, high=2)
    last = state(nobody_of(SLOT))

    @action
    def take(self) -> None:
        """Take the first free slot, if there is one."""
        free = first_of(self.SLOT, lambda s: not_(self.taken[s]))
        when(free != nobody)
        self.taken[free] = True

    @action
    def give_back(self) -> None:
        """Give the last slot that is taken back, and note it."""
        held = last_of(self.SLOT, lambda s: self.taken[s])
        when(held != nobody)
        self.taken[held] = False
        self.last = held

    @action(per=R)
    def read(self, r: Member) -> None:
        """Go on, but not beyond the slowest by more than one."""
        when(self.mark[r] < 2, self.mark[r] <= min_of(self.mark[o] for o in self.R))
        self.mark[r] = self.mark[r] + 1

    @action
    def note(self) -> None:
        """Note how far they are."""
        self.least = min_of(self.mark[r] for r in self.R)
        self.most = max_of(self.mark[r] for r in self.R)

    @always(per=SLOT)
    def no_gap(self, s: Member) -> bool:
        """Slots are taken from the first on."""
        free = first_of(self.SLOT, lambda o: not_(self.taken[o]))
        return any_of(free == nobody, any_of(free == o for o in self.SLOT)) & implies(
            self.taken[s], any_of(self.taken[o] for o in self.SLOT)
        )

    @always
    def close(self) -> bool:
        """Nobody is ahead by more than one."""
        most = max_of(self.mark[r] for r in self.R)
        return most <= min_of(self.mark[r] for r in self.R) + 1


def test_members_and_extremes_are_chosen_alike_by_all_readers():
    """Plain Python, native code and symmetry; members stay interchangeable."""
    compare_successors(Slots())
    report, reduced = check(Slots()), check(Slots(), symmetry=True)

    assert report.verdicts["close"] is Verdict.EXHAUSTED
    assert reduced.verdicts == report.verdicts
    assert reduced.exploration.distinct < report.exploration.distinct


def test_the_first_and_the_last_are_what_they_say():
    """Two are taken, the second is given back."""
    found = after(Slots(), ("take", ()), ("take", ()), ("give_back", ()))

    assert [found["taken", (i,)] for i in range(3)] == [True, False, False]
    assert found["last", ()] == 1


def test_the_least_and_the_greatest_are_of_all_members():
    """One is ahead."""
    found = after(Slots(R=3), ("read", (1,)), ("note", ()))

    assert (found["least", ()], found["most", ()]) == (0, 1)


class Ages(Protocol):
    """Those who may be one ahead of the least."""

    R = Sort("reader", size=2)

    mark = state(0, high=1, per=R)

    @action(per=R)
    def read(self, r: Member) -> None:
        """Go on."""
        self.mark[r] = 1

    @always
    def has_a_greatest(self) -> bool:
        """No mark is beyond the greatest."""
        most = max_of(self.mark[r] for r in self.R)
        return all_of(self.mark[r] <= most for r in self.R)


def test_extremes_name_no_member_and_are_proved_for_every_number_of_them():
    """They are written with quantifiers alone."""
    assert prove(Ages(), depth=2).verdicts["has-a-greatest"] is Verdict.PROVED


def test_plain_generators_have_a_least_and_a_greatest():
    """As of numbers."""
    assert min_of(n for n in (3, 1, 2)) == 1
    assert max_of([1, 3, 2]) == 3
    with pytest.raises(ModelError, match="needs a value"):
        min_of(n for n in ())


def of_no_order(self):
    when(first_of(self.R, lambda r: self.mark[r] == 0) != nobody)


def of_a_list(self):
    when(first_of([1], lambda r: True) != nobody)


def of_members(self):
    self.most = max_of(s for s in self.SLOT)


def of_truths(self):
    self.most = max_of(self.taken[s] for s in self.SLOT)


def unguarded(self):
    self.taken[first_of(self.SLOT, lambda s: self.taken[s])] = True


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (of_no_order, "R has no order, so first_of cannot choose; let an action per R"),
        (of_a_list, "first_of takes a sort and a condition"),
        (of_members, "takes numbers with bounds"),
        (of_truths, "takes whole numbers, not Bool"),
        (unguarded, "the index of taken may be nobody"),
    ],
)
def test_what_cannot_be_chosen_is_refused_at_its_line(method, message):
    """With what to write."""
    kind = type("Wrong", (Slots,), {"__module__": __name__, "act": action(method)})

    with pytest.raises(ModelError, match=message) as error:
        trace(kind())

    assert error.value.where == f"{__file__}:{method.__code__.co_firstlineno + 1}"
