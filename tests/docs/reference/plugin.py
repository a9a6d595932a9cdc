"""What the pytest plugin declares: its marker, its options, its ini keys, profiles."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks import pytest_plugin
from onceproof.spark_checks.pytest_plugin.options import PROFILES, Profile
from tests.docs.reference.markdown import head, row, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator


class Declared:
    """Takes the place of pytest's parser and configuration, and notes declarations."""

    def __init__(self) -> None:
        """Let the plugin declare."""
        self.options: dict[str, dict[str, Any]] = {}
        self.keys: dict[str, tuple[str, str]] = {}
        self.markers: list[str] = []
        pytest_plugin.pytest_addoption(self)
        pytest_plugin.pytest_configure(self)

    def getgroup(self, _: str, __: str) -> Declared:
        """Be the group as well."""
        return self

    def addoption(self, name: str, **declared: Any) -> None:
        """Note an option."""
        self.options[name] = declared

    def addini(self, name: str, text: str, type: str = "string") -> None:  # noqa: A002
        """Note a key."""
        self.keys[name] = text, type

    def addinivalue_line(self, _: str, line: str) -> None:
        """Note a marker."""
        self.markers.append(line)


def options() -> Iterator[str]:
    """Write a table of the options, as they are declared to pytest."""
    yield from head("option", "meaning")
    for name, declared in Declared().options.items():
        shape = declared.get("metavar") or _shape(declared)
        given = "" if declared.get("action") == "store_true" else f"={shape}"
        yield row(f"`{name}{given}`", sentence(declared["help"]))


def keys() -> Iterator[str]:
    """Write a table of the ini keys, as they are declared to pytest."""
    yield from head("key", "type", "meaning")
    for name, (text, kind) in Declared().keys.items():
        yield row(f"`{name}`", kind, text)


def profiles() -> Iterator[str]:
    """Write a table of the profiles, field by field."""
    fields = list(inspect.signature(Profile).parameters)
    yield from head("profile", *(f"`{name}`" for name in fields))
    for name, profile in PROFILES.items():
        values = (getattr(profile, field) for field in fields)
        yield row(f"`{name}`", *map(_shown, values))


def marker() -> Iterator[str]:
    """Write what ``pytest --markers`` prints."""
    for line in Declared().markers:
        signature, _, text = line.partition(": ")
        yield f"`@pytest.mark.{signature}`"
        yield ""
        yield sentence(text)


def _shape(declared: dict[str, Any]) -> str:
    if declared.get("choices"):
        return "|".join(declared["choices"])
    return {int: "NUMBER", float: "SECONDS"}.get(declared.get("type"), "TEXT")


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "all" if value is None else f"{value:g}"
