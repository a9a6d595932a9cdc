"""How a run is stopped: by a signal, by Ctrl-C, or as nobody reads its output."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_ENDS = ("SIGTERM", "SIGHUP")
_AGAIN = 0.02
"""Seconds until a signal that would be swallowed is sent again."""


class ReaderGoneError(BaseException):
    """Nobody reads the output any more; handlers of errors let it pass."""


class InterruptedRunError(KeyboardInterrupt):
    """Ctrl-C, SIGTERM or SIGHUP.

    Python kills itself by SIGINT at its end, whatever status it was to have, if a plain
    ``KeyboardInterrupt`` ever passed code compiled from a string, as numba's import
    has; it does not for a subclass.
    """


class StoppedError(BaseException):
    """Ctrl-C ended a command; click would print an empty line for ``Abort``."""


class Signals:
    """Turns the signals that end a process into Ctrl-C, and keeps which it was."""

    def __init__(self) -> None:
        """None has come yet."""
        self.number: int = signal.SIGINT
        self.raised = False
        """Whether one was raised: whatever comes after it is the end of the command."""
        self.ended = False
        """Whether the command has cleaned up: a signal changes nothing any more."""

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """Let SIGTERM and SIGHUP clean up as Ctrl-C does; who ignores them still does.

        Threads other than the main one have no say in it.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        mine, before = os.getpid(), {}

        def end(number: int, frame: Any) -> None:
            if os.getpid() != mine:
                signal.signal(number, signal.SIG_DFL)
                os.kill(os.getpid(), number)
                return
            if self.ended:
                return
            if _swallows(frame):
                _again_soon(mine, number)
                return
            self.number = number
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                handler(signal.SIGINT, frame)
            else:
                self.raised = True
                raise InterruptedRunError

        def interrupted(number: int, frame: Any) -> None:
            if os.getpid() == mine and self.ended:
                return
            if os.getpid() == mine and _swallows(frame):
                _again_soon(mine, number)
                return
            self.raised = True
            raise InterruptedRunError

        for number in (getattr(signal, n) for n in _ENDS if hasattr(signal, n)):
            if signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, end)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            before[signal.SIGINT] = signal.signal(signal.SIGINT, interrupted)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @property
    def status(self) -> int:
        """Return the exit status of who was ended so."""
        return 128 + self.number


def _swallows(frame: FrameType | None) -> bool:
    """Look for a compiled module that is imported, or a callback of LLVM's."""
    while frame is not None:
        if isinstance(frame.f_locals.get("self"), ExtensionFileLoader):
            return True
        if str(frame.f_globals.get("__name__")).startswith("llvmlite."):
            return True
        frame = frame.f_back
    return False


def _again_soon(process: int, number: int) -> None:
    timer = threading.Timer(_AGAIN, os.kill, (process, number))
    timer.daemon = True
    timer.start()
