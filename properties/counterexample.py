"""Counterexample files: what broke, how it came about, and how to see it again."""

from __future__ import annotations

import difflib
import json
import tempfile
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.model.language.types import spelled
from onceproof.properties.ledger import History

if TYPE_CHECKING:
    from pathlib import Path

    from onceproof.model.language.plain import Reference, State
    from onceproof.model.language.steps import Event
    from onceproof.model.traces import Trace

SCHEMA = 1
FORMAT = "onceproof counterexample"


@dataclass(frozen=True)
class Step:
    """One step of the trace, with the elements of the state that it changed.

    ``lane`` names who acts: the member of an unordered sort, the part, or the rest.
    """

    event: str
    members: tuple[int, ...]
    fault: bool
    changes: dict[str, Any]
    lane: str = ""

    def __str__(self) -> str:
        """Show the step as ``commit_task(0, 1)``."""
        return f"{self.event}({', '.join(map(str, self.members))})"


@dataclass(frozen=True)
class Counterexample:
    """A trace that breaks a property, of the model or of a real run.

    ``fails_at`` is the number of the step (from 1; 0 is the start) or, where there
    is an ``observed`` ledger, of the moment, at which the clause first fails.
    ``events`` is how many events a real run read, ``input`` holds them where they are
    the user's own. ``looks`` tells after how many steps each moment was. ``test`` is
    the test that found it, by which it can be run again, with what it was ``asked``.
    ``because`` tells in sentences how it came about. Where ``loop`` is given, the steps
    after that one go on for ever; where none come after it, nothing has to happen.
    """

    protocol: str
    parameters: dict[str, Any]
    property: str
    clause: str
    fails_at: int
    steps: tuple[Step, ...]
    versions: dict[str, str]
    sink: str = ""
    interleaving: int = 0
    faults: int = 1
    events: int = 0
    failpoints: tuple[str, ...] = ()
    observed: History | None = None
    expected: History | None = None
    start: dict[str, Any] = field(default_factory=dict)
    looks: tuple[int, ...] = ()
    input: dict[str, Any] | None = None
    test: str = ""
    asked: dict[str, Any] = field(default_factory=dict)
    because: tuple[str, ...] = ()
    loop: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Give plain data, with its format and schema."""
        return {"format": FORMAT, "schema": SCHEMA, **asdict(self)}

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        data = self.to_json()
        writable(path.parent)
        draft = path.with_suffix(".tmp")
        draft.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
        draft.replace(path)


def writable(folder: Path) -> None:
    """Make a folder, and see that files can be put into it.

    Raises ``UsageError`` where that is not so.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        message = f"{folder} cannot be written to: {error.strerror or error}"
        raise UsageError(message) from None


def read(path: Path) -> Counterexample:
    """Read a counterexample file.

    Raises ``UsageError`` for a file that is missing, damaged, foreign or newer.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise UsageError(message) from None
    except (ValueError, RecursionError):
        message = f"{path} is not JSON, so it is no counterexample file"
        raise UsageError(message) from None
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        message = f"{path} is JSON, but no counterexample file of Onceproof"
        raise UsageError(message)
    schema = data.pop("schema", None)
    if schema != SCHEMA:
        message = (
            f"{path} has schema {schema}, and this Onceproof reads {SCHEMA}; "
            "use the version that wrote it"
        )
        raise UsageError(message)
    try:
        return _parsed(data)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        message = f"{path} is damaged: {_lacks(error)}"
        raise UsageError(message) from None


def _lacks(error: Exception) -> str:
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


def _parsed(data: dict[str, Any]) -> Counterexample:
    given = data.get("input")
    if given is not None and not isinstance(given, dict):
        message = "'input' is not an object"
        raise TypeError(message)
    _known(data, Counterexample, "")
    _typed({**_LATER, **data}, _FIELDS, "")
    loop = data.get("loop")
    if loop is not None and loop not in range(len(data["steps"]) + 1):
        message = "'loop' is not the number of a step"
        raise TypeError(message)
    for number, step in enumerate(data["steps"], 1):
        if not isinstance(step, dict):
            message = f"step {number} is no object"
            raise TypeError(message)
        _known(step, Step, f" in step {number}")
        _typed(step, _STEP, f" of step {number}")
        if any(type(member) is not int or member < 0 for member in step["members"]):
            message = f"'members' of step {number} are not numbers from 0 on"
            raise TypeError(message)
    steps = tuple(
        Step(**{**step, "members": tuple(step["members"])}) for step in data["steps"]
    )
    histories = {
        name: None if data[name] is None else History.from_json(data[name])
        for name in ("observed", "expected")
    }
    return Counterexample(
        **{
            **data,
            **histories,
            "steps": steps,
            **{n: tuple(data[n]) for n in _TUPLES if n in data},
        }
    )


_FIELDS: dict[str, type] = {
    "protocol": str,
    "parameters": dict,
    "property": str,
    "clause": str,
    "fails_at": int,
    "steps": list,
    "versions": dict,
    "sink": str,
    "interleaving": int,
    "faults": int,
    "events": int,
    "failpoints": list,
    "start": dict,
    "looks": list,
    "test": str,
    "asked": dict,
    "because": list,
}
_LATER: dict[str, Any] = {"looks": [], "test": "", "asked": {}, "because": []}
_TUPLES = ("failpoints", "looks", "because")
_STEP: dict[str, type] = {
    "event": str,
    "members": list,
    "fault": bool,
    "changes": dict,
}
_WORDS = {str: "a text", dict: "an object", int: "a whole number", list: "a list"}


def _known(data: dict[str, Any], kind: type, where: str) -> None:
    """Raise ``TypeError`` for a field that there is not, with the one that is near."""
    names = [f.name for f in fields(kind)]
    for name in data:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            message = f"there is no {name!r}{where}{hint}"
            raise TypeError(message)


def _typed(data: dict[str, Any], kinds: dict[str, type], where: str) -> None:
    """Raise ``TypeError`` for a field of another kind than it was written as."""
    for name, kind in kinds.items():
        value = data[name]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            message = f"{name!r}{where} is not {_WORDS.get(kind, 'true or false')}"
            raise TypeError(message)


def steps_of(reference: Reference, trace: Trace) -> tuple[Step, ...]:
    """Tell a trace step by step, with what each changed."""
    found = []
    for (event, after), before in zip(trace.steps, trace.states, strict=False):
        changes = differences(reference, before, after)
        lane = lane_of(reference, event)
        found.append(Step(event.name, event.members, event.fault, changes, lane))
    return tuple(found)


def lane_of(reference: Reference, event: Event) -> str:
    """Name who acts in an event.

    It is the first member of an unordered sort among those that the event is for, else
    the part that it belongs to, else what the protocol says that it speaks of.
    """
    sorts = reference.steps[event.name].sorts
    for member, sort in zip(event.members, sorts, strict=True):
        if not sort.ordered:
            return f"{sort.text.partition(',')[0]} {int(member)}"
    part = event.name.rpartition(".")[0]
    return part or reference.protocol.role or reference.protocol.label()


def differences(reference: Reference, before: State, after: State) -> dict[str, Any]:
    """Name the elements that differ, with their new values."""
    return {
        name: value
        for (name, old), (_, value) in zip(
            named(reference, before).items(),
            named(reference, after).items(),
            strict=True,
        )
        if old != value
    }


def named(reference: Reference, state: State) -> dict[str, Any]:
    """Give every element of a state by its name, such as ``task[0, 1]``."""
    found = {}
    for (field_, place), value in zip(reference.places, state, strict=True):
        index = f"[{', '.join(map(str, place))}]" if place else ""
        found[f"{field_.path}{index}"] = spelled(value)
    return found
