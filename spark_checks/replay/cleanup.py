"""Cleans up what interleavings leave: in the folders of their runs, and outside.

A sink registers functions with ``target.cleanup``. They are called once the folder of
its interleaving is gone, in a process that has built the sink and run nothing else.
"""

from __future__ import annotations

import shutil
import threading
import warnings
from typing import TYPE_CHECKING

from onceproof.properties.judges.by_history import broken
from onceproof.spark_checks.stores.interface import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from onceproof.spark_checks.inject.hosts.built_sink import BuiltSink
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.request import ReplayRequest
    from onceproof.spark_checks.replay.run_evidence import RunEvidence


class CleanupWarning(UserWarning):
    """Something could not be cleaned up; no verdict depends on it."""


class Leftovers:
    """Knows which sinks have something to clean up, by the folder of their runs."""

    def __init__(self) -> None:
        """Know of none yet."""
        self._built: dict[Path, BuiltSink] = {}
        self._places: dict[Path, Callable[[], None]] = {}
        self._proxies: dict[Path, Callable[[], None]] = {}
        self._routes: dict[Path, Callable[[], None]] = {}
        self._lock = threading.Lock()

    def add(self, folder: Path, built: BuiltSink) -> None:
        """Take note of a sink, if it has registered anything."""
        if built.cleanups:
            with self._lock:
                self._built[folder] = built

    def add_place(self, folder: Path, drop: Callable[[], None]) -> None:
        """Take note of a place in a store, and of how it is dropped.

        The folder must be there first, as another interleaving may sweep at any time.
        Raises ``FileNotFoundError`` if it is not.
        """
        with self._lock:
            self._places[folder] = drop
        if not folder.exists():
            raise FileNotFoundError(folder)

    def add_proxy(self, folder: Path, close: Callable[[], None]) -> None:
        """Take note of a proxy to the place of a folder, and of how it is closed."""
        with self._lock:
            self._proxies[folder] = close

    def add_route(self, folder: Path, close: Callable[[], None]) -> None:
        """Take note of Spark's way to that proxy, and of how it is closed."""
        with self._lock:
            self._routes[folder] = close

    def sweep(self) -> None:
        """Clean up after the runs whose folder is gone."""
        with self._lock:
            gone = [folder for folder in self._built if not folder.exists()]
            left = [folder for folder in self._places if not folder.exists()]
        for folder in gone:
            self._clean(folder)
        for folder in left:
            self._drop(folder)

    def keep(self, folder: Path) -> None:
        """Leave as it is what belongs to a folder that is kept."""
        with self._lock:
            built = self._built.pop(folder, None)
        if built is not None:
            built.drop()

    def close(self, *, keep: bool) -> None:
        """Clean up after all runs, unless they are all kept; places are dropped."""
        for folder in list(self._built):
            if keep:
                self.keep(folder)
            else:
                self._clean(folder)
        for folder in list(self._places):
            self._drop(folder)

    def _drop(self, folder: Path) -> None:
        with self._lock:
            drop = self._places.pop(folder)
            ends = [of.pop(folder, None) for of in (self._routes, self._proxies)]
        for close in filter(None, ends):
            close()
        try:
            drop()
        except StoreError as error:
            _warn(folder, str(error))

    def _clean(self, folder: Path) -> None:
        with self._lock:
            built = self._built.pop(folder)
        for problem in built.clean():
            _warn(folder, problem)


def _warn(folder: Path, problem: str) -> None:
    with warnings.catch_warnings():
        # An error would hide the verdict.
        warnings.simplefilter("always")
        warnings.warn(
            f"{folder.name} is not cleaned up: {problem}", CleanupWarning, stacklevel=3
        )


class RunFolders:
    """Decides which folders of runs are kept, and deletes the others."""

    def __init__(self, leftovers: Leftovers, request: ReplayRequest) -> None:
        """Keep what a request asks for."""
        self._leftovers = leftovers
        self._request = request

    def settle(
        self, evidence: RunEvidence, outcome: Outcome, *, retain: bool
    ) -> Path | None:
        """Delete what is left of the runs, unless there is something to look into.

        With ``retain`` that is also a break of a claim, if the request wants one.
        Returns the folder that is kept, if any.
        """
        request, folder = self._request, evidence.folder
        if folder is None:
            return None
        history = outcome.spark
        breaks = history is not None and any(broken(p, history) for p in request.claims)
        wanted = retain and request.retain and breaks
        if request.keep or (request.inspect and outcome.suspect) or wanted:
            self._leftovers.keep(folder)
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        self._leftovers.sweep()
        return None
