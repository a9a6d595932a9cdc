"""Cleans up what interleavings leave outside their folders.

A sink registers functions with ``target.cleanup``. They are called once the folder of
its interleaving is gone, in a process that has built the sink and run nothing else.
"""

from __future__ import annotations

import threading
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from onceproof.spark_checks.inject.hosts.built_sink import BuiltSink


class CleanupWarning(UserWarning):
    """Something could not be cleaned up; no verdict depends on it."""


class Leftovers:
    """Knows which sinks have something to clean up, by the folder of their runs."""

    def __init__(self) -> None:
        """Know of none yet."""
        self._built: dict[Path, BuiltSink] = {}
        self._lock = threading.Lock()

    def add(self, folder: Path, built: BuiltSink) -> None:
        """Take note of a sink, if it has registered anything."""
        if built.cleanups:
            with self._lock:
                self._built[folder] = built

    def sweep(self) -> None:
        """Clean up after the runs whose folder is gone."""
        with self._lock:
            gone = [folder for folder in self._built if not folder.exists()]
        for folder in gone:
            self._clean(folder)

    def keep(self, folder: Path) -> None:
        """Leave as it is what belongs to a folder that is kept."""
        with self._lock:
            built = self._built.pop(folder, None)
        if built is not None:
            built.drop()

    def close(self, *, keep: bool) -> None:
        """Clean up after all runs, unless they are all kept."""
        for folder in list(self._built):
            if keep:
                self.keep(folder)
            else:
                self._clean(folder)

    def _clean(self, folder: Path) -> None:
        with self._lock:
            built = self._built.pop(folder)
        for problem in built.clean():
            with warnings.catch_warnings():
                # An error would hide the verdict.
                warnings.simplefilter("always")
                warnings.warn(
                    f"{folder.name} is not cleaned up: {problem}",
                    CleanupWarning,
                    stacklevel=2,
                )
