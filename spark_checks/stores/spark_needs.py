"""What a store needs of Spark's session, and what a user's own settings give of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_JARS = "spark.jars"
_CLASSES = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")
_LISTS = ("spark.jars", "spark.sql.extensions")
_SUFFIX = re.compile(r"[_-]\d")


@dataclass(frozen=True)
class SparkNeeds:
    """What a store needs of the session; sinks with different needs share none."""

    jars: tuple[Path, ...] = ()
    """The jars, as files of this machine."""
    settings: tuple[tuple[str, str], ...] = ()
    """The settings, each a name and a value."""
    version: str = ""
    """The version of the store's own code in the session, for evidence."""


NO_NEEDS = SparkNeeds()
"""Those of a store that Spark's own classes suffice for."""


def with_needs(settings: Mapping[str, str], needs: SparkNeeds) -> dict[str, str]:
    """Add what a store needs to settings, and override none of them.

    Extensions and jars are lists: those of the store come after those that are there.
    """
    jars = ",".join(str(path) for path in needs.jars)
    found = dict(settings)
    for name, value in (*needs.settings, (_JARS, jars)):
        if name in _LISTS:
            there = [part for part in found.get(name, "").split(",") if part]
            there += [p for p in value.split(",") if p and p not in there]
            if there:
                found[name] = ",".join(there)
        else:
            found.setdefault(name, value)
    return found


def is_list(setting: str) -> bool:
    """Return whether a setting is a list, to which several stores can add."""
    return setting in _LISTS


def own_version(coordinates: Iterable[str], settings: Mapping[str, str]) -> str:
    """Return the version of the first jar that a user's settings name already.

    It is looked for by the name of its artifact, whatever the versions of Spark, Scala
    and the artifact are: two of them cannot be in one session. The empty text says that
    the settings name none of the jars.
    """
    named = [settings.get(name, "") for name in _CLASSES]
    for coordinate in coordinates:
        artifact = coordinate.split(":")[1]
        suffix = _SUFFIX.search(artifact)
        stem = artifact[: suffix.start()] if suffix else artifact
        pattern = rf"(?:^|[/,:_]){re.escape(stem)}(?:[_-]\d[\d._-]*)?[:-](\d[\w.]*)"
        for text in named:
            if found := re.search(pattern, text):
                return found[1].removesuffix(".jar")
    return ""
