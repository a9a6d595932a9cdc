"""A mutant: a sink, right or wrong, and the kinds of fault that show what is wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onceproof.spark_checks.sinks.interface import Build

DRIVER_DIES = "the driver dies"
DRIVER_RAISES = "code on the driver raises"
TASK_DIES = "a task dies"
TASK_RAISES = "code in a task raises"
INPUT_CUT = "a task's input is cut off"
GIVEN_UP = "a task is given up and lives on"
DIES_IN_ABORT = "the driver dies in an abort"
TWO_FAULTS = "two faults"

KINDS = {
    "crash": DRIVER_DIES,
    "crash_in_commit": DRIVER_DIES,
    "crash_in_task": DRIVER_DIES,
    "fail_in_commit": DRIVER_RAISES,
    "fail_commit": DRIVER_RAISES,
    "fail_task": TASK_DIES,
    "fail_in_task": TASK_DIES,
    "raise_in_task": TASK_RAISES,
    "fail_above": INPUT_CUT,
    "lose_contact": GIVEN_UP,
    "lose_in_task": GIVEN_UP,
    "crash_in_abort": DIES_IN_ABORT,
}
"""The kind of injection that realises each fault of the model."""


@dataclass(frozen=True)
class Mutant:
    """A sink and how it must be judged.

    ``shown_by`` names the kinds of fault that break it, all of them: a checker that
    leaves these out misses the mistake. A right sink has none. ``words`` are those of
    the question that is asked, such as ``batches`` and ``faults``.
    """

    build: Build
    shown_by: frozenset[str] = frozenset()
    words: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name the mutant by the function that builds it."""
        return self.build.__name__

    @property
    def wrong(self) -> bool:
        """Whether the sink is wrong."""
        return bool(self.shown_by)


def right(build: Build, **words: Any) -> Mutant:
    """Give a sink that must be held."""
    return Mutant(build, words=words)


def wrong(build: Build, *shown_by: str, **words: Any) -> Mutant:
    """Give a sink that must be refuted, by faults of these kinds and no other."""
    return Mutant(build, frozenset(shown_by), words)


def kind_of(faults: tuple[str, ...]) -> str:
    """Give the kind of injection that realises the faults of an interleaving."""
    return KINDS[faults[0]] if len(faults) == 1 else TWO_FAULTS
