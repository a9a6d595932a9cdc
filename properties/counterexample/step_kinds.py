"""What kind of step each is: an action, a crash, a restart, a loss."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.interleavings.durable_state import is_crash
from onceproof.model.language.parts.channels import Channels
from onceproof.model.language.parts.networks import Network
from onceproof.model.language.parts.processes import Processes, Status

if TYPE_CHECKING:
    from onceproof.model.language.tracing.system import System
    from onceproof.model.traces import Trace
    from onceproof.properties.counterexample.file import TraceStep

ACTION, FAULT, CRASH, RESTART = "action", "fault", "crash", "restart"
_HARMS = {"lose": "loss", "repeat": "repetition", "overtake": "overtaking"}
KINDS = (FAULT, CRASH, RESTART, *_HARMS.values())
"""The kinds of step that are worth a word: all but actions."""


@dataclass(frozen=True)
class StepKinds:
    """The kind of each action, and what marks a restart.

    A restart is an action after which a process is up that was down; where a protocol
    has no such processes, the first that sets volatile state after a crash.
    ``statuses`` and ``volatile`` are positions in a state.
    """

    by_name: dict[str, str]
    """The kind of each action and fault, by its name."""
    statuses: tuple[int, ...]
    volatile: tuple[int, ...]

    @classmethod
    def of(cls, system: System) -> StepKinds:
        """Return the kinds of a system's actions and faults."""
        parts = {p.path_to("")[:-1]: p for p in system.protocol.all_parts()}
        names = {}
        for action in system.actions:
            path, _, name = action.name.rpartition(".")
            part = parts[path]
            kind = FAULT if action.fault else ACTION
            if action.fault and (
                is_crash(system, action) or isinstance(part, Processes)
            ):
                kind = CRASH
            elif action.fault and isinstance(part, Channels | Network):
                kind = _HARMS.get(name, FAULT)
            names[action.name] = kind
        statuses = {
            part.path_to("status")
            for part in parts.values()
            if isinstance(part, Processes)
        }
        fields = [field for field in system.fields for _ in field.places(system.sizes)]
        return cls(
            names,
            tuple(i for i, f in enumerate(fields) if f.path in statuses),
            tuple(i for i, f in enumerate(fields) if f.volatile),
        )

    def along(self, run: Trace) -> list[str]:
        """Return the kind of each step of a run."""
        found, down = [], False
        for event, (before, after) in zip(
            run.events, itertools.pairwise(run.states), strict=True
        ):
            kind = self.by_name[event.name]
            changed = [i for i, v in enumerate(before) if after[i] != v]
            if kind == CRASH:
                down = True
            elif kind == ACTION:
                rises = any(
                    before[i] is Status.DOWN and after[i] is Status.UP
                    for i in self.statuses
                )
                sets = any(i in self.volatile for i in changed)
                if rises or (down and not self.statuses and sets):
                    kind, down = RESTART, False
            found.append(kind)
        return found


def by_word(step: TraceStep) -> str:
    """Return the kind of a step by its words alone, where there is no model of it."""
    name = step.event.rpartition(".")[2]
    if not step.fault:
        return RESTART if name == RESTART else ACTION
    return CRASH if name.startswith(CRASH) else _HARMS.get(name, FAULT)
