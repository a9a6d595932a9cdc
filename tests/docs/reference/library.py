"""The protocols of the library, and the reference sinks."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from onceproof.spark_checks.cli import main
from onceproof.spark_checks.sinks.reference import reference_sinks
from tests.docs.reference.markdown import head, row, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator


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


def sinks() -> Iterator[str]:
    """Write a table of the reference sinks."""
    yield from head("sink", "what it does", "model part", "breaks")
    for name, sink in reference_sinks().items():
        model = sink.model if isinstance(sink.model, type) else type(sink.model)
        does = sentence((inspect.getdoc(sink.build) or "").split("\n\n")[0])
        breaks = ", ".join(f"`{broken}`" for broken in sorted(sink.refuted))
        yield row(f"`{name}`", does, f"`{model.__name__}`", breaks)


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
