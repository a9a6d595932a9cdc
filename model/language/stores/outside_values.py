"""Refuses what a model's methods read from outside: clocks and chance.

A method may run twice and read the same both times, so that two runs that agree show
nothing. The calls themselves are watched instead.
"""

from __future__ import annotations

import datetime as dt
import gc
import random
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import ModelError
from onceproof.model.language.source_location import model_frames

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_CHANCE = "chance (`random`)"
_NOW = ("now", "today", "utcnow")
_DRAWN = ("random", "getrandbits")
_READ = ("urandom", "getrandom", "getpid", "times")
_NO_CLOCKS = ("sleep", "strftime", "strptime", "mktime", "asctime")


@contextmanager
def nothing_from_outside(where: str = "") -> Iterator[None]:
    """Run a method of a model, and refuse it if it reads a clock or draws at random.

    Raises ``ModelError``, at the line that reads, or else at ``where``.
    """
    chance = random.getstate()
    read: list[tuple[str, str]] = []

    def watch(_: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and not read and (what := _outside(called)):
            read.append((what, _line() or where))

    collects = gc.isenabled()
    watches = sys.getprofile() is None
    # What others do whenever garbage is collected is not done by the method.
    gc.disable()
    # A profiler in C cannot be called from here, so it is left alone.
    if watches:
        sys.setprofile(watch)
    try:
        yield
    finally:
        if watches:
            sys.setprofile(None)
        if collects:
            gc.enable()
    if not read and random.getstate() != chance:
        read.append((_CHANCE, where))
    for what, line in read:
        message = (
            f"what this does depends on {what}, which no judge would see; write an "
            "action for each choice, or one_of(...) for a start that is open"
        )
        raise ModelError(message, where=line)


def _outside(called: Any) -> str:
    """Name what a function of C reads that is no state; empty for all others."""
    name = getattr(called, "__name__", "")
    of, module = getattr(called, "__self__", None), getattr(called, "__module__", "")
    if module == "time" and name not in _NO_CLOCKS:
        return f"the time (`time.{name}`)"
    if name in _NOW and isinstance(of, type) and issubclass(of, dt.date):
        return f"the time (`{of.__name__}.{name}`)"
    if name in _DRAWN and isinstance(of, random.Random):
        return _CHANCE
    if name in _READ and module in ("posix", "nt"):
        return f"the machine (`os.{name}`)"
    return ""


def _line() -> str:
    """Return ``file:line`` of the method that is run, where it reads."""
    frames = list(model_frames())
    frame = frames[-1] if frames else None
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
