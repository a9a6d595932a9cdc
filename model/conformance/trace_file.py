"""Files of traces: JSON Lines, one observed event a line, below one header."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.conformance.names import TraceNames
from onceproof.model.conformance.observed import (
    Condition,
    ObservedEvent,
    ObservedKind,
    ObservedTrace,
    Silence,
)
from onceproof.model.errors import UsageError
from onceproof.model.files import json_of, read_text
from onceproof.model.text import did_you_mean, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from onceproof.model.language.composition.protocol import Protocol

VERSION = 1
_WHAT = "trace"
_HEADER = ("trace", "protocol", "set", "silent", "note")
_KEYS = ("step", "members", "state", "call", "return", "gone", "note")
_LONG = 120


@dataclass(frozen=True)
class TraceFile:
    """A file of a trace, before it is read in terms of a protocol."""

    path: Path
    """The file."""
    protocol: str
    """The protocol that its header names; empty if it names none."""
    settings: Mapping[str, str]
    """The sizes, numbers and parts that its header sets, as --set takes them."""
    silent: tuple[str, ...]
    """The steps, or patterns of steps, that its header says leave no event."""
    events: tuple[tuple[int, Mapping[str, Any]], ...]
    """Each event, with the number of its line."""


def read_trace_file(path: Path) -> TraceFile:
    """Read a file of a trace.

    Raises ``UsageError``, with the line, for one that is none.
    """
    lines = [
        (number, _line(path, number, text))
        for number, text in enumerate(read_text(path).splitlines(), 1)
        if text.strip()
    ]
    header: Mapping[str, Any] = {}
    if lines and "trace" in lines[0][1]:
        (_, header), *lines = lines
        _check_header(path, header)
    return TraceFile(
        path,
        header.get("protocol", ""),
        {name: str(value) for name, value in header.get("set", {}).items()},
        tuple(header.get("silent", ())),
        tuple(lines),
    )


def observed(
    file: TraceFile, protocol: Protocol, silent: tuple[str, ...] = ()
) -> ObservedTrace:
    """Read a trace in terms of a protocol; ``silent`` are more steps without events.

    Raises ``UsageError``, with the line, for a name or a value that the protocol does
    not have.
    """
    names = TraceNames(protocol)
    try:
        steps = frozenset(names.steps([*file.silent, *silent]))
    except UsageError as error:
        message = f"silent of {file.path}: {error}"
        raise UsageError(message) from None
    reader = _EventReader(names)
    found = []
    for number, event in file.events:
        try:
            found.append(reader.observation(event, number))
        except UsageError as error:
            message = f"{file.path}, line {number}: {error}"
            raise UsageError(message) from None
    if not found:
        message = f"{file.path} holds no event, so it shows nothing"
        raise UsageError(message)
    return ObservedTrace(tuple(found), (Silence(steps),) if steps else ())


class _EventReader:
    """Reads the events of one trace, in order."""

    def __init__(self, names: TraceNames) -> None:
        self._names = names
        self._calls: set[str] = set()
        self._ended: set[str] = set()

    def observation(self, event: Mapping[str, Any], line: int) -> ObservedEvent:
        """Read one event."""
        kind, key = self._kind(event)
        events = tuple(
            self._names.events(event["step"], event.get("members"))
            if "step" in event
            else ()
        )
        holds = tuple(self._conditions(event.get("state", {})))
        return ObservedEvent(kind, _text(event), events, holds, key, line)

    def _kind(self, event: Mapping[str, Any]) -> tuple[ObservedKind, str]:
        for name in event:
            if name not in _KEYS:
                message = f"an event has no {name!r}; {did_you_mean(name, _KEYS)}"
                raise UsageError(message)
        ends = [name for name in ("call", "return", "gone") if name in event]
        if len(ends) > 1:
            message = f"an event is either a {ends[0]} or a {ends[1]}"
            raise UsageError(message)
        if not ends:
            if "step" in event:
                return ObservedKind.STEP, ""
            self._refuse(event, "members", "without a step")
            if event.get("state"):
                return ObservedKind.STATE, ""
            message = 'an event has a "step", a "state", a "return" or a "gone"'
            raise UsageError(message)
        [end] = ends
        key = event[end]
        if not isinstance(key, str) or not key:
            message = f'"{end}" takes the name of a call, not {key!r}'
            raise UsageError(message)
        if end == "call":
            return self._called(event, key)
        for name in ("step", "members"):
            self._refuse(event, name, f"with a {end}: it is the call that has one")
        if end == "gone":
            self._refuse(event, "state", "with a gone")
        if key not in self._calls:
            message = f"no call before it is named {key!r}"
            raise UsageError(message)
        if key in self._ended:
            message = f"the call {key!r} has ended before"
            raise UsageError(message)
        self._ended.add(key)
        return (ObservedKind.RETURN if end == "return" else ObservedKind.GONE), key

    def _called(self, event: Mapping[str, Any], key: str) -> tuple[ObservedKind, str]:
        if "step" not in event:
            message = 'a call has a "step"'
            raise UsageError(message)
        if key in self._calls:
            message = f"there is another call named {key!r}"
            raise UsageError(message)
        self._calls.add(key)
        return ObservedKind.CALL, key

    @staticmethod
    def _refuse(event: Mapping[str, Any], name: str, where: str) -> None:
        if name in event:
            message = f'"{name}" says nothing {where}'
            raise UsageError(message)

    def _conditions(self, given: object) -> Iterator[Condition]:
        if not isinstance(given, dict):
            message = '"state" takes an object, such as {"commits": 1}'
            raise UsageError(message)
        for label, value in given.items():
            path, place, held = self._names.element(label, value)
            yield Condition(path, place, held)


def _line(path: Path, number: int, text: str) -> Mapping[str, Any]:
    found = json_of(text, f"{path}, line {number},", _WHAT)
    if not isinstance(found, dict):
        message = f"{path}, line {number}: a line of a trace is a JSON object"
        raise UsageError(message)
    return found


def _check_header(path: Path, header: Mapping[str, Any]) -> None:
    def refuse(why: str) -> None:
        message = f"{path}: {why}"
        raise UsageError(message)

    if header["trace"] != VERSION:
        refuse(f"this reads version {VERSION} of traces, not {header['trace']!r}")
    for name in header:
        if name not in _HEADER:
            refuse(f"the header has no {name!r}; {did_you_mean(name, _HEADER)}")
    if not isinstance(header.get("protocol", ""), str):
        refuse('"protocol" takes a name, such as "micro-batch"')
    given = header.get("set", {})
    if not isinstance(given, dict) or not all(
        isinstance(v, str | int) and not isinstance(v, bool) for v in given.values()
    ):
        refuse('"set" takes an object of names and values, such as {"RM": 3}')
    silent = header.get("silent", [])
    if not isinstance(silent, list) or not all(isinstance(s, str) for s in silent):
        refuse('"silent" takes a list of steps, such as ["start_task", "sink.*"]')


def _text(event: Mapping[str, Any]) -> str:
    """Show an event in a report, without its note."""
    words = []
    for name in ("call", "return", "gone"):
        if name in event:
            words.append(f"{name} {event[name]}:" if name == "call" else name)
            words += [str(event[name])] if name != "call" else []
    step = event.get("step")
    if step is not None:
        named = " or ".join(step) if isinstance(step, list) else str(step)
        members = event.get("members")
        if isinstance(members, dict):
            named += f"({', '.join(f'{k} {v}' for k, v in members.items())})"
        elif members:
            named += f"({', '.join(map(str, members))})"
        words.append(named)
    if event.get("state"):
        claims = (f"{path} == {_shown(v)}" for path, v in event["state"].items())
        words.append(f"{'with ' if words else ''}{' and '.join(claims)}")
    return printable(" ".join(words))[:_LONG]


def _shown(value: object) -> str:
    return "nobody" if value is None else str(value)
