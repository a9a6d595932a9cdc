"""The connections by which threads of Java call this process, closed after use.

Java keeps a connection for each thread that has called Python, and never closes it. A
streaming query has a thread of its own: each run of one would leave a connection here,
and a thread that waits on it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.session import spark_internals

if TYPE_CHECKING:
    from collections.abc import Callable


class CallbackConnections:
    """The connections over which the threads of one query have called."""

    def __init__(self) -> None:
        """Know of none."""
        self._noted: list[Any] = []
        self._one_by_one = threading.Lock()

    def noting(self, function: Callable[..., object]) -> Callable[..., object]:
        """Return the function, noting the connection of each call from Java."""

        def noted(*arguments: object) -> object:
            self.note()
            return function(*arguments)

        return noted

    def note(self) -> None:
        """Note the connection over which Java has called this thread, if it has."""
        connection = spark_internals.connection_of_this_thread()
        with self._one_by_one:
            if connection is not None and all(
                connection is not one for one in self._noted
            ):
                self._noted.append(connection)

    def close(self) -> None:
        """End what was noted. The query must have ended: its threads call no more."""
        with self._one_by_one:
            noted, self._noted = self._noted, []
        for connection in noted:
            spark_internals.end_connection(connection)
