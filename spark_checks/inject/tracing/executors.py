"""The executor of a cluster that runs this task's Python process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_PARENT = 1


def executor_above(workers: Collection[int]) -> int | None:
    """Return the process that one of a run's ``workers`` began, above this one.

    None where there is none: this process then belongs to no executor of the run.
    """
    number = os.getpid()
    while number > 1:
        try:
            stat = Path(f"/proc/{number}/stat").read_bytes().decode("ascii", "replace")
        except OSError:
            return None
        # The name of its program may hold anything, and ends with the last bracket.
        parent = int(stat.rpartition(")")[2].split()[_PARENT])
        if parent in workers:
            return number
        number = parent
    return None
