"""Exchanges of a sink's code with its store: a request, and the answer to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

UNSTEADY = "whose number differs from run to run"
THREADS = "sent while several threads of your code run"
UNANSWERED = "that the store does not answer, as with acks=0"
BY_HADOOP = "sent by Spark through s3a://"
ELSEWHERE = "sent by processes that run none of your code, such as Spark's JVM"
"""Why exchanges for the code are not cut: nothing is known of them."""


_KIND = "the client's "


def kind_of_request(kind: str) -> str:
    """Name the point of exchanges that are known by their kind alone."""
    return _KIND + kind


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

    @property
    def place(self) -> str:
        """Where the code sends it, in whatever batch, task and repetition."""
        return place_of_exchange(self.point, self.number)

    @property
    def name(self) -> str:
        """Name it by its connection."""
        return f"request {self.request} of connection {self.connection}"


@dataclass(frozen=True)
class SeenExchanges:
    """The exchanges of the fault-free run, in order."""

    driver: Mapping[int, tuple[Exchange, ...]] = field(default_factory=dict)
    """Those of the code on the driver, by batch."""
    tasks: Mapping[tuple[int, int], tuple[Exchange, ...]] = field(default_factory=dict)
    """Those of the code in tasks, by batch and partition."""
    not_cut: Mapping[str, int] = field(default_factory=dict)
    """How many exchanges are not cut, by the reason."""

    @property
    def unknown(self) -> int:
        """How many exchanges cannot be cut, though the sink may depend on them."""
        reasons = (UNSTEADY, THREADS, UNANSWERED, BY_HADOOP, ELSEWHERE)
        return sum(self.not_cut.get(why, 0) for why in reasons)

    def of_tasks(self, batch: int) -> tuple[tuple[int, Exchange], ...]:
        """List the exchanges of a batch's tasks, each with a partition that has it.

        First are those of the task that has the most; then those at places that only
        other tasks get to.
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
        return tuple(found)

    def lasts(self) -> SeenExchanges:
        """Return the last exchange at each time of each point."""
        driver = {at: _lasts(some) for at, some in self.driver.items()}
        tasks = {at: _lasts(some) for at, some in self.tasks.items()}
        return SeenExchanges(driver, tasks, self.not_cut)

    @property
    def places(self) -> frozenset[str]:
        """Where exchanges can be cut."""
        driver = [one for some in self.driver.values() for one in some]
        tasks = [one for batch, _ in self.tasks for _, one in self.of_tasks(batch)]
        return frozenset(one.place for one in (*driver, *tasks))

    @property
    def sizes(self) -> dict[str, int]:
        """Return the sizes of the model's sorts of exchanges: number 0 is none."""
        tasks = (len(self.of_tasks(batch)) for batch, _ in self.tasks)
        return {
            "DRIVER_EXCHANGE": 1 + max(map(len, self.driver.values()), default=0),
            "TASK_EXCHANGE": 1 + max(tasks, default=0),
        }


def _lasts(every: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    return tuple({(one.point, one.time): one for one in every}.values())


def place_of_exchange(text: str, number: int) -> str:
    """Name the exchange of a number at a point."""
    return f"request {number} at {text}"
