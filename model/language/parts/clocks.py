"""Timers that may fire at any time, and epochs that fence off who is out of date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from onceproof.model.language.composition.part import Part
from onceproof.model.language.composition.slots import Slot
from onceproof.model.language.declarations.elements import Elements
from onceproof.model.language.declarations.state import state
from onceproof.model.language.expressions.logic import if_else

if TYPE_CHECKING:
    from onceproof.model.language.fields import Bound
    from onceproof.model.language.sorts import Member, Sort


class Timers(Part):
    """A timer for each member. While it runs it may fire at any time.

    An action that fires one is the timeout: nothing is assumed of how long it takes.
    """

    def running(self, member: Member) -> bool:
        """Return whether a timer runs."""
        return self._running[member]

    def start(self, member: Member) -> None:
        """Let a timer run, from now on if it runs already."""
        self._running[member] = True

    def cancel(self, member: Member) -> None:
        """Stop a timer; it will not fire."""
        self._running[member] = False

    def fire(self, member: Member) -> None:
        """Let a timer fire, and stop. The action waits while it does not run."""
        self.store.require(self._running[member], late=True)
        self._running[member] = False

    @property
    def _running(self) -> Elements[bool]:
        return Elements(self.store, self.field("runs"))


def timers(sort: Sort, *, volatile: bool = True) -> Slot[Timers]:
    """Declare a timer for each member of a sort; none runs at the start.

    A ``volatile`` one is forgotten in a crash.
    """
    body: dict[str, Any] = {
        "runs": state(False, per=sort, volatile=volatile),  # noqa: FBT003 - a value
        "__doc__": Timers.__doc__,
        "__module__": __name__,
    }
    kind = cast("type[Timers]", type("Timers", (Timers,), body))
    return Slot(kind, kind, fixed=True)


class Epochs(Part):
    """An epoch for each member, that only grows.

    Who holds an older one than the current is out of date, and is fenced off.
    """

    def current(self, member: Member) -> int:
        """Return the current epoch of a member."""
        return self._epoch[member]

    def next(self, member: Member) -> None:
        """Begin a new epoch. The action waits when there are no more."""
        last = cast("Any", self.field("epoch").type).high
        self.store.require(self._epoch[member] < last, late=True)
        self._epoch[member] = self._epoch[member] + 1

    def see(self, member: Member, epoch: int) -> None:
        """Learn of an epoch, if it is newer."""
        known = self._epoch[member]
        self._epoch[member] = if_else(known < epoch, epoch, known)

    def admits(self, member: Member, epoch: int) -> bool:
        """Return whether an epoch is not out of date."""
        return epoch >= self._epoch[member]

    @property
    def _epoch(self) -> Elements[int]:
        return Elements(self.store, self.field("epoch"))


def epochs(sort: Sort, *, high: Bound, volatile: bool = False) -> Slot[Epochs]:
    """Declare an epoch for each member of a sort, from 0 to ``high``."""
    body: dict[str, Any] = {
        "epoch": state(0, per=sort, high=high, volatile=volatile),
        "__doc__": Epochs.__doc__,
        "__module__": __name__,
    }
    kind = cast("type[Epochs]", type("Epochs", (Epochs,), body))
    return Slot(kind, kind, fixed=True)
