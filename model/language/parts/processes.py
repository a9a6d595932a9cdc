"""Processes that crash and restart, or stop for good."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from onceproof.model.language.composition.part import Part
from onceproof.model.language.composition.slots import Slot
from onceproof.model.language.declarations.decorators import fault
from onceproof.model.language.declarations.elements import Elements
from onceproof.model.language.declarations.state import state
from onceproof.model.language.stores.store import when

if TYPE_CHECKING:
    from onceproof.model.language.fields import Param
    from onceproof.model.language.sorts import Member, Sort


class Status(Enum):
    """Whether a process runs."""

    UP = "up"
    DOWN = "down"
    STOPPED = "stopped"


class Processes(Part):
    """The processes of a sort. A crash loses what its owner declares volatile.

    What is lost are the elements of volatile fields and channels whose first index
    is the process. An action of a process is guarded by ``up``; the recovery action
    of a protocol calls ``restart``, which waits for ``down``.
    """

    def up(self, process: Member) -> bool:
        """Whether the process runs."""
        return self._status[process] == Status.UP

    def down(self, process: Member) -> bool:
        """Whether the process has crashed, and can restart."""
        return self._status[process] == Status.DOWN

    def stopped(self, process: Member) -> bool:
        """Whether the process has stopped for good."""
        return self._status[process] == Status.STOPPED

    def restart(self, process: Member) -> None:
        """Let a crashed process run again, with its durable state alone.

        The action waits while the process is up, and for ever once it has stopped.
        """
        self.store.require(self.down(process), late=True)
        self._status[process] = Status.UP

    @property
    def _status(self) -> Elements[Status]:
        return Elements(self.store, self.field("status"))

    def _fall(self, process: Member, status: Status) -> None:
        when(self.up(process))
        self.part_around().lose_volatile(process)
        self._status[process] = status


def processes(
    sort: Sort, *, crashes: int | Param = 0, stops: int | Param = 0
) -> Slot[Processes]:
    """Declare that the members of a sort are processes, all up at the start.

    ``crashes`` and ``stops`` are budgets of faults: a process that crashes can
    restart, and one that stops never does.
    """

    def crash(self: Processes, process: Member) -> None:
        """A process dies; its volatile state is lost."""
        self._fall(process, Status.DOWN)

    def stop(self: Processes, process: Member) -> None:
        """A process dies for good."""
        self._fall(process, Status.STOPPED)

    body: dict[str, Any] = {
        "status": state(Status.UP, per=sort),
        "crash": fault(per=sort, at_most=crashes)(crash),
        "stop": fault(per=sort, at_most=stops)(stop),
        "__doc__": Processes.__doc__,
        "__module__": __name__,
    }
    kind = cast("type[Processes]", type("Processes", (Processes,), body))
    return Slot(kind, kind, fixed=True)
