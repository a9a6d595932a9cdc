"""A file system of Hadoop's that one run redirects to its own way to a store."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.session.spark_internals import (
    close_hadoop,
    hadoop_settings,
    set_hadoop,
)

if TYPE_CHECKING:
    from onceproof.spark_checks.stores.interface import HadoopRoute


class LedHadoop:
    """Redirects a file system by a route, until it is restored.

    Hadoop keeps one file system for each root, with its connections. Where other runs
    use the same roots, one run at a time may have them.
    """

    def __init__(self, spark: Any, route: HadoopRoute) -> None:
        """Let all that is opened from now on go by the route."""
        self._spark = spark
        self._route = route
        self._lock = threading.Lock()
        self._led = True
        self._before = hadoop_settings(spark, [name for name, _ in route.settings])
        set_hadoop(spark, dict(route.settings))
        if route.shared:
            self._close()

    @property
    def shared(self) -> bool:
        """Whether other runs use the same roots."""
        return self._route.shared

    def restore(self) -> None:
        """Let what is opened from now on go as before, unless another run has it."""
        with self._lock:
            led, self._led = self._led, False
        wanted = dict(self._route.settings)
        if not led or hadoop_settings(self._spark, wanted) != wanted:
            return
        set_hadoop(self._spark, self._before)
        self._close()

    def _close(self) -> None:
        for root in self._route.roots:
            close_hadoop(self._spark, root)
