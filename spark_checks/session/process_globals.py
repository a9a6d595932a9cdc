"""Globals of the process: replaced for a while, and then restored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import MutableMapping

_MISSING: Any = object()


class Swapped:
    """Entries of a mapping that are ours while we are inside, and others' outside."""

    def __init__(self, mapping: MutableMapping[str, Any]) -> None:
        """Watch over ``mapping``."""
        self._mapping = mapping
        self._before: dict[str, Any] = {}
        self._mine: dict[str, Any] = {}

    def enter(self, mine: dict[str, Any]) -> None:
        """Put ours in the place of what is there."""
        self._before = dict(self._mapping)
        self._mapping.update(mine)

    def leave(self) -> None:
        """Remember all that has changed inside, and put back what was there."""
        now = dict(self._mapping)
        self._mine = {
            name: now.get(name, _MISSING)
            for name in {*now, *self._before}
            if now.get(name, _MISSING) != self._before.get(name, _MISSING)
        }
        for name in self._mine:
            self._put(name, self._before.get(name, _MISSING))

    def enter_again(self) -> None:
        """Put back what ``leave`` remembered."""
        self._before = dict(self._mapping)
        for name, value in self._mine.items():
            self._put(name, value)

    def _put(self, name: str, value: Any) -> None:
        if value is _MISSING:
            self._mapping.pop(name, None)
        else:
            self._mapping[name] = value


class SparkGlobals:
    """The session, the context and the gateway that PySpark keeps one of in a process.

    Inside, there is none until one is made; outside, the user's own is there again.
    """

    def __init__(self) -> None:
        """Find the classes that hold them."""
        from pyspark import SparkContext  # noqa: PLC0415 - slow to import
        from pyspark.sql import SparkSession  # noqa: PLC0415

        from onceproof.spark_checks.session.private_names import (  # noqa: PLC0415
            KEPT,
        )

        self._names = KEPT
        self._owners = {"SparkContext": SparkContext, "SparkSession": SparkSession}
        self._before: dict[tuple[str, str], Any] = {}
        self._mine: dict[tuple[str, str], Any] = {}

    def enter(self, mine: dict[tuple[str, str], Any]) -> None:
        """Put ours, or none, in the place of what is there."""
        self._before = self._now()
        self._set({name: mine.get(name) for name in self._names})

    def leave(self) -> None:
        """Remember ours, and put back what was there."""
        self._mine = self._now()
        self._set(self._before)

    def enter_again(self) -> None:
        """Put ours back."""
        self.enter(self._mine)

    def _now(self) -> dict[tuple[str, str], Any]:
        return {(o, n): getattr(self._owners[o], n, None) for o, n in self._names}

    def _set(self, values: dict[tuple[str, str], Any]) -> None:
        for (owner, name), value in values.items():
            setattr(self._owners[owner], name, value)
