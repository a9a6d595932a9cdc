"""Values before a step, indices that a later guard keeps inside, guarded nobodies."""

from __future__ import annotations

import pytest

from onceproof.model.errors import ModelError
from onceproof.model.export.tla import module
from onceproof.model.language import (
    Member,
    Part,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    if_else,
    implies,
    nobody,
    nobody_of,
    not_,
    old,
    part,
    state,
    step,
    when,
)
from onceproof.model.language.tracing.trace import trace
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.model.language.composition.test_part_families import after
from tests.model.test_readers_agree import compare_successors


class Cell(Part):
    """One number."""

    n = state(0, high=3)

    def take(self, number: int) -> None:
        """Take a number, and keep the difference in mind."""
        self.n = number


class Shift(Protocol):
    """Moves values along a row, and counts those that had one before."""

    P = Sort("place", size=3, ordered=True)
    C = Sort("cell")

    cells = part(Cell, per=C)
    row = state(False, per=P)
    one = state(0, high=3)
    two = state(1, high=3)

    @action
    def swap(self) -> None:
        """Swap, by what was there before."""
        self.one = self.two
        self.two = old(self).one

    @action(per=C)
    def through_parts(self, c: Member) -> None:
        """A part has what it had before as well."""
        self.cells[c].take(self.one)
        self.two = old(self.cells[c]).n
        self.one = old(self).cells[c].n

    @action(per=P)
    def flip(self, p: Member) -> None:
        """Clear the row, and set the place if it was not set."""
        self.row.fill(False)
        self.row[p] = not_(old(self).row[p])

    @step
    def nothing_is_lost(self, after: Shift) -> bool:
        """What two had is in one after a swap, or nothing was swapped."""
        return implies(
            all_of(after.one == self.two, after.two != self.two),
            after.two <= 3,
        )


def test_values_before_the_step_are_read_after_it_has_changed_them():
    """All readers agree, for single values, families and parts."""
    compare_successors(Shift())

    swapped = after(Shift(), ("swap", ()))
    flipped = after(Shift(), ("flip", (1,)), ("flip", (1,)))

    assert (swapped["one", ()], swapped["two", ()]) == (1, 0)
    assert not any(flipped["row", (p,)] for p in range(3))


def writes_old(self):
    old(self).n = 1


def waits_for_old(self):
    old(self).link()


def old_of_a_value(self):
    self.n = old(self.n)


def claims_old(self):
    return old(self).n == self.n


class Plain(Protocol):
    """One number, and an action to be given."""

    n = state(0, high=3)

    def link(self) -> None:
        """Write."""
        self.n = 1


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (writes_old, r"old\(...\) is only read, and cannot change n"),
        (waits_for_old, r"old\(...\) is only read, and cannot change n"),
        (old_of_a_value, r"old\(...\) takes a protocol or a part"),
    ],
)
def test_what_is_over_is_only_read(method, message):
    """It is refused where it is written."""
    kind = type("Wrong", (Plain,), {"__module__": __name__, "act": action(method)})

    with pytest.raises(ModelError, match=message) as error:
        trace(kind())

    assert error.value.where.startswith(__file__)


def test_a_claim_has_no_step_to_look_back_from():
    """A claim of a step is given both states."""
    kind = type("Wrong", (Plain,), {"__module__": __name__, "ok": always(claims_old)})

    with pytest.raises(ModelError, match="is given the states before and after"):
        check(kind())


class Pointer(Protocol):
    """A pointer into a row, which may point behind its end, or at nobody."""

    P = Sort("place", size=3, ordered=True)

    at = state(0, high=4)
    row = state(False, per=P)
    chosen = state(nobody_of(P))
    found = state(False)

    @action
    def write(self) -> None:
        """One guard keeps inside what another reads by, in one `when`."""
        when(self.at < self.P.last + 1, not_(self.row[self.at]))
        self.row[self.at] = True
        self.at = self.at + 1

    @action
    def skip(self) -> None:
        """Read first, and guard later: what is outside is never used."""
        here = self.row[self.at]
        when(self.at <= self.P.last)
        when(here)
        self.at = self.at + 1

    @action
    def behind(self) -> None:
        """Go behind the end."""
        when(self.at == self.P.last + 1)
        self.at = 4

    @action(per=P)
    def choose(self, p: Member) -> None:
        """Choose a place that is written."""
        when(self.chosen == nobody, self.row[p])
        self.chosen = p

    @action
    def look(self) -> None:
        """In one guard: there is one, and it is written."""
        when(all_of(self.chosen != nobody, self.row[self.chosen]))
        self.found = True

    @action
    def move_on(self) -> None:
        """What is guarded to be somebody has an order."""
        when(self.chosen != nobody)
        when(self.chosen < self.P.last, self.row[self.chosen + 1])
        self.at = self.chosen + 1

    @always
    def found_is_chosen(self) -> bool:
        """Whoever was found was chosen."""
        return any_of(not_(self.found), self.chosen != nobody)


def test_a_guard_keeps_an_index_inside_in_the_same_when():
    """Plain Python, native code and z3 agree; nothing is read outside."""
    compare_successors(Pointer())
    report = check(Pointer())

    assert report.verdicts["found-is-chosen"] is Verdict.EXHAUSTED
    assert prove(Pointer(), depth=3).verdicts["found-is-chosen"].holds
    assert "Nobody" in module(trace(Pointer()), []).text


class Later(Pointer):
    """Each guard of the class before comes after an effect of this one."""

    @action
    def write(self) -> None:
        """Move behind the end first: the guard, and what it reads by, see that."""
        self.at = if_else(self.found, 4, self.at)
        super().write()

    @action
    def look(self) -> None:
        """Nobody is chosen first, where one was found: then it waits."""
        self.chosen = if_else(self.found, nobody, self.chosen)
        super().look()

    @action
    def take_back(self) -> None:
        """Write what was there before over what was written, and kept, since."""
        when(self.at < 3)
        self.at = self.at + 1
        self.at = self.at + 1
        self.found = self.at == 4
        self.at = old(self).at


def test_a_guard_after_an_effect_keeps_an_index_inside():
    """Plain Python waits where the guard does not hold, as all readers do."""
    compare_successors(Later())
    report = check(Later())

    assert report.exploration.distinct > 10
    assert prove(Later(), depth=3).verdicts["found-is-chosen"] is not Verdict.UNDECIDED


def test_what_was_there_before_is_written_again():
    """It is no write of what is there now, which would change nothing."""
    assert after(Later(), ("take_back", ()))["at", ()] == 0


def guard_too_late(self):
    when(self.row[self.at], self.at < 3)
    self.found = True


def guarded_by_no_one(self):
    when(self.row[self.at])
    self.found = True


def read_and_forgotten(self):
    here = self.row[self.at]
    self.found = True
    del here


def used_without_a_guard(self):
    when(self.at < 4)
    self.found = self.row[self.at]


def guarded_after_the_write(self):
    self.found = True
    self.found = self.row[self.at]


def perhaps_nobody(self):
    when(self.row[self.chosen], self.chosen != nobody)
    self.found = True


def in_one_of_two(self):
    when(any_of(self.chosen == nobody, self.row[self.chosen]))
    self.found = True


@pytest.mark.parametrize(
    "method",
    [
        guard_too_late,
        guarded_by_no_one,
        read_and_forgotten,
        used_without_a_guard,
        guarded_after_the_write,
        perhaps_nobody,
        in_one_of_two,
    ],
)
def test_an_index_that_no_guard_before_it_keeps_inside_is_refused(method):
    """At the line that reads by it."""
    kind = type("Wrong", (Pointer,), {"__module__": __name__, "act": action(method)})

    with pytest.raises(ModelError, match="the index of row may be") as error:
        trace(kind())

    code = method.__code__
    last = max(line for _, _, line in code.co_lines() if line)
    assert error.value.where.startswith(f"{__file__}:")
    assert code.co_firstlineno < int(error.value.where.rpartition(":")[2]) <= last


def compares_unguarded(self):
    when(self.chosen < 2)
    self.found = True


def test_nobody_has_no_order_until_a_guard_says_that_there_is_somebody():
    """The error says which guard, and what to write in a claim."""
    body = {"__module__": __name__, "act": action(compares_unguarded)}
    with pytest.raises(ModelError, match=r"write when\(... != nobody\) before it"):
        trace(type("Wrong", (Pointer,), body)())
    body = {"__module__": __name__, "ok": always(lambda self: self.chosen < 2)}
    with pytest.raises(ModelError, match="in a claim, go through the members"):
        check(type("Wrong", (Pointer,), body)())
