"""The durable steps of Spark's protocol, and where each version of PySpark takes them.

``steps.toml`` is the table; everything about a step that depends on the version of
PySpark is in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.model.files import read_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TABLE = Path(__file__).with_name("steps.toml")
_ROOT = "org.apache.spark.sql.execution."


@dataclass(frozen=True)
class Method:
    """A method of a class of Spark's."""

    owner: str
    """The class."""
    declared: str
    """The method, with the types of its arguments if its name alone is not enough."""

    @property
    def name(self) -> str:
        """The name of the method."""
        return self.declared.partition("(")[0]

    def __str__(self) -> str:
        """Show the class and the method."""
        return f"{self.owner}.{self.name}"


@dataclass(frozen=True)
class StepPlace:
    """A method in which Spark takes a durable step."""

    step: str
    """The name of the step."""
    of: str = ""
    """Which sinks, sources or state stores take the step there; empty for all."""
    method: Method | None = None
    """The method; None if this version of PySpark does not take the step there."""
    done: Method | None = None
    """The method whose entry shows that the step has taken effect, if it is another."""
    batch: str = ""
    """How the batch is found; empty if the step belongs to none."""
    path: str = ""
    """How the path is found that the log, or the run, is known by."""
    logs: tuple[str, ...] = ()
    """The logs that the path may be of; empty for any."""
    by_path: bool = False
    """Whether the run is found by the path, and not by the thread."""

    @property
    def name(self) -> str:
        """The step, and which sinks take it there: ``write (files)``."""
        return f"{self.step} ({self.of})" if self.of else self.step

    @property
    def methods(self) -> tuple[Method, ...]:
        """The methods that Spark must have for it."""
        return tuple(one for one in (self.method, self.done) if one is not None)


def places(version: str, table: Path = TABLE) -> tuple[StepPlace, ...]:
    """Return the places of a version of PySpark, in the order of a batch.

    A place without a method is one that the version lacks.
    """
    return tuple(_place(entry, version) for entry in read_toml(table)["place"])


def step_names(table: Path = TABLE) -> tuple[str, ...]:
    """Return the names of all steps, in the order of a batch."""
    return tuple(dict.fromkeys(entry["step"] for entry in read_toml(table)["place"]))


def lacks(place: StepPlace, there: Callable[[Method], bool]) -> str:
    """Say what a session lacks of a place, if some method is not ``there``."""
    if place.method is None:
        return f"{place.name}: this version of Spark has no such step"
    missing = next((one for one in place.methods if not there(one)), None)
    return "" if missing is None else f"{place.name}: there is no {missing}"


def _place(entry: Mapping[str, Any], version: str) -> StepPlace:
    batch = entry["batch"]
    return StepPlace(
        step=entry["step"],
        of=entry.get("of", ""),
        method=_method(entry["at"], version),
        done=_method(entry.get("done", {}), version),
        batch=batch if isinstance(batch, str) else _of_version(batch, version),
        path=entry.get("path", ""),
        logs=tuple(entry.get("logs", ())),
        by_path=entry.get("run") == "path",
    )


def _method(at: Mapping[str, str], version: str) -> Method | None:
    owner, _, declared = _of_version(at, version).partition("#")
    if not owner:
        return None
    return Method(owner if owner.startswith("org.") else f"{_ROOT}{owner}", declared)


def _of_version(values: Mapping[str, str], version: str) -> str:
    """Return the value of the newest line of Spark that is not beyond a version."""
    known = [line for line in values if _line(line) <= _line(version)]
    return values[max(known, key=_line)] if known else ""


def _line(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])
