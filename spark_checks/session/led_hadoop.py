"""A file system of Hadoop's that is led to a store by a way of one run's own."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.session.spark_internals import (
    close_hadoop,
    hadoop_settings,
    set_hadoop,
)

if TYPE_CHECKING:
    from onceproof.spark_checks.stores.interface import HadoopRoute

_SHARED: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
_SHARED_LOCK = threading.Lock()


class LedHadoop:
    """Leads a file system by a route, until it is given back.

    Hadoop keeps one file system for each root, with its connections. Where others go to
    the same root by another way, one run at a time has it.
    """

    def __init__(self, spark: Any, route: HadoopRoute) -> None:
        """Let all that is opened from now on go by the route.

        Waits until no other run has the root, if it is a shared one.
        """
        self._spark = spark
        self._route = route
        self._lock = threading.Lock()
        self._led = True
        self._shared: threading.Lock | None = None
        if route.shared:
            with _SHARED_LOCK:
                self._shared = _SHARED[route.root]
            self._shared.acquire()
        try:
            names = [name for name, _ in route.settings]
            self._before = hadoop_settings(spark, names)
            if route.shared:
                close_hadoop(spark, route.root)
            set_hadoop(spark, dict(route.settings))
        except BaseException:
            self.give_back()
            raise

    @property
    def shared(self) -> bool:
        """Whether others go to the same root by another way."""
        return self._route.shared

    def give_back(self) -> None:
        """Close the file system, and let what is opened then go as it did before."""
        with self._lock:
            led, self._led = self._led, False
        if not led:
            return
        try:
            close_hadoop(self._spark, self._route.root)
            set_hadoop(self._spark, self._before)
        finally:
            if self._shared is not None:
                self._shared.release()
