"""Whether a process has left anything that outlives it, from one moment to the next.

Between two such moments a crash leaves the same, whenever it happens. A program beside
the process counts its calls of the kernel (``system_calls.py``), so what is said here
holds for compiled code, too. Where the process cannot be watched, something is taken to
have happened.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from onceproof.spark_checks.inject.tracing import system_calls
from onceproof.spark_checks.inject.tracing.system_calls import COUNTS

_PATIENCE = 10.0
_SET_TRACER, _ANYBODY = 0x59616D61, -1


@dataclass(frozen=True)
class LeftBehind:
    """What is known of the time between two moments."""

    nothing: bool
    """Whether the process has left nothing that outlives it."""
    others_ran: bool
    """Whether another thread, or a process that this one has started, may have left
    something meanwhile: when it does so may differ from run to run."""


class DurableEffects:
    """Looks at this process from inside, again and again, until it is closed."""

    def __init__(self, folder: Path) -> None:
        """Let a program watch this process; it keeps its counts in a folder."""
        number, name = tempfile.mkstemp(prefix="calls-", dir=folder)
        self._file = number
        self._path = Path(name)
        self._before: tuple[int, ...] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None
        os.pwrite(self._file, COUNTS.pack(0, 0, 0, 0), 0)
        with suppress(OSError, AttributeError):
            self._start()

    def begin(self) -> None:
        """Let ``since`` report what happens from now on."""
        self._before = self._counts()

    def since(self) -> LeftBehind:
        """Return what happened since ``begin`` was called last."""
        before, self._before = self._before, None
        now = self._counts()
        if now is None:
            return LeftBehind(nothing=False, others_ran=True)
        others = before is not None and now[2] != before[2]
        nothing = before is not None and now[1] == before[1]
        return LeftBehind(nothing and not others, others_ran=bool(others or now[3]))

    def close(self) -> None:
        """Let the process go on unwatched."""
        if self._watcher is not None:
            self._watcher.kill()
            self._watcher.wait()
            self._watcher = None
            os.close(self._file)

    def _start(self) -> None:
        # Without this, some systems let a process be watched by its parents only.
        ctypes.CDLL(None).prctl(_SET_TRACER, ctypes.c_ulong(_ANYBODY), 0, 0, 0)
        self._watcher = subprocess.Popen(  # noqa: S603
            [
                sys.executable,
                "-I",
                "-S",
                str(system_calls.__file__),
                str(os.getpid()),
                str(self._path),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + _PATIENCE
        while self._counts() is None and self._watcher.poll() is None:
            if time.monotonic() > deadline:
                self._watcher.kill()
            time.sleep(0.002)

    def _counts(self) -> tuple[int, ...] | None:
        """Read the counts; None if nobody watches, or no longer."""
        found = COUNTS.unpack(os.pread(self._file, COUNTS.size, 0))
        if self._watcher is None or not found[0] or self._watcher.poll() is not None:
            return None
        return found
