"""A run of a model taken again: what a test that was copied from the explorer calls."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.model.language.plain import Reference
from onceproof.model.language.steps import Event
from onceproof.model.library import pick
from onceproof.model.traces import follow
from onceproof.properties.check import claims_of
from onceproof.properties.explorer.standing import FAILS, Strip
from onceproof.properties.explorer.tell import start_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onceproof.model.language.protocol import Protocol


def holds_along(
    protocol: Protocol,
    claim: str,
    steps: Sequence[str],
    *,
    start: Mapping[str, Any] | None = None,
) -> bool:
    """Take steps such as ``write(0, 1)`` in plain Python; say if a claim holds in all.

    ``start`` names elements of the first state, where there are several. Raises
    ``UsageError`` for steps that cannot be taken and for a claim that is not known.
    """
    reference = Reference(protocol)
    known = {prop.name: prop for prop in claims_of(protocol)}
    prop = known[pick(claim, known, "property")]
    events = tuple(map(_event, steps))
    try:
        run = follow(reference, start_of(reference, dict(start or {})), events)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return FAILS not in Strip.of(prop, reference, run.states).cells


def _event(text: str) -> Event:
    found = re.fullmatch(r"([\w.]+)\(([\d, ]*)\)", text)
    if found is None:
        message = f"a step is written as write(0, 1), not {text!r}"
        raise UsageError(message)
    name, members = found.groups()
    numbers = itertools.takewhile(bool, (m.strip() for m in members.split(",")))
    return Event(name, tuple(int(number) for number in numbers))
