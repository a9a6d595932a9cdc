"""What the processes of a session run: named by whoever starts the session."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EntryPoints:
    """The code that a session's processes begin with, as other processes import it.

    A session knows how to start processes, and not what they do for a replay.
    """

    host: str
    """The function that a host lives by, as ``module:function``. It takes the channels
    of its orders and of what it asks, and returns the status to end with."""
    worker: str
    """The module that is run in place of Spark's daemon of Python workers."""
