"""How far the replay in a test is: one line on a terminal, few lines in a log.

It is written past the capture of what the test prints, and by no worker of xdist: a
worker has no terminal.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from onceproof.model.text import printable
from onceproof.spark_checks.replay import events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

_SECONDS_BETWEEN_LINES = 60.0


@contextmanager
def shown_progress(
    config: pytest.Config,
) -> Iterator[Callable[[events.Event], None]]:
    """Give a listener that shows how far a replay is, where anybody may read it.

    That is a terminal, a log of CI, or ``pytest -v``; with ``-q`` only a terminal.
    """
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    verbose = config.get_verbosity()
    reads = verbose > 0 or (verbose == 0 and bool(os.environ.get("CI")))
    if reporter is None or hasattr(config, "workerinput"):
        yield _nowhere
    elif reporter.isatty or reads:
        progress = _Progress(config, reporter, rewrites=reporter.isatty)
        try:
            yield progress.listen
        finally:
            progress.clear()
    else:
        yield _nowhere


def _nowhere(event: events.Event) -> None:
    """Show nothing."""


class _Progress:
    """Counts the interleavings that are done, and says so."""

    def __init__(self, config: pytest.Config, reporter: Any, *, rewrites: bool) -> None:
        """Write to pytest's terminal; ``rewrites`` says that a line can be replaced."""
        self._capture: Any = config.pluginmanager.get_plugin("capturemanager")
        self._reporter = reporter
        self._rewrites = rewrites
        self._sink = self._what = ""
        self._done = self._of = 0
        self._last = 0.0
        self._open = False

    def listen(self, event: events.Event) -> None:
        """Show an event, if it is worth it."""
        match event:
            case events.Started() if self._rewrites:
                self._show("Spark starts")
            case events.RecoveryBegun() | events.SinkBegun():
                self._sink = printable(event.sink.rpartition("::")[2])
                first = isinstance(event, events.RecoveryBegun)
                self._what = "one fault each, to see what runs then" if first else ""
                self._done, self._of = 0, event.interleavings
                self._count(now=True)
            case events.RecoveryRun() | events.Replayed():
                self._done += 1
                self._count(now=False)
            case events.SinkJudged() | events.Finished():
                self.clear()

    def _count(self, *, now: bool) -> None:
        due = time.monotonic() - self._last >= _SECONDS_BETWEEN_LINES
        if now or due or self._rewrites:
            why = f" ({self._what})" if self._what else ""
            done = f"{self._done} of {self._of} interleavings replayed"
            self._show(f"{self._sink}: {done}{why}")

    def _show(self, text: str) -> None:
        self._last = time.monotonic()
        with self._uncaptured():
            if not self._open:
                # What pytest has written of the test is written again after it.
                self._reporter.ensure_newline()
                self._open = self._rewrites
            line = f"onceproof: {text}"
            if self._rewrites:
                self._reporter.rewrite(line, erase=True)
                self._reporter.flush()
            else:
                self._reporter.write_line(line)

    def clear(self) -> None:
        """Take the line away: the result of the test comes in its place."""
        if self._open:
            with self._uncaptured():
                self._reporter.rewrite("", erase=True)
                self._reporter.rewrite("")
            self._open = False

    def _uncaptured(self) -> Any:
        if self._capture is None:
            return nullcontext()
        return self._capture.global_and_fixture_disabled()
