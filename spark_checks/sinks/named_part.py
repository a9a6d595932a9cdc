"""The model part that a user names for a sink, and the functions that perform it."""

from __future__ import annotations

import functools
import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from onceproof.model.errors import UsageError
from onceproof.model.language.steps import steps_of
from onceproof.model.library import parts
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.protocols.parts.sinks.sink import Sink
from onceproof.model.text import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onceproof.model.language.composition.slots import Slot
    from onceproof.spark_checks.sinks.interface import (
        ModelledSink,
        PartNamed,
        Steps,
        UnderTest,
    )

_WRITE = "write"
_SINK = "sink."


def reference_of(model: PartNamed | None) -> str | None:
    """Return a text that a part can be found by again: its name, or ``module:class``.

    Raises ``UsageError`` for what is no part, and for a class that no import finds.
    """
    if model is None or isinstance(model, str):
        return model
    given: Any = model
    if not (isinstance(given, type) and issubclass(given, Sink)):
        message = (
            f"model= takes the name of a part, or a subclass of Sink, not {model!r}; "
            "help: onceproof protocols micro-batch lists the names"
        )
        raise UsageError(message)
    if "<" in model.__qualname__:
        message = (
            f"model= names {model.__qualname__}, which no import finds; help: define "
            "the class at the top of a module"
        )
        raise UsageError(message)
    return f"{model.__module__}:{model.__qualname__}"


def functions_of(steps: Steps) -> dict[str, str]:
    """Return the qualified name of the function of each action.

    Raises ``UsageError`` for what is no function.
    """
    found = {}
    for action, given in steps.items():
        function: Any = given
        while isinstance(function, functools.partial):
            function = function.func
        name = function if isinstance(function, str) else _qualified(function)
        if not name:
            message = (
                f"steps= names {given!r} for {action}, which is no function; help: "
                "pass the function itself, or its qualified name"
            )
            raise UsageError(message)
        found[action] = name
    return found


def _qualified(function: Any) -> str:
    """Return the name of a Python function or method; no text for anything else."""
    plain = getattr(function, "__func__", function)
    return str(plain.__qualname__) if hasattr(plain, "__code__") else ""


def part_of(under_test: UnderTest) -> type[Sink] | None:
    """Return the part that describes a sink; None where its author names none.

    Raises ``UsageError`` for an unknown part, for an action that it has not, and where
    there is nothing to compare it with.
    """
    named = reference_of(under_test.model)
    if named is None:
        if under_test.steps:
            message = (
                "steps= is given, but model= names no part; help: onceproof protocols "
                "micro-batch lists the parts"
            )
            raise UsageError(message)
        return None
    part = _found(named)
    if under_test.result is not None:
        message = (
            f"model= names {part.label()}, and the sink has a result=: a part says "
            "what becomes of each event, and totals do not show that; help: leave one "
            "of them out"
        )
        raise UsageError(message)
    steps_in_model(part, functions_of(under_test.steps))
    return part


def actions_of(part: type[Sink]) -> dict[str, str]:
    """Return the actions that a function can perform, by the names that users type."""
    sink = part()
    own = {
        step.name.removeprefix(_SINK): step.name
        for step in steps_of(MicroBatch(sink=part))
        if step.name.startswith(_SINK) and not step.fault
    }
    return {_WRITE: _WRITE, **own} if sink.writes_in_tasks else own


def steps_in_model(part: type[Sink], steps: Mapping[str, str]) -> dict[str, str]:
    """Return functions by the names that the actions have in the model.

    Raises ``UsageError`` for an action that the part has not.
    """
    known = actions_of(part)
    found = {}
    for action, function in steps.items():
        plain = action.removeprefix(_SINK)
        if plain not in known:
            message = (
                f"steps= names the action {action!r}, and {part.label()} has no such "
                "action; "
                f"{did_you_mean(plain, known)}"
            )
            raise UsageError(message)
        found[known[plain]] = function
    return found


def with_part(
    sink: ModelledSink, under_test: UnderTest, part: type[Sink]
) -> ModelledSink:
    """Return a user's sink as a part describes it, with its functions as steps."""
    return replace(
        sink,
        model=part,
        steps=steps_in_model(part, functions_of(under_test.steps)),
        engine=MicroBatch,
        parameters={},
        seen=None,
        exchanges=None,
        compared=True,
        calls_back=sink.callback,
    )


def _found(named: str) -> type[Sink]:
    """Find a part by its name in the library, or as ``module:class``."""
    module, colon, path = named.partition(":")
    if not colon:
        slot = cast("Slot[Any]", MicroBatch.parameters()["sink"])
        known = parts(slot)
        if named not in known:
            message = f"model= names the part {named!r}; {did_you_mean(named, known)}"
            raise UsageError(message)
        return cast("type[Sink]", known[named])
    try:
        found: Any = functools.reduce(
            getattr, path.split("."), importlib.import_module(module)
        )
    except Exception as error:  # noqa: BLE001 - the module may raise anything
        message = (
            f"model= names {named}, which cannot be imported: {error}; help: write "
            "module:Class, as Python imports the module"
        )
        raise UsageError(message) from None
    if not (isinstance(found, type) and issubclass(found, Sink)):
        message = f"model= names {named}, which is no subclass of Sink"
        raise UsageError(message)
    return found
