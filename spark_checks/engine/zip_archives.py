"""Keeps what is known of zip archives that have not changed.

Before each task, Spark's Python workers have Python forget which modules there are. Up
to Python 3.12 this reads the table of contents of each archive on the path anew, once
for each folder in it (CPython's issue 103200). Those of PySpark itself are on the path
of a worker, and reading them takes longer than most tasks.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipimport import zipimporter

if TYPE_CHECKING:
    from collections.abc import Callable

    State = tuple[int, ...]

_LAZY = (3, 13)
_SEEN = "_onceproof_seen"
# Two changes within one tick of a file system's clock look like one.
_TICK_NS = 2_000_000_000


def keep_unchanged_archives() -> None:
    """Have this process read a zip archive again only once its file has changed.

    From the second look on: what was known before is not relied on. It stays so until
    the process ends.
    """
    if sys.version_info >= _LAZY or hasattr(zipimporter, _SEEN):
        return
    kind: Any = zipimporter
    setattr(kind, _SEEN, None)
    kind.invalidate_caches = _unless_unchanged(kind.invalidate_caches)


def _unless_unchanged(read_again: Callable[[Any], None]) -> Callable[[Any], None]:
    def invalidate_caches(self: Any) -> None:
        # Looked at before it is read, so what is written meanwhile is seen later.
        now = _state_of(self.archive)
        if now is not None and now == getattr(self, _SEEN):
            return
        read_again(self)
        # Python takes an archive that it could not read for an empty one.
        was_read = bool(getattr(self, "_files", None))
        setattr(self, _SEEN, now if was_read else None)

    return invalidate_caches


def _state_of(archive: str) -> State | None:
    """Return what changes with a file; None if that does not show yet."""
    try:
        found = Path(archive).stat()
    except OSError:
        return None
    if abs(time.time_ns() - found.st_ctime_ns) < _TICK_NS:
        return None
    return (
        found.st_dev,
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )
