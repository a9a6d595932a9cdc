"""Counterexample files: what broke, how it came about, and how to see it again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from onceproof.model.files import writable, write_whole
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.terms.types import spelled
from onceproof.properties.evidence.fingerprints import of_data
from onceproof.properties.ledger import History
from onceproof.properties.schema import (
    Count,
    FileFormat,
    OtherSchemaError,
    Scalars,
    flag,
    listed,
    maybe,
    one_of,
    read_as,
    stored,
    table,
    text,
    whole,
)
from onceproof.properties.words.labels import Labels
from onceproof.properties.words.sort_words import words_of

if TYPE_CHECKING:
    from pathlib import Path

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.interpreter import State
    from onceproof.model.language.steps import Event
    from onceproof.model.traces import Trace

FORMAT = FileFormat("onceproof counterexample", 2, "counterexample file")

_EVENTS = table(
    {
        "schema": text,
        "tasks": whole(1),
        "key": listed(text),
        "pieces": listed(listed(text)),
    }
)
_OPTIONS = table(
    {},
    {
        # Of the test that found it.
        **dict.fromkeys(("key", "allow", "code", "guarantees"), listed(text)),
        "profile": text,
        "most": maybe(whole(1)),
        # Of the judge of a model: a search, random walks, or z3.
        "judge": one_of("check", "simulate", "prove"),
        "engine": one_of("native", "spark"),
        **dict.fromkeys(("symmetry", "reduce", "infer", "guided"), flag),
        "induction_depth": whole(1),
        **dict.fromkeys(("max_states", "max_memory"), maybe(whole(1))),
        "walks": whole(1),
        "depth": whole(),
        # Of both.
        "seed": whole(None),
        "timeout": whole(1),
    },
)


@stored("lane", "label", "shown")
@dataclass(frozen=True)
class TraceStep:
    """One step of the trace."""

    event: str
    """The action or fault."""
    members: tuple[Count, ...]
    """The members that it happens for."""
    fault: bool
    """Whether it is a fault."""
    changes: Scalars
    """The elements of the state that it changes, with their new values."""
    lane: str = field(default="", compare=False)
    """Who acts: the member of an unordered sort, the part, or the protocol's role."""
    label: str = field(default="", compare=False)
    """How the step is shown, with a word beside each number."""
    shown: Scalars = field(default_factory=dict, compare=False)
    """How its changes are shown, where there are messages or members among them."""

    def __str__(self) -> str:
        """Show the step as ``commit_task(partition 0, attempt 1)``."""
        return self.label or f"{self.event}({', '.join(map(str, self.members))})"


@stored("shown_start", "looks", "input", "test", "options", "because", "loop", "taken")
@dataclass(frozen=True)
class Counterexample:
    """A trace that breaks a property, of the model or of a real run."""

    protocol: str
    """The protocol."""
    parameters: Scalars
    """Its parameters, parts and sizes."""
    property: str
    """The property that is broken."""
    clause: str
    """The clause of the property that fails."""
    fails_at: Count
    """Where the clause first fails: the step (from 1; 0 is the start), or the moment if
    there is an ``observed`` ledger."""
    steps: tuple[TraceStep, ...]
    """The steps of the trace."""
    versions: dict[str, str]
    """The versions of Onceproof and of what it ran on."""
    sink: str = ""
    """The sink of a real run; empty for the model alone."""
    interleaving: Count = 0
    """The number of the interleaving."""
    faults: Count = 1
    """The budget of faults."""
    events: Count = 0
    """How many events a real run reads."""
    failpoints: tuple[str, ...] = ()
    """How each fault is injected, in words."""
    observed: History | None = None
    """The ledger that the real run showed."""
    expected: History | None = None
    """The ledger that the model expects."""
    start: Scalars = field(default_factory=dict)
    """The first state, element by element."""
    shown_start: Scalars = field(default_factory=dict, compare=False)
    """How the first state is shown, where there are messages or members in it."""
    looks: tuple[Count, ...] = ()
    """How many steps were taken before each moment."""
    input: Annotated[dict[str, Any] | None, maybe(_EVENTS)] = None
    """The events, where they are the user's own."""
    test: str = ""
    """The test that found it. Replaying the file runs it again."""
    options: Annotated[dict[str, Any], _OPTIONS] = field(default_factory=dict)
    """What it was found with: of a test ``key``, ``allow``, ``code``, ``guarantees``,
    ``profile``, ``most``, ``seed``, ``timeout``; of a model the ``judge``, which is
    ``check`` with ``symmetry``, ``reduce``, ``max_states`` and ``max_memory`` in bytes,
    ``simulate`` with ``walks``, ``depth``, ``seed`` and ``guided``, or ``prove`` with
    ``depth`` and ``timeout``. A timeout is in seconds; a limit that was not set is
    null."""
    because: tuple[str, ...] = ()
    """Why it happened, in sentences."""
    loop: Count | None = None
    """How many steps come before the loop. If none follows, the run rests there."""
    taken: Count | None = None
    """How many of the steps a real run took, if it ended early. The model takes the
    others."""

    def undecided(self) -> bool:
        """Return whether nothing is known to break: no reader could read there."""
        seen = self.observed
        return seen is not None and seen.rested and self.fails_at in seen.unread

    def as_taken(self) -> Counterexample:
        """Return the counterexample without the steps that a real run did not take."""
        if self.taken is None or self.taken >= len(self.steps):
            return self
        return replace(self, steps=self.steps[: self.taken], taken=None)

    def to_json(self) -> dict[str, Any]:
        """Return plain data, with its format, its schema, and its digest."""
        data = asdict(self)
        return {**FORMAT.head, **data, "digest": of_data(data)}

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        writable(path.parent)
        write_whole(path, json.dumps(self.to_json(), indent=2) + "\n")


def read(path: Path) -> Counterexample:
    """Read a counterexample file.

    Raises ``UsageError`` for a file that is missing, damaged, foreign or newer.
    """
    first = False
    try:
        data = FORMAT.content(path)
    except OtherSchemaError as error:
        if error.schema != _FIRST_SCHEMA:
            raise
        data, first = error.data, True
    try:
        return _parsed(_renamed(data) if first else data)
    except ValueError as error:
        raise FORMAT.damaged(path, error) from None


def _renamed(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a file of the first schema under today's names.

    Its digest is checked first, because it is of the old names.
    """
    _check_digest(data)
    found = _under_new_names(data)
    protocol = found.get("protocol")
    if isinstance(protocol, str):
        found["protocol"] = _NEW_PROTOCOLS.get(protocol, protocol)
    for name in ("observed", "expected"):
        history = found.get(name)
        rows = history.get("rows") if isinstance(history, dict) else None
        if isinstance(history, dict) and isinstance(rows, list):
            named = [_under_new_names(r) if isinstance(r, dict) else r for r in rows]
            found[name] = {**history, "rows": named}
    return found


def _under_new_names(data: dict[str, Any]) -> dict[str, Any]:
    for new in _NEW_NAMES.values():
        if new in data:
            message = f"there is no {new!r} in schema {_FIRST_SCHEMA}"
            raise ValueError(message)
    return {_NEW_NAMES.get(name, name): value for name, value in data.items()}


def _check_digest(data: dict[str, Any]) -> None:
    """Take the digest out of the data. Raises ``ValueError`` if it does not fit."""
    digest = maybe(text)(data.pop("digest", None), "digest")
    if digest not in (None, of_data(data)):
        message = (
            "its digest does not match, so it was changed after it was written; "
            "help: remove 'digest' if you changed it yourself"
        )
        raise ValueError(message)


def _parsed(data: dict[str, Any]) -> Counterexample:
    """Make a counterexample of plain data. Raises ``ValueError`` for what is amiss."""
    digest = {"digest": data.pop("digest")} if "digest" in data else {}
    found = read_as(Counterexample, data)
    _check_digest({**data, **digest})
    _coherent(found)
    return found


def _coherent(found: Counterexample) -> None:
    """Raise ``ValueError`` where one part of a file speaks of what another has not."""
    steps, message = len(found.steps), ""
    if found.loop is not None and found.loop > steps:
        message = "'loop' is not the number of a step"
    elif found.observed is None and found.fails_at > steps:
        message = "'fails_at' is not the number of a step"
    elif any(look > steps for look in found.looks):
        message = "'looks' names a step that does not exist"
    elif found.taken is not None and found.taken > steps:
        message = "'taken' is more than there are steps"
    for name in ("observed", "expected"):
        history: History | None = getattr(found, name)
        if history is None:
            continue
        moments = len(history.moments)
        lengths = {
            len(history.unexplained),
            *(len(row.outcomes) for row in history.rows),
        }
        if lengths != {moments} or not moments:
            message = f"{name!r} does not cover every moment"
        elif name == "observed" and found.fails_at >= moments:
            message = "'fails_at' is not the number of a moment"
    if message:
        raise ValueError(message)


_FIRST_SCHEMA = 1
_NEW_NAMES = {"asked": "options", "fared": "outcomes"}
_NEW_PROTOCOLS = {"struck-inside": "instrumented-micro-batch"}


def steps_of(interpreter: Interpreter, trace: Trace) -> tuple[TraceStep, ...]:
    """Describe a trace step by step, with what each changed."""
    found = []
    labels = Labels(interpreter)
    for (event, after), before in zip(trace.steps, trace.states, strict=False):
        found.append(
            TraceStep(
                event.name,
                event.members,
                event.fault,
                differences(interpreter, before, after),
                lane=lane_of(interpreter, event),
                label=labels.event(event, before),
                shown=labels.differences(before, after) if labels.tells_more else {},
            )
        )
    return tuple(found)


def labels_of(protocol: Protocol, trace: Trace) -> list[str]:
    """Show the steps of a trace, each with a word beside each number."""
    return [step.label for step in steps_of(Interpreter(protocol), trace)]


def lane_of(interpreter: Interpreter, event: Event) -> str:
    """Name who acts in an event.

    It is who the action is declared to be ``by``, else the first member of an unordered
    sort among those that the event is for, else the part that it belongs to, else what
    the protocol says that it speaks of.
    """
    step = interpreter.steps[event.name]
    if step.by:
        return step.by
    sorts = step.sorts
    for member, sort in zip(event.members, sorts, strict=True):
        if not sort.ordered:
            return f"{words_of(interpreter.protocol)[sort]} {int(member)}"
    part = event.name.rpartition(".")[0]
    protocol = interpreter.protocol
    if part or protocol.role:
        return part or protocol.role
    label = protocol.label()
    return f"{label} (protocol)" if label in protocol.parts else label


def differences(
    interpreter: Interpreter, before: State, after: State
) -> dict[str, Any]:
    """Name the elements that differ, with their new values."""
    return {
        name: value
        for (name, old), (_, value) in zip(
            named(interpreter, before).items(),
            named(interpreter, after).items(),
            strict=True,
        )
        if old != value
    }


def named(interpreter: Interpreter, state: State) -> dict[str, Any]:
    """Return every element of a state by its name, such as ``task[0, 1]``."""
    found = {}
    for (field_, place), value in zip(interpreter.places, state, strict=True):
        index = f"[{', '.join(map(str, place))}]" if place else ""
        found[f"{field_.path}{index}"] = spelled(value)
    return found
