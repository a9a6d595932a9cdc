"""What is explored, made ready: a model to step, and the run of a counterexample.

A counterexample file names its protocol and parameters; from these the model is made
again, and the file's steps are taken in it. Where that cannot be done the file can
still be shown, and the reason is said.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import OnceproofError
from onceproof.model.interleavings.failing_runs import starts
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.steps import Event
from onceproof.model.language.terms.types import spelled
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
from onceproof.model.traces import Trace, follow
from onceproof.model.versions import versions_of
from onceproof.properties.counterexample.file import (
    Counterexample,
    TraceStep,
    named,
    steps_of,
)
from onceproof.properties.judges.by_search import claims_of, every_parameter_of
from onceproof.properties.trust import own_code
from onceproof.properties.words.labels import Labels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.interpreter import State
    from onceproof.model.language.tracing.system import System
    from onceproof.properties.judges.by_search import Finding
    from onceproof.properties.property import Clause, Property


@dataclass(frozen=True)
class ModelRun:
    """A protocol as terms and as plain Python, and a run of it.

    ``clause`` is that of ``claim`` which the run breaks, or is looked at for.
    """

    system: System
    """The protocol as terms."""
    interpreter: Interpreter
    """The protocol in plain Python."""
    run: Trace
    """The run."""
    claim: Property | None = None
    clause: Clause | None = None

    @property
    def protocol(self) -> Protocol:
        """The protocol."""
        return self.system.protocol


def counterexample_of(
    protocol: Protocol,
    finding: Finding | None = None,
    *,
    found_with: Mapping[str, Any] | None = None,
) -> Counterexample:
    """Describe a protocol: its initial state, or the run that refutes a property.

    Of a witness it is the run that meets it, which breaks nothing. ``found_with`` are
    the options of the search that found it.
    """
    interpreter = Interpreter(protocol)
    labels = Labels(interpreter)
    run = finding.trace if finding else None
    start = run.start if run else next(iter(interpreter.initial_states()))
    met = finding is not None and run is not None and finding.verdict.holds
    prop = finding.property if finding and not met else None
    steps = steps_of(interpreter, run) if run else ()
    return Counterexample(
        protocol=protocol.label(),
        parameters=every_parameter_of(protocol),
        property=prop.name if prop else "",
        clause=prop.clauses[finding.clause].text if prop and finding else "",
        fails_at=len(steps),
        steps=steps,
        versions=versions_of("onceproof"),
        faults=protocol.faults,
        start=named(interpreter, start),
        shown_start=labels.state(start) if labels.tells_more else {},
        loop=run.loop if run else None,
        options=dict(found_with or {}),
    )


def model_of(
    counterexample: Counterexample,
    protocol: Protocol | None = None,
    *,
    interpreter: Interpreter | None = None,
    trust: bool = False,
) -> tuple[ModelRun | None, str]:
    """Make the model again that a counterexample was found in, or say why not.

    ``protocol`` is that model where the file's names do not lead to it, and
    ``interpreter`` what it is run by, if not by plain Python. A protocol in a file is
    run: it lies in the project, or there is ``trust``.
    """
    try:
        if protocol is None:
            path, _, _ = counterexample.protocol.partition(":")
            if path.endswith(".py") and not trust:
                own_code(path, "it")
            protocol = make(
                counterexample.protocol,
                {k: str(v) for k, v in counterexample.parameters.items()},
            )
        system = trace(protocol)
        interpreter = interpreter or Interpreter(protocol)
        start = start_of(interpreter, counterexample.start)
        events = tuple(_event(interpreter, step) for step in counterexample.steps)
        run = follow(interpreter, start, events)
    except (OnceproofError, TypeError, ValueError) as error:
        return None, f"the model cannot be made again from the file: {error}"
    for number, (new, old) in enumerate(
        zip(steps_of(interpreter, run), counterexample.steps, strict=True), 1
    ):
        if new.changes != old.changes:
            reason = f"step {number} does not do what it did when the file was written"
            return None, f"the model has changed: {reason}"
    prop = next(
        (p for p in claims_of(protocol) if p.name == counterexample.property), None
    )
    clauses = prop.clauses if prop else ()
    clause = next((c for c in clauses if c.text == counterexample.clause), None)
    run = replace(run, loop=counterexample.loop)
    return ModelRun(
        system, interpreter, run, prop, clause or next(iter(clauses), None)
    ), ""


def _event(interpreter: Interpreter, step: TraceStep) -> Event:
    """Make the event of a step. Raises ``ValueError`` for what the model has not."""
    known = interpreter.steps.get(step.event)
    if known is None:
        message = f"the model has no action {step.event!r}"
        raise ValueError(message)
    if len(step.members) != len(known.sorts):
        message = f"{step.event} is for {len(known.sorts)} members, not as {step}"
        raise ValueError(message)
    return Event(step.event, step.members, known.fault, known.fair)


def start_of(interpreter: Interpreter, named_values: dict[str, Any]) -> State:
    """Find the first state that a file names; the first of all, if it names none.

    Raises ``ValueError`` for what is no first state of the model.
    """
    if not named_values:
        return next(iter(interpreter.initial_states()))
    first = next(iter(interpreter.initial_states()))
    names = list(named(interpreter, first))
    if set(named_values) - set(names):
        message = f"the model has no {min(set(named_values) - set(names))!r}"
        raise ValueError(message)
    found = []
    for choices, name in zip(starts(interpreter), names, strict=True):
        wanted = named_values.get(name, spelled(choices[0]))
        value = next((v for v in choices if spelled(v) == wanted), None)
        if value is None:
            message = f"{name} cannot be {wanted!r} at first"
            raise ValueError(message)
        found.append(value)
    return tuple(found)
