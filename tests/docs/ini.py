"""Reads a project's keys of the plugin as pytest would hand them over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.pytest_plugin.options import (
    Options,
    add_options,
    options_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


class Ini:
    """Stands in for pytest's configuration: the ini file says all, options nothing."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        """Let the plugin declare its keys; there must be no other of its name."""
        self.rootpath = Path()
        self.given = given
        self.declared: dict[str, str] = {}
        self.options: set[str] = set()
        add_options(self)
        unknown = {key for key in given if key.startswith("onceproof")} - {
            *self.declared
        }
        assert not unknown, f"the plugin has no {', '.join(sorted(unknown))}"

    def read(self) -> Options:
        """Read what is given."""
        return options_of(self)

    def getgroup(self, _: str, __: str) -> Ini:
        """Be the group of options."""
        return self

    def addoption(self, name: str, **_: object) -> None:
        """Note an option."""
        self.options.add(name)

    def addini(self, name: str, _: str, type: str = "string") -> None:  # noqa: A002
        """Note a key."""
        self.declared[name] = type

    def getoption(self, name: str, default: object = None) -> object:
        """Give no option."""
        return default

    def getini(self, name: str) -> Any:
        """Give a key, of the type that was declared."""
        value = self.given.get(name)
        if self.declared[name] == "linelist":
            assert value is None or isinstance(value, list), f"{name} = {value!r}"
            return value or []
        return "" if value is None else str(value)
