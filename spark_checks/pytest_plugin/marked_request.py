"""What a test asks of a sink: its marker, its call and the plugin's options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inputs.sizes import MOST, MOST_FAULTS
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.pytest_plugin.judgements import MARKER
from onceproof.spark_checks.pytest_plugin.options import PROFILES, Options, marker_words
from onceproof.spark_checks.report.assessment import AssessmentRequest, claims_named
from onceproof.spark_checks.report.counterexamples import RequestingTest

if TYPE_CHECKING:
    import pytest

    from onceproof.properties.testing.event_batches import Case
    from onceproof.spark_checks.stores.interface import SinkStore

WORDS = ("key", "faults", "batches", "partitions", "guarantees", "allow", "code")
"""The words that the marker takes."""
_DEFAULTS = {"faults": 1, "batches": 2, "partitions": 2}
_MOST = {
    "faults": MOST_FAULTS,
    "batches": MOST["BATCH"],
    "partitions": MOST["PARTITION"],
}


@dataclass(frozen=True)
class Call:
    """What a test gives to the fixture, besides its sink."""

    events: Any = None
    """The events; None for flights."""
    schema: Any = None
    """Their schema, if one is given."""
    allow: tuple[str, ...] = ()
    """The places that the sink may write to, besides its own."""
    code: tuple[str, ...] = ()
    """The packages and paths that are followed too, or not, with a ``-``."""
    store: SinkStore | None = None
    """The store that the sink writes to, if it has one."""


def request_of(
    item: pytest.Item,
    options: Options,
    call: Call,
    *,
    case: Case | None,
    artifacts: Path,
    first: tuple[int, ...],
) -> AssessmentRequest:
    """Return the request that a test makes by its marker, its call and the options.

    The interleavings ``first`` are replayed before the others; a ``case`` is replayed
    alone. Raises ``UsageError`` for what the marker does not take.
    """
    profile = PROFILES[options.profile]
    words = marker_words(item, MARKER, WORDS)
    numbers = {name: words.get(name, low) for name, low in _DEFAULTS.items()}
    for name, value in numbers.items():
        if type(value) is not int or not 1 <= value <= _MOST[name]:
            message = f"{name} must be 1 to {_MOST[name]}, not {value!r}"
            raise UsageError(message)
    numbers["faults"] = options.faults or max(numbers["faults"], profile.faults)
    numbers["batches"] = options.batches or max(numbers["batches"], profile.batches)
    key = texts("key", words.get("key", ()))
    allow = call.allow + texts("allow", words.get("allow", ()))
    code = call.code + texts("code", words.get("code", ()))
    claimed = words.get("guarantees", ("effectively-once", "recoverable"))
    guarantees = texts("guarantees", claimed)
    if not guarantees:
        message = "guarantees= is empty, so nothing is claimed; help: name one"
        raise UsageError(message)
    test = RequestingTest(
        item.nodeid,
        key,
        allow,
        claims_named(guarantees),
        code,
        profile=options.profile,
        most=options.most,
        seed=options.seed,
        timeout=options.timeout,
    )
    events = call.events
    choice = Choice(most=options.most, seed=options.seed, first=first)
    if case is not None:
        numbers["faults"] = case.faults
        choice, events = Choice(nth=case.nth), case.events
    return AssessmentRequest(
        code=Path(item.config.rootpath),
        artifacts=artifacts,
        events=events,
        schema=call.schema,
        test=test,
        choice=choice,
        store=call.store,
        trace=options.trace,
        stop=profile.stop,
        timeout=options.timeout,
        # An example is one interleaving; none is left out for want of time.
        budget=options.budget if case is None else None,
        every_point=options.every_point,
        kill_drivers=options.kill_drivers,
        **numbers,
    )


def store_of(given: Any) -> Any:
    """Return a store. Raises ``UsageError`` for anything else."""
    if given is not None and (isinstance(given, type) or not hasattr(given, "missing")):
        # A text may hold a password.
        shown = "a text" if isinstance(given, str) else repr(given)
        message = f"store takes a store, as Postgres() or Postgres(url), not {shown}"
        raise UsageError(message)
    return given


def texts(name: str, given: object) -> tuple[str, ...]:
    """Read a text, or several. Raises ``UsageError`` for anything else."""
    several = given if isinstance(given, list | tuple) else (given,)
    if not all(isinstance(text, str | Path) for text in several):
        message = f"{name} takes a text, or a tuple of texts, not {given!r}"
        raise UsageError(message)
    return tuple(map(str, several))
