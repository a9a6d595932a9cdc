"""Exchanges of a sink's code with its store: a request, and the reply to it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

UNSTEADY = "whose number differs from run to run"
THREADS = "sent while several threads of your code run"
UNANSWERED = "that the store does not answer, as with acks=0"
BEYOND = (
    "of lines that send more than 64 in one go, of which the first and last 32 are cut "
    "(fewer events may send fewer)"
)
PAST = "or more on connections past target.store to the same port"
ELSEWHERE = "sent by processes that run none of your code, such as Spark's JVM"
"""Why exchanges for the code are not cut: nothing is known of them."""
READS = "that only read, sent by threads that Spark's tasks share"
"""Why exchanges are not cut that change nothing in the store; code may heed them."""

_KIND = "the client's "
_TASK = "Spark's task "


def kind_of_request(kind: str) -> str:
    """Name the point of exchanges that are known by their kind alone."""
    return _KIND + kind


def of_driver() -> str:
    """Name what Spark sends from the thread that runs a line of the driver's code."""
    return "Spark's driver"


def of_client() -> str:
    """Name a client in Spark that sends from threads of its own for all tasks."""
    return "Spark's client"


def of_task(partition: int, attempt: int = 0, stage: int = 1) -> str:
    """Name what Spark sends from a task.

    ``stage`` numbers those of a line's stages that send anything, from 1.
    """
    again = f", attempt {attempt}" if attempt else ""
    later = f" of stage {stage}" if stage > 1 else ""
    return f"{_TASK}{partition}{later}{again}"


def tasks_like(sender: str) -> str:
    """Name the tasks that a task of Spark's is one of; empty for what is no task."""
    if not sender.startswith(_TASK):
        return ""
    return _TASK + sender.removeprefix(_TASK).lstrip("0123456789")


def is_kind(point: str) -> bool:
    """Return whether exchanges at a point are known by their kind."""
    return point.startswith(_KIND)


@dataclass(frozen=True)
class Exchange:
    """A request that code sends at a point, and to which the store answers."""

    point: str
    """The point of the code that was reached last before it, as text, or its kind."""
    time: int
    """Which time the point was reached, from 1."""
    number: int
    """Which exchange it is since that point, from 1."""
    connection: int
    """Which connection of the batch or task it is on, in order of first use, from 1."""
    request: int
    """Which request of the batch or task on that connection it is, from 1."""
    sender: str = ""
    """The part of Spark that sends it for the code; empty where the code itself does.
    Its number, and that of its connection, are among those of this sender."""

    @property
    def place(self) -> str:
        """Where the code sends it, in whatever batch, task and repetition."""
        return place_of_exchange(self.point, self.number, self.sender)

    @property
    def alike(self) -> str:
        """Where the code sends it, whichever of Spark's tasks does so for it."""
        sender = tasks_like(self.sender) or self.sender
        return place_of_exchange(self.point, self.number, sender)

    @property
    def key(self) -> str:
        """Name it among all of a batch, or of a task."""
        return f"{self.place}, time {self.time}"

    @property
    def name(self) -> str:
        """Name it by its connection."""
        by = f" of {self.sender}" if self.sender else ""
        return f"request {self.request} of connection {self.connection}{by}"


@dataclass(frozen=True)
class SeenExchanges:
    """The exchanges of the run without a fault, and those that follow one, in order."""

    driver: Mapping[int, tuple[Exchange, ...]] = field(default_factory=dict)
    """Those of the code on the driver, by batch."""
    tasks: Mapping[tuple[int, int], tuple[Exchange, ...]] = field(default_factory=dict)
    """Those of the code in tasks, by batch and partition."""
    not_cut: Mapping[str, int] = field(default_factory=dict)
    """How many exchanges are not cut, by the reason."""
    later: Mapping[tuple[int, int | None], tuple[Exchange, ...]] = field(
        default_factory=dict
    )
    """Those that follow a fault only, by batch, and by partition where they are of a
    task."""
    leads: Mapping[tuple[int, int | None, str], frozenset[str]] = field(
        default_factory=dict
    )
    """The faults after which a restarted run has one of these, by batch, partition, and
    ``Exchange.key``."""
    caught: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The faults that code went on after, each with the exchanges that it then had in
    the same call, as ``Exchange.key``."""
    sent: Mapping[tuple[int, int | None], Mapping[str, int]] = field(
        default_factory=dict
    )
    """Where exchanges were sent from in runs without a fault, cut or not, as
    ``Exchange.alike``, and how often the point was reached: by batch, and by partition
    where they are of a task."""

    def of_driver(self, batch: int) -> tuple[Exchange, ...]:
        """List those of the driver's code in a batch; later ones come last."""
        return (*self.driver.get(batch, ()), *self.later.get((batch, None), ()))

    def has(self, one: Exchange, batch: int, *, in_task: bool) -> bool:
        """Return whether runs without a fault have such an exchange in a batch."""
        return any(
            one.time <= places.get(one.alike, 0)
            for (other, partition), places in self.sent.items()
            if other == batch and (partition is not None) == in_task
        )

    @property
    def unknown(self) -> int:
        """How many exchanges cannot be cut, though the sink may depend on them."""
        lost = (UNSTEADY, THREADS, UNANSWERED, BEYOND, PAST, ELSEWHERE)
        return sum(self.not_cut.get(why, 0) for why in (*lost, READS))

    def of_tasks(self, batch: int) -> tuple[tuple[int, Exchange], ...]:
        """List the exchanges of a batch's tasks, each with a partition that has it.

        First are those of the task that has the most; then those at places that only
        other tasks get to, and later ones.
        """
        mine = {p: some for (b, p), some in self.tasks.items() if b == batch}
        found: list[tuple[int, Exchange]] = []
        known: set[str] = set()
        for partition in sorted(mine, key=lambda p: (-len(mine[p]), p)):
            every = mine[partition]
            new = [one for one in every if one.place not in known]
            new = new if found else list(every)
            found += [(partition, one) for one in new]
            known.update(one.place for one in new)
        found += [
            (p, one)
            for (b, p), some in sorted(self.later.items(), key=str)
            if b == batch and p is not None
            for one in some
        ]
        return tuple(found)

    def lasts(self) -> SeenExchanges:
        """Return the last exchange at each time of each point."""
        driver = {at: _lasts(some) for at, some in self.driver.items()}
        tasks = {at: _lasts(some) for at, some in self.tasks.items()}
        return replace(self, driver=driver, tasks=tasks)

    def without_cuts(self) -> SeenExchanges:
        """Return what is known of a sink whose model has no fault that cuts any."""
        every = (*self.driver.values(), *self.tasks.values())
        number = sum(map(len, every)) + self.not_cut.get(ELSEWHERE, 0)
        not_cut = {**self.not_cut, ELSEWHERE: number}
        return SeenExchanges(not_cut=not_cut, sent=self.sent)

    @property
    def places(self) -> frozenset[str]:
        """Where exchanges can be cut."""
        driver = [one for batch in self._batches(None) for one in self.of_driver(batch)]
        tasks = [one for b in self._batches(0) for _, one in self.of_tasks(b)]
        return frozenset(one.place for one in (*driver, *tasks))

    @property
    def sizes(self) -> dict[str, int]:
        """Return the sizes of the model's sorts of exchanges: number 0 is none."""
        tasks = (len(self.of_tasks(batch)) for batch in self._batches(0))
        driver = (len(self.of_driver(batch)) for batch in self._batches(None))
        return {
            "DRIVER_EXCHANGE": 1 + max(driver, default=0),
            "TASK_EXCHANGE": 1 + max(tasks, default=0),
        }

    def _batches(self, partition: int | None) -> list[int]:
        """List the batches with exchanges: of the driver for None, else of tasks."""
        driver = partition is None
        known = {*self.driver} if driver else {batch for batch, _ in self.tasks}
        return sorted(known | {b for b, p in self.later if (p is None) == driver})


def _lasts(every: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    return tuple({(one.point, one.time, one.sender): one for one in every}.values())


def place_of_exchange(text: str, number: int, sender: str = "") -> str:
    """Name the exchange of a number at a point, and who sends it for the code."""
    by = f", by {sender}" if sender else ""
    return f"request {number} at {text}{by}"
