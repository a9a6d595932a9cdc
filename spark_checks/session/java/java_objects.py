"""Java's objects that nobody uses any more are let go, whoever asked for them.

Java keeps each object for the Python process that asked for it, until that process
says that it is done. A process that is killed says nothing, and faults kill processes:
sessions, frames and the plans behind them, about a megabyte for each interleaving,
would fill the memory of a session that many tests share.
"""

from __future__ import annotations

import gc
from typing import Any

from py4j import protocol

from onceproof.spark_checks.session import spark_internals


class JavaObjects:
    """The objects that Java has kept since a session began, by number."""

    def __init__(self, connection: Any) -> None:
        """Begin to count with the next object."""
        self._connection = connection
        self._first = self._newest()

    def release(self) -> int:
        """Let go of what this process does not hold; return how many numbers that is.

        No other process may be at work on the session, and no thread of this one.
        """
        gc.collect()
        last, client = self._newest(), spark_internals.client_of(self._connection)
        held = spark_internals.held_here(self._connection)
        unused = [
            number for number in range(self._first, last) if f"o{number}" not in held
        ]
        for number in unused:
            client.send_command(
                f"{protocol.MEMORY_COMMAND_NAME}"
                f"{protocol.MEMORY_DEL_SUBCOMMAND_NAME}"
                f"o{number}\n{protocol.END_COMMAND_PART}"
            )
        self._first = last
        return len(unused)

    def _newest(self) -> int:
        """Make an object; return the number that Java gave it."""
        made = getattr(self._connection.jvm, "java.lang.Object")()
        return int(spark_internals.target(made).removeprefix("o"))
