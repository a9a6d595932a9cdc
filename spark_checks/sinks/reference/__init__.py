"""The reference sinks, one file each; those on a store in a folder named after it.

Those of ``new_checkpoint`` need no store, and are replayed where they are named.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onceproof.spark_checks.sinks.interface import ModelledSink

_DATA_SOURCES = "pyspark.sql.datasource"


def reference_sinks(store: str = "") -> dict[str, ModelledSink]:
    """Find every module that states a ``SINK``; give them by name.

    Those are found that need no store, or those on the ``store`` of that name, or in
    the folder of that name. Spark before 4.0 has none that are data sources in Python.
    Raises ``ImportError`` where the store's client is not installed.
    """
    folder = f".{store.replace('-', '_')}" if store else ""
    package = importlib.import_module(f"{__name__}{folder}")
    found = {}
    for info in pkgutil.iter_modules(package.__path__):
        sink = _sink_in(f"{package.__name__}.{info.name}")
        if sink is not None:
            found[sink.name] = sink
    return dict(sorted(found.items()))


def _sink_in(module: str) -> ModelledSink | None:
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != _DATA_SOURCES or importlib.util.find_spec("pyspark") is None:
            raise
        return None
    sink: ModelledSink | None = getattr(found, "SINK", None)
    return sink


def reference_folders() -> tuple[str, ...]:
    """Return the folders of reference sinks that need more than Spark and files."""
    return tuple(info.name for info in pkgutil.iter_modules(__path__) if info.ispkg)


def every_reference_sink() -> dict[str, ModelledSink]:
    """Give the reference sinks by name, those on stores too whose client is there."""
    found = reference_sinks()
    for folder in reference_folders():
        with suppress(ImportError):
            found |= reference_sinks(folder)
    return found


def absent_clients() -> tuple[str, ...]:
    """Name the packages without which some reference sinks cannot be looked at."""
    found: dict[str, None] = {}
    for folder in reference_folders():
        try:
            reference_sinks(folder)
        except ImportError as error:
            found[str(error.name)] = None
    return tuple(found)
