"""The steps of a protocol: its actions and faults as they are declared."""

from __future__ import annotations

import fnmatch
import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from onceproof.model.errors import ModelError
from onceproof.model.language.declarations.decorators import ActionMark
from onceproof.model.language.fields import Field, Param
from onceproof.model.language.source_location import (
    class_place,
    defined_at,
    modelling,
)
from onceproof.model.language.stores.store import running, when
from onceproof.model.language.terms.types import IntType
from onceproof.model.text import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.model.language.composition.part import Part
    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.stores.store import StateStore

_LANGUAGE = "onceproof.model.language."


@dataclass(frozen=True)
class Event:
    """One occurrence of an action or fault, for particular members."""

    name: str
    """The name of the action or fault, with the path of its part."""
    members: tuple[int, ...] = ()
    """The members it is for, as indices."""
    fault: bool = False
    """Whether it is a fault."""
    fair: bool = field(default=False, compare=False)
    """Whether the action is weakly fair."""

    def __str__(self) -> str:
        """Show the event as ``commit_task(0, 1)``."""
        return f"{self.name}({', '.join(map(str, self.members))})"


@dataclass(frozen=True)
class Step:
    """An action or fault of an instantiated protocol."""

    name: str
    """Its name, with the path of its part."""
    sorts: tuple[Sort, ...]
    """The sorts whose members it is for."""
    fault: bool
    """Whether it is a fault."""
    budgets: tuple[Field, ...]
    """The fields that count how often the fault may still happen."""
    method: str
    """The name of the method."""
    path: str
    """The path of the part that declares it."""
    doc: str
    """The first line of the method's docstring."""
    where: str
    """The line of its definition, ``file:line``."""
    fair: bool = False
    """Whether it is weakly fair."""
    by: str = ""
    """The process that takes it, where it is declared."""

    def run(
        self, protocol: Protocol, store: StateStore, members: tuple[Any, ...]
    ) -> Protocol:
        """Run the method over ``store``, taking from its budgets first.

        Gives the copy of the protocol that it ran on.
        """
        root = protocol.bound(store)
        path = self.path.split(".") if self.path else []
        owner, own = root.part_at(path, members)
        with running(store):
            spent = [cast("int", store.read(field, ())) for field in self.budgets]
            for field, used in zip(self.budgets, spent, strict=True):
                when(used < cast("IntType", field.type).high)
            body: Callable[..., object] = getattr(owner, self.method)
            if body(*own) is not None:
                message = "an action returns nothing; guard it with when(...)"
                raise ModelError(message, where=self.where)
            for field, used in zip(self.budgets, spent, strict=True):
                store.write(field, (), used + 1)
        return root


def steps_of(protocol: Protocol) -> tuple[Step, ...]:
    """List the steps of a protocol and its parts; impossible faults are left out."""
    found = []
    fair = _fair_of(protocol)
    for owner in protocol.all_parts():
        for path, mark, method in owner.marked(ActionMark):
            _check_signature(path, mark, method)
            for sort in mark.per:
                if sort not in protocol.sizes:
                    message = (
                        f"{path} is per {sort.text!r}, a sort that has no name in "
                        f"{protocol.label()}; declare it in the class, and use that"
                    )
                    where = defined_at(method)
                    raise ModelError(message, where=where)
            with modelling(_place_of(protocol, path, method)):
                budgets = _budgets(protocol, owner, path, mark)
            if any(_limit(field) == 0 for field in budgets):
                continue
            prefix, _, name = path.rpartition(".")
            found.append(
                Step(
                    name=path,
                    sorts=(*owner.part_sorts, *mark.per),
                    fault=mark.fault,
                    budgets=budgets,
                    method=name,
                    path=prefix,
                    doc=inspect.getdoc(method) or "",
                    where=defined_at(method),
                    fair=mark.fair or path in fair,
                    by=mark.by,
                )
            )
    return tuple(found)


def _fair_of(protocol: Protocol) -> set[str]:
    """Return the actions that the classes of a protocol and its parts name as fair.

    Raises ``ModelError`` for a name that is no action's.
    """
    marks = {
        path: mark
        for owner in protocol.all_parts()
        for path, mark, _ in owner.marked(ActionMark)
    }
    actions = [path for path, mark in marks.items() if not mark.fault]
    found: set[str] = set()
    for owner in protocol.all_parts():
        for name in owner.fair_actions:
            path = owner.path_to(name)
            named = fnmatch.filter(actions, path)
            if not named:
                fault = path in marks
                hint = "a fault is never fair" if fault else did_you_mean(path, actions)
                message = f"fair_actions of {owner.label()} names {name!r}; {hint}"
                raise ModelError(message, where=class_place(type(owner)))
            found.update(named)
    return found


def fields_of(protocol: Protocol) -> tuple[Field, ...]:
    """List the fields of a protocol, its parts, and the budgets of its faults."""
    budgets = {f.path: f for s in steps_of(protocol) for f in s.budgets}
    return (*protocol.all_fields(), *budgets.values())


def _place_of(protocol: Protocol, path: str, method: Callable[..., Any]) -> str:
    """Return where a step is declared, or the part of the language that brings it."""
    holder: Part = protocol
    where = defined_at(method)
    for name in path.split(".")[:-1]:
        slot, holder = holder.declared()[name], holder.parts[name]
        where = slot.where if type(holder).__module__.startswith(_LANGUAGE) else where
    return where


def _limit(field: Field) -> int:
    return cast("IntType", field.type).high


def _budgets(
    protocol: Protocol, owner: Part, path: str, mark: ActionMark
) -> tuple[Field, ...]:
    if not mark.fault:
        return ()
    limits = {"faults": protocol.faults}
    if mark.at_most is not None:
        own = mark.at_most
        limits[f"faults.{path}"] = (
            owner.argument(own) if isinstance(own, Param) else own
        )
    return tuple(
        Field(name, IntType(0, limit), (), 0, volatile=False)
        for name, limit in limits.items()
    )


def _check_signature(path: str, mark: ActionMark, method: Callable[..., Any]) -> None:
    wanted = ", ".join(["self", *(sort.name.lower() for sort in mark.per)])
    try:
        inspect.signature(method).bind(*mark.per)
    except (TypeError, ValueError):
        name = path.rpartition(".")[2]
        message = f"{path} must be declared as def {name}({wanted})"
        raise ModelError(
            message,
            where=defined_at(method),
        ) from None
