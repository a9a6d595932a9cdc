"""The stores of a session: each starts at its first use, and ends with the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.spark_checks.session import scratch
from onceproof.spark_checks.stores.interface import started
from onceproof.spark_checks.stores.together import Together

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onceproof.spark_checks.stores.interface import RunningStore, SinkStore
    from onceproof.spark_checks.stores.spark_needs import SparkNeeds


class StorePool:
    """Keeps stores running from one replay to the next.

    Each has a scratch folder of its own, in which the server's process is noted: a
    later run ends it if this one is killed. A store that is made of others has none: it
    is these, which other sinks may write to as well.
    """

    def __init__(self) -> None:
        """Start nothing yet."""
        self._running: dict[SinkStore, tuple[scratch.Scratch, RunningStore]] = {}

    def running(self, store: SinkStore) -> RunningStore:
        """Return a store that runs; start it if it does not.

        Raises ``StoreError`` where it cannot be started.
        """
        if isinstance(store, Together):
            parts = {name: self.running(one) for name, one in store.stores}
            return store.joined(parts)
        if store not in self._running:
            folder = scratch.Scratch()
            try:
                running = started(store, folder.path)
            except BaseException:
                folder.remove()
                raise
            if running.process is not None:
                scratch.started(folder.path, running.process)
            self._running[store] = folder, running
        return self._running[store][1]

    def needs(self, store: SinkStore, settings: Mapping[str, str]) -> SparkNeeds:
        """Say what a store, which is started if need be, needs of Spark's session."""
        if isinstance(store, Together):
            return store.needs_of(
                {name: self.needs(one, settings) for name, one in store.stores}
            )
        self.running(store)
        folder, _ = self._running[store]
        return store.needs(settings, folder.path)

    def close(self) -> None:
        """End all stores that were started, and remove what they wrote."""
        while self._running:
            _, (folder, running) = self._running.popitem()
            try:
                running.stop()
            finally:
                folder.remove()
