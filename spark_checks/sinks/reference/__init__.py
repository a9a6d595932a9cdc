"""The reference sinks, one file each."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onceproof.spark_checks.sinks.interface import ModelledSink


def reference_sinks() -> dict[str, ModelledSink]:
    """Find every module here that states a ``SINK``; give them by name."""
    found = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        sink = getattr(module, "SINK", None)
        if sink is not None:
            found[sink.name] = sink
    return dict(sorted(found.items()))
