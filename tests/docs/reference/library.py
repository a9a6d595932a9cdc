"""The protocols of the library, and the reference sinks."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from onceproof.model.library import slots_of_part
from onceproof.spark_checks.cli import main
from onceproof.spark_checks.sinks.reference import every_reference_sink
from onceproof.spark_checks.stores.layered import breaks
from tests.docs.reference.markdown import head, row, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onceproof.spark_checks.sinks.interface import ModelledSink


def protocols() -> Iterator[str]:
    """Write a table of the protocols, then what ``--set`` takes for each."""
    done = CliRunner().invoke(main, ["protocols", "--json"], catch_exceptions=False)
    described = json.loads(done.stdout)
    yield from head("protocol", "what it is", "source", "breaks")
    for one in described:
        breaks = ", ".join(f"`{name}`" for name in one["breaks"])
        yield row(f"`{one['name']}`", one["summary"], one["citation"], breaks)
    yield ""
    yield from head("protocol", "sizes and numbers", "parts")
    for one in described:
        yield row(f"`{one['name']}`", _sizes(one), _parts(one))


def described_parts() -> Iterator[str]:
    """Write a table of the parts that fit in a slot, and what they break."""
    yield from head("part", "slot", "what it is", "breaks")
    for name, taken in slots_of_part().items():
        for kind in dict.fromkeys(kind for _, _, kind in taken):
            slots = dict.fromkeys(f"`{slot}`" for _, slot, of in taken if of is kind)
            first = (inspect.getdoc(kind) or "").split("\n")[0].removesuffix(".")
            broken = [f"`{one}`" for one in sorted(kind.breaks)]
            for other, more in kind.breaks_in.items():
                beside = ", ".join(f"`{one}`" for one in sorted(more))
                broken.append(f"with `{other}` {beside}")
            yield row(f"`{name}`", ", ".join(slots), first, ", ".join(broken))


def sinks() -> Iterator[str]:
    """Write a table of the reference sinks, those on stores after the others."""
    yield from head("sink", "what it is", "store", "model part", "breaks")
    every = every_reference_sink().items()
    for name, sink in sorted(every, key=lambda one: (_store(one[1]), one[0])):
        model = sink.model if isinstance(sink.model, type) else type(sink.model)
        module = inspect.getmodule(sink.build)
        does = sentence((inspect.getdoc(module) or "").split("\n\n")[0])
        broken = ", ".join(f"`{prop}`" for prop in sorted(sink.refuted))
        yield row(f"`{name}`", does, _store(sink), f"`{model.__name__}`", broken)


def _store(sink: ModelledSink) -> str:
    if sink.store is None:
        return ""
    broken = " with broken connections" if breaks(sink.store) else ""
    return f"`{sink.store.name}`{broken}"


def _sizes(one: dict[str, Any]) -> str:
    return "<br>".join(
        f"`{name}={param['default']}` {param['text']}"
        for name, param in one["parameters"].items()
    )


def _parts(one: dict[str, Any]) -> str:
    return "<br>".join(
        f"`{slot}={part['default']}` or {', '.join(f'`{n}`' for n in others)}"
        for slot, part in one["parts"].items()
        if (others := [n for n in part["choices"] if n != part["default"]])
    )
