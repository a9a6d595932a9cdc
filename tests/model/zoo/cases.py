"""What each case of the zoo must show."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.language.steps import Event

if TYPE_CHECKING:
    from onceproof.model.language import Protocol

STEP = re.compile(r"([\w.]+)\(([\d, ]*)\)(!?)")


@dataclass(frozen=True)
class Case:
    """A documented violation, and the interleaving that was reported.

    The ``story`` is a whole run of the model in the report's terms, step by step,
    after which (at the step after which) the property is broken. ``fix`` is the
    corrected protocol.
    """

    name: str
    protocol: type[Protocol]
    breaks: str
    story: tuple[Event, ...]
    fix: type[Protocol]
    parameters: dict[str, Any]
    fixed: dict[str, Any]


def case(
    name: str,
    protocol: type[Protocol],
    breaks: str,
    story: str,
    *,
    fix: type[Protocol],
    parameters: dict[str, Any] | None = None,
    fixed: dict[str, Any] | None = None,
) -> Case:
    """Describe a case; in the story a fault is marked with an exclamation mark."""
    steps = tuple(
        Event(step, tuple(int(m) for m in members.split(",") if m), bool(fault))
        for step, members, fault in STEP.findall(story)
    )
    return Case(name, protocol, breaks, steps, fix, parameters or {}, fixed or {})
