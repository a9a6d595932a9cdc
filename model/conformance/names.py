"""The names in a trace: of steps, their members, and elements of the state."""

from __future__ import annotations

import fnmatch
import inspect
import itertools
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.sorts import NO_MEMBER
from onceproof.model.language.steps import Event
from onceproof.model.language.terms.types import (
    BoolType,
    EnumType,
    IntType,
    MemberType,
    OptionalType,
    member,
    spelled,
)
from onceproof.model.language.tracing.trace import trace
from onceproof.model.text import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.fields import Field
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.steps import Step
    from onceproof.model.language.terms.types import Value

_ELEMENT = re.compile(r"([^\[\]]+)(?:\[([^\[\]]*)\])?")


class TraceNames:
    """Reads the names of one trace in terms of a protocol.

    A member is given by its number from 0, or by any name where the members of its sort
    are interchangeable: the names of a sort are numbered in the order of their first
    appearance, and no two are the same member.
    """

    def __init__(self, protocol: Protocol) -> None:
        """Find what the protocol names."""
        self._interpreter = Interpreter(protocol)
        self._sizes = protocol.sizes
        self._named = trace(protocol).named
        self._fields = {field.path: field for field in self._interpreter.fields}
        self._labels: defaultdict[Sort, dict[str, int]] = defaultdict(dict)
        self._by_number: set[Sort] = set()
        self._members = {
            name: _names_of(protocol, step)
            for name, step in self._interpreter.steps.items()
        }

    def steps(self, patterns: Iterable[object]) -> Iterator[str]:
        """Yield the steps that some names or patterns name; each must name one.

        Raises ``UsageError``.
        """
        known = list(self._interpreter.steps)
        for pattern in patterns:
            found = fnmatch.filter(known, pattern) if isinstance(pattern, str) else []
            if not found:
                name = self._interpreter.protocol.label()
                hint = did_you_mean(str(pattern), known)
                message = f"{name} has no step {pattern!r}; {hint}"
                raise UsageError(message)
            yield from found

    def events(self, step: object, members: object) -> Iterator[Event]:
        """Yield the events that a step may be, for the members that are given.

        Raises ``UsageError``.
        """
        patterns = step if isinstance(step, list) else [step]
        if not patterns:
            message = '"step" takes a name, or a list of at least one'
            raise UsageError(message)
        for name in dict.fromkeys(self.steps(patterns)):
            one = self._interpreter.steps[name]
            given = self._given(one, members)
            ranges = [
                range(self._sizes[sort]) if number is None else (number,)
                for sort, number in zip(one.sorts, given, strict=True)
            ]
            for each in itertools.product(*ranges):
                yield Event(name, tuple(each), one.fault, one.fair)

    def element(self, label: str, value: object) -> tuple[str, tuple[int, ...], Value]:
        """Read an element of the state, such as ``task[0, 1]``, and its value.

        Raises ``UsageError``.
        """
        match = _ELEMENT.fullmatch(label.strip())
        path, inner = match.groups() if match else (label, None)
        if path not in self._fields:
            name = self._interpreter.protocol.label()
            hint = did_you_mean(path, self._fields)
            message = f"{name} has no state {path!r}; {hint}"
            raise UsageError(message)
        field = self._fields[path]
        parts = [part.strip() for part in inner.split(",")] if inner else []
        if len(parts) != len(field.sorts):
            each = ", ".join(sort.name.lower() for sort in field.sorts)
            form = f"{path}[{each}]" if each else path
            message = f"{label!r} is written as {form}"
            raise UsageError(message)
        place = tuple(
            self._member(sort, int(part) if part.isdecimal() else part)
            for sort, part in zip(field.sorts, parts, strict=True)
        )
        return path, place, self._value(field, value)

    def _given(self, step: Step, members: object) -> list[int | None]:
        names = self._members[step.name]
        if members is None:
            return [None] * len(names)
        if isinstance(members, list):
            if len(members) != len(names):
                message = (
                    f"{step.name} is for {len(names)} members ({', '.join(names)}), "
                    f"and {len(members)} are given"
                )
                raise UsageError(message)
            given: dict[str, Any] = dict(zip(names, members, strict=True))
        elif isinstance(members, dict):
            given = members
        else:
            message = '"members" takes an object, such as {"batch": 0}, or a list'
            raise UsageError(message)
        for name in given:
            if name not in names:
                hint = did_you_mean(name, names) if names else "it is for none"
                message = f"{step.name} is for no member {name!r}; {hint}"
                raise UsageError(message)
        return [
            None if given.get(name) is None else self._member(sort, given[name])
            for name, sort in zip(names, step.sorts, strict=True)
        ]

    def _member(self, sort: Sort, given: object) -> int:
        size = self._sizes[sort]
        if isinstance(given, int) and not isinstance(given, bool):
            self._by_number.add(sort)
            number = given
        elif isinstance(given, str):
            if sort.ordered or sort in self._named:
                message = (
                    f"members of {sort.name} are not interchangeable, so each is given "
                    f"by its number, not as {given!r}"
                )
                raise UsageError(message)
            labels = self._labels[sort]
            number = labels.setdefault(given, len(labels))
        else:
            message = f"a member of {sort.name} is a number or a name, not {given!r}"
            raise UsageError(message)
        if self._labels[sort] and sort in self._by_number:
            message = f"members of {sort.name} are given by number and by name"
            raise UsageError(message)
        if not 0 <= number < size:
            message = (
                f"there are {size} members of {sort.name}, and {given!r} is none of "
                f"them; help: --set {sort.name}={max(number + 1, size + 1)}"
            )
            raise UsageError(message)
        return number

    def _value(self, field: Field, given: object) -> Value:
        type_ = field.type
        if isinstance(type_, MemberType):
            if given is None and isinstance(type_, OptionalType):
                return member(NO_MEMBER, type_.sort)
            return member(self._member(type_.sort, given), type_.sort)
        known: list[Value]
        if isinstance(type_, BoolType):
            known = [False, True]
        elif isinstance(type_, EnumType):
            known = list(type_.members)
        else:
            known = self._numbers(type_, given)
        for value in known:
            shown = spelled(value)
            if shown == given and isinstance(shown, bool) == isinstance(given, bool):
                return value
        values = f"{type_}" if isinstance(type_, IntType) else None
        listed = values or ", ".join(str(spelled(value)) for value in known)
        message = f"{field.path} is never {given!r}; it is one of {listed}"
        raise UsageError(message)

    @staticmethod
    def _numbers(type_: IntType, given: object) -> list[Value]:
        """Return the number that is given, where the type has it."""
        within = (
            isinstance(given, int)
            and not isinstance(given, bool)
            and type_.low <= given <= type_.high
        )
        return [given] if within else []  # type: ignore[list-item]


def _names_of(protocol: Protocol, step: Step) -> tuple[str, ...]:
    """Name the members of a step: by the sort, or by the parameter if it has several.

    So they are batch, partition and attempt of ``write``; candidate and voter of a step
    that is for two servers.
    """
    sorts = [sort.name.lower() for sort in step.sorts]
    owner = next(p for p in protocol.all_parts() if p.path_to("")[:-1] == step.path)
    own = list(inspect.signature(getattr(owner, step.method)).parameters)
    outer = len(sorts) - len(own)
    return tuple(
        name if sorts.count(name) == 1 or at < outer else own[at - outer]
        for at, name in enumerate(sorts)
    )
