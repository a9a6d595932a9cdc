"""Simulated time, the shape of a topology, and the steps that are taken in it."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class SimulatedClock:
    """Runs what is due, in the order of time, and of planning where times are equal."""

    def __init__(self) -> None:
        """Begin at 0."""
        self.now = 0.0
        self._due: list[tuple[float, int, Callable[..., None], tuple[object, ...]]] = []
        self._planned = 0

    def after(self, delay: float, act: Callable[..., None], *given: object) -> None:
        """Plan a call."""
        self._planned += 1
        heapq.heappush(self._due, (self.now + delay, self._planned, act, given))

    def run(self, *, until: Callable[[], bool], limit: float) -> bool:
        """Run until something holds; return False where time is up before."""
        due = self._due
        while not until():
            if not due or due[0][0] > limit:
                return False
            self.now, _, act, given = heapq.heappop(due)
            act(*given)
        return True


@dataclass(frozen=True)
class Link:
    """A channel from one operator to another."""

    sender: int
    """The operator that sends."""
    receiver: int
    """The operator that receives."""
    of_sender: int
    """Which output of its sender it is."""
    of_receiver: int
    """Which input of its receiver it is."""


@dataclass(frozen=True)
class Layers:
    """Layers of equal width, and ``fan`` links each; the first are sources."""

    width: int
    """How many operators a layer has."""
    depth: int
    """How many layers there are, that of the sources included."""
    fan: int
    """How many outputs and how many inputs an operator has."""
    inputs: list[list[Link]] = field(init=False, repr=False, compare=False)
    """The links into each operator."""
    outputs: list[list[Link]] = field(init=False, repr=False, compare=False)
    """The links out of each operator."""

    def __post_init__(self) -> None:
        """Lay the links."""
        number = self.width * self.depth
        inputs: list[list[Link]] = [[] for _ in range(number)]
        outputs: list[list[Link]] = [[] for _ in range(number)]
        for sender in range(number - self.width):
            layer, place = divmod(sender, self.width)
            for nth in range(self.fan):
                there = (layer + 1) * self.width + (place + nth) % self.width
                link = Link(sender, there, nth, len(inputs[there]))
                outputs[sender].append(link)
                inputs[there].append(link)
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "outputs", outputs)

    @property
    def operators(self) -> int:
        """How many operators there are, sources included."""
        return self.width * self.depth

    @property
    def links(self) -> int:
        """How many links there are."""
        return (self.depth - 1) * self.width * self.fan

    def is_source(self, operator: int) -> bool:
        """Return whether an operator is a source."""
        return operator < self.width


class StepsTaken:
    """Counts the protocol's steps, and keeps those of each scope if asked to.

    A scope is a part of the topology that is a run of the protocol by itself: an
    operator with its inputs, or a link.
    """

    def __init__(self, *, kept: bool) -> None:
        """Count; keep the steps in order where they are to be followed."""
        self.counts: Counter[str] = Counter()
        self.kept = kept
        self.of_scope: dict[object, list[tuple[str, tuple[int, ...]]]] = {}

    def take(self, scope: object, name: str, *members: int) -> None:
        """Take a step in one scope."""
        self.counts[name] += 1
        if self.kept:
            self.of_scope.setdefault(scope, []).append((name, members))

    def note(self, scope: object, name: str, *members: int) -> None:
        """Keep a step that is counted elsewhere, since several scopes share it."""
        if self.kept:
            self.of_scope.setdefault(scope, []).append((name, members))
