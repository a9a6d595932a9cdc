"""Directives whose text is made from the code: options, guarantees, keys of files.

Each writes Markdown, which is then read as if it stood in the page.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import pydoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.util.docutils import SphinxDirective

from onceproof.properties.evidence.sheet import ASPECTS
from onceproof.properties.guarantees import GUARANTEES
from onceproof.properties.ledger import VOCABULARY, Ledger
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks import pytest_plugin
from onceproof.spark_checks.pytest_plugin import hooks
from onceproof.spark_checks.pytest_plugin.options import PROFILES, Profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from docutils import nodes
    from sphinx.application import Sphinx


class Made(SphinxDirective):
    """A directive that is replaced by what ``text`` gives."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Read the text as Markdown."""
        return self.parse_text_to_nodes("\n".join(self.text()))

    def text(self) -> Iterator[str]:
        """Write the lines."""
        raise NotImplementedError


class Declared:
    """Stands in for pytest's parser, and notes what the plugin declares."""

    def __init__(self) -> None:
        """Let the plugin declare."""
        self.options: dict[str, dict[str, Any]] = {}
        self.keys: dict[str, tuple[str, str]] = {}
        pytest_plugin.pytest_addoption(self)

    def getgroup(self, _: str, __: str) -> Declared:
        """Be the group as well."""
        return self

    def addoption(self, name: str, **told: Any) -> None:
        """Note an option."""
        self.options[name] = told

    def addini(self, name: str, text: str, type: str = "string") -> None:  # noqa: A002
        """Note a key."""
        self.keys[name] = text, type


class PluginOptions(Made):
    """Every option of the plugin, as it is declared to pytest."""

    def text(self) -> Iterator[str]:
        """Write an entry for each."""
        for name, told in Declared().options.items():
            yield f"`{name}={told.get('metavar') or _shape(told)}`"
            yield f": {_sentence(told['help'])}"
            yield ""


class PluginKeys(Made):
    """Every key of the ini file, as it is declared to pytest."""

    def text(self) -> Iterator[str]:
        """Write a table."""
        yield from _head("key", "type", "what it says")
        for name, (text, kind) in Declared().keys.items():
            yield _row(f"`{name}`", kind, text)


class PluginProfiles(Made):
    """The profiles, field by field."""

    def text(self) -> Iterator[str]:
        """Write a table."""
        fields = list(inspect.signature(Profile).parameters)
        yield from _head("profile", *(f"`{name}`" for name in fields))
        for name, profile in PROFILES.items():
            told = (getattr(profile, field) for field in fields)
            yield _row(f"`{name}`", *("all" if v is None else str(v) for v in told))


class PluginMarker(Made):
    """The marker's own line, as ``pytest --markers`` prints it."""

    def text(self) -> Iterator[str]:
        """Write the signature, then what it says."""
        signature, _, told = hooks._MARKER.partition(": ")
        yield f"`@pytest.mark.{signature}`"
        yield f": {_sentence(told)}"


class Guarantees(Made):
    """Every guarantee: its clauses, and what a protocol must observe."""

    def text(self) -> Iterator[str]:
        """Write a section for each."""
        for prop in GUARANTEES:
            yield f"`{prop.name}`"
            yield f": {_sentence(prop.text)} Aspect: {ASPECTS[prop.name]}. Needs "
            yield f"  {', '.join(f'`{need}`' for need in prop.needs)}."
            yield ""
            yield from (f"  - *{c.when}*: {c.text}" for c in prop.clauses)
            yield ""


class Vocabulary(Made):
    """The words of the ledger, which ``@observe`` methods are named after."""

    def text(self) -> Iterator[str]:
        """Write a table."""
        yield from _head("word", "what it says")
        for word in VOCABULARY:
            yield _row(f"`{word}`", inspect.getdoc(getattr(Ledger, word)) or "")


class Verdicts(Made):
    """The closed set of verdicts."""

    def text(self) -> Iterator[str]:
        """Write a table."""
        yield from _head("verdict", "may be read as: it holds", "what it says")
        for verdict in Verdict:
            holds = "yes" if verdict.holds else "no"
            yield _row(f"`{verdict}`", holds, verdict.meaning)


class Fields(Made):
    """The fields of a dataclass, below what its docstring says."""

    required_arguments = 1

    def text(self) -> Iterator[str]:
        """Write the docstring, then a table."""
        kind = pydoc.locate(self.arguments[0])
        if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
            message = f"{self.arguments[0]} is no dataclass"
            raise self.error(message)
        yield (inspect.getdoc(kind) or "").replace("``", "`")
        yield ""
        yield from _head("field", "type", "if left out")
        for field in dataclasses.fields(kind):
            yield _row(f"`{field.name}`", f"`{field.type}`", _otherwise(field))


class Schema(Made):
    """The keys of a JSON schema, table by table."""

    required_arguments = 1

    def text(self) -> Iterator[str]:
        """Write a table for each object in it."""
        path = Path(self.env.srcdir, self.arguments[0])
        self.env.note_dependency(str(path))
        yield from _object(
            json.loads(path.read_text(encoding="utf-8")), "tool.onceproof"
        )


def _object(schema: dict[str, Any], name: str) -> Iterator[str]:
    yield f"`[{name}]`" if "." in name and "guarantees" not in name else f"`[[{name}]]`"
    yield ""
    yield from _head("key", "type", "default", "what it says")
    inner = []
    for key, told in schema["properties"].items():
        kind = " or ".join(told["enum"]) if "enum" in told else told["type"]
        least, most = told.get("minimum"), told.get("maximum")
        kind = f"{kind}, {least} to {most}" if most is not None else kind
        default = f"`{told['default']}`" if "default" in told else ""
        default = "needed" if key in schema.get("required", ()) else default
        yield _row(f"`{key}`", kind, default, told.get("description", ""))
        if told.get("items", {}).get("type") == "object":
            inner.append((told["items"], f"{name}.{key}"))
    yield ""
    for one, path in inner:
        yield from _object(one, path)


def _otherwise(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"`{json.dumps(field.default)}`"
    if field.default_factory is not dataclasses.MISSING:
        return f"`{json.dumps(field.default_factory())}`"
    return ""


def _shape(told: dict[str, Any]) -> str:
    if told.get("choices"):
        return "|".join(told["choices"])
    return {int: "NUMBER", float: "SECONDS"}.get(told.get("type"), "TEXT")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _head(*names: str) -> Iterable[str]:
    return _row(*names), _row(*("---" for _ in names))


def _row(*cells: str) -> str:
    told = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(told)} |"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    made = {
        "plugin-options": PluginOptions,
        "plugin-keys": PluginKeys,
        "plugin-profiles": PluginProfiles,
        "plugin-marker": PluginMarker,
        "guarantees": Guarantees,
        "ledger-words": Vocabulary,
        "verdicts": Verdicts,
        "fields": Fields,
        "schema": Schema,
    }
    for name, directive in made.items():
        app.add_directive(name, directive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
