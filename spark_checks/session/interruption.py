"""How a run is stopped: by a signal, by Ctrl-C, or as nobody reads its output."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
_ENDS = ("SIGTERM", "SIGHUP")


class ReaderGoneError(BaseException):
    """Nobody reads the output any more; handlers of errors let it pass."""


class StoppedError(BaseException):
    """Ctrl-C ended a command; click would print an empty line for ``Abort``."""


class Signals:
    """Turns the signals that end a process into Ctrl-C, and keeps which it was."""

    def __init__(self) -> None:
        """None has come yet."""
        self.number: int = signal.SIGINT

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
            self.number = number
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                handler(signal.SIGINT, frame)
            else:
                raise KeyboardInterrupt

        for number in (getattr(signal, n) for n in _ENDS if hasattr(signal, n)):
            if signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, end)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @property
    def status(self) -> int:
        """Return the exit status of who was ended so."""
        return 128 + self.number
